"""Sums of powers by their logarithms, of which no power is too large or too small."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives.identity import STOP
from ..program.node import emit
from .tracer import Tracer, traced

#: what adds by logarithms -> the power and its logarithm
BASES = {"logaddexp": (np.exp, np.log), "logaddexp2": (np.exp2, np.log2)}


def largest(a: Any, axis: Any) -> Tracer:
    """The largest elements along an axis, as what is subtracted and added again: no derivative flows through it."""
    return Tracer(emit(STOP, (traced(np.max(a, axis=axis, keepdims=True))._symgrad_node,)))


def finite_largest(a: Any, axis: Any) -> Any:
    """``largest``, 0 where that is not finite."""
    return _finite(largest(a, axis))


def _finite(most: Tracer) -> Any:
    return np.where(np.isfinite(most), most, 0)


def log_sum(a: Any, axis: Any, b: Any = None, base: str = "logaddexp", signed: bool = False) -> tuple[Any, Any]:
    """``c + log ∑ b exp(a - c)`` and the sum in it; the axis stays. Where all of ``a`` are -∞, so is it, of slope 0.

    ``signed``: the logarithm is that of the sum's absolute value.
    """
    power, log = BASES[base]
    most = largest(a, axis)
    none, finite = most == -np.inf, _finite(most)
    raised = power(a - finite)
    total = np.sum(raised if b is None else b * raised, axis=axis, keepdims=True)
    # where there is none the sum is 0, of which the slope of the logarithm is infinite
    counted = (np.abs(total) if signed else total) + none
    return log(counted) + np.where(none, most, finite), total
