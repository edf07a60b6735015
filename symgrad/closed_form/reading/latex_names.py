"""Names in LaTeX: letters, Greek letters and words, with an index."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import sympy

from ..latex_tree import Part
from .latex_source import Cursor, Source, is_letter
from .latex_words import FUNCTIONS, GREEK, SEVERAL, WORDS

_INDEX = "an index is letters, digits or a Greek letter"


class Names(Cursor):
    """Reads names; ``symbols`` are variables whatever they look like."""

    def __init__(self, source: Source, symbols: frozenset[str]) -> None:
        super().__init__(source)
        self._symbols = symbols
        #: how many exponents of e stand around what is read
        self._exponents = 0

    def _letter(self, part: Part) -> Any:
        run = self._source.run_of_letters(part)
        word = next((f for f in sorted((*FUNCTIONS, *SEVERAL, "sqrt", "det"), key=len, reverse=True) if f in run), None)
        if word is not None:
            fix = f"{run} would be a product of letters; write \\{word} for the function, \\mathit{{{run}}} for a name"
            raise self._source.error(fix, part.start, part.start + len(run))
        if part.text == "e" and "e" not in self._symbols and not self._is("_"):
            return sympy.E
        if part.text == "i" and self._exponents and "i" not in self._symbols and not self._is("_"):
            raise self._error(
                "above e, is i the imaginary unit, which symgrad does not compute with, or a variable? "
                "Name i in wrt or call it otherwise for a variable",
                part,
            )
        return self._named(part.text)

    def _named(self, base: str) -> Any:
        """A variable, with its index."""
        if not self._is("_"):
            return sympy.Symbol(base)
        index = self._take()
        groups: list[list[Part]] = [[]]
        for part in self._source.parts(index.parts[0])[:-1]:
            if part.text == ",":
                groups.append([])
            else:
                groups[-1].append(part)
        return sympy.Symbol("_".join([base, *(self._index(group, index) for group in groups)]))

    def _index(self, parts: list[Part], index: Part) -> str:
        """What stands between the commas of an index: letters and digits, or a Greek letter, or a word."""
        apart = [b for a, b in pairwise(parts) if not (is_letter(a) and (is_letter(b) or b.kind == "number"))]
        if not parts or apart or any(p.kind == "number" and "." in p.text for p in parts):
            raise self._error(_INDEX, (apart or parts or [index])[0])
        return "".join(map(self._index_part, parts))

    def _index_part(self, part: Part) -> str:
        if is_letter(part) or part.kind == "number":
            return part.text
        if part.kind == "sign" and part.text[1:] in GREEK:
            return part.text[1:]
        if part.kind == "word" and part.style in WORDS:
            return self._word(part)
        raise self._error(_INDEX, part)

    def _word(self, part: Part) -> str:
        """The letters of a word."""
        made = "".join(part.text.split())
        if not made.isascii() or not made.isidentifier() or not made[0].isalpha():
            raise self._error("a name of letters is missing", part)
        return made
