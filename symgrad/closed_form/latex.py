"""LaTeX of closed forms and of let-bound programs; nothing of the user's reaches it unescaped."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import sympy

from ..errors import ClosedFormTooLarge
from ..program.dims import is_concrete
from ..program.node import Node
from ..program.program import Program
from .budget import BUDGET, fits, lacks_numbers, without_loops
from .entries import SEARCHES
from .index_form import bound_forms
from .letters import name_latex
from .symbols import as_statement, leaf_names, safe_name, safe_names
from .typeset import typeset

#: inputs with at most this many elements in all are written entry by entry
MAX_ENTRIES = 16
#: and results with at most this many, where each takes a derivation of its own
MAX_RESULTS = 64
#: longer LaTeX freezes front ends for seconds; the let-bound form is given instead
MAX_CHARACTERS = 5000
#: letters of a matrix form that is still read at a glance; the index form is given instead of a longer one
MAX_LETTERS = 240
#: lines of a let-bound form that are shown
MAX_LINES = 60


def prefers_entries(program: Program, budget: int = BUDGET) -> bool:
    """True where the arrays are so small that every entry is a formula worth reading."""
    few = elements(program.inputs) <= MAX_ENTRIES and elements(program.outputs) < math.inf
    return few and not _computes_indices(program) and fits(program, True, budget)


def has_few_entries(program: Program, budget: int = BUDGET) -> bool:
    """True where so few elements go in and come out that each entry may be written on its own."""
    few = elements(program.inputs) <= MAX_ENTRIES and elements(program.outputs) <= MAX_RESULTS
    return few and not _computes_indices(program) and not lacks_numbers(program) and fits(program, False, budget)


def elements(nodes: Sequence[Node]) -> float:
    """How many elements arrays have together; any number where a size is a name."""
    return sum(math.prod(n.shape) if is_concrete(n.shape) else math.inf for n in nodes)


def _computes_indices(program: Program) -> bool:
    """True where an entry's place depends on values, or on integers that are passed."""
    given = set(program.inputs)
    for n in program.nodes:
        if not given.isdisjoint(n.operands):
            given.add(n)
        if n.primitive.name in SEARCHES or (n.primitive.name in ("gather", "scatter") and n.operands[1] in given):
            return True
    return False


def symbol_latex(label: str) -> str:
    """A user's name as LaTeX.

    >>> symbol_latex("theta"), symbol_latex("fc.weight")
    ('\\\\theta', '\\\\mathit{fc}_{\\\\mathit{weight}}')
    """
    return typeset(sympy.Symbol(safe_name(label)))


def input_latex(program: Program) -> dict[str, str]:
    """Labels of the inputs, and the LaTeX that they have in formulas, no two alike."""
    return dict(zip(program.names, map(name_latex, safe_names(program.names)), strict=True))


def inputs_by_latex(program: Program) -> dict[str, str]:
    """What the inputs are called, by the LaTeX that they have: as the user does, unless formulas tell them apart."""
    shown = safe_names(program.names)
    return {name_latex(s): n if _letters(n) == _letters(s) else s for n, s in zip(program.names, shown, strict=True)}


def _letters(name: str) -> str:
    return re.sub(r"\W|_", "", name)


def function_letter(program: Program, local: Iterable[str]) -> str:
    """What formulas call the function: ``f``, or another letter where a ``local`` or what it reads has that one."""
    names = [*map(name_latex, leaf_names(program).values()), *map(symbol_latex, local)]
    taken = {latex.partition("_")[0] for latex in names}
    return next((c for c in "fFgGhH" if c not in taken), r"\mathrm{fn}")


def expression_latex(value: Any, names: Collection[str] = ()) -> str:
    """LaTeX of an expression, or of an object array of them as a vector, a matrix or nested blocks.

    It stands beside formulas in ``names``; see ``typeset``.
    """
    if isinstance(value, np.ndarray):
        if value.ndim == 0:
            return typeset(value.item(), names)
        if value.ndim == 1:
            return typeset(sympy.Matrix(1, len(value), list(value)), names)
        if value.ndim == 2:
            return typeset(sympy.Matrix(*value.shape, list(value.ravel())), names)
        return r"\left[" + ",\\ ".join(expression_latex(v, names) for v in value) + r"\right]"
    return typeset(value, names)


def let_bound_rows(program: Program, labels: Sequence[str], most: int = MAX_LINES) -> list[str]:
    """One line a binding, then the outputs; after ``most`` programs are cut with a count of what is left out."""
    try:
        program = without_loops(program)
    except ClosedFormTooLarge:
        return [r"&\text{loops of too many steps to be written out; .program() has them as loops}"]
    bindings, outputs = bound_forms(program, most)
    names = safe_names(program.names)
    rows = [f"{typeset(bound, names)} &= {typeset(element, names)}" for bound, element in bindings]
    left_out = len(program.bindings) - len(bindings)
    if left_out:
        rows.append(rf"&\;\;\vdots \quad \text{{{left_out} more bindings}}")
    for label, (free, element) in zip(labels, outputs, strict=True):
        rows.append(f"{at(label, free)} &= {typeset(element, names)}")
    return rows


def at(label: str, free: Sequence[sympy.Symbol]) -> str:
    """The label with its free indices."""
    if not free:
        return label
    if is_composed(label):
        return f"\\left({label}\\right)_{{{' '.join(map(str, free))}}}"
    return f"{label}[{','.join(map(str, free))}]"


def is_composed(label: str) -> bool:
    """True for a label that needs brackets before a subscript."""
    return any(sign in label for sign in (r"\frac", r"\Delta", r"\nabla"))


def aligned(rows: Sequence[str]) -> str:
    """Rows under one another, their equals signs in a column."""
    return r"\begin{aligned} " + r" \\[1ex] ".join(rows) + r" \end{aligned}"


def statement_latex(value: Any, names: Collection[str] = ()) -> str:
    """LaTeX of a truth value, which a formula has as a number, as a statement; ``names`` are as for ``typeset``."""
    return typeset(as_statement(value), names)
