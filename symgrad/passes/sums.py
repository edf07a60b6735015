"""Sums of sums of contractions are sums of contractions, each summed as early as it can be.

``# Σₙ (a(i)·y(n,i) + L(i,j)·y(n,j)) -> a(i)·Σₙ y(n,i) + L(i,j)·Σₙ y(n,j)``: a batch that is only summed over is never
multiplied out. What is added has been rounded before, term by term, so the sum loses no more than it had lost.
"""

from __future__ import annotations

from collections.abc import Collection

from ..primitives.contraction import EINSUM, Labels, contract
from ..primitives.functions import add, negative, subtract
from ..program.node import Node
from ..program.program import Program
from .contractions import is_free, repeats, spreads, sums
from .rewrite import rewrite

_MAX_TERMS = 16


def distribute_sums(program: Program) -> Program:
    """``program`` with sums taken into the additions of contractions that they alone read."""
    summing = [n for n in program.nodes if is_free(n) and sums(n)]
    if not summing:
        return program
    once = {n for n, count in program.uses.items() if count == 1}
    if not any(_terms(_summed(n), once) for n in summing):
        return program

    def rule(node: Node, original: Node) -> Node | None:
        terms = _terms(_summed(original), once) if is_free(original) else []
        image = dict(_paired(_summed(node), _summed(original), terms)) if terms else {}
        if not terms or not all(is_free(image[t]) for t, _ in terms):
            return None
        made = None
        for term, sign in terms:
            own = _through(node, image[term])
            if made is None:
                made = own if sign > 0 else negative(own)
            else:
                made = add(made, own) if sign > 0 else subtract(made, own)
        return made

    return rewrite(program, rule, of=(EINSUM,))


def _summed(node: Node) -> Node | None:
    """The one array that a contraction sums over."""
    arrays = [o for o in node.operands if not o.is_literal]
    return arrays[0] if len(arrays) == 1 and sums(node) and not repeats(node) else None


def _terms(node: Node | None, once: Collection[Node]) -> list[tuple[Node, int]]:
    """The contractions, with their signs, that a tree of additions adds up; none where it adds anything else."""
    found: list[tuple[Node, int]] = []
    pending = [(node, 1)] if node is not None else []
    while pending:
        n, sign = pending.pop()
        if n not in once or len(found) + len(pending) >= _MAX_TERMS:
            return []
        if _adds(n):
            first, second = n.operands
            pending += [(second, -sign if n.primitive is subtract else sign), (first, sign)]
        elif is_free(n) and n.dtype == node.dtype and not repeats(n) and not spreads(n):  # type: ignore[union-attr]
            found.append((n, sign))
        else:
            return []
    return found if len(found) > 1 and any(sums(n) for n, _ in found) else []


def _adds(node: Node) -> bool:
    return (
        node.primitive in (add, subtract)
        and node.dtype.kind == "f"
        and all(o.shape == node.shape and o.dtype == node.dtype for o in node.operands)
    )


def _paired(node: Node | None, original: Node | None, terms: list[tuple[Node, int]]) -> list[tuple[Node, Node]]:
    """The terms as they were, each with what has become of it."""
    wanted = {t for t, _ in terms}
    found = []
    pending = [(node, original)]
    while pending:
        n, o = pending.pop()
        assert n is not None
        assert o is not None
        if o in wanted:
            found.append((o, n))
        else:
            pending += zip(n.operands, o.operands, strict=True)
    return found


def _through(node: Node, term: Node) -> Node:
    """The sum ``node`` of one term: what only one operand holds is summed there first."""
    labels, out, extents, _ = node.params
    (own,) = [ls for o, ls in zip(node.operands, labels, strict=True) if not o.is_literal]
    inner, inner_out, inner_extents, _ = term.params
    image, sizes = dict(zip(inner_out, own, strict=True)), list(extents)
    for i, d in enumerate(inner_extents):
        if i not in image:
            image[i] = len(sizes)
            sizes.append(d)
    operands = [o for o in node.operands if o.is_literal]
    merged: list[Labels] = [()] * len(operands)
    terms = [(o, tuple([image[i] for i in ls])) for o, ls in zip(term.operands, inner, strict=True)]
    for k, (o, ls) in enumerate(terms):
        others = {i for j, (_, other) in enumerate(terms) if j != k for i in other} | set(out)
        kept = tuple(dict.fromkeys([i for i in ls if i in others]))
        if others.intersection(ls) and len(kept) < len(set(ls)) and len(terms) > 1:
            o, ls = contract([o], [ls], kept, sizes), kept
        operands.append(o)
        merged.append(ls)
    return contract(operands, merged, out, sizes)
