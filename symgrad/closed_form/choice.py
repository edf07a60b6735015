"""The form that formulas are shown in: of those that there are, the one that is read fastest."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Collection, Sequence
from typing import Any

import sympy

from ..errors import ArgumentError, ClosedFormTooLarge
from ..passes.unrolling import has_loops
from ..primitives.contraction import EINSUM
from ..primitives.elementwise import Elementwise
from ..primitives.primitive import CONSTANT
from ..program.dims import is_concrete
from ..program.node import Node
from ..program.program import Program
from .budget import BUDGET, fits, predicted_operations, require, without_loops
from .deadline import Allowance, TimeIsUp
from .entries import BEYOND, at_free_indices, entries_apart, entry_forms
from .formulas import Formulas, as_arrays
from .gathering import gathered
from .index_form import index_forms
from .latex import MAX_CHARACTERS, MAX_LETTERS, MAX_LINES, elements, has_few_entries, prefers_entries
from .matrix import matrix_forms, required_forms
from .reals import of_real_numbers
from .recurrences import recurrences
from .simplification import simplified
from .vanishing import without_vanishing

#: calls of functions that a choice may take, which are a second or two
_MAX_CALLS = 1_600_000
#: cases that one element at free indices may tell apart by its place
_MAX_PLACES = 4


class Choice:
    """A search for what is read fastest, within an allowance of calls, however busy the machine is.

    A form of more than ``budget`` operations, or whose LaTeX has more than ``characters``, cannot be read.
    """

    def __init__(self, budget: int, characters: int, reserved: Collection[str] = ()) -> None:
        """``reserved`` are the user's names, which no other value is called as."""
        self.budget, self.characters, self.reserved = budget, characters, reserved
        self._allowance = Allowance(_MAX_CALLS)

    def fastest(self, program: Program) -> Formulas | None:
        """The form that is read fastest of ``program`` as it is; None where none can be read."""
        best = None
        for kind in ("matrix", "entries", "index"):
            if best is None or _may_win(program, kind, best):
                made = self._form(program, kind)
                best = made if is_faster(made, best) else best
        return best

    def shorter(self, program: Program) -> Program:
        """A shorter program of the same values, or ``program`` itself."""
        made = program
        with contextlib.suppress(ClosedFormTooLarge, TimeIsUp), self._allowance.drawn_on():
            made = simplified(gathered(without_vanishing(program)))
        return made

    def _form(self, program: Program, kind: str) -> Formulas | None:
        with contextlib.suppress(ClosedFormTooLarge, TimeIsUp), self._allowance.drawn_on():
            most = min(BEYOND * self.budget, self.characters // 2)
            made = _written(without_loops(program), kind, self.budget, most, self.reserved)
            if made is not None and made.characters <= self.characters and math.isfinite(made.reading_cost):
                return made
        return None


def is_faster(made: Formulas | None, than: Formulas | None) -> bool:
    """Whether ``made`` is there, and is read faster."""
    return made is not None and (than is None or made.reading_cost < than.reading_cost)


def _may_win(program: Program, kind: str, best: Formulas) -> bool:
    """Whether formulas of a kind may be read faster than ``best``.

    Indices are read faster than matrices where one case is told of each element, and faster than entries where they
    say what all of these have in common.
    """
    if kind == "entries":
        return elements(program.outputs) < best.reading_cost
    if best.kind == "matrix":
        return any(map(_has_cases, program.nodes)) and not any(map(_adds_up, program.nodes))
    if best.kind != "entries" or any(n.primitive is CONSTANT and n.shape for n in program.nodes):
        return False
    whole = without_loops(program)
    return 2 * predicted_operations(whole, entries=False) <= predicted_operations(whole, entries=True)


def _has_cases(node: Node) -> bool:
    """Whether a node is one of several elementwise, by what they are."""
    return isinstance(node.primitive, Elementwise) and node.primitive.expr.has(sympy.Piecewise, sympy.Max, sympy.Min)


def _adds_up(node: Node) -> bool:
    """Whether a node is a contraction that sums over an axis."""
    return node.primitive is EINSUM and not {i for labels in node.params[0] for i in labels} <= set(node.params[1])


def _written(program: Program, kind: str, budget: int, most: int, reserved: Collection[str] = ()) -> Formulas | None:
    """The formulas of a kind, entries of ``most`` operations; None where there are none that could be read."""
    if kind == "matrix" and any(n.shape for n in program.nodes) and all(0 not in n.shape for n in program.nodes):
        forms = [f for f in matrix_forms(program, reserved) if f is not None and f.length <= MAX_LETTERS]
        if len(forms) == len(program.outputs) and sum(f.length for f in forms) <= budget:
            return Formulas(program, "matrix", forms)
    if kind == "entries" and prefers_entries(program, budget):
        return Formulas(program, "entries", entry_forms(program, most))
    if kind == "index" and fits(program, False, budget):
        found = index_forms(program)
        by_place = _told_by_place(found)
        apart = by_place and has_few_entries(program, budget)
        if by_place and not apart and sum(len(e.atoms(sympy.Piecewise)) for _, e in found) > _MAX_PLACES:
            return None  # what stands where is found in no such sum
        if apart:
            return Formulas(program, "entries", entries_apart(program))
        return Formulas(program, "index", [(free, at_free_indices(element)) for free, element in found])
    return None


def _told_by_place(forms: Sequence[tuple[Any, sympy.Basic]]) -> bool:
    """True where index forms say of places what stands there, which entries written out say better."""
    of_places = [test for _, element in forms for test in element.atoms(sympy.Eq) if not test.has(sympy.Indexed)]
    return bool(of_places) or any(element.has(sympy.KroneckerDelta) for _, element in forms)


def formulas(
    program: Program, budget: int = BUDGET, characters: int = MAX_CHARACTERS, reserved: Collection[str] = ()
) -> Formulas:
    """The form that is read fastest: matrix notation, entry by entry, or one element at free indices.

    It may be that of a shorter program of the same values; see ``simplification``.
    Let-bound where a form would have more than ``budget`` operations, its LaTeX more than ``characters``, or where it
    would take more than two seconds. What has no name is called otherwise than ``reserved``.
    """
    return chosen(program, Choice(budget, characters, reserved))


def chosen(program: Program, choice: Choice) -> Formulas:
    """``formulas`` as part of a larger choice."""
    told = loops_told(program, choice.budget, choice.reserved)
    if told is not None and told.characters <= choice.characters:
        return told
    program = of_real_numbers(program)
    best = choice.fastest(program)
    shorter = choice.shorter(program)
    if shorter is not program:
        other = choice.fastest(shorter)
        best = other if is_faster(other, best) else best
    return best or Formulas(program, "let-bound", [])


def element_forms(program: Program, form: str, budget: int = BUDGET) -> list[Any]:
    """The outputs as sympy: ``entries``, all of them written out, or ``index``, one element at free indices.

    ``auto`` takes entries for small arrays. Raises ClosedFormTooLarge for what would be beyond the budget.
    """
    best = None
    with contextlib.suppress(ClosedFormTooLarge):
        kinds = ("entries", "index") if form == "auto" else ()
        made = (_written(without_loops(program), kind, budget, BEYOND * budget) for kind in kinds)
        best = next((found for found in made if found is not None), None)
    found = best or formulas_in(program, "index" if form == "auto" else form, budget)
    return as_arrays(found.forms) if found.kind == "entries" else [element for _, element in found.forms]


def loops_told(program: Program, budget: int = BUDGET, reserved: Collection[str] = ()) -> Formulas | None:
    """The recurrences of a program with loops; None where they are too long, or there are none."""
    if not has_loops(program):
        return None
    found = recurrences(program, reserved)
    if found is None or found.operations > budget or len(found) > MAX_LINES:
        return None
    return Formulas(program, "recurrence", [found])


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
                'there is no recurrence: the function has no loop, or one of too many lines; form="auto" '
                "takes the form that there is."
            )
        return found
    program = without_loops(program)
    if form == "matrix":
        return Formulas(program, "matrix", required_forms(of_real_numbers(program)))
    if form == "index":
        require(program, False, budget)
        return Formulas(program, "index", index_forms(program))
    if not all(is_concrete(n.shape) for n in (*program.inputs, *program.nodes)):
        raise ArgumentError('form="entries" writes out every element, which needs sizes; form="index" needs none.')
    apart = has_few_entries(program, budget) and not fits(program, True, budget)
    if not apart:
        require(program, True, budget)
    return Formulas(program, "entries", entries_apart(program) if apart else entry_forms(program, BEYOND * budget))
