"""Eigenvalues and singular values that are equal: what turns their vectors into each other has no share in a slope.

Vectors of equal values may be any of a space. What is a smooth function of the matrix does not depend on which, and has
a derivative there: ``differentiation.across_equal_values`` adds it to what the vectors give that do not turn so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..program.dims import Dim, Shape
from ..program.node import Node, emit
from .batching import Batching
from .casting import cast
from .contraction import contract, expand_behind, gate, identity
from .functions import (
    absolute,
    add,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    multiply,
    not_equal,
    reciprocal,
    subtract,
    where,
)
from .identity import Mark
from .linalg import lead_of, product
from .primitive import Params, literal, made_constant
from .shaping import reshape


class Apart(Mark):
    """``apart(factors, a)``: those of ``a``, or the values alone; vectors of close ones do not turn into each other."""

    name = "apart"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return super().infer(operands[:1], params)

    def dependencies(self, node: Node) -> Sequence[tuple[Node, Any]]:
        return [(node.operands[1], 1)]

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        own = node.operands[0]
        return own.primitive.jvp(node, own.operands[0], 0, tangent, batch)

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        own = node.operands[0]
        return own.primitive.vjp(node, own.operands[0], 0, ct, batch)

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        return emit(self, tuple(over.complete(operands, batched)))


class Unknown(Mark):
    """``unknown(value, x, mask)``: the value, of which nobody knows the derivative by ``x`` where the mask is true."""

    name = "unknown"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return super().infer(operands[:1], params)

    def dependencies(self, node: Node) -> Sequence[tuple[Node, Any]]:
        return [(o, k) for k, o in enumerate(node.operands[:2]) if o.differentiable]

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        return self._through(node, key, tangent)

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        return self._through(node, key, ct)

    def _through(self, node: Node, key: int, flow: Node) -> Node:
        return gate(where(node.operands[2], math.nan, 0.0), flow) if key else flow

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        return emit(self, tuple(over.complete(operands, batched)))


class Rare(Mark):
    """A truth value that seldom holds: what is gated by it is computed in a run of its own, where it does."""

    name = "rare"

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        return emit(self, operands)


APART, UNKNOWN, RARE = Apart(), Unknown(), Rare()


def diagonal_mask(size: Dim) -> Node:
    """The identity, as truth values."""
    if not isinstance(size, int):
        return cast(identity((size,)), np.dtype(bool))
    return made_constant(("diagonal", size), lambda: np.eye(size, dtype=bool))


def sides(values: Node) -> tuple[Node, Node]:
    """A vector as the row, and as the column, of matrices."""
    lead, n = values.shape[:-1], values.shape[-1]
    return reshape(values, (*lead, 1, n)), reshape(values, (*lead, n, 1))


def gaps_of(values: Node) -> Node:
    """``λⱼ - λᵢ``."""
    row, column = sides(values)
    return subtract(row, column)


def equal_pairs(values: Node) -> Node:
    """Which pairs of values are equal, to rounding: the decomposition is that of a matrix nearby."""
    gaps, lead = absolute(gaps_of(values)), lead_of(values, 1)
    error = product(lead, [(absolute(values), "a")], "", 2 * float(np.finfo(values.dtype).eps))
    return less_equal(gaps, expand_behind(error, len(lead), gaps.shape[-2:]))


def close_pairs(values: Node) -> Node:
    """Which pairs are equal, or so close that more digits are right of the limit than of a quotient by their gap."""
    row, column = sides(absolute(values))
    close = multiply(math.sqrt(float(np.finfo(values.dtype).eps)) / 2, add(row, column))
    return logical_or(equal_pairs(values), less_equal(absolute(gaps_of(values)), close))


def any_close(values: Node) -> Node:
    """Whether any two are close, which is rare."""
    pairs = logical_and(close_pairs(values), logical_not(diagonal_mask(values.shape[-1])))
    return emit(RARE, (any_of(pairs),))


def any_of(mask: Node) -> Node:
    """Whether any is true."""
    return not_equal(contract([cast(mask, np.dtype(int))], [tuple(range(mask.ndim))], (), mask.shape), 0)


def over_gaps(own: Node, values: Node, read: Node | None, apart: bool) -> Node:
    """A matrix over ``λⱼ - λᵢ``, and 0 on the diagonal.

    Where the two are equal NaN; or 0 where they are close, if these are kept ``apart``, and the slope of that NaN.
    Columns that are not ``read`` are 0.
    """
    gaps = gaps_of(values)
    none = diagonal_mask(gaps.shape[-1])
    if read is not None:
        none = logical_or(none, logical_not(read))
    factor = where(none, 0, reciprocal(where(none, 1, where(equal_pairs(values), math.nan, gaps))))
    if apart:
        close = logical_or(none, close_pairs(values))
        without = where(close, 0, reciprocal(where(close, 1, gaps)))
        without = emit(UNKNOWN, (without, gaps, logical_and(close, logical_not(none))))
        factor = where(any_close(values), without, factor)
    return _times(own, factor)


def over_sums(own: Node, values: Node, read: Node | None) -> Node:
    """A matrix over ``sᵢ + sⱼ``; NaN where both are zero, but for real numbers on the diagonal."""
    row, column = sides(values)
    sums = add(row, column)
    none = literal(False) if own.is_complex else diagonal_mask(sums.shape[-1])
    if read is not None:
        none = logical_or(none, logical_not(read))
    return _times(own, where(none, 0, reciprocal(where(none, 1, where(less_equal(sums, 0), math.nan, sums)))))


def _times(own: Node, factor: Node) -> Node:
    """Products of the entries; a zero of neither wins against NaN."""
    lead = lead_of(own, 2)
    return product(lead, [(own, "ab"), (factor, "ab")], "ab")
