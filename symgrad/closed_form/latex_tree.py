"""The tree of a formula in LaTeX: for its width, for breaking it, for MathML and for reading it.

It knows what TeX groups: fractions, roots, scripts, brackets that grow, arrays, accents and words; not what they mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from .letters import ACCENTS

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\.\d+|[^\s\\]|\\")
#: commands of one argument that say how a word is set
WORDS = ("mathit", "mathrm", "mathsf", "mathbf", "operatorname", "mathop", "text", "texttt", "mathbin", "mathord")
_SPACES = {"~", *(rf"\{c}" for c in ",;:!> "), r"\quad", r"\qquad"}
_SPACES |= {r"\displaystyle", r"\textstyle", r"\limits", r"\nolimits"}
#: deeper nesting than formulas within the budget have
MAX_DEPTH = 150


@dataclass(frozen=True)
class Part:
    """A part of a formula, which stands from ``start`` to ``end``.

    ``kind`` is ``row`` (of parts), ``sign`` (``text`` a character or a command), ``number``, ``word`` (``text`` and, as
    ``style``, its command), ``space``, ``fraction``, ``root`` (of ``parts[0]``, ``parts[1]`` its degree), ``scripts``
    (``parts`` base, below, above; a missing one is None), ``fenced`` (``style`` the brackets, two texts), ``accent``,
    ``table`` (``parts`` rows of cells, ``style`` its environment).
    """

    kind: str
    text: str = ""
    parts: tuple[Any, ...] = ()
    style: Any = None
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


class NotLatex(ValueError):
    """Text that TeX would not take; ``start`` and ``end`` say where."""

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.start, self.end = start, end


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

    def error(self, message: str) -> NotLatex:
        start = self.start()
        return NotLatex(message, start, start + len(self.next()))

    def start(self) -> int:
        return self.tokens[self.place][1] if self.place < len(self.tokens) else len(self.latex.rstrip())

    def end(self) -> int:
        token, start = self.tokens[self.place - 1] if self.place else ("", 0)
        return start + len(token)

    def take(self, expected: str | None = None) -> str:
        token = self.next()
        if not token or (expected is not None and token != expected):
            raise self.error(f"{expected or 'more'!r} is missing, {token or 'the end'!r} stands there")
        self.place += 1
        return token

    def row(self, *ends: str) -> Part:
        """Parts up to one of ``ends``, which is left to read."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"brackets are nested deeper than {MAX_DEPTH}")
        parts: list[Part] = []
        start = self.start()
        while self.next() and self.next() not in ends:
            if self.next() in ("_", "^"):
                parts.append(self._scripts(parts.pop() if parts else Part("row", start=self.start(), end=self.start())))
            else:
                parts.append(self._part())
        self.depth -= 1
        return Part("row", parts=tuple(parts), start=start, end=self.end() if parts else start)

    def _scripts(self, base: Part) -> Part:
        own, *scripts = base.parts if base.kind == "scripts" else (base, None, None)
        above = self.next() == "^"
        if scripts[above] is not None:
            raise self.error(f"two {'exponents' if above else 'indices'}; write brackets")
        scripts[above] = self._argument(self.take())
        return Part("scripts", parts=(own, *scripts), start=base.start, end=self.end())

    def _argument(self, of: str) -> Part:
        """A group, or as TeX takes it one digit, letter or command."""
        token, start = self.next(), self.start()
        if token == "{":
            return self._group()
        if token in ("", "}", "&", r"\\", "_", "^"):
            raise self.error(f"write what belongs to {of!r} in braces")
        if token[0].isdigit() and len(token) > 1:
            self.tokens[self.place : self.place + 1] = [(token[0], start), (token[1:], start + 1)]
        part = self._part()
        return Part("row", parts=(part,), start=start, end=part.end)

    def _group(self) -> Part:
        start = self.start()
        self.take("{")
        made = self.row("}")
        self.take("}")
        return Part("row", parts=made.parts, start=start, end=self.end())

    def _words(self) -> str:
        """What stands in braces, as it is written."""
        if self.next() != "{":
            return self.take()
        self.take()
        start = self.start()
        open_ = 1
        while open_:
            token = self.take()
            open_ += (token == "{") - (token == "}")
        return self.latex[start : self.tokens[self.place - 1][1]]

    def _part(self) -> Part:
        if self.next() == "{":
            return self._group()
        start = self.start()
        kind, text, parts, style = self._read(self.take())
        return Part(kind, text, parts, style, start, self.end())

    def _read(self, token: str) -> tuple[str, str, tuple[Any, ...], Any]:
        """Kind, text, parts and style of what begins with ``token``."""
        if token[-1].isdigit():
            return "number", token, (), None
        if token in _SPACES:
            return "space", token, (), None
        command = token[1:] if token[0] == "\\" else ""
        if command in ("frac", "tfrac", "dfrac"):
            return "fraction", "", (self._argument(token), self._argument(token)), None
        if command == "sqrt":
            degree = None
            if self.next() == "[":
                self.take()
                degree = self.row("]")
                self.take("]")
            return "root", "", (self._argument(token), degree), None
        if command in WORDS:
            return "word", self._words(), (), command
        if command in ACCENTS or command == "overline":
            return "accent", command, (self._argument(token),), None
        if command == "left":
            first = self.take()
            inner = self.row(r"\right")
            self.take(r"\right")
            return "fenced", "", (inner,), (first, self.take())
        if command == "lVert":
            inner = self.row(r"\rVert")
            self.take(r"\rVert")
            return "fenced", command, (inner,), (r"\|", r"\|")
        if command == "begin":
            return self._table()
        return "sign", token, (), None

    def _table(self) -> tuple[str, str, tuple[Any, ...], Any]:
        name = self._words()
        if name == "array":
            self._words()
        rows: list[tuple[Part, ...]] = []
        cells: list[Part] = []
        while True:
            cells.append(self.row("&", r"\\", r"\end"))
            if not self.next():
                raise self.error(f"\\end{{{name}}} is missing")
            end = self.take()
            if end == "&":
                continue
            rows.append(tuple(cells))
            cells = []
            if end == r"\end":
                if self._words() != name:
                    raise self.error(f"\\end{{{name}}} is missing")
                return "table", "", tuple(rows), name
