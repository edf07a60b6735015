"""Whether the user's code catches what an operation raises: then what NumPy and Python raise of values is raised too.

Elsewhere a division by 0 is infinite and a matrix that cannot be factored is the kernel's to refuse, as in NumPy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from ..errors import is_symgrads
from ..primitives import functions as f
from ..primitives.external import Call, External
from ..primitives.primitive import literal_value
from ..program.node import Node, emit
from .bytecode.places import attempts
from .trace import called, current, running


def is_caught() -> bool:
    """Whether the function that is traced, or what it calls, stands in a ``try`` or a ``with`` here.

    What a ``with`` enters may swallow errors, as ``contextlib.suppress`` does.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not called.__code__:
        if frame.f_code.co_exceptiontable and _is_tried(frame):
            return True
        frame = frame.f_back
    return False


def _is_tried(frame: FrameType) -> bool:
    code, at = frame.f_code, frame.f_lasti
    return not is_symgrads(code.co_filename) and any(first <= at < end for first, end in attempts(code))


def raise_if_singular(name: str, function: Callable[..., Any], *nodes: Node) -> None:
    """Raise the LinAlgError that ``function`` has of these values, where the user's code catches it; guarded."""
    trace = current()
    if trace is None or not all(map(trace.has_value, nodes)) or not is_caught():
        return

    def run(values: Any) -> list[np.ndarray]:
        try:
            function(*values)
        except np.linalg.LinAlgError:
            return [np.array(False)]
        return [np.array(True)]

    call = Call(name, run, (name,), [np.dtype(bool)], f"{name} may fail, which has no derivative.")
    params = (call, ((),), tuple([n.shape for n in nodes]), ())
    if not trace.guard(emit(External(name), nodes, params)):
        function(*map(trace.value_of, nodes))


def raise_if_zero(divisor: Node) -> None:
    """Raise Python's ZeroDivisionError of a whole number, and of others where the user's code catches it; guarded."""
    if not running().has_value(divisor) or not (divisor.dtype.kind in "iub" or is_caught()):
        return
    is_zero = literal_value(divisor) == 0 if divisor.is_literal else running().guard(f.equal(divisor, 0))
    if is_zero:
        raise ZeroDivisionError("division by zero")


def raise_if_no_power(base: Node, exponent: Node) -> None:
    """Raise what Python's floats raise of ``base ** exponent`` where the user's code catches it; guarded."""
    trace = running()
    if "f" not in (base.dtype.kind, exponent.dtype.kind) or not all(map(trace.has_value, (base, exponent))):
        return
    if not is_caught():
        return
    is_plain = f.logical_and(f.isfinite(base), f.isfinite(exponent))
    if trace.guard(f.logical_and(is_plain, f.isinf(f.power(base, exponent)))):
        if trace.value_of(base) == 0:
            raise ZeroDivisionError("0.0 cannot be raised to a negative power")
        raise OverflowError(34, "Numerical result out of range")
