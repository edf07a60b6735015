"""The formulas of every registered operation and of its gradient, in each of their forms."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Iterator

import numpy as np

import symgrad as sg
from symgrad.closed_form.breaking import broken
from symgrad.closed_form.formulas import formulas_in
from symgrad.closed_form.latex import let_bound_rows
from symgrad.errors import ClosedFormTooLarge, DtypeError, TracingError, UnsupportedOperation
from symgrad.primitives import special
from symgrad.primitives.elementwise import TEMPLATES
from symgrad.primitives.functions import DOMAINS
from symgrad.tracing.declare import CASES, Given
from symgrad.tracing.tree import flatten, unflatten

SHAPES = {1: [((),), ((3,),)], 2: [((), ()), ((2, 3), (3,))], 3: [((), (), ()), ((2, 1), (3,), ())]}
FORMS = ("auto", "matrix", "index", "entries")
#: arguments of this many elements in all are written entry by entry
MOST_ENTRIES = 12


def operations() -> Iterator[tuple[str, sg.transforms.derived.DerivedFunction, list[np.ndarray]]]:
    """The value and the gradient of every operation, with arguments."""
    rng = np.random.default_rng(7)
    for name, template in TEMPLATES.items():
        for shapes in SHAPES[template.arity]:
            function = special.zeta if template is special.zeta else template.ufunc
            operands = [drawn(rng, *interval, shape) for interval, shape in zip(DOMAINS[name], shapes, strict=True)]
            if template is special.zeta:  # which comes as a derivative only
                yield name, sg.grad(sg.grad(special.digamma.ufunc)), [np.asarray(1.5)]
            else:
                yield from _derived(f"{name} of {shapes}", function, operands, {}, ())
    for function, cases in CASES.items():
        case = cases[0]
        held = [k for k, a in enumerate(case.args) if isinstance(a, Given)]
        arrays = case.draw(np.random.default_rng(7))
        yield from _derived(f"{function.__name__} of {case}", case.of_drawn(function), arrays, case.kwargs, held)


def drawn(rng, low, high, shape):
    if isinstance(low, int):
        return np.asarray(rng.integers(low, high + isinstance(low, bool), shape)).astype(type(low))
    return np.asarray(rng.uniform(low, high, shape))


def _derived(name, function, operands, kwargs, held):
    leaves, structure = flatten(tuple(operands))
    fixed = {id(leaf) for k in held for leaf in flatten(operands[k])[0]}
    places = [k for k, v in enumerate(leaves) if isinstance(v, np.ndarray) and id(v) not in fixed]

    def called(*arrays):
        filled = list(leaves)
        for k, array in zip(places, arrays, strict=True):
            filled[k] = array
        return function(*unflatten(structure, filled), **kwargs)

    def one(x):
        return called(x)

    def two(x, y):
        return called(x, y)

    def three(x, y, z):
        return called(x, y, z)

    point = [leaves[k] for k in places]
    call = {1: one, 2: two, 3: three}.get(len(point), called)
    yield f"the value of {name}", sg.symbolic(call), point
    floats = tuple(k for k, v in enumerate(point) if v.dtype.kind == "f")
    if floats:
        yield f"the gradient of {name}", sg.grad(call, floats), point


@functools.cache
def rendered() -> tuple[dict[tuple[str, str], list[str]], set[str]]:
    """The rows of each operation in each of its forms, and the primitives that occur in them."""
    made: dict[tuple[str, str], list[str]] = {}
    seen: set[str] = set()
    for name, derived, point in operations():
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                program = derived.program(*point)
        except (DtypeError, TracingError):
            continue  # a result that is no number has no derivative
        seen |= {n.primitive.name for n in program.nodes}
        labels = derived.labels(derived._entry(tuple(point), {}))
        made[name, "let-bound"] = let_bound_rows(program, labels)
        for form in FORMS:
            if form == "entries" and sum(np.size(p) for p in point) > MOST_ENTRIES:
                continue
            with contextlib.suppress(ClosedFormTooLarge, UnsupportedOperation):
                rows = formulas_in(program, form).latex_rows(labels)
                if sum(map(len, rows)) < 20_000:
                    made[name, form] = broken(rows)
    return made, seen
