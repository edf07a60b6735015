"""Derivatives as the textbook has them, for formulas: kernels and exported code compute what keeps its digits.

``# squared_sech(a, tanh(a)) -> 1 - tanh(a)²``
``# (c - a)·(c + a) -> c² - a²``
``# hypot(1, a) -> √(1 + a²)``
``# at_kink(r, a) -> 0,  gate(rare(m), a) -> 0``
"""

from __future__ import annotations

from collections.abc import Callable

from ..primitives.contraction import expand
from ..primitives.functions import add, hypot, multiply, sqrt, square, squared_sech, subtract
from ..primitives.kinks import at_kink
from ..primitives.primitive import literal, literal_value
from ..program.node import Node
from ..program.program import Program
from .loops import with_bodies
from .rare import without_rare
from .rewrite import rewrite

_REWRITTEN = frozenset((squared_sech, multiply, hypot, at_kink))


def as_read(program: Program, passes: Callable[[Program], Program] = lambda program: program) -> Program:
    """``program`` with forms that people write, after ``passes``, which still know the loops that compute the same."""
    program, _ = without_rare(program)
    if not any(n.primitive in _REWRITTEN for n in program.every_node):
        return passes(program)
    return with_bodies(passes(rewrite(program, lambda node, _: _form(node), _REWRITTEN)), as_read)


def _form(node: Node) -> Node | None:
    if node.primitive is squared_sech:
        return subtract(1, square(node.operands[1]))
    if node.primitive is at_kink:
        return expand(literal(0.0), node.shape)
    first, second = node.operands
    if node.primitive is hypot:
        return sqrt(add(1, square(second))) if first.is_literal and literal_value(first) == 1 else None
    if first.primitive is subtract and second.primitive is add and first.operands == second.operands:
        c, a = first.operands
        return subtract(literal_value(c) ** 2, square(a)) if c.is_literal else None
    return None
