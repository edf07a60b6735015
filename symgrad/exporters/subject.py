"""What is exported: a Program with the names that a reader knows its parts by, its facts and its check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..closed_form.formulas import Formulas, formulas
from ..program.node import Node
from ..program.program import Program
from .check import Check


@dataclass(frozen=True)
class Facts:
    """What is known of a derivative beside its Program.

    ``function`` is what the user's function is called, ``source_hash`` the SHA-256 of its source (of its code where
    there is no source), ``flags`` what the derivative was asked for with, ``primitives`` the operations of the
    function and its derivative before the passes.
    """

    function: str
    source_hash: str
    flags: str
    primitives: frozenset[str]


@dataclass(frozen=True)
class Subject:
    """A derivative to export.

    ``name`` is a Python name for it, ``title`` what it is in words, ``stem`` the name of a file for it without its
    suffix. ``program`` is what it computes after the passes, ``conditions`` are scalar truth values of the same graph:
    what is exported holds while all of them are True (the branches that the trace took). ``labels`` are LaTeX names of
    the outputs. ``structure`` is the nesting of the result, whose leaves are the positions in ``slots``: an output, or
    a value that is no array. ``checked`` makes the check, which takes a run of the kernel and differences.
    ``traced`` is the program before the passes, its conditions as further outputs: what derivatives go on from.
    ``form`` is the form of formulas in documents, ``document`` whether they stand alone.
    """

    name: str
    title: str
    stem: str
    program: Program
    conditions: tuple[Node, ...]
    labels: Sequence[str]
    structure: Any
    slots: Sequence[tuple[bool, Any]]
    facts: Facts
    checked: Callable[[], Check | str] = field(repr=False)
    traced: Program = field(repr=False)
    form: str = "auto"
    document: bool = False

    @cached_property
    def guarded(self) -> Program:
        """The program with its conditions as further outputs."""
        return self.program.with_outputs((*self.program.outputs, *self.conditions))

    @cached_property
    def _check(self) -> Check | str:
        return self.checked()

    @property
    def check(self) -> Check | None:
        """What a run of the export is compared with; None where there is none."""
        return None if isinstance(self._check, str) else self._check

    @property
    def unchecked(self) -> str:
        """Why there is no check; empty where there is one."""
        return self._check if isinstance(self._check, str) else ""

    @cached_property
    def formulas(self) -> Formulas:
        """The program to read; most formats do without."""
        return formulas(self.program)
