"""How long a formula takes to read, by which the form that is shown is chosen."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .latex_tree import NotLatex, Part, tree

#: what a symbol costs more for each fraction, root and script that it stands in
_DEEPER = 0.25
#: parts that are a symbol of their own; the pairs of brackets and bars are two signs, of which each is half a symbol
_SYMBOLS = ("sign", "number", "word", "fraction", "root", "fenced", "accent", "table")
_HALVES = ("(", ")", "[", "]", "|", r"\|", r"\{", r"\}")


def symbols(latex: str) -> float:
    r"""How many letters, numbers, signs, words and pairs of brackets LaTeX has.

    >>> symbols(r"2 X^{\top} \left(X w - y\right)"), symbols(r"\frac{\sin(x)}{2}")
    (8.0, 5.0)
    """
    return _count(tree(latex), 0.0)


def reading_cost(formulas: Iterable[str]) -> float:
    r"""The symbols of formulas, those inside of fractions, roots and scripts a quarter more for each of these.

    Infinite for LaTeX that is nested too deep to be read.

    >>> reading_cost(["2 w"]) < reading_cost(["w + w"]) < reading_cost([r"\frac{w + w}{2}"])
    True
    """
    try:
        return sum(_count(tree(latex), _DEEPER) for latex in formulas)
    except NotLatex:
        return math.inf


def _count(part: Part | None, deeper: float, weight: float = 1.0) -> float:
    if part is None:
        return 0.0
    own = 0.5 if part.text in _HALVES else 1.0
    found = weight * own if part.kind in _SYMBOLS else 0.0
    if part.kind == "table":
        return found + sum(_count(cell, deeper, weight) for row in part.parts for cell in row)
    first, *others = (*part.parts, None)
    inner = weight + deeper
    first_weight = inner if part.kind in ("fraction", "root") else weight
    other_weight = inner if part.kind in ("fraction", "root", "scripts") else weight
    return found + _count(first, deeper, first_weight) + sum(_count(p, deeper, other_weight) for p in others)
