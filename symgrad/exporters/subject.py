"""What is exported: a Program with the names that a reader knows its parts by, its facts and its check."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..closed_form.choice import formulas
from ..closed_form.formulas import Formulas
from ..closed_form.labels import label_name
from ..closed_form.latex import inputs_by_latex
from ..kernels.sparse import SparseBlock
from ..program.forks import cached_property
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
class Argument:
    """An argument as the derivative was called with it, of which ``label`` is the name.

    ``structure`` is its nesting, ``slots`` are the leaves: ``(True, k)`` for input number k of the program,
    ``(False, value)`` for what is no array, which the derivation holds fixed. ``by_name`` where it has no place.
    """

    label: str
    structure: Any
    slots: tuple[tuple[bool, Any], ...]
    by_name: bool = False


@dataclass(frozen=True)
class SparseOutcome:
    """An array of the result that is sparse: what assembles it, and which outputs of the program that takes."""

    block: SparseBlock
    own: slice


@dataclass(frozen=True)
class Subject:
    """A derivative to export.

    ``name`` is a Python name for it, ``title`` what it is in words, ``stem`` the name of a file for it without its
    suffix. ``program`` is what it computes after the passes, ``conditions`` are scalar truth values of the same graph:
    what is exported holds while all of them are True (the branches that the trace took). ``labels`` are LaTeX names of
    the outcomes, the arrays of the result. ``structure`` is its nesting, whose leaves are ``slots``: the number of an
    outcome, or a value that is no array. ``arguments`` are what the derivative is called with, in the order of the
    function; ``weights`` the values of a network's weights by name, which are the last inputs of the program.
    ``checked`` makes the check, which takes a run of the kernel and differences.
    ``traced`` is the program before the passes, its conditions as further outputs: what derivatives go on from.
    ``form`` is the form of formulas in documents, ``document`` whether they stand alone.

    Where the derivative is asked for as sparse, this is the dense one, and ``as_sparse`` makes the Subject of the
    sparse one: ``assembled`` are the arrays of its result, each an output or what is put together of several.
    """

    name: str
    title: str
    stem: str
    program: Program
    conditions: tuple[Node, ...]
    labels: Sequence[str]
    structure: Any
    slots: Sequence[tuple[bool, Any]]
    arguments: Sequence[Argument]
    weights: Mapping[str, np.ndarray]
    facts: Facts
    checked: Callable[[], Check | str] = field(repr=False)
    traced: Program = field(repr=False)
    form: str = "auto"
    document: bool = False
    as_sparse: Callable[[], Subject] | None = field(default=None, repr=False)
    assembled: Sequence[int | SparseOutcome] = ()

    @property
    def outcomes(self) -> Sequence[int | SparseOutcome]:
        """The arrays of the result in order: the numbers of the outputs that they are, or what they are made of."""
        return self.assembled or range(len(self.program.outputs))

    @cached_property
    def output_names(self) -> list[str]:
        """What the results are called where names are of letters and digits."""
        called = inputs_by_latex(self.program)
        return [label_name(label, called) for label in self.labels]

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
