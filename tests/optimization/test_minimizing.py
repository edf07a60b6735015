"""minimize: every method finds what SciPy finds by itself, with the derivatives that it takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, ArgumentTypeError, UnsupportedOperation

optimize = pytest.importorskip("scipy.optimize")

START = np.array([-1.2, 1.0, 0.7])
_weight = 100.0


def rosenbrock(x, a=100.0):
    return np.sum(a * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@dataclass
class Point:
    x: float
    rest: np.ndarray


@pytest.mark.parametrize(
    ("method", "derived"),
    [
        (None, "value and gradient"),
        ("BFGS", "value and gradient"),
        ("CG", "value and gradient"),
        ("L-BFGS-B", "value and gradient"),
        ("TNC", "value and gradient"),
        ("SLSQP", "value and gradient"),
        ("Newton-CG", "Hessian 3 × 3, dense"),
        ("dogleg", "Hessian 3 × 3, dense"),
        ("trust-exact", "Hessian 3 × 3, dense"),
        ("trust-ncg", "Hessian 3 × 3, dense"),
        ("trust-krylov", "Hessian 3 × 3, dense"),
        ("trust-constr", "Hessian 3 × 3, dense"),
        ("Nelder-Mead", "value; Nelder-Mead takes no gradient"),
        ("Powell", "value; Powell takes no gradient"),
    ],
)
def test_each_method_is_given_what_it_takes(method, derived):
    start = np.full(3, 1.1) if method == "dogleg" else START  # which wants a positive definite Hessian
    options = {"maxiter": 2000} if method in ("TNC", "trust-constr") else None
    options = {"maxfun": 5000} if method == "TNC" else options
    found = sg.minimize(rosenbrock, start, 100.0, method=method, options=options)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-2)
    assert found.used.splitlines()[-1].startswith(derived)
    assert ", on " in found.used
    if "takes no" not in derived:  # nothing is left to finite differences, which call the function for each unknown
        assert found.nfev <= 3 * found.nit + 20


@pytest.mark.parametrize(
    ("start", "at"),
    [
        (np.float64(3.0), lambda x: x),
        (2, lambda x: x),
        ([3.0, 1], lambda x: np.max(np.abs(x - [0.0, 0.0]))),
        (np.ones((2, 2)), lambda x: x[1, 1]),
        ({"a": 1.0, "b": np.ones((2, 3))}, lambda x: x["b"][1, 2]),
        ((np.ones(2), {"c": 3}), lambda x: x[1]["c"]),
        (Point(3.0, np.ones(2)), lambda x: x.rest[0]),
    ],
)
def test_unknowns_of_any_structure(start, at):
    from symgrad.tracing.tree import flatten

    def squares(x, to):
        return sum(np.sum((leaf - to) ** 2) for leaf in flatten(x)[0]) + 1.0

    found = sg.minimize(squares, start, 0.0, method="BFGS")
    assert abs(at(found.x)) < 1e-6
    assert [np.shape(v) for v in flatten(found.jac)[0]] == [np.shape(v) for v in flatten(found.x)[0]]
    np.testing.assert_allclose(found.fun, 1.0)


def test_many_unknowns_have_products_in_place_of_a_hessian():
    def function(x):
        return np.sum((np.cumsum(x) - 1.0) ** 2) + np.sum(x) ** 2

    found = sg.minimize(function, np.zeros(300), method="trust-ncg")
    assert found.success
    assert "Hessian times a vector, which is not built" in found.used
    assert found.nhev > 0


def test_a_sparse_hessian_stays_sparse():
    def function(x):
        return np.sum((x[1:] - x[:-1] ** 2) ** 2 + (1 - x[1:]) ** 2)

    found = sg.minimize(function, np.full(150, 0.9), method="trust-constr")
    assert "Hessian 150 × 150, sparse with 448 entries" in found.used
    np.testing.assert_allclose(found.fun, 0.0, atol=1e-6)


def _circle(x):
    return x[0] ** 2 + x[1] ** 2


@pytest.mark.parametrize(
    ("method", "constraint", "said"),
    [
        ("SLSQP", {"type": "eq", "fun": lambda x: _circle(x) - 1}, "constraint 0: Jacobian 1 × 2, dense"),
        ("SLSQP", {"type": "eq", "fun": lambda x, r: _circle(x) - r, "args": (1.0,)}, "constraint 0: Jacobian 1 × 2"),
        ("SLSQP", optimize.NonlinearConstraint(_circle, 1.0, 1.0), "constraint 0: Jacobian 1 × 2, dense"),
        ("trust-constr", optimize.NonlinearConstraint(_circle, 1.0, 1.0), "constraint 0: Hessian 2 × 2, dense"),
        (None, [{"type": "ineq", "fun": lambda x: [1 - _circle(x), x[0]]}], "constraint 0: Jacobian 2 × 2, dense"),
    ],
)
def test_constraints_have_derivatives(method, constraint, said):
    found = sg.minimize(lambda x: x[0] + 2 * x[1] + 3, np.array([0.8, -0.3]), method=method, constraints=constraint)
    at = [0.0, -1.0] if method is None else [-1 / 5**0.5, -2 / 5**0.5]
    np.testing.assert_allclose(found.x, at, atol=1e-5)
    assert said in found.used


def test_a_constraint_keeps_its_own_derivatives():
    seen = []

    def jacobian(x):
        seen.append(x)
        return 2 * x

    own = {"type": "eq", "fun": lambda x: _circle(x) - 1, "jac": jacobian}
    found = sg.minimize(lambda x: x[0], np.array([-0.7, 0.3]), constraints=own)
    np.testing.assert_allclose(found.x, [-1, 0], atol=1e-4)
    assert seen
    assert "constraint" not in found.used
    linear = optimize.LinearConstraint([[1.0, 1.0]], 1.0, 1.0)
    np.testing.assert_allclose(sg.minimize(lambda x: np.sum(x**2), np.zeros(2), constraints=linear).x, 0.5)


def test_bounds():
    found = sg.minimize(lambda x: np.sum((x - 3) ** 2), np.zeros(2), bounds=[(0, 1), (None, None)])
    np.testing.assert_allclose(found.x, [1, 3])
    sides = optimize.Bounds({"a": 0.0, "b": -np.inf}, {"a": 1.0, "b": [2.0, np.inf]})
    found = sg.minimize(
        lambda x: (x["a"] - 3) ** 2 + np.sum((x["b"] - 3) ** 2), {"a": 0.0, "b": np.zeros(2)}, bounds=sides
    )
    np.testing.assert_allclose(found.x["a"], 1.0)
    np.testing.assert_allclose(found.x["b"], [2.0, 3.0])
    found = sg.minimize(lambda x: (x["a"] - 3) ** 2, {"a": 0.0}, bounds=optimize.Bounds(-1.0, 1.0))
    np.testing.assert_allclose(found.x["a"], 1.0)


def test_a_callback_is_given_the_unknowns():
    seen = []
    sg.minimize(lambda x: (x["a"] - 3) ** 2, {"a": 0.0}, callback=seen.append)
    assert set(seen[-1]) == {"a"}
    np.testing.assert_allclose(seen[-1]["a"], 3.0)


def test_a_method_of_the_users_own():
    def newton(fun, x0, args=(), **options):
        value, gradient = fun(x0, *args), options["jac"](x0, *args)
        return optimize.OptimizeResult(x=x0 - gradient / 2, fun=value, success=True)

    np.testing.assert_allclose(sg.minimize(lambda x: np.sum((x - 3) ** 2), np.zeros(2), method=newton).x, 3.0)


def test_a_second_call_is_not_traced_again(capsys):
    def told(x, to):
        print("traced")
        return np.sum((x - to) ** 2)

    for to in (1.0, 2.0, 3.0):
        np.testing.assert_allclose(sg.minimize(told, np.zeros(2), to).x, to)
    assert capsys.readouterr().out.count("traced") == 1


def test_what_the_function_reads_is_guarded(monkeypatch):
    def function(x):
        return _weight * np.sum((x - 1) ** 2) + np.sum(x)

    for weight in (100.0, 0.5):
        monkeypatch.setitem(globals(), "_weight", weight)
        np.testing.assert_allclose(sg.minimize(function, np.zeros(2)).x, 1 - 1 / (2 * weight), atol=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (
            lambda: sg.minimize(lambda x: x**2, np.ones(2)),
            ArgumentError,
            r"f gives shape \(2,\); minimize needs one",
        ),
        (lambda: sg.minimize(lambda x: {"a": x[0]}, np.ones(2)), ArgumentError, "gives a dict"),
        (lambda: sg.minimize(lambda x: x**2, 1j), ArgumentTypeError, "seeks real numbers"),
        (lambda: sg.minimize(lambda x: x**2, "x"), ArgumentTypeError, "it was given a str"),
        (lambda: sg.minimize(lambda x: x**2, []), ArgumentError, "nothing to seek"),
        (lambda: sg.minimize(3, 1.0), ArgumentTypeError, "takes a function, got a int"),
        (lambda: sg.minimize(lambda x: x.tobytes(), 1.0), UnsupportedOperation, "tobytes has no derivative rule"),
        (
            lambda: sg.minimize(lambda x: x["a"], {"a": 1.0}, bounds=optimize.Bounds({"b": 0.0}, 1.0)),
            ArgumentError,
            "bounds have two sides",
        ),
    ],
)
def test_bad_arguments(call, error, said):
    with pytest.raises(error, match=said):
        call()
