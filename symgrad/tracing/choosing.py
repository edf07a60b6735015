"""NumPy functions that are composed of elementwise ones: where, clip, round, differences."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..errors import (
    ArgumentTypeError,
    ShapeError,
    UnsupportedArguments,
    UnsupportedOperation,
)
from ..primitives import functions as f
from ..primitives.primitive import literal
from .declare import Case, Given, advise, implements
from .dispatch import refuse
from .python_numbers import operands
from .reductions import normalized_axis
from .trace import array_node, as_node
from .tracer import Tracer, traced


@implements(np.where, cases=[Case(Given(np.array([True, False, True])), (3,), (2, 3)), Case(Given(True), (3,), ())])
def _where(condition, *branches):
    if len(branches) != 2:
        raise UnsupportedOperation.here("np.where(condition) alone has a shape that depends on values.")
    return Tracer(f.where(f.condition(as_node(condition)), *operands(branches)))


@implements(
    np.clip,
    cases=[Case((3, 4), Given(-1.0), Given(1.0)), Case((3,), Given(0.0), Given(None)), Case((3,), (3,), Given(None))],
)
def _clip(a, a_min=None, a_max=None, min=None, max=None):
    lower = a_min if a_min is not None else min
    upper = a_max if a_max is not None else max
    x, *bounds = operands([v for v in (a, lower, upper) if v is not None])
    if lower is not None:
        x = f.maximum(x, bounds[0])
    return Tracer(x if upper is None else f.minimum(x, bounds[-1]))


@implements(np.round, np.around, cases=[Case((3,)), Case((3,), Given(2)), Case((3,), decimals=-1)])
def _round(a, decimals=0):
    x, decimals = as_node(a), operator.index(decimals)
    if decimals and x.dtype.kind == "b":
        raise ArgumentTypeError.here("np.round: truth values have no decimals")
    if not decimals:
        return Tracer(x if x.dtype.kind in "iu" else f.rint(x))
    if x.dtype.kind in "iu" and decimals > 0:
        return Tracer(x)
    if x.is_complex:
        return _round(np.real(Tracer(x)), decimals) + 1j * _round(np.imag(Tracer(x)), decimals)
    away, back = (f.multiply, f.divide) if decimals > 0 else (f.divide, f.multiply)
    factor = literal(10.0 ** abs(decimals))
    return Tracer(f.cast(back(f.rint(away(x, factor)), factor), x.dtype))


@implements(np.nan_to_num, cases=[Case((3,))])
def _nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    node = as_node(x)
    if not copy:
        refuse("np.nan_to_num(x, copy=False) writes into x; write x[...] = np.nan_to_num(x).")
    if node.is_complex:
        parts = [_nan_to_num(part(Tracer(node)), nan=nan, posinf=posinf, neginf=neginf) for part in (np.real, np.imag)]
        return parts[0] + 1j * parts[1]
    if node.dtype.kind != "f":
        return Tracer(node)
    limits = np.finfo(node.dtype)
    upper = float(limits.max) if posinf is None else posinf
    lower = float(limits.min) if neginf is None else neginf
    for found, given in ((f.isnan(node), nan), (f.equal(node, math.inf), upper), (f.equal(node, -math.inf), lower)):
        node = f.where(found, f.cast(as_node(given), node.dtype), node)
    return Tracer(node)


@implements(np.sinc, cases=[Case((3,), domain=(0.4, 3.0)), Case((), domain=(-2.0, -0.5))])
def _sinc(x):
    """Near 0 by its series: there the derivatives of ``sin(y) / y`` are differences of large numbers."""
    y = np.pi * traced(x)
    is_small = np.abs(y) < 1
    square = np.where(is_small, y, 0.0) ** 2
    near: Any = 0.0
    for k in range(_SINC_TERMS, 0, -1):
        near = 1 - square * near / ((2 * k) * (2 * k + 1)) if k < _SINC_TERMS else np.ones_like(square)
    far = np.where(is_small, 1.0, y)
    return np.where(is_small, near, np.sin(far) / far).astype(y.dtype)


@implements(np.modf, cases=[Case((3,))])
def _modf(x):
    node = as_node(x)
    node = f.cast(node, np.modf.resolve_dtypes((node.dtype, None, None))[1])
    rest = f.where(f.isinf(node), f.copysign(literal(0.0), node), f.fmod(node, literal(1.0)))
    return Tracer(rest), Tracer(f.trunc(node))


@implements(np.divmod, cases=[Case((3,), (3,), domain=(0.3, 3.0))])
def _divmod(x1, x2):
    return np.floor_divide(x1, x2), np.remainder(x1, x2)


_SINC_TERMS = 11
_PLACES = np.array([0.0, 0.5, 2.0, 2.25, 3.5])


def _at_places(f, x):
    """Places in their order, near ``_PLACES``."""
    return f, _PLACES + x / 32


@implements(
    np.gradient,
    cases=[
        Case((5,)),
        Case((5,), Given(0.5)),
        Case((3, 4)),
        Case((2, 3, 3), Given(0.5), Given(2.0), axis=(0, -1)),
        Case((3, 2), axis=0),
        Case((5,), (), domain=(0.5, 2.0)),
        Case((5,), Given(_PLACES)),
        Case((2, 5), Given(_PLACES), axis=-1, edge_order=2),
        Case((5,), (5,), of=_at_places),
        Case((4, 3), Given(0.5), axis=0, edge_order=2),
    ],
)
def _gradient(f, *varargs, axis=None):
    x = Tracer(as_node(f))
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = [normalized_axis(k, x.ndim) for k in axes]
    if any(np.ndim(h) for h in varargs):
        raise UnsupportedArguments.here("np.gradient at places that are not evenly spaced has no rule.")
    steps = varargs * len(axes) if len(varargs) == 1 else varargs or (1.0,) * len(axes)
    if len(steps) != len(axes):
        raise ArgumentTypeError.here(f"np.gradient takes one spacing, or one for each of {len(axes)} axes")
    if x.dtype.kind in "iu":
        x = x.astype(float)
    made = [_differences(x, k, h).astype(x.dtype) for k, h in zip(axes, steps, strict=True)]
    return made[0] if len(made) == 1 else tuple(made)


def _differences(x: Tracer, k: int, h: float) -> Any:
    """Central differences along axis ``k``, one-sided at its ends."""
    if x._symgrad_node.shape[k] in (0, 1):
        raise ShapeError.here("np.gradient needs at least two elements along an axis")
    lead = (slice(None),) * k

    def at(start: int | None, stop: int | None) -> Tracer:
        return x[(*lead, slice(start, stop))]

    inner = (at(2, None) - at(None, -2)) / (2.0 * h)
    return np.concatenate([(at(1, 2) - at(0, 1)) / h, inner, (at(-1, None) - at(-2, -1)) / h], axis=k)


@implements(
    np.ediff1d,
    cases=[
        Case((4,)),
        Case((2, 3)),
        Case((3,), to_begin=1.5, to_end=np.array([2.0, 3.0])),
        Case((3,), (2,)),
        Case((0,)),
    ],
)
def _ediff1d(ary, to_end=None, to_begin=None):
    x = traced(ary).ravel()
    ends = [None if v is None else Tracer(array_node(v)).ravel() for v in (to_begin, to_end)]
    if not all(np.can_cast(v.dtype, x.dtype, "same_kind") for v in ends if v is not None):
        raise ArgumentTypeError.here(f"np.ediff1d: the ends cannot be of the dtype {x.dtype} of the array")
    parts = [ends[0], x[1:] - x[:-1], ends[1]]
    return np.concatenate([p.astype(x.dtype) for p in parts if p is not None])


@implements(np.isclose, cases=[Case((3,), (3,)), Case((2, 3), Given(1.0), rtol=0.5), Case((2,), (2,), equal_nan=True)])
def _isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    x, y = Tracer(as_node(a)), Tracer(as_node(b))
    y = y.astype(np.result_type(y.dtype, 1.0))
    near = (abs(x - y) <= atol + rtol * abs(y)) & np.isfinite(y) | (x == y)
    return near | (np.isnan(x) & np.isnan(y)) if equal_nan else near


# NumPy's code takes the absolute value, whose slope at 0 would hide every even derivative there
advise(np.i0, "Take scipy.special.i0, whose derivatives are right at 0 too")
