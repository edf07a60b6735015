"""The derivatives of a determinant as the textbook has them, for formulas and exports.

``# cof(A) -> det(A)·(A⁻¹)ᵀ``, and so on for further derivatives; kernels compute what is defined for every matrix.
"""

from __future__ import annotations

import string
from functools import reduce

from ..primitives.cofactors import signed_permutations
from ..primitives.functions import add
from ..primitives.linalg import COFACTOR, Factor, inverse, lead_of, product
from ..program.node import Node
from ..program.program import Program
from .loops import with_bodies
from .rewrite import rewrite


def written_out(program: Program) -> Program:
    """``program`` with determinants and inverses for matrices of cofactors."""
    if not any(n.primitive is COFACTOR for n in program.every_node):
        return program
    inside = with_bodies(program, written_out)
    return rewrite(inside, lambda node, _: _by_inverse(node) if node.primitive is COFACTOR else None)


def _by_inverse(node: Node) -> Node:
    """The sum over permutations of what is linear in each matrix: ``A⁻¹`` in cycles of traces and of products."""
    a, determinant, *directions = node.operands
    (order,) = node.params
    names = iter(string.ascii_letters)
    count = order + len(directions)
    rows, columns, inner = ([next(names) for _ in range(count)] for _ in range(3))
    out = "".join(rows[k] + columns[k] for k in range(order))
    lead, turned = lead_of(node, 2 * order), inverse(a)
    terms = []
    for places, sign in signed_permutations(count):
        ends = inner.copy()  # the place where the column of each open matrix meets the next inverse
        for k in range(order):
            ends[places[k]] = columns[k]
        factors: list[Factor] = [(determinant, ""), *[(turned, ends[k] + rows[k]) for k in range(count)]]
        factors += [(d, rows[k] + ends[places[k]]) for k, d in enumerate(directions, start=order)]
        terms.append(product(lead, factors, out, sign))
    return reduce(add, terms)
