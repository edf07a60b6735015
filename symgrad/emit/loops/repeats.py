"""A loop of a program as a loop around those of its body.

What a step carries is in memory that the step reads, and is copied there from where the step has computed it; what it
reads of arrays, and what is kept, are parts of these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...primitives.loop import Loop as Repeated
from ...program.dims import size
from ...program.node import Node
from ...program.program import Program
from .language import Allocate, Array, Assign, Element, Free, Index, Let, Loop, Name, Part, Slab, Statement
from .nests import Values
from .regions import Block

#: what lowers a body whose inputs have their values, into arrays for its outputs
Lower = Callable[[Program, Values, Sequence[Array]], Sequence[Statement]]


def repeated(
    step: Block, values: Values, kept: Sequence[Node | None], counter: str, counters: Sequence[str], lower: Lower
) -> list[Statement]:
    """The statements of a step that is a loop, which counts with ``counter``; ``kept`` are the arrays of results.

    Loops over elements count with ``counters``.
    """
    loop: Repeated = step.node.params[0]
    at = (Index(0, ((counter, 1),)),)
    own = type(values)(values.fresh)
    before: list[Statement] = []
    head: list[Statement] = []
    for k, (node, read) in enumerate(zip(loop.inputs, step.reads, strict=True)):
        if node.shape and loop.is_element(k):
            own.arrays[node] = Array(values.fresh(), node.shape, node.dtype, "input")
            head.append(Part(own.arrays[node], Slab(values.arrays[read.root], at)))
        elif node.shape or k < loop.carries:
            own.arrays[node] = values.arrays[read.root]
        else:
            held = values.numbers.get(read.root)
            place = Element(values.arrays[read.root], at) if loop.is_element(k) else None
            name = own.numbers[node] = Name(values.fresh(), node.dtype)
            (head if place else before).append(Let(name.name, place or held or values.element(read, {})))
    outputs: list[Array] = []
    stored: list[Statement] = []
    for k, node in enumerate(loop.body.outputs):
        part = None if k < loop.carries else kept[k - loop.carries]
        array = Array(values.fresh(), node.shape, node.dtype, "output" if part and node.shape else "local")
        outputs.append(array)
        if part and node.shape:
            head.append(Part(array, Slab(values.arrays[part], at)))
        else:
            before.append(Allocate(array))
            stored += [] if part is None else [Assign(Element(values.arrays[part], at), Element(array, ()))]
    statements = lower(loop.body, own, outputs)
    before += [s for s in statements if isinstance(s, Allocate)]  # one memory for all steps
    turns = [*head, *(s for s in statements if not isinstance(s, Allocate | Free)), *stored]
    for node, made, after in zip(loop.inputs, outputs[: loop.carries], loop.body.outputs, strict=False):
        if after is not node:
            turns.append(_copy(own.arrays[node], made, counters, values.rows))
    after_all = [Free(s.array) for s in before if isinstance(s, Allocate)]
    return [*before, Loop(counter, loop.length, turns, loop.reverse), *after_all]


def _copy(target: Array, source: Array, counters: Sequence[str], flat: bool) -> Statement:
    """All elements of one array in another; ``flat`` where they lie in a row."""
    shape = (size(target.shape),) if flat and target.shape else target.shape
    places = [(Index(0, ((counter, 1),)), d, counter) for d, counter in zip(shape, counters, strict=False)]
    place = tuple([index for index, _, _ in places])
    ends = [Element(Array(a.name, shape, a.dtype, a.role), place) for a in (target, source)]
    copied: Statement = Assign(ends[0], ends[1])
    for _, d, counter in reversed(places):
        copied = Loop(counter, d, [copied])
    return copied
