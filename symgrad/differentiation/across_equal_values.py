"""Derivatives through eigenvectors and singular vectors where values are equal, for functions that are smooth there.

Vectors of equal values are any of a space, and turn freely: their slope ``o/(λⱼ - λᵢ)`` is 0/0 where ``o``, how much a
function changes as they turn, is 0, as in all that depends on the matrix alone (its logarithm, its nearest rotation).
Near there ``o`` is the gap times a smooth ``h``, which is what counts. It is ``o'/(δⱼ - δᵢ)``, for the change ``o'`` of
``o`` where the values move by ``δ``, no two alike, and the vectors stay (L'Hôpital). Where ``o`` is not the gap times
that, the vectors are read as they are: the quotient is the slope of close values, and of equal ones NaN. What is made
of these slopes has NaN for its own.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ..primitives.contraction import contract, expand, gate
from ..primitives.decompositions import Factors, Found, Values, has_turns
from ..primitives.equal_values import APART, any_close, any_of, close_pairs, diagonal_mask, equal_pairs, gaps_of
from ..primitives.external import zeros_of
from ..primitives.functions import (
    absolute,
    add,
    less_equal,
    logical_and,
    logical_not,
    multiply,
    reciprocal,
    subtract,
    where,
)
from ..primitives.identity import MARK
from ..primitives.linalg import adjoint, real_of
from ..primitives.primitive import CONSTANT, EXAMPLE, INPUT, LITERAL, Params, Primitive, input_node, made_constant
from ..primitives.selection import concatenate, full, take_slice
from ..primitives.shaping import reshape
from ..program.dims import Shape, is_concrete
from ..program.forks import cached_property
from ..program.interpret import with_others
from ..program.node import Node, ancestors, emit
from .cotangents import cotangents_of
from .edges import ActiveEdges, active_edges
from .tangents import pushed

#: ``o`` is the gap times ``h`` to this part, as far as the next order of the gap goes; values are closer than 10⁻⁷
_TO_FIRST_ORDER = 0.01
#: or to so many roundings of all that ``o`` is a sum of: of inverses and chains of matrices of condition 10³ still 0
_ROUNDINGS = 4096


def across_equal_values(outputs: Sequence[Node], wrt: Collection[Node], edges: ActiveEdges) -> Sequence[Node]:
    """``outputs`` with what their derivatives by ``wrt``, along ``edges``, are where values of matrices are equal.

    ``outputs`` themselves where nothing is decomposed.
    """
    sources = set(wrt)
    of: dict[Node, list[Node]] = {}  # decompositions, and what stands for each
    for node in edges:
        if (node.primitive is APART or is_decomposed(node)) and node not in sources:
            whole = node.operands[0] if node.primitive is APART else node
            of.setdefault(whole, [whole]).append(node)
    if not any(isinstance(whole.primitive, Factors) for whole in of):
        return outputs
    others: dict[Node, Node] = {}
    for whole in sorted(of, key=lambda n: n.serial):
        apart = emit(APART, (whole, _whole(whole.operands[0], others, sources)))
        others |= dict.fromkeys(of[whole], apart)
    return [_whole(o, others, sources) for o in outputs]


def is_decomposed(node: Node) -> bool:
    """Whether a node is values or vectors of matrices, whose slopes are limits where values are equal."""
    return has_turns(node.primitive) and is_concrete(node.shape)


def _whole(output: Node, others: Mapping[Node, Node], wrt: Collection[Node]) -> Node:
    """``output`` of factors that are kept apart, and what it lacks so; each has what it is made of whole."""
    if not others:
        return output
    made = with_others(output, others, wrt)
    every = set(ancestors([made], wrt))
    found = [n for n in dict.fromkeys(others.values()) if n in every]
    limits = [
        emit(LIMIT, (made, *found[k:], *found[:k]))
        for k, n in enumerate(found)
        if isinstance(n.operands[0].primitive, Factors)
    ]
    return reduce(add, limits, made)


class _Limit(Primitive):
    """``limit(y, factors, …)``: what ``y`` lacks that is made of ``factors``, and of others that are constants; 0."""

    name = "limit"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return operands[0].shape, operands[0].dtype, False

    def dependencies(self, node: Node) -> Sequence[tuple[Node, Any]]:
        return [(node.operands[1].operands[1], None)]

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        y, *others = node.operands
        own, edges = _Equal(others), active_edges([y], others)
        found = own.turns.along(own.found, tangent)
        turn, by_gap, exact = (
            multiply(found, gate(own.close, w)) for w in (own.turn, multiply(own.by_gap, own.turn), own.exact)
        )
        skew = _stacked([turn, by_gap, exact])
        (changed,) = pushed(edges, [y], {own.factors: own.turned(skew)}, batch + 1)
        if changed is None:
            return None
        (anyhow,) = pushed(edges, [y], {own.factors: own.turned(own.any_matrix)}, 0)
        assert anyhow is not None
        moved, turned = own.moved(changed, skew)
        most = multiply(own.size_of(absolute(anyhow), absolute(own.moved(anyhow, skew)[0])), _total(absolute(turn)))
        is_smooth = own.is_smooth(_at(changed, 0), _at(moved, 1), _at(turned, 0), most)
        quotient = where(any_of(own.equal), math.nan, _at(changed, 2))
        return gate(own.rare, where(is_smooth, _at(moved, 0), quotient))

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        y, *others = node.operands
        own, edges = _Equal(others), active_edges([y], others)
        by_turn = own.by_turn(edges, y, ct, batch)
        if by_turn is None:
            return None
        moved, turned = own.moved(by_turn, ct)
        probe = by_turn, moved, turned
        if y.shape and not _is_known(ct):  # weights that come from elsewhere may be zero by chance: others have to do
            weights = _any(y)
            by_others = own.by_turn(edges, y, weights, 0)
            assert by_others is not None
            probe = by_others, *own.moved(by_others, weights)
        is_smooth = own.is_smooth_by(*probe)
        quotient = multiply(by_turn, where(own.equal, math.nan, own.exact))
        slope = gate(own.close, where(is_smooth, multiply(moved, own.turn), quotient))
        direction = input_node("tangent", own.a.shape, own.a.dtype)
        made = _transposed([own.turns.along(own.found, direction)], [slope], direction, batch)
        return None if made is None else gate(own.rare, made)


LIMIT = _Limit()


class _Equal:
    """The factors of a matrix, some of whose values may be equal or close, and others that stay as these move."""

    def __init__(self, all_factors: Sequence[Node]) -> None:
        self.factors, *self._others = all_factors
        whole, a = self.factors.operands
        while a.primitive is add and a.operands[1].primitive is LIMIT:
            a = a.operands[0]
        assert isinstance(whole.primitive, Factors)
        assert whole.primitive.turns
        self.turns, self.a, self._primitive, self._whole = whole.primitive.turns, a, whole.primitive, whole
        self.found = Found(a, self._primitive.factors_of(self.factors, a))
        self.values, self.vectors = real_of(self.found.factors[0]), self.found.factors[1]
        n = self._width = self.values.shape[-1]
        assert isinstance(n, int)
        other = logical_not(diagonal_mask(n))
        self.equal = logical_and(equal_pairs(self.values), other)
        self.close = logical_and(close_pairs(self.values), other)
        self.rare = any_close(self.values)
        self._speeds = np.arange(n) - (n - 1) / 2
        gaps, dtype = gaps_of(self.values), self.values.dtype
        #: what pairs turn by: one over the difference of speeds; the gaps over it; one over gaps, of equal pairs 0
        self.turn = made_constant(("one over speeds", n, dtype.str), lambda: _one_over_gaps(self._speeds).astype(dtype))
        self.by_gap = multiply(gaps, self.turn)
        is_gap = logical_and(other, logical_not(self.equal))
        self.exact = where(is_gap, reciprocal(where(is_gap, gaps, 1.0)), 0.0)
        #: of those that vectors are multiplied by
        self.any_matrix = _any(self.vectors, (*self.values.shape[:-1], n, n))

    def size_of(self, x: Node, moved: Node) -> Node:
        """Of what ``x`` is a sum; what of it may be rounding is in proportion, since values are rounded too."""
        return add(x, multiply(_total(absolute(self.values)), moved))

    def is_smooth(self, change: Node, expected: Node, turned: Node, size: Node) -> Node:
        """Whether a change is what it is of a smooth function, and is that however vectors have ``turned``."""
        rounding = float(np.finfo(self.values.dtype).eps)
        most = add(multiply(_TO_FIRST_ORDER, absolute(expected)), multiply(_ROUNDINGS * rounding, size))
        is_expected = less_equal(absolute(subtract(change, expected)), most)
        return logical_and(is_expected, less_equal(absolute(turned), multiply(16 * math.sqrt(rounding), size)))

    def is_smooth_by(self, by_turn: Node, moved: Node, turned: Node) -> Node:
        """The same of each pair of vectors, by how the function changes as they turn, and what that becomes."""
        most = self.size_of(_total(absolute(by_turn)), _total(absolute(moved)))
        return self.is_smooth(_skew(by_turn), multiply(_skew(moved), self.by_gap), _skew(turned), most)

    def turned(self, matrix: Node) -> Node:
        """The tangent of the factors where vectors turn by this matrix."""
        return self._primitive.placed(self.a, self.turns.turned(self.found, matrix))

    def by_turn(self, edges: ActiveEdges, y: Node, ct: Node, batch: int) -> Node | None:
        """How ``y``, weighed by ``ct``, changes with the entries of the matrix that the vectors turn by."""
        flow = cotangents_of(edges, [y], [ct], batch).get(self.factors)
        if flow is None:
            return None
        stand_in = input_node("turn", self.any_matrix.shape, self.vectors.dtype)
        pieces = self._primitive.pieces(self.a, flow)
        return _transposed(self.turns.turned(self.found, stand_in), pieces, stand_in, batch)

    def moved(self, x: Node, constant: Node) -> tuple[Node, Node]:
        """The change of ``x`` where the values move at their speeds and the vectors stay, and where close ones turn.

        What is ``constant`` is so, and other factors are.
        """
        others = [*self._others, *(n.operands[0] for n in self._others)]
        (made,) = pushed(active_edges([x], {*self._move, *others, constant}), [x], self._move, 1)
        if made is None:
            zero = zeros_of(x.shape, x.dtype)
            return zero, zero
        return _at(made, 0), _at(made, 1)

    @cached_property
    def _move(self) -> dict[Node, Node]:
        """The tangents of what moves with the values, and of what turns with the vectors."""
        lead, dtype = self.values.shape[:-1], self.values.dtype
        row = made_constant(("speeds", self._width, dtype.str), lambda: self._speeds.astype(dtype))
        speeds = expand(row, (*lead, self._width))
        turn = self.turned(gate(self.close, _skew(self.any_matrix)))
        matrix = self.turns.moved(self.found, speeds)
        move = {n: _first_of_two(gate(moves_so, matrix)) for n, moves_so in self._moving_with(matrix)}
        # rules of custom functions and roots read what has not been kept apart
        move[self.a] = _first_of_two(matrix)
        move[self.factors] = move[self._whole] = _stacked([self._primitive.placed(self.a, [speeds]), turn])
        for node in self._others:
            own = node.operands[0]
            if isinstance(own.primitive, Values) and own.operands == self._whole.operands:
                move[node] = move[own] = _first_of_two(speeds)
        return move

    def _moving_with(self, matrix: Node) -> Iterator[tuple[Node, Node]]:
        """Arguments that the matrix is made of and may be read beside it, and whether it moves as they do.

        ``A`` so beside ``(A + A.T) / 2``.
        """
        for node in ancestors([self.a]):
            if node is not self.a and node.primitive in (INPUT, EXAMPLE, MARK) and node.shape == self.a.shape:
                (along,) = pushed(active_edges([self.a], [node]), [self.a], {node: matrix}, 0)
                if along is not None:
                    rest = _total(absolute(subtract(along, matrix)))
                    size = multiply(_ROUNDINGS * float(np.finfo(self.values.dtype).eps), _total(absolute(matrix)))
                    yield node, less_equal(rest, size)


def _one_over_gaps(speeds: np.ndarray) -> np.ndarray:
    gaps = speeds - speeds[:, None]
    return np.divide(1.0, gaps, out=np.zeros_like(gaps), where=gaps != 0)


def _any(like: Node, shape: Shape | None = None) -> Node:
    """Numbers that are nothing special along the last two axes, of this shape, or that of an array."""
    shape = like.shape if shape is None else shape
    own = tuple([d if isinstance(d, int) else 1 for d in shape[-2:]])
    numbers = np.cos(np.arange(math.prod(own)) ** 2 + 1.0).reshape(own)
    made = made_constant(("any numbers", own, like.dtype.str), lambda: numbers.astype(like.dtype))
    return expand(made, shape)


def _is_known(x: Node) -> bool:
    """Whether it is made of constants alone."""
    return all(n.primitive in (CONSTANT, LITERAL) for n in ancestors([x]) if not n.operands)


def _skew(x: Node) -> Node:
    return subtract(x, adjoint(x))


def _first_of_two(x: Node) -> Node:
    return _stacked([x, zeros_of(x.shape, x.dtype)])


def _total(x: Node) -> Node:
    """The sum of all elements."""
    return contract([x], [tuple(range(x.ndim))], (), x.shape)


def _stacked(parts: Sequence[Node]) -> Node:
    return concatenate([reshape(p, (1, *p.shape)) for p in parts], 0)


def _at(x: Node, k: int) -> Node:
    return take_slice(x, (k, *full(x.shape[1:])))


def _transposed(made: Sequence[Node | None], flows: Sequence[Node | None], source: Node, batch: int) -> Node | None:
    """The cotangent of ``source`` from those of what is linear in it."""
    pairs = [(m, f) for m, f in zip(made, flows, strict=True) if m is not None and f is not None]
    outputs = [m for m, _ in pairs]
    return cotangents_of(active_edges(outputs, [source]), outputs, [f for _, f in pairs], batch).get(source)
