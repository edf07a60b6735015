"""What values, tangents and cotangents are called: v₁, ẋ, w̄."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import count

from ...program.node import Node
from ..letters import SafeName, name_latex
from ..symbols import safe_name

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
#: the marks over a letter, and over each letter of a word
_MARKS = {"bar": ("\u0304", "\u0305"), "dot": ("\u0307", "")}


class Name(SafeName):
    """A name, as text and as LaTeX show it."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """The name in text."""
        return str(self)

    @property
    def latex(self) -> str:
        """The name in LaTeX."""
        return name_latex(self)

    def marked(self, mark: str) -> Name:
        """The name under a ``bar`` (a cotangent) or a ``dot`` (a tangent); another mark goes over those there are.

        >>> user_name("w").marked("bar").latex, user_name("loss").marked("bar").latex
        ('\\\\bar{w}', '\\\\overline{\\\\mathit{loss}}')
        """
        first, *others = re.findall(r"[^\W\d_₀-₉][\u0300-\u036f]*", re.split(r"[\d_₀-₉]", self)[0] or self[:1])
        narrow, wide = _MARKS[mark]
        over = [first + wide, *(letter + wide for letter in others)] if others and wide else [first + narrow, *others]
        return Name(composed("".join(over)) + self[len("".join([first, *others])) :])


class Names(dict[Node, Name]):
    """What nodes are called."""

    def __init__(self) -> None:
        super().__init__()
        self._taken: set[str] = set()

    def fresh(self, candidates: Iterable[Name]) -> Name:
        """The first of ``candidates`` that has not been given yet, as LaTeX sets them too."""
        name = next(name for name in candidates if name.latex not in self._taken)
        self._taken.add(name.latex)
        return name


def composed(text: str) -> str:
    """``text`` with a letter and the mark over it as one character where Unicode has that, as keyboards type it."""
    return unicodedata.normalize("NFC", text)


def user_name(label: str) -> Name:
    """A label of the user's, made safe."""
    return Name(safe_name(label))


def spellings(label: str) -> Iterator[Name]:
    """A label of the user's, then with numbers behind it."""
    yield user_name(label)
    yield from (user_name(f"{label}_{k}") for k in count(2))


def numbered(k: int) -> Name:
    """The name of a value that the user has not named.

    >>> numbered(12), numbered(12).latex
    ('v₁₂', 'v_{12}')
    """
    return Name("v" + str(k).translate(_SUBSCRIPTS))


def counted(label: str, k: int) -> Name:
    """The name of the value that a local variable was bound to as the ``k``-th.

    >>> counted("x", 2), counted("x_new", 2)
    ('x₂', 'x_new_2')
    """
    base = user_name(label)
    if "_" in base or base[-1].isdecimal():
        return user_name(f"{label}_{k}")
    return Name(base + str(k).translate(_SUBSCRIPTS))
