"""SizeFacts: what a derivation takes for granted about the sizes of its named dims.

Where a size decides something (does ``x[2:-2]`` fit, do two slices overlap), the answer for this call is taken and
written down as a fact; a program serves the sizes for which its facts hold. Derived for no call in particular it
takes the answer for large sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import sympy

from .dims import Dim, normal, size_function, value_of

#: whether the value of a dim is as the sign says
HOLDS: dict[str, Callable[[int], bool]] = {
    "zero": lambda v: v == 0,
    "nonnegative": lambda v: v >= 0,
    "not zero": lambda v: v != 0,
}


class SizeFacts:
    """``sizes`` is what named dims are in one call, None where there is none; ``facts`` are dims with their signs."""

    __slots__ = ("_checked", "_names", "_values", "facts", "sizes")

    def __init__(self) -> None:
        self._checked = 0
        self._names: list[Any] = []
        self._values: Callable[..., tuple[int, ...]] | None = None
        self.sizes: Mapping[sympy.Symbol, int] | None = None
        self.facts: dict[tuple[sympy.Expr, str], None] = {}

    def known(self, dim: Dim, sign: str) -> bool | None:
        """Whether a dim is ``zero`` or ``nonnegative`` in this call, a fact from now on; None where nobody can say."""
        dim = _in_whole_numbers(normal(dim))
        if isinstance(dim, int):
            return HOLDS[sign](dim)
        always = dim.is_zero if sign == "zero" else dim.is_nonnegative
        if always is None and self.sizes is not None:
            always = HOLDS[sign](value_of(dim, self.sizes))
            self._note(dim, sign, always)
        return always

    def assumed(self, dim: Dim, sign: str) -> bool:
        """As ``known``; taken to be so, as a fact, where nobody can say."""
        answer = self.known(dim, sign)
        if answer is None:
            self._note(_in_whole_numbers(normal(dim)), sign, True)
        return answer is not False

    def usual(self, dim: Dim, sign: str) -> bool | None:
        """As ``known``; for large sizes, as a fact, where nobody can say; None where these differ among themselves."""
        answer = self.known(dim, sign)
        if answer is None:
            t = sympy.Symbol("t")
            alike = normal(dim).xreplace(dict.fromkeys(dim.free_symbols, t))
            leading = sympy.LC(alike, t) if alike.is_polynomial(t) else 0
            if leading == 0:
                return None
            answer = sign == "nonnegative" and bool(leading > 0)
            self._note(_in_whole_numbers(normal(dim)), sign, answer)
        return answer

    def _note(self, dim: sympy.Expr, sign: str, holds: bool) -> None:
        if not holds:
            dim, sign = (normal(-dim - 1), sign) if sign == "nonnegative" else (dim, "not zero")
        self.facts[dim, sign] = None

    def broken(self, sizes: Mapping[sympy.Symbol, int]) -> str | None:
        """The first fact that is not true of ``sizes``, as text; None where all are."""
        if not self.facts:
            return None
        if self._values is None or self._checked < len(self.facts):
            self._checked = len(self.facts)
            self._names = sorted({s for dim, _ in self.facts for s in dim.free_symbols}, key=str)
            self._values = size_function([dim for dim, _ in self.facts], self._names)
        values = self._values(*[sizes[s] for s in self._names])
        for (dim, sign), value in zip(self.facts, values, strict=True):
            if not HOLDS[sign](value):
                return spelled_fact(dim, sign)
        return None


def _in_whole_numbers(dim: Dim) -> Dim:
    """A multiple of ``dim`` that is whole for every size: ``n - 1`` for ``(n - 1)/2``."""
    if isinstance(dim, int) or all(number.q == 1 for number in dim.atoms(sympy.Rational)):
        return dim
    return normal(dim * math.lcm(*[number.q for number in dim.atoms(sympy.Rational)]))


def spelled_fact(dim: sympy.Expr, sign: str) -> str:
    """A fact as text.

    >>> from symgrad.program.dims import named_dim
    >>> n = named_dim("n")
    >>> spelled_fact(n - 2, "nonnegative"), spelled_fact(5 - n, "nonnegative"), spelled_fact(n - 1, "not zero")
    ('n ≥ 2', 'n ≤ 5', 'n ≠ 1')
    """
    number, rest = dim.as_coeff_Add()
    if rest.could_extract_minus_sign():
        return f"{-rest} {_WORDS[sign].replace('≥', '≤')} {number}"
    return f"{rest} {_WORDS[sign]} {-number}"


_WORDS = {"zero": "=", "nonnegative": "≥", "not zero": "≠"}
