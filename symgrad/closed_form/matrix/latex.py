"""Matrix expressions as LaTeX: ``\\frac{2}{n} X^\\top \\left(X w - y\\right)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy

from ...program.forks import cached_property
from ..contents import in_latex
from ..typeset import cases, element, initial, is_word, typeset
from .expression import Expression, without_ones
from .notation import AROUND, CONNECTIVES, TESTS, in_others, spelled
from .printing import ATOM, PRODUCT, SUM, Text

#: characters of a norm that is never broken into lines, and what makes one tall
_SHORT = 60
_TALL = (r"\frac", r"\left", r"\sqrt", r"\sum", r"\begin", "^")


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
        "unit": r"\mathbf{e}",
    }
    comparisons: Mapping[str, str] = dict(Text.comparisons) | {
        "greater_equal": r"\ge",
        "less_equal": r"\le",
        "not_equal": r"\ne",
    }
    connectives, tests = CONNECTIVES, TESTS
    bracket = r"\left({}\right)".format
    fraction = r"\frac{{{}}}{{{}}}".format
    transposed = r"{}^\top".format
    inverse = "{}^{{-1}}".format
    inverse_transposed = r"{}^{{-\top}}".format
    bars = r"\left|{}\right|".format
    root = r"\sqrt{{{}}}".format
    elementwise_power = r"{}^{{\odot {}}}".format
    scalar_power = "{}^{{{}}}".format
    exponent = "{}".format
    convention = r"{} = 0 \text{{ for }} {} = 0".format
    axis = r",\; \text{{axis}}={}".format
    above = below = SUM

    def name(self, name: str) -> str:
        return typeset(sympy.Symbol(name))

    def call(self, name: str, inside: str) -> str:
        return self.spelled(name) + self.bracket(inside)

    def applied(self, name: str, inside: str) -> str:
        return rf"\operatorname{{{name}}}".replace("_", r"\_") + self.bracket(inside)

    def spelled(self, function: str) -> str:
        word = rf"\operatorname{{{super().spelled(function)}}}".replace("_", r"\_")
        sign = spelled(function) or word
        return sign if initial(sign) not in self._initials else rf"\operatorname{{{function}}}".replace("_", r"\_")

    def symbol(self, op: str) -> str:
        sign = self.symbols[op]
        return rf"\mathrm{{{super().symbol(op)}}}" if initial(sign) in self._initials else sign

    @cached_property
    def _initials(self) -> set[str]:
        """What the user's names begin with."""
        return {initial(self.name(name)) for name in self.own}

    def truth(self, statement: str) -> str:
        """Brackets that grow with what is tall."""
        return rf"\left[{statement}\right]" if any(sign in statement for sign in _TALL) else f"[{statement}]"

    def norm(self, inside: str) -> str:
        """Bars that grow with what is tall; around one low letter MathJax would make them small."""
        tall = len(inside) > _SHORT or any(sign in inside for sign in _TALL)
        return rf"\left\|{inside}\right\|" if tall else rf"\lVert {inside} \rVert"

    def raised(self, text: str, exponent: str) -> str:
        return f"{text}^{{{exponent}}}"

    def indexed(self, text: str, place: str) -> str:
        is_other = f"{text}_{{{place}}}" in map(self.name, self.own)  # x0 beside x[0]
        return f"{{{text}}}_{{[{place}]}}" if ":" in place or is_other else element(text, [place])

    def lowered(self, text: str, index: str) -> str:
        return f"{text}_{{{index}}}"

    def contents(self, array: np.ndarray) -> str:
        return in_latex(array)

    def number(self, value: Any) -> str:
        return typeset(value, self.own)

    def ratio(self, top: Any, bottom: Any) -> str:
        return self.fraction(self.number(top), self.number(bottom))

    def beside(self, before: str, after: str, dotted: bool) -> str:
        return r" \, " if is_word(before) or is_word(after) else " "

    def after_number(self, value: Any, following: Expression) -> str:
        return r" \cdot " if following.op in ("ones", "all_ones") else " "  # 10 and a bold 1 read as 101

    def _function(self, x: Expression) -> tuple[str, int]:
        others = in_others(x)
        if others is not None:
            return self._printed(others)
        if x.data in AROUND:
            return AROUND[x.data].format(*map(self, x.args)), ATOM
        if x.data == "where":
            test, yes, no = x.args
            chosen = self._compared(yes, SUM), self._stated(without_ones(test))
            return cases([chosen, (self._compared(no, SUM), "")]), SUM
        if x.data == "remainder":
            a, b = (self._within(v, PRODUCT) for v in x.args)
            return rf"{a} \bmod {b}", SUM
        return super()._function(x)
