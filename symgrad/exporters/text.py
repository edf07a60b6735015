"""Plain text: the let-bound program."""

from __future__ import annotations

from . import header
from .subject import Subject


def text(subject: Subject) -> str:
    """The let-bound program, what it is above it."""
    return "\n".join([*[f"# {line}" for line in header.lines(subject)], str(subject.guarded), ""])
