"""What is exported: a Program with the names that a reader knows its parts by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..closed_form.formulas import Formulas
from ..program.program import Program


@dataclass(frozen=True)
class Subject:
    """A derivative to export.

    ``name`` is a Python name for it, ``title`` what it is in words; ``program`` is what it computes after the passes,
    ``formulas`` the same to read; ``labels`` are LaTeX names of the outputs. ``structure`` is the nesting of the
    result, whose leaves are the positions in ``slots``: an output, or a value that is no array.
    """

    name: str
    title: str
    program: Program
    formulas: Formulas
    labels: Sequence[str]
    structure: Any
    slots: Sequence[tuple[bool, Any]]
