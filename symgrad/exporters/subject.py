"""What is exported: a Program with the names that a reader knows its parts by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..closed_form.formulas import Formulas, formulas
from ..program.program import Program


@dataclass(frozen=True)
class Subject:
    """A derivative to export.

    ``name`` is a Python name for it, ``title`` what it is in words; ``program`` is what it computes after the passes;
    ``labels`` are LaTeX names of the outputs. ``structure`` is the nesting of the
    result, whose leaves are the positions in ``slots``: an output, or a value that is no array.
    """

    name: str
    title: str
    program: Program
    labels: Sequence[str]
    structure: Any
    slots: Sequence[tuple[bool, Any]]

    @cached_property
    def formulas(self) -> Formulas:
        """The program to read; most formats do without."""
        return formulas(self.program)
