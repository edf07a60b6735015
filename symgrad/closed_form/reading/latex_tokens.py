"""LaTeX as tokens, each with its place; what is not mathematics that symgrad reads is refused here."""

from __future__ import annotations

import re
from typing import NamedTuple

from ...errors import ArgumentError

#: letters of LaTeX that are read
_LONGEST = 4000
_MOST_DIGITS = 40

_TOKEN = re.compile(
    r"""(?P<space>\s+|~|\\[,;:!>\ ]|\\(?:quad|qquad|displaystyle|textstyle|limits|nolimits)(?![A-Za-z]))
    |(?P<number>\d+(?:\.\d+)?|\.\d+)
    |(?P<letter>[A-Za-z])
    |(?P<command>\\[A-Za-z]+)
    |(?P<row>\\\\)
    |(?P<brace>\\[{}|])
    |(?P<sign>[-+*/^_!'(){}\[\]|<>=,&])""",
    re.VERBOSE,
)


class Token(NamedTuple):
    """A piece of LaTeX; ``start`` and ``end`` say where it stands."""

    kind: str
    text: str
    start: int
    end: int


class Source:
    """The text, its tokens, and errors that point at a place in it."""

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise ArgumentError(f"from_latex: the text has {len(text)} characters; {_LONGEST} are read at most.")
        self.text = text
        self.tokens = list(self._tokens(*_opened(text)))

    def _tokens(self, start: int, stop: int):
        at = start
        while at < stop:
            found = _TOKEN.match(self.text, at, stop)
            if found is None:
                raise self.error(f"{self.text[at]!r} is not read", at, at + 1)
            kind = found.lastgroup or ""
            if kind == "number" and len(found[0]) > _MOST_DIGITS:
                raise self.error(f"a number of more than {_MOST_DIGITS} digits", at, found.end())
            if kind != "space":
                yield Token(kind, found[0], at, found.end())
            at = found.end()
        yield Token("end", "", stop, stop)

    def error(self, message: str, start: int, end: int) -> ArgumentError:
        """An error that shows the place in the text."""
        first = max(0, start - 30)
        shown = self.text[first : end + 30].replace("\n", " ")
        mark = " " * (start - first) + "^" * max(1, min(end, start + 30) - start)
        return ArgumentError(f"from_latex: {message}, at character {start + 1}:\n    {shown}\n    {mark}")


def _opened(text: str) -> tuple[int, int]:
    """Where the mathematics begins and ends, inside of dollars or brackets of a display."""
    start = len(text) - len(text.lstrip())
    stop = len(text.rstrip())
    for before, after in (("$$", "$$"), ("$", "$"), (r"\[", r"\]"), (r"\(", r"\)")):
        inside = stop - start >= len(before) + len(after)
        if inside and text.startswith(before, start) and text.endswith(after, 0, stop):
            return start + len(before), stop - len(after)
    return start, stop
