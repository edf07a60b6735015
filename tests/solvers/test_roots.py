"""Roots of SciPy: their values are SciPy's, their derivatives those of differences, in both modes and every order."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DtypeError, ShapeError, UnsupportedOperation

optimize = pytest.importorskip("scipy.optimize")


def cubic(y, a):
    return y**3 + y - a


def bracketed(name):
    return lambda a: getattr(optimize, name)(lambda y: cubic(y, a), -10.0, 10.0)


ROOTS = {
    **{name: bracketed(name) for name in ("brentq", "brenth", "bisect", "ridder", "toms748")},
    "brentq of args": lambda a: optimize.brentq(cubic, -10.0, a + 10.0, args=(a,), xtol=1e-14),
    "brentq in full": lambda a: optimize.brentq(cubic, -10.0, 10.0, (a,), full_output=True)[1].root,
    "secant": lambda a: optimize.newton(cubic, 1.0, args=(a,), tol=1e-12),
    "newton": lambda a: optimize.newton(cubic, 1.0, fprime=lambda y, a: 3 * y**2 + 1, args=(a,)),
    "newton of many": lambda a: np.sum(optimize.newton(lambda y: cubic(y, a * np.arange(1.0, 4)), np.ones(3))),
    "root_scalar": lambda a: optimize.root_scalar(cubic, args=(a,), bracket=[-10, 10], method="brentq").root,
    "root_scalar by newton": lambda a: (
        optimize.root_scalar(lambda y: (cubic(y, a), 3 * y**2 + 1), x0=1.0, fprime=True, method="newton").root
    ),
    "root_scalar by halley": lambda a: (
        optimize.root_scalar(
            cubic, (a,), x0=1.0, fprime=lambda y, a: 3 * y**2 + 1, fprime2=lambda y, a: 6 * y, method="halley"
        ).root
    ),
    "root_scalar by secant": lambda a: optimize.root_scalar(cubic, (a,), x0=1.0, x1=1.5, xtol=1e-13).root,
    "fsolve": lambda a: optimize.fsolve(cubic, 1.0, args=(a,))[0],
    "fsolve of two": lambda a: np.prod(optimize.fsolve(lambda y: [y[0] ** 2 + y[1] - a, y[0] - y[1] ** 3], [1.0, 1.0])),
    "fsolve with its Jacobian": lambda a: optimize.fsolve(
        lambda y: [y[0] ** 2 - a, y[0] * y[1] - 1], [1.0, 1.0], fprime=lambda y: [[2 * y[0], 0], [y[1], y[0]]]
    )[1],
    "root": lambda a: np.sum(optimize.root(lambda y: cubic(y, a * np.array([1.0, 2.0])), [1.0, 1.0]).x),
    "root by lm": lambda a: optimize.root(
        lambda y: [y[0] ** 2 - a, y[0] * y[1] - 1], [1.0, 1.0], method="lm", jac=None, tol=1e-13
    ).x[1],
    "root of a matrix": lambda a: np.sum(
        optimize.root(lambda y: y**2 + y.T - a * np.eye(2) - 1, np.ones((2, 2)), method="krylov", tol=1e-13).x
    ),
    "fixed_point": lambda a: optimize.fixed_point(lambda y: np.cos(y) * a / 3, 0.5, xtol=1e-12),
    "two in a row": lambda a: optimize.brentq(lambda y: cubic(y, optimize.brentq(cubic, -9, 9, args=(a,))), -9, 9),
}


@pytest.mark.parametrize("name", ROOTS)
def test_value_and_derivatives_in_both_modes(name):
    root = ROOTS[name]
    value, slope = sg.value_and_grad(root)(2.0)
    np.testing.assert_allclose(value, root(2.0), rtol=1e-12)
    for derivative, function in [(sg.grad(root), root), (sg.grad(sg.grad(root)), sg.grad(root))]:
        for a in (2.0, 2.7):
            np.testing.assert_allclose(derivative(a), difference(function, a), rtol=1e-6)
    np.testing.assert_allclose(sg.jacfwd(root)(2.0), slope, rtol=1e-13)


def difference(function, x, h=1e-3):
    """Of fourth order."""
    near, far = (function(x + k * h) - function(x - k * h) for k in (1, 2))
    return (8 * near - far) / (12 * h)


def test_orders_are_those_of_the_cube_root():
    third = sg.grad(sg.grad(sg.grad(lambda a: optimize.brentq(lambda y: y**3 - a, 0.0, 9.0))))
    np.testing.assert_allclose(third(2.0), 10 / 27 * 2 ** (-8 / 3), rtol=1e-12)


def test_a_root_that_depends_on_nothing_is_a_number():
    gradient = sg.grad(lambda x: x * optimize.brentq(lambda t: t * t - 4.0, 0.0, 3.0))
    assert gradient(1.0) == pytest.approx(2.0)
    assert "brentq" not in str(gradient.program(1.0))


@pytest.mark.parametrize("backend", ["numpy", "numexpr", "native"])
def test_backends(backend):
    gradient = sg.grad(lambda a: np.sum(optimize.fsolve(lambda y: cubic(y, a), np.ones(3))), backend=backend)
    np.testing.assert_allclose(
        gradient(np.array([1.0, 2.0, 3.0])), [1 / (3 * y**2 + 1) for y in (0.6823278, 1.0, 1.2134117)]
    )


def test_vmap_steps_and_branches():
    root = ROOTS["brentq"]
    points = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(sg.vmap(sg.grad(root))(points), [sg.grad(root)(a) for a in points], rtol=1e-14)

    def followed(a):
        return sg.scan(lambda c, x: (c + optimize.brentq(cubic, -50, 50, args=(a * x + c,)), c), 1.0, np.arange(4.0))[0]

    np.testing.assert_allclose(sg.grad(followed)(1.0), difference(followed, 1.0), rtol=1e-9)

    def chosen(a):
        y = root(a)
        return y**2 if y > 1 else y

    gradient = sg.grad(chosen)
    for a in (1.0, 3.0):
        np.testing.assert_allclose(gradient(a), difference(chosen, a), rtol=1e-8)


def test_sizes_by_names():
    def fn(a: sg.Array["n"]):  # noqa: F821, UP037
        start = np.ones_like(a)
        each = optimize.newton(lambda y: cubic(y, a), start)
        return np.sum(each * optimize.fsolve(lambda y: cubic(y, a) + np.sum(y), start))

    gradient = sg.grad(fn)
    for size in (2, 4):
        a, step = np.arange(1.0, size + 1), 1e-5 * np.eye(size)
        slopes = [(fn(a + h) - fn(a - h)) / 2e-5 for h in step]
        np.testing.assert_allclose(gradient(a), slopes, rtol=1e-5)


def test_single_precision_beside_a_bracket_of_numbers():
    gradient = sg.grad(lambda a: optimize.brentq(lambda y: y**3 - a, 0, 9))(np.float32(2))
    np.testing.assert_allclose(gradient, 2 ** (-2 / 3) / 3, rtol=1e-6)
    assert gradient.dtype == np.float32


def test_formulas_name_the_root():
    assert str(sg.grad(ROOTS["brentq"]).closed_form(2.0)) == "1/(3*brentq(a)**2 + 1)"


def test_no_root_is_said_as_scipy_says_it():
    with pytest.raises(ValueError, match="different signs"):
        sg.grad(lambda a: optimize.brentq(lambda y: y**2 + a, 0.0, 1.0))(1.0)
    with pytest.raises(ArgumentError, match=r"scipy\.optimize\.fsolve has found no solution"):
        sg.grad(lambda a: optimize.fsolve(lambda y: y**2 + a, 1.0)[0])(1.0)
    gradient = sg.grad(ROOTS["newton"])
    np.testing.assert_allclose(gradient(2.0), 0.25)
    with pytest.raises(RuntimeError, match="converge"):
        sg.grad(lambda a: optimize.newton(lambda y: y**2 + a, 1.0, fprime=lambda y: 2 * y))(1.0)
    np.testing.assert_allclose(gradient(2.0), 0.25)


def test_what_has_no_rule_names_the_line():
    for wrong, error, said in [
        (lambda a: optimize.brentq(lambda y: y - a if y > 0 else y, -9, 9), UnsupportedOperation, "np.where"),
        (lambda a: optimize.fsolve(lambda y: np.append(y, a), [1.0, 2.0])[0], ShapeError, "reshape"),
        (lambda a: optimize.newton(lambda y: y**2 + a, 1.0 + 1j), DtypeError, "complex"),
        (lambda a: optimize.root_scalar(cubic, (a,)).root, ArgumentError, "bracket"),
    ]:
        with pytest.raises(error, match=said) as refused:
            sg.grad(wrong)(1.0)
        assert __file__ in str(refused.value)


#: what of a solution is known of a run alone, by each way to ask
OF_A_RUN = {
    "iterations": lambda a: optimize.brentq(cubic, -9.0, 9.0, (a,), full_output=True)[1].iterations * a,
    "nfev": lambda a: optimize.fsolve(cubic, 1.0, (a,), full_output=True)[1]["nfev"] * a,
    "nit": lambda a: getattr(optimize.minimize(lambda y: (y[0] - a) ** 2, [0.0]), "nit", 0) * a,
    "njev": lambda a: optimize.root(cubic, 1.0, (a,)).get("njev", 0) * a,
    "function_calls": lambda a: optimize.root_scalar(cubic, (a,), bracket=[-9, 9]).function_calls * a,
}


@pytest.mark.parametrize("name", OF_A_RUN)
def test_what_is_known_of_a_run_alone_is_refused(name):
    with pytest.raises(UnsupportedOperation, match=f"'{name}' of a solution is not known when"):
        sg.grad(OF_A_RUN[name])(2.0)
