"""steps: a derivative read line by line, from the function to the chain rule through each of its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import numpy as np

from ..closed_form.choice import formulas, formulas_in
from ..closed_form.deadline import TimeIsUp, within_calls
from ..closed_form.derivation.constants import Constants, is_unit, lifted
from ..closed_form.derivation.lines import Line, cut
from ..closed_form.derivation.naming import Name, Names, counted, numbered, spellings, user_name
from ..closed_form.derivation.steps import MAX_LINES, Steps
from ..closed_form.derivation.sweeps import Sweep, needed
from ..closed_form.index_rules import is_spaced
from ..closed_form.labels import label_text
from ..closed_form.matrix import matrix_forms
from ..closed_form.reals import of_real_numbers
from ..closed_form.recurrences import recurrences
from ..closed_form.recurrences.derivation import LoopSteps
from ..differentiation.edges import active_edges
from ..differentiation.forward import forward_sweep
from ..errors import ArgumentError, UnsupportedOperation
from ..kernels.kernel import optimized
from ..passes.as_read import as_read
from ..passes.cofactors import written_out
from ..passes.unrolling import has_loops, unrolled
from ..primitives.primitive import input_node, literal
from ..program.node import Node
from ..program.program import Program
from ..trace_entry import TraceEntry
from ..tracing.trace import Purpose

if TYPE_CHECKING:
    from .derived import DerivedFunction
    from .run import Run

_MODES = ("reverse", "forward")
#: characters of LaTeX that the derivative put together may have
_MAX_CHARACTERS = 400
#: operations of loops written out, of which steps are told
_MAX_OPERATIONS = 10_000
#: calls that finding it may take
_MAX_CALLS = 3_000_000


def steps_of(
    derived: DerivedFunction,
    args: tuple,
    kwargs: dict[str, Any],
    mode: str | None = None,
    budget: int = MAX_LINES,
    together: bool = True,
) -> Steps:
    """The steps of a derivative at these arguments; see ``DerivedFunction.steps``.

    Without ``together`` the derivative is not put together at the end, which is looked for in vain where it is long.
    """
    if mode is not None and (not isinstance(mode, str) or mode not in _MODES):
        raise ArgumentError(f"steps: mode={mode!r} is unknown; choose one of {', '.join(map(repr, _MODES))}.")
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 2:
        raise ArgumentError(f"steps: budget={budget!r} must be a whole number of lines, 2 or more.")
    shown = derived._readable()
    if not args and not kwargs and shown._shapes_of(args, kwargs) is None:
        raise ArgumentError("steps: pass the arguments, or shapes such as 'n d', that the steps are for.")
    entry, arrays = shown._recorded(args, kwargs, Purpose.FORMULAS)
    run: Run | None = entry.trace.run
    if run is None:
        raise UnsupportedOperation(
            f"{shown.__name__} is no single sweep of derivatives, so it has no steps; ask for those of its gradient or "
            "Jacobian, as grad(f).steps(…)."
        )
    if mode is None:
        mode = _own_mode(shown, run)
    if mode not in run.modes:
        raise ArgumentError(f"steps: {shown.__name__} is shown in mode={run.modes[0]!r} only.")
    return _written(shown, entry, arrays, run, entry.local_names, mode, budget, together)


def _own_mode(derived: DerivedFunction, derivation: Run) -> str:
    asked = getattr(derived, "mode", "auto")
    return asked if asked in derivation.modes else derivation.modes[0]


def _written(
    derived: DerivedFunction,
    entry: TraceEntry,
    arrays: Sequence[Any] | None,
    derivation: Run,
    local: Mapping[Node, str],
    mode: str,
    budget: int,
    together: bool,
) -> Steps:
    program = entry.program
    if has_loops(program):
        told = _told(derived, entry, arrays, derivation, mode, budget)
        if told is not None:
            return told
        derivation, local = _rewritten(derivation, program, local, lambda given: unrolled(given, _MAX_OPERATIONS))
    derivation, local = _rewritten(derivation, program, local, of_real_numbers)
    with entry.reopened(), program.graph:  # rules of functions that run as they are trace on
        bars: dict[Node, Node] = {}
        lines = cut(derivation.outputs, local, active_edges(derivation.outputs, derivation.wrt))
        names = _names(program, lines, local, derivation.outputs, label_text(derived.letter(entry)))
        sweep = Sweep(program.graph, names)
        steps = sweep.values(lines)
        symbol = {line.node: line.stand_in for line in lines}
        if mode == "reverse" or derivation.twice:
            ends = [
                (symbol.get(o, o), seed, _seed_reason(derivation, o, seed))
                for o, seed in zip(derivation.outputs, derivation.seeds, strict=True)
                if o.differentiable
            ]
            pulled, bars = sweep.reverse(lines, ends, derivation.wrt)
            steps += pulled
        if mode == "forward" or derivation.twice:
            begins = [(w, t, _direction_reason(t)) for w, t in zip(derivation.wrt, _tangents(derivation), strict=True)]
            pushed, dots = sweep.forward(steps, begins)
            if derivation.twice:
                ends = [dots[bars[w]] for w in derivation.wrt if bars[w] in dots]
                pushed = needed(pushed, [*ends, *(dots[w] for w in derivation.wrt)])
            steps += pushed
    inputs = [
        (node, names[node], None if arrays is None else np.asarray(array))
        for node, array in zip(program.inputs, arrays or [None] * len(program.inputs), strict=True)
    ]
    constants = Constants(names)
    constants.name([s.root for s in steps if s.root is not None])
    constants.name(entry.readable.outputs)
    result = _result(derived, entry, [names[w] for w in derivation.wrt], names) if together else []
    notes = ["for the branches that these arguments take"] if entry.taken else []
    if mode == "forward" and derivation.summed and not derivation.twice and any(o.shape for o in derivation.outputs):
        notes.append("the gradient is that of the sum of all elements")
    title = f"{derived.__name__}, {mode} mode"
    return Steps(title, steps, result, inputs, budget, notes, constants.described())


def _rewritten(
    derivation: Run, program: Program, local: Mapping[Node, str], rewriting: Callable[[Program], Program]
) -> tuple[Run, Mapping[Node, str]]:
    """The derivation of the function as ``rewriting`` has it, and the names of its values."""
    lists = (derivation.outputs, derivation.wrt, derivation.seeds, derivation.tangents)
    nodes = [n for own in lists for n in own if n is not None]
    given = program.with_outputs([*nodes, *local])
    made = rewriting(given)
    if made is given:
        return derivation, local
    image = dict(zip(given.outputs, made.outputs, strict=True))
    outputs, seeds, tangents = ([n and image[n] for n in own] for own in (lists[0], *lists[2:]))
    inputs = replace(derivation.inputs, nodes=[[image[n] for n in own] for own in derivation.inputs.nodes])
    weights = [image[n] for n in derivation.weights]
    called = {image[n]: name for n, name in local.items()}
    return replace(derivation, outputs=outputs, seeds=seeds, tangents=tangents, inputs=inputs, weights=weights), called


def _told(
    derived: DerivedFunction, entry: TraceEntry, arrays: Sequence[Any] | None, derivation: Run, mode: str, budget: int
) -> Steps | None:
    """The steps of a function with loops, a loop a line; None where its loops cannot be told so."""
    program = entry.program
    own = [o for o in derivation.outputs if o.differentiable]
    inputs, labels = list(zip(program.inputs, program.names, strict=True)), derived.labels(entry)
    found = list(program.outputs)
    if mode == "forward" and mode != _own_mode(derived, derivation):
        called = dict(inputs)
        with program.graph:
            dots = {w: input_node("tangent", w.shape, w.dtype) for w in derivation.wrt}
            found = [f for f in forward_sweep(own, dots) if f is not None]
        inputs += [(dot, user_name(called.get(w, "x")).marked("dot")) for w, dot in dots.items()]
        labels = [rf"\dot{{{label}}}" for label in _result_labels(len(found))]
    names = [name for _, name in inputs]
    program = Program([n for n, _ in inputs], [*own, *found], names, program.graph)
    told = recurrences(as_read(written_out(program), optimized))
    if told is None:
        return None
    told = told.labelled([*_result_labels(len(own)), *labels])
    values = list(arrays or []) + [None] * (len(inputs) - len(arrays or []))
    given = [(n, user_name(name), v) for (n, name), v in zip(inputs, values, strict=True)]
    notes = ["for the branches that these arguments take"] if entry.taken else []
    return LoopSteps(f"{derived.__name__}, {mode} mode", told, len(own), given, budget, notes)


def _result_labels(count: int) -> list[str]:
    return ["f"] if count == 1 else [f"f_{{{k}}}" for k in range(1, count + 1)]


def _tangents(derivation: Run) -> Sequence[Node | None]:
    """The tangent of each input: those given; 1 for the only number; else any."""
    if derivation.tangents:
        return derivation.tangents
    if len(derivation.wrt) == 1 and derivation.wrt[0].shape == ():
        return [literal(1.0)]
    return [None] * len(derivation.wrt)


def _seed_reason(derivation: Run, output: Node, seed: Node | None) -> str:
    """Why a cotangent begins as it does."""
    if seed is None:
        return "weighs the elements of the output; the rows of the Jacobian are those of single elements"
    if not derivation.summed:
        return "the sensitivity of the output, as it was given"
    return "the output by itself" if output.shape == () else "the gradient is that of the sum of all elements"


def _direction_reason(tangent: Node | None) -> str:
    """Why a tangent begins as it does."""
    if tangent is None:
        return "the change of the argument, in any direction"
    return "the argument by itself" if tangent.is_literal else "the direction that was given"


def _names(
    program: Program, lines: Sequence[Line], local: Mapping[Node, str], outputs: Sequence[Node], letter: str
) -> Names:
    """A name for each input and each line, no two alike; ``letter`` is that of the function."""
    names = Names()
    for node, label in zip(program.inputs, program.names, strict=True):
        names[node] = names.fresh(spellings(label))
    arguments = set(program.names)
    results = {n: k for k, n in enumerate(dict.fromkeys(outputs), 1)}
    bound = Counter(local[line.node] for line in lines if line.node in local)
    seen: Counter[str] = Counter()
    unnamed = map(numbered, count(1))
    for line in lines:
        label = local.get(line.node)
        candidates: Iterable[Name] = unnamed
        if label is not None:
            seen[label] += 1
            again = bound[label] > 1 or label in arguments
            candidates = chain([counted(label, seen[label])] if again else [], spellings(label))
        elif line.node in results:
            candidates = spellings(letter if len(results) == 1 else f"{letter}_{results[line.node]}")
        names[line.stand_in] = names.fresh(candidates)
    return names


def _result(
    derived: DerivedFunction, entry: TraceEntry, wrt: Sequence[Name], names: Names
) -> list[tuple[str, str, str]]:
    """The derivatives put together, where that is short and soon found: text, LaTeX and why."""
    try:
        with within_calls(_MAX_CALLS):
            return _together(entry.readable, derived.labels(entry), wrt, names)
    except TimeIsUp:
        return []


def _together(
    program: Program, labels: Sequence[str], wrt: Sequence[Name], captured: Names
) -> list[tuple[str, str, str]]:
    called = {name.latex: str(name) for name in wrt}
    program = of_real_numbers(program)
    empty = any(d == 0 for n in program.nodes for d in n.shape)
    forms = [] if empty else matrix_forms(lifted(program, captured, is_unit))
    made = []
    for label, form in zip(labels, forms, strict=False):
        if form is not None and len(form.latex_line) <= _MAX_CHARACTERS and "I[" not in form.text:
            text = form.text + "".join(f", {line}" for line in form.where)
            made.append((f"{label_text(label, called)} = {text}", f"{label} &= {form.latex_line}", ""))
    if len(made) == len(labels):
        return made
    written = formulas(program)
    if written.kind == "index":
        written = formulas_in(lifted(program, captured, is_spaced), "index")
    if written.kind == "let-bound" or written.characters > _MAX_CHARACTERS:
        return []
    names = [label_text(label, called) for label in labels]
    rows = written.latex_rows(labels)
    texts = [*written.text_rows(names), *[""] * len(rows)]
    return [(text, row, "") for text, row in zip(texts, rows, strict=False)]
