"""Formulas that fit on a page: how wide LaTeX is set, and long rows broken into several."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from .latex_tree import Part, tree

#: points that a line of a document has
LINE = 430.0
#: what a continued line is set in by
_INDENT = 20.0
_SIGNS = {
    **dict.fromkeys(
        ["+", "-", r"\odot", r"\oslash", r"\otimes", r"\oplus", r"\wedge", r"\vee", r"\bmod", r"\cdot"], 12.5
    ),
    **dict.fromkeys(["=", "<", ">", r"\leq", r"\geq", r"\neq", r"\le", r"\ge", r"\ne", ":"], 14.0),
    **dict.fromkeys([",", ";", ".", "!", "'", "|", r"\|", r"\top"], 5.0),
    **dict.fromkeys("mwMWQ", 9.5),
    r"\infty": 10.0,
    r"\sum": 17.0,
    r"\prod": 16.0,
    r"\quad": 10.0,
    r"\qquad": 20.0,
}
_LARGE = (r"\sum", r"\prod", r"\max", r"\min")
_NAMES = re.compile(r"\\(?:log|exp|sin|cos|tan|sinh|cosh|tanh|arcsin|arccos|arctan|det|max|min)$")


def width(latex: str) -> float:
    r"""About how many points wide a formula is in ten point type, displayed.

    >>> width("x") < width(r"\frac{x}{y}") < width("x + y") < width(r"\sum_{i=0}^{n} x + y")
    True
    """
    return _width(tree(latex))


def _width(part: Part | None, scale: float = 1.0) -> float:
    if part is None:
        return 0.0
    if part.kind == "row":
        return sum(_width(p, scale) for p in part.parts)
    if part.kind == "sign":
        if _NAMES.match(part.text):
            return scale * (5.2 * (len(part.text) - 1) + 2)
        return scale * _SIGNS.get(part.text, 6.0 if len(part.text) == 1 or part.text.startswith("\\") else 5.0)
    if part.kind == "number":
        return scale * 5.1 * len(part.text)
    if part.kind == "word":
        return scale * (5.2 * len(part.text) + 2)
    if part.kind == "space":
        return scale * _SIGNS.get(part.text, 3.0)
    if part.kind == "fraction":
        inner = scale if scale == 1.0 else max(scale * 0.75, 0.5)
        smaller = [1.0 if scale == 1.0 else 0.75, inner]
        return max(_width(p, smaller[0] * (0.999 if scale == 1.0 else scale)) for p in part.parts) + 3.0
    if part.kind == "root":
        return _width(part.parts[0], scale) + 9.0 * scale + _width(part.parts[1], 0.5)
    if part.kind == "accent":
        return _width(part.parts[0], scale)
    if part.kind == "fenced":
        return _width(part.parts[0], scale) + 12.0 * max(scale, 0.7)
    if part.kind == "table":
        cells = 1.0 if part.style != "cases" else 0.999
        columns = [max(_width(r[k], cells) for r in part.parts if k < len(r)) for k in range(max(map(len, part.parts)))]
        return sum(columns) + 10.0 * len(columns) + 6.0
    base, below, above = part.parts
    small = max(scale * 0.72, 0.5)
    scripts = [_width(below, small), _width(above, small)]
    if base.kind == "sign" and base.text in _LARGE and scale == 1.0:
        return max(_width(base, scale), *scripts) + 2.0
    return _width(base, scale) + max(scripts) + 1.0


#: what stands between equations of one row
_BETWEEN = (r"\quad", r"\qquad")
_BREAKS = ("+", "-", r"\odot", r"\oslash", r"\otimes", r"\wedge", r"\vee", r"\cdot")


def broken(rows: Sequence[str], line: float = LINE) -> list[str]:
    r"""Rows ``label &= formula``, long ones as several, so that they fit on a line under one another.

    What cannot be broken stays as it is.

    >>> broken(["a &= b + c"]), broken(["a &= b + c"], 25.0)
    (['a &= b + c'], ['a &= b', '&\\quad {}+ c'])
    """
    left = line - label_width(rows)
    return [part for row in rows for part in _broken(row, left)]


def label_width(rows: Sequence[str]) -> float:
    """How wide the column before the equals signs is, with these."""
    labels = {re.sub(r"\d", "0", row.partition("&")[0]) for row in rows}  # digits are equally wide
    return max(map(width, labels), default=0.0) + 14


def fits(formula: str, line: float) -> bool:
    """Whether a formula is no wider than a line; no character is wider than 15 points."""
    return 15 * len(formula) <= line or width(formula) <= line


def _broken(row: str, line: float) -> list[str]:
    label, equals, formula = row.partition("&= ")
    if not equals or fits(formula, line):
        return [row]
    pieces = _pieces(formula)
    rows, start, left = [], 0, line

    def text(end: int) -> str:
        opened = pieces[end][1] if end < len(pieces) else 0
        return _closed(("{}" if start else "") + "".join([p for p, _ in pieces[start:end]]), pieces[start][1], opened)

    while start < len(pieces):
        end = start + 1
        while end < len(pieces) and fits(text(end + 1), left):
            end += 1
        if end < len(pieces):  # between equations, or where the fewest brackets are open, if the row is not short then
            ends = [k for k in range(start + 1, end) if not fits(text(k), left / 2)]
            end = min([*ends, end], key=lambda k: (pieces[k][1], not pieces[k][0].startswith(_BETWEEN), -k))
        rows.append(text(end))
        start, left = end, line - _INDENT
    first, *others = rows
    return [f"{label}&= {first.strip()}", *[rf"&\quad {r.strip()}" for r in others]]


def _closed(text: str, before: int, after: int) -> str:
    """A piece of a formula whose brackets reach over its ends."""
    return r"\left. " * before + text + r" \right." * after


def _pieces(formula: str) -> list[tuple[str, int]]:
    """The formula cut before the signs that it may be broken at, and how many brackets are open at each cut."""
    cuts = [(0, 0), *_cuts(tree(formula), 0), (len(formula), 0)]
    return [(formula[start:end], opened) for (start, opened), (end, _) in pairwise(cuts)]


def _cuts(part: Part, opened: int) -> Iterator[tuple[int, int]]:
    """Where a row may be broken, and inside of how many brackets; fractions and scripts stay whole."""
    previous: Part | None = None
    for p, after in zip(part.parts, [*part.parts[1:], None], strict=True):
        is_sign = p.text in _BREAKS and previous is not None and previous.text not in ("=", *_BREAKS)
        if is_sign and previous is not None and previous.kind == "number" and _is_power_of_ten(after):
            is_sign = False  # 1.5 · 10⁻⁵ is one number
        if is_sign or (p.text in _BETWEEN and not opened):
            yield p.start, opened
        base = p.parts[0] if p.kind == "scripts" else p
        if base.kind == "fenced" and not base.text:  # brackets that may close and open again
            yield from _cuts(base.parts[0], opened + 1)
        previous = p if p.kind != "space" else previous


def _is_power_of_ten(part: Part | None) -> bool:
    return part is not None and part.kind == "scripts" and part.parts[0].text == "10"
