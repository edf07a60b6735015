"""The tree of a formula in LaTeX, as symgrad writes it: for its width, for breaking it and for MathML.

It reads the LaTeX of this package and no other: fractions, roots, scripts, brackets, arrays, accents and words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|[^\s\\]")
#: commands of one argument that say how a word is set
WORDS = ("mathit", "mathrm", "mathbf", "operatorname", "text", "texttt", "mathbin", "mathord")
ACCENTS = ("overline", "grave", "acute", "hat", "tilde", "bar", "breve", "dot", "ddot", "mathring", "check")
#: deeper nesting than formulas within the budget have
MOST_DEPTH = 150


@dataclass(frozen=True)
class Part:
    """A part of a formula.

    ``kind`` is ``row`` (of parts), ``sign`` (``text`` a character or a command), ``number``, ``word`` (``text`` and, as
    ``style``, its command), ``space``, ``fraction``, ``root`` (of ``parts[0]``, ``parts[1]`` its degree), ``scripts``
    (``parts`` base, below, above; a missing one is None), ``fenced`` (``style`` the brackets, two texts), ``accent``,
    ``table`` (``parts`` rows of cells, ``style`` its environment).
    """

    kind: str
    text: str = ""
    parts: tuple[Any, ...] = ()
    style: Any = None


def tree(latex: str) -> Part:
    r"""The tree of a formula.

    >>> made = tree(r"\frac{x_{1}}{2}")
    >>> made.parts[0].kind, [p.parts[0].kind for p in made.parts[0].parts]
    ('fraction', ['scripts', 'number'])
    """
    return _Reader(latex).row()


class _Reader:
    def __init__(self, latex: str) -> None:
        self.latex = latex
        self.tokens = [(m[0], m.start()) for m in _TOKEN.finditer(latex)]
        self.place = 0
        self.depth = 0

    def next(self) -> str:
        return self.tokens[self.place][0] if self.place < len(self.tokens) else ""

    def take(self, expected: str | None = None) -> str:
        token = self.next()
        if not token or (expected is not None and token != expected):
            raise ValueError(f"{expected or 'more'} expected at {self.place} of {self.latex!r}")
        self.place += 1
        return token

    def row(self, *ends: str) -> Part:
        """Parts up to one of ``ends``, which is left to read."""
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise ValueError("the formula is nested too deeply")
        parts: list[Part] = []
        while self.next() and self.next() not in ends:
            if self.next() in ("_", "^"):
                parts.append(self._scripts(parts.pop() if parts else Part("row")))
            else:
                part = self._part()
                if part is not None:
                    parts.append(part)
        self.depth -= 1
        return Part("row", parts=tuple(parts))

    def _scripts(self, base: Part) -> Part:
        below, above = base.parts[1:] if base.kind == "scripts" else (None, None)
        own = base.parts[0] if base.kind == "scripts" else base
        if self.take() == "_":
            below = self._argument()
        else:
            above = self._argument()
        return Part("scripts", parts=(own, below, above))

    def _argument(self) -> Part:
        if self.next() == "{":
            return self._group()
        part = self._part()
        return Part("row", parts=() if part is None else (part,))

    def _group(self) -> Part:
        self.take("{")
        made = self.row("}")
        self.take("}")
        return made

    def _words(self) -> str:
        """What stands in braces, as it is written."""
        self.take("{")
        start = self.tokens[self.place][1]
        open_ = 1
        while open_:
            token = self.take()
            open_ += (token == "{") - (token == "}")
        return self.latex[start : self.tokens[self.place - 1][1]]

    def _part(self) -> Part | None:
        token = self.next()
        if token == "{":
            return self._group()
        self.take()
        if token[0].isdigit():
            return Part("number", token)
        if not token.startswith("\\"):
            return Part("sign", token)
        command = token[1:]
        if command in ("frac", "tfrac"):
            return Part("fraction", parts=(self._argument(), self._argument()))
        if command == "sqrt":
            degree = None
            if self.next() == "[":
                self.take()
                degree = self.row("]")
                self.take("]")
            return Part("root", parts=(self._argument(), degree))
        if command in WORDS:
            return Part("word", self._words(), style=command)
        if command in ACCENTS:
            return Part("accent", command, (self._argument(),))
        if command == "left":
            return self._fenced()
        if command == "begin":
            return self._table()
        if command in ("quad", "qquad", ",", ";", ":", "!", " "):
            return Part("space", token)
        return Part("sign", token)

    def _fenced(self) -> Part:
        first = self.take()
        inner = self.row(r"\right")
        self.take(r"\right")
        return Part("fenced", parts=(inner,), style=(first, self.take()))

    def _table(self) -> Part:
        name = self._words()
        if name == "array":
            self._words()
        rows: list[tuple[Part, ...]] = []
        cells: list[Part] = []
        while True:
            cells.append(self.row("&", r"\\", r"\end"))
            end = self.take()
            if end == "&":
                continue
            rows.append(tuple(cells))
            cells = []
            if end == r"\end":
                self._words()
                return Part("table", parts=tuple(rows), style=name)
