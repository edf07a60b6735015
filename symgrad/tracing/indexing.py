"""NumPy's indexing on nodes: slices as views, index arrays as gathers."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..errors import ShapeError, TracingError, at_user_line
from ..primitives import functions as f
from ..primitives.contraction import transpose
from ..primitives.index_arrays import from_start, places_of
from ..primitives.primitive import dim_value, literal
from ..primitives.selection import full, gather, take_slice
from ..primitives.shaping import reshape
from ..program.dims import is_concrete, is_named, normal, size
from ..program.node import Node
from .sizes import Size, counted
from .sorted_places import part_of, some_of
from .trace import SIZES_FIX, as_node, is_traced, running, stands_for_number


def get(x: Node, index: Any) -> tuple[Node, bool | None]:
    """``x[index]`` and whether NumPy would give a view; one element alone is a copy. None: it is to be looked up."""
    if type(index) is int and x.shape and is_concrete(x.shape):  # as a loop over rows takes them
        made = part_of(x, (spec_entry(index, x.shape[0]), *full(x.shape[1:])))
        return made, bool(made.shape)
    if is_never(index):
        return take_slice(reshape(x, (1, *x.shape)), ((0, 0, 1), *full(x.shape))), False
    entries = expanded(x, index)
    if not any(is_array(e) for e in entries):
        made = _basic(x, entries)
        return made, bool(made.shape) or any(e is Ellipsis for e in _parts(index))
    made = _advanced(x, entries)
    return made, None if made.shape and are_unknown_numbers(entries) else False


def are_unknown_numbers(entries: list[Any]) -> bool:
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
        if is_traced(e) and not (isinstance(e, Size) or stands_for_number(e))
        else e
        for e in _parts(index)
    ]
    return tuple(made) if isinstance(index, tuple) else made[0]


def is_never(index: Any) -> bool:
    """Whether an index is False, which picks nothing."""
    return not isinstance(index, tuple) and _is_boolean(index) and not np.ndim(index) and not _boolean(index)


def _parts(index: Any) -> tuple:
    return index if isinstance(index, tuple) else (index,)


def expanded(x: Node, index: Any) -> list[Any]:
    """One entry an axis (int, slice, array) or None for a new axis; the ellipsis filled in."""
    entries: list[Any] = []
    masks: list[tuple[int, np.ndarray]] = []  # and where their indices begin
    for part in _parts(index):
        if _is_boolean(part):
            chosen = _boolean(part)
            if not chosen:
                raise TracingError.here("x[…, False] is an empty array; write x[:0] where that is meant.")
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
        raise TracingError.here(
            "the shape of x[mask] depends on traced values. Use np.where(mask, x, 0), "
            "or compute the mask outside the differentiated function."
        )
    if node is not None and not running().has_value(node):
        raise TracingError.here(
            "how many elements x[mask] has is not known here: one program serves all values. Use "
            "np.where(mask, x, 0), and np.sum(mask) for how many there are."
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
        message = "only integers, slices, None, ... and integer or boolean arrays are valid indices"
        raise IndexError(at_user_line(message))
    return array


def is_array(e: Any) -> bool:
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
        raise ShapeError.here(f"a step of {step} along the named dim {dim} is not supported. {SIZES_FIX}")
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
    return unsqueeze(part_of(x, tuple(spec)), tuple(shape))


def unsqueeze(x: Node, shape: tuple) -> Node:
    """``x`` with unit axes put in or taken out, to ``shape``."""
    return x if x.shape == shape else reshape(x, shape)


def _advanced(x: Node, entries: list[Any]) -> Node:
    """Integer array indexing: slice first, then one gather over the indexed axes as one axis."""
    sliced = [e if isinstance(e, slice) or e is None else slice(None) for e in entries]
    arrays = [k for k, e in enumerate(entries) if is_array(e) or isinstance(e, int)]
    base = _basic(x, sliced)
    together = arrays == list(range(arrays[0], arrays[-1] + 1))
    dims = [base.shape[k] for k in arrays]
    first = arrays[0] if together else 0
    rest = [k for k in range(base.ndim) if k not in arrays]
    if not is_concrete(tuple(dims)):  # rows first whose numbers are counted, so that what is picked stays within a row
        arrays.sort(key=lambda k: not (isinstance(entries[k], Node) and places_of(entries[k]) == base.shape[k]))
        dims = [base.shape[k] for k in arrays]
    index = raveled([entries[k] for k in arrays], dims)
    order = rest[:first] + arrays + rest[first:]
    moved = transpose(base, order)
    flat = reshape(moved, moved.shape[:first] + (size(tuple(dims)),) + moved.shape[first + len(arrays) :])
    return some_of(flat, index, first)


def raveled(indices: list[Any], dims: list[Any]) -> Node:
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
    for i, d in zip(indices, dims, strict=True):
        node = i if isinstance(i, Node) else _checked_index(i, d)
        node = f.cast(node, np.dtype(np.intp))  # positions may be beyond what a short integer holds
        if isinstance(i, Node) or not isinstance(d, int):
            node = from_start(node, d)
            if len(dims) > 1 and places_of(node) != d:  # outside of its axis it would name another row
                places = running().constant(np.arange(d)) if isinstance(d, int) else as_node(counted(d))
                node = gather(places, node, 0)
        is_first = total.is_literal and not total.params[0]  # at 0 of those before
        total = node if is_first else f.add(f.multiply(total, dim_value(d)), node)
    return total


def _checked_index(index: Any, dim: Any) -> Node:
    """A known index, within ``dim`` as far as that is known; from 0 where it is a number."""
    values = np.asarray(index)
    for beyond in (normal(dim - 1 - int(values.max())), normal(dim + int(values.min()))) if values.size else ():
        if not running().assumes(beyond, "nonnegative"):
            raise IndexError(at_user_line(f"an index of {index} is out of bounds for an axis of size {dim}"))
    if isinstance(dim, int):
        values = np.where(values < 0, values + dim, values).astype(np.intp)
    return as_node(int(values) if isinstance(index, int) else values)
