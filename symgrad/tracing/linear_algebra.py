"""``np.linalg`` on traced values: inverses, solves, determinants, Cholesky factors and products of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import DtypeError, ShapeError
from ..primitives.contraction import expand
from ..primitives.linalg import CHOLESKY, DETERMINANT, DETERMINANT_SIGN, INVERSE, LOG_DETERMINANT, SOLVE
from ..primitives.order import NAMED
from ..program.dims import broadcast
from ..program.node import Node, emit
from .catching import raise_if_singular
from .declare import CASES, Case, Given, implements
from .dispatch import FUNCTIONS
from .reductions import normalized_axis
from .trace import as_node
from .tracer import Tracer

_Slogdet = type(np.linalg.slogdet(np.eye(1)))


def dominant(a, *rest):
    """Matrices of entries up to 3 made well conditioned by their diagonal."""
    return a + 3.5 * a.shape[-1] * np.eye(a.shape[-1], dtype=a.dtype), *rest


def negative_dominant(a, *rest):
    """``dominant`` with a determinant of the other sign for an odd number of rows."""
    return -dominant(a)[0], *rest


def positive_definite(a):
    """Symmetric matrices of positive eigenvalues."""
    return (a @ np.conj(np.swapaxes(a, -1, -2)) + 4 * np.eye(a.shape[-2], dtype=a.dtype),)


def matrices(value: Any, name: str, square: bool = True) -> Node:
    """A stack of matrices of a dtype that NumPy's linear algebra computes in."""
    x = _computable(as_node(value), name)
    if x.ndim < 2:
        raise ShapeError.here(f"{name}: got shape {x.shape}; it takes arrays of at least two dimensions")
    if square and x.shape[-1] != x.shape[-2]:
        raise ShapeError.here(f"{name}: the last two dimensions of {x.shape} must be equal")
    return x


def _computable(x: Node, name: str) -> Node:
    if x.dtype.kind == "f" and x.dtype not in (np.float32, np.float64):
        raise DtypeError.here(f"{name} computes in float32 and float64, not in {x.dtype}; cast with astype.")
    return x


_SQUARE = [Case((3, 3), of=dominant), Case((2, 3, 3), of=dominant), Case((1, 1), of=dominant), Case((0, 0))]


@implements(np.linalg.inv, cases=[*_SQUARE, Case((2, 1, 2, 2), of=dominant)])
def _inverse(a):
    x = matrices(a, "np.linalg.inv")
    raise_if_singular("np.linalg.inv", np.linalg.inv, x)
    return Tracer(emit(INVERSE, (x,)))


@implements(
    np.linalg.solve,
    cases=[
        Case((3, 3), (3,), of=dominant),
        Case((3, 3), (3, 2), of=dominant),
        Case((2, 3, 3), (3,), of=dominant),
        Case((2, 3, 3), (3, 1), of=dominant),
        Case((3, 3), (2, 3, 2), of=dominant),
        Case((2, 1, 2, 2), (1, 3, 2, 1), of=dominant),
        Case((0, 0), (0,)),
    ],
)
def _solve(a, b):
    matrix, right = matrices(a, "np.linalg.solve"), _computable(as_node(b), "np.linalg.solve")
    own = 1 if right.ndim == 1 else 2
    if not right.ndim or right.shape[-own] != matrix.shape[-1]:
        raise ShapeError.here(f"np.linalg.solve: shapes {matrix.shape} and {right.shape} do not fit")
    lead = broadcast(matrix.shape[:-2], right.shape[: right.ndim - own])
    matrix = expand(matrix, lead + matrix.shape[-2:])
    right = expand(right, lead + right.shape[right.ndim - own :])
    raise_if_singular("np.linalg.inv", np.linalg.inv, matrix)
    return Tracer(emit(SOLVE, (matrix, right)))


@implements(np.linalg.det, cases=[*_SQUARE, Case((3, 3), of=negative_dominant)])
def _determinant(a):
    return Tracer(emit(DETERMINANT, (matrices(a, "np.linalg.det"),)))


@implements(np.linalg.slogdet, cases=[*_SQUARE, Case((3, 3), of=negative_dominant)])
def _slogdet(a):
    x = matrices(a, "np.linalg.slogdet")
    return _Slogdet(Tracer(emit(DETERMINANT_SIGN, (x,))), Tracer(emit(LOG_DETERMINANT, (x,))))


_DEFINITE = [Case((3, 3), of=positive_definite), Case((2, 2, 3), of=positive_definite)]


@implements(np.linalg.cholesky, cases=[*_DEFINITE, Case((3, 2), of=positive_definite, upper=True), Case((0, 0))])
def _cholesky(a, /, *, upper=False):
    x = matrices(a, "np.linalg.cholesky")
    raise_if_singular("np.linalg.cholesky", np.linalg.cholesky, x)
    return Tracer(emit(CHOLESKY, (x,), (bool(upper),)))


@implements(
    np.linalg.multi_dot,
    cases=[
        Case([(2, 3), (3, 4)]),
        Case([(2, 9), (9, 3), (3, 4)]),
        Case([(3,), (3, 9), (9, 2)]),
        Case([(4, 2), (2, 5), (5, 3), (3,)]),
        Case([(3,), (3, 5), (5, 2), (2, 4), (4,)]),
    ],
)
def _multi_dot(arrays):
    factors: list[Any] = [Tracer(as_node(a)) for a in arrays]
    if len(factors) < 2:
        raise ShapeError.here("np.linalg.multi_dot takes at least two arrays")
    if len(factors) == 2:
        return np.dot(factors[0], factors[1])
    row, column = factors[0].ndim == 1, factors[-1].ndim == 1
    if row:
        factors[0] = factors[0][None]
    if column:
        factors[-1] = factors[-1][:, None]
    if any(x.ndim != 2 for x in factors):
        raise ShapeError.here("np.linalg.multi_dot takes matrices, and vectors at its ends; use np.matmul for stacks")
    if len(factors) == 3:
        result = _of_three(*factors)
    else:
        dims = [_counted(x.shape[0]) for x in factors] + [_counted(factors[-1].shape[1])]
        result = _multiplied(factors, _splits(dims), 0, len(factors) - 1)
    return result[0, 0] if row and column else result.ravel() if row or column else result


def _counted(d: Any) -> int:
    return d if isinstance(d, int) else NAMED


def _of_three(a: Tracer, b: Tracer, c: Tracer) -> Tracer:
    (n, m), (k, p) = map(_counted, a.shape), map(_counted, c.shape)
    from_left = n * m * k + n * k * p < m * k * p + n * m * p
    return np.dot(np.dot(a, b), c) if from_left else np.dot(a, np.dot(b, c))


def _splits(dims: list[int]) -> list[list[int]]:
    """Where each run of a chain of matrices is split for the fewest multiplications, the first of equals."""
    n = len(dims) - 1
    cost = [[0.0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i][j] = math.inf
            for k in range(i, j):
                total = cost[i][k] + cost[k + 1][j] + dims[i] * dims[k + 1] * dims[j + 1]
                if total < cost[i][j]:
                    cost[i][j], split[i][j] = total, k
    return split


def _multiplied(factors: list[Tracer], split: list[list[int]], i: int, j: int) -> Tracer:
    if i == j:
        return factors[i]
    k = split[i][j]
    return np.dot(_multiplied(factors, split, i, k), _multiplied(factors, split, k + 1, j))


@implements(
    np.linalg.vector_norm,
    cases=[Case((4,)), Case((2, 3)), Case((2, 3), axis=1, ord=3), Case((2, 3, 4), axis=(2, 0), keepdims=True)],
)
def _vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    x = Tracer(as_node(x))
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(normalized_axis(k, x.ndim) for k in axes)
    rest = tuple(k for k in range(x.ndim) if k not in axes)
    if isinstance(axis, int):
        result = FUNCTIONS[np.linalg.norm](x, ord, axis)
    else:
        flat = x.transpose((*axes, *rest)).reshape((math.prod(x.shape[k] for k in axes), *[x.shape[k] for k in rest]))
        result = FUNCTIONS[np.linalg.norm](flat, ord, 0)
    return result.reshape([1 if k in axes else d for k, d in enumerate(x.shape)]) if keepdims else result


CASES |= {  # of which NumPy's own code is traced
    np.linalg.cross: [Case((3,), (3,)), Case((3, 2), (3, 2), axis=0)],
    np.linalg.diagonal: [Case((3, 3)), Case((2, 3, 4), offset=1)],
    np.linalg.matmul: [Case((2, 3), (3, 2)), Case((4, 2, 3), (3,))],
    np.linalg.matrix_norm: [Case((2, 3)), Case((4, 2, 3), ord=1, keepdims=True), Case((2, 3), ord=-np.inf)],
    np.linalg.matrix_power: [
        *[Case((3, 3), Given(n), domain=(-1.0, 1.0)) for n in (0, 1, 2, 3, 7)],
        Case((2, 2, 2), Given(4)),
        Case((3, 3), Given(-3), of=dominant),
    ],
    np.linalg.matrix_transpose: [Case((2, 3)), Case((4, 2, 3))],
    np.linalg.outer: [Case((3,), (2,))],
    np.linalg.tensordot: [Case((2, 3, 4), (3, 4, 2)), Case((2, 3), (3, 4), axes=1)],
    np.linalg.trace: [Case((3, 3)), Case((2, 3, 4)), Case((3, 3), offset=-1)],
    np.linalg.vecdot: [Case((2, 3), (2, 3)), Case((3, 2), (3, 2), axis=0)],
}
