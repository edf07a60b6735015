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
    if not any(_absorbs(n) and any(_is_product(o) and uses[o] == 1 for o in n.operands) for n in program.nodes):
        return program
    once: set[Node] = {n for n, count in uses.items() if count == 1}

    def rule(node: Node) -> Node | None:
        if not _absorbs(node):
            return None
        labels, out, sizes, _ = node.params
        operands, merged, extents = [], [], list(sizes)
        changed = False
        for o, ls in zip(node.operands, labels, strict=True):
            if o in once and _is_product(o) and len(operands) + len(o.operands) <= _MOST_OPERANDS:
                inner, inner_out, inner_sizes, _ = o.params
                image = dict(zip(inner_out, ls, strict=True))
                for i in {i for x in inner for i in x} - image.keys():
                    image[i] = len(extents)
                    extents.append(inner_sizes[i])
                operands += o.operands
                merged += [tuple(image[i] for i in x) for x in inner]
                changed = True
            else:
                operands.append(o)
                merged.append(ls)
        if not changed:
            return None
        made = contract(operands, merged, out, extents)
        if uses[node] == 1:
            once.add(made)
        return made

    return rewrite(program, rule)


def _absorbs(node: Node) -> bool:
    return node.primitive is EINSUM and not node.params[3] and len(node.operands) > 1 and _sums(node)


def _is_product(node: Node) -> bool:
    return (
        node.primitive is EINSUM
        and not node.params[3]
        and len(set(node.params[1])) == len(node.params[1])
        and not _sums(node)
    )


def _sums(node: Node) -> bool:
    labels, out, sizes, _ = node.params
    kept = set(out)
    return any(i not in kept and sizes[i] != 1 for ls in labels for i in ls)
