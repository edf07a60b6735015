"""One line of a derivation as a formula: matrix notation where there is one, else an element at free indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...errors import ClosedFormTooLarge
from ...kernels.kernel import optimized
from ...passes.as_read import as_read
from ...passes.cofactors import written_out
from ...primitives.casting import CAST
from ...primitives.contraction import GATE
from ...primitives.elementwise import Elementwise
from ...primitives.index_arrays import counted_index
from ...primitives.primitive import INPUT, input_node
from ...primitives.selection import CONCATENATE, GATHER
from ...program.interpret import rebuilt
from ...program.node import Node
from ...program.program import Program
from ..budget import fits
from ..deadline import TimeIsUp, within_calls
from ..index_form import index_forms
from ..index_rules import is_spaced
from ..letters import words_in
from ..matrix import matrix_forms
from ..plain_text import plain_text
from ..typeset import typeset
from .calls import called
from .constants import is_few_rows, is_unit, lifted
from .lines import inputs_of
from .naming import Names

#: letters of matrix notation beyond which an element says more
_MAX_LETTERS = 200
#: characters of a formula for one element that is still read
_MAX_CHARACTERS = 300
#: a matrix that stands for an array of any shape
_OF_ELEMENTS = (2, 3)
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
    shown = named_program(program, names, is_spaced)
    if fits(shown, False):
        try:
            with within_calls(_MAX_CALLS):
                ((free, element),) = index_forms(shown, words_in(names.values()))
        except (ClosedFormTooLarge, TimeIsUp):
            pass
        else:
            text = plain_text(element, ())
            if len(text) <= _MAX_CHARACTERS:
                return Formula(text, typeset(element), tuple(map(str, free)))
    return _called(program, names)


def _called(program: Program, names: Names) -> Formula:
    return Formula(*called(named_program(program, names, lambda _: False))[:2])


def in_matrices(program: Program, names: Names, parts: bool = True) -> Formula | None:
    """The first output in matrix notation; None where there is none that is short enough.

    Its ``parts`` are given names where that makes it shorter.
    """
    shown = named_program(program, names, is_unit)
    empty = any(d == 0 for n in shown.nodes for d in n.shape)
    if shown.outputs[0].ndim > 2:
        shown = _of_matrices(shown)
    form = None if empty or shown is None else matrix_forms(shown, [str(n) for n in names.values()])[0]
    if form is None or form.length > _MAX_LETTERS:
        return None
    if not parts:
        return Formula(*form.written_out)
    return Formula(form.text + "".join(f", {line}" for line in form.where), form.latex_line)


def _of_matrices(program: Program) -> Program | None:
    """What is computed element by element of arrays of several axes, of matrices; None where it is anything else.

    An array of three axes has no matrix notation of its own, and elements know nothing of axes.
    """
    shape = program.outputs[0].shape
    image: dict[Node, Node] = {}
    with program.graph:
        for n in program.nodes:
            if n.shape not in ((), shape):
                return None
            if n.primitive is INPUT:
                image[n] = input_node("value", _OF_ELEMENTS if n.shape else (), n.dtype)
            elif isinstance(n.primitive, Elementwise) or n.primitive in (GATE, CAST) or (n.is_leaf and not n.shape):
                image[n] = rebuilt(n, [image[o] for o in n.operands])
            else:
                return None
    inputs, outputs = ([image.get(n, n) for n in own] for own in (program.inputs, program.outputs))
    return Program(inputs, outputs, program.names, program.graph)


def named_program(program: Program, names: Names, said: Callable[[np.ndarray], bool]) -> Program:
    """The first output, as a function of what has a name, but the arrays that a notation has said."""
    labels = [names[n] for n in program.inputs]
    first = as_read(written_out(Program(program.inputs, program.outputs[:1], labels, program.graph)))
    return optimized(lifted(first, names, said))


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
    computed = Program(inputs, [index], ["value"] * len(inputs), program.graph)
    return in_matrices(computed, names, parts=False) or _called(computed, names)
