"""How the places of terms move where a selection takes a part of an array, or puts one into zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...primitives.casting import cast
from ...primitives.functions import add, less, where
from ...primitives.primitive import CONSTANT, dim_value
from ...primitives.selection import Gathered, Selection, Sliced, Spec
from ...primitives.shaping import Reshaped
from ...program.dims import Shape, is_concrete, size
from ...program.node import Node
from .index_maps import (
    Affine,
    Label,
    Lookup,
    Map,
    Unsolved,
    digit,
    flat_map,
    index_array,
    is_static,
    looked_up_at,
    merged_labels,
    plain,
    shifted,
)
from .solving import looked_for, placed_in, relabelled, split_map
from .structured_tangents import StructuredTangent


def _into(term: StructuredTangent, spec: Spec) -> list[StructuredTangent]:
    """Places in a slice as places in the array it was taken from."""
    rest = iter(term.at)
    at = [shifted(next(rest), e[0], e[2]) if isinstance(e, tuple) else Affine(e) for e in spec]
    return [term.having(at=tuple(at))]


def _out_of(term: StructuredTangent, spec: Spec, shape: Shape) -> list[StructuredTangent]:
    """What of an array falls into a slice of it."""
    kept = []
    for axis, (e, d) in enumerate(zip(spec, shape, strict=True)):
        if e == (0, d, 1):
            kept.append(axis)
            continue
        whole = e if isinstance(e, tuple) else (e, 1, 1)
        found = placed_in(term, term.at[axis], whole)
        if found is None:
            return []
        term, place = found
        term = term.having(at=(*term.at[:axis], place, *term.at[axis + 1 :]))
        if isinstance(e, tuple):
            kept.append(axis)
    return [term.moved([term.at[axis] for axis in kept])]


def _lookup_places(term: StructuredTangent, axis: int, index: Node, dim: Any) -> list[StructuredTangent]:
    """Places along the axes of ``index`` as places along the one axis it looks into."""
    if not is_concrete((dim, *index.shape)):
        raise Unsolved
    place = looked_up_at(_wrapped(index, dim), term.at[axis : axis + index.ndim])
    return [term.moved((*term.at[:axis], place, *term.at[axis + index.ndim :]))]


def _looked_up(term: StructuredTangent, axis: int, index: Node, dim: Any) -> list[StructuredTangent]:
    """The term where ``index`` looks along one axis, at the axes of ``index``."""
    if not is_concrete((dim, *index.shape)):
        raise Unsolved
    m, wrapped = term.at[axis], _wrapped(index, dim)
    merged = merged_labels(m, dim)
    if merged is not None:  # every place that is looked at holds one entry
        new = tuple([Label(d) for d in index.shape])
        by: dict[Label, Map] = {}
        stride = 1
        for k in reversed(merged):
            by[k] = Lookup(digit(wrapped, stride, k.size, dim), new)
            stride *= k.size
        found, axes = relabelled(term, by), list(map(plain, new))
    elif wrapped.primitive is CONSTANT and is_static(m):
        sought = looked_for(term, m, wrapped.params[0].value)
        if sought is None:
            return []
        found, axes = sought
    else:
        raise Unsolved
    return [found.moved((*found.at[:axis], *axes, *found.at[axis + 1 :]))]


def _wrapped(index: Node, dim: int) -> Node:
    """The index with negative entries counted from the end."""
    if index.primitive is CONSTANT:
        values = index.params[0].value.astype(np.intp)
        return index_array(np.where(values < 0, values + dim, values))
    if index.primitive is where:  # as indexing writes it
        test, moved, kept = index.operands
        if test.primitive is less and moved.primitive is add and test.operands[0] is kept is moved.operands[0]:
            return cast(index, np.dtype(np.intp))
    index = cast(index, np.dtype(np.intp))  # positions may be beyond what a short integer holds
    return where(less(index, 0), add(index, dim_value(dim)), index)


def taken(term: StructuredTangent, selection: Selection, whole: Shape) -> list[StructuredTangent]:
    """What of an array falls into the part of it."""
    if isinstance(selection, Sliced):
        return _out_of(term, selection.spec, whole)
    if isinstance(selection, Gathered):
        return _looked_up(term, selection.axis, selection.indices, whole[selection.axis])
    if isinstance(selection, Reshaped):
        return _reshaped(term, whole, selection.shape)
    raise Unsolved


def put(term: StructuredTangent, selection: Selection, whole: Shape) -> list[StructuredTangent]:
    """Places in the part of an array as places in the array."""
    if isinstance(selection, Sliced):
        return _into(term, selection.spec)
    if isinstance(selection, Gathered):
        return _lookup_places(term, selection.axis, selection.indices, whole[selection.axis])
    if isinstance(selection, Reshaped):
        return _reshaped(term, selection.shape, whole)
    raise Unsolved


def _reshaped(term: StructuredTangent, old: Shape, new: Shape) -> list[StructuredTangent]:
    """Axes merged and split, block by block of equal products."""
    at: list[Map] = []
    for own, other in _blocks(old, new):
        dims_old, dims_new = [old[a] for a in own], tuple([new[a] for a in other])
        maps = [term.at[a] for a in own]
        if tuple(dims_old) == dims_new:
            at += maps
            continue
        flat = flat_map(maps, dims_old)
        is_known = is_static(flat) or (isinstance(flat, Lookup) and is_concrete((*dims_old, *dims_new)))
        if not is_known and merged_labels(flat, size(tuple(dims_old))) is None:
            raise Unsolved
        if len(dims_new) == 1:
            at.append(flat)
            continue
        before = len(at)
        held = term.having(at=(*at, flat, *term.at))  # relabelling reaches what is already placed
        held, split = split_map(held, flat, dims_new)
        at = [*held.at[:before], *split]
        term = held.having(at=held.at[before + 1 :])
    return [term.moved(at)]


def _blocks(old: Shape, new: Shape) -> list[tuple[list[int], list[int]]]:
    """Runs of axes of the old and the new shape that hold the same number of elements."""
    blocks = []
    i = j = 0
    while i < len(old) or j < len(new):
        own, other = [], []
        left = right = 1
        if i < len(old):
            own, left, i = [i], old[i], i + 1
        if j < len(new):
            other, right, j = [j], new[j], j + 1
        while left != right:
            smaller = left < right if isinstance(left, int) and isinstance(right, int) else None
            if i < len(old) and (smaller or (smaller is None and j >= len(new)) or j >= len(new)):
                own, left, i = [*own, i], left * old[i], i + 1
            elif j < len(new):
                other, right, j = [*other, j], right * new[j], j + 1
            else:
                raise Unsolved
        blocks.append((own, other))
    return blocks
