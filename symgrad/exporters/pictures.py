"""Pictures of the program, by Graphviz."""

from __future__ import annotations

from . import header
from .subject import Subject


def dot(subject: Subject) -> str:
    """The program as a Graphviz graph."""
    return "\n".join([*[f"// {line}" for line in header.lines(subject)], subject.guarded.dot(), ""])


def svg(subject: Subject) -> str:
    """The picture of that graph; where Graphviz is not installed, the text of the program as a picture."""
    return "\n".join(["<!--", *header.lines(subject), "-->", subject.guarded.svg(), ""])
