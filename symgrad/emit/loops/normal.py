"""The program in the form that loops are made from: every contraction of few operands, every call on last axes.

What is made here are nodes of a graph of its own; the user's graph does not grow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...primitives.casting import CAST
from ...primitives.contraction import EINSUM, Labels, transpose
from ...primitives.linalg import CHOLESKY
from ...primitives.order import extent, pairwise_order
from ...program.dims import Dim
from ...program.node import Graph, Node, ancestors, emit

#: how much cheaper a contraction in pairs must be to be taken apart
_GAIN = 0.7
_MATRICES = ("inverse", "solve", "determinant", "log_determinant", "determinant_sign", "cholesky")


def normal_form(nodes: Sequence[Node]) -> dict[Node, Node]:
    """What stands for each node in the loops."""
    image: dict[Node, Node] = {}
    with Graph():
        for node in nodes:
            operands = tuple([image[o] for o in node.operands])
            new = node if operands == node.operands else emit(node.primitive, operands, node.params)
            image[node] = _rewritten(new)
    return image


def in_order(first: Iterable[Node], then: Iterable[Node]) -> list[Node]:
    """All nodes that ``first`` are made of, then the others that ``then`` are made of; operands lead."""
    leading = ancestors(first)
    known = set(leading)
    return leading + [n for n in ancestors(then) if n not in known]


def _rewritten(node: Node) -> Node:
    name = node.primitive.name
    if name == "einsum":
        return _einsum(node)
    if name in _MATRICES:
        operands = tuple([_cast(o, node.dtype) for o in node.operands])
        if name == "cholesky" and node.params[0]:  # the upper factor reads the upper triangle
            return _swapped(emit(CHOLESKY, (_swapped(operands[0]),), (False,)))
        return node if operands == node.operands else emit(node.primitive, operands, node.params)
    if name == "argsort" and node.params[0] != node.ndim - 1:
        axis = node.params[0]
        order = (*[k for k in range(node.ndim) if k != axis], axis)
        last = emit(node.primitive, (transpose(node.operands[0], order),), (node.ndim - 1,))
        return transpose(last, [order.index(k) for k in range(node.ndim)])
    if name == "searchsorted":
        common = np.result_type(*[o.dtype for o in node.operands])
        return emit(node.primitive, tuple([_cast(o, common) for o in node.operands]), node.params)
    return node


def _cast(node: Node, dtype: np.dtype) -> Node:
    return node if node.dtype == dtype else emit(CAST, (node,), (dtype,))


def _swapped(x: Node) -> Node:
    return transpose(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def _einsum(node: Node) -> Node:
    """A contraction whose sums are over two operands at most, wherever that is cheaper."""
    labels, out, sizes, _ = node.params
    unique = tuple(dict.fromkeys(out))
    summed = {i for ls in labels for i in ls if i not in out and sizes[i] != 1}
    if not summed:
        return node
    scalars = [(o, ()) for o, ls in zip(node.operands, labels, strict=True) if not ls]
    terms = [(o, ls) for o, ls in zip(node.operands, labels, strict=True) if ls]
    terms = _paired([_reduced(k, terms, unique, sizes) for k in range(len(terms))], unique, sizes)
    if len(terms) == 1 and terms[0][1] == unique:  # one operand is left, with nothing to sum
        return _built([*scalars, *terms], out, sizes, node.dtype)
    if unique != out:
        return _built([(_built([*scalars, *terms], unique, sizes, node.dtype), unique)], out, sizes, node.dtype)
    return _built([*scalars, *terms], out, sizes, node.dtype)


Labelled = tuple[Node, Labels]


def _built(terms: Sequence[Labelled], out: Labels, sizes: Sequence[Dim], dtype: np.dtype) -> Node:
    if len(terms) == 1 and terms[0][1] == out and len(set(out)) == len(out) and terms[0][0].dtype == dtype:
        return terms[0][0]
    return emit(EINSUM, tuple([o for o, _ in terms]), (tuple([ls for _, ls in terms]), out, tuple(sizes), ""))


def _reduced(k: int, terms: Sequence[Labelled], out: Labels, sizes: Sequence[Dim]) -> Labelled:
    """One operand, summed over what it has alone where the others have more than it."""
    node, labels = terms[k]
    others = {i for j, (_, ls) in enumerate(terms) if j != k for i in ls}
    alone = {i for i in labels if i not in others and i not in out and sizes[i] != 1}
    if not alone or others <= set(labels):
        return node, labels
    kept = tuple(dict.fromkeys(i for i in labels if i not in alone))
    return _built([(node, labels)], kept, sizes, node.dtype), kept


def _paired(terms: list[Labelled], out: Labels, sizes: Sequence[Dim]) -> list[Labelled]:
    """The operands multiplied in pairs, down to the last two, where that costs less than all at once."""
    if len(terms) < 3:
        return terms
    distinct = tuple([tuple(dict.fromkeys(ls)) for _, ls in terms])
    cost, pending, steps = 0.0, list(distinct), []
    for i, j in pairwise_order(distinct, out, tuple(sizes)):
        second, first = pending.pop(max(i, j)), pending.pop(min(i, j))
        both = dict.fromkeys(first + second)
        needed = set(out).union(*pending)
        made = (*[i for i in out if i in both], *[i for i in both if i in needed and i not in out])
        cost += extent([sizes[i] for i in both])
        pending.append(made)
        steps.append((min(i, j), max(i, j), made))
    if cost > _GAIN * extent([sizes[i] for i in {i for ls in distinct for i in ls}]):
        return terms
    terms = list(terms)
    for i, j, made in steps[:-1]:
        second, first = terms.pop(j), terms.pop(i)
        dtype = np.result_type(*[o.dtype for o, _ in (first, second)])
        terms.append((_built([first, second], made, sizes, dtype), made))
    return terms
