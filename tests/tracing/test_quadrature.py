"""Quadrature of scipy: sums over samples by its own code, and quad by Leibniz' rule."""

import numpy as np
import pytest
import scipy.integrate as si
from scipy.special import erf

import symgrad as sg
from symgrad.errors import UnsupportedOperation
from symgrad.testing import check_grads

RNG = np.random.default_rng(0)
X, Y, Y2 = np.sort(RNG.uniform(0, 3, 8)), RNG.normal(size=8), RNG.normal(size=(7, 2))
A = np.array([0.7, 1.3])

SAMPLES = {
    **{n: lambda y, n=n: getattr(si, n)(y, x=X) for n in ("trapezoid", "simpson", "cumulative_trapezoid")},
    **{f"{n} along": lambda y, n=n: getattr(si, n)(y[:6].reshape(3, 2), axis=0) for n in ("trapezoid", "simpson")},
    "cumulative_simpson": lambda y: si.cumulative_simpson(y, x=X, initial=0.0),
    "by the places": lambda x: si.simpson(Y, x=x) + si.trapezoid(Y, x=x),
    "romb": lambda y: si.romb(y[:5], dx=0.1),
    "fixed_quad": lambda y: si.fixed_quad(lambda t: np.sin(y[0] * t) + y[1], y[2], y[3], n=4)[0],
}


@pytest.mark.parametrize("name", SAMPLES)
def test_sums_over_samples(name):
    fn, at = SAMPLES[name], X if name == "by the places" else Y
    np.testing.assert_allclose(sg.symbolic(fn, backend="numpy")(at), fn(at), rtol=1e-14)
    check_grads(fn, [at], order=1)


INTEGRALS = {
    "of what is closed over": lambda a: si.quad(lambda t: np.sin(a[0] * t) + a[1] * t, 0.0, 2.0)[0],
    "of arguments": lambda a: si.quad(lambda t, b, c: np.sin(b * t) + c, 0.0, 2.0, args=(a[0], a[1]))[0],
    "by the limits": lambda a: si.quad(lambda t: np.exp(-t * t), a[0], a[1])[0],
    "by all": lambda a: si.quad(lambda t: np.exp(-t * t * a[0]), a[0] ** 2, a[1])[0],
    "backwards": lambda a: si.quad(lambda t: np.cos(a[0] * t), 2.0, -1.0)[0],
    "to infinity": lambda a: si.quad(lambda t: np.exp(-a[0] * t * t), 0, np.inf)[0],
    "from infinity": lambda a: si.quad(lambda t: 1 / (a[0] + (t - a[1]) ** 2) ** 2, -np.inf, np.inf)[0],
    "over a triangle": lambda a: si.dblquad(lambda u, v: a[0] * u * v**2 + a[1] * u, 0, 1, 0, lambda v: v * a[0])[0],
    "over a rectangle": lambda a: si.nquad(lambda u, v: np.sin(a[0] * u) * v + a[1], [[0, 1], [0, 2]])[0],
    "of a peak": lambda a: si.quad(lambda t: 1 / ((t - a[0]) ** 2 + 1e-4 * a[1]), 0, 3)[0],
}


@pytest.mark.parametrize("name", INTEGRALS)
def test_leibniz_rule(name):
    fn = INTEGRALS[name]
    want, error = fn(A), 1e-7
    np.testing.assert_allclose(
        sg.symbolic(fn, backend="numpy")(A), want, rtol=1e-12 if name != "from infinity" else error
    )
    check_grads(fn, [A], order=1)


def test_derivatives_are_exact_to_rounding():
    a = np.array([0.5, 1.2])
    gradient = sg.grad(INTEGRALS["by the limits"])(a)
    np.testing.assert_allclose(gradient, [-np.exp(-0.25), np.exp(-1.44)], rtol=1e-13)
    by_rate = sg.grad(lambda r: si.quad(lambda t: np.exp(-r * t * t), 0, 2)[0])(0.8)
    root = np.sqrt(0.8)
    want = np.exp(-0.8 * 4) / 0.8 - erf(2 * root) * np.sqrt(np.pi) / (4 * 0.8 * root)
    np.testing.assert_allclose(by_rate, want, rtol=1e-12)


def test_other_intervals_are_found_where_the_integrand_is_steeper():
    gradient = sg.grad(lambda s: si.quad(lambda t: 1 / (1 + (s * (t - 0.3)) ** 2), 0, 1)[0])
    for s in (1.0, 1000.0, 2.0):
        exact = lambda s: (np.arctan(0.7 * s) + np.arctan(0.3 * s)) / s  # noqa: E731
        h = 1e-6 * s
        np.testing.assert_allclose(gradient(s), (exact(s + h) - exact(s - h)) / (2 * h), rtol=1e-6)


def test_what_has_no_rule_is_refused_with_the_way_out():
    for fn, way_out in [
        (lambda a: si.quad(lambda t: a[0] * t, 0, 1, weight="cos", wvar=1.0)[0], "weight into the integrand"),
        (lambda a: si.quad(lambda t: a[0] / np.abs(t - 0.3) ** 1.5, 0, 1)[0], "Split it"),
    ]:
        with pytest.raises(UnsupportedOperation, match=way_out):
            sg.grad(fn)(A)
