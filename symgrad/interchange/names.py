"""Names and sentences in a document, which end up in source code and LaTeX: no more than these may say gets through."""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence

from .field import Field
from .limits import LONGEST_TEXT

_TITLE = re.compile(r"[\w ,.()-]{1,300}")
_LINE = re.compile(r"[ -~]*")
_WORD = re.compile(r"[a-z][a-z0-9_]{0,60}")
_SHA = re.compile(r"[0-9a-f]{8,64}|unknown")
_ACCENTS = "acute bar breve check ddot dot grave hat mathring overline tilde vec"
_GREEK = """
    alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa varkappa lambda mu nu xi pi varpi rho
    varrho sigma varsigma tau upsilon phi varphi chi psi omega
    Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega
"""
#: LaTeX commands that the name of an output may hold
_COMMANDS = frozenset(f"frac partial nabla mathrm mathit mathbf {_ACCENTS} {_GREEK}".split())
_LATEX = re.compile(r"\\([A-Za-z]+)|[A-Za-z0-9 {}_^,.()\[\]-]")


def read_name(field: Field) -> str:
    """A Python identifier that is no keyword."""
    name = field.text(200)
    if not name.isidentifier() or keyword.iskeyword(name):
        field.fail(f"{name!r} cannot be the name of a function")
    return name


def read_title(field: Field) -> str:
    """What is exported, in words."""
    if not _TITLE.fullmatch(field.text()):
        field.fail("should be letters, digits, spaces and , . ( ) - _")
    return field.value


def read_line(field: Field) -> str:
    """A line of printable ASCII."""
    if not _LINE.fullmatch(field.text(LONGEST_TEXT)):
        field.fail("should be one line of printable ASCII")
    return field.value


def read_word(field: Field) -> str:
    """The name of an operation."""
    if not _WORD.fullmatch(field.text()):
        field.fail("should be the name of an operation")
    return field.value


def read_hash(field: Field) -> str:
    """The first digits of a SHA-256, or ``unknown``."""
    if not _SHA.fullmatch(field.text()):
        field.fail("should be hexadecimal digits, or unknown")
    return field.value


def read_label(field: Field) -> str:
    """LaTeX of a name: letters, digits, signs and a few commands."""
    if not _is_label(field.text()):
        field.fail("should be LaTeX of a name, of letters, digits, signs and commands such as \\frac and \\partial")
    return field.value


def written_name(name: str) -> str:
    """``name`` as the name of a function.

    >>> written_name("grad_f"), written_name("x²"), written_name("class")
    ('grad_f', 'x_', 'class_')
    """
    made = name if name.isidentifier() else re.sub("[^A-Za-z0-9_]", "_", name)
    made = (made if made.isidentifier() else f"f_{made}")[:190]
    return f"{made}_" if keyword.iskeyword(made) else made


def written_line(text: str) -> str:
    """``text`` as a line of printable ASCII.

    >>> written_line("one\\n²")
    'one__'
    """
    return re.sub(r"[^ -~]", "_", text)[:LONGEST_TEXT]


def written_title(text: str) -> str:
    """``text`` as a title."""
    return re.sub(r"[^\w ,.()-]", "_", text)[:300]


def written_labels(labels: Sequence[str]) -> list[str]:
    """LaTeX names of outputs; those that say more than a name may are numbered."""
    plain = [r"\mathrm{out}"] if len(labels) == 1 else [rf"\mathrm{{out}}_{{{k}}}" for k in range(len(labels))]
    return [own if _is_label(own) and len(own) <= 1000 else other for own, other in zip(labels, plain, strict=True)]


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
