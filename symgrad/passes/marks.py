"""Marks and stops have had their say once everything is derived.

``# mark(x) -> x,  stop_gradient(x) -> x,  custom(x, …) -> x,  apart(x, …) -> x``
``# unknown(x, …) -> x,  rare(x) -> x``
"""

from __future__ import annotations

from ..primitives.equal_values import APART, RARE, UNKNOWN
from ..primitives.identity import CUSTOM, MARK, STOP
from ..program.program import Program
from .rewrite import rewrite

_IDENTITIES = (MARK, STOP, CUSTOM, APART, UNKNOWN, RARE)


def strip_marks(program: Program) -> Program:
    """``program`` without identities."""
    if program.primitives.isdisjoint(_IDENTITIES):
        return program
    return rewrite(program, lambda n, _: n.operands[0], of=_IDENTITIES)
