"""Minima of SciPy: their derivatives are those of differences, at bounds too, in both modes and to second order."""

from __future__ import annotations

import numpy as np
import pytest
from solvers.test_roots import difference

import symgrad as sg
from symgrad.errors import ArgumentError, UnsupportedOperation

optimize = pytest.importorskip("scipy.optimize")
T = np.linspace(0.0, 1.0, 12)
FINE = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}


def bowl(x, a):
    return np.sum((x - a) ** 4) + np.sum(x**2 * np.arange(1.0, 4))


def narrow(x, a):
    return (x[0] - a) ** 2 + (x[1] - x[0] * a) ** 2


def slope_of_narrow(x, a):
    return np.array([2 * (x[0] - a) - 2 * a * (x[1] - x[0] * a), 2 * (x[1] - x[0] * a)])


def curve(t, height, rate):
    return height * np.exp(-rate * t)


def near(p, a):
    return curve(T, *p) - a / (1 + T)


def minimized(fun, x0, **settings):
    return lambda a: optimize.minimize(fun, x0, args=(a,), **settings)


MINIMA = {
    "bfgs": lambda a: minimized(bowl, np.zeros(3), tol=1e-9)(a).x.sum(),
    "its value": lambda a: minimized(bowl, np.zeros(3), tol=1e-9)(a).fun,
    "with its gradient": lambda a: minimized(
        lambda x, a: (narrow(x, a), slope_of_narrow(x, a)), [1.0, 1.0], jac=True, tol=1e-9
    )(a).x.sum(),
    "newton-cg": lambda a: minimized(narrow, [1.0, 1.0], method="Newton-CG", jac=slope_of_narrow, tol=1e-12)(a).x[1],
    "nelder-mead": lambda a: minimized(
        narrow, [1.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-11, "fatol": 1e-15}
    )(a).x[1],
    "between bounds": lambda a: (
        minimized(narrow, [1.0, 1.0], bounds=[(0, None), (None, a)], tol=1e-12, method="TNC")(a).x
        @ np.array([1.0, 3.0])
    ),
    "within bounds": lambda a: minimized(narrow, [1.0, 1.0], bounds=optimize.Bounds(-90, 90), tol=1e-12)(a).x[1],
    "scalar": lambda a: optimize.minimize_scalar(lambda x: (x - a) ** 2 + np.exp(x), tol=1e-12).x,
    "scalar, bounded": lambda a: (
        optimize.minimize_scalar(lambda x: (x - a) ** 2 + x**4, bounds=(-3, 3), options={"xatol": 1e-12}).x
    ),
    "scalar, bracketed": lambda a: optimize.minimize_scalar(lambda x: (x - a) ** 2 + x**4, bracket=(-1, 0.5, a)).fun,
    "least squares": lambda a: optimize.least_squares(near, [1.0, 1.0], args=(a,), **FINE).x.sum(),
    "least squares at a bound": lambda a: optimize.least_squares(
        near, [1.0, 0.2], kwargs={"a": a}, bounds=(0, [9, 0.4]), **FINE
    ).x.sum(),
    "their cost": lambda a: optimize.least_squares(near, [1.0, 1.0], args=(a,), method="lm").cost,
    "nnls": lambda a: np.sum(optimize.nnls(np.stack([1 + T, T**3, -T], 1), np.exp(T * a))[0] ** 2),
    "nnls, what is left": lambda a: optimize.nnls(np.stack([T, T**2, -(T**3)], 1), np.sin(T * a))[1],
    "curve_fit": lambda a: optimize.curve_fit(curve, T, a / (1 + T) + T**2, **FINE)[0][1],
    "its covariance": lambda a: np.sum(optimize.curve_fit(curve, T, a / (1 + T) + T**2, p0=[1, 1], **FINE)[1]),
    "of known errors": lambda a: np.sum(
        optimize.curve_fit(curve, T, 2 / (1 + T) + T**2, sigma=a + T, absolute_sigma=True, **FINE)[1]
    ),
    "in a minimum": lambda a: (
        optimize.minimize_scalar(lambda b: (b - MINIMA["scalar"](b + a)) ** 2 + b**2, tol=1e-12).x
    ),
}


def scalar_by_its_equation(a):
    return optimize.brentq(lambda x: 2 * (x - a) + np.exp(x), -9, 9, xtol=1e-15)


def minimum_in_a_minimum_by_equations(a):
    def slope(b):
        inner = scalar_by_its_equation(b + a)
        return (b - inner) * (1 - 2 / (2 + np.exp(inner))) + b

    return optimize.brentq(slope, -9, 9, xtol=1e-15)


#: what differences are taken of where the minimum is found too coarsely: where it is flat half the digits are noise
PRECISE = {"in a minimum": minimum_in_a_minimum_by_equations}


@pytest.mark.parametrize("name", MINIMA)
def test_value_and_derivatives_in_both_modes(name):
    minimum = MINIMA[name]
    value, slope = sg.value_and_grad(minimum)(2.0)
    np.testing.assert_allclose(value, minimum(2.0), rtol=3e-6)
    np.testing.assert_allclose(slope, difference(PRECISE.get(name, minimum), 2.0, 0.05), rtol=2e-4)
    gradient, second = sg.grad(minimum), sg.grad(sg.grad(minimum))
    for a in (2.0, 2.3):
        np.testing.assert_allclose(second(a), difference(gradient, a, 0.05), rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(sg.jacfwd(minimum)(2.0), slope, rtol=1e-12)


def test_vmap():
    gradient = sg.grad(MINIMA["least squares"])
    points = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(sg.vmap(gradient)(points), [gradient(a) for a in points], rtol=1e-12)


def test_what_has_no_rule_names_the_line_and_the_way_out():
    equal = {"type": "eq", "fun": lambda x: x[0] - 1}
    for wrong, error, said in [
        (lambda a: minimized(narrow, [1.0, 1.0], constraints=equal)(a).fun, UnsupportedOperation, "multipliers"),
        (lambda a: optimize.least_squares(near, [1.0, 1.0], args=(a,), loss="huber").cost, UnsupportedOperation, "sum"),
        (lambda a: optimize.curve_fit(curve, T, T * a, sigma=np.eye(12))[0][0], UnsupportedOperation, "matrix sigma"),
    ]:
        with pytest.raises(error, match=said) as refused:
            sg.grad(wrong)(1.0)
        assert __file__ in str(refused.value)
    early = {"bounds": [(0, None), (None, 9)], "options": {"maxfun": 3}}
    with pytest.raises(ArgumentError, match="would move on by"):
        sg.grad(lambda a: minimized(narrow, [1.0, 1.0], **early)(a).x[0])(2.2)
    with pytest.raises(ArgumentError, match="minimize has stopped"):
        sg.grad(lambda a: minimized(lambda x, a: np.exp(-x[0] * a), [1.0], options={"maxiter": 2})(a).fun)(1.0)
