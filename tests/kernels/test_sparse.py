"""Sparse Jacobians: exact patterns, values, memory in proportion to the entries, errors."""

from __future__ import annotations

import functools
import sys

import numpy as np
import pytest
import sympy

import symgrad
from symgrad.errors import (
    ArgumentError,
    ArgumentTypeError,
    BackendError,
    ResultTooLarge,
    SymgradError,
    TracingError,
)
from symgrad.finite_differences import differences
from symgrad.kernels.sparse import SparseBlock
from symgrad.kernels.sparsity import Sparsity
from symgrad.kernels.zeros import may_be_nonzero
from symgrad.primitives import functions as f
from symgrad.primitives.contraction import contract
from symgrad.primitives.primitive import CapturedArray, constant, input_node
from symgrad.primitives.reduction import cumulative_sum
from symgrad.primitives.selection import SCATTER, assemble, gather
from symgrad.program.dims import size
from symgrad.program.node import Graph, emit

MODES = ("forward", "reverse", "cross", "auto")
RNG = np.random.default_rng(3)
X = RNG.uniform(0.2, 1.0, 6)


def seen(function, x, order=1):
    """The entries that differences of the plain function see at several random points."""
    eye = np.eye(x.size).reshape(x.size, *x.shape)
    found = np.zeros((x.size if order == 2 else np.size(function(x)), x.size), bool)
    for _ in range(2):
        z = x + RNG.uniform(-0.1, 0.1, x.shape)
        for i in range(x.size):
            if order == 1:
                (value,), _, _ = differences(lambda a: (function(a),), [z], [[eye[i]]])
                found[:, i] |= np.abs(np.ravel(value)) > 1e-8
                continue
            for j in range(x.size):
                (value,), _, _ = differences(lambda a: (function(a),), [z], [[eye[i]], [eye[j]]])
                found[i, j] |= bool(np.abs(value) > 1e-5)
    return found


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def stencil(u):
    """Five points of a grid, its border left out."""
    return u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1] ** 3


def rows_apart(x):
    rows = x.reshape(-1, 3)
    return np.sum(rows**2, axis=1) * rows[:, 0]


BLOCKS = RNG.uniform(0.5, 1.0, (3, 2, 2))
CONSTANT = np.array([[1.0, 0, 0, 2, 0, 0], [0, 0, 3, 0, 0, 0], [0, 4, 0, 0, 0, 5]])
UPPER = np.triu(np.ones((3, 3)))
JACOBIANS = {
    "elementwise": (lambda x: np.sin(x) * x, X),
    "differences": (lambda x: x[1:] ** 2 - x[:-1], X),
    "second differences": (lambda x: x[2:] - 2 * x[1:-1] + x[:-2] ** 2, X),
    "every other, backwards": (lambda x: x[::-2] * x[::2], X),
    "rows apart": (rows_apart, X),
    "batched product": (lambda x: np.einsum("bij,bj->bi", BLOCKS, x.reshape(3, 2) ** 2), X),
    "batched matmul": (lambda x: BLOCKS @ x.reshape(3, 2, 1), X),
    "five points": (stencil, RNG.uniform(size=(4, 5))),
    "scaled pieces": (lambda x: np.concatenate([2 * x[:2], -x[4:], x[2:4] ** 2]), X),
    "cumsum": (lambda x: np.cumsum(x**2), X),
    "cumsum backwards": (lambda x: np.cumsum(x[::-1])[::-1], X),
    "cumsum of cumsum": (lambda x: np.cumsum(np.cumsum(x * np.array([1, 1, 0, 1, 0, 1.0]))), X),
    "sparse constant": (lambda x: CONSTANT @ np.sin(x), X),
    "sparse constant from the left": (lambda x: np.sin(x)[:3] @ CONSTANT, X),
    "mask": (lambda x: (np.outer(x[:3], x[3:]) * UPPER).ravel(), X),
    "triu": (lambda x: np.triu(np.outer(x[:3], x[3:])), X),
    "chosen by a constant": (lambda x: np.where(np.arange(6) % 2 == 0, x, 0.5), X),
    "one entry thrice": (lambda x: x[[0, 0, -1, 3, 0]] ** 2, X),
    "lookup of a lookup": (lambda x: x[[5, 0, 2, 2]][[3, 0]][::-1] ** 2, X),
    "pairs of a matrix": (lambda x: x.reshape(2, 3)[[0, 1, -1], [2, 0, 0]] ** 2, X),
    "lookup across pieces": (lambda x: np.concatenate([x[:3] ** 2, x])[[0, 7, 4, 2]][1:3], X),
    "broadcast": (lambda x: x[:, None] * np.ones(2), X),
    "trace of rows": (lambda x: np.trace(np.diag(x**2)[:3, :3]), X),
    "diagonal": (lambda x: np.diag(x**2), X),
    "overlapping pieces": (lambda x: sum(np.pad(x[:1], (0, 1)) for _ in range(4)), X),
}
HESSIANS = {
    "rosenbrock": (rosenbrock, X),
    "arrow": (lambda x: np.sum(x[1:] ** 2 * x[0]) + np.sum(x**3), X),
    "separable": (lambda x: np.sum(np.exp(x)), X),
    "blocks": (lambda x: np.sum(np.prod(x.reshape(2, 3), axis=1) ** 2), X),
    "linear": (lambda x: np.sum(3 * x), X),
    "lookup": (lambda x: np.sum(np.sin(x[[0, 2, 2]] * x[[1, 5, 3]])), X),
    "one row": (lambda x: np.sum(x[0] * x), X),
}


@pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
@pytest.mark.parametrize("name", JACOBIANS)
def test_patterns_of_jacobians_are_exact(name, mode):
    function, x = JACOBIANS[name]
    np.testing.assert_array_equal(symgrad.jacobian(function, mode=mode).sparsity(x).toarray(), seen(function, x))


@pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
@pytest.mark.parametrize("name", HESSIANS)
def test_patterns_of_hessians_are_exact(name, mode):
    function, x = HESSIANS[name]
    np.testing.assert_array_equal(symgrad.hessian(function, mode=mode).sparsity(x).toarray(), seen(function, x, 2))


@pytest.mark.parametrize("name", [*JACOBIANS, *HESSIANS])
def test_sparse_results_are_the_dense_ones(name):
    make = symgrad.jacobian if name in JACOBIANS else symgrad.hessian
    function, x = {**JACOBIANS, **HESSIANS}[name]
    dense = make(function)(x)
    sparse = make(function, sparse=True)(x)
    np.testing.assert_allclose(sparse.toarray(), np.reshape(dense, sparse.shape), rtol=1e-13, atol=1e-15)
    pattern = make(function).sparsity(x)
    assert sparse.nnz == pattern.nnz
    assert sparse.has_canonical_format
    np.testing.assert_array_equal(sparse.tocoo().coords[1], pattern.columns)


def residuals(cameras, points, camera, point):
    """As in bundle adjustment: each observation is of one camera and one point."""
    offset = points[point] - cameras[camera, :3]
    return offset[:, :2] / (offset[:, 2:] + 5.0) * cameras[camera, 3:]


@pytest.mark.parametrize("mode", MODES)
def test_gathers_by_arguments(mode):
    cameras, points = RNG.uniform(0.5, 1, (3, 4)), RNG.uniform(0.5, 1, (4, 3))
    made = symgrad.jacobian(residuals, (0, 1), mode=mode, sparse=True)
    patterns = symgrad.jacobian(residuals, (0, 1), mode=mode)
    for observed in (([0, 2, 1, -1, 0], [3, 3, 0, 1, -2]), ([1, 1, 1, 0, 0], [0, 1, 2, 3, 3])):
        at = [np.array(i) for i in observed]
        moved = [
            seen(functools.partial(lambda at, c: residuals(c, points, *at), at), cameras),
            seen(functools.partial(lambda at, p: residuals(cameras, p, *at), at), points),
        ]
        found = patterns.sparsity(cameras, points, *at)
        for block, pattern, entries in zip(made(cameras, points, *at), found, moved, strict=True):
            np.testing.assert_array_equal(pattern.toarray(), entries)
            np.testing.assert_array_equal(block.toarray() != 0, entries)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32])
def test_lookups_by_short_integers_reach_the_whole_array(mode, kind):
    x, at = np.arange(300.0), np.array([5, 100, 0, 5], kind)
    if kind is not np.uint8:
        at = -at - 1
    made = symgrad.jacobian(lambda x, i: np.take(x, i) ** 2, mode=mode, sparse=True)
    rows, columns = made(x, at).tocoo().coords
    np.testing.assert_array_equal(rows, np.arange(4))
    np.testing.assert_array_equal(columns, at.astype(int) % 300)
    pairs = symgrad.jacobian(lambda x, i, j: x[i, j], mode=mode, sparse=True)
    i, j = np.array([19, 3], kind), np.array([14, 0], kind)
    np.testing.assert_array_equal(pairs(x.reshape(20, 15), i, j).tocoo().coords[1], [299, 45])
    np.testing.assert_array_equal(symgrad.symbolic(lambda x, i, j: x[i, j])(x.reshape(20, 15), i, j), [299, 45])


def test_lookups_out_of_bounds_are_refused():
    made = symgrad.jacobian(lambda x, i: x[i] ** 2, sparse=True)
    made(X, np.array([0, -6, 5]))
    for wrong in (6, -7):
        with pytest.raises(IndexError, match="out of bounds"):
            made(X, np.array([0, wrong]))
        with pytest.raises(IndexError, match="out of bounds for an axis of size 6"):
            made.sparsity(X, np.array([0, wrong]))


def test_results_are_the_callers_to_change():
    made = symgrad.jacobian(lambda x: x[1:] * x[:-1], sparse=True)
    first = made(X)
    want = first.toarray()
    first.data[:] = 0
    first.indices[:] = 0
    np.testing.assert_array_equal(made(X).toarray(), want)


N = 1_000_000
LARGE = {
    "Rosenbrock": (symgrad.hessian, rosenbrock, 3 * N - 2),
    "differences": (symgrad.jacobian, lambda x: x[1:] ** 2 - x[:-1], 2 * N - 2),
    "lookup": (symgrad.jacobian, lambda x: x[np.arange(0, N, 2)] ** 2, N // 2),
    "rows": (symgrad.jacobian, lambda x: np.sum(x.reshape(-1, 4) ** 2, axis=1), N),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_million_unknowns(name):
    make, function, entries = LARGE[name]
    x = np.linspace(0.1, 1.0, N)
    derived = make(function, sparse=True)
    result = derived(x)
    assert result.nnz == entries
    program = derived._compiled.latest.program
    assert max(size(n.shape) for n in program.nodes) <= 4 * N
    few = slice(0, 8)
    small = np.asarray(make(function)(x[few])) if name != "lookup" else np.diag(2 * x[few])[::2]
    corner = small.reshape(-1, 8)[: small.size // 8 - 1]
    found = result[: len(corner), few].toarray()
    np.testing.assert_allclose(found[:, :7], corner[:, :7], rtol=1e-12)


class TestSparsity:
    def test_kinds(self):
        def kind(function, n=12):
            return symgrad.jacobian(function).sparsity(np.ones(n)).kind

        assert kind(np.sin) == "diagonal"
        assert kind(lambda x: x - np.pad(x[:-1], (1, 0)) + np.pad(x[1:], (0, 1))) == "tridiagonal"
        assert kind(lambda x: x[1:] - x[:-1]) == "banded (0 below the diagonal, 1 above)"
        assert kind(lambda x: np.outer(x, x) @ x) == "dense"
        assert kind(lambda x: np.floor(x)) == "empty"
        assert kind(lambda x: x[::-1]) == "sparse"

    def test_counts_and_picture(self):
        pattern = symgrad.jacobian(lambda x: x[::2] * 2).sparsity(np.ones(4))
        assert (pattern.shape, pattern.nnz, pattern.density) == ((2, 4), 2, 0.25)
        assert str(pattern) == "■···\n··■·"
        assert str(symgrad.jacobian(np.sin).sparsity(np.ones(100))).startswith("Sparsity of shape (100, 100)")

    def test_equality(self):
        one, other = (symgrad.jacobian(f).sparsity(np.ones(4)) for f in (np.sin, np.cos))
        assert one == other
        assert one != symgrad.jacobian(lambda x: x[::-1]).sparsity(np.ones(4))
        assert one != "diagonal"

    def test_nothing_at_all(self):
        pattern = Sparsity((0, 3), np.zeros(0, int), np.zeros(0, int))
        assert (pattern.kind, pattern.bandwidths, pattern.density, pattern.nnz) == ("empty", (0, 0), 0.0, 0)
        made = symgrad.jacobian(lambda x: x[:0], sparse=True)(np.ones(3))
        assert (made.shape, made.nnz) == ((0, 3), 0)
        made = symgrad.jacobian(lambda x: np.pad(x, (0, 2)), sparse=True)(np.ones(0))
        assert (made.shape, made.nnz) == ((2, 0), 0)


class TestErrors:
    def test_inside_a_trace(self):
        inner = symgrad.jacobian(np.sin, sparse=True)
        with pytest.raises(TracingError, match="sparse=True to the outermost call"):
            symgrad.grad(lambda x: np.sum(inner(x)))(np.ones(3))

    def test_without_scipy(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "scipy.sparse", None)
        with pytest.raises(BackendError, match=r"pip install 'symgrad\[sparse\]'"):
            symgrad.jacobian(np.sin, sparse=True)(np.ones(3))
        assert symgrad.jacobian(np.sin).sparsity(np.ones(3)).kind == "diagonal"

    def test_flag(self):
        with pytest.raises(ArgumentTypeError, match="sparse must be True or False"):
            symgrad.jacobian(np.sin, sparse="yes")  # pyright: ignore[reportArgumentType]

    def test_named_sizes(self):
        with pytest.raises(ArgumentError, match="call it with arrays, not with named dims"):
            _ = SparseBlock([], (sympy.Symbol("n", integer=True, positive=True),), (3,), np.dtype(float)).shape
        with pytest.raises(SymgradError, match="sparse"):
            symgrad.trace(symgrad.jacobian(np.sin, sparse=True), "n")


class TestZeros:
    """Where a value may be other than zero, from constants and placed zeros."""

    @pytest.fixture(autouse=True)
    def _graph(self):
        with Graph():
            yield

    def known(self, values):
        return constant(CapturedArray(np.asarray(values, float)))

    def test_many_pieces_in_one_place_are_not_none(self):
        x = input_node("x", (1,), np.dtype(float))
        placed = assemble([x] * 256, (3,), [((0, 1, 1),)] * 256)
        np.testing.assert_array_equal(may_be_nonzero(placed), [True, False, False])

    def test_products_and_sums(self):
        x, mask = input_node("x", (3,), np.dtype(float)), self.known([1, 0, 0])
        other = self.known([0, 0, 2])
        np.testing.assert_array_equal(may_be_nonzero(f.multiply(x, mask)), [True, False, False])
        np.testing.assert_array_equal(
            may_be_nonzero(f.add(f.multiply(x, mask), f.multiply(x, other))), [True, False, True]
        )
        assert may_be_nonzero(f.add(f.multiply(x, mask), x)) is None
        assert may_be_nonzero(f.add(f.multiply(x, mask), 1.0)) is None

    def test_functions_of_constants_are_computed(self):
        x, mask = input_node("x", (3,), np.dtype(float)), self.known([1, 0, 0])
        assert may_be_nonzero(f.multiply(x, f.exp(mask))) is None
        np.testing.assert_array_equal(may_be_nonzero(f.multiply(x, f.subtract(mask, 1.0))), [False, True, True])

    def test_scatter_gather_and_running_sums(self):
        x = input_node("x", (2,), np.dtype(float))
        index = constant(CapturedArray(np.array([1, 1])))
        spread = emit(SCATTER, (x, index), (0, 4))
        np.testing.assert_array_equal(may_be_nonzero(spread), [False, True, False, False])
        np.testing.assert_array_equal(may_be_nonzero(gather(spread, index, 0)), None)
        np.testing.assert_array_equal(may_be_nonzero(cumulative_sum(spread, 0)), [False, True, True, True])
        np.testing.assert_array_equal(may_be_nonzero(cumulative_sum(spread, 0, True)), [True, True, False, False])

    def test_contractions(self):
        x = input_node("x", (2, 2), np.dtype(float))
        row = contract([self.known([[0, 1], [0, 0]]), x], [(0, 1), (1, 2)], (0, 2), (2, 2, 2))
        np.testing.assert_array_equal(may_be_nonzero(row), [[True, True], [False, False]])


class TestBesideBlocks:
    X = np.array([0.4, 1.3])

    def function(self, x):
        return x**2, np.sin(x), 2 * x

    def test_auxiliary_outputs_are_their_values(self):
        _, aux = symgrad.jacobian(self.function, has_aux=True, sparse=True)(self.X)
        np.testing.assert_array_equal(aux[0], np.sin(self.X))
        np.testing.assert_array_equal(aux[1], 2 * self.X)

    def test_the_pattern_is_of_the_derivative_alone(self):
        assert symgrad.jacobian(self.function, has_aux=True).sparsity(self.X).kind == "diagonal"

    @pytest.mark.parametrize("ask", ["sparsity", "explain"])
    def test_examples_are_asked_for(self, ask):
        with pytest.raises(ArgumentError, match="pass example ar"):
            getattr(symgrad.jacobian(np.sin), ask)()


@pytest.mark.parametrize(
    "make",
    [
        lambda x: symgrad.jacobian(lambda x: x - np.mean(x)).sparsity(x),
        lambda x: symgrad.jacobian(np.cumsum, sparse=True)(x),
        lambda x: symgrad.hessian(lambda x: np.sum(x) ** 2, sparse=True)(x),
    ],
)
def test_what_is_dense_by_structure_is_refused_where_it_cannot_fit(make):
    with pytest.raises(ResultTooLarge, match=r"dense by structure.*hvp"):
        make(np.ones(10**6))


def test_a_triangle_of_a_matrix_counts_its_zeros():
    assert symgrad.jacobian(lambda x: np.triu(x, 1) @ x).sparsity(np.ones((3, 3))).nnz == 18


@pytest.mark.parametrize("derive", [symgrad.jacobian, symgrad.grad, symgrad.symbolic])
def test_an_index_argument_outside_is_an_error_as_in_numpy(derive):
    x = np.arange(12.0).reshape(3, 4)
    with pytest.raises(IndexError):
        derive(lambda x, i: x[i])(x, np.array([3, 0]))
    with pytest.raises(IndexError):
        derive(lambda x, i, j: x[i, j])(x, np.array([0]), np.array([5]))
