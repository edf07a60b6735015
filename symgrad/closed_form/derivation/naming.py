"""What values, tangents and cotangents are called: v₁, ẋ, w̄; and the letters that stand for them while printing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import sympy

from ...program.node import Node
from ..symbols import safe_name
from ..typeset import typeset

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
#: the marks over a letter, and over a word, in text; and in LaTeX
_MARKS = {"bar": ("\u0304", "\u0305"), "dot": ("\u0307", "\u0307")}
_COMMANDS = {"bar": (r"\bar", r"\overline"), "dot": (r"\dot", r"\dot")}
#: printers see one of these letters in place of a name that they could not spell
_FIRST_LETTER = 0x4E00


class Name(NamedTuple):
    """A name as it is shown."""

    text: str
    latex: str

    def marked(self, mark: str) -> Name:
        """The name under a ``bar`` (a cotangent) or a ``dot`` (a tangent); another mark goes over those there are.

        >>> user_name("w").marked("bar").latex, user_name("loss").marked("bar").latex
        ('\\\\bar{w}', '\\\\overline{\\\\mathit{loss}}')
        """
        letter, word = _MARKS[mark]
        base, *rest = re.split(r"(?=[_₀-₉])", self.text, maxsplit=1)
        plain = [c for c in base if c.isalnum()]
        if len(plain) == 1 or mark == "dot":
            at = next((k for k, c in enumerate(base) if c.isalnum()), 0) + 1
            while at < len(base) and not base[at].isalnum() and base[at] != "_":
                at += 1
            text = base[:at] + letter + base[at:]
        else:
            text = "".join(c + word for c in base)
        over, *below = re.split(r"(?=_\{)", self.latex, maxsplit=1)
        narrow, wide = _COMMANDS[mark]
        command = narrow if len(plain) == 1 or ("\\" in over[:1] and "{" not in over) else wide
        return Name(composed(text + "".join(rest)), f"{command}{{{over}}}" + "".join(below))


Names = Mapping[Node, Name]


def composed(text: str) -> str:
    """``text`` with a letter and the mark over it as one character where Unicode has that, as keyboards type it."""
    return unicodedata.normalize("NFC", text)


def user_name(label: str) -> Name:
    """A label of the user's, made safe."""
    safe = safe_name(label)
    return Name(safe, typeset(sympy.Symbol(safe)))


def numbered(k: int) -> Name:
    """The name of a value that the user has not named.

    >>> numbered(12)
    Name(text='v₁₂', latex='v_{12}')
    """
    return Name("v" + str(k).translate(_SUBSCRIPTS), f"v_{{{k}}}")


def element_of(latex: str) -> str:
    """A name in LaTeX before indices: in brackets where it has some already."""
    return rf"\left[{latex}\right]" if latex.endswith("}") else f"{{{latex}}}"


def counted(label: str, k: int) -> Name:
    """The name of the value that a local variable was bound to as the ``k``-th.

    >>> counted("x", 2), counted("x_new", 2).text
    (Name(text='x₂', latex='x_{2}'), 'x_new_2')
    """
    base = user_name(label)
    if "_" in base.text or base.text[-1].isdecimal():
        return user_name(f"{label}_{k}")
    return Name(base.text + str(k).translate(_SUBSCRIPTS), f"{base.latex}_{{{k}}}")


class Letters:
    """One letter for each name of a formula, two for a word: printers set them as they set letters and words."""

    def __init__(self, names: Iterable[Name]) -> None:
        self.names = list(names)
        self.labels = [self._label(k, name) for k, name in enumerate(self.names)]
        texts = {label: name.text for label, name in zip(self.labels, self.names, strict=True)}
        spelled = [typeset(sympy.Symbol(label)) for label in self.labels]
        latex = {label: name.latex for label, name in zip(spelled, self.names, strict=True)}
        self._texts, self._in_text = texts, _any_of(texts)
        self._latex, self._in_latex = latex, _any_of(latex)
        self._elements = re.compile(rf"\{{({self._in_latex.pattern})\}}_\{{")

    @staticmethod
    def _label(k: int, name: Name) -> str:
        if len(name.text) == 1 and name.text.isascii() and name.text.isalpha():
            return name.text  # which indices then avoid
        letter = chr(_FIRST_LETTER + k)
        short = sum(c.isalpha() or c.isdecimal() for c in name.text) == 1
        return letter if short else letter + letter

    def in_text(self, printed: str) -> str:
        """``printed`` with the names in place of the letters."""
        return self._in_text.sub(lambda m: self._texts[m[0]], printed)

    def in_latex(self, printed: str) -> str:
        """``printed`` LaTeX with the names in place of the letters."""
        elements = self._elements.sub(lambda m: rf"{self._latex_at(m[1])}_{{", printed)
        return self._in_latex.sub(lambda m: self._latex[m[0]], elements)

    def _latex_at(self, spelled: str) -> str:
        """A name that is about to get indices."""
        return element_of(self._latex[spelled])


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    ordered = sorted(words, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, ordered)) or "(?!)")
