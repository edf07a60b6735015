"""Markdown for notebooks and GitHub: the formulas between dollar signs, the program below them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from . import header, presentation
from .subject import Subject

#: commands of one sign, which Markdown takes for an escaped sign, by their names
_SPELLED = {",": "thinspace", ":": "medspace", ";": "thickspace", "{": "lbrace", "}": "rbrace", "|": "Vert"}
#: points that a column of a page has
_COLUMN = 520.0


def markdown(subject: Subject) -> str:
    """The formulas with what they hold for, and the program."""
    found = presentation.presented(subject)
    rows = presentation.rows(subject, found, _COLUMN)
    program = str(subject.program)
    fence = _fence(program)
    parts = [
        f"### {_plain(subject.name)}",
        "\n".join(["<!--", *header.lines(subject), "-->"]),
        f"{_sentence(subject.title[0].upper() + subject.title[1:])}.",
        *[part for section in presentation.sections(subject, found, rows) for part in _section(section)],
        f"{fence}\n{program}\n{fence}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _display(rows: Iterable[str]) -> str:
    body = " \\\\\n".join(map(_math, rows))
    return f"$$\n\\begin{{aligned}}\n{body}\n\\end{{aligned}}\n$$"


def _math(latex: str) -> str:
    r"""LaTeX without commands that Markdown would take for escapes.

    >>> print(_math(r"\left\{x\right\}"))
    \left\lbrace x\right\rbrace
    """
    return re.sub(r"\\(?:\\|([,:;{}|])( ?)(?=(\w?)))", _spelled, latex)


def _spelled(found: re.Match[str]) -> str:
    if found[1] is None:  # the end of a row
        return found[0]
    return f"\\{_SPELLED[found[1]]}{' ' if found[2] or found[3] else ''}"


def _plain(said: str) -> str:
    """Words, of which no sign is Markdown or HTML."""
    return re.sub(r"([\\`*_{}\[\]<>#|$~^&])", r"\\\1", said)


def _sentence(said: str) -> str:
    return "".join(f"${_math(p)}$" if k % 2 else _plain(p) for k, p in enumerate(said.split("$")))


def _section(section: presentation.Section) -> list[str]:
    cells = [f"| ${_math(name).replace('|', chr(92) + 'vert ')}$ | {values} |" for name, values in section.table]
    return [
        " ".join(map(_sentence, section.said)),
        "\n".join(f"- {_sentence(item)}" for item in section.items),
        _display(section.rows) if section.rows else "",
        *map(_sentence, section.below),
        "\n".join(["| | first elements |", "| --- | --- |", *cells]) if cells else "",
    ]


def _fence(content: str) -> str:
    """A fence longer than any in ``content``."""
    ticks = 3
    while "`" * ticks in content:
        ticks += 1
    return "`" * ticks
