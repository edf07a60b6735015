"""Whether slices of one array have no element in common."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ...program.dims import Dim, is_named, normal


def are_disjoint(specs: Sequence[Sequence]) -> bool:
    """True where one axis alone tells all slices apart; False where that is not known.

    >>> are_disjoint([((0, 2, 1), 0), ((2, 3, 1), 0)]), are_disjoint([((0, 2, 1),), ((1, 2, 1),)])
    (True, False)
    """
    if len(specs) < 2:
        return True
    return any(_apart([_interval(spec[axis]) for spec in specs]) for axis in range(len(specs[0])))


def _interval(entry) -> tuple[Dim, Dim]:
    """The first element that a slice takes and the one after the last."""
    if not isinstance(entry, tuple):
        return entry, normal(entry + 1)
    start, length, step = entry
    if step < 0:
        return normal(start + (length - 1) * step), normal(start + 1)
    return start, normal(start + (length - 1) * step + 1)


def _apart(intervals: list[tuple[Dim, Dim]]) -> bool:
    if any(is_named(d) for interval in intervals for d in interval):
        gaps = (normal(after[0] - before[1]) for before, after in itertools.pairwise(intervals))
        return all(g >= 0 if not is_named(g) else bool(g.is_nonnegative) for g in gaps)
    intervals = sorted(intervals)
    return all(before[1] <= after[0] for before, after in itertools.pairwise(intervals))
