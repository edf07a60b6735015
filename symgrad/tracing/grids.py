"""NumPy's grids and blocks of traced arrays: meshgrid, block."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ShapeError
from .declare import Case, implements
from .dispatch import FUNCTIONS
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
