"""The smallest form of a program that fails: whatever may be left out is left out."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace

from random_programs import NAMES, Line, Program


def shrunk(program: Program, fails: Callable[[Program], bool], most: int = 400) -> Program:
    """A program of fewer steps that ``fails`` too."""
    tried = 0
    smaller: Program | None = program
    while smaller is not None:
        program, smaller = smaller, None
        for candidate in _smaller(program):
            tried += 1
            if tried > most:
                return program
            if _runs(candidate) and fails(candidate):
                smaller = candidate
                break
    return program


def _runs(program: Program) -> bool:
    """Whether NumPy runs it, twice alike: what changes a global is another function at the next call."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            first, second = (program.function(*program.point()) for _ in range(2))
    except Exception:
        return False
    return repr(first) == repr(second)


def _smaller(program: Program) -> Iterator[Program]:
    """Programs with one thing less, those first that leave out most."""
    made = [line.target for line in program.lines if line.target]
    for name in (*program.arguments, *made):
        if program.results != (name,) and name not in program.held:
            cut = next((k + 1 for k, line in enumerate(program.lines) if line.target == name), 0)
            yield replace(program, lines=program.lines[:cut], results=(name,))
            yield replace(program, results=(name,))
    for k in reversed(range(len(program.lines))):
        line = program.lines[k]
        rest = [*program.lines[:k], *program.lines[k + 1 :]]
        read = {n for other in rest for n in other.reads} | set(program.results)
        if not line.target or line.target not in read:
            yield replace(program, lines=tuple(rest))
            continue
        for other in line.reads:
            renamed = [_renamed(later, line.target, other) for later in rest[k:]]
            results = tuple(dict.fromkeys(other if n == line.target else n for n in program.results))
            yield replace(program, lines=(*rest[:k], *renamed), results=results)
    used = set(program.results) | {n for line in program.lines for n in line.reads}
    for name in program.arguments:
        if name not in used and len(program.arguments) > 1:
            kept = {n: s for n, s in program.arguments.items() if n != name}
            if kept.keys() - set(program.held):
                yield replace(program, arguments=kept, held=tuple(n for n in program.held if n != name))
    text = "\n".join(line.text for line in program.lines)
    for name in program.constants:
        if not re.search(rf"\b{name}\b", text):
            yield replace(program, constants={n: s for n, s in program.constants.items() if n != name})
    for k, line in enumerate(program.lines):  # simpler text: one call less, a factor less
        for text in _simpler(line.text):
            reads = tuple(n for n in dict.fromkeys(NAMES.findall(text)) if n != line.target)
            if line.target or (reads and reads[0] == line.reads[0]):
                lines = (*program.lines[:k], replace(line, text=text, reads=reads), *program.lines[k + 1 :])
                yield replace(program, lines=lines)


#: a call of one argument is that argument; what is added at either end is left out
_SIMPLER = (
    (r"np\.\w+\(([^(),]*)\)", r"(\1)"),
    (r" [*+/-] [\w.()]+$", ""),
    (r"^(\w+ = )[\w.]+ [*+/-] ", r"\1"),
)


def _simpler(text: str) -> Iterator[str]:
    for pattern, by in _SIMPLER:
        for found in re.finditer(pattern, text, flags=re.M):
            made = text[: found.start()] + found.expand(by) + text[found.end() :]
            if made != text:
                yield made


def _renamed(line: Line, old: str, new: str) -> Line:
    text = re.sub(rf"\b{old}\b", new, line.text)
    reads = tuple(dict.fromkeys(new if n == old else n for n in line.reads))
    return replace(line, text=text, reads=reads)
