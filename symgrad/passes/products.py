"""Products that are used once are absorbed by the contraction that uses them.

``# einsum(einsum(a, b -> ij), c -> k) -> einsum(a, b, c -> k)`` where the inner one sums nothing, so that
the contraction order is chosen over the whole chain: ``Xᵀ diag(d) X`` instead of one after the other.
"""

from __future__ import annotations

from collections import Counter

from ..primitives.contraction import EINSUM, contract
from ..program.node import Node
from ..program.program import Program
from .rewrite import rewrite

_MOST_OPERANDS = 8


def absorb_products(program: Program) -> Program:
    """``program`` with single-use products inside the contractions that use them."""
    uses = Counter(o for n in program.nodes for o in n.operands)
    uses.update(program.outputs)
    once: set[Node] = {n for n, count in uses.items() if count == 1}
    if not any(_absorbs(n, o) for n in program.nodes for o in n.operands if o in once):
        return program

    def rule(node: Node, original: Node) -> Node | None:
        made = absorbed(node)
        if original in once:
            once.add(made or node)
        return made

    def absorbed(node: Node) -> Node | None:
        if not any(o in once and _absorbs(node, o) for o in node.operands):
            return None
        labels, out, sizes, _ = node.params
        operands, merged, extents = [], [], list(sizes)
        for o, ls in zip(node.operands, labels, strict=True):
            if o in once and _absorbs(node, o) and len(operands) + len(o.operands) <= _MOST_OPERANDS:
                inner, inner_out, inner_sizes, _ = o.params
                image = dict(zip(inner_out, ls, strict=True))
                for i in {i for x in inner for i in x} - image.keys():
                    image[i] = len(extents)
                    extents.append(inner_sizes[i])
                operands += o.operands
                merged += [tuple(image[i] for i in x) for x in inner]
            else:
                operands.append(o)
                merged.append(ls)
        return contract(operands, merged, out, extents)

    return rewrite(program, rule)


def _absorbs(node: Node, operand: Node) -> bool:
    """True where ``operand``, used by ``node`` alone, is better written inside it."""
    if not _is_free(node) or not _is_free(operand) or len(set(operand.params[1])) < len(operand.params[1]):
        return False
    if len(node.operands) == 1:  # a transpose of a contraction
        return not _sums(node) and len(operand.operands) > 1 and node.ndim == operand.ndim
    if spreads(operand) and _sums(node):
        return False
    return not _sums(operand) and (_sums(node) or _mixes_ranks(operand))


def spreads(node: Node) -> bool:
    """True where no operand holds some output label: summed by another contraction, it counts its size."""
    return not {i for ls in node.params[0] for i in ls}.issuperset(node.params[1])


def _is_free(node: Node) -> bool:
    return node.primitive is EINSUM and not node.params[3]


def _mixes_ranks(node: Node) -> bool:
    return len({len(ls) for ls in node.params[0] if ls}) > 1


def _sums(node: Node) -> bool:
    labels, out, sizes, _ = node.params
    kept = set(out)
    return any(i not in kept and sizes[i] != 1 for ls in labels for i in ls)
