"""Programs as people have them around code that nobody looks into, each with the derivative that it declares.

A program is a function that makes the function to differentiate and its arguments; ``order`` says how many derivatives
its rules have. What is a solver, a table or a foreign library here is small, and called as the real one is.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import decimal
import json
import math
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse
import scipy.sparse.linalg
import scipy.special
import scipy.stats

import symgrad as sg


class Program(NamedTuple):
    """A function of arrays, arguments, and how many orders of derivatives there are."""

    function: Callable[..., Any]
    args: tuple
    order: int = 2


PROGRAMS: dict[str, Callable[[], Program]] = {}


def program(make: Callable[[], Program]) -> Callable[[], Program]:
    """Put a program into the list."""
    PROGRAMS[make.__name__] = make
    return make


X = np.array([0.3, 0.7, 1.1])

# --- C, other processes, files ------------------------------------------------------------------------------------

_libm = ctypes.CDLL(ctypes.util.find_library("m"))
_libm.tgamma.restype, _libm.tgamma.argtypes = ctypes.c_double, [ctypes.c_double]


@program
def a_function_of_libm():
    @sg.custom(vjp=lambda primals, ct: ct * gamma(primals[0]) * digamma(primals[0]))
    def gamma(x):
        return np.array([_libm.tgamma(v) for v in x])

    digamma = sg.custom(scipy.special.psi, jvp=lambda primals, tangents: trigamma(primals[0]) * tangents[0])
    trigamma = sg.custom(lambda x: scipy.special.polygamma(1, x), name="trigamma")
    return Program(lambda x: np.sum(gamma(x + 1) ** 2), (X,))


@program
def c_that_is_given_pointers():
    def doubled(x):
        out = np.empty_like(x)
        ctypes.memmove(out.ctypes.data, x.ctypes.data, x.nbytes)
        return 2 * out

    copied = sg.custom(doubled, jvp=lambda primals, tangents: 2 * tangents[0])
    return Program(lambda x: np.sum(copied(np.sin(x)) * x), (X,))


@program
def another_process():
    code = "import sys; x, y = map(float, sys.argv[1:]); print(repr(x * x * y))"

    def solver(x, y):
        command = [sys.executable, "-I", "-S", "-c", code, repr(float(x)), repr(float(y))]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    run = sg.custom(solver, jvp=lambda p, t: 2 * p[0] * p[1] * t[0] + p[0] ** 2 * t[1], shape=lambda x, y: ())
    return Program(lambda x, y: np.exp(run(x, y)), (np.float64(0.6), np.float64(0.8)), 1)


@program
def a_text_protocol():
    def served(x, rate):
        request = json.dumps({"x": x.tolist(), "rate": float(rate)})
        got = json.loads(request)
        return np.asarray(json.loads(json.dumps([v * math.exp(-got["rate"] * v) for v in got["x"]])))

    decay = sg.custom(
        served,
        vjp=lambda p, ct: (
            ct * np.exp(-p[1] * p[0]) * (1 - p[1] * p[0]),
            -np.sum(ct * p[0] ** 2 * np.exp(-p[1] * p[0])),
        ),
    )
    return Program(lambda x, rate: np.sum(decay(x, rate) * x), (X, np.float64(0.4)))


@program
def input_and_output_files():
    def deck(x):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "input.txt"
            np.savetxt(path, x, fmt="%.17g")
            return np.loadtxt(path) ** 3

    return Program(lambda x: np.sum(sg.custom(deck, jvp=lambda p, t: 3 * p[0] ** 2 * t[0])(x) / x), (X,))


@program
def binary_records():
    def packed(x):
        return np.array(struct.unpack(f"<{len(x)}d", struct.pack(f"<{len(x)}d", *np.cos(x))))

    return Program(lambda x: np.prod(sg.custom(packed, vjp=lambda p, ct: -ct * np.sin(p[0]))(x)), (X,))


@program
def decimal_arithmetic():
    def exact(x):
        return float(decimal.Decimal(float(x)).exp())

    exp = sg.custom(exact, jvp=lambda p, t, out: out * t[0])
    return Program(lambda x: exp(x * x), (np.float64(0.7),))


# --- quadrature, roots, equations --------------------------------------------------------------------------------


@program
def an_integral_with_a_parameter():
    def moment(k):
        def integral(a):
            return scipy.integrate.quad(lambda t: (-(t**2)) ** k * math.exp(-a * t**2), 0.0, 1.0)[0]

        return sg.custom(integral, jvp=lambda p, t: moment(k + 1)(p[0]) * t[0], name=f"moment_{k}")

    return Program(lambda a: np.log(moment(0)(a)), (np.float64(0.8),))


@program
def an_integral_to_a_bound():
    def integral(b):
        return scipy.integrate.quad(lambda t: math.sin(t * t), 0.0, float(b))[0]

    fresnel = sg.custom(integral, vjp=lambda p, ct: ct * np.sin(p[0] ** 2))
    return Program(lambda b: fresnel(2 * b) * b, (np.float64(0.9),))


@program
def a_root_by_brentq():
    def root(a):
        return scipy.optimize.brentq(lambda y: y**3 + y - float(a), -5.0, 5.0)

    y_of = sg.custom(root, jvp=lambda p, t, out: t[0] / (3 * out**2 + 1))
    return Program(lambda a: y_of(a) ** 2 + a, (np.float64(1.3),))


@program
def keplers_equation():
    def solved(mean, eccentricity):
        e = mean
        for _ in range(50):
            e = e - (e - eccentricity * np.sin(e) - mean) / (1 - eccentricity * np.cos(e))
        return e

    def rule(primals, tangents, out):
        slope = 1 - primals[1] * np.cos(out)
        return (tangents[0] + np.sin(out) * tangents[1]) / slope

    anomaly = sg.custom(solved, jvp=rule)
    return Program(lambda m, e: np.sum(np.cos(anomaly(m, e))), (X, np.float64(0.3)))


@program
def a_loop_to_a_tolerance():
    def root(x):
        y = x.copy()
        while np.max(np.abs(y * y - x)) > 1e-14:
            y = (y + x / y) / 2
        return y

    sqrt = sg.custom(root, vjp=lambda p, ct, out: ct / (2 * out))
    return Program(lambda x: np.sum(sqrt(x) * x), (X,))


@program
def a_fixed_point_of_a_layer():
    w = np.array([[0.2, -0.3], [0.1, 0.25]])

    def equilibrium(x):
        z = np.zeros_like(x)
        for _ in range(80):
            z = np.tanh(w @ z + x)
        return z

    def rule(primals, ct, out):
        slope = 1 - out**2
        return np.linalg.solve((np.eye(2) - slope[:, None] * w).T, ct) * slope

    layer = sg.custom(equilibrium, vjp=rule)
    return Program(lambda x: np.sum(layer(x) ** 2), (np.array([0.4, -0.2]),))


@program
def a_solution_of_an_ode():
    def final(k, y0):
        return scipy.integrate.solve_ivp(lambda t, y: -k * y, (0, 1), y0, rtol=1e-11, atol=1e-12).y[:, -1]

    def rule(primals, tangents, out):
        k, _ = primals
        return np.exp(-k) * tangents[1] - out * tangents[0]

    flow = sg.custom(final, jvp=rule)
    return Program(lambda k, y0: np.sum(flow(k, y0) ** 2), (np.float64(0.7), X))


@program
def sensitivities_that_a_solver_integrates():
    def rates(t, y, a, b):
        return [a * y[0] - b * y[0] * y[1], b * y[0] * y[1] - y[1]]

    def final(p):
        return scipy.integrate.solve_ivp(rates, (0, 0.5), [1.0, 0.5], args=tuple(p), rtol=1e-10, atol=1e-12).y[:, -1]

    def along(primals, tangents):
        (a, b), (da, db) = primals[0], tangents[0]

        def both(t, s):
            y, d = s[:2], s[2:]
            own = [
                da * y[0] + a * d[0] - db * y[0] * y[1] - b * (d[0] * y[1] + y[0] * d[1]),
                db * y[0] * y[1] + b * (d[0] * y[1] + y[0] * d[1]) - d[1],
            ]
            return [*rates(t, y, a, b), *own]

        return scipy.integrate.solve_ivp(both, (0, 0.5), [1.0, 0.5, 0, 0], rtol=1e-10, atol=1e-12).y[2:, -1]

    return Program(lambda p: np.sum(sg.custom(final, jvp=sg.custom(along))(p) ** 2), (np.array([0.9, 0.6]),), 1)


@program
def a_value_function():
    def least(a):
        return scipy.optimize.minimize_scalar(lambda z: (z - a) ** 2 + z**2, tol=1e-12).fun

    def rule(primals, tangents):
        best = primals[0] / 2
        return 2 * (primals[0] - best) * tangents[0]

    return Program(lambda a: sg.custom(least, jvp=rule)(np.sin(a)), (np.float64(0.8),))


@program
def implied_volatility():
    def price(s):
        d = s / 2
        return math.erf(d / math.sqrt(2))

    def implied(c):
        return np.array([scipy.optimize.brentq(lambda s, v: price(s) - v, 1e-9, 9.0, (v,)) for v in c])

    sigma = sg.custom(implied, jvp=lambda p, t, out: t[0] / (np.exp(-(out**2) / 8) / np.sqrt(2 * np.pi)))
    return Program(lambda c: np.sum(sigma(c) * c), (np.array([0.1, 0.3]),))


# --- statistics, special functions --------------------------------------------------------------------------------


@program
def quantiles_by_the_inverse_function():
    ppf = sg.custom(
        scipy.stats.norm.ppf, jvp=lambda p, t, out: t[0] * np.sqrt(2 * np.pi) * np.exp(out**2 / 2), name="ppf"
    )
    return Program(lambda q: np.sum(ppf(q) ** 2), (np.array([0.2, 0.6, 0.9]),))


@program
def a_distribution_of_the_standard_library():
    normal = statistics.NormalDist()
    cdf = sg.custom(
        lambda x: np.array([normal.cdf(v) for v in x]),
        jvp=lambda p, t: np.exp(-(p[0] ** 2) / 2) / np.sqrt(2 * np.pi) * t[0],
        name="cdf",
    )
    return Program(lambda x: np.sum(np.log(cdf(x))), (X,))


@program
def elliptic_integrals_of_each_other():
    first = sg.custom(
        scipy.special.ellipk,
        jvp=lambda p, t, out: (second(p[0]) - (1 - p[0]) * out) / (2 * p[0] * (1 - p[0])) * t[0],
        name="K",
    )
    second = sg.custom(scipy.special.ellipe, jvp=lambda p, t, out: (out - first(p[0])) / (2 * p[0]) * t[0], name="E")
    return Program(lambda m: np.sum(first(m) * second(m)), (np.array([0.2, 0.5, 0.7]),))


@program
def a_ufunc_without_a_rule():
    def rule(primals, tangents):
        h, a = primals
        by_h = -scipy.special.erf(a * h / np.sqrt(2)) * np.exp(-(h**2) / 2) / (2 * np.sqrt(2 * np.pi))
        by_a = np.exp(-(h**2) * (1 + a**2) / 2) / (2 * np.pi * (1 + a**2))
        return by_h * tangents[0] + by_a * tangents[1]

    owen = sg.custom(scipy.special.owens_t, jvp=rule, name="owens_t")
    return Program(lambda h, a: np.sum(owen(h, a * h)), (X, np.array([0.4, 0.5, 0.6])))


@program
def draws_with_a_seed_of_their_own():
    def mean(mu, sigma):
        return np.mean(np.exp(mu + sigma * np.random.default_rng(3).standard_normal(100)))

    z = np.random.default_rng(3).standard_normal(100)

    def rule(primals, ct):
        paths = np.exp(primals[0] + primals[1] * z) / 100
        return ct * np.sum(paths), ct * np.sum(z * paths)

    expected = sg.custom(mean, vjp=rule)
    return Program(lambda mu, sigma: expected(mu, sigma) ** 2, (np.float64(0.1), np.float64(0.4)))


@program
def a_softplus_that_does_not_overflow():
    def softplus(x):
        return np.where(x > 30, x, np.log1p(np.exp(np.minimum(x, 30))))

    own = sg.custom(softplus, vjp=lambda p, ct: ct / (1 + np.exp(-p[0])))
    return Program(lambda x: np.sum(own(5 * x) * x), (X,))
