"""One walk through a Program, operands first, for all that is computed of its nodes: values, other nodes, formulas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from .node import Node, ancestors, emit_again
from .program import Program

Value = TypeVar("Value")


def evaluated(node: Node, operands: Sequence[Any]) -> Any:
    """What NumPy makes of the values of the operands."""
    return node.primitive.evaluate(node.params, *operands)


def rebuilt(node: Node, operands: Sequence[Node]) -> Node:
    """The node on other operands, in the active graph; itself where these are its own."""
    return node if tuple(operands) == node.operands else emit_again(node, tuple(operands))


def with_others(output: Node, others: Mapping[Node, Node], left: Collection[Node]) -> Node:
    """``output`` made of ``others`` in the place of nodes, but for what is ``left``, in the active graph."""
    image = dict(others)
    for node in ancestors([output], left):
        if node not in image and any(o in image for o in node.operands):
            image[node] = emit_again(node, tuple([image.get(o, o) for o in node.operands]))
    return image.get(output, output)


def walk(
    nodes: Iterable[Node], known: dict[Node, Value], compute: Callable[[Node, list[Value]], Value]
) -> dict[Node, Value]:
    """``known`` with what ``compute`` makes of each other node, from what is known of its operands.

    ``nodes`` come operands first, as those of a Program and ``ancestors`` do.

    >>> import symgrad
    >>> program = symgrad.trace(lambda x: (x + 1) * x, 2.0)
    >>> depth = walk(program.nodes, {}, lambda node, below: 1 + max(below, default=0))
    >>> depth[program.outputs[0]]
    3
    """
    for node in nodes:
        if node not in known:
            known[node] = compute(node, [known[o] for o in node.operands])
    return known


def interpreted(
    program: Program, arrays: Sequence[Any], compute: Callable[[Node, list[Any]], Any] = evaluated
) -> list[Any]:
    """The outputs for these inputs, without a kernel; a value is let go where nothing reads it any more.

    >>> import symgrad
    >>> interpreted(symgrad.trace(lambda x: x * x + 1, 2.0), [3.0])
    [np.float64(10.0)]
    """
    known = dict(zip(program.inputs, arrays, strict=True))
    with np.errstate(all="ignore"):
        for _ in stepwise(program, known, compute):
            pass
    return [known[o] for o in program.outputs]


def stepwise(
    program: Program, known: dict[Node, Any], compute: Callable[[Node, list[Any]], Any]
) -> Iterator[tuple[Node, list[Any]]]:
    """Each node with the values of its operands, after its own has been put in ``known``.

    A value that nothing reads any more is taken out.
    """
    left = Counter(program.uses)
    for node in program.nodes:
        operands = [known[o] for o in node.operands]
        if node not in known:
            known[node] = compute(node, operands)
        yield node, operands
        for o in node.operands:
            left[o] -= 1
            if not left[o]:
                del known[o]


def decided(node: Node, known: dict[Node, bool], decide: Callable[[Node], bool]) -> bool:
    """What is to be known of ``node``, decided by what is known of its operands, and so on; noted for all of them."""
    pending = [node]
    while pending:
        unknown = [] if pending[-1] in known else [o for o in pending[-1].operands if o not in known]
        if unknown:
            pending += unknown
        else:
            n = pending.pop()
            known[n] = known[n] if n in known else decide(n)
    return known[node]
