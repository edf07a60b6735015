"""Derivatives by finite differences of a plain NumPy function: the reference that rules are tested against.

>>> slopes, errors, _ = differences(lambda x: (np.sin(x),), [np.array(0.0)], [[np.array(2.0)]])
>>> abs(slopes[0] - 2.0) < 1e-12
np.True_
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Arrays = Sequence[np.ndarray]
#: steps in longdouble, and in float64
_FINE, _ROUGH = (2.0**-9, 2.0**-14, 2.0**-20), (2.0**-5, 2.0**-9, 2.0**-13, 2.0**-17)
#: how many times their errors two steps must be apart to contradict each other
_APART = 16


def differences(
    fn: Callable[..., Sequence], point: Arrays, along: Sequence[Arrays]
) -> tuple[list[np.ndarray], list[np.ndarray], bool]:
    """The derivative of each output along one direction, or the mixed one along two; bounds of the errors.

    Central differences at several steps, each extrapolated twice (Richardson). For every element the one that has
    settled best is taken; where two do not agree, the one of the shorter step, for the other has settled by chance.
    Evaluated in ``np.longdouble``, or in float64 where ``fn`` has no longdouble loop; complex numbers in complex
    numbers of that precision. The last result says whether it was more than float64.
    """
    kind, sizes = _widest(fn, point)
    try:
        return _settled(fn, point, along, kind, sizes)
    except Exception:  # beside the point a function may have no loop of this precision
        if kind is np.float64:
            raise
        return _settled(fn, point, along, np.float64, [_in(np.float64, s) for s in sizes])


def _settled(
    fn: Callable[..., Sequence], point: Arrays, along: Sequence[Arrays], kind: Any, sizes: Arrays
) -> tuple[list[np.ndarray], list[np.ndarray], bool]:
    """The differences in one precision; ``sizes`` are the outputs at ``point``."""
    base = [_in(kind, x) for x in point]
    directions = [[_in(kind, d) for d in v] for v in along]
    epsilon = np.finfo(kind).eps
    exact = bool(epsilon < np.finfo(np.float64).eps)
    values = [np.full(np.shape(s), np.nan, s.dtype) for s in sizes]
    errors = [np.full(np.shape(s), np.inf, kind) for s in sizes]
    for step in _FINE if exact else _ROUGH:
        levels = [_central(fn, base, directions, kind(step / 2**k)) for k in range(3)]
        for i, (first, second, third) in enumerate(zip(*levels, strict=True)):
            once, again = second + (second - first) / 3, third + (third - second) / 3
            noise = epsilon * np.max(np.abs(sizes[i]), initial=0) / (step / 4) ** len(directions)
            error = np.abs(again - once) + noise
            better = (error < errors[i]) | (np.abs(again - values[i]) > _APART * (error + errors[i]))
            values[i] = np.where(better, again + (again - once) / 15, values[i])
            errors[i] = np.where(better, error, errors[i])
    return values, errors, exact


def _widest(fn: Callable, point: Arrays) -> tuple[Any, list[Any]]:
    """The widest float that ``fn`` computes in, and its outputs at ``point``."""
    for kind in (np.longdouble, np.float64):
        try:
            with np.errstate(all="ignore"):
                outputs = [np.asarray(v) for v in fn(*[_in(kind, x).copy() for x in point])]
        except Exception:  # what a function says of a precision that nobody asked it for, is its own
            if kind is np.float64:
                raise
        else:
            if all(np.real(v).dtype == kind for v in outputs):
                return kind, outputs
    return np.float64, outputs


def _in(kind: Any, x: Any) -> np.ndarray:
    """An array in the precision of ``kind``, real or complex as it is."""
    return np.asarray(x, np.result_type(kind, np.complex64) if np.iscomplexobj(x) else kind)


def _central(fn: Callable, base: Arrays, directions: Sequence[Arrays], step: Any) -> list[np.ndarray]:
    """The central difference along one direction, the mixed second one along two."""
    totals: list[Any] = []
    with np.errstate(all="ignore"):
        for signs in itertools.product((1, -1), repeat=len(directions)):
            moved = [
                np.asarray(x + sum(s * step * v[k] for s, v in zip(signs, directions, strict=True)))
                for k, x in enumerate(base)
            ]
            parts = [np.asarray(v) * np.prod(signs) for v in fn(*moved)]
            totals = [t + p for t, p in zip(totals, parts, strict=True)] if totals else parts
        return [t / (2 * step) ** len(directions) for t in totals]
