"""Which contractions are loops of our own, and which of them add to one result."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable

from ...emit.arrays.contraction import product_sizes
from ...emit.loops.contractions import is_summed
from ...primitives.contraction import EINSUM
from ...primitives.functions import add
from ...program.node import Node
from ...program.program import Program
from .points import HELD, is_point

#: what is made of pieces
PLACED = ("assemble", "concatenate")
#: multiplications of a contraction of two arrays up to which C loops beat a BLAS call
_SMALL_WORK = 1 << 15
#: rows, columns and summed elements of a stack of products, each, up to which C loops beat BLAS
_SMALL_SIDE = 24


@functools.lru_cache(maxsize=4096)
def contraction_suits(labels: tuple, out: tuple, sizes: tuple) -> bool | None:
    """True for a contraction that C loops compute better than BLAS; None where that depends on where its operand is."""
    arrays = [ls for ls in labels if ls]
    if not arrays:
        return False
    every = {i for ls in labels for i in ls}
    if any(i not in every and sizes[i] != 1 for i in out):
        return False
    if all(i in out or sizes[i] == 1 for i in every):
        return True  # stands on diagonals
    if len(set(out)) < len(out):
        return False
    work = math.prod(sizes[i] for i in every)
    if any(set(ls) == every and len(set(ls)) == len(ls) for ls in arrays):
        certain = len(arrays) != 2 or work <= _SMALL_WORK or set(arrays[0]) == set(arrays[1])
        return True if certain else None
    if len(arrays) != 2 or work <= _SMALL_WORK:
        return work <= _SMALL_WORK
    batch, *own = product_sizes(arrays[0], arrays[1], out, sizes)
    return batch > 1 and sorted(own)[1] <= _SMALL_SIDE


def may_loop(node: Node) -> bool | None:
    """True for an operation that loops of our own compute; None as for a contraction."""
    if node.primitive.name in PLACED:
        return True
    if node.primitive.name in ("max", "min", "prod", "cumsum", "cumprod"):
        return node.dtype.kind == "f"
    if is_point(node):
        return True
    return contraction_suits(*node.params[:3]) if node.primitive is EINSUM and node.dtype.kind == "f" else False


def accumulations(program: Program, is_native: Callable[[Node], bool]) -> tuple[dict[Node, Node], set[Node]]:
    """For contractions that are added up, and read by nothing else, the sum; and the additions between.

    ``# (a·b + c·d) + e·f -> one result that three contractions add to``
    """
    uses = Counter(o for n in program.nodes for o in n.operands)
    uses.update(program.outputs)
    root: dict[Node, Node] = {}
    leaves: dict[Node, list[Node]] = {}
    between: dict[Node, list[Node]] = {}
    for node in reversed(program.nodes):
        if not _is_plain_sum(node):
            continue
        top = root.setdefault(node, node)
        between.setdefault(top, []).append(node)
        for o in node.operands:
            if uses[o] == 1 and _is_plain_sum(o):
                root[o] = top
            else:
                leaves.setdefault(top, []).append(o)
    found: dict[Node, Node] = {}
    absorbed: set[Node] = set()
    for top, own in leaves.items():
        if all(uses[o] == 1 and _is_closed_contraction(o) and is_native(o) for o in own):
            found.update(dict.fromkeys(own, top))
            absorbed.update(between[top])
    return found, absorbed


def _is_plain_sum(node: Node) -> bool:
    """True for an addition of two arrays of its own shape and dtype."""
    return (
        node.primitive is add
        and node.dtype.kind == "f"
        and node.dtype in HELD
        and bool(node.shape)
        and node.operands[0] is not node.operands[1]
        and all(o.shape == node.shape and o.dtype == node.dtype for o in node.operands)
    )


def _is_closed_contraction(node: Node) -> bool:
    """True for a contraction that is a loop nest of its own."""
    if node.primitive is not EINSUM or not is_summed(node) or contraction_suits(*node.params[:3]) is not True:
        return False
    every = {i for ls in node.params[0] for i in ls}
    return not any(set(ls) == every and len(set(ls)) == len(ls) for ls in node.params[0])
