"""A program with operations that blocks can do, in place of those that need several blocks at once.

``# einsum[i,k->i](x, y) -> einsum[i,->i](x, einsum[k->](y))``: the blocks of ``i`` are not those of ``k``
``# cumsum(ones(n)) -> cumsum(ones(n)) + first``: a block counts from its ``first`` element on
``# cumsum(x) -> cumsum(x) + before``: what the blocks before add up to
``# gather(reshape(x), count * k + j) -> gather(reshape(x), count * k + j - first * k)``: of a block's own rows
``# argmax(x) -> min(where(x == max(x), count, n))``
``# gather(x, argmax(y)) -> sum(where(count == argmax(y), x, 0))``
``# scan(…) -> step(… step(x))`` where what it carries is split
``# svdvals(A) -> svdvals(R)`` and kin where the rows of ``A`` are split: ``tall_matrices``
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy

from ..primitives import functions as f
from ..primitives.casting import CAST, cast
from ..primitives.contraction import EINSUM, Labels, contract, ones
from ..primitives.index_arrays import counts_ones, is_broadcast, places_of
from ..primitives.primitive import CONSTANT, dim_value, literal
from ..primitives.reduction import ARGMAX, ARGMIN, CUMSUM, MAX, MIN, Extremum, cumulative_sum
from ..primitives.scan import SCAN
from ..primitives.selection import GATHER, SCATTER
from ..program.dims import Dim, Shape, normal
from ..program.interpret import walk
from ..program.node import Node, emit
from ..program.program import Program
from .block_axes import BEFORE, Axis, Dims, axis_of, first_of, is_split, split_axis
from .sizes import made_again
from .tall_matrices import of_tall
from .unrolling import unrolled


def separable(program: Program, over: Dims) -> Program:
    """``program`` as blocks of ``over`` can do it, as far as is known."""
    loops = [n for n in program.nodes if n.primitive is SCAN]
    if any(is_split(d, over) for n in loops for o in n.operands for d in o.shape):
        program = unrolled(program)
    with program.graph:
        image: dict[Node, Node] = {n: n for n in program.inputs}
        walk(program.nodes, image, lambda node, operands: _separated(node, operands, over))
    return program.with_outputs([image[o] for o in program.outputs])


def _separated(node: Node, operands: Sequence[Node], over: Dims) -> Node:
    primitive, params = node.primitive, node.params
    tall = of_tall(node, tuple(operands), over)
    if tall is not None:
        return tall
    again = made_again(node, operands, params)
    if primitive is EINSUM:
        return _apart(again, over)
    if counts(node, over):
        return f.add(again, dim_value(_before(node.shape[params[0]], over)))
    if primitive is CUMSUM and is_split(node.shape[params[0]], over):
        return f.add(again, _of_each_block(emit(BEFORE, tuple(operands), params), params[0], node.shape))
    if primitive in (ARGMAX, ARGMIN) and is_split(operands[0].shape[params[0]], over):
        return _found(MAX if primitive is ARGMAX else MIN, operands[0], params[0], over)
    if primitive in (GATHER, SCATTER):
        dim = operands[0].shape[params[0]] if primitive is GATHER else params[1]
        x, index = operands
        axis = split_axis(dim, over)
        if axis is not None and _row_length(node.operands[1], axis, over) == axis.times:
            return made_again(node, (x, f.subtract(index, dim_value(_before(dim, over)))), params)
        if axis is not None and _is_found(index, dim, over):
            return _picked(x, index, params[0], over) if primitive is GATHER else _put(x, index, params[0], dim, over)
    return again


def _dim_of(dim: Dim, over: Dims) -> sympy.Symbol:
    """What an axis is in blocks of, which is."""
    axis = axis_of(dim, over)
    assert axis is not None
    return axis.dim


def _before(dim: Dim, over: Dims) -> Dim:
    """The place of the first element of a block along an axis."""
    axis = axis_of(dim, over)
    assert axis is not None
    return normal(axis.times * first_of(axis.dim))


def counts(node: Node, over: Dims) -> bool:
    """Whether a node counts from 1 along an axis that is in blocks."""
    return counts_ones(node) and is_split(node.shape[node.params[0]], over)


def in_own_rows(node: Node, over: Dims) -> bool:
    """Whether what is gathered or scattered stays in the rows of a block, and the index counts from its first one."""
    index = node.operands[1]
    dim = node.operands[0].shape[node.params[0]] if node.primitive is GATHER else node.params[1]
    if index.primitive is not f.subtract:
        return False
    first = index.operands[1]
    return first.primitive.name == "dim" and first.params[0] == _before(dim, over)


def _row_length(index: Node, axis: Axis, over: Dims) -> int | None:
    """The length of the rows of which each element of an index is in its own; None where they are not as many."""
    while index.primitive is CAST or is_broadcast(index):
        (index,) = index.operands
    counted = places_of(index)
    if counted is not None:
        own = split_axis(counted, over)
        return 1 if own is not None and own[:2] == axis[:2] and own.times == 1 else None
    rows, within = index.operands if index.primitive is f.add else (index, literal(0))
    if rows.primitive is not f.multiply or rows.operands[1].primitive.name not in ("literal", "dim"):
        return None
    length = rows.operands[1].params[0]
    known = _row_length(rows.operands[0], axis, over)
    if known is None or not isinstance(length, int) or not _is_within(within, length):
        return None
    return known * length


def _is_within(place: Node, length: int) -> bool:
    """Whether it is known that all elements are places of an axis of this length."""
    while place.primitive is CAST or is_broadcast(place):
        (place,) = place.operands
    if place.is_literal:
        return 0 <= place.params[0] < length
    if place.primitive is CONSTANT:
        value = place.params[0].value
        return bool(np.all((value >= 0) & (value < length)))
    return places_of(place) == length or (place.primitive is GATHER and _is_within(place.operands[0], length))


def _count(axis: int, shape: Shape, over: Dims) -> Node:
    """The place of each element along an axis."""
    counted = cumulative_sum(ones((shape[axis],)), 0)
    place = f.subtract(f.add(counted, dim_value(_before(shape[axis], over))), literal(1))
    return contract([place], [(axis,)], tuple(range(len(shape))), shape)


def _beside(x: Node, axis: int, shape: Shape) -> Node:
    """``x``, which has not this axis, as an array of ``shape``."""
    labels = tuple(range(len(shape)))
    return contract([x], [labels[:axis] + labels[axis + 1 :]], labels, shape)


def _of_each_block(x: Node, axis: int, shape: Shape) -> Node:
    """``x``, which has one element a block along this axis, as an array of ``shape``."""
    labels = tuple(range(len(shape)))
    each = len(shape)
    sizes = (*shape, x.shape[axis])
    return contract([x], [(*labels[:axis], each, *labels[axis + 1 :])], labels, sizes)


def _found(extremum: Extremum, x: Node, axis: int, over: Dims) -> Node:
    """Where the first one of the extreme elements along an axis is, or the first NaN."""
    extreme = emit(extremum, (x,), ((axis,),))
    hit = f.logical_or(f.equal(x, _beside(extreme, axis, x.shape)), f.not_equal(x, x))
    place = f.where(hit, _count(axis, x.shape, over), dim_value(x.shape[axis]))
    return cast(emit(MIN, (place,), ((axis,),)), np.dtype(np.intp))


def _is_found(index: Node, dim: Dim, over: Dims) -> bool:
    """Whether an index says where an extreme element is, of an axis that is no longer than ``dim``."""
    if index.shape or index.primitive is not CAST or index.operands[0].primitive is not MIN:
        return False
    (place,) = index.operands[0].operands
    found, own = axis_of(place.shape[0], over), axis_of(dim, over)
    return found is not None and own is not None and found.dim == own.dim and found.more <= own.more


def _picked(x: Node, index: Node, axis: int, over: Dims) -> Node:
    """``np.take(x, index, axis)`` for one index, as a sum."""
    labels = tuple(range(x.ndim))
    kept = f.where(f.equal(_count(axis, x.shape, over), index), x, literal(0))
    return contract([kept], [labels], labels[:axis] + labels[axis + 1 :], x.shape)


def _put(y: Node, index: Node, axis: int, dim: Dim, over: Dims) -> Node:
    """Zeros with ``y`` at one index of an axis of ``dim`` elements."""
    shape = (*y.shape[:axis], dim, *y.shape[axis:])
    return f.where(f.equal(_count(axis, shape, over), index), _beside(y, axis, shape), literal(0))


def _apart(node: Node, over: Dims) -> Node:
    while node.primitive is EINSUM:
        label = _twice(node, over)
        if label is None:
            break
        labels, out, sizes, _ = node.params
        group = [k for k, own in enumerate(labels) if label in own]
        rest = [k for k in range(len(labels)) if k not in group]
        needed = {*out, *(i for k in rest for i in labels[k])}
        kept = tuple([i for i in dict.fromkeys(i for k in group for i in labels[k]) if i in needed and i != label])
        inner = _einsum([node.operands[k] for k in group], [labels[k] for k in group], kept, sizes)
        node = _einsum([*[node.operands[k] for k in rest], inner], [*[labels[k] for k in rest], kept], out, sizes)
    return node


def _einsum(operands: Sequence[Node], labels: Sequence[Labels], out: Labels, sizes: Shape) -> Node:
    used = list(dict.fromkeys(i for own in (*labels, out) for i in own))
    new = {i: k for k, i in enumerate(used)}
    renamed = [tuple([new[i] for i in own]) for own in (*labels, out)]
    return emit(EINSUM, tuple(operands), (tuple(renamed[:-1]), renamed[-1], tuple([sizes[i] for i in used]), ""))


def _twice(node: Node, over: Dims) -> int | None:
    """A label that is summed over and has the same dim as another one, the one with the fewest operands."""
    labels, out, sizes, _ = node.params
    used = {i for own in labels for i in own} | set(out)
    axes = {i: _dim_of(sizes[i], over) for i in used if is_split(sizes[i], over)}
    dims = list(axes.values())
    found = [i for i, dim in axes.items() if i not in out and dims.count(dim) > 1]
    return min(found, key=lambda i: sum(i in own for own in labels), default=None)
