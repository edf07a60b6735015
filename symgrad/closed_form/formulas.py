"""Formulas: the outputs of a Program in the form that reads best, as LaTeX and as text."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from ..errors import ArgumentError, ClosedFormTooLarge
from ..passes.unrolling import has_loops
from ..program.dims import is_concrete
from ..program.program import Program
from .budget import BUDGET, fits, require, without_loops
from .entries import BEYOND, entries_apart, entry_forms, entry_names
from .index_form import index_forms
from .latex import (
    MAX_CHARACTERS,
    MAX_LETTERS,
    MAX_LINES,
    at,
    elements,
    expression_latex,
    has_few_entries,
    is_composed,
    let_bound_rows,
    prefers_entries,
    symbol_latex,
)
from .legibility import reading_cost
from .matrix import matrix_forms, required_forms
from .plain_text import plain_text
from .recurrences import recurrences
from .simplification import simplified
from .symbols import safe_names
from .typeset import typeset

#: characters of text that a line of formulas may have
_WIDEST = 72
#: what a formula of this cost is read more easily by on a line of its own
_LONG, _APART = 10, 4
#: a subscript at the end of a label, which can have no second one
_SUBSCRIPT = re.compile(r"_(\{[^{}]*\}|\w)$")


@dataclass(frozen=True)
class Formulas:
    """The outputs as formulas of one ``kind``: ``entries``, ``matrix``, ``index``; ``let-bound`` where these are long.

    Of a program with loops they are ``recurrence``, a form for all of them.

    >>> import numpy as np, symgrad
    >>> found = symgrad.grad(lambda w, X: np.sum((X @ w) ** 2)).formulas(np.ones(20), np.ones((50, 20)))
    >>> found.kind, found.text_rows(["g"])
    ('matrix', ['g = 2XᵀXw'])
    """

    program: Program
    kind: str
    forms: list[Any]
    #: what names of the user's stand for in these formulas, each by one formula, in the names above it
    where: tuple[tuple[str, Formulas], ...] = ()

    def latex_rows(self, labels: Sequence[str]) -> list[str]:
        """A row ``label &= formula`` for each output; ``labels`` are LaTeX. Let-bound ones begin with the bindings.

        Rows of what names stand for come last.
        """
        return [*self._own_rows(labels), *[r for name, f in self.where for r in f.latex_rows([symbol_latex(name)])]]

    def _own_rows(self, labels: Sequence[str]) -> list[str]:
        if self.kind == "let-bound":
            return let_bound_rows(self.program, labels)
        if self.kind == "recurrence":
            return self.forms[0].latex_rows(labels)
        if self.kind == "entries":
            pairs = zip(labels, self.forms, self._own_latex, strict=True)
            return [row for label, form, whole in pairs for row in _entry_rows(label, form, whole, self._names)]
        pairs = zip(self._latex_labels(labels), self._own_latex, strict=True)
        return [f"{label} &= {formula}" for label, formula in pairs]

    def text_rows(self, names: Sequence[str]) -> list[str]:
        """A line ``name = formula`` for each output; for let-bound ones the lines of the Program, long ones cut."""
        rows = self._own_text(names)
        if self.where:
            said = [line for name, f in self.where for row in f.text_rows([name]) for line in row.split("\n")]
            rows[-1] = "\n".join([rows[-1], *[f"  where {line.removeprefix('  where ')}" for line in said]])
        return rows

    def _own_text(self, names: Sequence[str]) -> list[str]:
        if self.kind == "let-bound":
            return _program_rows(self.program)
        if self.kind == "recurrence":
            return self.forms[0].text_rows(names)
        if self.kind == "index":
            made = []
            for name, (free, element) in zip(names, self.forms, strict=True):
                place = f"[{', '.join(map(str, free))}]" if free else ""
                made.append(f"{name}{place} = {plain_text(element, self._names)}")
            return made
        if self.kind == "matrix":
            return [
                "\n".join([f"{name} = {form.text}", *(f"  where {line}" for line in form.where)])
                for name, form in zip(names, self.forms, strict=True)
            ]
        texts = [
            plain_text(a if e.size else [], self._names) for e, a in zip(self.forms, as_arrays(self.forms), strict=True)
        ]
        return [f"{name} = {text}" for name, text in zip(names, texts, strict=True)]

    @cached_property
    def latex(self) -> list[str]:
        """The formula of each output, without a name, and what names stand for; the lines of recurrences."""
        said = [f"{symbol_latex(name)} = {latex}" for name, f in self.where for latex in f.latex]
        *others, last = self._own_latex or [""]
        return [*others, r",\quad ".join([last, *said])] if said else self._own_latex

    @cached_property
    def _own_latex(self) -> list[str]:
        if self.kind == "recurrence":
            return self.forms[0].latex_rows([f"r_{{{k}}}" for k in range(len(self.program.outputs))])
        if self.kind == "matrix":
            return [form.latex_line for form in self.forms]
        if self.kind == "index":
            return [typeset(element, self._names) for _, element in self.forms]
        return [expression_latex(e, self._names) for e in self.forms]

    @cached_property
    def _names(self) -> list[str]:
        """What the inputs are called in the formulas."""
        names = safe_names(self.program.names)
        return names if self.kind != "entries" else [e for entries in entry_names(self.program) for e in entries]

    @property
    def characters(self) -> int:
        """Characters of LaTeX in all formulas."""
        return sum(map(len, self.latex))

    @cached_property
    def reading_cost(self) -> float:
        """What all formulas cost to read; at free indices the label has these too.

        What a name stands for costs less where it is long, for it is read apart.
        """
        free = sum(len(index) + 1 for index, _ in self.forms) if self.kind == "index" else 0
        named = [f.reading_cost for _, f in self.where]
        return reading_cost(self._own_latex) + free + sum(c - _APART if c >= _LONG else c + 2 for c in named)

    def _latex_labels(self, labels: Sequence[str]) -> list[str]:
        if self.kind != "index":
            return list(labels)
        return [at(label, free) for label, (free, _) in zip(labels, self.forms, strict=True)]


def element_forms(program: Program, form: str, budget: int = BUDGET) -> list[Any]:
    """The outputs as sympy: ``entries``, all of them written out, or ``index``, one element at free indices.

    ``auto`` takes entries for small arrays. Raises ClosedFormTooLarge for what would be beyond the budget.
    """
    kinds = ("entries", "index") if form == "auto" else ()
    made = (_candidate(program, kind, budget, BEYOND * budget) for kind in kinds)
    best = next((found for found in made if found is not None), None)
    found = best or formulas_in(program, "index" if form == "auto" else form, budget)
    return as_arrays(found.forms) if found.kind == "entries" else [element for _, element in found.forms]


def as_arrays(arrays: Sequence[np.ndarray]) -> list[Any]:
    """Arrays of expressions as sympy's; those of no axes as the expressions."""
    return [sympy.Array(e) if e.ndim else e.item() for e in arrays]


def _told_by_place(forms: Sequence[tuple[Any, sympy.Basic]]) -> bool:
    """True where index forms say of places what stands there, which entries written out say better."""
    return any(element.has(sympy.KroneckerDelta, sympy.Eq) for _, element in forms)


def _entry_rows(label: str, form: Any, whole: str, names: Collection[str]) -> list[str]:
    """An array in brackets; entry by entry, under one another, where it would be wider than a page."""
    rows = form.reshape(1, -1) if form.ndim == 1 else form
    if form.ndim not in (1, 2) or sum(max((len(str(e)) for e in c), default=0) for c in rows.T) <= _WIDEST:
        return [f"{label} &= {whole}"]
    places = [",".join(str(k + 1) for k in place) for place in np.ndindex(form.shape)]
    name = rf"\left({label}\right)" if is_composed(label) or _SUBSCRIPT.search(label) else label
    return [f"{name}_{{{place}}} &= {typeset(e, names)}" for place, e in zip(places, form.ravel(), strict=True)]


def formulas(program: Program, budget: int = BUDGET, characters: int = MAX_CHARACTERS) -> Formulas:
    """The form that is read fastest: matrix notation, entry by entry, or one element at free indices.

    It may be that of a shorter program of the same values; see ``simplification``.
    Let-bound where a form would have more than ``budget`` operations or its LaTeX more than ``characters``.
    """
    told = loops_told(program, budget)
    if told is not None and told.characters <= characters:
        return told
    best = fastest_read(program, budget, characters)
    shorter = simplified(program)
    if shorter is not program:
        other = fastest_read(shorter, budget, characters)
        if other is not None and (best is None or other.reading_cost < best.reading_cost):
            best = other
    return best or Formulas(program, "let-bound", [])


def fastest_read(program: Program, budget: int, characters: int) -> Formulas | None:
    """The form that is read fastest of ``program`` as it is; None where none can be read."""
    best = None
    for kind in ("matrix", "entries", "index"):
        if best is not None and _least_cost(program, kind) >= best.reading_cost:
            continue
        made = _candidate(program, kind, budget, min(BEYOND * budget, characters // 2))
        if made is None or made.characters > characters:
            continue
        if best is None or made.reading_cost < best.reading_cost:
            best = made
    return best


def _least_cost(program: Program, kind: str) -> float:
    """What formulas of a kind cost to read at least; indices are never read faster than matrices."""
    return elements(program.outputs) if kind == "entries" else math.inf


def loops_told(program: Program, budget: int = BUDGET) -> Formulas | None:
    """The recurrences of a program with loops; None where they are too long, or there are none."""
    if not has_loops(program):
        return None
    found = recurrences(program)
    if found is None or found.operations > budget or len(found) > MAX_LINES:
        return None
    return Formulas(program, "recurrence", [found])


def _candidate(program: Program, kind: str, budget: int, most: int) -> Formulas | None:
    """The formulas of a kind, entries of ``most`` operations; None where there are none that could be read."""
    try:
        program = without_loops(program)
    except ClosedFormTooLarge:
        return None
    with contextlib.suppress(ClosedFormTooLarge):
        if kind == "matrix" and any(n.shape for n in program.nodes) and all(0 not in n.shape for n in program.nodes):
            forms = [f for f in matrix_forms(program) if f is not None and f.length <= MAX_LETTERS]
            if len(forms) == len(program.outputs) and sum(f.length for f in forms) <= budget:
                return Formulas(program, "matrix", forms)
        if kind == "entries" and prefers_entries(program, budget):
            return Formulas(program, "entries", entry_forms(program, most))
        if kind == "index" and fits(program, False, budget):
            found = index_forms(program)
            apart = _told_by_place(found) and has_few_entries(program, budget)
            return Formulas(program, *(("entries", entries_apart(program)) if apart else ("index", found)))
    return None


def formulas_in(program: Program, form: str, budget: int = BUDGET) -> Formulas:
    """The outputs in the ``form`` asked for: ``entries``, ``index``, ``matrix``, ``recurrence``; ``auto`` is the best.

    Raises ClosedFormTooLarge where the form would be beyond the budget or there is none, ArgumentError for the entries
    of arrays whose sizes are names.
    """
    if form == "auto":
        return formulas(program, budget)
    if form == "recurrence":
        found = loops_told(program, budget)
        if found is None:
            raise ClosedFormTooLarge(
                'there is no recurrence: the function has no loop made by scan, or one of too many lines; form="auto" '
                "takes the form that there is."
            )
        return found
    program = without_loops(program)
    if form == "matrix":
        return Formulas(program, "matrix", required_forms(program))
    if form == "index":
        require(program, False, budget)
        return Formulas(program, "index", index_forms(program))
    if not all(is_concrete(n.shape) for n in (*program.inputs, *program.nodes)):
        raise ArgumentError('form="entries" writes out every element, which needs sizes; form="index" needs none.')
    apart = has_few_entries(program, budget) and not fits(program, True, budget)
    if not apart:
        require(program, True, budget)
    return Formulas(program, "entries", entries_apart(program) if apart else entry_forms(program, BEYOND * budget))


def _program_rows(program: Program) -> list[str]:
    """The lines of the Program, long ones cut: they are saved with the notebook."""
    lines = str(program).splitlines()
    left_out = len(lines) - MAX_LINES
    if left_out > 0:
        lines[MAX_LINES - 1 : -1] = [f"  … {left_out} more lines; .program() has them all"]
    return lines
