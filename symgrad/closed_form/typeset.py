"""sympy's LaTeX, with names of several letters set as one word."""

from __future__ import annotations

import re
from typing import Any

import sympy
from sympy.printing.latex import LatexPrinter

#: a word of letters at the beginning, which LaTeX would set as a product of variables
_WORD = re.compile(r"[A-Za-z]{2,}")


class _Printer(LatexPrinter):
    def _print_Symbol(self, expr: sympy.Symbol, style: str = "plain") -> str:
        made = super()._print_Symbol(expr, style)
        return _WORD.sub(lambda word: rf"\mathit{{{word[0]}}}", made, count=1) if _WORD.match(made) else made


def typeset(expression: Any) -> str:
    r"""LaTeX of a sympy expression.

    >>> import sympy
    >>> typeset(sympy.Symbol("sens1") * sympy.Symbol("theta") * sympy.Symbol("x_2"))
    '\\mathit{sens}_{1} \\theta x_{2}'
    """
    return _Printer().doprint(expression)
