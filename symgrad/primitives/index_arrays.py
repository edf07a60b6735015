"""Index arrays as NumPy counts them: below 0 from the end, and nothing before the first element."""

from __future__ import annotations

import numpy as np

from ..program.dims import Dim
from ..program.node import Node
from . import functions as f
from .casting import CAST
from .contraction import EINSUM
from .primitive import CONSTANT, dim_value
from .reduction import CUMSUM, Search
from .selection import GATHER, SLICE


def from_start(index: Node, size: Dim) -> Node:
    """Places from 0 for an index into an axis of this size; one that is out of bounds stays so on either side.

    It is ``size`` where the index is before the first element: such a place is refused where it is read.
    """
    if isinstance(index.primitive, Search) or places_of(index) == size:  # which count so
        return index
    behind = f.add(index, dim_value(size))
    behind = f.where(f.less(behind, 0), dim_value(size), behind)
    return f.where(f.less(index, 0), behind, index)


def counts(node: Node, step: Dim) -> bool:
    """True for what is known to be 0, 1, 2, … times ``step``."""
    factor = 1
    if node.primitive is f.multiply and node.operands[1].is_literal:
        node, factor = node.operands[0], node.operands[1].params[0]
    if node.primitive is not CONSTANT:
        return step == factor == 1 and node.ndim == 1 and places_of(node) is not None
    value = node.params[0].value
    return value.ndim == 1 and bool((value * factor == np.arange(len(value)) * step).all())


def counts_ones(node: Node) -> bool:
    """True for what is 1, 2, 3, … along an axis."""
    if node.primitive is not CUMSUM or node.params[1] or node.operands[0].primitive is not EINSUM:
        return False
    return all(o.is_literal and o.params[0] == 1 for o in node.operands[0].operands)


def places_of(node: Node) -> Dim | None:
    """The dim of which each element of ``node`` is a place, ``np.arange(n)`` along one axis; None for others."""
    while True:
        if node.primitive is CAST or is_broadcast(node) or (node.primitive is SLICE and _drops_units(node)):
            (node,) = node.operands
        elif node.primitive is f.add and node.operands[0].is_literal and not node.operands[0].params[0]:
            node = node.operands[1]
        elif node.primitive is f.subtract and node.operands[1].is_literal and node.operands[1].params[0] == 1:
            (ones,) = node.operands[0].operands if counts_ones(node.operands[0]) else (None,)
            return None if ones is None else ones.shape[node.operands[0].params[0]]
        else:
            return None


def is_broadcast(node: Node) -> bool:
    """True for an array with axes put in, or in another order, and nothing else."""
    if node.primitive is not EINSUM or len(node.operands) != 1:
        return False
    (labels,), out, *_ = node.params
    return set(labels) <= set(out) and len(set(labels)) == len(labels)


def _drops_units(node: Node) -> bool:
    """True for a slice that is all of its operand, less axes of one element."""
    pairs = zip(node.params[0], node.operands[0].shape, strict=True)
    return all(e == (0, d, 1) or (d == 1 and not isinstance(e, tuple)) for e, d in pairs)


def counted_index(node: Node) -> tuple[Node, Dim] | None:
    """The index and the size that ``from_start`` made ``node`` from; None for any other node.

    It may have been looked up among all places since, which refuses others.
    """
    if node.primitive is GATHER and counts(node.operands[0], 1):
        node = node.operands[1]
    if node.primitive is not f.where:
        return None
    test, behind, index = node.operands
    if behind.primitive is not f.where or test.primitive is not f.less or test.operands[0] is not index:
        return None
    size = behind.operands[1]
    if size.primitive.name not in ("literal", "dim") or behind.operands[2].operands != (index, size):
        return None
    return index, size.params[0]
