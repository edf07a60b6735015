"""Linear algebra of matrices of known size: elimination with row exchanges, written out step by step as in LAPACK.

Where NumPy raises, for a singular matrix or one that is not positive definite, the result of the model is no number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...errors import UnsupportedOperation
from ...program.dims import is_named
from ...program.node import Node
from .graph import Graph
from .steps import INT, Value, xp

#: rows of a matrix up to which elimination is written out
LARGEST = 32

Rule = Callable[..., Value]


@dataclass(frozen=True)
class Eliminated:
    """An upper triangle: ``rows[j]`` with what stands beside it from column ``j`` on; the sign of the rows' order."""

    rows: list[Value] = field(default_factory=list)
    pivots: list[Value] = field(default_factory=list)
    signs: list[Value] = field(default_factory=list)


def _of_known_size(rule: Rule) -> Rule:
    """The rule with operands of the dtype of the result, and the number of rows."""

    def written(g: Graph, node: Node, a: Value, *rest: Value) -> Value:
        n = a.shape[-1]
        if is_named(n) or n > LARGEST:
            raise UnsupportedOperation(
                f"onnx: {node.primitive.name} is written out for matrices of known size up to {LARGEST} rows, and here "
                f"there are {n}; export to another format, such as python or torch."
            )
        return rule(g, node, n, *[x.astype(node.dtype) for x in (a, *rest)])

    return written


def _part(g: Graph, x: Value, rows: tuple[int, int], columns: tuple[int, int]) -> Value:
    """Some rows and columns, each as a start and a length."""
    wanted = {x.rank - 2: rows, x.rank - 1: columns}
    cut = {axis: (s, n, 1) for axis, (s, n) in wanted.items() if (s, n) != (0, x.shape[axis])}
    return g.slice(x, list(cut), list(cut.values()))


def _eliminated(g: Graph, x: Value, n: int) -> Eliminated:
    """The largest element of a column comes up in each step; a column of zeros is left as it is."""
    made = Eliminated()
    lead, row_axis = x.shape[:-2], x.rank - 2
    rest = x
    for left in range(n, 0, -1):
        width = rest.shape[-1]
        column = xp.abs(_part(g, rest, (0, left), (0, 1)))
        place = g.apply("ArgMax", [column], INT, (*lead, 1, 1), axis=row_axis, keepdims=1)
        index = g.expand(place, (*lead, 1, width))
        row = g.apply("GatherElements", [rest, index], x.dtype, (*lead, 1, width), axis=row_axis)
        first = _part(g, rest, (0, 1), (0, width))
        rest = g.apply("ScatterElements", [rest, index, first], x.dtype, rest.shape, axis=row_axis)
        pivot = _part(g, row, (0, 1), (0, 1))
        made.rows.append(row)
        made.pivots.append(pivot)
        made.signs.append(xp.where(xp.equal(place, 0), 1, g.like(-1, x)))
        if left > 1:
            below = _part(g, rest, (1, left - 1), (0, 1))
            none = xp.equal(pivot, 0)
            factor = xp.where(none, 0, below / xp.where(none, 1, pivot))
            beside = _part(g, rest, (1, left - 1), (1, width - 1))
            rest = beside - factor * _part(g, row, (0, 1), (1, width - 1))
    return made


def _require(g: Graph, holds: Value) -> None:
    """Take note that all of these must be True."""
    g.conditions.append(~g.any(~holds, range(holds.rank)) if holds.rank else holds)


def _solved(g: Graph, a: Value, b: Value, n: int) -> Value:
    """The columns of ``a⁻¹ b``, from the last row up."""
    columns = b.shape[-1]
    joined = g.apply("Concat", [a, b], a.dtype, (*a.shape[:-1], n + columns), axis=a.rank - 1)
    found = _eliminated(g, joined, n)
    solution: Value | None = None
    for left, (row, pivot) in enumerate(zip(found.rows[::-1], found.pivots[::-1], strict=True)):
        _require(g, xp.not_equal(pivot, 0))
        right = _part(g, row, (0, 1), (1 + left, columns))
        if solution is None:
            solution = right / pivot
            continue
        right = right - g.apply("MatMul", [_part(g, row, (0, 1), (1, left)), solution], a.dtype, right.shape)
        shape = (*a.shape[:-2], left + 1, columns)
        solution = g.apply("Concat", [right / pivot, solution], a.dtype, shape, axis=a.rank - 2)
    return b if solution is None else solution


@_of_known_size
def _solve(g: Graph, node: Node, n: int, a: Value, b: Value) -> Value:
    if b.rank == a.rank:
        return _solved(g, a, b, n)
    return g.squeeze(_solved(g, a, g.unsqueeze(b, [b.rank]), n), [b.rank])


@_of_known_size
def _inverse(g: Graph, node: Node, n: int, a: Value) -> Value:
    return _solved(g, a, g.expand(g.constant(np.eye(n), a.dtype), a.shape), n)


def _of_pivots(start: float, join: np.ufunc, factors: Callable[[Eliminated], Sequence[Value]]) -> Rule:
    """What determinants are: the ``factors`` of an elimination joined."""

    @_of_known_size
    def rule(g: Graph, node: Node, n: int, a: Value) -> Value:
        made = g.expand(g.like(start, a), node.shape)
        for factor in factors(_eliminated(g, a, n)):
            made = join(made, g.reshape(factor, node.shape))
        return made

    return rule


def _sign(pivot: Value) -> Value:
    """That of NaN is 1."""
    return xp.where(pivot < 0, -1, xp.where(xp.equal(pivot, 0), pivot, 1))


@_of_known_size
def _cholesky(g: Graph, node: Node, n: int, a: Value) -> Value:
    """Column by column from the triangle that NumPy reads."""
    turn = [*range(a.rank - 2), a.rank - 1, a.rank - 2]
    rest = g.transpose(a, turn) if node.params[0] else a
    columns = []
    for left in range(n, 0, -1):
        pivot = _part(g, rest, (0, 1), (0, 1))
        _require(g, pivot > 0)
        column = _part(g, rest, (0, left), (0, 1)) / xp.sqrt(pivot)
        none = [0] * a.rank
        columns.append(g.pad(column, [*none[:-2], n - left, 0], none))
        below = _part(g, column, (1, left - 1), (0, 1))
        rest = _part(g, rest, (1, left - 1), (1, left - 1)) - below * g.transpose(below, turn)
    if not columns:
        return rest
    lower = g.apply("Concat", columns, node.dtype, node.shape, axis=a.rank - 1)
    return g.transpose(lower, turn) if node.params[0] else lower


RULES: dict[str, Rule] = {
    "inverse": _inverse,
    "solve": _solve,
    "determinant": _of_pivots(1, xp.multiply, lambda found: [*found.pivots, *found.signs]),
    "determinant_sign": _of_pivots(1, xp.multiply, lambda found: [*map(_sign, found.pivots), *found.signs]),
    "log_determinant": _of_pivots(0, xp.add, lambda found: [xp.log(xp.abs(p)) for p in found.pivots]),
    "cholesky": _cholesky,
}
