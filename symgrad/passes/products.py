"""Products that are used once are absorbed by the contraction that uses them.

``# einsum(einsum(a, b -> ij), c -> k) -> einsum(a, b, c -> k)`` where the inner one sums nothing, so that
the contraction order is chosen over the whole chain: ``Xᵀ diag(d) X`` instead of one after the other.
"""

from __future__ import annotations

from ..primitives.contraction import EINSUM, contract
from ..program.node import Node
from ..program.program import Program
from .contractions import is_free, opened, repeats, spreads, sums
from .rewrite import rewrite

_MAX_OPERANDS = 8


def absorb_products(program: Program) -> Program:
    """``program`` with single-use products inside the contractions that use them."""
    contractions = [n for n in program.nodes if is_free(n)]
    if not any(is_free(o) for n in contractions for o in n.operands):
        return program
    once: set[Node] = {n for n, count in program.uses.items() if count == 1 and n.primitive is EINSUM}
    if not any(_absorbs(n, o) for n in contractions for o in n.operands if o in once):
        return program

    def rule(node: Node, original: Node) -> Node | None:
        made = absorbed(node)
        if original in once:
            once.add(made or node)
        return made

    def absorbed(node: Node) -> Node | None:
        if not is_free(node) or not any(o in once and _absorbs(node, o) for o in node.operands):
            return None
        opens = {o for o in node.operands if o in once and _absorbs(node, o)}
        return contract(*opened(node, opens.__contains__, _MAX_OPERANDS))

    return rewrite(program, rule, of=(EINSUM,))


def _absorbs(node: Node, operand: Node) -> bool:
    """True where ``operand``, used by ``node`` alone, is better written inside it."""
    if not is_free(node) or not is_free(operand) or repeats(operand):
        return False
    if len(node.operands) == 1:  # a transpose of a contraction
        return not sums(node) and len(operand.operands) > 1 and node.ndim == operand.ndim
    if spreads(operand) and sums(node):
        return False
    return not sums(operand) and (sums(node) or _mixes_ranks(operand))


def _mixes_ranks(node: Node) -> bool:
    return len({len(ls) for ls in node.params[0] if ls}) > 1
