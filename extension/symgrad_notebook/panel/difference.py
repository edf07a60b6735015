"""The symbolic difference of two formulas: which summands stayed, which appeared, which vanished."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sympy

#: summands up to which products of sums are multiplied out to be compared
_MAX_TERMS = 60


@dataclass(frozen=True)
class TermDiff:
    """Summands, as they are written in order.

    The sum of ``stayed`` and ``vanished`` is the formula before, that of ``stayed`` and ``appeared`` the one after.
    """

    stayed: tuple[sympy.Basic, ...]
    appeared: tuple[sympy.Basic, ...]
    vanished: tuple[sympy.Basic, ...]

    @property
    def changed(self) -> bool:
        """True where the two formulas differ."""
        return bool(self.appeared or self.vanished)


def term_diff(before: Any, after: Any) -> TermDiff:
    """The difference of two formulas of sympy by their summands; multiplied out where more of them then stay.

    Of a summand whose number alone changed, the common part stays: ``2*x`` that becomes ``x`` keeps one ``x`` and
    loses another.

    >>> from sympy.abc import x, y
    >>> term_diff(x * sympy.cos(x) + sympy.sin(x), sympy.sin(x))
    TermDiff(stayed=(sin(x),), appeared=(), vanished=(x*cos(x),))
    >>> term_diff(y * (x + 2), x * y).vanished
    (2*y,)
    """
    before, after = sympy.sympify(before), sympy.sympify(after)
    if before == after:
        return TermDiff(_summands(after), (), ())
    plain = _by_summand(_summands(before), _summands(after))
    if _terms_when_expanded(before) + _terms_when_expanded(after) > _MAX_TERMS:
        return plain
    expanded = _by_summand(*(_summands(sympy.expand_mul(e, deep=False)) for e in (before, after)))
    return min(plain, expanded, key=_distance)


def _by_summand(before: Iterable[sympy.Basic], after: Iterable[sympy.Basic]) -> TermDiff:
    old, new = _numbers(before), _numbers(after)
    stayed, appeared, vanished = [], [], []
    for rest in [*new, *(r for r in old if r not in new)]:
        was, now = old.get(rest, sympy.S.Zero), new.get(rest, sympy.S.Zero)
        common = min(was, now, key=abs) if was * now > 0 else sympy.S.Zero
        for part, found in ((common, stayed), (now - common, appeared), (was - common, vanished)):
            if part != 0:
                found.append(part * rest)
    return TermDiff(tuple(stayed), tuple(appeared), tuple(vanished))


def _numbers(terms: Iterable[Any]) -> dict[Any, Any]:
    """The number in front of each term, by the rest of it."""
    found = {}
    for term in terms:
        number, rest = term.as_coeff_Mul()
        found |= {rest: number} if number.is_Rational else {term: sympy.S.One}
    return found


def _distance(difference: TermDiff) -> tuple[int, bool]:
    """How much changed; of differences that say as much of it, one in which something stayed is nearer."""
    return len(difference.appeared) + len(difference.vanished), not difference.stayed


def _summands(expression: Any) -> tuple[Any, ...]:
    if expression == 0:
        return ()
    return tuple(expression.as_ordered_terms()) if isinstance(expression, sympy.Add) else (expression,)


def _terms_when_expanded(expression: Any) -> int:
    total = 0
    for term in sympy.Add.make_args(expression):
        count = 1
        for factor in sympy.Mul.make_args(term):
            count *= len(sympy.Add.make_args(factor))
        total += count
    return total
