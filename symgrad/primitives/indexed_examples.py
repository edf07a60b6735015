"""Gather and scatter where each example has indices of its own: the examples become one axis beside the indexed one."""

from __future__ import annotations

import numpy as np

from ..program.dims import Dim, normal
from ..program.node import Node, emit
from .contraction import expand, pad_rank, transpose
from .functions import add, multiply, subtract
from .primitive import CapturedArray, constant, dim_value, literal, made_constant
from .reduction import cumulative_sum
from .selection import SCATTER, gather
from .shaping import reshape

_INDEX = np.dtype(np.intp)


def gather_of_examples(x: Node, index: Node, batched: bool, axis: int, examples: Dim) -> Node:
    """The gather along ``axis`` of an example of ``x`` by indices that lead with the examples."""
    places = index.ndim - 1
    if not batched:  # the examples are where the indices are
        made = gather(x, index, axis)
        return transpose(made, (axis, *range(axis), *range(axis + 1, made.ndim)))
    first = transpose(x, (0, axis + 1, *[k for k in range(1, x.ndim) if k != axis + 1]))
    dim = first.shape[1]
    rows = reshape(first, (normal(examples * dim), *first.shape[2:]))
    made = gather(rows, _rows(index, dim, examples), 0)
    before = range(1 + places, 1 + places + axis)
    after = range(1 + places + axis, made.ndim)
    return transpose(made, (0, *before, *range(1, 1 + places), *after))


def scatter_of_examples(y: Node, index: Node, axis: int, dim: Dim, examples: Dim) -> Node:
    """The scatter along ``axis`` of an example of ``y``; both operands lead with the examples."""
    places = index.ndim - 1
    indexed = range(1 + axis, 1 + axis + places)
    rest = [k for k in range(1, y.ndim) if k not in indexed]
    first = transpose(y, (0, *indexed, *rest))
    made = emit(SCATTER, (first, _rows(index, dim, examples)), (0, normal(examples * dim)))
    split = reshape(made, (examples, dim, *made.shape[1:]))
    return transpose(split, (0, *range(2, 2 + axis), 1, *range(2 + axis, split.ndim)))


def _rows(index: Node, dim: Dim, size: Dim) -> Node:
    """Indices into an axis of ``dim``, one axis of them an example, as indices into the axes of all examples in a row.

    They are looked up first: counted from the end they are counted from the start, and outside of their example
    they are outside of everything.
    """
    own = gather(_count(dim), index, 0)
    start = multiply(_count(size), dim_value(dim))
    return add(own, pad_rank(start, 1, index.ndim - 1))


def _count(dim: Dim) -> Node:
    """``0, 1, …, dim - 1``."""
    if not isinstance(dim, int):
        unit = expand(constant(CapturedArray(np.ones((), _INDEX))), (dim,))
        return subtract(cumulative_sum(unit, 0), literal(1))
    return made_constant(("count", dim), lambda: np.arange(dim, dtype=_INDEX))
