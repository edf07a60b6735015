"""Chains of contractions are associated anew, in the order that costs least over the whole chain.

``# a(b(c·d)) -> (a·b)(c·d)``, where the inner results are used once: cross-country elimination, for which forward
and reverse mode are the two orders from the ends.
"""

from __future__ import annotations

from ..primitives.contraction import Labels, contract
from ..program.dims import Dim
from ..program.interpret import rebuilt, walk
from ..program.node import Node, originating
from ..program.program import Program
from .contractions import is_free, opened, repeats, spreads
from .cost import cost, node_cost

#: operands and labels of a chain that is looked at as one
_MAX_OPERANDS, _MAX_LABELS = 24, 50
_WORTH = 0.95


def associated(program: Program) -> Program:
    """``program`` with chains of contractions in their cheapest order."""
    uses = program.uses
    inner: dict[Node, list[Node]] = {}
    absorbed: set[Node] = set()
    for node in reversed(program.nodes):
        if node in absorbed or not is_free(node):
            continue
        members, operands = [node], len(node.operands)
        stack = list(node.operands)
        while stack:
            o = stack.pop()
            fits = operands + len(o.operands) <= _MAX_OPERANDS
            if uses[o] == 1 and is_free(o) and not repeats(o) and not spreads(o) and fits:
                members.append(o)
                operands += len(o.operands)
                stack += o.operands
        if len(members) > 1:
            absorbed.update(members[1:])
            inner[node] = members
    chains: dict[Node, tuple[list[Node], list[Labels], Labels, list[Dim]]] = {}
    with program.graph:
        for node, members in inner.items():
            chain = opened(node, set(members[1:]).__contains__, _MAX_OPERANDS)
            if len(chain[3]) <= _MAX_LABELS:
                made = contract(*chain)
                if node_cost(made).seconds < _WORTH * cost(members).seconds:
                    chains[node] = chain
        if not chains:
            return program
        image: dict[Node, Node] = {}

        def associated_node(node: Node, now: list[Node]) -> Node:
            if node not in chains:
                return rebuilt(node, now)
            operands, labels, out, sizes = chains[node]
            return contract([image[o] for o in operands], labels, out, sizes)

        walk(originating(program.nodes, orders=0), image, associated_node)
    return program.with_outputs([image[o] for o in program.outputs])
