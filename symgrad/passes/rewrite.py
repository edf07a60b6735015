"""The rewrite engine: one bottom-up walk, a rule at each node, everything shared again by interning."""

from __future__ import annotations

from collections.abc import Callable, Collection

from ..primitives.primitive import Primitive
from ..program.node import Node, emit_again, originating
from ..program.program import Program

Rule = Callable[[Node, Node], "Node | None"]


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
                    new = emit_again(node, tuple([image.get(o, o) for o in operands]))
                    break
            if of is None or node.primitive in of:
                replaced = rule(new, node)
                if replaced is not None:
                    new = replaced
            if new is not node:
                image[node] = new
    return program.with_outputs([image.get(o, o) for o in program.outputs]) if image else program
