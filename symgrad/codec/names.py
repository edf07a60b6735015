"""Names and sentences in a document, which end up in source code and LaTeX: no more than these may say gets through."""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence

from .forms import Text
from .limits import LONGEST_TEXT

_ACCENTS = "acute bar breve check ddot dot grave hat mathring overline tilde vec"
_GREEK = """
    alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa varkappa lambda mu nu xi pi varpi rho
    varrho sigma varsigma tau upsilon phi varphi chi psi omega
    Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega
"""
#: LaTeX commands that the name of an output may hold
_COMMANDS = frozenset(f"frac partial nabla mathrm mathit mathbf {_ACCENTS} {_GREEK}".split())
_LATEX = re.compile(r"\\([A-Za-z]+)|[A-Za-z0-9 {}_^,.()\[\]-]")


def _is_label(text: str) -> bool:
    at = depth = 0
    while at < len(text):
        sign = _LATEX.match(text, at)
        if sign is None or (sign[1] and sign[1] not in _COMMANDS):
            return False
        depth += {"{": 1, "}": -1}.get(sign[0], 0)
        if depth < 0:
            return False
        at = sign.end()
    return depth == 0 and bool(text)


def function_name(text: str) -> str:
    """A name for a function that is much like ``text``.

    >>> function_name("grad_f"), function_name("x²"), function_name("class")
    ('grad_f', 'x_', 'class_')
    """
    made = text if text.isidentifier() else re.sub("[^A-Za-z0-9_]", "_", text)
    made = (made if made.isidentifier() else f"f_{made}")[:190]
    return f"{made}_" if keyword.iskeyword(made) else made


#: a function
NAME = Text(
    200,
    "{} cannot be the name of a function",
    lambda text: text.isidentifier() and not keyword.iskeyword(text),
    clean=function_name,
)
#: what is exported, in words
TITLE = Text(
    300,
    "should be letters, digits, spaces and , . ( ) - _",
    re.compile(r"[\w ,.()-]+").fullmatch,
    clean=lambda text: re.sub(r"[^\w ,.()-]", "_", text)[:300],
)
LINE = Text(
    LONGEST_TEXT,
    "should be one line of printable ASCII",
    pattern="[ -~]*",
    clean=lambda text: re.sub(r"[^ -~]", "_", text)[:LONGEST_TEXT],
).named("line")
#: an operation
WORD = Text(61, "should be the name of an operation", pattern="[a-z][a-z0-9_]*")
#: the first digits of a SHA-256
HASH = Text(64, "should be hexadecimal digits, or unknown", pattern="[0-9a-f]{8,64}|unknown")
#: LaTeX of a name: letters, digits, signs and a few commands, with balanced braces
LABEL = Text(
    says="should be LaTeX of a name, of letters, digits, signs and commands such as \\frac and \\partial",
    fits=_is_label,
)


def plain_labels(labels: Sequence[str]) -> list[str]:
    """LaTeX names of outputs; those that say more than a name may are numbered."""
    plain = [r"\mathrm{out}"] if len(labels) == 1 else [rf"\mathrm{{out}}_{{{k}}}" for k in range(len(labels))]
    fit = [len(own) <= LABEL.most and LABEL.fits(own) for own in labels]
    return [own if is_name else other for own, other, is_name in zip(labels, plain, fit, strict=True)]
