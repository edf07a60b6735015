"""The rewrite engine: one bottom-up walk, a rule at each node, everything shared again by interning."""

from __future__ import annotations

from collections.abc import Callable

from ..program.node import Node, emit
from ..program.program import Program

Rule = Callable[[Node, Node], "Node | None"]


def rewrite(program: Program, rule: Rule) -> Program:
    """``program`` with ``rule`` tried at each node; None leaves the node as it is.

    The rule is given the node with its operands rewritten, and the node that it came from. Equal nodes become
    one again (common subexpressions), unused ones are gone (dead code).
    """
    image: dict[Node, Node] = {}
    with program.graph:
        for node in program.nodes:
            operands = tuple([image[o] for o in node.operands])
            new = node if operands == node.operands else emit(node.primitive, operands, node.params)
            replaced = rule(new, node) if new.operands else None
            image[node] = new if replaced is None else replaced
    return program.with_outputs([image[o] for o in program.outputs])
