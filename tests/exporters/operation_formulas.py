"""The formulas of every registered operation and of its gradient, in each of their forms."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from every_operation import Call, calls

import symgrad as sg
from symgrad.closed_form.breaking import broken
from symgrad.closed_form.choice import formulas_in
from symgrad.closed_form.latex import let_bound_rows
from symgrad.errors import ClosedFormTooLarge, DtypeError, TracingError, UnsupportedOperation
from symgrad.tracing.declare import Given
from symgrad.tracing.tree import flatten, unflatten
from symgrad.transforms.derived import DerivedFunction

FORMS = ("auto", "matrix", "index", "entries")
#: arguments of this many elements in all are written entry by entry
MAX_ENTRIES = 12


def left_out(call: Call) -> bool:
    """Formulas are those of numbers and of one broadcast: other shapes read alike, and so do further cases."""
    if call.kind == "function" or call.operation == "zeta":
        return call.nth > 0 or call.is_composed
    shapes = [np.shape(a) for a in call.leaves]
    return shapes not in ([()], [(3,)], [(), ()], [(2, 3), (3,)], [(), (), ()], [(2, 1), (3,), ()])


def named_call(call: Call) -> tuple[Any, list[Any]]:
    """The call as a function of arguments called x, y and z, and these."""
    leaves, structure = flatten(call.args)
    places = [k for k, v in enumerate(leaves) if not isinstance(v, Given)]

    def called(*arrays):
        filled = [v.value if isinstance(v, Given) else v for v in leaves]
        for k, array in zip(places, arrays, strict=True):
            filled[k] = array
        return call.function(*unflatten(structure, filled), **call.kwargs)

    def one(x):
        return called(x)

    def two(x, y):
        return called(x, y)

    def three(x, y, z):
        return called(x, y, z)

    point = [leaves[k] for k in places]
    return {1: one, 2: two, 3: three}.get(len(point), called), point


def derivatives() -> Iterator[tuple[str, DerivedFunction, list[Any]]]:
    """The value and the gradient of every operation, with arguments."""
    for call in calls(["elementwise", "function"], left_out):
        function, point = named_call(call)
        if call.operation == "zeta":  # it is a derivative
            yield "zeta", sg.symbolic(function), point
            continue
        yield f"the value of {call}", sg.symbolic(function), point
        floats = tuple([k for k, v in enumerate(point) if np.asarray(v).dtype.kind == "f"])
        if floats:
            yield f"the gradient of {call}", sg.grad(function, floats), point


@functools.cache
def rendered() -> tuple[dict[tuple[str, str], list[str]], set[str]]:
    """The rows of each operation in each of its forms, and the primitives that occur in them."""
    made: dict[tuple[str, str], list[str]] = {}
    seen: set[str] = set()
    for name, derived, point in derivatives():
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                program = derived.program(*point)
        except (DtypeError, TracingError):
            continue  # a result that is no number has no derivative
        seen |= {n.primitive.name for n in program.nodes}
        labels = derived.labels(derived._entry(tuple(point), {}))
        made[name, "let-bound"] = let_bound_rows(program, labels)
        best = formulas_in(program, "auto")
        written: dict[str, list[str]] = {}
        for form in FORMS:
            kind = best.kind if form == "auto" else form
            if form == "entries" and sum(np.size(p) for p in point) > MAX_ENTRIES:
                continue
            with contextlib.suppress(ClosedFormTooLarge, UnsupportedOperation):
                if kind not in written:
                    found = best if kind == best.kind else formulas_in(program, form)
                    written[kind] = found.latex_rows(labels)
                if sum(map(len, written[kind])) < 20_000:
                    made[name, form] = broken(written[kind])
    return made, seen
