"""Presentation MathML: the formulas as browsers set them, without a script."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from itertools import pairwise

from ..closed_form.latex_tree import Part, tree
from ..closed_form.letters import ACCENTS, GREEK
from . import header, presentation
from .subject import Subject

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
#: commands that are one character
_SIGNS = """
    partial ∂  nabla ∇  infty ∞  odot ⊙  oslash ⊘  otimes ⊗  oplus ⊕  wedge ∧  vee ∨  neg ¬  cdot ⋅  sim ∼  vdots ⋮
    leq ≤  le ≤  geq ≥  ge ≥  neq ≠  ne ≠  sum ∑  prod ∏  top ⊤  lfloor ⌊  rfloor ⌋  lceil ⌈  rceil ⌉  bmod mod  | ‖
"""
_CHARACTERS = GREEK | dict(re.findall(r"(\S+) (\S+)", _SIGNS))
_LETTERS = {*GREEK.values(), "∞", "∂", "∇"}
_SPACES = {r"\,": "0.17em", r"\:": "0.22em", r"\;": "0.28em", r"\quad": "1em", r"\qquad": "2em", r"\ ": "0.3em"}
_LARGE = (r"\sum", r"\prod", r"\max", r"\min")


def mathml(subject: Subject) -> str:
    """A ``math`` element with the formulas under one another; as a document it has an XML declaration."""
    found = presentation.presented(subject)
    rows = [_row(row) for row in presentation.rows(subject, found)]
    math = ElementTree.Element("math", {"xmlns": NAMESPACE, "display": "block"})
    table = _child(
        math, "mtable", displaystyle="true", columnalign="right left", columnspacing="0.3em", rowspacing="1ex"
    )
    for label, formula in rows:
        line = _child(table, "mtr")
        for part, side in ((label, "right"), (formula, "left")):
            _child(line, "mtd", style=f"text-align: {side}").append(element(part))
    ElementTree.indent(math, " ")
    declared = ['<?xml version="1.0" encoding="UTF-8"?>'] if subject.document else []
    return "\n".join([*declared, "<!--", *header.lines(subject), "-->", ElementTree.tostring(math, "unicode"), ""])


def _row(row: str) -> tuple[Part, Part]:
    """What stands before the equals sign of a row, and the rest."""
    label, _, formula = row.partition("&")
    return tree(label), tree(formula)


def element(part: Part) -> ElementTree.Element:
    r"""A part of a formula in MathML.

    >>> ElementTree.tostring(element(tree(r"\frac{x}{2}")), "unicode")
    '<mfrac><mi>x</mi><mn>2</mn></mfrac>'
    """
    return _WRITERS[part.kind](part)


def _made(tag: str, *inner: ElementTree.Element, text: str | None = None, **attributes: str) -> ElementTree.Element:
    made = ElementTree.Element(tag, attributes)
    made.text = text
    made.extend(inner)
    return made


def _child(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, attributes)


def _of_row(part: Part) -> ElementTree.Element:
    inner: list[ElementTree.Element] = []
    for before, own in pairwise([Part("space"), *part.parts]):
        made = element(own)
        if made.tag == "mo" and made.text in ("−", "+") and _is_operator(before):
            made.set("form", "prefix")
        apart = _is_word(own) or _is_word(before, ("mathit", "mathrm"))
        if apart and not _is_operator(before) and not _is_operator(own):
            inner.append(_made("mspace", width="0.17em"))
        inner.append(made)
    return inner[0] if len(inner) == 1 else _made("mrow", *inner)


def _is_word(part: Part, styles: Sequence[str] = ("mathit", "mathrm", "operatorname")) -> bool:
    """True for a name of several letters, with its indices, which stands apart from its neighbours."""
    base = part.parts[0] if part.kind == "scripts" else part
    return base.kind == "word" and base.style in styles and len(base.text) > 1


def _is_operator(part: Part) -> bool:
    return (part.kind == "sign" and element(part).tag == "mo") or part.kind == "space"


def _of_sign(part: Part) -> ElementTree.Element:
    if part.text.startswith("\\"):
        name = part.text[1:]
        sign = _CHARACTERS.get(name, name)
    else:
        sign = part.text
    if sign == "-":
        sign = "−"
    if sign.isalpha() or sign in _LETTERS:
        return _made("mo" if sign == "mod" else "mi", text=sign)
    return _made("mo", text=sign, **({"stretchy": "false"} if sign in "()[]{}|‖" else {}))


def _of_word(part: Part) -> ElementTree.Element:
    said = re.sub(r"\\(.)", r"\1", part.text)
    if part.style in ("text", "texttt"):
        return _made("mtext", text=re.sub("^ | $", "\N{NO-BREAK SPACE}", said))
    if part.style in ("mathbin", "mathord"):
        inner = tree(part.text)
        return _made(
            "mo", text="".join(element(inner).itertext()), form="infix" if part.style == "mathbin" else "prefix"
        )
    variant = {"mathbf": chr(0x1D7CF) if said == "1" else said}.get(part.style, said)
    return _made("mn" if said.isdigit() else "mi", text=variant)


def _of_fraction(part: Part) -> ElementTree.Element:
    return _made("mfrac", *map(element, part.parts))


def _of_root(part: Part) -> ElementTree.Element:
    inner, degree = part.parts
    return _made("msqrt", element(inner)) if degree is None else _made("mroot", element(inner), element(degree))


def _of_scripts(part: Part) -> ElementTree.Element:
    base, below, above = part.parts
    large = base.kind == "sign" and base.text in _LARGE
    inner = [element(p) for p in part.parts if p is not None]
    if below is not None and above is not None:
        return _made("munderover" if large else "msubsup", *inner)
    if below is not None:
        return _made("munder" if large else "msub", *inner)
    return _made("msup", *inner)


def _bracket(sign: str) -> ElementTree.Element:
    name = sign.removeprefix("\\")
    return _made("mo", text=_CHARACTERS.get(name, name), stretchy="true", fence="true")


def _of_fenced(part: Part) -> ElementTree.Element:
    first, last = part.style
    row = _made("mrow")
    row.extend([_bracket(first)] if first != "." else [])
    row.append(element(part.parts[0]))
    row.extend([_bracket(last)] if last != "." else [])
    return row


def _of_accent(part: Part) -> ElementTree.Element:
    return _made("mover", element(part.parts[0]), _made("mo", text=ACCENTS.get(part.text, "¯")[-1]), accent="true")


def _of_space(part: Part) -> ElementTree.Element:
    return _made("mspace", width=_SPACES.get(part.text, "0.17em"))


def _of_table(part: Part) -> ElementTree.Element:
    side = {"style": "text-align: left"} if part.style == "cases" else {}
    lines = [_made("mtr", *[_made("mtd", element(c), **side) for c in cells]) for cells in _filled(part.parts)]
    if part.style != "cases":
        return _made("mtable", *lines)
    return _made("mrow", _bracket(r"\{"), _made("mtable", *lines, columnalign="left left"))


def _filled(rows: Sequence[tuple[Part, ...]]) -> list[tuple[Part, ...]]:
    columns = max(map(len, rows))
    return [(*cells, *[Part("row")] * (columns - len(cells))) for cells in rows]


_WRITERS = {
    "row": _of_row,
    "sign": _of_sign,
    "number": lambda part: _made("mn", text=part.text),
    "word": _of_word,
    "space": _of_space,
    "fraction": _of_fraction,
    "root": _of_root,
    "scripts": _of_scripts,
    "fenced": _of_fenced,
    "accent": _of_accent,
    "table": _of_table,
}
