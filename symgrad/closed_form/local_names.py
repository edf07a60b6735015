"""Formulas in the names that values have in the user's code: ``S Φ(d₁)``, where ``d₁ = …``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ..passes.unrolling import has_loops
from ..primitives.functions import divide, multiply
from ..primitives.primitive import input_node
from ..program.node import Node, ancestors, emit_again
from ..program.program import Program
from .budget import BUDGET
from .choice import Choice, chosen, is_faster
from .formulas import Formulas
from .latex import MAX_CHARACTERS
from .matrix import MatrixForm, matrix_forms, side_by_side
from .matrix.expression import leaf, replaced
from .reals import of_real_numbers
from .symbols import safe_names

#: names of which each is tried on its own
_MAX_SINGLE = 3


def named_formulas(
    program: Program,
    named: Mapping[Node, str],
    budget: int = BUDGET,
    characters: int = MAX_CHARACTERS,
    wanted: Collection[str] | None = None,
) -> Formulas:
    """``formulas``, in which nodes are called as ``named`` where that is read faster; ``where`` says what they are.

    With ``wanted`` these names are taken, and no others are tried.
    """
    choice = Choice(budget, characters, frozenset(named.values()))
    counts = Counter([*program.names, *named.values()])
    nodes = [n for n, name in named.items() if counts[name] == 1 and n not in program.outputs]
    if has_loops(program) or not nodes:
        return chosen(program, choice)
    wide = of_real_numbers(program.with_outputs([*program.outputs, *nodes]))
    best: Formulas | None = None
    for whole in dict.fromkeys((choice.shorter(wide), wide)):  # short formulas first: the search may end
        outputs, parts = whole.outputs[: len(program.outputs)], whole.outputs[len(program.outputs) :]
        names = {n: named[node] for n, node in zip(parts, nodes, strict=True) if n.operands and n not in outputs}
        own = {n: name for n, name in names.items() if wanted is not None and name in wanted}
        for some in [own] if wanted is not None else [*_selections(outputs, names), {}]:
            made = _in_names(program, outputs, some, choice)
            best = made if is_faster(made, best) else best
    return _own_names(best, program.with_outputs(nodes), named) if best else Formulas(program, "let-bound", [])


def _own_names(found: Formulas, values: Program, named: Mapping[Node, str]) -> Formulas:
    """``found`` with what is given a name in matrix notation called as the code calls it, where it does."""
    told = [f for f in (found, *(f for _, f in found.where)) if f.kind == "matrix"]
    helpers = {part: name for f in told for form in f.forms for part, name in form.names.items()}
    if not helpers:
        return found
    used = {name: f.forms[0].expression for name, f in found.where if f.kind == "matrix"}
    leaves = {x: leaf(name, x.rows, x.columns) for name, x in used.items()}
    forms = zip(values.outputs, matrix_forms(values), strict=True)
    spelled = dict(zip(named, safe_names([*values.names, *named.values()])[len(values.names) :], strict=True))
    own = {replaced(form.expression, leaves): spelled[n] for n, form in forms if form and spelled[n] not in used}
    given = {part: own.get(part, name) for part, name in helpers.items()}
    if given == helpers or len(set(given.values())) < len(given):
        return found
    image = {id(f): replace(f, forms=[form.beside(given) for form in f.forms]) for f in told}
    where = tuple([(name, image.get(id(f), f)) for name, f in found.where])
    return replace(image.get(id(found), found), where=where)


def _selections(outputs: Sequence[Node], names: dict[Node, str]) -> list[dict[Node, str]]:
    """All of the names, those of what is used several times, and of a few names each one."""
    within = ancestors(outputs)
    names = {n: name for n, name in names.items() if n in set(within)}
    uses = Counter([o for n in within for o in n.operands])
    often = {n: name for n, name in names.items() if uses[n] > 1}
    single = [{n: name} for n, name in names.items()] if 1 < len(names) <= _MAX_SINGLE else []
    return [some for some in (names, *([often] if often != names else []), *single) if some]


def _in_names(program: Program, outputs: Sequence[Node], names: dict[Node, str], choice: Choice) -> Formulas | None:
    """The formulas in which ``names`` stand for what they are, which ``where`` says; None where one cannot be read."""
    new: dict[Node, Node] = {}
    parts: dict[Node, tuple[str, Node]] = {}
    quotients = {n.operands[0]: n for n in names if n.primitive is divide and not n.operands[0].is_leaf}
    inside = set(ancestors(names))

    def called(node: Node, operand: Node) -> Node:
        """An operand, where it is what is divided in a quotient that has a name as the product of these."""
        whole = quotients.get(operand)
        if whole is None or node in inside or whole not in new or operand in names:
            return new[operand]
        return multiply(new[whole], new[whole.operands[1]])

    with program.graph:
        for node in ancestors([*outputs, *names]):
            operands = tuple([called(node, o) for o in node.operands])
            new[node] = node if operands == node.operands else emit_again(node, operands)
            if node in names:
                stand_in = input_node(names[node], node.shape, node.dtype, node.weak)
                parts[stand_in] = names[node], new[node]
                new[node] = stand_in
    own = [new[o] for o in outputs]
    used = _used(own, parts)
    inputs, labels = (*program.inputs, *used), (*program.names, *[parts[s][0] for s in used])

    def read(wanted: Sequence[Node]) -> Formulas | None:
        return choice.fastest(Program(inputs, wanted, labels, program.graph))

    made, where = read(own), [(parts[s][0], read([parts[s][1]])) for s in used]
    if made is None or any(found is None for _, found in where):
        return None
    named = [(name, found) for name, found in where if found is not None]
    if made.kind == "matrix":
        leaves = matrix_forms(Program(inputs, used, labels, program.graph), choice.reserved)
        made = _called([found for _, found in named], leaves, made)
    told = [f for f in (made, *(found for _, found in named)) if f.kind == "matrix"]
    forms = iter(side_by_side([form for f in told for form in f.forms]))
    image = {id(f): replace(f, forms=[next(forms) for _ in f.forms]) for f in told}
    shown = dict(zip(labels, safe_names(labels), strict=True))  # as the formulas have them
    return replace(image.get(id(made), made), where=tuple([(shown[name], image.get(id(f), f)) for name, f in named]))


def _called(named: Sequence[Formulas], leaves: Sequence[MatrixForm | None], made: Formulas) -> Formulas:
    """``made`` with the names of what is in it as it is said of them: ``softmax(s)`` where ``weights = softmax(s)``."""
    parts = {
        found.forms[0].expression: form.expression
        for found, form in zip(named, leaves, strict=True)
        if found.kind == "matrix" and form is not None and found.forms[0].expression.args
    }
    return replace(made, forms=[form.with_parts(parts) for form in made.forms])


def _used(outputs: Sequence[Node], parts: Mapping[Node, tuple[str, Node]]) -> list[Node]:
    """The stand-ins that are in ``outputs`` or in what is named there, those that others need first."""
    wanted, open_ = set(), list(outputs)
    while open_:
        found = [n for n in ancestors(open_) if n in parts and n not in wanted]
        wanted.update(found)
        open_ = [parts[n][1] for n in found]
    return [n for n in parts if n in wanted]
