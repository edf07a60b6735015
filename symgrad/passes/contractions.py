"""What passes ask of a contraction, and one contraction written out of several."""

from __future__ import annotations

from collections.abc import Callable

from ..primitives.contraction import EINSUM, Labels
from ..program.dims import Dim
from ..program.node import Node


def is_free(node: Node) -> bool:
    """True for an einsum that may be computed in any way: no NumPy call is spelled."""
    return node.primitive is EINSUM and not node.params[3]


def sums(node: Node) -> bool:
    """True where a contraction sums over some label."""
    labels, out, sizes, _ = node.params
    for ls in labels:
        if ls != out:
            for i in ls:
                if i not in out and sizes[i] != 1:
                    return True
    return False


def repeats(node: Node) -> bool:
    """True where an output label stands twice: an identity."""
    out = node.params[1]
    return len(out) > 1 and len(set(out)) < len(out)


def spreads(node: Node) -> bool:
    """True where no operand holds some output label: summed by another contraction, it counts its size."""
    labels, out, *_ = node.params
    return out not in labels and not {i for ls in labels for i in ls}.issuperset(out)


def opened(node: Node, opens: Callable[[Node], bool], most: int) -> tuple[list[Node], list[Labels], Labels, list[Dim]]:
    """Operands, labels, output labels and sizes of ``node`` with the contractions that ``opens`` names written out.

    None is opened any more once there are over ``most`` operands.
    """
    labels, out, extents, _ = node.params
    sizes = list(extents)
    operands: list[Node] = []
    made: list[Labels] = []
    stack = list(zip(node.operands, labels, strict=True))[::-1]
    while stack:
        o, ls = stack.pop()
        if len(operands) > most or not opens(o):
            operands.append(o)
            made.append(ls)
            continue
        inner, inner_out, inner_sizes, _ = o.params
        image = dict(zip(inner_out, ls, strict=True))
        for i, d in enumerate(inner_sizes):
            if i not in image:
                image[i] = len(sizes)
                sizes.append(d)
        own = [tuple([image[i] for i in x]) for x in inner]
        stack += list(zip(o.operands, own, strict=True))[::-1]
    return operands, made, out, sizes
