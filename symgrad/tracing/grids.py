"""NumPy's grids and blocks of traced arrays: meshgrid, block, dstack, unstack."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ShapeError
from .declare import Case, implements
from .dispatch import FUNCTIONS
from .reductions import normalized_axis
from .trace import as_node
from .tracer import Tracer, traced


@implements(
    np.meshgrid,
    cases=[
        Case((2,), (3,)),
        Case((2,), (3,), (2,), indexing="ij"),
        Case((2,), (3,), sparse=True),
        Case((2,), ()),
        Case((3,)),
    ],
)
def _meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ShapeError.here("np.meshgrid: indexing is 'xy' or 'ij'")
    order = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        order[:2] = [1, 0]
    axes = [traced(x).reshape([-1 if j == k else 1 for j in order]) for k, x in enumerate(xi)]
    made = axes if sparse else np.broadcast_arrays(*axes)
    return tuple(x.copy() for x in made) if copy else tuple(made)


@implements(np.atleast_3d, cases=[Case(()), Case((3,)), Case((2, 3)), Case((2, 1, 2))])
def _atleast_3d(*arrays):
    made = tuple(_three(traced(a)) for a in arrays)
    return made[0] if len(made) == 1 else made


def _three(x: Tracer) -> Tracer:
    return x.reshape({0: (1, 1, 1), 1: (1, *x.shape, 1), 2: (*x.shape, 1)}.get(x.ndim, x.shape))


@implements(np.dstack, cases=[Case([(3,), (3,)]), Case([(2, 3), (2, 3, 2)])])
def _dstack(tup):
    return FUNCTIONS[np.concatenate]([_three(Tracer(as_node(a))) for a in tup], 2)


@implements(
    np.block,
    cases=[
        Case([[(2, 2), (2, 1)], [(1, 2), (1, 1)]]),
        Case([(2,), (), (3,)]),
        Case((2, 3)),
        Case([[(2,), (1,)], [(3,)]]),
    ],
)
def _block(arrays):
    depth = _depth(arrays)
    return _blocks(arrays, depth, max(depth, *_ranks(arrays)))


def _depth(arrays: Any) -> int:
    if not isinstance(arrays, list):
        return 0
    depths = {_depth(a) for a in arrays}
    if len(depths) != 1:
        raise ShapeError.here("np.block: lists must be nested equally deep, and not be empty")
    return depths.pop() + 1


def _ranks(arrays: Any) -> list[int]:
    return [r for a in arrays for r in _ranks(a)] if isinstance(arrays, list) else [as_node(arrays).ndim]


def _blocks(arrays: Any, depth: int, rank: int) -> Any:
    """Lists joined from the inside, the innermost along the last axis."""
    if not depth:
        x = Tracer(as_node(arrays))
        return x.reshape((1,) * (rank - x.ndim) + x.shape)
    return FUNCTIONS[np.concatenate]([_blocks(a, depth - 1, rank) for a in arrays], -depth)


@implements(np.unstack, cases=[Case((2, 3)), Case((2, 3), axis=-1)])
def _unstack(x, /, *, axis=0):
    array = traced(x)
    k = normalized_axis(axis, array.ndim)
    return tuple(array[(*(slice(None),) * k, i)] for i in range(array.shape[k]))
