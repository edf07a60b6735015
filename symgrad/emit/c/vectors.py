"""Innermost loops whose turns do not depend on one another, which a compiler may take many at a time.

Floats are added up in short runs, each of which may be summed in any order: that is faster, and loses fewer digits
than one long sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..loops.language import Assign, Cast, Element, Expression, Let, Loop, Name, Statement, Update
from ..loops.nests import ROW
from ..loops.reading import parts, read_by

#: turns that one run of a sum takes
RUN = 2048
#: what a run of a reduction begins with, and the operator that compilers know it by
STARTS = {"add": ("0", "+"), "multiply": ("1", "*"), "maximum": ("-INFINITY", "max"), "minimum": ("INFINITY", "min")}


def reductions_of(loop: Loop) -> list[Update] | None:
    """What a loop takes into numbers, where its turns may run in any order; None where they may not.

    That is so where nothing else changes but elements, each turn has its own of them, and none reads another's.
    """
    found: list[Update] = []
    local: set[Any] = {loop.counter}
    places: dict[str, Any] = {}
    for s in loop.body:
        if isinstance(s, Let):
            local.add(s.name)
        elif isinstance(s, Update) and isinstance(s.target, Name):
            if s.target.dtype.kind != "f":
                return None
            found.append(s)
        elif isinstance(s, Assign | Update) and isinstance(s.target, Element):
            before = places.setdefault(s.target.array.name, s.target.place)
            if before != s.target.place or not _is_own(s.target, loop.counter, local):
                return None
        else:
            return None
    totals = {s.target.name for s in found if isinstance(s.target, Name)}
    if len(totals) < len(found) or any(_reads(e, totals, places) for s in loop.body for e in _values(s)):
        return None
    return found


def is_copy_of_row(loop: Loop) -> bool:
    """True for a loop that begins or ends a row of results, which a compiler takes apart: then it needs no memory."""
    (s, *more) = loop.body
    ends = [s.target, s.value] if isinstance(s, Assign | Update) else []
    held = [isinstance(e, Element) and e.array.role == ROW for e in ends]
    return not more and held.count(True) == 1 and (held[1] or isinstance(s, Assign))


def narrowed(value: Expression) -> Expression:
    """What is taken into a sum: within one short run floats need not be wider than they are."""
    narrow = isinstance(value, Cast) and value.dtype == np.float64 and value.operand.dtype == np.float32
    return value.operand if isinstance(value, Cast) and narrow else value


def _is_own(e: Element, counter: str, local: set[Any]) -> bool:
    """True for an element that no other turn of the loop over ``counter`` has."""
    names = [name for index in e.place for name, _ in index.terms if name in local]
    return bool(names) and set(names) == {counter}


def _values(s: Statement) -> Sequence[Expression]:
    return [s.value] if isinstance(s, Update) and isinstance(s.target, Name) else read_by(s)


def _reads(e: Expression, totals: set[str], places: dict[str, Any]) -> bool:
    """True where a value depends on what other turns may change."""
    for p in parts(e):
        if isinstance(p, Name) and p.name in totals:
            return True
        if isinstance(p, Element) and places.get(p.array.name, p.place) != p.place:
            return True
    return False
