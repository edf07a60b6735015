"""What a Program costs before it runs: operations, memory written, and the time that both suggest.

A named dim counts as a thousand. The weights are of one order on any machine; they choose between ways of
computing the same thing, and are no promise of seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..primitives.contraction import Labels
from ..primitives.elementwise import Elementwise
from ..primitives.identity import IDENTITIES
from ..primitives.loop import Loop
from ..primitives.matrix_functions import DECOMPOSITIONS
from ..primitives.order import NAMED, extent, pairwise_order
from ..primitives.scan import SCAN
from ..program.dims import Shape
from ..program.node import Node

#: seconds an operation of a matrix product, an elementwise operation, a byte written, and a call take
_PRODUCT, _ELEMENT, _BYTE, _CALL = 3e-11, 5e-10, 2e-10, 1e-6
_FREE = {"input", "constant", "literal", "dim", "slice", "reshape", "part", *IDENTITIES}
_CUBIC = {"inverse", "solve", "determinant", "log_determinant", "cholesky", "cofactor", *DECOMPOSITIONS}


@dataclass(frozen=True)
class Cost:
    """Multiplications and other scalar operations, bytes written, and predicted seconds."""

    operations: float
    memory: float
    seconds: float

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.operations + other.operations, self.memory + other.memory, self.seconds + other.seconds)


NOTHING = Cost(0.0, 0.0, 0.0)


def cost(nodes: Iterable[Node]) -> Cost:
    """The cost of computing each of ``nodes`` once."""
    total = NOTHING
    for node in nodes:
        total = total + node_cost(node)
    return total


def node_cost(node: Node) -> Cost:
    """The cost of one node, its operands given."""
    name = node.primitive.name
    if name in _FREE:
        return NOTHING
    if node.primitive is SCAN:
        return loop_cost(node.params[0])
    written = extent(node.shape) * node.dtype.itemsize
    if name == "einsum":
        return einsum_cost(node.params, node.dtype.itemsize)
    read = max([extent(o.shape) for o in node.operands], default=1.0)
    operations = max(extent(node.shape), read)
    if name in _CUBIC:
        operations *= float(node.operands[0].shape[-1]) if isinstance(node.operands[0].shape[-1], int) else NAMED
        return Cost(operations, written, _CALL + operations * _PRODUCT)
    weight = 1.0 if isinstance(node.primitive, Elementwise) else 2.0
    return Cost(operations, written, _CALL + weight * operations * _ELEMENT + written * _BYTE)


def loop_cost(loop: Loop) -> Cost:
    """The cost of all steps of a loop."""
    step, steps = cost(loop.body.nodes), extent((loop.length,))
    return Cost(steps * step.operations, steps * step.memory, _CALL + steps * step.seconds)


@lru_cache(maxsize=4096)
def einsum_cost(params: tuple[Any, ...], itemsize: int) -> Cost:
    """The cost of a contraction in the order that opt_einsum finds."""
    labels, out, sizes, _ = params
    dims = [float(d) if isinstance(d, int) else float(NAMED) for d in sizes]
    written = math.prod(dims[i] for i in out) * itemsize
    arrays = [ls for ls in labels if ls]
    if len(arrays) < 2:
        read = math.prod(dims[i] for i in arrays[0]) if arrays else 1.0
        kept = set(out)
        summed = bool(arrays) and any(i not in kept and dims[i] != 1 for i in arrays[0])
        is_view = len(kept) == len(out) and not summed and kept.issubset(arrays[0] if arrays else ())
        if is_view and all(ls for ls in labels):
            return NOTHING
        return Cost(read, written, _CALL + read * _ELEMENT + written * _BYTE)
    total = NOTHING
    for step_labels, kept_labels, summed in _steps(tuple(arrays), out, sizes):
        operations = math.prod(dims[i] for i in step_labels)
        made = math.prod(dims[i] for i in kept_labels)
        memory = made * itemsize
        time = max(operations * _PRODUCT, made * _ELEMENT) if summed else operations * _ELEMENT
        total = total + Cost(operations, memory, _CALL + time + memory * _BYTE)
    return total + Cost(0.0, written, written * _BYTE) if len(set(out)) < len(out) else total


def _steps(arrays: tuple[Labels, ...], out: Labels, sizes: Shape) -> Iterable[tuple[set[int], set[int], bool]]:
    """For each pair on the way: all labels, the labels of the result, and whether anything is summed."""
    present = {i for ls in arrays for i in ls}
    own = tuple([tuple(dict.fromkeys(ls)) for ls in arrays])
    kept = tuple([i for i in dict.fromkeys(out) if i in present])
    pending = [set(ls) for ls in own]
    for step in pairwise_order(own, kept, sizes):
        merged = set().union(*(pending.pop(k) for k in sorted(step, reverse=True)))
        needed = set(kept).union(*pending)
        result = merged & needed
        pending.append(result)
        yield merged, result, any(sizes[i] != 1 for i in merged - needed)
