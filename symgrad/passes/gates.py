"""Gates move outward, so that a chain of products is gated once, at its end.

``# gate(gate(m, a), b) -> gate(m, a·b),  -gate(m, a) -> gate(m, -a),  gate(m, a) + gate(m, b) -> gate(m, a + b)``
``# gate(m, a) + gate(not m, b) -> where(m, a, b)``

``m`` is a truth value: outside of it the result is zero before and after, whatever ``a`` and ``b`` hold.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from ..primitives.contraction import EINSUM, GATE, contract, gate
from ..primitives.functions import add, logical_not, multiply, negative, where
from ..program.node import Node
from ..program.program import Program
from .rewrite import rewrite


def float_gates(program: Program) -> Program:
    """``program`` with gates on truth values as late as they can be."""
    if GATE not in program.primitives or not any(_is_choice(n) for n in program.nodes):
        return program
    uses = program.uses
    inner = {o for n in program.nodes if n.primitive is add for o in n.operands if o.primitive is add and uses[o] == 1}
    terms: set[Node] = set()  # the inner sums as they are now

    def rule(node: Node, original: Node) -> Node | None:
        if original in inner:
            terms.add(node)
            return None
        if node.primitive is GATE:
            return _through_gate(*node.operands)
        if node.primitive is negative:
            return _through(node.operands[0], negative)
        if node.primitive is EINSUM:
            return _through_scaling(node)
        return _sum(node, terms) if node.primitive is add else None

    return rewrite(program, rule, of=(GATE, negative, EINSUM, add))


def _is_choice(node: Node) -> bool:
    return node.primitive is GATE and node.operands[0].dtype.kind == "b"


def _through(node: Node, function: Callable[[Node], Node]) -> Node | None:
    if not _is_choice(node):
        return None
    m, a = node.operands
    return gate(m, function(a))


def _through_gate(m: Node, t: Node) -> Node | None:
    """A product in which ``m``'s zeros win, where they are those of a truth value."""
    if not _is_choice(m):
        return None
    test, a = m.operands
    product = gate(a, t) if a.masked else multiply(a, t)
    return gate(test, product)


def _through_scaling(node: Node) -> Node | None:
    """A gated array times a number."""
    labels, out, sizes, spelling = node.params
    arrays = [(o, ls) for o, ls in zip(node.operands, labels, strict=True) if ls]
    if spelling or len(arrays) != 1 or arrays[0][1] != out or not _is_choice(arrays[0][0]):
        return None
    gated = arrays[0][0]
    m, a = gated.operands
    if a.shape != gated.shape:
        return None
    operands = [a if o is gated else o for o in node.operands]
    return gate(m, contract(operands, labels, out, sizes))


def _sum(node: Node, inner: set[Node]) -> Node | None:
    """A sum with gates on the same truth value, or on one and its contrary, brought together."""
    parts: list[Node] = []
    stack = [node]
    while stack:
        n = stack.pop()
        if n is node or n in inner:
            stack += n.operands[::-1]
        else:
            parts.append(n)
    chosen = [p for p in parts if _is_choice(p) and p.shape == node.shape]
    sides: dict[Node, tuple[list[Node], list[Node]]] = {}
    for p in chosen:
        test, a = p.operands
        contrary = test.primitive is logical_not
        sides.setdefault(test.operands[0] if contrary else test, ([], []))[contrary].append(a)
    if len(sides) == len(chosen):
        return None
    rest = [p for p in parts if p not in chosen]
    return reduce(add, [*rest, *(_joined(test, *both) for test, both in sides.items())])


def _joined(test: Node, there: list[Node], elsewhere: list[Node]) -> Node:
    if there and elsewhere:
        return where(test, reduce(add, there), reduce(add, elsewhere))
    return gate(test, reduce(add, there)) if there else gate(logical_not(test), reduce(add, elsewhere))
