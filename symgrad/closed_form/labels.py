"""Labels of results as text: they are LaTeX, as it stands in formulas, and are read by the tree of these."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from .latex_tree import NotLatex, Part, tree
from .letters import ACCENTS
from .symbols import safe_name

_SIGNS = {r"\partial": "∂", r"\nabla": "∇", r"\Sigma": "Σ", r"\Delta": "Δ", r"\cdot": "·", r"\times": "×"}
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_PLAIN = {"∂": "d", "∇": "nabla ", "Σ": "sum "} | {chr(raised): chr(digit) for digit, raised in _RAISED.items()}


def label_text(latex: str, names: Mapping[str, str] | None = None) -> str:
    r"""A label as text; what is one of ``names`` in LaTeX is called as that.

    >>> label_text(r"\frac{\partial^{2} f}{\partial x_{1}\,\partial \mathit{loss}}", {"x_{1}": "x1"})
    '∂²f/∂x1∂loss'
    """
    try:
        known = {part: name for latex_name, name in (names or {}).items() for part in tree(latex_name).parts[:1]}
        return _text(tree(latex), known)
    except NotLatex:
        return safe_name(latex)


def label_name(latex: str, names: Mapping[str, str] | None = None) -> str:
    r"""A label as letters and digits.

    >>> label_name(r"\frac{\partial^{2} f}{\partial w^{2}}"), label_name(r"\mathrm{out}_{2}")
    ('d2f_dw2', 'out_2')
    """
    return safe_name(label_text(latex, names).translate(str.maketrans(_PLAIN)))


def label_comment(latex: str, names: Mapping[str, str] | None = None) -> str:
    r"""A label as it may stand in a comment of any language.

    >>> label_comment(r"\frac{\partial^{2} f}{\partial w_{1}^{2}}")
    'd^2f/dw_1^2'
    """
    said = re.sub(r"(?=[⁰¹²³⁴⁵⁶⁷⁸⁹])", "^", label_text(latex, names)).translate(str.maketrans(_PLAIN))
    return re.sub(r"[^ A-Za-z0-9_.,:;()\[\]=<>+/^-]", "_", said)


def _text(part: Part, names: Mapping[Part, str]) -> str:
    if part in names:
        return names[part]
    if part.kind == "scripts":
        base, below, above = part.parts
        if above is not None:
            own = base if below is None else Part("scripts", parts=(base, below, None))
            return _text(own, names) + _text(above, names).translate(_RAISED)
        return f"{_text(base, names)}_{_text(below, names)}"
    inner = [_text(p, names) for p in part.parts if isinstance(p, Part)]
    if part.kind == "fraction":
        return "/".join(inner)
    if part.kind == "accent" and part.text in ACCENTS:
        return unicodedata.normalize("NFC", inner[0] + ACCENTS[part.text][0])
    if part.kind == "sign":
        return _SIGNS.get(part.text, part.text.removeprefix("\\"))
    return part.text + "".join(inner) if part.kind != "space" else ""
