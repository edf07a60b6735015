"""Exporters: a derivative as text that stands alone, one file a format.

Every format is a function of a ``Subject``. Users' names reach a target only through ``safe_names``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..errors import ArgumentError
from . import documents, pictures, python
from .subject import Subject

#: format -> what writes it
FORMATS: dict[str, Callable[[Subject], str]] = {
    "dot": pictures.dot,
    "latex": documents.latex,
    "markdown": documents.markdown,
    "python": python.module,
    "svg": pictures.svg,
    "text": documents.text,
}


def export(subject: Subject, format: str, path: str | Path | None = None) -> str:
    """``subject`` in ``format``, which is also written to ``path`` where that is given."""
    if format not in FORMATS:
        raise ArgumentError(f"format {format!r} is unknown; choose one of {', '.join(FORMATS)}.")
    made = FORMATS[format](subject)
    if path is not None:
        Path(path).write_text(made, encoding="utf-8")
    return made
