"""Plain text of sympy expressions, in which no constant looks as a name of the user's does."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import sympy
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from .positions import around

#: constants, as they are computed where their own name is taken
_COMPUTED = {"pi": "acos(-1)", "E": "exp(1)", "I": "1j", "oo": "(1/0)", "nan": "(0/0)", "zoo": "(1/0)"}


def plain_text(expression: Any, names: Collection[str]) -> str:
    """``str`` of an expression beside these names.

    >>> import sympy
    >>> plain_text(sympy.pi * sympy.Symbol("pi"), ["pi"]), plain_text(sympy.pi * sympy.Symbol("x"), ["x"])
    ('acos(-1)*pi', 'pi*x')
    >>> plain_text(sympy.Float(1e-5) + sympy.Symbol("x"), ["x"])
    'x + 1e-05'
    """
    return _Printer(names).doprint(expression)


def added_first(terms: Sequence[Any]) -> list[Any]:
    """The terms of a sum with one that is added in front, where there is one: ``d − σ``, not ``−σ + d``."""
    first = next((k for k, term in enumerate(terms) if not term.as_coeff_Mul()[0].is_negative), 0)
    return [terms[first], *terms[:first], *terms[first + 1 :]]


class _Printer(StrPrinter):
    def __init__(self, names: Collection[str]) -> None:
        super().__init__()
        self._names = names

    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        return added_first(super()._as_ordered_terms(expr, order))

    def _print_Float(self, expr: Any) -> str:
        """As Python writes it: the fewest digits that are this number."""
        return repr(float(expr)) if expr.is_finite and expr._prec == 53 else super()._print_Float(expr)

    def _indexed(self, expr: Any) -> str:
        return f"{self._print(expr.base.label)}[{', '.join(map(self._place, expr.indices))}]"

    def _place(self, index: Any) -> str:
        if not isinstance(index, sympy.Mod):
            return self._print(index)
        place, size = around(index)
        return f"{self.parenthesize(place, PRECEDENCE['Mul'])} % {self.parenthesize(size, PRECEDENCE['Pow'])}"

    def _print(self, expr: Any, **kwargs: Any) -> str:
        made = self._indexed(expr) if isinstance(expr, sympy.Indexed) else super()._print(expr, **kwargs)
        return _COMPUTED[made] if made in _COMPUTED and made in self._names and not expr.is_Symbol else made
