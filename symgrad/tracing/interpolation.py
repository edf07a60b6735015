"""NumPy's interpolation and quadrature on traced values: interp, polyval, trapezoid, searchsorted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import ShapeError, UnsupportedArguments
from ..primitives.reduction import SEARCHSORTED
from ..primitives.selection import gather
from ..program.node import emit
from .declare import Case, Given, implements
from .trace import as_node
from .tracer import Tracer, traced

_KNOTS = np.array([-2.5, -1.0, 0.25, 2.0])
_ANGLES = np.array([10.0, 350.0, 100.0, 200.0])
#: coefficients of a polynomial that is computed step by step, as NumPy does
_MAX_STEPS = 256


@implements(
    np.searchsorted,
    cases=[
        Case(Given(_KNOTS), (2, 3)),
        Case(Given(_KNOTS), (4,), side="right"),
        Case(Given(_KNOTS), ()),
        Case(Given(_KNOTS[::-1].copy()), (4,), sorter=[3, 2, 1, 0]),
    ],
)
def _searchsorted(a, v, side="left", sorter=None):
    ordered = a if sorter is None else traced(a)[np.asarray(sorter)]
    knots, values = as_node(ordered), as_node(v)
    if knots.ndim != 1:
        raise ShapeError.here(f"np.searchsorted looks into vectors, not into an array of shape {knots.shape}")
    return Tracer(emit(SEARCHSORTED, (knots, values), (side,)))


def _with_knots(x, xp, fp):
    """Knots in their order, near ``_KNOTS``."""
    return x, _KNOTS + xp / 8, fp


@implements(
    np.interp,
    cases=[
        Case((5,), Given(_KNOTS), (4,)),
        Case((2, 3), Given(_KNOTS), (4,), left=-1.0, right=5.0),
        Case((), Given(_KNOTS), Given([0.0, 2.0, 1.0, 3.0])),
        Case((4,), Given(_ANGLES), (4,), period=360, domain=(-300.0, 700.0)),
        Case((3,), Given([0.5]), (1,)),
        Case((2, 3), (4,), (4,), of=_with_knots),
        Case((5,), (4,), (4,), of=_with_knots, period=6.5, domain=(-0.4, 0.4)),
    ],
)
def _interp(x, xp, fp, left=None, right=None, period=None):
    values = [fp, left, right]
    if any(v is not None and as_node(v).is_complex for v in values):  # its parts, as NumPy has them
        of_numbers = [v if v is None or np.ndim(v) == 0 else Tracer(as_node(v)) for v in values]
        parts = [
            _interp(x, xp, *(None if v is None else part(v) for v in of_numbers), period) for part in (np.real, np.imag)
        ]
        return parts[0] + 1j * parts[1]
    knots: Any = xp.astype(np.float64) if isinstance(xp, Tracer) else np.asarray(xp, dtype=np.float64)
    at, values = Tracer(as_node(x)).astype(np.float64), Tracer(as_node(fp)).astype(np.float64)
    if knots.ndim != 1 or values.shape != knots.shape or not len(knots):
        raise ShapeError.here(f"np.interp: xp and fp of shapes {knots.shape} and {values.shape} do not fit")
    if period is not None:
        if not period:
            raise ShapeError.here("np.interp: the period must not be zero")
        period, left, right = abs(period), None, None
        order = np.argsort(knots % period)
        knots, at = (knots % period)[order], at % period
        knots = np.concatenate([knots[-1:] - period, knots, knots[:1] + period])
        values = values[np.concatenate([order[-1:], order, order[:1]])]
    low, high = knots[0], knots[-1]
    outside = np.where(at < low, values[0] if left is None else left, at)  # and NaN
    outside = np.where(at > high, values[-1] if right is None else right, outside)
    if len(knots) == 1:
        return np.where(at == low, values[0], outside)
    found = np.clip(_searchsorted(knots, at, side="right") - 1, 0, len(knots) - 2)
    slope = _looked_up(np.diff(values) / np.diff(knots), found)
    inside = slope * (at - _looked_up(knots, found)) + _looked_up(values, found)
    inside = np.where(at == high, values[-1], inside)
    return np.where((at >= low) & (at <= high), inside, outside)


def _looked_up(x: Any, index: Tracer) -> Tracer:
    return Tracer(gather(as_node(x), as_node(index), 0))


@implements(np.polyval, cases=[Case((4,), (3,)), Case((1,), (2, 2)), Case(Given([2.0, 0.0, -1.0]), ())])
def _polyval(p, x):
    if any(isinstance(v, np.poly1d) for v in (p, x)):
        raise UnsupportedArguments.here("np.polyval of an np.poly1d has no rule.")
    coefficients, at = Tracer(as_node(p)), Tracer(as_node(x))
    if not coefficients.ndim:
        raise ShapeError.here("np.polyval takes a vector of coefficients, not a number")
    if (
        coefficients.ndim == 1
        and len(coefficients) > _MAX_STEPS
        and "b" not in (coefficients.dtype.kind, at.dtype.kind)
    ):
        kind = np.result_type(coefficients.dtype, at.dtype)  # that of every step but the first, which is of zeros
        return _in_groups(coefficients.astype(kind), at.astype(kind))
    value: Any = np.zeros_like(at)
    for c in coefficients:
        value = value * at + c
    return value


def _in_groups(coefficients: Tracer, at: Tracer) -> Any:
    """A polynomial of so many coefficients that one step for each would be too many: √n steps for √n at a time.

    ``Σ_b q_b(x) xᵐᵇ``, where the ``q_b`` are one product of the coefficients, in rows of ``m``, with the powers below
    ``m`` (M. S. Paterson and L. J. Stockmeyer, SIAM Journal on Computing 2, 1973).
    """
    count = len(coefficients)
    m = math.isqrt(count)
    rows = np.concatenate([np.zeros(-count % m, coefficients.dtype), coefficients]).reshape(-1, m)
    column = at[..., None]
    powers = np.cumprod(np.concatenate([np.ones_like(column), np.broadcast_to(column, (*at.shape, m))], -1), -1)
    parts = powers[..., m - 1 :: -1] @ rows.T
    value, step = parts[..., 0], powers[..., m]
    for k in range(1, rows.shape[0]):
        value = value * step + parts[..., k]
    return value
