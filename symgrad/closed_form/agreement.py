"""Do the closed forms say what the kernel computes? Each is evaluated on its own, at the arrays of one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from ..errors import ClosedFormTooLarge, UnsupportedOperation
from ..program.dims import is_concrete
from ..program.program import Program
from .budget import fits
from .entries import entry_forms, entry_names
from .index_form import IndexForm
from .matrix import matrix_forms
from .symbols import safe_names

#: elements at which the index form of an array is evaluated
_MOST_PLACES = 4
#: summands that are written out for one of them
_MOST_TERMS = 4096


@dataclass(frozen=True)
class Agreement:
    """How far each closed form is from the kernel: the largest difference, relative to the largest entry or 1.

    ``None`` where there is no such form, or none that can be evaluated. Printed, it says so in words.
    """

    matrix: float | None
    entries: float | None
    index: float | None

    @property
    def worst(self) -> float:
        """The largest difference of all forms there are."""
        return max((d for d in (self.matrix, self.entries, self.index) if d is not None), default=0.0)

    def __str__(self) -> str:
        lines = []
        for name, found in (("matrix", self.matrix), ("entries", self.entries), ("index", self.index)):
            said = "none that can be evaluated" if found is None else f"agrees with the kernel to {found:.1e}"
            lines.append(f"{name + ' form:':<14}{said}")
        return "\n".join(lines)

    __repr__ = __str__


def agreement(program: Program, arrays: Sequence[Any], results: Sequence[Any]) -> Agreement:
    """Compare the forms of ``program`` at ``arrays`` with what a kernel gave for them."""
    values = [np.asarray(a, dtype=np.float64) for a in arrays]
    known = [np.asarray(r, dtype=np.float64) for r in results]
    return Agreement(
        _largest(matrix_values(program, values), known),
        _largest(_entry_values(program, values), known) if fits(program, True) else None,
        _index_difference(program, values, known) if fits(program, False) else None,
    )


def matrix_values(program: Program, arrays: Sequence[np.ndarray]) -> list[np.ndarray] | None:
    """Every output by its matrix form; None where one has none."""
    forms = [f for f in matrix_forms(program) if f is not None]
    if len(forms) < len(program.outputs):
        return None
    named = dict(zip(program.names, arrays, strict=True))
    return [form.evaluate(named) for form in forms]


def _entry_values(program: Program, arrays: Sequence[np.ndarray]) -> list[np.ndarray] | None:
    if not all(is_concrete(n.shape) for n in program.inputs):
        return None
    numbers: dict[Any, Any] = {}
    for names, array in zip(entry_names(program), arrays, strict=True):
        numbers |= {sympy.Symbol(n, real=True): _number(v) for n, v in zip(names, array.ravel(), strict=True)}
    try:
        forms = entry_forms(program)
    except (ClosedFormTooLarge, UnsupportedOperation):
        return None
    made = []
    for form in forms:
        flat = [float(sympy.sympify(e).xreplace(numbers)) for e in form.ravel()]
        made.append(np.reshape(flat, form.shape))
    return made


def _index_difference(program: Program, arrays: Sequence[np.ndarray], known: Sequence[np.ndarray]) -> float | None:
    """The largest difference at a few places of each output, from the formula for all places."""
    bases = dict(zip(safe_names(program.names), arrays, strict=True))
    rng = np.random.default_rng(0)
    worst = 0.0
    for node, value in zip(program.outputs, known, strict=True):
        try:
            free, element = IndexForm(program).output(node)
        except ClosedFormTooLarge:
            return None
        for place in {
            tuple(int(rng.integers(d)) for d in value.shape) for _ in range(_MOST_PLACES if value.size else 0)
        }:
            found = _at_place(element, dict(zip(free, place, strict=True)), bases)
            if found is None:
                return None
            worst = max(worst, _difference(np.asarray(found), value[place], value))
    return worst


def _at_place(element: Any, place: dict, bases: dict[str, np.ndarray]) -> float | None:
    written: Any = element.subs(place)
    if any(_terms(s) > _MOST_TERMS for s in written.atoms(sympy.Sum)):
        return None
    written = written.doit()
    numbers: dict[Any, Any] = {}
    for e in written.atoms(sympy.Indexed):
        array = bases.get(str(e.base))
        if array is None or not all(i.is_Integer for i in e.indices):
            return None  # an inverse or a search, which has a name there and no formula
        numbers[e] = _number(array[tuple([int(i) for i in e.indices])])
    numbers |= {sympy.Symbol(n, real=True): _number(a) for n, a in bases.items() if a.ndim == 0}
    found = written.xreplace(numbers)
    return float(found) if found.is_number else None


def _terms(s: sympy.Sum) -> float:
    limits: Any = s.limits
    count = 1.0
    for _, low, high in limits:
        steps = high - low + 1
        count *= float(steps) if steps.is_number else 1.0
    return count


def _number(value: Any) -> sympy.Float:
    return sympy.Float(float(value), 17)


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
