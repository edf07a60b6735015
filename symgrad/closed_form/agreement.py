"""Do the closed forms say what the kernel computes? Each is evaluated on its own, at the arrays of one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from ..errors import ClosedFormTooLarge, UnsupportedOperation
from ..passes.unrolling import has_loops
from ..program.dims import is_concrete
from ..program.program import Program
from .budget import fits, without_loops
from .entries import entry_forms, entry_names, written_operations
from .index_form import IndexForm, constant_names
from .matrix import matrix_forms
from .numbers import value
from .recurrences import recurrences
from .recurrences.evaluation import evaluated
from .symbols import safe_names

#: elements at which the index form of an array is evaluated
_MAX_PLACES = 4
#: operations that are computed for one of them
_MAX_OPERATIONS = 100_000


@dataclass(frozen=True)
class Agreement:
    """How far each closed form is from the kernel: the largest difference, relative to the largest entry or 1.

    ``None`` where there is no such form, or none that can be evaluated. Printed, it says so in words.
    """

    matrix: float | None
    entries: float | None
    index: float | None
    recurrence: float | None = None

    @property
    def worst(self) -> float:
        """The largest difference of all forms there are."""
        found = (self.matrix, self.entries, self.index, self.recurrence)
        return max((d for d in found if d is not None), default=0.0)

    def __str__(self) -> str:
        lines = []
        for name, found in (("matrix", self.matrix), ("entries", self.entries), ("index", self.index)):
            said = "none that can be evaluated" if found is None else f"agrees with the kernel to {found:.1e}"
            lines.append(f"{name + ' form:':<14}{said}")
        if self.recurrence is not None:
            lines.append(f"recurrence:   agrees with the kernel to {self.recurrence:.1e}")
        return "\n".join(lines)

    __repr__ = __str__


def agreement(program: Program, arrays: Sequence[Any], results: Sequence[Any]) -> Agreement:
    """Compare the forms of ``program`` at ``arrays`` with what a kernel gave for them."""
    values, known = list(map(_numbers, arrays)), list(map(_numbers, results))
    told = recurrences(program) if has_loops(program) else None
    recurrence = None if told is None else _largest(evaluated(told, arrays), known)
    try:
        program = without_loops(program)
    except ClosedFormTooLarge:
        return Agreement(None, None, None, recurrence)
    has_entries = all(is_concrete(n.shape) for n in program.inputs) and fits(program, True)
    return Agreement(
        _largest(matrix_values(program, values), known),
        _largest(_entry_values(program, values), known) if has_entries else None,
        _index_difference(program, values, known) if fits(program, False) else None,
        recurrence,
    )


def _numbers(array: Any) -> np.ndarray:
    return np.asarray(array, dtype=np.complex128 if np.iscomplexobj(array) else np.float64)


def matrix_values(program: Program, arrays: Sequence[np.ndarray]) -> list[np.ndarray] | None:
    """Every output by its matrix form; None where one has none."""
    forms = [f for f in matrix_forms(program) if f is not None]
    if len(forms) < len(program.outputs):
        return None
    named = dict(zip(program.names, arrays, strict=True))
    return [form.evaluate(named) for form in forms]


def _entry_values(program: Program, arrays: Sequence[np.ndarray]) -> list[np.ndarray] | None:
    known: dict[str, Any] = {}
    for names, array in zip(entry_names(program), arrays, strict=True):
        known |= dict(zip(names, array.ravel(), strict=True))
    try:
        forms = entry_forms(program)
    except (ClosedFormTooLarge, UnsupportedOperation):
        return None
    try:
        return [np.reshape([value(e, known) for e in form.ravel()], form.shape) for form in forms]
    except LookupError:  # of what has no value
        return None


def _index_difference(program: Program, arrays: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> float | None:
    """The largest difference at a few places of each output, from the formula for all places."""
    bases = dict(zip(safe_names(program.names), arrays, strict=True)) | constant_names(program)
    axes = [pair for n, a in zip(program.inputs, arrays, strict=True) for pair in zip(n.shape, a.shape, strict=True)]
    sizes = {d: sympy.Integer(size) for d, size in axes if isinstance(d, sympy.Symbol)}
    known: dict[str, Any] = {name if not a.ndim else f"{name}[]": a for name, a in bases.items()}
    rng = np.random.default_rng(0)
    worst = 0.0
    for node, array in zip(program.outputs, wanted, strict=True):
        try:
            free, element = IndexForm(program).output(node)
        except ClosedFormTooLarge:
            return None
        element = element.xreplace(sizes)
        if written_operations(element) > _MAX_OPERATIONS:
            return None
        for place in {
            tuple(int(rng.integers(d)) for d in array.shape) for _ in range(_MAX_PLACES if array.size else 0)
        }:
            try:
                found = value(element, known | {i.name: k for i, k in zip(free, place, strict=True)})
            except LookupError:  # an element that there is not, which counts for nothing, or what has no value
                return None
            worst = max(worst, _difference(np.asarray(found), array[place], array))
    return worst


def _largest(found: Sequence[np.ndarray] | None, known: Sequence[np.ndarray]) -> float | None:
    if found is None:
        return None
    return max((_difference(f, k, k) for f, k in zip(found, known, strict=True) if k.size), default=0.0)


def _difference(found: np.ndarray, known: np.ndarray, whole: np.ndarray) -> float:
    """The largest difference; both infinite or not a number at one place agree there."""
    same = (found == known) | (np.isnan(found) & np.isnan(known))
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0.0, np.nan_to_num(np.abs(found - known), nan=np.inf))
    finite = np.abs(whole[np.isfinite(whole)])
    return float(np.max(apart)) / max(1.0, float(finite.max(initial=0.0)))
