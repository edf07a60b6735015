"""What seldom matters is left out of the program that runs, which says where it did.

``# gate(rare(m), x) -> 0,  where(rare(m), x, y) -> y``, and sums and products without what is 0
"""

from __future__ import annotations

from ..primitives.casting import CAST, cast
from ..primitives.contraction import EINSUM, GATE, expand
from ..primitives.equal_values import RARE
from ..primitives.external import zeros_of
from ..primitives.functions import add, logical_not, multiply, negative, subtract, where
from ..primitives.selection import Structural
from ..primitives.shaping import RESHAPE
from ..program.node import Node
from ..program.program import Program
from .rewrite import rewrite

#: of which each operand that is 0 makes the whole 0
_LINEAR = (EINSUM, GATE, multiply, CAST, RESHAPE, negative)


def without_rare(program: Program) -> tuple[Program, list[Node]]:
    """``program`` where what is rare does not hold, and the truth values that say whether it does."""
    if RARE not in program.primitives:
        return program, []
    zeros: set[Node] = set()
    rare: dict[Node, Node] = {}  # in other shapes too

    def rule(node: Node, original: Node) -> Node | None:
        if node.primitive is RARE:
            rare[node] = node
            return None
        if node.dtype.kind == "b":
            if len(node.operands) == 1 and node.operands[0] in rare and node.primitive in (EINSUM, RESHAPE, CAST):
                rare[node] = rare[node.operands[0]]
            return None
        first = node.operands[0] if node.operands else node
        if node.primitive is GATE and first in rare:
            return zero(node)
        if node.primitive is where and first in rare:
            return cast(expand(node.operands[2], node.shape), node.dtype)
        if node.primitive is GATE and first.primitive is logical_not and first.operands[0] in rare:
            return cast(expand(node.operands[1], node.shape), node.dtype)
        own = [o in zeros for o in node.operands]
        if not any(own):
            return None
        if node.primitive in (add, subtract):
            return _sum(node, own) or zero(node)
        is_zero = node.primitive in _LINEAR or (isinstance(node.primitive, Structural) and all(own))
        return zero(node) if is_zero else None

    def zero(node: Node) -> Node:
        made = zeros_of(node.shape, node.dtype)
        zeros.add(made)
        return made

    made = rewrite(program, rule)
    return made, list(dict.fromkeys(n.operands[0] for n in rare.values()))


def _sum(node: Node, own: list[bool]) -> Node | None:
    """What is left of a sum or difference; None where all is zero."""
    if all(own):
        return None
    left = node.operands[own.index(False)]
    made = cast(expand(left, node.shape), node.dtype)
    return negative(made) if node.primitive is subtract and own[0] else made
