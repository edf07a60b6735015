"""Exported modules of a sparse derivative give what it gives, or say that they are dense."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from exportables import same
from loaded_modules import exported, loaded

import symgrad as sg
from symgrad.errors import ArgumentError
from symgrad.tracing.tree import flatten


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


FEW = np.diag(np.arange(1.0, 5.0)) + np.eye(4, k=2)
SQUARE = np.arange(4.0).reshape(2, 2)
SPARSE = {
    "tridiagonal": (sg.hessian(rosenbrock, sparse=True), (np.linspace(0.1, 1, 6),)),
    "indexed": (sg.jacobian(lambda x, i: x[i] * 2, sparse=True), (np.ones(4), np.array([1, -1, 2, 1]))),
    "repeated": (
        sg.hessian(lambda x, i: np.sum(x[i] ** 2 * x[i + 1]), sparse=True),
        (np.arange(5.0), np.array([1, 2, 1])),
    ),
    "table": (sg.jacobian(lambda x, i: x[i].T * x[i].T, sparse=True), (np.ones((4, 2)), np.array([[1, 2], [3, 0]]))),
    "nested": (sg.jacobian(lambda x: (np.diff(x[0]), {"a": x.T * x}), sparse=True), (SQUARE,)),
    "constant": (sg.jacobian(lambda x: FEW @ (x * x), sparse=True), (np.arange(4.0),)),
    "looked_up": (sg.jacobian(lambda x: x[np.array([3, 0, 0])], sparse=True), (np.arange(4.0),)),
    "aux": (
        sg.jacobian(lambda x, p: (np.sin(x) * p["s"], x, 3), (0, 1), has_aux=True, sparse=True),
        (np.arange(3.0), {"s": np.array(2.0), "t": np.ones(2)}),
    ),
    "blocks": (sg.hessian(lambda x, y: np.sum(x * y) ** 2, (0, 1), sparse=True), (np.arange(2.0), np.ones(2))),
    "named": (sg.jacobian(sg.named(lambda x, y: x * y[0], x="n", y="m"), sparse=True), (np.ones(3), np.ones(2))),
    "branch": (sg.jacobian(lambda x: x**2 if x[0] > 0 else x, sparse=True), (np.ones(3),)),
    "empty": (sg.jacobian(lambda x: x[:0], sparse=True), (np.arange(3.0),)),
    "zero": (sg.jacobian(np.floor, sparse=True), (np.arange(3.0),)),
    "single": (sg.jacobian(lambda x: x**2, sparse=True), (np.arange(3, dtype=np.float32),)),
}


def alike_sparse(got: Any, wanted: Any) -> None:
    mine, theirs = flatten(got)[0], flatten(wanted)[0]
    assert len(mine) == len(theirs)
    for a, b in zip(mine, theirs, strict=True):
        assert type(a) is type(b)
        if hasattr(b, "indptr"):
            assert a.shape == b.shape
            np.testing.assert_array_equal(a.indptr, b.indptr)
            np.testing.assert_array_equal(a.indices, b.indices)
            same(a.data, b.data)
        else:
            same(a, b)


@pytest.mark.parametrize("name", SPARSE)
def test_a_sparse_derivative_is_sparse(name, capsys):
    derived, args = SPARSE[name]
    for format in ("python", "numexpr"):
        text = derived.export(format, *args)
        assert "# sparse: nothing but the entries that the structure has is computed" in text
        alike_sparse(loaded(text)(*args), derived(*args))
        assert ": pass (largest difference" in capsys.readouterr().out


def test_a_sparse_derivative_of_numba():
    if not os.environ.get("CI"):
        pytest.importorskip("numba")
    derived, args = SPARSE["repeated"]
    function = exported(derived, "numba", *args)
    alike_sparse(function(*args), derived(*args))
    other = args[0] + 1, np.array([3, 0, -5])
    alike_sparse(function(*other), derived(*other))


def test_a_large_sparse_derivative_is_never_dense():
    derived, x = sg.hessian(rosenbrock, sparse=True), np.linspace(0, 1, 100_000)
    function = exported(derived, "python", x)
    alike_sparse(function(x), derived(x))


def test_a_sparse_derivative_holds_its_branches():
    function = exported(SPARSE["branch"][0], "python", *SPARSE["branch"][1])
    with pytest.raises(ValueError, match="another branch than the derived one"):
        function(-np.ones(3))


def test_indices_out_of_bounds_are_refused():
    function = exported(SPARSE["indexed"][0], "python", *SPARSE["indexed"][1])
    with pytest.raises(IndexError, match="out of bounds for an axis of size 4"):
        function(np.ones(4), np.array([0, 1, 2, 4]))


@pytest.mark.parametrize("format", ["jax", "torch", "c", "json"])
def test_other_formats_say_that_they_are_dense(format):
    derived, args = SPARSE["tridiagonal"]
    text = str(derived.export(format, *args))
    assert "sparse: the derivative was asked for as sparse, and is a dense array here" in text
    assert "float64[6, 6]" in text


def test_what_a_sparse_module_cannot_hold_is_refused():
    with pytest.raises(ArgumentError, match="sparse=True needs sizes"):
        sg.hessian(sg.named(lambda x: np.sum(x**3), x="n"), sparse=True).export("python", "n")
    order = np.random.default_rng(0).permutation(20_000)
    with pytest.raises(ArgumentError, match="too many to write into source"):
        sg.jacobian(lambda x: x[order], sparse=True).export("python", np.ones(20_000))
