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
        _listed(f"${_math(name)}$: {_plain(said)}" for name, said in presentation.inputs(subject)),
        " ".join(map(_sentence, presentation.notation(found, rows))),
        _display(rows) if rows else "The result holds no arrays.",
        *_conditions(subject),
        *_conventions(subject),
        *_check(subject),
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


def _listed(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _conditions(subject: Subject) -> list[str]:
    if not subject.conditions:
        return []
    stated = presentation.conditions(subject)
    parts = ["The formulas are those of the branches that the example arguments took. They hold where"]
    if stated:
        parts.append(_display(f"&{s}" for s in stated))
    if len(stated) < len(subject.conditions):
        left = len(subject.conditions) - len(stated)
        parts.append(
            f"{left} conditions on values are met that are too long to be written out; exported code checks them."
        )
    return parts


def _conventions(subject: Subject) -> list[str]:
    said = _listed(map(_plain, header.conventions(subject)))
    return [f"Where the function has no derivative, or more than one:\n\n{said}"] if said else []


def _check(subject: Subject) -> list[str]:
    said, table = presentation.checked(subject)
    if not table:
        return [_plain(said)]
    rows = [f"| ${_math(name).replace('|', chr(92) + 'vert ')}$ | {values} |" for name, values in table]
    return [_plain(said), "\n".join(["| | first elements |", "| --- | --- |", *rows])]


def _fence(content: str) -> str:
    """A fence longer than any in ``content``."""
    ticks = 3
    while "`" * ticks in content:
        ticks += 1
    return "`" * ticks
