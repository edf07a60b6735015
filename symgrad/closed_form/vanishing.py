"""Terms of sums that are 0 whatever the arrays hold: what is left of a mean, ``Σ (x − mean x)``."""

from __future__ import annotations

from functools import reduce

from ..kernels.kernel import optimized
from ..primitives.contraction import EINSUM, contract
from ..primitives.external import zeros_of
from ..primitives.functions import add, subtract, terms_of
from ..program.node import Node, ancestors, emit_again
from ..program.program import Program
from .matrix.algebra import Algebra
from .matrix.translation import Translation

#: nodes of a program in which such terms are looked for
_MAX_NODES = 150


def without_vanishing(program: Program) -> Program:
    """``program`` without terms that are 0 in exact arithmetic; ``program`` itself where there are none.

    >>> import numpy as np, symgrad
    >>> program = symgrad.trace(lambda x: np.sum((x - np.mean(x)) + 2 * x), np.ones(3))
    >>> print(without_vanishing(program))
    program(x: float64[3]) {
      v0 = multiply(2, x)  # float64[3]
      v1 = einsum[i->](v0)
    } -> v1
    """
    if len(program.nodes) > _MAX_NODES or not any(map(_is_deviation, program.nodes)):
        return program
    with program.graph:
        sums = {n: found for n in program.nodes if n.primitive is EINSUM and (found := _terms(n))}
        alone = {(n, t): _of_term(n, k, t) for n, (k, terms) in sums.items() for t in terms}
        polys = Translation(program.with_outputs([*program.outputs, *alone.values()]), "expand", Algebra()).polys
        zero = {n for n, poly in polys.items() if n.operands and poly is not None and not poly.terms}
        if not zero:
            return program
        new: dict[Node, Node] = {}
        for node in program.nodes:
            operands = [new[o] for o in node.operands]
            k, terms = sums.get(node, (0, []))
            left = [new[t] for t in terms if alone[node, t] not in zero]
            if len(left) < len(terms):
                operands[k] = reduce(add, left) if left else zeros_of(operands[k].shape, operands[k].dtype)
            if node in zero:
                new[node] = zeros_of(node.shape, node.dtype)
            else:
                new[node] = node if tuple(operands) == node.operands else emit_again(node, tuple(operands))
        return optimized(program.with_outputs([new[o] for o in program.outputs]))


def _is_deviation(node: Node) -> bool:
    """Whether ``node`` is ``x`` less something that is summed over ``x``."""
    if node.primitive is not subtract:
        return False
    x, mean = node.operands
    return any(n.primitive is EINSUM and x in n.operands for n in ancestors([mean]))


def _terms(node: Node) -> tuple[int, list[Node]] | None:
    """Which operand of a contraction that sums over it is a sum of arrays, and these."""
    labels, out, _, _ = node.params
    for k, operand in enumerate(node.operands):
        terms = terms_of(operand)
        if len(terms) > 1 and not set(labels[k]) <= set(out):
            return k, terms
    return None


def _of_term(node: Node, k: int, term: Node) -> Node:
    """The contraction of one of the arrays that its operand ``k`` is the sum of."""
    labels, out, sizes, _ = node.params
    return contract([*node.operands[:k], term, *node.operands[k + 1 :]], labels, out, sizes)
