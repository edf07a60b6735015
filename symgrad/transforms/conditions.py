"""conditions: where a formula and its derivatives hold, as conditions on the inputs, and which of them inputs meet."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..closed_form.choice import formulas, formulas_in
from ..errors import MAX_WORD, ClosedFormTooLarge, UnsupportedOperation
from ..findings import places_text
from ..passes.unrolling import unrolled
from ..primitives.conditions import Condition, conditions_of
from ..primitives.elementwise import COMPARISONS, ELEMENTWISE, Elementwise
from ..program.interpret import evaluated, walk
from ..program.node import Node
from ..program.program import Program
from ..trace_entry import TraceEntry
from ..tracing.provenance import SourceLine

if TYPE_CHECKING:
    from .derived import DerivedFunction

#: relation of a comparison or a condition -> the same in LaTeX
_RELATIONS = {"≠": r"\neq", "≤": r"\leq", "≥": r"\geq"}
#: reduction of truth values -> what it is called
_OF_ALL = {"max": "any", "min": "all"}
_SIGNS = {">=": "≥", "<=": "≤", "==": "=", "!=": "≠"}
#: operations of a formula that is still read
_MAX_OPERATIONS = 200
#: branches that stand beside a formula, and places or numbers in one
_MAX_BRANCHES, _MAX_SHOWN = 4, 6
#: text of a branch that stands beside a formula
_MAX_CHARACTERS = 40
_OPPOSITE = {
    "equal": "not_equal",
    "greater": "less_equal",
    "greater_equal": "less",
    "less": "greater_equal",
    "less_equal": "greater",
    "not_equal": "equal",
}
#: operations of loops written out, of which conditions are told
_MAX_STEPS = 2000


@dataclass(frozen=True)
class Held:
    """One condition: what it says as ``text`` and ``latex``, what happens otherwise, at which line, and where it fails.

    ``kind`` is ``domain`` (the value or a slope ends), ``kink`` (the derivative is a convention) or ``branch`` (a
    comparison that the trace took). ``fails`` marks the elements that do not meet it; None where no arrays were given.
    """

    kind: str
    text: str
    latex: str
    otherwise: str
    line: SourceLine | None
    fails: np.ndarray | None = None

    @property
    def holds(self) -> bool:
        """True where no element that was given fails."""
        return self.fails is None or not np.any(self.fails)

    @property
    def _unmet(self) -> str:
        return "" if self.holds else f"← not so{places_text(np.asarray(self.fails))}"

    def _row(self) -> str:
        """The condition in LaTeX, and beside it whether it is met, what happens otherwise, and at which line."""
        words = f"{self._unmet}; " if self._unmet else ""
        words += f"else {self.otherwise}" if self.otherwise else ""
        words += "" if self.line is None else f" (line {self.line.number})"
        return rf"{self.latex} & \text{{{words}}}" if words else self.latex

    def __str__(self) -> str:
        where = "" if self.line is None else f"  (line {self.line.number}: {self.line.text})"
        met = f"  {self._unmet}" if self._unmet else ""
        return f"{self.text}{met}; else {self.otherwise}{where}" if self.otherwise else f"{self.text}{where}"


class Conditions(tuple):
    """The conditions of a formula, in the order in which the function computes.

    ``str`` and a notebook list them; ``failing`` are those that the given arrays do not meet.
    """

    __slots__ = ()

    @property
    def failing(self) -> list[Held]:
        """The conditions that the given arrays do not meet."""
        return [c for c in self if not c.holds]

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "none: the formula holds everywhere"

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        rows = r" \\ ".join(c._row() for c in self) or r"\text{everywhere}"
        return rf"$\begin{{array}}{{ll}} {rows} \end{{array}}$"


def conditions(derived: DerivedFunction, *args: Any, **kwargs: Any) -> Conditions:
    """Where the function and its derivatives hold, as conditions on the inputs (``x > 0``, ``A nonsingular``).

    First come the branches that the trace took, then what operations ask of their operands: points where a value or a
    slope ends, and kinks, where the derivative is the convention that stands beside. With arrays each says whether they
    meet it; shapes as text give the conditions alone. Elements that ``np.where`` leaves out are asked for nothing.

    >>> import numpy as np, symgrad
    >>> def loss(x):
    ...     return np.sum(np.abs(x) * np.log(x + 2))
    >>> found = symgrad.grad(loss).conditions(np.array([0.0, 1.0]))
    >>> print(found)  # doctest: +ELLIPSIS
    x ≠ 0  ← not so at [0]; else a kink: the slope there is taken to be 0  (line 2: ...)
    2𝟏 + x > 0; else it is −∞ at 0 and NaN below  (line 2: ...)
    >>> [c.kind for c in found.failing]
    ['kink']
    """
    entry, arrays = derived._recorded(args, kwargs)
    program = entry.value.program
    with contextlib.suppress(UnsupportedOperation):  # then what a loop computes is not looked at
        program = unrolled(program, _MAX_STEPS)
    branches = [(*_branch(entry, *one), entry.ledger.line(one[0])) for one in _taken(entry)]
    taken = {text: Held("branch", text, latex, "", line) for text, latex, line in branches}
    given = set(program.inputs)
    for node in program.nodes:
        if not given.isdisjoint(node.operands):
            given.add(node)
    with program.graph:
        asked = [(n, c, c.subject(n)) for n in program.nodes if n in given for c in conditions_of(n)]
    asked = [one for one in asked if not given.isdisjoint((one[2], *one[2].operands))]
    fails = [None] * len(asked) if arrays is None else _failures(program, asked, arrays)
    found: dict[tuple[str, str], Held] = {}
    for (node, condition, subject), own in zip(asked, fails, strict=True):
        held = _held(entry, program, node, condition, subject, own)
        found.setdefault((held.text, held.otherwise), held)
    return Conditions((*taken.values(), *found.values()))


def branches_told(entry: TraceEntry) -> tuple[list[str], list[str]]:
    """The first branches that a trace took, as text and as LaTeX: its formulas hold where these are so.

    The last one says how many more there are, the long ones among them.
    """
    taken = _taken(entry)
    found = dict(_branch(entry, *one) for one in taken[:_MAX_BRANCHES])
    told = {text: latex for text, latex in found.items() if len(text) <= _MAX_CHARACTERS}
    count = len(found) - len(told) + len(taken[_MAX_BRANCHES:])
    left = f"{count}{' more' if told else ''} condition{'s' * (count > 1)} on values (see conditions)"
    said = [(left, rf"\text{{{left}}}")] if count else []
    return [*told, *[text for text, _ in said]], [*told.values(), *[latex for _, latex in said]]


def _taken(entry: TraceEntry) -> list[tuple[Node, Any]]:
    """The values that the trace has asked for, each once, and what they were."""
    return list(dict(zip(entry.branches.outputs, entry.taken, strict=True)).items())


def _branch(entry: TraceEntry, node: Node, value: Any) -> tuple[str, str]:
    """What a value was, as text and as LaTeX; a truth value by itself, or by its opposite, and where it is so."""
    told, sides = np.asarray(value), node
    is_truth = told.dtype.kind == "b"
    if is_truth and not np.any(told) and node.primitive.name in _OPPOSITE:
        with entry.program.graph:
            sides, told = ELEMENTWISE[_OPPOSITE[node.primitive.name]](*node.operands), ~told
    text, latex = _formula(entry.program, sides, "a comparison" if is_truth else "a value")
    if is_truth and not np.any(told):
        return f"not {text}", rf"\text{{not }}{latex}"
    if is_truth and np.all(told):
        return text, latex
    if is_truth:
        places = [str(place) for place in np.argwhere(told).tolist()]
        few = len(places) <= _MAX_SHOWN
        said = f"at {', '.join(places)} alone" if few else f"at {len(places)} of {told.size} places"
    elif told.size <= _MAX_SHOWN:
        return f"{text} = {told.tolist()}", f"{latex} = {told.tolist()}"
    else:
        said = "as here"
    return f"{text} {said}", rf"{latex}\ \text{{{said}}}"


def _held(
    entry: TraceEntry, program: Program, node: Node, condition: Condition, subject: Node, fails: np.ndarray | None
) -> Held:
    text, latex = _formula(program, subject, f"the argument of {node.primitive.name}")
    sign, bound = condition.relation, condition.bound
    if bound:
        made = f"{text} {sign} {bound}", rf"{latex} {_RELATIONS.get(sign, sign)} {bound}"
    else:
        made = f"{text} {sign}", rf"{latex}\ \text{{{sign}}}"
    kind = "kink" if condition.is_kink else "domain"
    return Held(kind, *made, condition.otherwise, entry.ledger.line(node), fails)


def _formula(program: Program, node: Node, otherwise: str) -> tuple[str, str]:
    """A node as text and as LaTeX, or in other words where that is long."""
    if node.primitive.name in COMPARISONS:
        sides = [_formula(program, o, otherwise) for o in node.operands]
        spelled = COMPARISONS[node.primitive.name]
        sign = _SIGNS.get(spelled, spelled)
        return f" {sign} ".join(text for text, _ in sides), f" {_RELATIONS.get(sign, sign)} ".join(
            latex for _, latex in sides
        )
    if node.dtype.kind == "b" and node.primitive.name in _OF_ALL and not node.shape:
        text, latex = _formula(program, node.operands[0], otherwise)
        name = _OF_ALL[node.primitive.name]
        return f"{name}({text})", rf"\operatorname{{{name}}}({latex})"
    own = program.with_outputs([node])
    try:
        found = formulas_in(own, "matrix" if node.shape else "auto", _MAX_OPERATIONS)
    except ClosedFormTooLarge:
        found = formulas(own, _MAX_OPERATIONS)
    if found.kind in ("let-bound", "recurrence") or found.characters > MAX_WORD:
        return otherwise, rf"\text{{{otherwise}}}"
    (text, *more), (latex, *_) = found.text_rows(["f"]), found.latex_rows(["f"])
    if more:
        return otherwise, rf"\text{{{otherwise}}}"
    return text.partition(" = ")[2], latex.partition("&=")[2].strip()


def _failures(
    program: Program, asked: Sequence[tuple[Node, Condition, Node]], arrays: Sequence[Any]
) -> list[np.ndarray | None]:
    """Where each condition is not met by these arrays, among the elements that the outputs need."""
    wider = program.with_outputs([*program.outputs, *[subject for _, _, subject in asked]])
    with np.errstate(all="ignore"):
        values = walk(wider.nodes, dict(zip(wider.inputs, arrays, strict=True)), _value)
        needed = _needed(program, values)
        made: list[np.ndarray | None] = []
        for node, condition, subject in asked:
            fails = np.logical_not(condition.holds(node, np.asarray(values[subject])))
            mask = needed.get(node, np.zeros((), bool))
            if isinstance(node.primitive, Elementwise):
                mask = _reduced(mask, np.shape(fails)) if np.ndim(mask) >= np.ndim(fails) else mask
            made.append(fails & (mask if np.ndim(mask) <= np.ndim(fails) else np.any(mask)))
    return made


def _value(node: Node, operands: Sequence[Any]) -> Any:
    try:
        return evaluated(node, operands)
    except np.linalg.LinAlgError:  # one of the conditions says why
        return np.full(tuple(map(int, node.shape)), np.nan)


def _needed(program: Program, values: Mapping[Node, Any]) -> dict[Node, np.ndarray]:
    """Which elements of each node the outputs are made of; what a choice leaves out is not among them."""
    needed = {o: np.ones(np.shape(values[o]), bool) for o in program.outputs}
    for node in reversed(program.nodes):
        mask = needed.get(node)
        if mask is None:
            continue
        for k, o in enumerate(node.operands):
            own = np.ones((), bool)
            if isinstance(node.primitive, Elementwise):
                own = mask
                if node.primitive.name == "where" and k:
                    own = mask & (values[node.operands[0]] if k == 1 else np.logical_not(values[node.operands[0]]))
            own = np.broadcast_to(_reduced(own, np.shape(values[o])), np.shape(values[o]))
            needed[o] = own | needed[o] if o in needed else own
    return needed


def _reduced(mask: np.ndarray, shape: tuple) -> np.ndarray:
    """Whether any of the elements that one of ``shape`` was broadcast to is marked."""
    mask = np.any(mask, axis=tuple(range(mask.ndim - len(shape)))) if mask.ndim > len(shape) else mask
    ahead = len(shape) - mask.ndim
    wide = tuple([k for k in range(mask.ndim) if shape[k + ahead] == 1 != mask.shape[k]])
    return np.any(mask, axis=wide, keepdims=True)
