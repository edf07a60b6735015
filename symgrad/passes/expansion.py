"""Operations from outside of symgrad as their formulas.

``# softsign(x) -> x / (1 + |x|)``, where a user has registered ``softsign`` with this formula.
"""

from __future__ import annotations

from ..primitives.casting import cast
from ..primitives.elementwise import Elementwise
from ..program.node import Node
from ..program.program import Program
from .rewrite import rewrite


def expand_formulas(program: Program) -> Program:
    """``program`` in operations of symgrad's own, as far as formulas are known."""
    return rewrite(program, lambda node, _: _expanded(node))


def expand_values(program: Program) -> Program:
    """``program`` with the formulas of operations that have no other value."""
    return rewrite(program, lambda node, _: _expanded(node) if getattr(node.primitive, "is_formula", False) else None)


def _expanded(node: Node) -> Node | None:
    template = node.primitive
    if not isinstance(template, Elementwise) or template.expansion is None:
        return None
    return cast(template.expansion(*node.operands), node.dtype)
