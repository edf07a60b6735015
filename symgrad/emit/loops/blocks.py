"""Steps with loops of their own: calls on matrices, running sums and products, searches along an axis."""

from __future__ import annotations

from collections.abc import Sequence

from .language import (
    Alias,
    Apply,
    Assign,
    Call,
    Counted,
    Element,
    Expression,
    If,
    Index,
    Let,
    Loop,
    Name,
    Require,
    Slab,
    Statement,
    Variable,
)
from .nests import Values, update
from .regions import Block
from .scalars import BOOL, F32, F64, I64, cast, constant
from .views import moved

#: what takes the next element into a running value, and what that begins with
_RUNNING = {"cumsum": ("add", 0), "cumprod": ("multiply", 1)}


def block(step: Block, values: Values, counters: list[str]) -> list[Statement]:
    """The statements of a step."""
    if step.kind == "require":
        (read,) = step.reads
        held = values.numbers.get(read.root)
        return [Require(held if held is not None else Element(values.arrays[read.root], read.places), "branch")]
    if step.kind == "alias":
        return [Alias(values.arrays[step.node], values.arrays[step.reads[0].root])]
    if step.kind == "call":
        return _call(step, values, counters)
    write = _cumulated if step.node.primitive.name in _RUNNING else _searched
    return write(step, values, counters)


def _nested(extents: Sequence, counters: list[str], body: list[Statement]) -> list[Statement]:
    """The body within loops over those extents that are not 1."""
    for d, counter in reversed(list(zip(extents, counters, strict=False))):
        if d != 1:
            body = [Loop(counter, d, body)]
    return body


def _places(extents: Sequence, counters: list[str]) -> list[Index]:
    return [Index() if d == 1 else Index(0, ((c, 1),)) for d, c in zip(extents, counters, strict=False)]


def _call(step: Block, values: Values, counters: list[str]) -> list[Statement]:
    node = step.node
    name = node.primitive.name
    stacked = node.operands[0].shape[: -1 if name == "argsort" else -2]
    lead = tuple(_places(stacked, counters))
    operands = tuple([Slab(values.arrays[r.root], lead) for r in step.reads])
    before: list[Statement] = []
    target: Slab | Name | Element
    if node in values.arrays:
        array = values.arrays[node]
        target = Slab(array, lead) if len(node.shape) > len(lead) else Element(array, lead)
    else:
        target = Name(values.fresh(), node.dtype)
        values.numbers[node] = target
        before.append(Variable(target.name, constant(0, node.dtype)))
    return before + _nested(stacked, counters, [Call(name, target, operands)])


def _element(step: Block, values: Values, places: Sequence[Index]) -> Expression:
    """The operand at places of its axes."""
    (read,) = step.reads
    held = values.numbers.get(read.root)
    return held if held is not None else Element(values.arrays[read.root], moved(read.places, list(places)))


def _cumulated(step: Block, values: Values, counters: list[str]) -> list[Statement]:
    node = step.node
    axis, reverse = node.params
    places = _places(node.shape, counters)
    places[axis] = Index(0, ((counters[axis], 1),))
    operation, start = _RUNNING[node.primitive.name]
    held = F64 if node.dtype == F32 and operation == "add" else node.dtype
    total = Name(values.fresh(), held)
    taken = cast(_element(step, values, places), held)
    store = Assign(Element(values.arrays[node], tuple(places)), cast(total, node.dtype))
    body: list[Statement] = [update(total, operation, taken), store]
    own: list[Statement] = [
        Variable(total.name, constant(start, held)),
        Loop(counters[axis], node.shape[axis], body, reverse),
    ]
    return _nested([1 if k == axis else d for k, d in enumerate(node.shape)], counters, own)


def _searched(step: Block, values: Values, counters: list[str]) -> list[Statement]:
    """The first place of the extremum along an axis; NaN is beyond everything."""
    node = step.node
    x = node.operands[0]
    axis, d = node.params[0], x.shape[node.params[0]]
    places = _places(x.shape, counters)
    first, running = list(places), list(places)
    first[axis], running[axis] = Index(), Index(0, ((counters[axis], 1),))
    best, at, here = Name(values.fresh(), x.dtype), Name(values.fresh(), I64), Name(values.fresh(), x.dtype)
    beyond: Expression = Apply("greater" if node.primitive.name == "argmax" else "less", (here, best), BOOL)
    if x.dtype.kind == "f":
        known = Apply("logical_not", (Apply("isnan", (best,), BOOL),), BOOL)
        beyond = Apply("logical_or", (beyond, Apply("logical_and", (Apply("isnan", (here,), BOOL), known), BOOL)), BOOL)
    taken = If(beyond, [Assign(best, here), Assign(at, Counted(Index(0, ((counters[axis], 1),)), I64))])
    body: list[Statement] = [
        Variable(best.name, _element(step, values, first)),
        Variable(at.name, constant(0, I64)),
        Loop(counters[axis], d, [Let(here.name, _element(step, values, running)), taken]),
    ]
    if node not in values.arrays:
        values.numbers[node] = at
    else:
        kept = tuple(p for k, p in enumerate(places) if k != axis)
        body.append(Assign(Element(values.arrays[node], kept), at))
    return _nested([1 if k == axis else e for k, e in enumerate(x.shape)], counters, body)
