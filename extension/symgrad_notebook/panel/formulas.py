"""The formulas of a derivative, one an array of the result, with the summands that they can be compared by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.closed_form.budget import fits, without_loops
from symgrad.closed_form.choice import formulas as formulas_of
from symgrad.closed_form.entries import entry_forms
from symgrad.closed_form.formulas import Formulas
from symgrad.closed_form.latex import MAX_CHARACTERS, at
from symgrad.closed_form.matrix.expression import Expression, scaled
from symgrad.closed_form.matrix.latex import Latex
from symgrad.program.dims import is_concrete
from symgrad.program.program import Program
from symgrad.trace_entry import TraceEntry
from symgrad.transforms.derived import DerivedFunction
from symgrad.transforms.shown import formulas_in_names, shown_entry

from ..structure import result_names


@dataclass(frozen=True)
class Label:
    """What an array of the result is called: as text, and as LaTeX."""

    text: str
    latex: str


@dataclass(frozen=True)
class Formula:
    """One array of the result, ``label = latex``; ``text`` is its line.

    ``entries`` holds sympy expressions: one an element, or a single one that is the element at free indices.
    ``parts`` are the summands of matrix notation, each with its LaTeX. A line of a let-bound form has neither.
    """

    label: Label
    latex: str
    text: str
    entries: np.ndarray | None = field(default=None, compare=False)
    parts: tuple[tuple[Any, str], ...] = field(default=(), compare=False)


def labels(derived: DerivedFunction, entry: TraceEntry, args: tuple) -> list[Label]:
    """What each array of the result is called, in order."""
    pairs = zip(result_names(derived, entry, args), derived.labels(entry), strict=True)
    return [Label(*pair) for pair in pairs]


def formulas_of_steps(
    derived: DerivedFunction, entry: TraceEntry, args: tuple, kwargs: dict[str, Any]
) -> Formulas | None:
    """The formulas of a derivative with a loop that is short, and so runs written out; None for any other."""
    shown = shown_entry(derived, args, kwargs)
    if shown is entry or not shown.trace.has_loops:
        return None
    made = formulas_in_names(shown, shown)
    return made if made.kind == "recurrence" else None


def formulas(
    program: Program, named: Sequence[Label], small: bool = False, told: Formulas | None = None
) -> list[Formula]:
    """The formula of every output of a derivative, in the form that reads best; a line each where it is let-bound.

    ``small``: the function itself is written by entries, so sens does not make its derivative another kind of formula.
    ``told`` are formulas that are known to read better.
    """
    if told is not None:
        return _recurrence(told, named)
    made = formulas_of(program)
    sizes = all(is_concrete(n.shape) for n in (*program.inputs, *program.nodes))
    if small and sizes and made.kind != "entries" and fits(program, True):
        entries = Formulas(program, "entries", entry_forms(without_loops(program)))
        made = entries if entries.characters <= MAX_CHARACTERS else made
    if made.kind == "let-bound":
        return _let_bound(made, named)
    if made.kind == "recurrence":
        return _recurrence(made, named)
    texts = made.text_rows([label.text for label in named], apart=True)
    return [_formula(made, k, label, texts[k]) for k, label in enumerate(named)]


def _formula(made: Formulas, k: int, label: Label, text: str) -> Formula:
    """Formula number ``k``; ``text`` is its line."""
    form, latex = made.forms[k], label.latex
    entries, parts = None, ()
    if made.kind == "entries":
        entries = form
    elif made.kind == "index":
        free, element = form
        entries, latex = np.empty((), dtype=object), at(label.latex, free)
        entries[()] = element
    elif not form.where:  # parts with names of their own read as a whole alone
        printer = Latex()
        parts = tuple((e, printer(e, opened=True)) for e in _summands(form.expression))
    return Formula(Label(text.partition(" = ")[0], latex), made.latex[k], " ".join(text.split("\n")), entries, parts)


def _summands(whole: Expression) -> Sequence[Expression]:
    """The summands of matrix notation, a number before their bracket multiplied in."""
    if whole.op == "sum":
        return whole.args
    if whole.op == "scaled" and len(whole.args) == 1 and whole.args[0].op == "sum":
        coefficient, below = whole.data
        if not below:
            return [scaled(coefficient, (), (), e) for e in whole.args[0].args]
    return [whole]


def _let_bound(made: Formulas, named: Sequence[Label]) -> list[Formula]:
    rows = [row.partition(" &= ") for row in made.latex_rows([label.latex for label in named])]
    lines = [Formula(Label("", left if right else ""), right or left.lstrip("&"), "") for left, _, right in rows]
    count = len(lines) - len(named)
    values = [Formula(Label(n.text, f.label.latex), f.latex, "") for n, f in zip(named, lines[count:], strict=True)]
    return lines[:count] + values


def _recurrence(made: Formulas, named: Sequence[Label]) -> list[Formula]:
    """The lines of loops, those of the results among them."""
    texts = made.forms[0].text_rows([label.text for label in named])
    rows = made.forms[0].latex_rows([label.latex for label in named])
    lines = []
    for text, row in zip(texts, rows, strict=True):
        left, _, right = row.partition(" &= ")
        lines.append(Formula(Label(text.partition(" = ")[0], left), right, text))
    return lines
