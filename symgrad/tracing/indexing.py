"""NumPy's indexing on nodes: slices as views, index arrays as gathers, assignment as a new value."""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any

import numpy as np

from ..errors import ShapeError, TracingError, at_user_line
from ..primitives import functions as f
from ..primitives.contraction import expand, ones, transpose
from ..primitives.index_arrays import counted
from ..primitives.primitive import dim_value, literal
from ..primitives.selection import CONCATENATE, Spec, as_index, assemble, concatenate, full, gather, take_slice
from ..primitives.shaping import reshape
from ..program.dims import broadcast, is_concrete, is_named, normal, size
from ..program.node import Node
from .sizes import Size, concrete
from .trace import SIZES_FIX, as_node, running, stands_for_number


def get(x: Node, index: Any) -> tuple[Node, bool | None]:
    """``x[index]`` and whether NumPy would give a view; one element alone is a copy. None: it is to be looked up."""
    if type(index) is int and x.shape and is_concrete(x.shape):  # as a loop over rows takes them
        made = take_slice(x, (spec_entry(index, x.shape[0]), *full(x.shape[1:])))
        return made, bool(made.shape)
    if _is_never(index):
        return take_slice(reshape(x, (1, *x.shape)), ((0, 0, 1), *full(x.shape))), False
    entries = _expand(x, index)
    if not any(_is_array(e) for e in entries):
        made = _basic(x, entries)
        return made, bool(made.shape) or any(e is Ellipsis for e in _parts(index))
    made = _advanced(x, entries)
    return made, None if made.shape and _are_unknown_numbers(entries) else False


def _are_unknown_numbers(entries: list[Any]) -> bool:
    """Whether an index is made of numbers and slices alone, some of which differ between steps or examples."""
    nodes = [e for e in entries if isinstance(e, Node)]
    if any(n.shape for n in nodes) or any(isinstance(e, np.ndarray) for e in entries):
        return False
    return not all(map(running().has_value, nodes))


def fixed(index: Any) -> Any:
    """``index`` with what its traced parts are now: these may be written to later."""
    if type(index) is int:
        return index
    made = [
        slice(
            *[
                int(v) if hasattr(v, "_symgrad_node") and not isinstance(v, Size) else v
                for v in (e.start, e.stop, e.step)
            ]
        )
        if isinstance(e, slice)
        else e._symgrad_node
        if hasattr(type(e), "_symgrad_node") and not (isinstance(e, Size) or stands_for_number(e))
        else e
        for e in _parts(index)
    ]
    return tuple(made) if isinstance(index, tuple) else made[0]


def _is_never(index: Any) -> bool:
    """Whether an index is False, which picks nothing."""
    return not isinstance(index, tuple) and _is_boolean(index) and not np.ndim(index) and not _boolean(index)


def _parts(index: Any) -> tuple:
    return index if isinstance(index, tuple) else (index,)


def _expand(x: Node, index: Any) -> list[Any]:
    """One entry an axis (int, slice, array) or None for a new axis; the ellipsis filled in."""
    entries: list[Any] = []
    masks: list[tuple[int, np.ndarray]] = []  # and where their indices begin
    for part in _parts(index):
        if _is_boolean(part):
            chosen = _boolean(part)
            if not chosen:
                raise TracingError(at_user_line("x[…, False] is an empty array; write x[:0] where that is meant."))
            if np.ndim(part):
                masks.append((len(entries), np.asarray(part)))
            entries += chosen
        else:
            entries.append(part)
    taken = sum(1 for e in entries if e is not None and e is not Ellipsis)
    if taken > x.ndim:
        raise IndexError(at_user_line(f"too many indices: the array is {x.ndim}-dimensional, but {taken} were indexed"))
    rest = [slice(None)] * (x.ndim - taken)
    dots = [k for k, e in enumerate(entries) if e is Ellipsis]
    if dots:
        entries[dots[0] : dots[0] + 1] = rest
    else:
        entries += rest
    for place, mask in masks:
        after_dots = bool(dots) and place > dots[0]
        _check_mask(x, mask, entries[: place + after_dots * (len(rest) - 1)])
    return [_as_index(e) for e in entries]


def _check_mask(x: Node, mask: np.ndarray, before: list[Any]) -> None:
    """A mask has the shape of the axes that it picks from."""
    axis = sum(e is not None for e in before)
    picked = x.shape[axis : axis + mask.ndim]
    if len(picked) < mask.ndim or not all(
        running().assumes(normal(d - n), "zero") for d, n in zip(picked, mask.shape, strict=True)
    ):
        raise IndexError(at_user_line(f"a boolean index of shape {mask.shape} does not fit axes of sizes {picked}"))


def _is_boolean(part: Any) -> bool:
    if isinstance(part, (bool, np.bool_)):
        return True
    dtype = getattr(part, "dtype", None)
    if dtype is not None:
        return np.dtype(dtype).kind == "b"
    return isinstance(part, list) and np.asarray(part).dtype == bool


def _boolean(part: Any) -> list[Any]:
    node = getattr(part, "_symgrad_node", None)
    if node is not None and running().follow is None:
        raise TracingError(
            at_user_line(
                "the shape of x[mask] depends on traced values. Use np.where(mask, x, 0), "
                "or compute the mask outside the differentiated function."
            )
        )
    mask = np.asarray(part if node is None else running().guard(node))
    if not mask.ndim:  # x[True] is x with a new axis
        return [None] if mask else []
    return list(np.nonzero(mask))


def _as_index(e: Any) -> Any:
    if e is None or isinstance(e, Node):
        return e
    if isinstance(e, slice):
        return slice(*[v.dim if isinstance(v, Size) else v for v in (e.start, e.stop, e.step)])
    if isinstance(e, Size):
        return e.dim
    if stands_for_number(e):
        return operator.index(e)
    node = getattr(e, "_symgrad_node", None)
    if node is not None:
        if node.dtype.kind == "f":
            raise IndexError(at_user_line("a traced float cannot be an index"))
        return node
    if isinstance(e, (int, np.integer)):
        return int(e)
    array = np.asarray(e)
    if array.size == 0:
        array = array.astype(np.intp)
    if array.dtype.kind not in "iu":
        raise IndexError(
            at_user_line("only integers, slices, None, ... and integer or boolean arrays are valid indices")
        )
    return array


def _is_array(e: Any) -> bool:
    return isinstance(e, (np.ndarray, Node))


def spec_entry(e: Any, dim: Any) -> Any:
    """One axis of a slice spec from an int or a slice; both may hold named dims."""
    if type(e) is not int or type(dim) is not int:
        parts = (e.start, e.stop) if isinstance(e, slice) else (e,)
        if any(map(is_named, (*parts, dim))):
            return _named_slice(e, dim) if isinstance(e, slice) else _named_index(e, dim)
    if isinstance(e, int):
        if not -dim <= e < dim:
            raise IndexError(at_user_line(f"index {e} is out of bounds for an axis of size {dim}"))
        return e + dim if e < 0 else e
    start, stop, step = e.indices(dim)
    return start, len(range(start, stop, step)), step


def _from_start(e: Any, dim: Any) -> Any:
    """An index counted from the start of its axis."""
    return e if running().assumes(e, "nonnegative") else normal(e + dim)


def _named_index(e: Any, dim: Any) -> Any:
    at = _from_start(e, dim)
    if not (running().assumes(at, "nonnegative") and running().assumes(normal(dim - 1 - at), "nonnegative")):
        raise IndexError(at_user_line(f"index {e} is out of bounds for an axis of size {dim}"))
    return at


def _named_slice(e: slice, dim: Any) -> tuple:
    """A slice of a named dim; where the sizes of this run cut it short the trace is for them alone."""
    trace = running()
    step = 1 if e.step is None else e.step
    if step == -1 and e.start is None and e.stop is None:
        return normal(dim - 1), dim, -1
    if step != 1:
        raise ShapeError(at_user_line(f"a step of {step} along the named dim {dim} is not supported. {SIZES_FIX}"))
    start = 0 if e.start is None else _from_start(e.start, dim)
    stop = dim if e.stop is None else _from_start(e.stop, dim)
    if all(trace.assumes(normal(d), "nonnegative") for d in (start, stop - start, dim - stop)):
        return start, normal(stop - start), 1
    size = trace.fixed(dim)
    start, stop, _ = slice(*[v if v is None else trace.fixed(v) for v in (e.start, e.stop)]).indices(size)
    return start, max(stop - start, 0), 1


def _basic(x: Node, entries: list[Any]) -> Node:
    spec, shape, axis = [], [], 0
    for e in entries:
        if e is None:
            shape.append(1)
            continue
        spec.append(spec_entry(e, x.shape[axis]))
        if isinstance(spec[-1], tuple):
            shape.append(spec[-1][1])
        axis += 1
    return unsqueeze(take_slice(x, tuple(spec)), tuple(shape))


def unsqueeze(x: Node, shape: tuple) -> Node:
    """``x`` with unit axes put in or taken out, to ``shape``."""
    return x if x.shape == shape else reshape(x, shape)


def _advanced(x: Node, entries: list[Any]) -> Node:
    """Integer array indexing: slice first, then one gather over the indexed axes as one axis."""
    sliced = [e if isinstance(e, slice) or e is None else slice(None) for e in entries]
    arrays = [k for k, e in enumerate(entries) if _is_array(e) or isinstance(e, int)]
    base = _basic(x, sliced)
    together = arrays == list(range(arrays[0], arrays[-1] + 1))
    dims = [base.shape[k] for k in arrays]
    index = _raveled([entries[k] for k in arrays], dims)
    first = arrays[0] if together else 0
    rest = [k for k in range(base.ndim) if k not in arrays]
    order = rest[:first] + arrays + rest[first:]
    moved = transpose(base, order)
    flat = reshape(moved, moved.shape[:first] + (size(tuple(dims)),) + moved.shape[first + len(arrays) :])
    return gather(flat, index, first)


def _raveled(indices: list[Any], dims: list[Any]) -> Node:
    """Several index arrays as one into the C-ordered product of their axes."""
    indices = [i.params[0].value if isinstance(i, Node) and i.primitive.name == "constant" else i for i in indices]
    if not any(isinstance(i, Node) for i in indices) and is_concrete(tuple(dims)):
        try:
            arrays = np.broadcast_arrays(*[np.asarray(i).astype(np.intp) for i in indices])
        except ValueError as error:
            raise IndexError(at_user_line(f"index arrays do not fit each other: {error}")) from error
        for a, d in zip(arrays, dims, strict=True):
            if a.size and (a.min() < -d or a.max() >= d):
                beyond = a.max() if a.max() >= d else a.min()
                raise IndexError(at_user_line(f"index {beyond} is out of bounds for an axis of size {d}"))
        wrapped = [np.where(a < 0, a + d, a) for a, d in zip(arrays, dims, strict=True)]
        flat = np.ravel_multi_index(wrapped, tuple(dims)) if len(dims) > 1 else wrapped[0]
        return running().constant(np.asarray(flat, dtype=np.intp))
    total: Node = literal(0)
    for k, (i, d) in enumerate(zip(indices, dims, strict=True)):
        node = i if isinstance(i, Node) else _checked_index(i, d)
        node = f.cast(node, np.dtype(np.intp))  # positions may be beyond what a short integer holds
        node = counted(node, d)
        if len(dims) > 1 and isinstance(d, int):  # outside of its axis it would name another row
            node = gather(running().constant(np.arange(d)), node, 0)
        total = node if k == 0 else f.add(f.multiply(total, dim_value(d)), node)
    return total


def _checked_index(index: Any, dim: Any) -> Node:
    """A known index, within ``dim`` as far as that is known."""
    values = np.asarray(index)
    for beyond in (normal(dim - 1 - int(values.max())), normal(dim + int(values.min()))) if values.size else ():
        if not running().assumes(beyond, "nonnegative"):
            raise IndexError(at_user_line(f"an index of {index} is out of bounds for an axis of size {dim}"))
    return as_node(index if isinstance(index, int) else values)


def put(x: Node, index: Any, value: Node) -> Node:
    """The array after ``x[index] = value``."""
    if _is_never(index):
        return x
    entries = _expand(x, index)
    if value.dtype.kind == "f" and x.dtype.kind not in "fc":
        raise TracingError(at_user_line(f"a float written into an array of {x.dtype} would be cut; use a float array."))
    value = f.cast(value, x.dtype)
    if any(_is_array(e) for e in entries):
        return _put_advanced(x, entries, value)
    dims = iter(x.shape)
    parts = [None if e is None else spec_entry(e, next(dims)) for e in entries]
    spec: Spec = tuple(e for e in parts if e is not None)
    window = tuple(e[1] for e in spec if isinstance(e, tuple))
    wide = tuple(1 if e is None else e[1] for e in parts if e is None or isinstance(e, tuple))
    return put_slice(x, spec, unsqueeze(_fit(value, wide), window))


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
        raise ShapeError(at_user_line(f"could not broadcast a value of shape {value.shape} into {window}"))
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
        _is_at(counted(f.cast(e, np.dtype(np.intp)), d), before.shape, axis)
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


def _put_advanced(x: Node, entries: list[Any], value: Node) -> Node:
    if _are_unknown_numbers(entries):
        return _put_at(x, entries, value)
    if any(isinstance(e, Node) for e in entries):
        if running().follow is None:
            raise TracingError(at_user_line("x[i] = v with a traced index array is not supported; use np.where."))
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
