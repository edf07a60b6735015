"""One line of a derivation as a formula: matrix notation where there is one, else an element at free indices."""

from __future__ import annotations

from typing import NamedTuple

from ...errors import ClosedFormTooLarge
from ...kernels.kernel import optimized
from ...primitives.primitive import INPUT
from ...primitives.selection import CONCATENATE, GATHER
from ...program.node import Node
from ...program.program import Program
from ..budget import fits
from ..deadline import TimeIsUp, within
from ..index_form import index_forms
from ..matrix import matrix_forms
from ..typeset import typeset
from .lines import inputs_of
from .naming import Letters, Name, Names

#: letters of matrix notation beyond which an element says more
_MOST_LETTERS = 200
#: characters of a formula for one element that is still read
_MOST_CHARACTERS = 300
#: seconds that sympy may take for one
_LONGEST = 2.0
#: whole numbers that are written out where rows are picked by them
_MOST_ROWS = 8


class Formula(NamedTuple):
    """A right-hand side; ``index`` are the free indices where it is one element."""

    text: str
    latex: str
    index: tuple[str, ...] = ()


def formula(program: Program, names: Names) -> Formula:
    """The first output of ``program`` in terms of its inputs, which ``names`` has."""
    (root, *_) = program.outputs
    made = _joined(program, root, names) or _picked(root, names)
    if made is not None:
        return made
    letters = Letters([names[n] for n in program.inputs])
    shown = optimized(Program(program.inputs, [root], letters.labels, program.graph))
    empty = any(d == 0 for n in shown.nodes for d in n.shape)
    # an array of three axes has no matrix notation of its own: a line that reshapes it says nothing
    form = None if empty or root.ndim > 2 else matrix_forms(shown)[0]
    if form is not None and form.length <= _MOST_LETTERS:
        text = form.text + "".join(f", {line}" for line in form.where)
        return Formula(letters.in_text(text), letters.in_latex(form.latex_line))
    if fits(shown, False):
        try:
            with within(_LONGEST):
                ((free, element),) = index_forms(shown)
        except (ClosedFormTooLarge, TimeIsUp):
            pass
        else:
            index = tuple(map(str, free))
            text, latex = str(element), typeset(element)
            if len(text) <= _MOST_CHARACTERS:
                return Formula(letters.in_text(text), letters.in_latex(latex), index)
    return _called(shown, letters.names)


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


def _picked(root: Node, names: Names) -> Formula | None:
    """Rows by index, as NumPy writes it."""
    if root.primitive is not GATHER or root.operands[0] not in names:
        return None
    x, rows = root.operands
    text, latex = ([":"] * root.params[0] + [rows_name(rows, names)[k]] for k in (0, 1))
    return Formula(f"{names[x].text}[{','.join(text)}]", rf"{names[x].latex}_{{[{','.join(latex)}]}}")


def rows_name(rows: Node, names: Names) -> Name:
    """What an array of indices is called: its name, those few that it is, or no more than that it is one."""
    inputs = inputs_of(rows)
    if rows.primitive.name == "constant" and rows.params[0].value.size <= _MOST_ROWS:
        listed = str(rows.params[0].value.tolist()).strip("[]")
        return Name(listed, listed)
    if len(inputs) == 1 and (
        rows.primitive is INPUT or rows.primitive.name == "where"
    ):  # negative ones count from the end
        return names[inputs[0]]
    return Name("rows", r"\mathrm{rows}")


def _called(program: Program, names: list[Name]) -> Formula:
    """What has no formula, as calls of its operations."""
    made: dict[Node, Name] = dict(zip(program.inputs, names, strict=True))
    for n in program.nodes:
        if n in made:
            continue
        spelled = n.primitive.spell(n) if n.is_leaf else n.primitive.name
        if not n.is_leaf:
            inside = [made[o] for o in n.operands]
            operation = spelled.replace("_", r"\_")
            text = f"{spelled}({', '.join(o.text for o in inside)})"
            latex = rf"\operatorname{{{operation}}}\left({', '.join(o.latex for o in inside)}\right)"
            made[n] = Name(text, latex) if len(text) <= _MOST_CHARACTERS else Name("…", r"\ldots")
        elif n.is_literal:
            made[n] = Name(spelled, spelled)
        else:
            made[n] = Name("c", "c")
    return Formula(*made[program.outputs[0]])
