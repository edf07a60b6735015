"""The words of LaTeX that are read, and what they mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy

from ...primitives import functions as records
from ...primitives.elementwise import ELEMENTWISE
from ..letters import GREEK as LETTERS

#: Greek letters that are names
GREEK = LETTERS.keys() - {"pi"}


def _computed(arity: int) -> dict[str, Callable[..., Any]]:
    """sympy's functions that elementwise operations compute, by the names of both."""
    found = [(t.name, type(t.expr)) for t in ELEMENTWISE.values() if t.expr.args == records.SLOTS[:arity]]
    named = [(name, f) for name, f in found if issubclass(f, sympy.Function) and f.__module__]
    return {word: f for name, f in named for word in (name, f.__name__)}


#: functions of one argument, which may stand without brackets
FUNCTIONS = _computed(1) | {name: getattr(sympy, name) for name in ("cot", "sec", "csc", "coth", "erf", "erfc", "sinc")}
FUNCTIONS |= {"arsinh": sympy.asinh, "arcosh": sympy.acosh, "artanh": sympy.atanh, "ln": sympy.log, "sgn": sympy.sign}
#: Greek letters that are functions where brackets in braces follow, as formulas are printed
OF_LETTERS = {
    "sigma": lambda u: 1 / (1 + sympy.exp(-u)),
    "Phi": lambda u: (1 + sympy.erf(u / sympy.sqrt(2))) / 2,
    "phi": lambda u: sympy.exp(-(u**2) / 2) / sympy.sqrt(2 * sympy.pi),
}
#: functions of several arguments
SEVERAL = _computed(2) | {"max": sympy.Max, "min": sympy.Min}
#: commands around a word
WORDS = ("mathrm", "mathit", "operatorname", "mathop", "text")
#: signs of a norm
NORMS = (r"\|", r"\Vert", r"\lVert", r"\norm")
#: opening brackets, and what closes them
BRACKETS = {"(": ")", "[": "]", r"\{": r"\}", r"\lvert": r"\rvert", r"\lfloor": r"\rfloor", r"\lceil": r"\rceil"}
#: what is around what stands in brackets
OF_BRACKETS = {"|": sympy.Abs, r"\lvert": sympy.Abs, r"\lfloor": sympy.floor, r"\lceil": sympy.ceiling}
#: environments of matrices
MATRICES = ("matrix", "pmatrix", "bmatrix")
#: signs of comparison
COMPARISONS = {"<": sympy.Lt, ">": sympy.Gt, "=": sympy.Eq, r"\lt": sympy.Lt, r"\gt": sympy.Gt}
COMPARISONS |= {r"\le": sympy.Le, r"\leq": sympy.Le, r"\ge": sympy.Ge, r"\geq": sympy.Ge, r"\ne": sympy.Ne}
COMPARISONS |= {r"\neq": sympy.Ne}
#: signs that begin no factor
BETWEEN = {r"\right", r"\end", r"\cdot", r"\times", r"\div", r"\\", *BRACKETS.values(), *COMPARISONS}
#: characters that are read
CHARACTERS = {*r"+-*/!'()[]|<>=,&", r"\\", r"\{", r"\}", r"\|"}
#: what is known and not read
KNOWN = {
    **dict.fromkeys(("partial", "nabla"), "a derivative"),
    **dict.fromkeys(("mathbf", "boldsymbol"), "a vector or a matrix"),
    "vec": "an accent",
    "sum": "a sum over an index",
    "prod": "a product over an index",
    "int": "an integral",
    "lim": "a limit",
    "lg": "a logarithm of unclear base",
}
