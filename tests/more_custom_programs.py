"""More programs around code that nobody looks into: matrices, tables, statistics, filters, objects."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.sparse
import scipy.sparse.linalg
import scipy.special
import scipy.stats
from custom_programs import PROGRAMS, Program, X, program

import symgrad as sg

__all__ = ["PROGRAMS"]

A = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.0]])

# --- matrices ------------------------------------------------------------------------------------------------------


@program
def a_matrix_exponential_by_its_derivative():
    expm = sg.custom(scipy.linalg.expm, jvp=sg.custom(lambda p, t: scipy.linalg.expm_frechet(p[0], t[0])[1]))
    return Program(lambda a: np.sum(expm(a) ** 2), (A / 3,), 1)


@program
def a_matrix_exponential_of_blocks():
    def along(a, e):
        n = a.shape[0]
        return expm(np.block([[a, e], [np.zeros((n, n)), a]]))[:n, n:]

    expm = sg.custom(
        scipy.linalg.expm, jvp=lambda p, t: along(p[0], t[0]), vjp=lambda p, ct: along(p[0].T, ct), name="expm"
    )
    return Program(lambda a: np.sum(expm(a)[0]), (A[:2, :2] / 3,))


@program
def a_log_determinant_by_cholesky():
    def logdet(a):
        return 2 * np.sum(np.log(np.diag(scipy.linalg.cholesky((a + a.T) / 2))))

    own = sg.custom(logdet, vjp=lambda p, ct: ct * np.linalg.inv((p[0] + p[0].T) / 2))
    return Program(lambda a: own(a) ** 2, (A,))


@program
def a_sparse_solver():
    rows, columns = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 2, 2])

    def solved(data, b):
        return scipy.sparse.linalg.spsolve(scipy.sparse.csc_array((data, (rows, columns)), shape=(3, 3)), b)

    def transposed(data, b):
        return scipy.sparse.linalg.spsolve(scipy.sparse.csc_array((data, (columns, rows)), shape=(3, 3)), b)

    def rule(primals, ct, out):
        by_b = backward(primals[0], ct)
        return -by_b[rows] * out[columns], by_b

    def back(primals, ct, out):
        by_b = solve(primals[0], ct)
        return -by_b[columns] * out[rows], by_b

    solve = sg.custom(solved, vjp=rule)
    backward = sg.custom(transposed, vjp=back)
    return Program(lambda data, b: np.sum(solve(data, b) ** 2), (np.array([2.0, 0.5, 1.5, -0.4, 1.2]), X))


@program
def conjugate_gradients():
    def cg(b):
        return scipy.sparse.linalg.cg(A, b, rtol=1e-13)[0]

    solve = sg.custom(cg, vjp=lambda p, ct: solve(ct))
    return Program(lambda b: np.sum(solve(b) ** 3), (X,))


@program
def eigenvalues():
    vectors = sg.custom(lambda a: np.linalg.eigh(a)[1], name="eigenvectors")
    own = sg.custom(
        lambda a: np.linalg.eigvalsh(a), vjp=lambda p, ct: vectors(p[0]) * ct @ vectors(p[0]).T, name="eigenvalues"
    )
    return Program(lambda a: np.sum(own(a + a.T) ** 2), (A,), 1)


@program
def a_product_of_blas():
    dot = sg.custom(scipy.linalg.blas.ddot, vjp=lambda p, ct: (ct * p[1], ct * p[0]), name="ddot")
    return Program(lambda x, y: np.exp(dot(x, y * y)), (X, X[::-1].copy()))


@program
def a_norm_that_is_safe_at_zero():
    def rule(primals, ct, out):
        return ct * primals[0] / np.where(out == 0, 1.0, out)

    norm = sg.custom(lambda x: scipy.linalg.norm(x), vjp=rule)
    return Program(lambda x: norm(x) * np.sum(x), (X,))


# --- tables, filters, transforms -----------------------------------------------------------------------------------


@program
def a_spline():
    curve = scipy.interpolate.CubicSpline([0.0, 0.5, 1.0, 2.0], [0.0, 1.0, 0.5, 2.0])

    def derivative(order):
        return sg.custom(
            lambda x: curve(x, order), jvp=lambda p, t: derivative(order + 1)(p[0]) * t[0], name=f"spline_{order}"
        )

    return Program(lambda x: np.sum(derivative(0)(x) ** 2), (X,))


@program
def a_table_between_its_entries():
    knots, values = np.linspace(0, 2, 9), np.sqrt(np.linspace(0, 2, 9))

    def slope(x):
        k = np.clip(np.searchsorted(knots, x) - 1, 0, 7)
        return np.diff(values)[k] / np.diff(knots)[k]

    steps = sg.custom(slope, jvp=lambda p, t: 0 * t[0])
    table = sg.custom(lambda x: np.interp(x, knots, values), jvp=lambda p, t: steps(p[0]) * t[0], name="table")
    return Program(lambda x: np.sum(table(x) * x), (X,))


@program
def a_filter_of_an_image():
    blur = sg.custom(
        lambda x: scipy.ndimage.gaussian_filter(x, 1.0, mode="constant"), jvp=lambda p, t: blur(t[0]), name="blur"
    )
    back = sg.custom(blur, vjp=lambda p, ct: back(ct), name="blur")  # it is its own transpose
    return Program(lambda x: np.sum(back(x**2) * x), (A,))


@program
def a_convolution_by_fft():
    kernel = np.array([0.25, 0.5, 0.25])
    same = sg.custom(
        lambda x: scipy.signal.fftconvolve(x, kernel, mode="same"), jvp=lambda p, t: same(t[0]), name="smoothed"
    )
    return Program(lambda x: sg.jvp(lambda z: np.sum(same(z) ** 2), (x,), (np.cos(x),))[1], (X,), 1)


@program
def a_power_spectrum():
    def spectrum(x):
        return np.abs(np.fft.rfft(x)) ** 2

    turns = np.exp(-2j * np.pi * np.outer(np.arange(2), np.arange(3)) / 3)
    real, imaginary = turns.real, turns.imag

    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        return 2 * ((real @ x) * (real @ t) + (imaginary @ x) * (imaginary @ t))

    power = sg.custom(spectrum, jvp=rule)
    return Program(lambda x: np.sum(np.log(1 + power(x))), (X,))


@program
def a_running_integral():
    def rule(primals, tangents):
        return running(tangents[0])

    def weights(primals, ct):
        total = np.cumsum(ct[::-1])[::-1]
        ends = np.concatenate([total[1:2] / 2, (total[1:-1] + total[2:]) / 2, total[-1:] / 2])
        return 0.1 * ends

    running = sg.custom(
        lambda y: scipy.integrate.cumulative_trapezoid(y, dx=0.1, initial=0.0), jvp=rule, vjp=weights, name="running"
    )
    return Program(lambda y: np.sum(running(y**2) ** 2), (np.array([0.1, 0.5, 0.9, 0.4]),))


@program
def sorted_values():
    def rule(primals, ct):
        return ct[np.argsort(np.argsort(primals[0]))]

    ranked = sg.custom(lambda x: np.array(sorted(x.tolist())), vjp=rule)
    return Program(lambda x: np.sum(ranked(x) * np.array([1.0, 2.0, 4.0]) * x), (np.array([0.9, 0.2, 0.5]),))


@program
def a_projection_onto_the_simplex():
    def projected(v):
        u = np.sort(v)[::-1]
        k = np.arange(1, len(v) + 1)
        tau = (np.cumsum(u) - 1) / k
        return np.maximum(v - tau[np.nonzero(u > tau)[0][-1]], 0.0)

    def rule(primals, ct, out):
        free = np.where(out > 0, 1.0, 0.0)
        return free * (ct - np.sum(free * ct) / np.sum(free))

    simplex = sg.custom(projected, vjp=rule)
    return Program(lambda v: np.sum(simplex(v) ** 2 * v), (np.array([0.6, 0.9, -0.5]),))


# --- compiled, cached, objects --------------------------------------------------------------------------------------


@program
def a_function_of_numba():
    numba = pytest.importorskip("numba")

    @numba.njit(numba.float64(numba.float64[:]))
    def total(x):
        made = 0.0
        for v in x:
            made += v * v * v
        return made

    cubes = sg.custom(total, vjp=lambda p, ct: 3 * ct * p[0] ** 2, name="cubes")
    return Program(lambda x: np.sin(cubes(x)), (X,))


@program
def a_ufunc_of_numba():
    numba = pytest.importorskip("numba")
    half = numba.vectorize([numba.float64(numba.float64, numba.float64)])(lambda a, b: a * a / 2 + b)
    own = sg.custom(half, jvp=lambda p, t: p[0] * t[0] + t[1], name="half")
    return Program(lambda x: np.sum(own(x, np.sin(x)) * x), (X,))


@program
def a_ufunc_of_python():
    slow = np.frompyfunc(lambda a: math.atan(a), 1, 1)
    own = sg.custom(lambda x: slow(x).astype(float), jvp=lambda p, t: t[0] / (1 + p[0] ** 2), name="slow")
    return Program(lambda x: np.sum(own(x) ** 2), (X,))


@program
def a_function_that_keeps_its_results():
    @functools.cache
    def drag(speed):
        return speed * abs(speed) ** 0.75

    own = sg.custom(drag, jvp=lambda p, t: 1.75 * np.abs(p[0]) ** 0.75 * t[0], name="drag")
    return Program(lambda v: own(v) * v, (np.float64(1.7),))


@program
def properties_of_a_fluid():
    def state(t, p, fluid):
        rounds = 3 if fluid == "air" else 4
        return p / (287.0 * t), 1.7e-5 * (t / 273.0) ** 0.7, rounds

    def rule(primals, ct):
        t, p, _ = primals
        by_density, by_viscosity, _ = ct
        by_t = -by_density * p / (287.0 * t**2) + by_viscosity * 1.7e-5 * 0.7 / 273.0 * (t / 273.0) ** -0.3
        return by_t, by_density / (287.0 * t), None

    properties = sg.custom(state, vjp=rule)

    def reynolds(t, p):
        density, viscosity, rounds = properties(t, p, "air")
        return np.log(density * 2.0 / viscosity) * rounds

    return Program(reynolds, (np.float64(300.0), np.float64(1e5)))


@program
def a_method_of_a_pump():
    class Pump:
        def __init__(self, scale):
            self.scale = scale

        @sg.custom(jvp=lambda primals, tangents: primals[0].scale * 2 * primals[1] * tangents[1])
        def head(self, q):
            return self.scale * q * q

        def power(self, q):
            return np.sum(self.head(q) * q)

    return Program(Pump(1.5).power, (X,))


@program
def a_closure_that_was_configured():
    def made(power):
        return sg.custom(lambda x: x**power, vjp=lambda p, ct: ct * power * p[0] ** (power - 1), name="powered")

    cube, fourth = made(3), made(4)
    return Program(lambda x: np.sum(cube(x) * fourth(x)), (X,))


@program
def options_by_name():
    def norm(x, kind="two", *, scale=1.0):
        return scale * (np.sum(x**2) if kind == "two" else np.sum(x**4))

    def rule(primals, ct, scale):
        x, kind = primals
        return ct * scale * (2 * x if kind == "two" else 4 * x**3), None

    own = sg.custom(norm, vjp=rule)
    return Program(lambda x: own(x, kind="four", scale=0.5) * own(x), (X,))


@program
def parameters_in_a_dict():
    def model(params, x):
        return params["a"] * np.exp(params["b"] * x)

    def rule(primals, ct, out):
        params, x = primals
        return {"a": np.sum(ct * out) / params["a"], "b": np.sum(ct * out * x)}, ct * out * params["b"]

    own = sg.custom(model, vjp=rule)
    return Program(lambda a, b, x: np.sum(own({"a": a, "b": b}, x) ** 2), (np.float64(1.2), np.float64(0.4), X))


@program
def a_list_of_arrays():
    stacked = sg.custom(
        lambda parts: np.vstack([p * k for k, p in enumerate(parts, 1)]).sum(0),
        jvp=lambda p, t: sum(k * v for k, v in enumerate(t[0], 1)),
        name="stacked",
    )
    return Program(lambda x, y: np.sum(stacked([x, y, x * y]) ** 2), (X, X[::-1].copy()))


@program
def a_partial_function():
    own = sg.custom(functools.partial(np.power, 2.0), jvp=lambda p, t, out: out * np.log(2.0) * t[0], name="power_of_2")
    return Program(lambda x: np.sum(own(x) * x), (X,))


@program
def an_object_that_is_called():
    class Model:
        def __call__(self, x):
            return np.tanh(x)

    own = sg.custom(Model(), vjp=lambda p, ct, out: ct * (1 - out**2))
    return Program(lambda x: np.sum(own(x) ** 3), (X,))


@program
def a_drag_coefficient_of_cases():
    def coefficient(re):
        return 24.0 / re if re < 1.0 else 24.0 / re * (1 + 0.15 * re**0.687)

    def rule(primals, tangents):
        (re,), (t,) = primals, tangents
        return np.where(re < 1.0, -24.0 / re**2, -24.0 / re**2 + 3.6 * (0.687 - 1) * re ** (0.687 - 2)) * t

    own = sg.custom(coefficient, jvp=rule)
    return Program(lambda re: own(re) * re**2, (np.float64(7.0),))


@program
def a_polynomial_object():
    curve = np.polynomial.Polynomial([1.0, -2.0, 0.5, 3.0])

    def derivative(order):
        own = curve.deriv(order) if order else curve
        return sg.custom(own, jvp=lambda p, t: derivative(order + 1)(p[0]) * t[0], name=f"curve_{order}")

    return Program(lambda x: np.sum(derivative(0)(np.sin(x))), (X,))
