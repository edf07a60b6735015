"""Operations from outside of symgrad as their formulas.

``# softsign(x) -> x / (1 + |x|)``, where a user has registered ``softsign`` with this formula.
"""

from __future__ import annotations

from ..primitives.casting import cast
from ..primitives.elementwise import Elementwise
from ..program.node import Node
from ..program.program import Program
from .loops import with_bodies
from .rewrite import rewrite


def expand_formulas(program: Program, values_only: bool = False) -> Program:
    """``program`` in operations of symgrad's own, as far as formulas are known.

    ``values_only``: an operation that has a value beside its formula stays.
    """
    found = {n.primitive for n in program.every_node if isinstance(n.primitive, Elementwise) and n.primitive.expansion}
    expanded = {operation for operation in found if operation.is_formula or not values_only}
    if not expanded:  # as nearly always: the kernel of every program asks
        return program
    inside = with_bodies(program, lambda body: expand_formulas(body, values_only))
    return rewrite(inside, lambda node, _: _formula(node) if node.primitive in expanded else None)


def _formula(node: Node) -> Node:
    assert isinstance(node.primitive, Elementwise)
    assert node.primitive.expansion is not None
    return cast(node.primitive.expansion(*node.operands), node.dtype)
