"""Matrix expressions as LaTeX: ``\\frac{2}{n} X^\\top \\left(X w - y\\right)``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy

from ..typeset import initial, is_word, typeset
from .expression import Expression
from .functions_latex import SPELLED, WRITTEN
from .printing import SUM, Text

_COMMANDS = {
    *("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
    *("arcsin", "arccos", "arctan", "det", "max", "min"),
}


class Latex(Text):
    """Text's structure in LaTeX's spelling; a user's name reaches it through sympy's printer of safe symbols."""

    minus = "-"
    kron_sign, hadamard_sign, quotient_sign = r"\otimes", r"\odot", r"\oslash"
    symbols: Mapping[str, str] = {
        "identity": "I",
        "ones": r"\mathbf{1}",
        "all_ones": r"\mathbf{1} \mathbf{1}^\top",
        "zero": "0",
        "commutation": "K",
    }
    comparisons: Mapping[str, str] = dict(Text.comparisons) | {
        "greater_equal": r"\ge",
        "less_equal": r"\le",
        "not_equal": r"\ne",
    }
    above = below = SUM

    def name(self, name: str) -> str:
        return typeset(sympy.Symbol(name))

    def bracket(self, text: str) -> str:
        return rf"\left({text}\right)"

    def call(self, name: str, inside: str) -> str:
        return self.spelled(name) + self.bracket(inside)

    def spelled(self, function: str) -> str:
        if function in _COMMANDS:
            return "\\" + function
        name = super().spelled(function).replace("_", r"\_")
        sign = SPELLED.get(function, rf"\operatorname{{{name}}}")
        return sign if initial(sign) not in self._initials else rf"\operatorname{{{function}}}".replace("_", r"\_")

    def symbol(self, op: str) -> str:
        sign = self.symbols[op]
        return rf"\mathrm{{{super().symbol(op)}}}" if initial(sign) in self._initials else sign

    @cached_property
    def _initials(self) -> set[str]:
        """What the user's names begin with."""
        return {initial(self.name(name)) for name in self.own}

    def raised(self, text: str, exponent: str) -> str:
        return f"{text}^{{{exponent}}}"

    def number(self, value: Any) -> str:
        return typeset(value, self.own)

    def ratio(self, top: Any, bottom: Any) -> str:
        return self.fraction(self.number(top), self.number(bottom))

    def fraction(self, top: str, bottom: str) -> str:
        return rf"\frac{{{top}}}{{{bottom}}}"

    def transposed(self, text: str) -> str:
        return text + r"^\top"

    def inverted(self, text: str, transposed: bool) -> str:
        return text + (r"^{-\top}" if transposed else "^{-1}")

    def bars(self, text: str, double: bool) -> str:
        return rf"\left\|{text}\right\|" if double else rf"\left|{text}\right|"

    def elementwise_power(self, text: str, exponent: Fraction) -> str:
        return rf"{text}^{{\odot {exponent}}}"

    def root(self, text: str) -> str:
        return rf"\sqrt{{{text}}}"

    def beside(self, before: str, after: str, dotted: bool) -> str:
        return r" \, " if is_word(before) and is_word(after) else " "

    def after_number(self, value: Any, following: Expression) -> str:
        return " "

    def axis(self, axes: Sequence[int]) -> str:
        return rf",\; \text{{axis}}={axes[0]}"

    def indexed(self, text: str, index: str) -> str:
        return f"{{{text}}}_{{[{index}]}}"

    def _function(self, x: Expression) -> tuple[str, int]:
        written = WRITTEN.get(x.data)
        return super()._function(x) if written is None else written(self, x)
