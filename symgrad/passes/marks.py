"""Marks and stops have had their say once everything is derived.

``# mark(x) -> x,  stop_gradient(x) -> x,  custom(x, …) -> x``
"""

from __future__ import annotations

from ..primitives.identity import CUSTOM, MARK, STOP
from ..program.program import Program
from .rewrite import rewrite

_IDENTITIES = (MARK, STOP, CUSTOM)


def strip_marks(program: Program) -> Program:
    """``program`` without identities."""
    if program.primitives.isdisjoint(_IDENTITIES):
        return program
    return rewrite(program, lambda n, _: n.operands[0], of=_IDENTITIES)
