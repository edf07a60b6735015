"""Formulas: the outputs of a Program in the form that reads best, as LaTeX and as text."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterator, Sequence
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
    expression_latex,
    has_few_entries,
    is_composed,
    let_bound_rows,
    prefers_entries,
)
from .matrix import matrix_forms, required_forms
from .plain_text import plain_text
from .recurrences import recurrences
from .symbols import safe_names
from .typeset import typeset

#: characters of text that a line of formulas may have
_WIDEST = 72
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

    def latex_rows(self, labels: Sequence[str]) -> list[str]:
        """A row ``label &= formula`` for each output; ``labels`` are LaTeX. Let-bound ones begin with the bindings."""
        if self.kind == "let-bound":
            return let_bound_rows(self.program, labels)
        if self.kind == "recurrence":
            return self.forms[0].latex_rows(labels)
        if self.kind == "entries":
            pairs = zip(labels, self.forms, self.latex, strict=True)
            return [row for label, form, whole in pairs for row in _entry_rows(label, form, whole, self._names)]
        return [f"{label} &= {formula}" for label, formula in zip(self._latex_labels(labels), self.latex, strict=True)]

    def text_rows(self, names: Sequence[str]) -> list[str]:
        """A line ``name = formula`` for each output; for let-bound ones the lines of the Program, long ones cut."""
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
        """The formula of each output, without a name; the lines of recurrences."""
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

    def _latex_labels(self, labels: Sequence[str]) -> list[str]:
        if self.kind != "index":
            return list(labels)
        return [at(label, free) for label, (free, _) in zip(labels, self.forms, strict=True)]


def element_forms(program: Program, form: str, budget: int = BUDGET) -> list[Any]:
    """The outputs as sympy: ``entries``, all of them written out, or ``index``, one element at free indices.

    ``auto`` takes entries for small arrays. Raises ClosedFormTooLarge for what would be beyond the budget.
    """
    best = next(_candidates(program, budget, BEYOND * budget, matrices=False), None) if form == "auto" else None
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
    """Small arrays entry by entry, others in matrix notation, else one element at free indices.

    Let-bound where a form would have more than ``budget`` operations or its LaTeX more than ``characters``.
    """
    told = loops_told(program, budget)
    if told is not None and told.characters <= characters:
        return told
    for made in _candidates(program, budget, min(BEYOND * budget, characters // 2)):
        if made.characters <= characters:
            return made
    return Formulas(program, "let-bound", [])


def loops_told(program: Program, budget: int = BUDGET) -> Formulas | None:
    """The recurrences of a program with loops; None where they are too long, or there are none."""
    if not has_loops(program):
        return None
    found = recurrences(program)
    if found is None or found.operations > budget or len(found) > MAX_LINES:
        return None
    return Formulas(program, "recurrence", [found])


def _candidates(program: Program, budget: int, most: int, matrices: bool = True) -> Iterator[Formulas]:
    """The forms that the program has, from the one that reads best on; entries of ``most`` operations."""
    try:
        program = without_loops(program)
    except ClosedFormTooLarge:
        return
    if prefers_entries(program, budget):
        with contextlib.suppress(ClosedFormTooLarge):
            yield Formulas(program, "entries", entry_forms(program, most))
    forms = [f for f in matrix_forms(program) if f is not None and f.length <= MAX_LETTERS] if matrices else []
    if matrices and len(forms) == len(program.outputs) and sum(f.length for f in forms) <= budget:
        yield Formulas(program, "matrix", forms)
    if fits(program, False, budget):
        with contextlib.suppress(ClosedFormTooLarge):
            found = index_forms(program)
            apart = _told_by_place(found) and has_few_entries(program, budget)
            yield Formulas(program, *(("entries", entries_apart(program)) if apart else ("index", found)))


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
