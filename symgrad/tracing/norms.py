"""Norms of traced vectors and matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError, UnsupportedOperation
from ..primitives import functions as f
from ..primitives.contraction import contract
from ..primitives.reduction import MAX, MIN
from .declare import Case, Given, implements
from .dispatch import FUNCTIONS
from .reductions import extremum, normalized_axes, normalized_axis
from .trace import as_node
from .tracer import Tracer

_NORM = [
    Case((4,)),
    Case((2, 3)),
    Case((2, 3), axis=1),
    Case((2, 3), ord="fro"),
    Case((4,), ord=1),
    Case((4,), ord=3),
    Case((4,), ord=np.inf),
    Case((4,), ord=-np.inf),
    Case((4,), ord=0),
    Case((2, 3), ord=1),
    Case((2, 3), ord=np.inf),
    Case((4,), ord=0.5),
    Case((4, 3), ord=-1, axis=0),
    Case((2, 4, 3), ord=1, axis=(2, 0)),
    Case((2, 4, 3), ord=-np.inf, axis=(2, 0), keepdims=True),
    Case((2, 3), Given(2), axis=0, keepdims=True),
    *[Case((2, 3), ord=order) for order in (2, -2, "nuc")],
    Case((2, 4, 3), ord=2, axis=(2, 0), keepdims=True),
]


@implements(np.linalg.norm, cases=_NORM)
def _norm(x, ord=None, axis=None, keepdims=False):
    x = Tracer(as_node(x))
    if x.dtype.kind not in "fc":
        x = x.astype(float)
    rank = x.ndim
    if axis is None and (ord is None or (ord == 2 and rank == 1) or (ord in ("f", "fro") and rank == 2)):
        node, labels = x._symgrad_node, tuple(range(rank))
        if node.is_complex:
            flat = x.ravel()
            squares = f.add(*[as_node(np.dot(part, part)) for part in (flat.real, flat.imag)])
        else:
            squares = contract([node, node], [labels, labels], (), node.shape, "self_dot")
        result = Tracer(f.norm_sqrt(squares))
        return result.reshape((1,) * rank) if keepdims else result
    axes = normalized_axes(axis, rank)
    if len(axes) == 1:
        return _vector_norm(x, 2 if ord is None else ord, axes, keepdims)
    if len(axes) != 2:
        raise ShapeError.here("np.linalg.norm takes one axis or two; ravel the array for the norm of all of it")
    if ord in (None, "f", "fro"):
        return Tracer(f.norm_sqrt(np.sum(_squares(x), axis=axes, keepdims=keepdims)._symgrad_node))
    if ord in (1, -1, np.inf, -np.inf):
        row, column = axes if axis is None else (normalized_axis(k, rank) for k in axis)  # in the order given
        summed, over = (row, column) if abs(ord) == 1 else (column, row)
        sums = np.sum(abs(x), axis=summed, keepdims=True)
        extreme = _largest(sums, over, True) if ord > 0 else extremum(MIN, sums, over, True)
        return extreme if keepdims else extreme.squeeze(axes)
    if ord in (2, -2, "nuc"):
        row, column = (normalized_axis(k, rank) for k in (axes if axis is None else axis))
        values = np.linalg.svdvals(FUNCTIONS[np.moveaxis](x, (row, column), (-2, -1)))
        made = np.sum(values, axis=-1) if ord == "nuc" else values[..., 0 if ord == 2 else -1]
        return np.expand_dims(made, axes) if keepdims else made
    raise ArgumentError.here(f"np.linalg.norm has no order {ord!r} of a matrix.")


def _squares(x: Tracer) -> Tracer:
    """The squares of the absolute values."""
    return (x.conj() * x).real if x.dtype.kind == "c" else x * x


def _largest(x: Tracer, axes: Any, keepdims: bool) -> Tracer:
    """The largest of numbers that are not negative."""
    return extremum(MAX, x, axes, keepdims, of_none=0)


def _vector_norm(x: Tracer, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Tracer:
    if ord == np.inf:
        return _largest(abs(x), axes, keepdims)
    if ord == -np.inf:
        return extremum(MIN, abs(x), axes, keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(x.real.dtype), axis=axes, keepdims=keepdims)
    if ord == 1:
        return np.sum(abs(x), axis=axes, keepdims=keepdims)
    if ord == 2:
        return Tracer(f.norm_sqrt(np.sum(_squares(x), axis=axes, keepdims=keepdims)._symgrad_node))
    if isinstance(ord, (int, float)) and math.isfinite(ord):
        total = np.sum(abs(x) ** ord, axis=axes, keepdims=keepdims)
        root = total ** np.reciprocal(total.dtype.type(ord))
        return FUNCTIONS[np.where](total == 0, 0.0, root) if ord > 0 else root  # where all is 0 the slope is 0
    raise UnsupportedOperation.here(f"np.linalg.norm with ord={ord!r} of a vector has no derivative rule.")
