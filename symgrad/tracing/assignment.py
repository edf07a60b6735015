"""NumPy's assignment to parts of an array, on nodes: the array after it is a new value."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from ..errors import ShapeError, TracingError, at_user_line
from ..primitives import functions as f
from ..primitives.contraction import expand, ones
from ..primitives.index_arrays import from_start, places_of
from ..primitives.primitive import CONSTANT
from ..primitives.selection import (
    CONCATENATE,
    Gathered,
    Spec,
    as_index,
    assemble,
    concatenate,
    full,
    gather,
    take_slice,
)
from ..primitives.shaping import reshape
from ..program.dims import broadcast, is_concrete, size
from ..program.node import Node
from .indexing import are_unknown_numbers, expanded, is_array, is_never, raveled, spec_entry, unsqueeze
from .sizes import concrete
from .trace import running


def ask_to_follow(x: Node, index: Any) -> None:
    """Have the function traced again with its calls followed, where it writes one element of ``x`` after another.

    Then the array is one of its own, of which each element is known by itself.
    """
    entries = index if isinstance(index, tuple) else (index,)
    is_element = len(entries) == x.ndim and all(isinstance(e, (int, np.integer)) for e in entries)
    if running().follow is None and is_element and _has_one_written(x) and _has_one_written(x.operands[2]):
        raise TracingError.here("an array that is filled element by element is an array of the function's own.")


def _has_one_written(x: Node) -> bool:
    """Whether one element of an array has just been written."""
    mask = x.operands[0] if x.primitive is f.where else None
    return mask is not None and mask.primitive is CONSTANT and np.count_nonzero(mask.params[0].value) == 1


def put(x: Node, index: Any, value: Node) -> Node:
    """The array after ``x[index] = value``."""
    if is_never(index):
        return x
    if value.dtype.kind == "f" and x.dtype.kind not in "fc" and running().has_slope(value):
        raise TracingError.here(f"a float written into an array of {x.dtype} would be cut; use a float array.")
    value = f.cast(value, x.dtype)
    mask = getattr(index, "_symgrad_node", None)
    is_mask = isinstance(index, np.ndarray) and index.dtype == bool
    if mask is None and is_mask and not value.shape and is_concrete(x.shape):
        mask = running().constant(index)
    if mask is not None and _is_choice(mask, x, value):
        wide = expand(reshape(mask, mask.shape + (1,) * (x.ndim - mask.ndim)), x.shape)
        return f.where(wide, f.cast(strong(value, x.dtype), x.dtype), x)
    entries = expanded(x, index)
    if any(is_array(e) for e in entries):
        return _put_advanced(x, entries, value)
    dims = iter(x.shape)
    parts = [None if e is None else spec_entry(e, next(dims)) for e in entries]
    spec: Spec = tuple(e for e in parts if e is not None)
    window = tuple(e[1] for e in spec if isinstance(e, tuple))
    wide = tuple(1 if e is None else e[1] for e in parts if e is None or isinstance(e, tuple))
    return put_slice(x, spec, unsqueeze(_fit(value, wide), window))


def _is_choice(mask: Node, x: Node, value: Node) -> bool:
    """Whether one value is written wherever a mask says: then which places these are need not be known."""
    fits = 0 < mask.ndim <= x.ndim and mask.shape == x.shape[: mask.ndim]
    return mask.dtype.kind == "b" and not value.shape and fits


def put_slice(x: Node, spec: Spec, piece: Node) -> Node:
    """The array after ``piece`` was written to where a slice is."""
    if spec == full(x.shape):
        return f.cast(strong(piece, x.dtype), x.dtype)
    window = piece.shape
    if is_concrete((*x.shape, *window)):
        ranges = [e if isinstance(e, tuple) else (e, 1, 1) for e in spec]
        if 2 * size(window) >= size(x.shape) and all(step == 1 for _, _, step in ranges):
            whole = unsqueeze(f.cast(strong(piece, x.dtype), x.dtype), tuple([count for _, count, _ in ranges]))
            return _joined(x, ranges, whole)
        covered = np.zeros(x.shape, bool)
        covered[as_index(spec)] = True
        mask = running().constant(covered)
    else:
        mask = f.not_equal(assemble([ones(window)], x.shape, [spec]), 0)
    return f.where(mask, assemble([f.cast(strong(piece, x.dtype), x.dtype)], x.shape, [spec]), x)


def _joined(x: Node, ranges: list[tuple], piece: Node) -> Node:
    """``piece`` between what is left of ``x`` before and behind it, along the first axis that it does not fill.

    Where it is most of ``x``; small pieces, as of a loop that fills an array, have a mask, of one shape in all steps.
    """
    axis = next((k for k, (_, count, _) in enumerate(ranges) if count != x.shape[k]), None)
    if axis is None:
        return piece
    start, count, _ = ranges[axis]
    end, whole = start + count, x.shape[axis]
    inside = _joined(_part(x, axis, start, count), [*ranges[:axis], (0, count, 1), *ranges[axis + 1 :]], piece)
    before, behind = _part(x, axis, 0, start), _part(x, axis, end, whole - end)
    return concatenate([node for node in (before, inside, behind) if node.shape[axis]], axis)


def _part(x: Node, axis: int, start: int, count: int) -> Node:
    """A range of ``x`` along an axis; where it is one of the arrays that ``x`` was joined of, that array."""
    if x.primitive is CONCATENATE and x.params == (axis,):
        begin = 0
        for joined in x.operands:
            if (begin, joined.shape[axis]) == (start, count):
                return joined
            begin += joined.shape[axis]
    return take_slice(x, (*full(x.shape[:axis]), (start, count, 1), *full(x.shape[axis + 1 :])))


def _fit(value: Node, window: tuple) -> Node:
    """``value`` broadcast to ``window``; leading unit axes too many are ignored, as NumPy does in an assignment."""
    shape = value.shape
    while len(shape) > len(window) and shape[0] == 1:
        shape = shape[1:]
    if len(shape) > len(window) or broadcast(shape, window) != window:
        raise ShapeError.here(f"could not broadcast a value of shape {value.shape} into {window}")
    return expand(unsqueeze(value, shape), window)


def strong(x: Node, dtype: np.dtype) -> Node:
    """``x`` with a dtype of its own, where it is a Python scalar."""
    if not (x.is_literal or x.weak):
        return x
    nothing = np.array(-0.0).astype(dtype)  # 0.0 would change the sign of -0.0
    return f.add(x, running().constant(nothing))


def _put_at(x: Node, entries: list[Any], value: Node) -> Node:
    """The array after a value was written to places along some axes that nobody knows while the function is traced."""
    own = [e for e in entries if e is not None]
    dims = iter(x.shape)
    parts = [None if e is None else spec_entry(slice(None) if isinstance(e, Node) else e, next(dims)) for e in entries]
    spec: Spec = tuple(e for e in parts if e is not None)
    wide = [
        1 if part is None else part[1]
        for part, e in zip(parts, entries, strict=True)
        if part is None or (isinstance(part, tuple) and not isinstance(e, Node))
    ]
    kept = [(e, part[1]) for e, part in zip(own, spec, strict=True) if isinstance(part, tuple)]
    piece = unsqueeze(_fit(value, tuple(wide)), tuple([1 if isinstance(e, Node) else d for e, d in kept]))
    before = take_slice(x, spec)
    found = [
        _is_at(from_start(f.cast(e, np.dtype(np.intp)), d), before.shape, axis)
        for axis, (e, d) in enumerate(kept)
        if isinstance(e, Node)
    ]
    return put_slice(x, spec, f.where(reduce(f.logical_and, found), piece, before))


def put_element(x: Node, place: Node, axis: int, part: Node) -> Node:
    """The array after ``part`` was written to a place along an axis, counted from its start."""
    piece = unsqueeze(part, (*part.shape[:axis], 1, *part.shape[axis:]))
    return f.where(_is_at(place, x.shape, axis), piece, x)


def _is_at(place: Node, shape: tuple, axis: int) -> Node:
    """Where in an array of ``shape`` a place along an axis is; one that is beyond the axis is refused when it runs."""
    (dim,) = concrete((shape[axis],), "x[i] = v, where i is not known while the function is traced,")
    places = running().constant(np.arange(dim))
    found = f.equal(places, gather(places, place, 0))
    return unsqueeze(found, tuple([dim if k == axis else 1 for k in range(len(shape))]))


def _put_in_rows(x: Node, entries: list[Any], value: Node) -> Node:
    """The array after a value was written to a place of each row, ``x[np.arange(n), j] = v``: no two are the same."""
    index = raveled(entries, list(x.shape[: len(entries)]))
    flat = reshape(x, (size(x.shape[: len(entries)]), *x.shape[len(entries) :]))
    window, places = (*index.shape, *flat.shape[1:]), Gathered(index, 0)
    is_written = f.not_equal(places.put(ones(window), flat.shape, 0), 0)
    written = places.put(f.cast(_fit(value, window), x.dtype), flat.shape, 0)
    return reshape(f.where(is_written, written, flat), x.shape)


def _put_advanced(x: Node, entries: list[Any], value: Node) -> Node:
    if are_unknown_numbers(entries):
        return _put_at(x, entries, value)
    if any(isinstance(e, Node) for e in entries):
        if running().follow is None:
            raise TracingError.here("x[i] = v with a traced index array is not supported; use np.where.")
        if all(map(is_array, entries)) and any(isinstance(e, Node) and places_of(e) == x.shape[0] for e in entries[:1]):
            return _put_in_rows(x, entries, value)
        entries = [running().guard(e) if isinstance(e, Node) else e for e in entries]
    shape = concrete(x.shape, "x[i] = v with an index array")
    number = np.arange(size(shape)).reshape(shape)
    try:
        chosen = number[tuple(entries)]
    except IndexError as error:
        raise IndexError(at_user_line(str(error))) from error
    if not chosen.size:
        return x
    wide = reshape(_fit(value, chosen.shape), (chosen.size,)) if not value.is_literal else None
    source = np.full(x.shape, -1)
    source.ravel()[chosen.ravel()] = np.arange(chosen.size)
    mask = running().constant(source >= 0)
    if wide is None:
        return f.cast(f.where(mask, value, x), x.dtype)
    picked = gather(wide, running().constant(np.maximum(source, 0)), 0)
    return f.where(mask, picked, x)
