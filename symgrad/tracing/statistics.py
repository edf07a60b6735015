"""NumPy's averages on traced values: weighted, of the elements that are no NaN, and the median."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DtypeError, ShapeError, UnsupportedOperation
from ..primitives import functions as f
from ..program.dims import is_concrete, size
from ..program.node import Node
from .declare import Case, Given, implements
from .dispatch import FUNCTIONS
from .reductions import normalized_axes, normalized_axis, quotient
from .sizes import concrete
from .trace import as_node, running
from .tracer import Tracer

_NAN = np.array([[1.0, np.nan, 3.0], [np.nan, 0.5, 2.0]])


def with_nan(x):
    """An array some of whose elements are NaN."""
    return (x + _NAN.astype(x.dtype),)


_AXES = [Case((2, 3)), Case((2, 3), axis=0), Case((2, 3), axis=(0, 1), keepdims=True)]
_SOME_NAN = [*_AXES[:1], *[Case((2, 3), of=with_nan, **c.kwargs) for c in _AXES]]


@implements(
    np.average,
    cases=[
        *_AXES,
        Case((2, 3), axis=1, weights=np.array([1.0, 2.0, 0.5])),
        Case((2, 3), Given(0), (2,), domain=(0.5, 3.0)),
        Case((2, 3), Given(None), (2, 3), Given(True), domain=(0.5, 3.0)),
        Case((2, 3), Given(1), (2, 3), Given(True), domain=(0.5, 3.0), keepdims=True),
        Case((2, 3, 2), Given((2, 0)), (2, 2), Given(True), domain=(0.5, 3.0)),
    ],
)
def _average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    x = Tracer(as_node(a))
    total: Any = None
    if weights is None:
        average: Any = np.mean(x, axis=axis, keepdims=keepdims)
        if average.size == 0:
            raise ShapeError.here(f"np.average over axis {axis} of shape {as_node(x).shape} has no elements")
        total = np.full_like(average, x.size / average.size)
    else:
        w = _aligned_weights(Tracer(as_node(weights)), x, axis)
        kind = np.result_type(x.dtype, w.dtype, *([] if x.dtype.kind in "fc" else ["f8"]))
        total = np.sum(w, axis=axis, dtype=kind, keepdims=keepdims)
        average = np.sum(x.astype(kind) * w.astype(kind), axis=axis, keepdims=keepdims) / total
    return (average, np.broadcast_to(total, average.shape)) if returned else average


def _aligned_weights(w: Tracer, x: Tracer, axis: Any) -> Tracer:
    """Weights over ``axis`` as an array that broadcasts over ``x``."""
    own, wide = as_node(w).shape, as_node(x).shape
    if own == wide:
        return w
    given = () if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = [normalized_axis(k, x.ndim) for k in given]
    if own != tuple(wide[k] for k in axes) or not axes:
        raise ShapeError.here(f"np.average: weights of shape {own} do not fit axis {axis} of an array of shape {wide}")
    turned = w.transpose(np.argsort(axes).tolist())
    return turned.reshape([d if k in axes else 1 for k, d in enumerate(x.shape)])


def _without_nan(x: Node) -> Node:
    """``x`` with zeros for NaN."""
    return f.where(f.isnan(x), running().constant(np.zeros((), x.dtype)), x)


@implements(np.nanmax, cases=_SOME_NAN)
def _nanmax(a, axis=None, keepdims=False, initial=None, where=True):
    return np.fmax.reduce(Tracer(as_node(a)), axis=axis, keepdims=keepdims, initial=initial, where=where)


@implements(np.nanmin, cases=_SOME_NAN)
def _nanmin(a, axis=None, keepdims=False, initial=None, where=True):
    return np.fmin.reduce(Tracer(as_node(a)), axis=axis, keepdims=keepdims, initial=initial, where=where)


@implements(np.nanmean, cases=_SOME_NAN)
def _nanmean(a, axis=None, dtype=None, keepdims=False):
    x = as_node(a)
    if not x.differentiable:
        return np.mean(Tracer(x), axis=axis, dtype=dtype, keepdims=keepdims)
    there = Tracer(f.logical_not(f.isnan(x)))
    total = np.sum(Tracer(_without_nan(x)), axis=axis, dtype=dtype, keepdims=keepdims)
    count = np.sum(there, axis=axis, keepdims=keepdims)
    return Tracer(quotient(as_node(total), as_node(count)))


@implements(
    np.median,
    cases=[
        Case((5,)),
        Case((4,)),
        Case((2, 3)),
        Case((3, 4), axis=1),
        Case((3, 4), axis=0, keepdims=True),
        Case((2, 3, 2), axis=(0, 2)),
    ],
)
def _median(a, axis=None, overwrite_input=False, keepdims=False):
    x = Tracer(as_node(a))
    axes = normalized_axes(axis, x.ndim)
    rest = [k for k in range(x.ndim) if k not in axes]
    count = size(tuple(x.shape[k] for k in axes))
    if not is_concrete((count,)):
        raise UnsupportedOperation.here(f"np.median over {axis} of shape {x.shape} has no middle to find.")
    flat = x.transpose([*rest, *axes]).reshape((*[x.shape[k] for k in rest], count))
    ordered = FUNCTIONS[np.sort](flat, axis=-1) if count else flat
    if count and x.dtype != np.float16:  # whose means NumPy adds up in more digits
        ordered = ordered if x.dtype.kind in "fc" else ordered.astype(float)
        lower, upper = ordered[..., (count - 1) // 2] + 0.0, ordered[..., count // 2]  # a sum of -0.0 is 0.0
        middle: Any = lower if count % 2 else (lower + upper) / 2
    else:
        middle = np.mean(ordered[..., max(count - 1, 0) // 2 : count // 2 + 1], axis=-1)
    if x.dtype.kind == "f" and count:  # NaN comes last
        last = ordered[..., -1]
        middle = np.where(np.isnan(last), last, middle)
    return middle.reshape([1 if k in axes else d for k, d in enumerate(x.shape)]) if keepdims else middle


@implements(
    np.nanmedian,
    cases=[*_SOME_NAN, Case((4,)), Case((5, 2), axis=0), Case((2, 3), axis=-1, keepdims=True, of=with_nan)],
)
def _nanmedian(a, axis=None, overwrite_input=False, keepdims=False):
    x = Tracer(as_node(a))
    if x.dtype.kind == "c":
        raise DtypeError.here("np.nanmedian of complex numbers has no rule; take it of their parts.")
    if x.dtype.kind != "f":
        return _median(x, axis, keepdims=keepdims)
    axes = normalized_axes(axis, x.ndim)
    rest = [k for k in range(x.ndim) if k not in axes]
    count = size(concrete(tuple(as_node(x).shape[k] for k in axes), "np.nanmedian"))
    if not count:
        return np.mean(x, axis=axis, keepdims=keepdims)  # NaN
    flat = x.transpose([*rest, *axes]).reshape((*[x.shape[k] for k in rest], count))
    ordered = FUNCTIONS[np.sort](flat, axis=-1)  # NaN comes last
    count = np.sum(~np.isnan(flat), axis=-1, keepdims=True)
    two = [np.take_along_axis(ordered, np.maximum(k, 0) // 2, -1) for k in (count - 1, count)]
    middle = np.mean(np.concatenate(two, -1), axis=-1)
    return middle.reshape([1 if k in axes else d for k, d in enumerate(x.shape)]) if keepdims else middle
