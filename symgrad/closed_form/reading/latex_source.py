"""LaTeX that is to be read: where it stands in a text, and its parts one after the other."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from itertools import pairwise

from ...errors import ArgumentError
from ..latex_tree import Part
from .latex_words import BETWEEN, CHARACTERS, COMPARISONS, FUNCTIONS

#: letters of LaTeX that are read
_LONGEST = 4000
_MAX_DIGITS = 40


class Source:
    """The text, the mathematics in it, and errors that point at a place."""

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise ArgumentError(f"from_latex: the text has {len(text)} characters; {_LONGEST} are read at most.")
        self.text = text
        start, stop = _opened(text)
        #: what stands inside of dollars or brackets of a display, at its place
        self.mathematics = " " * start + text[start:stop]

    def error(self, message: str, start: int, end: int) -> ArgumentError:
        """An error that shows the place in the text."""
        first = max(0, start - 30)
        shown = self.text[first : end + 30].replace("\n", " ")
        mark = " " * (start - first) + "^" * max(1, min(end, start + 30) - start)
        return ArgumentError(f"from_latex: {message}, at character {start + 1}:\n    {shown}\n    {mark}")

    def run_of_letters(self, part: Part) -> str:
        """The letters from ``part`` on, with nothing in between."""
        found = re.compile("[A-Za-z]+").match(self.text, part.start)
        return "" if found is None else found[0]

    def parts(self, row: Part) -> list[Part]:
        """The parts of a row without spaces, scripts (of kind ``script``) behind their bases, and an end.

        What is not mathematics that symgrad reads is refused, and digits that TeX would tear apart.
        """
        made: list[Part] = []
        for part in row.parts:
            if part.kind == "scripts":
                base, *scripts = part.parts
                found = [(p, sign) for p, sign in zip(scripts, "_^", strict=True) if p is not None]
                ordered = sorted(found, key=lambda pair: pair[0].start)
                own = [base] if base.kind != "row" or base.end > base.start else []
                made += [*own, *(Part("script", sign, (p,), None, p.start - 1, p.end) for p, sign in ordered)]
            elif part.kind != "space":
                made.append(part)
        end = row.end - (self.text[row.start : row.start + 1] == "{" and self.text[row.end - 1] == "}")
        made.append(Part("end", start=end, end=end))
        for part, after in pairwise(made):
            if part.kind == "sign" and not (
                part.text in CHARACTERS or re.fullmatch(r"\\?[A-Za-z]|\\[A-Za-z]+", part.text)
            ):
                raise self.error(f"{part.text!r} is not read", part.start, part.end)
            if part.kind == "number" and len(part.text) > _MAX_DIGITS:
                raise self.error(f"a number of more than {_MAX_DIGITS} digits", part.start, part.end)
            torn = after.kind == "number" and after.start == part.end and self.text[part.end - 1].isdigit()
            if torn and part.kind in ("script", "fraction", "root"):
                verb = {"_": "lowers", "^": "raises"}.get(part.text, "takes")
                digits = self.text[part.end - 1 : after.end]
                fix = f"{part.text}{{{digits}}}" if part.kind == "script" else "braces"
                raise self.error(f"TeX {verb} the first digit alone; write {fix}", part.end - 1, after.end)
        return made


class Cursor:
    """Goes through the parts of a row, and through those of rows inside of it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._parts: list[Part] = []
        self._at = 0

    @property
    def _next(self) -> Part:
        return self._parts[self._at]

    @property
    def _last(self) -> Part:
        return self._parts[self._at - 1]

    def _take(self) -> Part:
        part = self._next
        self._at += part.kind != "end"
        return part

    def _is(self, *texts: str) -> bool:
        return self._next.kind in ("sign", "script") and self._next.text in texts

    def _expect(self, text: str) -> None:
        if not self._is(text):
            raise self._error(f"{text!r} is missing, {self._shown(self._next)} stands there", self._next)
        self._take()

    def _shown(self, part: Part) -> str:
        return repr(self._source.text[part.start : part.end] or "the end")

    def _error(self, message: str, part: Part, last: Part | None = None) -> ArgumentError:
        return self._source.error(message, part.start, (last or part).end)

    @contextlib.contextmanager
    def _inside(self, parts: list[Part]) -> Iterator[None]:
        """Go through these parts, all of them."""
        outer = self._parts, self._at
        self._parts, self._at = parts, 0
        yield
        if self._next.kind != "end":
            if self._next.text in COMPARISONS:
                raise self._error("an equation or a comparison is no expression; pass one side of it", self._next)
            raise self._error(f"{self._shown(self._next)} has nothing to belong to", self._next)
        self._parts, self._at = outer


def is_letter(part: Part) -> bool:
    """True for a letter that is a name."""
    return part.kind == "sign" and len(part.text) == 1 and part.text.isalpha()


def is_command(part: Part) -> bool:
    """True for a command of TeX."""
    return part.kind == "sign" and part.text[:1] == "\\" and part.text[1:].isalpha()


def begins_factor(part: Part) -> bool:
    """True where a factor may begin, without a sign before it."""
    if part.kind != "sign":
        return part.kind not in ("end", "script")
    return part.text not in BETWEEN and (is_letter(part) or is_command(part) or part.text in ("(", "[", r"\{"))


def is_function(part: Part) -> bool:
    """True for what cannot be taken for the argument of a function before it."""
    return part.kind in ("fraction", "root") or (is_command(part) and part.text[1:] in FUNCTIONS)


def _opened(text: str) -> tuple[int, int]:
    """Where the mathematics begins and ends, inside of dollars or brackets of a display."""
    start = len(text) - len(text.lstrip())
    stop = len(text.rstrip())
    for before, after in (("$$", "$$"), ("$", "$"), (r"\[", r"\]"), (r"\(", r"\)")):
        inside = stop - start >= len(before) + len(after)
        if inside and text.startswith(before, start) and text.endswith(after, 0, stop):
            return start + len(before), stop - len(after)
    return start, stop


def is_fenced_row(part: Part) -> bool:
    """Brackets in braces, as sympy writes arguments."""
    return part.kind == "row" and [p.kind for p in part.parts] == ["fenced"]
