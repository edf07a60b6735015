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


class _Name(Text):
    """A Python identifier that is no keyword; others are made one.

    >>> NAME.write("grad_f"), NAME.write("x²"), NAME.write("class")
    ('grad_f', 'x_', 'class_')
    """

    def write(self, value):
        made = value if value.isidentifier() else re.sub("[^A-Za-z0-9_]", "_", value)
        made = (made if made.isidentifier() else f"f_{made}")[: self.most - 10]
        return f"{made}_" if keyword.iskeyword(made) else made

    def fits(self, value):
        return value.isidentifier() and not keyword.iskeyword(value)


class _Signs(Text):
    """A text of the ``signs`` of a class of regular expressions; others are written as ``_``.

    >>> LINE.write("one\\n²")
    'one__'
    """

    def __init__(self, signs: str, most: int, least: int, says: str) -> None:
        super().__init__(most, f"[{signs}]{{{least},{most}}}", says)
        self._others = re.compile(f"[^{signs}]")

    def write(self, value):
        return self._others.sub("_", value)[: self.most]


class _Label(Text):
    """LaTeX of a name: letters, digits, signs and a few commands, with balanced braces."""

    def fits(self, value):
        at = depth = 0
        while at < len(value):
            sign = _LATEX.match(value, at)
            if sign is None or (sign[1] and sign[1] not in _COMMANDS):
                return False
            depth += {"{": 1, "}": -1}.get(sign[0], 0)
            if depth < 0:
                return False
            at = sign.end()
        return depth == 0 and bool(value)


#: a function
NAME = _Name(200, says="{} cannot be the name of a function")
#: what is exported, in words
TITLE = _Signs(r"\w ,.()-", 300, 1, "should be letters, digits, spaces and , . ( ) - _")
LINE = _Signs(" -~", LONGEST_TEXT, 0, "should be one line of printable ASCII").named("line")
#: an operation
WORD = Text(pattern="[a-z][a-z0-9_]{0,60}", says="should be the name of an operation")
#: the first digits of a SHA-256
HASH = Text(pattern="([0-9a-f]{8,64}|unknown)", says="should be hexadecimal digits, or unknown")
LABEL = _Label(says="should be LaTeX of a name, of letters, digits, signs and commands such as \\frac and \\partial")


def plain_labels(labels: Sequence[str]) -> list[str]:
    """LaTeX names of outputs; those that say more than a name may are numbered."""
    plain = [r"\mathrm{out}"] if len(labels) == 1 else [rf"\mathrm{{out}}_{{{k}}}" for k in range(len(labels))]
    fit = [len(own) <= LABEL.most and LABEL.fits(own) for own in labels]
    return [own if is_name else other for own, other, is_name in zip(labels, plain, fit, strict=True)]
