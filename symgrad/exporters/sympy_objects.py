"""sympy: the derivative as live objects, or as a script that makes them anew with plain sympy and checks itself."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Any

import sympy

from ..closed_form.budget import fits
from ..closed_form.choice import formulas_in
from ..closed_form.entries import entry_forms, entry_names
from ..closed_form.formulas import Formulas, as_arrays
from ..closed_form.index_form import bound_forms, constant_names, index_forms, named_array
from ..closed_form.latex import prefers_entries
from ..closed_form.symbols import as_statement, safe_names, symbol
from ..errors import ClosedFormTooLarge, UnsupportedOperation
from ..program.program import Program
from ..tracing.tree import unflatten
from . import header, presentation, sympy_script
from .subject import Subject


@dataclass(frozen=True)
class SympyObjects:
    """A derivative as sympy objects.

    ``kind`` says how: ``entries`` (an output is a ``sympy.Array`` of the symbols of entries, a number an expression),
    ``index`` (an expression, the element at free indices that count from 0), ``matrix`` (a MatrixForm), ``let-bound``
    (as ``index``, in terms of ``bindings``). ``inputs`` are the arrays of symbols, the IndexedBases or the symbols
    of the inputs, by their names; ``indices`` the free indices of each output. ``bindings`` are pairs of what is bound,
    ``v_0[i]``, and its formula, in order. It holds where all ``conditions`` do. ``result`` has the outputs in the
    nesting of the result.

    >>> import symgrad
    >>> found = symgrad.grad(lambda x, y: x**2 * y, (0, 1)).export("sympy", 1.0, 2.0)
    >>> found.outputs, found.inputs["x"], found.outputs[0].diff(found.inputs["x"])
    ([2*x*y, x**2], x, 2*y)
    """

    name: str
    kind: str
    header: tuple[str, ...] = field(repr=False)
    inputs: dict[str, Any]
    outputs: list[Any]
    indices: list[tuple[sympy.Symbol, ...]]
    bindings: list[tuple[Any, Any]]
    conditions: list[Any]
    result: Any = field(repr=False)


def objects(subject: Subject) -> SympyObjects | str:
    """The live objects; as a document the script that makes them."""
    made = _objects(subject)
    if not subject.document:
        return made
    if made.kind == "matrix":
        raise UnsupportedOperation('a script of sympy has no matrix notation; export sympy with form="index".')
    return sympy_script.script(subject, made)


def _objects(subject: Subject) -> SympyObjects:
    found, conditions = _found(subject)
    program = subject.program
    bindings: list[tuple[Any, Any]] = []
    if found.kind == "index":
        indices, outputs = [tuple(free) for free, _ in found.forms], [element for _, element in found.forms]
    elif found.kind == "let-bound":
        bindings, written = bound_forms(subject.guarded)
        written, conditions = written[: len(subject.labels)], [e for _, e in written[len(subject.labels) :]]
        indices, outputs = [tuple(free) for free, _ in written], [element for _, element in written]
    else:
        indices = [()] * len(program.outputs)
        outputs = as_arrays(found.forms) if found.kind == "entries" else found.forms
    return SympyObjects(
        subject.name,
        found.kind,
        tuple(header.lines(subject)),
        _inputs(program, found.kind),
        outputs,
        indices,
        bindings,
        [as_statement(c) for c in conditions],
        unflatten(subject.structure, [outputs[v] if is_array else v for is_array, v in subject.slots]),
    )


def _found(subject: Subject) -> tuple[Formulas, list[Any]]:
    """The formulas, and the conditions in the same symbols; no matrices where the form is left open."""
    found = presentation.presented(subject)
    if subject.form == "auto":
        is_small = found.kind == "entries" or prefers_entries(subject.program)
        for kind in ("entries",) * is_small + ("index",) * (found.kind != "let-bound"):
            with contextlib.suppress(ClosedFormTooLarge, UnsupportedOperation):
                made = found if kind == found.kind else formulas_in(subject.program, kind)
                return made, _conditions(subject, kind)
        return Formulas(subject.program, "let-bound", []), []
    return found, _conditions(subject, found.kind)


def _conditions(subject: Subject, kind: str) -> list[Any]:
    program = subject.program.with_outputs(subject.conditions)
    if not subject.conditions:
        return []
    if not fits(program, kind == "entries"):
        raise ClosedFormTooLarge(
            "the conditions that the example took are too long to be written out; take form='auto'."
        )
    if kind == "entries":
        return [form.item() for form in entry_forms(program)]
    return [element for _, element in index_forms(program)]


def _inputs(program: Program, kind: str) -> dict[str, Any]:
    """The symbols of the inputs and of captured arrays, by their names."""
    names = safe_names(program.names)
    if kind == "entries":
        made = {}
        for name, node, entries in zip(names, program.inputs, entry_names(program), strict=True):
            symbols = [symbol(e, node.dtype) for e in entries]
            made[name] = sympy.Array(symbols, node.shape) if node.shape and symbols else symbols[0] if symbols else None
        return made
    made = {name: named_array(name, node.shape, node.dtype) for name, node in zip(names, program.inputs, strict=True)}
    return made | {name: named_array(name, value.shape, value.dtype) for name, value in constant_names(program).items()}
