"""Contractions that contractions alone read have their axes in the order that turns no operand around.

``# einsum[i,ij->ji](v, W) -> einsum[i,ij->ij](v, W)``: as ``W`` lies in memory
``# einsum[ij,jk->ki](A, B) -> einsum[ij,jk->ik](A, B)``: the product of two matrices as they are
"""

from __future__ import annotations

from collections.abc import Sequence

from ..primitives.contraction import Labels, contract
from ..program.interpret import rebuilt
from ..program.node import Node, originating
from ..program.program import Program
from .contractions import is_free, repeats


def unturned(program: Program) -> Program:
    """``program`` with contractions that only others read in such an order.

    >>> import numpy as np, symgrad as sg
    >>> f = lambda x, W: np.sum(np.tanh(W @ np.tanh(W @ x)))
    >>> [n for n in sg.laplacian(f).program(np.ones(2), np.ones((2, 2))).bindings if n.ndim == 2]
    [<einsum[i,ij->ij]: float64[2, 2]>, <einsum[ij,jk->ik]: float64[2, 2]>]
    """
    if not any(n.ndim > 1 and is_free(n) for n in program.nodes):
        return program
    fixed = {o for n in program.nodes if not is_free(n) for o in n.operands}.union(program.outputs)
    image: dict[Node, Node] = {}
    turned: dict[Node, Labels] = {}  # for each axis the one that it was
    with program.graph:
        for node in originating(program.nodes, orders=0):
            operands = [image[o] for o in node.operands]
            if not is_free(node):
                image[node] = rebuilt(node, operands)
                continue
            labels, out, sizes, _ = node.params
            own = [
                tuple([ls[axis] for axis in turned[o]]) if o in turned else ls
                for o, ls in zip(node.operands, labels, strict=True)
            ]
            order = out if node in fixed or repeats(node) else _order(own, out)
            if order != out:
                turned[node] = tuple([out.index(i) for i in order])
            if order == out and own == list(labels):
                image[node] = rebuilt(node, operands)
            else:
                image[node] = contract(operands, own, order, sizes)
    return program.with_outputs([image[o] for o in program.outputs]) if turned else program


def _order(labels: Sequence[Labels], out: Labels) -> Labels:
    """The order of output labels in which operands are read as they lie, as far as there is one."""
    whole = [own for own in labels if len(own) == len(out) and set(own) == set(out)]
    if whole:
        return whole[0] if whole.count(whole[0]) == len(whole) else out
    matrices = [own for own in labels if own]
    if len(matrices) == 2:
        for left, right in (matrices, matrices[::-1]):
            summed = tuple([i for i in left if i not in out])
            count = len(summed)
            made = (*left[: len(left) - count], *right[count:])
            if count and left[-count:] == right[:count] == summed and sorted(made) == sorted(out):
                return made
    return out
