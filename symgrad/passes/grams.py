"""Contractions that are an array times its own transpose are written so that both halves are seen.

``# p = x·s, einsum(p, x, s -> jk) -> einsum(x, s, x, s -> jk)``: a product that is shared hides that the other half
is the same; BLAS computes one triangle of ``aᵀ a``, half the work.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from ..primitives.contraction import EINSUM, Labels, contract
from ..program.node import Node
from ..program.program import Program
from .contractions import is_free, opened, repeats, spreads, sums
from .rewrite import rewrite

_MAX_OPERANDS = 16


@dataclass(frozen=True)
class Halves:
    """Positions of the factors of one half and of the weights; the output labels of one half and of the other."""

    half: list[int]
    weights: list[int]
    rows: Labels
    columns: Labels


def halves(factors: Sequence[tuple[Hashable, Labels]], out: Labels) -> Halves | None:
    """How a contraction of (what, labels) factors is ``aᵀ diag(w) a``, where it is.

    ``# ij,i,ik->jk (x, w, x) -> xᵀ diag(w) x``: each factor with output labels stands there twice, once for each
    half, the others hold summed labels only.
    """
    kept = set(out)
    sides = [k for k, (_, labels) in enumerate(factors) if kept.intersection(labels)]
    weights = [k for k in range(len(factors)) if k not in sides]
    mirror: dict[int, int] = {}
    half: list[int] = []
    while sides:
        k = sides.pop(0)
        for other in sides:
            own = _mirrored(factors[k], factors[other], kept)
            if own is not None and all(mirror.get(i, j) == j for i, j in own.items()):
                break
        else:
            return None
        sides.remove(other)
        half.append(k)
        mirror.update(own)
    rows = tuple([i for i in out if i in mirror])
    columns = tuple([mirror[i] for i in rows])
    if not rows or kept != {*rows, *columns} or set(rows) & set(columns) or len(out) != 2 * len(rows):
        return None
    if not any(i not in kept for k in half for i in factors[k][1]):
        return None
    return Halves(half, weights, rows, columns)


def _mirrored(a: tuple[Hashable, Labels], b: tuple[Hashable, Labels], kept: set[int]) -> dict[int, int] | None:
    """How the output labels of ``a`` become those of ``b``, which else is the same."""
    if a[0] != b[0] or len(a[1]) != len(b[1]):
        return None
    own: dict[int, int] = {}
    for i, j in zip(a[1], b[1], strict=True):
        if (i in kept) != (j in kept) or (i not in kept and i != j) or own.get(i, j) != j:
            return None
        if i in kept:
            own[i] = j
    return own


def expose_grams(program: Program) -> Program:
    """``program`` with shared products opened where that shows two equal halves."""

    if not any(_may_open(n) for n in program.nodes):
        return program

    def rule(node: Node, original: Node) -> Node | None:
        if not _may_open(node):
            return None
        operands, labels, out, sizes = opened(node, _is_product, _MAX_OPERANDS)
        if len(operands) == len(node.operands) or len(operands) > _MAX_OPERANDS:
            return None
        arrays = [(o, ls) for o, ls in zip(operands, labels, strict=True) if ls]
        return None if halves(arrays, out) is None else contract(operands, labels, out, sizes)

    return rewrite(program, rule, of=(EINSUM,))


def _may_open(node: Node) -> bool:
    """What ``halves`` needs, as far as it is seen without labels: an even number of axes, factors that repeat."""
    if not is_free(node) or len(node.operands) < 2 or not node.shape or node.ndim % 2:
        return False
    products = [o for o in node.operands if _is_product(o)]
    return bool(products) and sums(node) and _repeats_factors(node, products)


def _repeats_factors(node: Node, products: list[Node]) -> bool:
    met: set[Node] = set(node.operands)
    if len(met) < len(node.operands):
        return True
    while products:
        for o in products.pop().operands:
            if o in met or len(met) > _MAX_OPERANDS:
                return True
            met.add(o)
            if _is_product(o):
                products.append(o)
    return False


def _is_product(node: Node) -> bool:
    return is_free(node) and not sums(node) and not spreads(node) and not repeats(node)
