"""Gradients that reach a matrix through its Cholesky factor, where the halves of a symmetric matrix add up to it.

With ``L`` the factor and ``G`` what flows to it, the gradient is ``E + Eᵀ`` of ``E = ½ A[c ∘ LᵀG]Aᵀ``, where ``A`` is
``L⁻ᵀ`` and ``c`` has ones below the diagonal and halves on it. A term of ``G`` that makes ``LᵀG`` symmetric needs no
``c``: that of a quadratic form, ``-(L⁻ᵀu)uᵀ``, is ``-u uᵀ`` there, and that of a determinant, diagonal with ``1/Lᵢᵢ``,
is the identity. The upper factor is the same from the other side.

``# einsum(.5, L, c, A, diag(1/Lᵢᵢ) - (L⁻ᵀu)uᵀ, A) + its transpose -> einsum(.5, A, A) - einsum(.5, L⁻ᵀu, L⁻ᵀu)``
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from ..primitives.contraction import EINSUM, GATE, Labels, contract
from ..primitives.functions import (
    add,
    conjugate,
    divide,
    logical_not,
    minus,
    multiply,
    negative,
    reciprocal,
    subtract,
    where,
)
from ..primitives.linalg import CHOLESKY, INVERSE, SOLVE, inverse, is_halved_triangle, transposed
from ..primitives.primitive import known_value, literal, literal_value
from ..program.node import Node, emit
from ..program.program import Program
from .rewrite import rewrite

#: terms of a flow that are told apart
_MAX_TERMS = 16


class _Scaled(NamedTuple):
    factor: float
    of: Node


def without_halves(program: Program) -> Program:
    """``program`` with gradients by positive definite matrices written without halves, as far as they are symmetric."""
    if not any(n.primitive is CHOLESKY for n in program.nodes):
        return program
    return rewrite(program, lambda node, _: _rewritten(node))


def _rewritten(node: Node) -> Node | None:
    primitive, operands = node.primitive, node.operands
    if primitive is where:
        return _unmasked(*operands)
    if primitive is conjugate and operands[0].dtype.kind == "f":
        return operands[0]
    if primitive is SOLVE:
        right = _scaled(operands[1])
        exact = abs(math.frexp(right.factor)[0]) == 0.5  # a power of 2 changes no digit
        return multiply(right.factor, emit(SOLVE, (operands[0], right.of))) if right.factor != 1 and exact else None
    if primitive is add:
        one, other = operands
        if node.ndim == 2 and _is_transpose(other, one):
            return _symmetric(one)
        return _sum(_scaled(one), _scaled(other)) if one.shape == other.shape else None
    return None


def _unmasked(mask: Node, one: Node, other: Node) -> Node | None:
    """The factor that is all of a choice between it and 0."""
    if _is_factor(one) and _is_zero(other) and _is_triangle(mask, one.params[0]):
        return one
    if _is_factor(other) and _is_zero(one) and _is_triangle(mask, other.params[0], negated=True):
        return other
    return None


def _is_transpose(other: Node, one: Node) -> bool:
    if one.primitive is not EINSUM or other.primitive is not EINSUM:
        return False
    (labels, out, *rest), (own, turned, *others) = one.params, other.params
    return one.operands == other.operands and labels == own and out == turned[::-1] and rest == others


def _sum(one: _Scaled, other: _Scaled) -> Node | None:
    """``x/2 + x/2``, as a quadratic form gives it."""
    return one.of if one.of is other.of and one.factor == other.factor == 0.5 else None


def _is_factor(node: Node) -> bool:
    return node.primitive is CHOLESKY and node.ndim == 2 and node.dtype.kind == "f"


def upper_of(factor: Node) -> Node:
    """The upper factor, by the node of either."""
    return factor if factor.params[0] else transposed(factor)


def _is_zero(node: Node) -> bool:
    value = known_value(node)
    return value is not None and not value.shape and not value.any()


def _is_triangle(node: Node, is_upper: bool, negated: bool = False) -> bool:
    """Whether a condition is true on the diagonal and on one side of it, and nowhere else."""
    if node.primitive is logical_not:
        return _is_triangle(node.operands[0], is_upper, not negated)
    value = known_value(node)
    if value is None or value.ndim != 2:
        return False
    lower = np.tri(*value.shape, dtype=bool)
    return np.array_equal(value, (lower.T if is_upper else lower) != negated)


def _scaled(node: Node) -> _Scaled:
    """A number and what it is a factor of."""
    factor = 1.0
    while True:
        if node.primitive in (negative, minus):
            factor, node = -factor, node.operands[0]
        elif node.is_complex:
            return _Scaled(factor, node)
        elif node.primitive is multiply and any(o.is_literal for o in node.operands):
            number, other = node.operands if node.operands[0].is_literal else node.operands[::-1]
            if other.shape != node.shape:
                return _Scaled(factor, node)
            factor, node = factor * float(literal_value(number)), other
        elif node.primitive is EINSUM and len(node.operands) == 2 and node.operands[0].is_literal:
            if node.params[0][1] != node.params[1]:
                return _Scaled(factor, node)
            factor, node = factor * float(literal_value(node.operands[0])), node.operands[1]
        else:
            return _Scaled(factor, node)


def _terms(flow: Node, factor: float, is_upper: bool) -> list[_Scaled]:
    """The terms of what flows to a triangle: what is on the other side of the diagonal does not count."""
    found, pending = [], [_Scaled(factor, flow)]
    while pending and len(found) + len(pending) <= _MAX_TERMS:
        own = pending.pop()
        factor, node = own.factor, own.of
        if node.primitive is add or node.primitive is subtract:
            one, other = node.operands
            pending += [_Scaled(factor, one), _Scaled(factor if node.primitive is add else -factor, other)]
        elif node.primitive is GATE and _is_triangle(node.operands[0], is_upper):
            pending.append(_Scaled(factor, node.operands[1]))
        else:
            scaled = _scaled(node)
            if scaled.of is node:
                found.append(own)
            else:
                pending.append(_Scaled(factor * scaled.factor, scaled.of))
    return found if not pending else []


def _symmetric(half: Node) -> Node | None:
    """``half`` and its transpose in one, where no term needs to be halved."""
    labels, out, _, _ = half.params
    if half.is_complex:
        return None
    factor, named = 1.0, []
    for o, own in zip(half.operands, labels, strict=True):
        if o.is_literal:
            factor *= float(literal_value(o))
        else:
            named.append((o, own))
    triangles = [own for o, own in named if is_halved_triangle(o)]
    factors = [(o, own[::-1] if o.params[0] else own) for o, own in named if _is_factor(o)]
    if len(named) != 5 or len(triangles) != 1 or len(factors) != 1:
        return None
    ((p, q),), ((cholesky, (i, j)),) = triangles, factors
    is_upper = cholesky.params[0]
    flowing = (q, i) if is_upper else (i, q)
    rest = [(o, own) for o, own in named if not is_halved_triangle(o) and o is not cholesky]
    flows = [o for o, own in rest if own == flowing]
    sides = [(o, own) for o, own in rest if own != flowing]
    if j != p or len(flows) != 1 or len(sides) != 2:
        return None
    (left, first), (right, second) = sides
    is_turned = first[0] not in (p, q)  # L⁻¹, or the inverse of the upper factor
    (a, x), (b, y) = (first[::-1], second[::-1]) if is_turned else (first, second)
    if left is not right or {a, b} != {p, q} or {x, y} != set(out) or len({i, p, q, x, y}) != 5:
        return None
    side = transposed(left) if is_turned else left
    made = [_part(term, cholesky, side) for term in _terms(flows[0], factor, is_upper)]
    whole = [m for m in made if m is not None]
    return reduce(add, whole) if whole and len(whole) == len(made) else None


def _part(term: _Scaled, cholesky: Node, side: Node) -> Node | None:
    """What a term of the flow to a factor gives; ``side`` is its inverse. None where that is not symmetric alone."""
    factor, node = term
    if node.primitive is not EINSUM:
        return None
    labels, out, _, _ = node.params
    out = out[::-1] if cholesky.params[0] else out
    operands, upper = list(node.operands), upper_of(cholesky)
    for o in [o for o in operands if o.is_literal]:
        factor *= float(literal_value(o))
    parts = [(o, own) for o, own in zip(operands, labels, strict=True) if not o.is_literal]
    if len(parts) == 1 and len(out) == 2 and parts[0][1] == (out[0],) and out[0] == out[1]:
        diagonal = contract([cholesky], [(0, 0)], (0,), (cholesky.shape[0],))
        weights = _over(parts[0][0], diagonal)
        sides, kept = [side, side], [(0, 1), (0, 2)]
        if weights is not None:
            sides, kept = [*sides, weights], [*kept, (0,)]
        sizes = (side.shape[0], side.shape[1], side.shape[1])
        return contract([literal(factor), *sides], [(), *kept], (1, 2), sizes)
    if len(parts) != 2 or len(out) != 2 or out[0] == out[1]:
        return None
    first, second = parts if parts[0][1][:1] == out[:1] else parts[::-1]
    if first[1][:1] != out[:1] or second[1][:1] != out[1:] or first[1][1:] != second[1][1:]:
        return None
    if len(first[1]) > 2 or first[0].ndim != second[0].ndim:
        return None
    turned, own = _scaled(first[0]), _scaled(second[0])
    if turned.of.primitive is not SOLVE or turned.of.operands[0] is not upper:
        return None
    before = _scaled(turned.of.operands[1])
    if before.of is not own.of:
        return None
    factor *= turned.factor * before.factor * own.factor
    solved = emit(SOLVE, (upper, own.of))
    columns = tuple(range(2, solved.ndim + 1))
    sizes = (solved.shape[0], solved.shape[0], *solved.shape[1:])
    return contract([literal(factor), solved, solved], [(), (0, *columns), (1, *columns)], (0, 1), sizes)


def _over(weights: Node, diagonal: Node) -> Node | None:
    """Weights times a diagonal; None where they are its reciprocal."""
    if weights.primitive is reciprocal and weights.operands[0] is diagonal:
        return None
    if weights.primitive is divide and weights.operands[1] is diagonal:
        top = weights.operands[0]
        return None if top.is_literal and literal_value(top) == 1 else top
    return multiply(weights, diagonal)


def of_whole_matrices(program: Program) -> Program:
    """``program`` as it is read: what is solved by both factors of a matrix, and their inverses, by the matrix itself.

    ``# solve(Lᵀ, solve(L, b)) -> solve(K, b)``, ``einsum[il,im->lm](L⁻¹, L⁻¹) -> K⁻¹``
    """
    if not any(n.primitive is CHOLESKY for n in program.nodes):
        return program
    return rewrite(program, lambda node, _: _by_whole(node), (SOLVE, EINSUM))


def _by_whole(node: Node) -> Node | None:
    if node.primitive is SOLVE:
        outer, right = node.operands
        inner = right.operands[0] if right.primitive is SOLVE else None
        cholesky = _factor_of(outer)
        if inner is None or cholesky is None or cholesky is not _factor_of(inner):
            return None
        is_whole = outer is upper_of(cholesky) and inner is transposed(upper_of(cholesky))
        return emit(SOLVE, (cholesky.operands[0], right.operands[1])) if is_whole else None
    labels, out, sizes, _ = node.params
    for k, (o, own) in enumerate(zip(node.operands, labels, strict=True)):
        cholesky = _factor_of(o.operands[0]) if o.primitive is INVERSE else None
        if cholesky is None:
            continue
        inner = 1 if o.operands[0] is upper_of(cholesky) else 0  # K⁻¹ = U⁻¹U⁻ᵀ = L⁻ᵀL⁻¹
        for m in range(k + 1, len(labels)):
            alike = node.operands[m] is o and labels[m][inner] == own[inner]
            if alike and _count(own[inner], labels, out) == 2:
                rest = [n for n in range(len(labels)) if n not in (k, m)]
                operands = [*[node.operands[n] for n in rest], inverse(cholesky.operands[0])]
                ends = own[1 - inner], labels[m][1 - inner]
                return contract(operands, [*[labels[n] for n in rest], ends], out, sizes)
    return None


def _count(label: int, labels: Sequence[Labels], out: Labels) -> int:
    return sum(own.count(label) for own in (*labels, out))


def _factor_of(node: Node) -> Node | None:
    """The Cholesky factor that a node is, or is the transpose of."""
    if _is_factor(node):
        return node
    if node.primitive is EINSUM and len(node.operands) == 1 and _is_factor(node.operands[0]):
        return node.operands[0] if transposed(node.operands[0]) is node else None
    return None
