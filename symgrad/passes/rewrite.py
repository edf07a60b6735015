"""The rewrite engine: one bottom-up walk, a rule at each node, everything shared again by interning."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from ..primitives.casting import cast
from ..primitives.elementwise import Elementwise
from ..primitives.primitive import Primitive
from ..program.node import Node, emit_again, originating
from ..program.program import Program

Rule = Callable[[Node, Node], "Node | None"]


def _taken_by(node: Node, operands: Sequence[Node]) -> tuple[Node, ...]:
    """``operands`` as ``node`` takes its own: what stood for a number of Python has the dtype that this gave way to."""
    pairs = list(zip(operands, node.operands, strict=True))
    if all(n.weak or not o.weak for n, o in pairs):
        return tuple(operands)
    taken: Sequence[np.dtype] = [node.dtype] * len(operands)
    if isinstance(node.primitive, Elementwise):
        taken = node.primitive.loop_dtypes(node.operands)
    return tuple(
        [
            cast(n, d) if o.weak and not n.weak and n.dtype.kind == d.kind else n
            for (n, o), d in zip(pairs, taken, strict=False)
        ]
    )


def rewrite(program: Program, rule: Rule, of: Collection[Primitive] | None = None) -> Program:
    """``program`` with ``rule`` tried at each node, or at those ``of`` some primitives; None leaves the node as it is.

    The rule is given the node with its operands rewritten, and the node that it came from. Equal nodes become
    one again (common subexpressions), unused ones are gone (dead code). Where no rule applies it is ``program`` itself.
    """
    image: dict[Node, Node] = {}  # of those that have become others
    with program.graph:
        for node in originating(program.nodes, orders=0):
            operands = node.operands
            if not operands:
                continue
            new = node
            for o in operands:
                if o in image:
                    new = emit_again(node, _taken_by(node, [image.get(o, o) for o in operands]))
                    break
            if of is None or node.primitive in of:
                replaced = rule(new, node)
                if replaced is not None:
                    new = replaced
            if new is not node:
                image[node] = new
    return program.with_outputs([image.get(o, o) for o in program.outputs]) if image else program
