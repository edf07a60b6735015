"""NumPy's rearranging of traced elements: flips, rolls, pads, tiles, sorts, diagonals and triangles."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError, ShapeError, UnsupportedArguments
from ..primitives import functions as f
from ..primitives.contraction import contract, expand
from ..primitives.selection import assemble, concatenate, full, gather, take_slice
from ..primitives.shaping import reshape
from ..program.dims import is_concrete, normal, size
from ..program.node import Node
from .declare import Case, Given, implements
from .reductions import along, normalized_axis
from .sizes import concrete, counted, listed, whole
from .trace import as_node, running
from .tracer import Tracer, traced, view


def _taken(x: Node, index: np.ndarray, axis: int) -> Node:
    return gather(x, running().constant(np.asarray(index, dtype=np.intp)), axis)


@implements(
    np.roll,
    cases=[
        Case((5,), Given(2)),
        Case((3, 4), Given(-1), axis=1),
        Case((3, 4), Given((1, 2)), axis=(0, 1)),
        Case((3, 4), Given(5)),
    ],
)
def _roll(a, shift, axis=None):
    x = as_node(a)
    if axis is None:
        return Tracer(reshape(_roll(Tracer(reshape(x, (size(x.shape),))), shift, 0)._symgrad_node, x.shape))
    axes = [normalized_axis(k, x.ndim) for k in listed(axis)]
    shifts = listed(shift)
    try:
        shifts, axes = np.broadcast_arrays(shifts, axes)
    except ValueError as error:
        raise ShapeError.here(f"np.roll: the shifts {shift} do not fit the axes {axis}") from error
    for by, k in zip(shifts.tolist(), axes.tolist(), strict=True):
        n = x.shape[k]
        by = int(by) % n if is_concrete((n,)) and n else _within(int(by), n)
        if by != 0:
            tail, head = list(full(x.shape)), list(full(x.shape))
            rest = normal(n - by)
            tail[k], head[k] = (rest, by, 1), (0, rest, 1)
            x = concatenate([take_slice(x, tuple(tail)), take_slice(x, tuple(head))], k)
    return Tracer(x)


def _within(by: int, n: Any) -> Any:
    """A shift along a named dim as one that is not negative and smaller than it."""
    trace = running()
    if n != 0 and trace.assumes(normal(n - abs(by)), "nonnegative"):
        return by if by >= 0 else normal(n + by)
    return by % trace.fixed(n) if n != 0 else 0


_PADS = ("constant", "edge", "reflect", "wrap", "symmetric")


def _is_traced(value: Any) -> bool:
    return any(map(_is_traced, value)) if isinstance(value, (tuple, list)) else isinstance(value, Tracer)


@implements(
    np.pad,
    cases=[
        Case((3,), Given(2)),
        Case((2, 3), Given(((1, 0), (0, 2))), constant_values=4.0),
        Case((2, 3), Given(1), mode="edge"),
        Case((4,), Given((2, 1)), mode="reflect"),
        Case((4,), Given((2, 1)), mode="wrap"),
        Case((4,), Given((2, 1)), mode="symmetric"),
        Case((4,), Given((2, 5)), mode="reflect", reflect_type="odd"),
        Case((4,), Given((2, 1)), mode="symmetric", reflect_type="odd"),
        *[Case((2, 4), Given(((1, 0), (2, 1))), mode=m) for m in ("mean", "median", "maximum", "minimum")],
        Case((4,), Given((2, 1)), mode="mean", stat_length=2),
        Case((2, 3), Given(2), mode="linear_ramp", end_values=((1.0, 2.0), (3.0, 4.0))),
        Case((2, 3), Given({-1: (1, 2)}), constant_values=1.0),
    ],
)
def _pad(array, pad_width, mode="constant", constant_values: Any = 0.0, **kwargs):
    x = as_node(array)
    if isinstance(pad_width, dict) or callable(mode) or mode not in _PADS or kwargs or _is_traced(constant_values):
        raise UnsupportedArguments.here(f"np.pad with mode={mode!r} and these arguments has no rule.")
    try:
        widths = np.broadcast_to(np.asarray(pad_width).astype(np.intp, casting="same_kind"), (x.ndim, 2)).tolist()
    except ValueError as error:
        raise ShapeError.here(f"np.pad: the widths {pad_width} do not fit shape {x.shape}") from error
    if mode == "constant":
        shape = tuple(before + d + after for (before, after), d in zip(widths, x.shape, strict=True))
        spec = tuple((before, d, 1) for (before, _), d in zip(widths, x.shape, strict=True))
        placed = assemble([x], shape, [spec])
        if isinstance(constant_values, (int, float)) and constant_values == 0:
            return Tracer(placed)
        inner = concrete(x.shape, "np.pad with other values than 0")
        frame = np.pad(np.zeros(inner, x.dtype), widths, constant_values=constant_values)
        return Tracer(f.add(placed, running().constant(frame)))
    for k, width in enumerate(widths):
        if any(width):
            (length,) = concrete((x.shape[k],), f"np.pad with mode={mode!r}")
            if not length:
                raise ShapeError.here(f"np.pad with mode={mode!r} cannot extend an axis without elements")
            x = _taken(x, np.pad(np.arange(length), width, mode=mode), k)
    return Tracer(x)


@implements(
    np.repeat, cases=[Case((3,), Given(2)), Case((2, 3), Given(2), axis=0), Case((2, 3), Given([1, 2]), axis=0)]
)
def _repeat(a, repeats, axis=None):
    x, k = along(as_node(a), axis)
    (length,) = concrete((x.shape[k],), "np.repeat")
    try:
        index = np.repeat(np.arange(length), repeats)
    except ValueError as error:
        raise ShapeError.here(f"np.repeat: {repeats} repeats do not fit an axis of size {length}") from error
    return Tracer(_taken(x, index, k))


@implements(
    np.tile, cases=[Case((3,), Given(2)), Case((2, 3), Given((2, 1))), Case((3,), Given((2, 2))), Case((), Given(3))]
)
def _tile(A, reps):
    x = as_node(A)
    times = tuple(map(whole, listed(reps)))
    rank = max(x.ndim, len(times))
    shape = (1,) * (rank - x.ndim) + x.shape
    times = (1,) * (rank - len(times)) + times
    paired = tuple(d for pair in zip((1,) * rank, shape, strict=True) for d in pair)
    wide = tuple(d for pair in zip(times, shape, strict=True) for d in pair)
    tiled = tuple(t * d for t, d in zip(times, shape, strict=True))
    return Tracer(reshape(expand(reshape(x, paired), wide), tiled))


@implements(
    np.take, cases=[Case((5,), Given([0, 2, 2])), Case((2, 3), Given([[0, -1]]), axis=1), Case((2, 3), Given(1))]
)
def _take(a, indices, axis=None, mode="raise"):
    node, k = along(as_node(a), axis)
    x = Tracer(node)
    index = (slice(None),) * k
    if not isinstance(indices, Tracer):
        indices = np.asarray(indices)
        indices = indices.astype(np.intp) if indices.dtype == bool else indices  # numbers here, no mask
    return x[(*index, within(indices, node.shape[k], mode))]


def within(indices: Any, length: Any, mode: str) -> Any:
    """Indices along an axis as ``mode`` has them; what is outside of it is left for the indexing to refuse."""
    if mode not in ("raise", "wrap", "clip"):
        raise ArgumentError.here(f"mode={mode!r}: it is 'raise', 'wrap' or 'clip'")
    if mode == "raise":
        return indices
    return np.remainder(indices, length) if mode == "wrap" else np.clip(indices, 0, length - 1)


@implements(
    np.choose,
    cases=[
        Case(Given(np.array([1, 0, 1])), [(3,), (2, 3)]),
        Case(Given(np.array([[0], [2]])), (3, 2), mode="wrap"),
        Case(Given(np.array([-1, 0, 4])), [(3,), ()], mode="clip"),
    ],
)
def _choose(a, choices, mode="raise"):
    parts = list(choices)
    if mode == "raise" and not isinstance(a, Tracer) and np.any((np.asarray(a) < 0) | (np.asarray(a) >= len(parts))):
        raise ArgumentError.here(f"np.choose: an index is not within the {len(parts)} choices")
    index, *rows = np.broadcast_arrays(traced(within(a, len(parts), mode)), *parts)
    return _take_along_axis(np.stack(rows), index[None], 0)[0]


@implements(np.take_along_axis, cases=[Case((2, 3), Given(np.array([[0, 2], [1, 1]])), axis=1)])
def _take_along_axis(arr, indices, axis=-1):
    x = Tracer(as_node(arr))
    if axis is None:
        x, axis = x.ravel(), 0
    k = normalized_axis(axis, x.ndim)
    if np.ndim(indices) != x.ndim:
        raise ShapeError.here(f"np.take_along_axis: the indices must have {x.ndim} dimensions, as the array")
    index = [
        indices if j == k else counted(d).reshape((-1,) + (1,) * (x.ndim - j - 1))
        for j, d in enumerate(x._symgrad_node.shape)
    ]
    return x[tuple(index)]


@implements(np.sort, cases=[Case((5,)), Case((2, 3), axis=0), Case((2, 3), axis=None)])
def _sort(a, axis=-1, kind=None, order=None, stable=None):
    x = Tracer(as_node(a))
    if axis is None:
        x, axis = x.ravel(), 0
    return _take_along_axis(x, np.argsort(x, axis=axis), axis)


@implements(
    np.partition, cases=[Case((5,), Given(range(5))), Case((2, 3), Given([0, 1, 2])), Case((2,), Given(0), axis=None)]
)
def _partition(a, kth, axis=-1, kind="introselect", order=None):
    """Sorted: what stands beside the ``kth`` is in an order that NumPy leaves open."""
    return _sort(a, axis)


@implements(np.argpartition, cases=[Case((5,), Given(range(5))), Case((3, 2), Given([0, 1, 2]), axis=0)])
def _argpartition(a, kth, axis=-1, kind="introselect", order=None):
    return np.argsort(traced(a), axis)


@implements(np.lexsort, cases=[Case([(4,), (4,)]), Case((2, 3)), Case([(2, 3), (2, 3)], axis=0)])
def _lexsort(keys, axis=-1):
    order: Any = None
    if not len(keys):
        raise ArgumentTypeError.here("np.lexsort takes one key or more")
    for key in keys:
        x = traced(key)
        found = np.argsort(x if order is None else _take_along_axis(x, order, axis), axis)
        order = found if order is None else _take_along_axis(order, found, axis)
    return order


@implements(np.compress, cases=[Case(Given([1, 0, 1]), (3,)), Case(Given([False, True]), (2, 3), axis=1)])
def _compress(condition, a, axis=None):
    x, k = along(as_node(a), axis)
    mask = traced(condition) != 0
    (short,), (length,) = mask.shape, concrete((x.shape[k],), "np.compress")
    if short < length:
        mask = np.concatenate([mask, np.zeros(length - short, bool)])
    return Tracer(x)[(*(slice(None),) * k, mask)]


@implements(np.diagonal, cases=[Case((3, 3)), Case((2, 4)), Case((3, 4), offset=-1), Case((2, 3, 3), axis1=1, axis2=2)])
def _diagonal(a, offset=0, axis1=0, axis2=1):
    x, offset = as_node(a), operator.index(offset)
    i, j = normalized_axis(axis1, x.ndim), normalized_axis(axis2, x.ndim)
    rows, columns = x.shape[i], x.shape[j]
    if rows == columns and not is_concrete((rows,)):
        length = normal(rows - abs(offset))
        length = length if running().assumes(length, "nonnegative") else 0
    else:
        concrete((rows, columns), f"a diagonal of a matrix of {rows} by {columns}")
        length = max(min(rows - max(-offset, 0), columns - max(offset, 0)), 0)
    spec = list(full(x.shape))
    spec[i], spec[j] = (max(-offset, 0), length, 1), (max(offset, 0), length, 1)
    labels = tuple(k if k != j else i for k in range(x.ndim))
    rest = tuple(k for k in range(x.ndim) if k not in (i, j))

    def along(base: Node) -> Node:
        square = take_slice(base, tuple(spec))
        return contract([square], [labels], (*rest, i), square.shape)

    return view(a, along)


@implements(np.diag, cases=[Case((3,)), Case((3, 3)), Case((3,), k=1), Case((3, 4), k=-1)])
def _diag(v, k=0):
    x, k = as_node(v), operator.index(k)
    if x.ndim == 2:
        return _diagonal(v, k)
    if x.ndim != 1:
        raise ShapeError.here("np.diag takes an array of one or two dimensions")
    square = contract([x], [(0,)], (0, 0), x.shape)
    if k == 0:
        return Tracer(square)
    n = x.shape[0]
    start = (max(-k, 0), n, 1), (max(k, 0), n, 1)
    return Tracer(assemble([square], (n + abs(k), n + abs(k)), [start]))


@implements(np.tril, cases=[Case((3, 4)), Case((3, 3), k=-1)])
def _tril(m, k=0):
    x = as_node(m)
    return Tracer(f.where(_lower(x, k, "np.tril"), x, _zero(x)))


@implements(np.triu, cases=[Case((3, 4)), Case((3, 3), k=1)])
def _triu(m, k=0):
    x = as_node(m)
    return Tracer(f.where(_lower(x, k - 1, "np.triu"), _zero(x), x))


def _lower(x: Node, k: int, name: str) -> Node:
    """Where a matrix is on or below its ``k``-th diagonal."""
    if not x.ndim:
        raise ShapeError.here(f"{name} takes an array of at least one dimension")
    return running().constant(np.tri(*concrete(x.shape[-2:], name), k=k, dtype=bool))


def _zero(x: Node) -> Node:
    return running().constant(np.zeros((), x.dtype))
