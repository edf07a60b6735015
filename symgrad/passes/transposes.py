"""A contraction that is another, or its transpose, is computed once.

``# einsum(a, b -> kj) -> transpose(einsum(a, b -> jk))``: the two halves of a Hessian such as ``AᵀB + BᵀA``.
``# einsum(b, a -> i) -> einsum(a, b -> i)``: nor does the order of the operands make another one.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..primitives.contraction import EINSUM, Labels, contract
from ..program.dims import Dim, Shape
from ..program.node import Node
from ..program.program import Program
from .contractions import is_free, repeats, sums
from .rewrite import rewrite

#: orders of equal operands that are tried to bring a contraction into one form
_MAX_ORDERS = 24


def share_transposes(program: Program) -> Program:
    """``program`` with transposes of one contraction taken from it."""
    met = Counter([frozenset(n.operands) for n in program.nodes if is_free(n) and len(n.operands) > 1])
    if all(count == 1 for count in met.values()):
        return program
    known: dict[tuple[Any, ...], tuple[Node, Labels]] = {}

    def rule(node: Node, original: Node) -> Node | None:
        if not is_free(node) or len(node.operands) < 2 or repeats(node):
            return None
        key, out, sizes = _form(node)
        first, own = known.setdefault(key, (node, out))
        if first is node:
            return None
        if own == out:
            return first
        return contract([first], [own], out, sizes) if sums(node) else None

    return rewrite(program, rule, of=(EINSUM,))


def _form(node: Node) -> tuple[tuple[Any, ...], Labels, Shape]:
    """What the contraction is whatever the order of its output labels, these labels, and their sizes."""
    labels, out, sizes, _ = node.params
    order = sorted(range(len(labels)), key=lambda k: node.operands[k].serial)
    best = None
    for candidate in _orders(order, node.operands):
        number: dict[int, int] = {}
        for k in candidate:
            for i in labels[k]:
                number.setdefault(i, len(number))
        for i in out:
            number.setdefault(i, len(number))
        own = tuple([tuple([number[i] for i in labels[k]]) for k in candidate])
        form = (own, tuple(sorted(number[i] for i in out)))
        if best is None or form < best[0]:
            best = (form, tuple([number[i] for i in out]), number)
    assert best is not None
    form, renamed, number = best
    extents: list[Dim] = [0] * len(number)
    for i, n in number.items():
        extents[n] = sizes[i]
    # the sizes too: a label that no operand has is a broadcast to its size
    return (tuple([node.operands[k] for k in order]), *form, tuple(extents)), renamed, tuple(extents)


def _orders(order: Sequence[int], operands: Sequence[Node]) -> list[tuple[int, ...]]:
    """The orders that sorting leaves open: those of one operand that stands there several times."""
    groups = [list(own) for _, own in itertools.groupby(order, key=lambda k: operands[k])]
    count = 1
    for own in groups:
        for k in range(2, len(own) + 1):
            count *= k
    if count > _MAX_ORDERS:
        return [tuple(order)]
    return [tuple(itertools.chain(*parts)) for parts in itertools.product(*map(itertools.permutations, groups))]
