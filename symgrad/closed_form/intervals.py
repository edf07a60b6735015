"""Nested cases of one quantity as cases of its intervals: what a clip or a pair of bounds is derived to."""

from __future__ import annotations

import itertools
from typing import Any

import sympy
from sympy.core.relational import Relational

#: places where a case may begin or end
_MOST_CUTS = 12


def by_intervals(expression: Any) -> Any:
    """``expression`` as one set of cases, where its cases compare one quantity with numbers and that is shorter.

    >>> x = sympy.Symbol("x", real=True)
    >>> inner = sympy.Piecewise((2, sympy.Max(0, x) < 1), (0, True))
    >>> by_intervals(sympy.Piecewise((3 * inner, x > 0), (0, True)))
    Piecewise((6, (x > 0) & (x < 1)), (0, True))
    """
    found = expression.atoms(sympy.Piecewise)
    if len(found) < 2:
        return expression
    tests = {test for cases in found for _, test in cases.args}
    compared = [side for test in tests for relation in test.atoms(Relational) for side in relation.args]
    leaves = {leaf for side in compared for leaf in _leaves(side)}
    quantities = {leaf for leaf in leaves if not leaf.is_number}
    symbols = set().union(*(q.free_symbols for q in quantities))
    if len(quantities) == 1 and len(symbols) != 1:  # a product of two arguments, say
        (whole,) = quantities
        own = sympy.Dummy(real=True)
        return by_intervals(expression.xreplace({whole: own})).xreplace({own: whole}) if whole.is_real else expression
    if len(symbols) != 1 or not all(s.is_real for s in symbols):
        return expression
    (x,) = symbols
    cuts = _cuts(leaves, x)
    values = _values(expression, x, cuts) if cuts else None
    made = _told(values, x, cuts) if values else None
    return expression if made is None or made.count_ops() >= expression.count_ops() else made


def _leaves(side: Any) -> list[Any]:
    """What the largest and the smallest of several are taken of; a size is the larger of both signs."""
    if isinstance(side, sympy.Abs):
        return [side.args[0], -side.args[0]]
    return [leaf for a in side.args for leaf in _leaves(a)] if isinstance(side, (sympy.Max, sympy.Min)) else [side]


def _cuts(leaves: set[Any], x: Any) -> list[Any]:
    """Where two of some linear functions of ``x`` meet; nowhere if one is not linear, or there are too many."""
    slopes = {leaf: sympy.diff(leaf, x) for leaf in leaves}
    if not all(slope.is_Rational or slope.is_Float for slope in slopes.values()):
        return []
    found = set()
    for a, b in itertools.combinations(leaves, 2):
        if slopes[a] != slopes[b]:
            found.add((b - a).xreplace({x: sympy.S.Zero}) / (slopes[a] - slopes[b]))
    known = all(cut.is_finite and cut.is_number for cut in found)
    return sorted(found) if known and len(found) <= _MOST_CUTS else []


def _values(expression: Any, quantity: Any, cuts: list[Any]) -> list[Any] | None:
    """The values below the first cut, at it, between it and the next, and so on; None where a test stays open."""
    between = [(a + b) / 2 for a, b in itertools.pairwise(cuts)]
    inside = [cuts[0] - 1, *between, cuts[-1] + 1]
    places = [inside[0], *(place for pair in zip(cuts, inside[1:], strict=True) for place in pair)]
    values = [_at(expression, quantity, place) for place in places]
    if any(v.has(sympy.Piecewise, sympy.nan) for v in values):
        return None
    for k, cut in enumerate(cuts):  # a cut where a side has the same value needs no case of its own
        at = values[2 * k + 1].xreplace({quantity: cut})
        sides = [v for v in (values[2 * k], values[2 * k + 2]) if v.xreplace({quantity: cut}) == at]
        values[2 * k + 1] = sides[0] if sides else at
    return values


def _at(e: Any, quantity: Any, place: Any) -> Any:
    """``e`` with the cases chosen that hold where the quantity is at ``place``."""
    if isinstance(e, sympy.Piecewise):
        pairs: Any = e.args
        for value, test in pairs:
            decided = test.xreplace({quantity: place})
            if decided == sympy.true:
                return _at(value, quantity, place)
            if decided != sympy.false:
                return sympy.nan
        return sympy.nan
    if not e.args:
        return e
    parts = [_at(a, quantity, place) for a in e.args]
    if isinstance(e, (sympy.Max, sympy.Min)):
        there = [a.xreplace({quantity: place}) for a in parts]
        if all(value.is_number for value in there):
            return parts[there.index((max if isinstance(e, sympy.Max) else min)(there))]
    return e.func(*parts)


def _told(values: list[Any], quantity: Any, cuts: list[Any]) -> Any:
    """The cases: those of most conditions, and of 0 among them, are all others."""
    runs: dict[Any, list[Any]] = {}
    first = 0
    for k in range(1, len(values) + 1):
        if k == len(values) or values[k] != values[first]:
            runs.setdefault(values[first], []).append(_run(first, k - 1, len(values) - 1, quantity, cuts))
            first = k
    rest = max(runs, key=lambda value: (len(runs[value]), value == 0))
    rows = [(value, sympy.Or(*tests)) for value, tests in runs.items() if value != rest]
    rows.sort(key=lambda row: not row[1].atoms(sympy.Eq))
    return sympy.Piecewise(*rows, (rest, True))


def _run(first: int, last: int, end: int, quantity: Any, cuts: list[Any]) -> Any:
    """That the quantity lies in some places that follow each other."""
    if first == last and first % 2:
        return sympy.Eq(quantity, cuts[first // 2])
    tests = []
    if first:
        tests.append(quantity >= cuts[first // 2] if first % 2 else quantity > cuts[first // 2 - 1])
    if last < end:
        tests.append(quantity <= cuts[last // 2] if last % 2 else quantity < cuts[last // 2])
    return sympy.And(*tests)
