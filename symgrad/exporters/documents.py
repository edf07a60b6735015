"""Documents to read: LaTeX, Markdown and plain text."""

from __future__ import annotations

from ..closed_form.latex import aligned
from .subject import Subject


def latex(subject: Subject) -> str:
    """A fragment for a document that loads ``amsmath``: the formulas under one another."""
    return f"% {subject.title}\n\\[\n{aligned(subject.formulas.latex_rows(subject.labels))}\n\\]\n"


def markdown(subject: Subject) -> str:
    """The formulas as Markdown mathematics, and the program below them."""
    rows = aligned(subject.formulas.latex_rows(subject.labels))
    fence = _fence(str(subject.program))
    return f"### {subject.name}\n\n$$\n{rows}\n$$\n\n{fence}\n{subject.program}\n{fence}\n"


def text(subject: Subject) -> str:
    """The let-bound program."""
    return f"{subject.program}\n"


def _fence(content: str) -> str:
    """A fence longer than any in ``content``."""
    ticks = 3
    while "`" * ticks in content:
        ticks += 1
    return "`" * ticks
