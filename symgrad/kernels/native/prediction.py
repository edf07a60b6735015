"""What a program is expected to cost on NumPy and compiled: enough to decide whether the compiler is worth its time."""

from __future__ import annotations

import math

from ...primitives.contraction import EINSUM
from ...primitives.elementwise import Elementwise
from ...primitives.loop import Loop
from ...primitives.scan import PART, SCAN
from ...program.node import Node
from ...program.program import Program
from .calibration import Costs, costs, costs_of
from .contractions import PLACED, may_loop
from .points import for_loops
from .schedule import may_be_view
from .threads import THREADS

#: nanoseconds of a call of NumPy, and of a compiled kernel's own call
_CALL, _OWN_CALL = 700.0, 600.0
#: nanoseconds of a turn of a loop in Python, beside the calls that it makes
_TURN = 1000.0
#: elements from which loops run on several threads, NumPy's block by block
_SHARED = 1 << 16
#: nanoseconds a byte that a value costs which NumPy writes and reads again
_MEMORY = 0.04


def predicted_saving(program: Program) -> float | None:
    """The nanoseconds that compiled C is expected to save a call, None where it has nothing to compute.

    What is NumPy's in both counts for nothing.
    """
    saving, computes = _saving(program, costs())
    return saving - _OWN_CALL if computes else None


def _saving(program: Program, known: Costs) -> tuple[float, bool]:
    """What the operations of a program save, and whether C has one to compute."""
    saving, computes = 0.0, False
    for node in for_loops(program).bindings:
        if node.primitive is SCAN:
            own, in_body = _saving_of_loop(node.params[0], known)
            saving, computes = saving + own, computes or in_body
        elif may_be_view(node) or node.primitive.name in PLACED:
            computes = computes or not may_be_view(node)
            saving += _CALL / 2
        elif may_loop(node):
            computes = True
            elements = math.prod(_space(node))
            threads = THREADS if elements >= _SHARED else 1
            plain, native = _costs_of(node, known)
            saving += _CALL + elements * (plain - native + node.dtype.itemsize * _MEMORY) / threads
        elif node.primitive is not EINSUM and node.primitive is not PART:
            saving -= _CALL / 2
    return saving, computes


def _saving_of_loop(loop: Loop, known: Costs) -> tuple[float, bool]:
    """The same for all turns: in C they save Python's own, else each is a call."""
    saving, computes = _saving(loop.body, known)
    runs = all(map(_is_for_c, for_loops(loop.body).bindings))
    return loop.length * (saving + (_TURN if runs else -_OWN_CALL)), computes or runs


def _is_for_c(node: Node) -> bool:
    if node.primitive is SCAN:
        return all(map(_is_for_c, for_loops(node.params[0].body).bindings))
    return node.primitive is PART or may_be_view(node) or may_loop(node) is True


def _costs_of(node: Node, known: Costs) -> tuple[float, float]:
    if isinstance(node.primitive, Elementwise):
        return costs_of(node.primitive, known)
    factors = max(len(node.operands) - 1, 1)
    return factors * known.numpy["multiply"], factors * known.native["multiply"]


def _space(node: Node) -> tuple[int, ...]:
    if node.primitive is EINSUM:
        return node.params[2]
    return node.operands[0].shape if node.primitive.name in ("max", "min", "prod") else node.shape
