"""One line of a derivation as a formula: matrix notation where there is one, else an element at free indices."""

from __future__ import annotations

from typing import NamedTuple

from ...errors import ClosedFormTooLarge
from ...kernels.kernel import optimized
from ...primitives.index_arrays import counted_index
from ...primitives.selection import CONCATENATE, GATHER
from ...program.node import Node
from ...program.program import Program
from ..budget import fits
from ..deadline import TimeIsUp, within
from ..index_form import index_forms
from ..matrix import matrix_forms
from ..symbols import number
from ..typeset import typeset
from .constants import is_few_rows, lifted
from .lines import inputs_of
from .naming import Letters, Name, Names

#: letters of matrix notation beyond which an element says more
_MOST_LETTERS = 200
#: characters of a formula for one element that is still read
_MOST_CHARACTERS = 300
#: seconds that sympy may take for one
_LONGEST = 2.0


class Formula(NamedTuple):
    """A right-hand side; ``index`` are the free indices where it is one element."""

    text: str
    latex: str
    index: tuple[str, ...] = ()


def formula(program: Program, names: Names) -> Formula:
    """The first output of ``program`` in terms of its inputs, which ``names`` has."""
    (root, *_) = program.outputs
    made = _joined(program, root, names) or _picked(root, program, names)
    if made is not None:
        return made
    shown, letters = _lettered(program, names)
    empty = any(d == 0 for n in shown.nodes for d in n.shape)
    # an array of three axes has no matrix notation of its own: a line that reshapes it says nothing
    form = None if empty or root.ndim > 2 else matrix_forms(shown)[0]
    if form is not None and form.length <= _MOST_LETTERS:
        text = form.text + "".join(f", {line}" for line in form.where)
        return Formula(letters.in_text(text), letters.in_latex(form.latex_line))
    shown, letters = _lettered(program, names, identities=True)
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
    return _called(shown, letters)


def _lettered(program: Program, names: Names, identities: bool = False) -> tuple[Program, Letters]:
    """The first output, in letters for the names of inputs and of captured arrays."""
    program, captured = lifted(program.with_outputs(program.outputs[:1]), names, identities)
    letters = Letters([names[n] if n in names else captured[n] for n in program.inputs])
    return optimized(Program(program.inputs, program.outputs, letters.labels, program.graph)), letters


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
    text, latex = ([":"] * root.params[0] + [rows_name(rows, program, names)[k]] for k in (0, 1))
    return Formula(f"{names[x].text}[{','.join(text)}]", rf"{names[x].latex}_{{[{','.join(latex)}]}}")


def rows_name(rows: Node, program: Program, names: Names) -> Name:
    """What an array of indices is called: its name, those few that it is, or how it is computed."""
    if is_few_rows(rows):
        listed = str(rows.params[0].value.tolist()).strip("[]")
        return Name(listed, listed)
    if rows in names:
        return names[rows]
    counted = counted_index(rows)  # NumPy counts negative ones from the end, so the bare index says the same
    index = rows if counted is None else counted[0]
    if index in names:
        return names[index]
    inputs = inputs_of(index)
    own = Program(inputs, [index], ["value"] * len(inputs), program.graph)
    made = _called(*_lettered(own, names, identities=True))
    return Name(made.text, made.latex)


def _called(program: Program, letters: Letters) -> Formula:
    """What has no formula, as calls of its operations."""
    made: dict[Node, Name] = dict(zip(program.inputs, letters.names, strict=True))
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
        elif n.primitive.name == "constant":  # the same number everywhere, or empty
            value = n.params[0].value
            made[n] = Name(*[str(number(value.flat[0]))] * 2) if value.size else Name("[]", "[\\,]")
        else:
            made[n] = Name(spelled, spelled)
    return Formula(*made[program.outputs[0]])
