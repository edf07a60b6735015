"""One line of a derivation as a formula: matrix notation where there is one, else an element at free indices."""

from __future__ import annotations

from typing import NamedTuple

from ...errors import ClosedFormTooLarge
from ...kernels.kernel import optimized
from ...passes.cofactors import written_out
from ...primitives.index_arrays import counted_index
from ...primitives.selection import CONCATENATE, GATHER
from ...program.node import Node
from ...program.program import Program
from ..budget import fits
from ..deadline import TimeIsUp, within_calls
from ..index_form import index_forms
from ..matrix import matrix_forms
from ..plain_text import plain_text
from ..typeset import typeset
from .calls import called
from .constants import is_few_rows, lifted
from .lines import inputs_of
from .naming import Names

#: letters of matrix notation beyond which an element says more
_MAX_LETTERS = 200
#: characters of a formula for one element that is still read
_MAX_CHARACTERS = 300
#: calls that sympy may take for one
_MAX_CALLS = 3_000_000


class Formula(NamedTuple):
    """A right-hand side; ``index`` are the free indices where it is one element."""

    text: str
    latex: str
    index: tuple[str, ...] = ()


def formula(program: Program, names: Names) -> Formula:
    """The first output of ``program`` in terms of its inputs, which ``names`` has."""
    (root, *_) = program.outputs
    made = _joined(program, root, names) or _picked(root, program, names) or in_matrices(program, names)
    if made is not None:
        return made
    shown = named_program(program, names, identities=True)
    if fits(shown, False):
        try:
            with within_calls(_MAX_CALLS):
                ((free, element),) = index_forms(shown)
        except (ClosedFormTooLarge, TimeIsUp):
            pass
        else:
            text = plain_text(element, ())
            if len(text) <= _MAX_CHARACTERS:
                return Formula(text, typeset(element), tuple(map(str, free)))
    return Formula(*called(shown)[:2])


def in_matrices(program: Program, names: Names, parts: bool = True) -> Formula | None:
    """The first output in matrix notation; None where there is none that is short enough.

    Its ``parts`` are given names where that makes it shorter.
    """
    shown = named_program(program, names)
    empty = any(d == 0 for n in shown.nodes for d in n.shape)
    # an array of three axes has no matrix notation of its own: a line that reshapes it says nothing
    form = None if empty or program.outputs[0].ndim > 2 else matrix_forms(shown, [str(n) for n in names.values()])[0]
    if form is None or form.length > _MAX_LETTERS:
        return None
    if not parts:
        return Formula(*form.written_out)
    return Formula(form.text + "".join(f", {line}" for line in form.where), form.latex_line)


def named_program(program: Program, names: Names, identities: bool = False) -> Program:
    """The first output, as a function of what has a name."""
    labels = [names[n] for n in program.inputs]
    first = written_out(Program(program.inputs, program.outputs[:1], labels, program.graph))
    return optimized(lifted(first, names, identities))


def _joined(program: Program, root: Node, names: Names) -> Formula | None:
    """Arrays one after another, in brackets."""
    if root.primitive is not CONCATENATE or root.ndim != 1:
        return None
    parts = []
    for o in root.operands:
        inputs = inputs_of(o)
        part = formula(Program(inputs, [o], ["value"] * len(inputs), program.graph), names)
        if part.index or "," in part.text:
            return None
        parts.append(part)
    rows = r" \\ ".join(part.latex for part in parts)
    return Formula(f"[{', '.join(part.text for part in parts)}]", rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}")


def _picked(root: Node, program: Program, names: Names) -> Formula | None:
    """Rows by index, as NumPy writes it."""
    if root.primitive is not GATHER or root.operands[0] not in names:
        return None
    x, rows = root.operands
    before, picked = ":," * root.params[0], rows_formula(rows, program, names)
    latex = names[x].latex
    whole = rf"\left({latex}\right)" if "_" in latex else latex
    return Formula(f"{names[x]}[{before}{picked.text}]", rf"{whole}_{{[{before}{picked.latex}]}}")


def rows_formula(rows: Node, program: Program, names: Names) -> Formula:
    """What an array of indices is called: its name, those few that it is, or how it is computed."""
    if is_few_rows(rows):
        listed = str(rows.params[0].value.tolist())
        return Formula(listed, listed)
    counted = counted_index(rows)  # NumPy counts negative ones from the end, so the bare index says the same
    index = rows if rows in names or counted is None else counted[0]
    inputs = inputs_of(index)
    shown = named_program(Program(inputs, [index], ["value"] * len(inputs), program.graph), names, identities=True)
    return Formula(*called(shown)[:2])
