"""What went wrong in a result that is not finite: the operation where it begins, told with the user's line."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import UnsupportedOperation, at_user_line
from .findings import Finding, findings, places_text
from .passes.unrolling import unrolled
from .program.node import Node
from .program.program import Program
from .trace_entry import TraceEntry
from .tracing.tree import flatten

#: operations of loops written out, within which the origin is looked for
_MAX_OPERATIONS = 20_000
_ORDERS = ("the value", "the derivative", "the second derivative")


def is_finite(result: Any) -> bool:
    """True where no float or complex number in a result is NaN or infinite."""
    return all(np.isfinite(a).all() for a in map(_numbers, flatten(result)[0]) if a.dtype.kind in "fc")


def _numbers(leaf: Any) -> np.ndarray:
    """The numbers of an array, also of a sparse one."""
    if isinstance(leaf, (float, complex, np.ndarray, np.generic)):
        return np.asarray(leaf)
    return np.asarray(leaf.data) if hasattr(leaf, "tocsr") else np.empty(0, bool)


def what_went_wrong(name: str, result: Any, entry: TraceEntry, arrays: Sequence[Any]) -> str:
    """Where the NaN or infinity in the ``result`` of ``name`` begins, of a recorded trace for these arrays."""
    arrays = [np.asarray(a) for a in arrays]
    bad = next(a for a in map(_numbers, flatten(result)[0]) if a.dtype.kind in "fc" and not np.isfinite(a).all())
    said = f"{name} gives {_held(bad)}"
    for label, array in zip(entry.program.names, arrays, strict=True):
        if array.dtype.kind in "fc" and not np.isfinite(array).all():
            return at_user_line(f"{said}: {label} holds {_held(array)} already.")
    program = entry.program
    with contextlib.suppress(UnsupportedOperation):  # then a loop is one operation
        program = unrolled(program, _MAX_OPERATIONS)
    node, finding = _origin(program, findings(program, arrays))
    if node is None:
        return at_user_line(f"{said}.")
    order = _ORDERS[min(entry.ledger.order(node), 2)]
    return at_user_line(f"{said}. It begins in {order}, as {finding.origin}.", entry.ledger.line(node))


def _held(array: np.ndarray) -> str:
    """What is not finite in an array, and where."""
    return ("NaN" if np.isnan(array).any() else "inf") + places_text(~np.isfinite(array))


def _origin(program: Program, made: dict[Node, Finding]) -> tuple[Any, Any]:
    """The first operation that makes something not finite of finite numbers, and spoils the result by it."""
    told = [(n, made[n]) for n in program.nodes if n in made and made[n].reaches and made[n].origin]
    return next((pair for pair in told if pair[1].first), told[0] if told else (None, None))
