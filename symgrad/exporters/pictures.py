"""Pictures of the program, by Graphviz."""

from __future__ import annotations

from .subject import Subject


def dot(subject: Subject) -> str:
    """The program as a Graphviz graph."""
    return subject.program.dot() + "\n"


def svg(subject: Subject) -> str:
    """The picture of that graph; where Graphviz is not installed, the text of the program as a picture."""
    return subject.program.svg() + "\n"
