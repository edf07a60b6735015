"""Functions of arrays as ONNX operators: searches, sums, indices, diagonals, axes without elements."""

from __future__ import annotations

import exportables
import numpy as np
import pytest
from onnx_models import Exported, exported, run, same

import symgrad as sg
from symgrad.exporters import onnx_model

rng = np.random.default_rng(3)


def left_out(call):
    """A model computes arrays of real numbers, and says by NaN that values have taken another branch."""
    branches = call.operation in ("compress", "extract") or (call.operation == "gradient" and len(call.leaves) > 1)
    return branches or call.is_composed or call.is_decomposed or not call.results or "complex128" in call.dtypes


def has_truth(call):
    """Truth values cannot say that a matrix beside them was singular."""
    return any(r.dtype == bool for r in call.results)


def left_out_beside_truth(call):
    return left_out(call) or has_truth(call)


def left_out_beside_numbers(call):
    return left_out(call) or not has_truth(call)


@pytest.mark.parametrize("without", [left_out_beside_truth, left_out_beside_numbers])
def test_values_and_first_derivatives_of_functions(without):
    for e in exportables.programs_of(["function"], without):
        for got, want, of in zip(run(onnx_model.model(e.subject), e.inputs), e.wanted, e.of, strict=True):
            same(got, want, 1e-10, what=of)


def test_searches_put_nan_where_numpy_does():
    x = np.array([[1, np.nan, 3, np.nan], [2, 2, 1, 1], [np.inf, np.nan, -np.inf, np.inf], [-np.inf] * 4])
    knots = np.array([0.0, 1, 1, 2, np.inf, np.nan])
    for function in (
        lambda x: np.argmax(x, axis=1),
        lambda x: np.argmin(x, axis=0),
        lambda x: np.argsort(x, axis=1, kind="stable"),
        lambda x: np.argsort(x, axis=0, kind="stable"),
        lambda x: np.max(x, axis=1),
        lambda x: np.min(x),
        lambda x: np.searchsorted(knots, x, side="left"),
        lambda x: np.searchsorted(knots, x, side="right"),
        lambda x: np.sort(x, axis=1),
    ):
        exported(function, x).compare(x)


def test_sums_of_whole_numbers_are_exact():
    x = np.array([[2**62, 1, -(2**62), 3], [2**53 + 1, 2, 3, 4]])
    y = np.array([[1.0, 2.0]])

    def totals(y):
        counts = x * (y[0, 0] > 0)
        return np.sum(counts), np.sum(counts, axis=1), np.cumsum(counts, axis=1), counts @ np.ones(4, int)

    exported(totals, y).compare(y)


def test_indices():
    x = rng.normal(size=(5, 4))
    rows = np.array([[0, -1], [3, 3]])
    for function in (
        lambda x: x[::-2, 1:3],
        lambda x: x[4:1:-1],
        lambda x: x[-1] * x[1, -2],
        lambda x: x[rows] * 2.0,
        lambda x: x[:, np.array([1, 1, -1])],
        lambda x: x[2:2],
        lambda x: x[::3, ::-3],
    ):
        exported(function, x).compare(x)
        Exported(sg.grad(lambda x, f=function: np.sum(np.sin(f(x)))), (x,)).compare(x)
    outside = exported(lambda x, k: x[k], x, np.array([1, 2]))
    with pytest.raises(Exception, match="out of data bounds"):
        run(outside.model, [x, np.array([1, 9])])


def test_diagonals_and_identities():
    x = rng.normal(size=4)
    x[1] = np.inf
    exported(lambda x: (np.diag(x), np.einsum("i,j->ij", x, x).trace(), np.diagonal(np.outer(x, x))), x).compare(x)
    Exported(sg.hessian(lambda x: np.sum(x**4) + np.sum(np.exp(x)) ** 2), (x[2:],)).compare(x[2:])
    third = sg.jacobian(sg.hessian(lambda x: np.sum(x**4)))
    Exported(third, (x[2:],)).compare(x[2:])
    Exported(sg.jacobian(lambda x: np.tanh(x)), (np.ones((2, 3)),)).compare(rng.normal(size=(2, 3)))


def test_axes_without_elements():
    X, w = np.ones((0, 3)), rng.normal(size=3)
    loss = sg.value_and_grad(lambda w, X: np.sum((X @ w) ** 2) + np.sum(X.T @ X))
    Exported(loss, (w, X)).compare(w, X)
    Exported(loss, ("d", "n d")).compare(w, X)
    largest = Exported(sg.symbolic(lambda x: np.max(x)), ("n",))
    assert np.isnan(run(largest.model, [np.ones(0)])[0])  # NumPy raises
