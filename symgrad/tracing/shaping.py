"""NumPy's shaping, joining and selecting on traced values."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ..errors import ShapeError, UnsupportedOperation, at_user_line
from ..primitives import functions as f
from ..primitives.contraction import contract, expand, transpose
from ..primitives.primitive import dim_value, literal
from ..primitives.selection import assemble, concatenate, full, gather, take_slice
from ..primitives.shaping import reshape
from ..program.dims import broadcast, is_concrete, size
from ..program.node import Node
from .declare import Case, Given, implements
from .reductions import normalized_axes, normalized_axis
from .trace import as_node, running
from .tracer import Tracer


@implements(np.transpose, np.permute_dims, cases=[Case((2, 3)), Case((2, 3, 4), axes=(2, 0, 1)), Case((3,))])
def _transpose(a, axes=None):
    x = as_node(a)
    order = tuple(range(x.ndim))[::-1] if axes is None else tuple(normalized_axis(k, x.ndim) for k in axes)
    if sorted(order) != list(range(x.ndim)):
        raise ShapeError(at_user_line(f"axes {axes} do not name each axis of an array of shape {x.shape} once"))
    return Tracer(transpose(x, order))


@implements(np.swapaxes, cases=[Case((2, 3, 4), Given(0), Given(-1))])
def _swapaxes(a, axis1, axis2):
    x = as_node(a)
    order = list(range(x.ndim))
    i, j = normalized_axis(axis1, x.ndim), normalized_axis(axis2, x.ndim)
    order[i], order[j] = order[j], order[i]
    return Tracer(transpose(x, order))


@implements(np.matrix_transpose, cases=[Case((2, 3, 4))])
def _matrix_transpose(a):
    return _swapaxes(a, -1, -2)


@implements(np.moveaxis, cases=[Case((2, 3, 4), Given(0), Given(-1)), Case((2, 3, 4), Given([0, 1]), Given([-1, 0]))])
def _moveaxis(a, source, destination):
    x = as_node(a)
    sources = [normalized_axis(k, x.ndim) for k in ([source] if isinstance(source, int) else source)]
    targets = [normalized_axis(k, x.ndim) for k in ([destination] if isinstance(destination, int) else destination)]
    order = [k for k in range(x.ndim) if k not in sources]
    for target, source_axis in sorted(zip(targets, sources, strict=True)):
        order.insert(target, source_axis)
    return Tracer(transpose(x, order))


def resolved_shape(x: Node, shape: Any) -> tuple:
    """A shape argument with its -1 filled in, checked against the number of elements."""
    wanted = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    wanted = tuple(int(d) if isinstance(d, (np.integer, Tracer)) else d for d in wanted)
    if -1 in wanted:
        k = wanted.index(-1)
        rest = size(wanted[:k] + wanted[k + 1 :])
        total = size(x.shape)
        if is_concrete(x.shape) and (rest == 0 or total % rest):
            raise ShapeError(at_user_line(f"cannot reshape an array of shape {x.shape} into {wanted}"))
        wanted = (*wanted[:k], total // rest if is_concrete(x.shape) else total / rest, *wanted[k + 1 :])
    if size(wanted) != size(x.shape):
        raise ShapeError(at_user_line(f"cannot reshape an array of shape {x.shape} into {wanted}"))
    return wanted


@implements(
    np.reshape, cases=[Case((2, 6), Given((3, 4))), Case((2, 3), Given(-1)), Case((4,), Given((2, -1)), order="F")]
)
def _reshape(a, shape=None, order="C", newshape=None, copy=None):
    x = as_node(a)
    wanted = resolved_shape(x, shape if shape is not None else newshape)
    if order == "F":
        backwards = reshape(_transpose(Tracer(x))._symgrad_node, wanted[::-1])
        return _transpose(Tracer(backwards))
    if order not in ("C", "A"):
        raise UnsupportedOperation(at_user_line(f"reshape with order={order!r} is not supported."))
    return Tracer(reshape(x, wanted))


@implements(np.ravel, cases=[Case((2, 3)), Case(()), Case((2, 3), order="F")])
def _ravel(a, order="C"):
    return _reshape(a, (-1,) if size(as_node(a).shape) != 0 else (0,), "F" if order == "F" else "C")


@implements(np.squeeze, cases=[Case((1, 3, 1)), Case((1, 3, 1), axis=0), Case((1, 1))])
def _squeeze(a, axis=None):
    x = as_node(a)
    if axis is None:
        axes = tuple(k for k, d in enumerate(x.shape) if d == 1)
    else:
        axes = normalized_axes(axis, x.ndim)
        if any(x.shape[k] != 1 for k in axes):
            raise ShapeError(at_user_line(f"cannot squeeze axis {axis} of shape {x.shape}: its size is not 1"))
    return Tracer(reshape(x, tuple(d for k, d in enumerate(x.shape) if k not in axes)))


@implements(np.expand_dims, cases=[Case((3,), Given(0)), Case((2, 3), Given((0, -1)))])
def _expand_dims(a, axis):
    x = as_node(a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    axes = normalized_axes(axis, x.ndim + count)
    dims = iter(x.shape)
    return Tracer(reshape(x, tuple(1 if k in axes else next(dims) for k in range(x.ndim + count))))


@implements(np.atleast_1d, cases=[Case(()), Case((3,))])
def _atleast_1d(*arrays):
    return _each_at_least(1, arrays)


@implements(np.atleast_2d, cases=[Case(()), Case((3,))])
def _atleast_2d(*arrays):
    return _each_at_least(2, arrays)


def _each_at_least(rank: int, arrays: tuple) -> Any:
    nodes = [as_node(a) for a in arrays]
    made = tuple(Tracer(reshape(x, (1,) * (rank - x.ndim) + x.shape)) for x in nodes)
    return made[0] if len(made) == 1 else made


@implements(np.broadcast_to, cases=[Case((3,), Given((2, 3))), Case((2, 1), Given((4, 2, 3))), Case((), Given((2,)))])
def _broadcast_to(a, shape, subok=False):
    x = as_node(a)
    wanted = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if broadcast(x.shape, wanted) != wanted:
        raise ShapeError(at_user_line(f"cannot broadcast an array of shape {x.shape} to {wanted}"))
    return Tracer(expand(x, wanted))


@implements(np.broadcast_arrays, cases=[Case((2, 1), (3,)), Case((), (2,), (2,))])
def _broadcast_arrays(*arrays, subok=False):
    nodes = [as_node(a) for a in arrays]
    shape = broadcast(*[n.shape for n in nodes])
    return tuple(Tracer(expand(n, shape)) for n in nodes)


def _nodes(arrays: Any) -> list[Node]:
    if isinstance(arrays, Tracer):
        arrays = list(arrays)
    nodes = [as_node(a) for a in arrays]
    if not nodes:
        raise ShapeError(at_user_line("need at least one array to join"))
    dtype = np.result_type(*[n.dtype for n in nodes])
    return [_array(n, dtype) for n in nodes]


def _array(n: Node, dtype: np.dtype) -> Node:
    if n.is_literal:
        return running().constant(np.asarray(n.params[0], dtype))
    return f.cast(n, dtype)


def _joined(nodes: list[Node], axis: int) -> Tracer:
    shape = nodes[0].shape
    for n in nodes[1:]:
        if n.ndim != len(shape) or any(
            d != e for k, (d, e) in enumerate(zip(n.shape, shape, strict=True)) if k != axis
        ):
            raise ShapeError(at_user_line(f"cannot concatenate shapes {[m.shape for m in nodes]} along axis {axis}"))
    return Tracer(concatenate(nodes, axis))


@implements(
    np.concatenate,
    cases=[Case([(2, 3), (1, 3)]), Case([(2, 3), (2, 1)], axis=1), Case([(2,), (0,)]), Case([(2, 2), (3,)], axis=None)],
)
def _concatenate(arrays, axis=0, dtype=None, casting=None):
    nodes = _nodes(arrays)
    if axis is None:
        nodes, axis = [reshape(n, (size(n.shape),)) for n in nodes], 0
    joined = _joined(nodes, normalized_axis(axis, nodes[0].ndim))
    return joined if dtype is None else joined.astype(dtype)


@implements(np.stack, cases=[Case([(3,), (3,)]), Case([(2, 3), (2, 3)], axis=-1), Case([(), (), ()])])
def _stack(arrays, axis=0, dtype=None, casting=None):
    nodes = _nodes(arrays)
    if any(n.shape != nodes[0].shape for n in nodes):
        raise ShapeError(at_user_line(f"all arrays must have one shape to be stacked, got {[n.shape for n in nodes]}"))
    k = normalized_axis(axis, nodes[0].ndim + 1)
    return _joined([reshape(n, (*n.shape[:k], 1, *n.shape[k:])) for n in nodes], k)


@implements(np.vstack, cases=[Case([(3,), (2, 3)])])
def _vstack(tup, dtype=None, casting=None):
    return _joined([_each_at_least(2, (Tracer(n),))._symgrad_node for n in _nodes(tup)], 0)


@implements(np.hstack, cases=[Case([(3,), (2,)]), Case([(2, 3), (2, 1)]), Case([(3,), Given(1.5), ()])])
def _hstack(tup, dtype=None, casting=None):
    nodes = [_each_at_least(1, (Tracer(n),))._symgrad_node for n in _nodes(tup)]
    return _joined(nodes, 0 if nodes[0].ndim == 1 else 1)


@implements(np.column_stack, cases=[Case([(3,), (3, 2)])])
def _column_stack(tup):
    return _joined([reshape(n, (n.shape[0], 1)) if n.ndim == 1 else n for n in _nodes(tup)], 1)


def _pieces(x: Node, sections: Any, axis: int) -> list[Tracer]:
    k = normalized_axis(axis, x.ndim)
    n = x.shape[k]
    if isinstance(sections, (int, np.integer)):
        each, extra = divmod(n, int(sections))
        bounds = np.cumsum([0] + [each + 1] * extra + [each] * (int(sections) - extra)).tolist()
    else:
        cuts = [slice(None, int(c)).indices(n)[1] for c in sections]
        bounds = [0, *cuts, n]
    spec = list(full(x.shape))
    made = []
    for start, stop in itertools.pairwise(bounds):
        spec[k] = (start, max(stop - start, 0), 1)
        made.append(Tracer(take_slice(x, tuple(spec))))
    return made


@implements(np.split, cases=[Case((6, 2), Given(3)), Case((5,), Given([1, 3])), Case((2, 4), Given(2), axis=1)])
def _split(ary, indices_or_sections, axis=0):
    x = as_node(ary)
    if isinstance(indices_or_sections, int) and x.shape[axis] % indices_or_sections:
        raise ShapeError(at_user_line("array split does not result in an equal division; use np.array_split"))
    return _pieces(x, indices_or_sections, axis)


@implements(np.array_split, cases=[Case((7, 2), Given(3))])
def _array_split(ary, indices_or_sections, axis=0):
    return _pieces(as_node(ary), indices_or_sections, axis)


def _taken(x: Node, index: np.ndarray, axis: int) -> Node:
    return gather(x, running().constant(np.asarray(index, dtype=np.intp)), axis)


@implements(np.flip, cases=[Case((3, 4)), Case((3, 4), axis=1)])
def _flip(m, axis=None):
    x = as_node(m)
    axes = normalized_axes(axis, x.ndim)
    return Tracer(
        take_slice(x, tuple((d - 1, d, -1) if k in axes and d != 0 else (0, d, 1) for k, d in enumerate(x.shape)))
    )


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
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
    for by, k in zip(shifts, axes, strict=True):
        k = normalized_axis(k, x.ndim)
        n = x.shape[k]
        by = int(by) % n if n else 0
        if by:
            tail, head = list(full(x.shape)), list(full(x.shape))
            tail[k], head[k] = (n - by, by, 1), (0, n - by, 1)
            x = concatenate([take_slice(x, tuple(tail)), take_slice(x, tuple(head))], k)
    return Tracer(x)


@implements(np.rot90, cases=[Case((2, 3)), Case((2, 3), k=2), Case((2, 3), k=-1)])
def _rot90(m, k=1, axes=(0, 1)):
    turns = k % 4
    if turns == 0:
        return Tracer(as_node(m))
    if turns == 2:
        return _flip(_flip(m, axes[0]), axes[1])
    return _swapaxes(_flip(m, axes[1]), *axes) if turns == 1 else _flip(_swapaxes(m, *axes), axes[1])


@implements(
    np.pad,
    cases=[
        Case((3,), Given(2)),
        Case((2, 3), Given(((1, 0), (0, 2))), constant_values=4.0),
        Case((2, 3), Given(1), mode="edge"),
        Case((4,), Given((2, 1)), mode="reflect"),
        Case((4,), Given((2, 1)), mode="wrap"),
        Case((4,), Given((2, 1)), mode="symmetric"),
    ],
)
def _pad(array, pad_width, mode="constant", constant_values=0.0, **kwargs):
    x = as_node(array)
    widths = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2)).tolist()
    if mode == "constant":
        shape = tuple(before + d + after for (before, after), d in zip(widths, x.shape, strict=True))
        spec = tuple((before, d, 1) for (before, _), d in zip(widths, x.shape, strict=True))
        placed = assemble([x], shape, [spec])
        if isinstance(constant_values, (int, float)) and constant_values == 0:
            return Tracer(placed)
        frame = np.pad(np.zeros(x.shape, x.dtype), widths, constant_values=constant_values)
        return Tracer(f.add(placed, running().constant(frame)))
    if mode not in ("edge", "reflect", "wrap", "symmetric") or kwargs:
        raise UnsupportedOperation(at_user_line(f"np.pad with mode={mode!r} is not supported on traced arrays."))
    for k, width in enumerate(widths):
        if any(width):
            x = _taken(x, np.pad(np.arange(x.shape[k]), width, mode=mode), k)
    return Tracer(x)


@implements(
    np.repeat, cases=[Case((3,), Given(2)), Case((2, 3), Given(2), axis=0), Case((2, 3), Given([1, 2]), axis=0)]
)
def _repeat(a, repeats, axis=None):
    x = as_node(a)
    if axis is None:
        x, axis = reshape(x, (size(x.shape),)), 0
    k = normalized_axis(axis, x.ndim)
    return Tracer(_taken(x, np.repeat(np.arange(x.shape[k]), repeats), k))


@implements(
    np.tile, cases=[Case((3,), Given(2)), Case((2, 3), Given((2, 1))), Case((3,), Given((2, 2))), Case((), Given(3))]
)
def _tile(A, reps):
    x = as_node(A)
    times = tuple(reps) if isinstance(reps, (tuple, list)) else (reps,)
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
    x = Tracer(as_node(a))
    if mode != "raise":
        raise UnsupportedOperation(at_user_line(f"np.take with mode={mode!r} is not supported on traced arrays."))
    if axis is None:
        return x.ravel()[indices if not isinstance(indices, (list, tuple)) else np.asarray(indices)]
    index = (slice(None),) * normalized_axis(axis, x.ndim)
    return x[(*index, np.asarray(indices) if isinstance(indices, (list, tuple)) else indices)]


@implements(np.take_along_axis, cases=[Case((2, 3), Given(np.array([[0, 2], [1, 1]])), axis=1)])
def _take_along_axis(arr, indices, axis=-1):
    x = Tracer(as_node(arr))
    if axis is None:
        x, axis = x.ravel(), 0
    k = normalized_axis(axis, x.ndim)
    index = [np.arange(d).reshape((-1,) + (1,) * (x.ndim - j - 1)) for j, d in enumerate(x.shape)]
    return x[(*index[:k], indices, *index[k + 1 :])]


@implements(np.sort, cases=[Case((5,)), Case((2, 3), axis=0), Case((2, 3), axis=None)])
def _sort(a, axis=-1, kind=None, order=None, stable=None):
    x = Tracer(as_node(a))
    if axis is None:
        x, axis = x.ravel(), 0
    return _take_along_axis(x, np.argsort(x, axis=axis), axis)


@implements(np.diagonal, cases=[Case((3, 3)), Case((2, 4)), Case((3, 4), offset=-1), Case((2, 3, 3), axis1=1, axis2=2)])
def _diagonal(a, offset=0, axis1=0, axis2=1):
    x = as_node(a)
    i, j = normalized_axis(axis1, x.ndim), normalized_axis(axis2, x.ndim)
    rows, columns = x.shape[i], x.shape[j]
    if is_concrete((rows, columns)):
        skip_i, skip_j = max(-offset, 0), max(offset, 0)
        length = max(min(rows - skip_i, columns - skip_j), 0)
        spec = list(full(x.shape))
        spec[i], spec[j] = (skip_i, length, 1), (skip_j, length, 1)
        x = take_slice(x, tuple(spec))
    elif rows != columns or offset:
        raise ShapeError(at_user_line(f"a diagonal over the named dims {rows} and {columns} needs them equal"))
    labels = [k if k != j else i for k in range(x.ndim)]
    rest = tuple(k for k in range(x.ndim) if k not in (i, j))
    return Tracer(contract([x], [tuple(labels)], (*rest, i), x.shape))


@implements(np.diag, cases=[Case((3,)), Case((3, 3)), Case((3,), k=1), Case((3, 4), k=-1)])
def _diag(v, k=0):
    x = as_node(v)
    if x.ndim == 2:
        return _diagonal(v, k)
    if x.ndim != 1:
        raise ShapeError(at_user_line("np.diag takes an array of one or two dimensions"))
    square = contract([x], [(0,)], (0, 0), x.shape)
    if k == 0:
        return Tracer(square)
    n = x.shape[0]
    start = (max(-k, 0), n, 1), (max(k, 0), n, 1)
    return Tracer(assemble([square], (n + abs(k), n + abs(k)), [start]))


@implements(np.tril, cases=[Case((3, 4)), Case((3, 3), k=-1)])
def _tril(m, k=0):
    x = as_node(m)
    return Tracer(f.where(running().constant(np.tri(*x.shape[-2:], k=k, dtype=bool)), x, _zero(x)))


@implements(np.triu, cases=[Case((3, 4)), Case((3, 3), k=1)])
def _triu(m, k=0):
    x = as_node(m)
    return Tracer(f.where(running().constant(np.tri(*x.shape[-2:], k=k - 1, dtype=bool)), _zero(x), x))


def _zero(x: Node) -> Node:
    return running().constant(np.zeros((), x.dtype))


@implements(np.where, cases=[Case(Given(np.array([True, False, True])), (3,), (2, 3)), Case(Given(True), (3,), ())])
def _where(condition, *branches):
    if len(branches) != 2:
        raise UnsupportedOperation(at_user_line("np.where(condition) alone has a shape that depends on values."))
    return Tracer(f.where(f.condition(as_node(condition)), *map(as_node, branches)))


@implements(
    np.clip,
    cases=[Case((3, 4), Given(-1.0), Given(1.0)), Case((3,), Given(0.0), Given(None)), Case((3,), (3,), Given(None))],
)
def _clip(a, a_min=None, a_max=None, min=None, max=None):
    lower = a_min if a_min is not None else min
    upper = a_max if a_max is not None else max
    x = as_node(a)
    if lower is not None:
        x = f.maximum(x, as_node(lower))
    return Tracer(x if upper is None else f.minimum(x, as_node(upper)))


@implements(np.round, np.around, cases=[Case((3,))])
def _round(a, decimals=0):
    x = as_node(a)
    if decimals:
        factor = literal(10.0**decimals)
        return Tracer(f.divide(f.rint(f.multiply(x, factor)), factor))
    return Tracer(f.rint(x))


@implements(np.sinc, cases=[Case((3,)), Case(())])
def _sinc(x):
    node = as_node(x)
    y = f.multiply(math.pi, f.where(f.equal(node, 0), 1e-20, node))
    return Tracer(f.divide(f.sin(y), y))


def _filled(x: Node, value: Any, dtype: Any, shape: Any) -> Tracer:
    wanted = x.shape if shape is None else tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    kind = np.dtype(x.dtype if dtype is None else dtype)
    if is_concrete(wanted):
        return Tracer(running().constant(np.full(wanted, value, kind)))
    return Tracer(expand(f.cast(dim_value(1), kind), wanted)) * value


_LIKE = [Case((2, 3)), Case((), shape=(2,)), Case((3,), dtype=np.float32)]


@implements(np.zeros_like, cases=_LIKE)
@implements(np.empty_like, cases=[Case((0, 3))])
def _zeros_like(a, dtype=None, order="K", subok=True, shape=None, device=None):
    return _filled(as_node(a), 0, dtype, shape)


@implements(np.ones_like, cases=_LIKE)
def _ones_like(a, dtype=None, order="K", subok=True, shape=None, device=None):
    return _filled(as_node(a), 1, dtype, shape)


@implements(np.full_like, cases=[Case((2, 3), Given(2.5)), Case((2,), ()), Case((), Given(2), shape=(3,))])
def _full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, device=None):
    if isinstance(fill_value, Tracer):
        return _broadcast_to(fill_value, as_node(a).shape if shape is None else shape)
    return _filled(as_node(a), fill_value, dtype, shape)


@implements(np.shape, cases=[Case((2, 3))])
def _shape(a):
    return as_node(a).shape


@implements(np.ndim, cases=[Case((2, 3))])
def _ndim(a):
    return as_node(a).ndim


@implements(np.size, cases=[Case((2, 3)), Case((2, 3), axis=1)])
def _size(a, axis=None):
    x = as_node(a)
    return size(x.shape) if axis is None else x.shape[axis]


@implements(np.copy, cases=[Case((2, 3))])
def _copy(a, order="K", subok=False):
    return Tracer(as_node(a))


@implements(np.real, cases=[Case((2, 3))])
def _real(val):
    return val


@implements(np.isscalar, cases=[Case((2, 3))])
def _isscalar(element):
    return False


@implements(np.result_type, cases=[Case((2, 3))])
def _result_type(*arrays):
    return np.result_type(*[a.dtype if isinstance(a, Tracer) else a for a in arrays])


@implements(np.nan_to_num, cases=[Case((3,))])
def _nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    node = as_node(x)
    limits = np.finfo(node.dtype)
    upper = limits.max if posinf is None else posinf
    lower = limits.min if neginf is None else neginf
    node = f.where(f.isnan(node), float(nan), node)
    node = f.where(f.equal(node, math.inf), float(upper), node)
    return Tracer(f.where(f.equal(node, -math.inf), float(lower), node))


@implements(np.modf, cases=[Case((3,))])
def _modf(x):
    whole = np.trunc(x)
    return x - whole, whole


@implements(np.divmod, cases=[Case((3,), (3,), domain=(0.3, 3.0))])
def _divmod(x1, x2):
    return np.floor_divide(x1, x2), np.remainder(x1, x2)


@implements(np.gradient, cases=[Case((5,)), Case((5,), Given(0.5))])
def _gradient(x, *spacing):
    x = Tracer(as_node(x))
    if x.ndim != 1 or len(spacing) > 1 or (spacing and not isinstance(spacing[0], (int, float))):
        raise UnsupportedOperation(at_user_line("np.gradient is supported for one-dimensional, evenly spaced arrays."))
    h = spacing[0] if spacing else 1.0
    inner = (x[2:] - x[:-2]) / (2.0 * h)
    return np.concatenate([(x[1:2] - x[:1]) / h, inner, (x[-1:] - x[-2:-1]) / h])


@implements(np.diff, cases=[Case((5,)), Case((3, 4), axis=0), Case((5,), n=2)])
def _diff(a, n=1, axis=-1):
    x = Tracer(as_node(a))
    k = normalized_axis(axis, x.ndim)
    lead = (slice(None),) * k
    for _ in range(n):
        x = x[(*lead, slice(1, None))] - x[(*lead, slice(None, -1))]
    return x
