"""Loops in segments, between which nothing but the carries is stored: the loop back computes a segment again.

A loop of n steps in segments of k holds the carries of n / k steps and what the sweep reads of k; with k = √n both are
√n. Each step is computed twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..primitives.loop import Loop
from ..primitives.primitive import input_node
from ..primitives.scan import results_of
from ..primitives.selection import concatenate, full, take_slice
from ..primitives.shaping import reshape
from ..program.dims import is_named
from ..program.node import Graph, Node, active_graph
from ..program.program import Program


def checkpointed(loop: Loop, operands: Sequence[Node], every: int | str) -> list[Node]:
    """The pieces of a loop, all of whose carries are final, stored after ``every`` so many steps; ``"sqrt"`` is √n.

    Where the length is a name, after each step.
    """
    if is_named(loop.length):
        return results_of(loop.like(loop.body, stores=False), operands)
    steps = math.isqrt(max(loop.length - 1, 0)) + 1 if every == "sqrt" else int(every)
    segments, rest = divmod(loop.length, steps)
    if segments < 2:
        return results_of(loop, operands)
    carries, count = list(operands[: loop.carries]), loop.carries + loop.elements
    arrays, constants = operands[loop.carries : count], operands[count:]
    whole = segments * steps
    whole_first, rest_first = (rest, 0) if loop.reverse else (0, whole)
    wide = [reshape(_stretch(a, whole_first, whole), (segments, steps, *a.shape[1:])) for a in arrays]
    found = results_of(_of_segments(loop, segments, steps), [*carries, *wide, *constants])
    kept = [reshape(k, (whole, *k.shape[2:])) for k in found[loop.carries :]]
    if not rest:
        return [*found[: loop.carries], *kept]
    narrow = [_stretch(a, rest_first, rest) for a in arrays]
    last = results_of(loop.like(loop.body, length=rest), [*found[: loop.carries], *narrow, *constants])
    pairs = zip(kept, last[loop.carries :], strict=True)
    return [*last[: loop.carries], *(concatenate([b, a] if loop.reverse else [a, b], 0) for a, b in pairs)]


def _of_segments(loop: Loop, segments: int, steps: int) -> Loop:
    """The loop of which each step is a segment."""
    body = loop.body
    graph = Graph()
    graph.sizes = active_graph().sizes
    with graph:
        inputs = [
            input_node(name, (steps, *n.shape) if loop.is_element(k) else n.shape, n.dtype, n.weak)
            for k, (n, name) in enumerate(zip(body.inputs, body.names, strict=True))
        ]
        outputs = results_of(loop.like(body, length=steps), inputs)
    return loop.like(Program(inputs, outputs, body.names, graph), length=segments, stores=False)


def _stretch(array: Node, start: int, count: int) -> Node:
    """So many elements of an array."""
    if count == array.shape[0]:
        return array
    return take_slice(array, ((start, count, 1), *full(array.shape[1:])))
