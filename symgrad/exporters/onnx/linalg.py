"""Linear algebra of matrices of known size: elimination with row exchanges, written out step by step as in LAPACK.

Where NumPy raises, for a singular matrix or one that is not positive definite, the result of the model is no number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import UnsupportedOperation
from ...program.dims import is_named
from ...program.node import Node
from .graph import Graph
from .steps import BOOL, INT, Value

#: rows of a matrix up to which elimination is written out
LARGEST = 32


@dataclass(frozen=True)
class Eliminated:
    """An upper triangle with what stands beside it: ``rows[j]`` from column ``j`` on, and how often rows changed."""

    rows: list[Value]
    pivots: list[Value]
    exchanged: list[Value]


def _order(g: Graph, node: Node, x: Value) -> int:
    """The number of rows."""
    n = x.shape[-1]
    if is_named(n) or n > LARGEST:
        raise UnsupportedOperation(
            f"onnx: {node.primitive.name} is written out for matrices of known size up to {LARGEST} rows, and here "
            f"there are {n}; export to another format, such as python or torch."
        )
    return n


def _part(g: Graph, x: Value, rows: tuple[int, int], columns: tuple[int, int]) -> Value:
    """Some rows and columns, each as a start and a length."""
    wanted = {x.rank - 2: rows, x.rank - 1: columns}
    cut = {axis: (s, n, 1) for axis, (s, n) in wanted.items() if (s, n) != (0, x.shape[axis])}
    return g.slice(x, list(cut), list(cut.values()))


def _eliminated(g: Graph, x: Value, n: int) -> Eliminated:
    """The largest element of a column comes up in each step; a column of zeros is left as it is."""
    made = Eliminated([], [], [])
    lead, row_axis = x.shape[:-2], x.rank - 2
    rest = x
    for left in range(n, 0, -1):
        width = rest.shape[-1]
        column = g.unary("Abs", _part(g, rest, (0, left), (0, 1)))
        place = g.apply("ArgMax", [column], INT, (*lead, 1, 1), axis=row_axis, keepdims=1)
        index = g.expand(place, (*lead, 1, width))
        row = g.apply("GatherElements", [rest, index], x.dtype, (*lead, 1, width), axis=row_axis)
        first = _part(g, rest, (0, 1), (0, width))
        rest = g.apply("ScatterElements", [rest, index, first], x.dtype, rest.shape, axis=row_axis)
        pivot = _part(g, row, (0, 1), (0, 1))
        made.rows.append(row)
        made.pivots.append(pivot)
        made.exchanged.append(g.negation(g.test("Equal", place, g.constant(0, INT))))
        if left > 1:
            below = _part(g, rest, (1, left - 1), (0, 1))
            none = g.test("Equal", pivot, g.like(0, x))
            factor = g.where(none, g.like(0, x), g.div(below, g.where(none, g.like(1, x), pivot)))
            beside = _part(g, rest, (1, left - 1), (1, width - 1))
            rest = g.sub(beside, g.mul(factor, _part(g, row, (0, 1), (1, width - 1))))
    return made


def _require(g: Graph, holds: Value) -> None:
    """Take note that all of these must be True."""
    if holds.rank:
        axes = g.constant(list(range(holds.rank)), INT)
        holds = g.cast(g.apply("ReduceMin", [g.cast(holds, np.int32), axes], np.int32, (), keepdims=0), BOOL)
    g.conditions.append(holds)


def _solved(g: Graph, a: Value, b: Value, n: int) -> Value:
    """The columns of ``a⁻¹ b``, from the last row up."""
    columns = b.shape[-1]
    joined = g.apply("Concat", [a, b], a.dtype, (*a.shape[:-1], n + columns), axis=a.rank - 1)
    found = _eliminated(g, joined, n)
    solution: Value | None = None
    for left, (row, pivot) in enumerate(zip(found.rows[::-1], found.pivots[::-1], strict=True)):
        _require(g, g.negation(g.test("Equal", pivot, g.like(0, a))))
        right = _part(g, row, (0, 1), (1 + left, columns))
        if solution is not None:
            known = g.apply("MatMul", [_part(g, row, (0, 1), (1, left)), solution], a.dtype, right.shape)
            right = g.sub(right, known)
        right = g.div(right, pivot)
        if solution is not None:
            shape = (*a.shape[:-2], left + 1, columns)
            right = g.apply("Concat", [right, solution], a.dtype, shape, axis=a.rank - 2)
        solution = right
    return b if solution is None else solution


def _solve(g: Graph, node: Node, a: Value, b: Value) -> Value:
    n = _order(g, node, a)
    a, b = g.cast(a, node.dtype), g.cast(b, node.dtype)
    if b.rank == a.rank:
        return _solved(g, a, b, n)
    return g.squeeze(_solved(g, a, g.unsqueeze(b, [b.rank]), n), [b.rank])


def _inverse(g: Graph, node: Node, a: Value) -> Value:
    n = _order(g, node, a)
    a = g.cast(a, node.dtype)
    return _solved(g, a, g.expand(g.constant(np.eye(n), a.dtype), a.shape), n)


def _product(g: Graph, factors: list[Value], shape: tuple, like: Value) -> Value:
    made = g.expand(g.like(1, like), shape)
    for factor in factors:
        made = g.mul(made, g.reshape(factor, shape))
    return made


def _signs(g: Graph, found: Eliminated, like: Value) -> list[Value]:
    """-1 for each exchange of rows."""
    return [g.where(e, g.like(-1, like), g.like(1, like)) for e in found.exchanged]


def _determinant(g: Graph, node: Node, a: Value) -> Value:
    n = _order(g, node, a)
    a = g.cast(a, node.dtype)
    found = _eliminated(g, a, n)
    return _product(g, [*found.pivots, *_signs(g, found, a)], node.shape, a)


def _determinant_sign(g: Graph, node: Node, a: Value) -> Value:
    n = _order(g, node, a)
    a = g.cast(a, node.dtype)
    found = _eliminated(g, a, n)
    zero = g.like(0, a)
    signs = [  # that of NaN is 1
        g.where(g.test("Less", p, zero), g.like(-1, a), g.where(g.test("Equal", p, zero), zero, g.like(1, a)))
        for p in found.pivots
    ]
    return _product(g, [*signs, *_signs(g, found, a)], node.shape, a)


def _log_determinant(g: Graph, node: Node, a: Value) -> Value:
    n = _order(g, node, a)
    a = g.cast(a, node.dtype)
    made = g.expand(g.like(0, a), node.shape)
    for pivot in _eliminated(g, a, n).pivots:
        made = g.add(made, g.reshape(g.unary("Log", g.unary("Abs", pivot)), node.shape))
    return made


def _cholesky(g: Graph, node: Node, a: Value) -> Value:
    """Column by column from the triangle that NumPy reads."""
    n = _order(g, node, a)
    turn = [*range(a.rank - 2), a.rank - 1, a.rank - 2]
    rest = g.cast(a, node.dtype)
    if node.params[0]:
        rest = g.transpose(rest, turn)
    columns = []
    for left in range(n, 0, -1):
        pivot = _part(g, rest, (0, 1), (0, 1))
        _require(g, g.test("Greater", pivot, g.like(0, rest)))
        column = g.div(_part(g, rest, (0, left), (0, 1)), g.unary("Sqrt", pivot))
        none = [0] * a.rank
        columns.append(g.pad(column, [*none[:-2], n - left, 0], none))
        below = _part(g, column, (1, left - 1), (0, 1))
        rest = g.sub(_part(g, rest, (1, left - 1), (1, left - 1)), g.mul(below, g.transpose(below, turn)))
    if not columns:
        return rest
    lower = g.apply("Concat", columns, node.dtype, node.shape, axis=a.rank - 1)
    return g.transpose(lower, turn) if node.params[0] else lower


RULES: dict[str, Any] = {
    "inverse": _inverse,
    "solve": _solve,
    "determinant": _determinant,
    "determinant_sign": _determinant_sign,
    "log_determinant": _log_determinant,
    "cholesky": _cholesky,
}
