"""least_squares, root and curve_fit find what is known, with exact Jacobians."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError

optimize = pytest.importorskip("scipy.optimize")

T = np.linspace(0.0, 3.0, 25)
Y = 2.0 * np.exp(-0.7 * T) + 0.3


def model(t, a, k, c):
    return a * np.exp(-k * t) + c


def residuals(p, t, y, power=1.0):
    return (model(t, *p) - y) * power


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_each_method(method):
    found = sg.least_squares(residuals, [1.0, 1.0, 0.0], (T, Y), method=method)
    np.testing.assert_allclose(found.x, [2.0, 0.7, 0.3], rtol=1e-6)
    assert found.nfev < 40
    assert "Jacobian 25 × 3, dense, on " in found.used


def test_containers_bounds_and_further_arguments():
    def of_parts(p, t, y, power):
        left = (model(t, p["a"], p["rates"][0], p["rates"][1]) - y) * power
        return {"first": left[:5], "rest": left[5:].reshape(4, 5)}

    start = {"a": 1.0, "rates": np.array([1.0, 0.0])}
    found = sg.least_squares(
        of_parts, start, (T, Y), kwargs={"power": 2.0}, bounds=(-5.0, {"a": 1.5, "rates": [3.0, 1.0]})
    )
    assert found.x["a"] == pytest.approx(1.5, abs=1e-3)
    assert found.x["rates"].shape == found.grad["rates"].shape == (2,)
    free = sg.least_squares(of_parts, start, (T, Y), kwargs={"power": 2.0}, bounds=optimize.Bounds(-5.0, 5.0))
    np.testing.assert_allclose(free.x["rates"], [0.7, 0.3], rtol=1e-5)


def test_a_large_jacobian_with_few_entries_is_sparse():
    found = sg.least_squares(lambda x: x[1:] ** 2 - x[:-1] + 0.21, np.full(200, 0.5))
    assert "Jacobian 199 × 200, sparse with 398 entries" in found.used
    np.testing.assert_allclose(found.fun, 0.0, atol=1e-6)


@pytest.mark.parametrize("loss", ["soft_l1", lambda z: 2 * (np.sqrt(1 + z) - 1)])
def test_a_loss_of_ones_own_has_its_derivatives_taken(loss):
    y = Y.copy()
    y[::6] += 1.0
    found = sg.least_squares(residuals, [1.0, 1.0, 0.0], (T, y), loss=loss)
    named = optimize.least_squares(residuals, [1.0, 1.0, 0.0], loss="soft_l1", args=(T, y))
    np.testing.assert_allclose(found.x, named.x, rtol=1e-4)


@pytest.mark.parametrize(
    ("method", "said"), [("hybr", "Jacobian 2 × 2, dense"), ("lm", "Jacobian"), ("krylov", "residuals")]
)
def test_roots(method, said):
    def system(x, r):
        return x["a"] ** 2 + x["b"] ** 2 - r, x["a"] - x["b"]

    found = sg.root(system, {"a": 1.0, "b": 0.5}, 2.0, method=method)
    np.testing.assert_allclose([found.x["a"], found.x["b"]], 1.0, atol=1e-5)
    assert found.used.splitlines()[-1].startswith(said)


def test_the_root_of_a_number():
    assert sg.root(lambda x: x**3 - 8, 1.0).x == pytest.approx(2.0)


def test_fits():
    fitted, covariance = sg.curve_fit(model, T, Y, sigma=np.full(25, 0.1))
    np.testing.assert_allclose(fitted, [2.0, 0.7, 0.3], rtol=1e-6)
    assert covariance.shape == (3, 3)
    by_scipy, its_covariance = optimize.curve_fit(model, T, Y + 0.1 * np.sin(9 * T))
    fitted, covariance = sg.curve_fit(model, T, Y + 0.1 * np.sin(9 * T), [1.0, 1.0, 1.0])
    np.testing.assert_allclose(fitted, by_scipy, rtol=1e-5)
    np.testing.assert_allclose(covariance, its_covariance, rtol=1e-4)


@pytest.mark.parametrize("start", [{"a": 1.0, "r": np.array([1.0, 0.0])}])
def test_fits_of_containers(start):
    found = sg.curve_fit(lambda t, p: model(t, p["a"], *p["r"]), T, Y, start, full_output=True)
    np.testing.assert_allclose(found[0]["r"], [0.7, 0.3], rtol=1e-6)
    assert len(found) == 5


def test_a_model_that_has_no_name():
    fitted, _ = sg.curve_fit(functools.partial(model, c=0.3), T, Y, [1.0, 1.0])
    np.testing.assert_allclose(fitted, [2.0, 0.7], rtol=1e-6)


def test_products_of_the_hessian_are_what_scipy_asks_for():
    def function(x, a):
        return np.sum(a * (x - 1) ** 4) + np.sum((x[1:] - x[:-1]) ** 2)

    found = optimize.minimize(
        sg.value_and_grad(function), np.zeros(5), (2.0,), jac=True, hessp=sg.hvp(function), method="trust-krylov"
    )
    np.testing.assert_allclose(found.x, 1.0, atol=0.05)
    x, v = np.linspace(0.0, 1.0, 5), np.arange(5.0)
    np.testing.assert_allclose(sg.hvp(function)(x, v, 2.0), sg.hessian(function)(x, 2.0) @ v, rtol=1e-12)


def test_what_gives_no_numbers_is_refused():
    with pytest.raises(ArgumentError, match="f gives no numbers; it returned NoneType"):
        sg.root(lambda x: None, 1.0)
