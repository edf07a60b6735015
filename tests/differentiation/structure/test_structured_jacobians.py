"""Structured Jacobians and Hessians of random programs against finite differences, in every mode, dense and sparse."""

from __future__ import annotations

import importlib.util
import math
import pathlib
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad
from symgrad import nn
from symgrad.finite_differences import differences


def _loaded(name):
    """A module beside this file, which is on no path."""
    spec = importlib.util.spec_from_file_location(f"symgrad_{name}", pathlib.Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


structure = _loaded("random_structure")
MODES = ("forward", "reverse", "cross", "auto")


def slopes(function, x, order=1):
    """The Jacobian, or the Hessian of the sum, by differences of the plain function; NaN where they do not settle."""
    eye = np.eye(x.size).reshape(x.size, *x.shape)

    def total(z):
        return (np.asarray(function(z) if order == 1 else np.sum(function(z))),)

    columns = []
    for i in range(x.size):
        for j in range(x.size if order == 2 else 1):
            along = [[eye[i]], [eye[j]]][:order]
            (value,), (error,), exact = differences(total, [x], along)
            assert exact
            bound = (1e-8, 1e-5)[order - 1] * np.maximum(1, np.abs(value))
            columns.append(np.where(error < bound, value, np.nan).astype(float).ravel())
    if order == 2:
        return np.reshape(columns, (x.size, x.size))
    return np.reshape(columns, (x.size, -1)).T


def expect(make, program, x, want, tolerance, modes):
    """Every mode agrees with ``want`` where it is known, sparse with dense, and the pattern misses nothing."""
    settled = np.isfinite(want)
    known = np.where(settled, want, 0)
    for mode in modes:
        derived = make(program, mode=mode)
        got = np.asarray(derived(x, *program.indices)).reshape(want.shape)
        off = np.abs(np.where(settled, got, 0) - known)
        assert np.all(off <= tolerance * max(1, np.abs(known).max(initial=0))), f"{derived} {mode} of\n{program}"
        sparse = make(program, mode=mode, sparse=True)(x, *program.indices)
        assert sparse.shape == got.shape
        np.testing.assert_allclose(sparse.toarray(), got, rtol=1e-12, atol=1e-14, err_msg=f"{mode} of\n{program}")
        pattern = derived.sparsity(x, *program.indices).toarray()
        assert not np.any((np.abs(known) > 1e-4) & ~pattern), (
            f"the pattern of {derived} {mode} lacks entries:\n{program}"
        )


@given(st.integers(0, 2**32))
@settings(max_examples=30)
def test_jacobians_of_random_programs(seed):
    program, x = structure.random_program(seed)
    want = slopes(lambda z: program(z, *program.indices), x)
    expect(symgrad.jacobian, program, x, want, 1e-8, MODES)


@given(st.integers(0, 2**32))
@settings(max_examples=15)
def test_hessians_of_random_programs(seed):
    program, x = structure.random_program(seed, 5, [s for s in structure.SHAPES if math.prod(s) <= 5])
    want = slopes(lambda z: program(z, *program.indices), x, order=2)
    expect(symgrad.hessian, program, x, want, 1e-5, MODES)


def test_random_programs_are_many_kinds_of_programs():
    made = [structure.random_program(seed)[0] for seed in range(400)]
    words = {text.split()[0].strip("[") for p in made for text, _, _ in p.steps}
    assert {"einsum", "put", "cumsum", "sort", "diag", "trace", "reshape", "roll", "matmul", "concatenate"} <= words
    assert sum(len(p.steps) for p in made) > 800
    assert sum(len(p.indices) for p in made) > 50


X = np.array([0.3, -0.5, 0.7])
M = np.array([[0.3, -0.5, 0.7], [1.1, 0.2, -0.9]])


def rows_put(x):
    y = np.concatenate([x**2, -0.5 * x])
    y = np.stack([y, y], 1) * 1.0
    at = np.array([3, 1])
    y[at] = np.sin(y[at])
    return y


FUNCTIONS = {
    "gather past the end of a piece": (lambda x: np.concatenate([x, 2 * x])[[0, 5, 4, 1]], X),
    "gather between pieces": (lambda x: np.pad(x, (0, 3))[[3, 1, 0, -6]] * x[[0, 1, 2, 0]], X),
    "one entry by a 0-d index": (lambda x: np.concatenate([x, 2 * x])[np.array(4)] * x, X),
    "split across pieces": (lambda x: np.concatenate([x, 2 * x, x**2]).reshape(3, 3), X),
    "split of a padded axis": (lambda x: np.pad(x, (0, 1)).reshape(2, 2), X),
    "diagonal of a padded matrix": (lambda x: np.einsum("ii->i", np.pad(x, ((0, 2), (0, 1)))), M),
    "diagonal beside the matrix": (lambda x: np.einsum("ii->i", np.pad(x, ((1, 1), (0, 1)))), M),
    "rows of a diagonal matrix": (lambda x: np.diag(x)[:2], X),
    "entries listed in another order": (rows_put, X),
    "flip of a unit axis": (lambda x: x[:, None][:, ::-1].ravel()[[2, 0]] * x[:2], X),
    "flat gather of a matrix": (lambda x: np.take(x, [5, 0, -2, 5]) ** 2, M),
    "pairs from a product": (lambda x: (x.T @ x)[[0, 2, 2], [1, 1, 0]], M),
    "running sums of a broadcast": (lambda x: np.broadcast_to(np.cumsum(x)[:, None], (3, 2)), X),
    "product with padded zeros": (lambda x: np.prod(np.pad(x[:, None], ((0, 0), (1, 1))), axis=0), X),
    "sum of a spread product": (lambda x: np.multiply.outer(x - x @ x, x), X),
    "empty merged with rows": (lambda x: np.broadcast_to(x[:0, None], (0, 2)).reshape(2, 0), X),
    "empty of another shape": (lambda x: np.stack([x.mean(), x.mean()])[None, 1:1].reshape(0, 2), X),
    "nothing": (lambda x: x[3:], X),
    "sum of nothing": (lambda x: np.sum(x[3:] ** 2) + x[0], X),
    "undefined where it is not chosen": (lambda x: np.where(x > 0, np.log(x), 0)[[0, 1, 1, -1]] * x[0], X),
    "undefined, summed over": (lambda x: np.outer(x, np.where(x > 0, np.sqrt(x), 0)).sum(0), X),
    "0-d": (lambda x: np.sin(x) * x, np.array(0.4)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_jacobian_and_hessian(name):
    function, x = FUNCTIONS[name]

    def program(z):
        return function(z)

    program.indices = ()
    expect(symgrad.jacobian, program, x, slopes(program, x), 1e-8, MODES)
    expect(symgrad.hessian, program, x, slopes(program, x, order=2), 1e-5, MODES)


@pytest.mark.parametrize("mode", MODES)
def test_entries_added_to_one_place_are_counted_before_it_is_spread(mode):
    zeros, ramp = np.zeros(3, int), np.arange(1.0, 5.0)

    def function(y):
        return symgrad.grad(lambda x, y: np.sum(x[zeros] * y))(np.array([0.5]), y) * ramp

    np.testing.assert_allclose(symgrad.jacobian(function, mode=mode)(np.array(2.0)), 3 * ramp)

    def reshaped(y):
        return symgrad.grad(lambda x, y: np.sum(x[:, zeros] * y))(np.ones((6, 1)), y).reshape(2, 3)

    np.testing.assert_allclose(symgrad.jacobian(reshaped, mode=mode)(np.array(2.0)), np.full((2, 3), 3.0))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sparse", [False, True])
def test_declared_rules_keep_their_own_slope(mode, sparse):
    class Doubled(nn.Cell):
        """sin with twice its derivative."""

        def construct(self, x):
            return np.sin(x)

        def bprop(self, x, out, dout):
            return (2 * dout * np.cos(x),)

    cell = Doubled()
    slope = slopes(lambda z: 2 * np.sin(z[::-1] * z), X)
    made = symgrad.jacobian(lambda z: cell(z[::-1] * z), mode=mode, sparse=sparse)(X)
    np.testing.assert_allclose(made.toarray() if sparse else made, slope, atol=1e-10)
    curve = np.diag(slopes(lambda z: 2 * np.cos(z), X).diagonal())
    made = symgrad.hessian(cell, mode=mode, sparse=sparse)(X)
    np.testing.assert_allclose(made.toarray() if sparse else made, curve, atol=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_single_precision(mode):
    function = lambda x: np.cumsum(x[1:] * x[:-1]) @ np.ones((2, 2), np.float32)  # noqa: E731
    x = X.astype(np.float32)
    made = symgrad.jacobian(function, mode=mode)(x)
    assert made.dtype == np.float32
    np.testing.assert_allclose(made, slopes(lambda z: np.cumsum(z[1:] * z[:-1]) @ np.ones((2, 2)), X), rtol=1e-5)
    sparse = symgrad.jacobian(function, mode=mode, sparse=True)(x)
    assert sparse.dtype == np.float32
    np.testing.assert_array_equal(sparse.toarray(), made)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sparse", [False, True])
def test_several_arguments_and_outputs(mode, sparse):
    def function(x, i, y):
        return x[i] * y, {"sum": np.sum(x) * y[1:]}

    i, y = np.array([2, -3, 0, 0]), np.array([1.5, -0.5, 2.0, 0.25])
    (by_x, by_y), others = symgrad.jacobian(function, (0, 2), mode=mode, sparse=sparse)(X, i, y)
    blocks = [by_x, by_y, *others["sum"]]
    wanted = [slopes(lambda z, k=k: function(z, i, y)[0] if k == 0 else function(z, i, y)[1]["sum"], X) for k in (0, 1)]
    wanted[1:1] = [slopes(lambda z: function(X, i, z)[0], y)]
    wanted.append(slopes(lambda z: function(X, i, z)[1]["sum"], y))
    for got, want in zip(blocks, wanted, strict=True):
        np.testing.assert_allclose(got.toarray() if sparse else got, want, atol=1e-10)


@pytest.mark.parametrize("mode", MODES)
def test_mixed_blocks_of_a_hessian(mode):
    def function(x, y):
        return np.sum(x[:2] ** 2 * y) + np.sum(y**3)

    y = np.array([1.5, -0.5])
    whole = slopes(lambda z: function(z[:3], z[3:]), np.concatenate([X, y]), order=2)
    for sparse in (False, True):
        made = symgrad.hessian(function, (0, 1), mode=mode, sparse=sparse)(X, y)
        rows = [[b.toarray() if sparse else b for b in row] for row in made]
        np.testing.assert_allclose(np.block(rows), whole, atol=1e-6)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("count", [6, 40])
def test_entries_that_are_more_than_the_places_are_added_up(mode, count):
    """Each element of a matrix that is assembled reaches every unknown through its inverse."""

    def compliance(k):
        K = np.zeros((count + 1, count + 1))
        for e in range(count):
            K[e, e] += k[e]
            K[e + 1, e + 1] += k[e]
            K[e, e + 1] -= k[e]
            K[e + 1, e] -= k[e]
        return np.sum(np.linalg.solve(K[1:, 1:], np.ones(count)) ** 2)

    k = np.linspace(1.0, 2.0, count)
    hessian = symgrad.hessian(compliance, mode=mode, backend="numpy")
    gradient = symgrad.grad(compliance)
    steps = 1e-5 * np.eye(count)
    wanted = np.stack([(gradient(k + h) - gradient(k - h)) / 2e-5 for h in steps])
    np.testing.assert_allclose(hessian(k), wanted, rtol=1e-5, atol=1e-6 * np.max(np.abs(wanted)))
    largest = max(math.prod(node.shape) for node in hessian.program(k).nodes)
    assert largest <= 4 * 4 * count * count * count
