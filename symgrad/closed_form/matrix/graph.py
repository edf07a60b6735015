"""One product of the tensor algebra as a matrix expression.

A term is a graph: labels are its nodes, matrices its edges, vectors sit at labels. Labels that are summed over are
removed one by one (the graph is series-parallel, or there is no matrix notation): an end is a matrix times a
vector, a middle a product of matrices, two edges side by side are an elementwise product.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from . import expression as ex
from .expression import Expression
from .terms import NotExpressible


class Edge(NamedTuple):
    """A matrix whose rows carry one label and whose columns another."""

    row: int
    column: int
    matrix: Expression

    def from_(self, label: int) -> Expression:
        """The matrix with ``label`` on its rows."""
        return self.matrix if self.row == label else ex.transpose(self.matrix)

    def other(self, label: int) -> int:
        """The label at the other end."""
        return self.column if self.row == label else self.row


class TermGraph:
    """Arrays with labels, some of which (``out``) stay; the others are summed over."""

    def __init__(self, arrays: Iterable[tuple[Expression, tuple[int, ...]]], out: Sequence[int]) -> None:
        self._out = set(out)
        self._vectors: dict[int, list[Expression]] = {}
        self._edges: list[Edge] = []
        for x, labels in arrays:
            if len(labels) == 1:
                self._place(labels[0], x)
            elif labels[0] == labels[1]:
                self._place(labels[0], ex.call("diagonal", [x], None, x.rows))
            else:
                self._edges.append(Edge(labels[0], labels[1], x))

    def vector(self, label: int, size: Any) -> Expression:
        """What is left at ``label``."""
        return quotient(self._vectors.get(label) or [ex.ones(size)])

    def between(self, i: int, j: int, sizes: Sequence[Any]) -> Expression:
        """The matrix with rows ``i`` and columns ``j``."""
        edge = next((e for e in self._edges if {e.row, e.column} == {i, j}), None)
        if edge is None:
            if not self._vectors:
                return ex.call("all_ones", (), None, *sizes)
            return ex.product([self.vector(i, sizes[0]), ex.transpose(self.vector(j, sizes[1]))])
        left = [ex.diag(self.vector(i, sizes[0]))] if i in self._vectors else []
        right = [ex.diag(self.vector(j, sizes[1]))] if j in self._vectors else []
        return ex.product([*left, edge.from_(i), *right])

    def reduce(self) -> None:
        """Remove every label that is summed over."""
        while True:
            self._merge()
            summed = self._labels() - self._out
            if not summed:
                return
            self._remove(min(summed, key=lambda i: (len(self._at(i)), i)))

    def scalar(self) -> Expression:
        """The sum over all labels."""
        while True:
            labels = self._labels()
            if len(labels) == 1 and not self._edges:
                return _summed_vectors(self._vectors[labels.pop()])
            if len(self._edges) == 1 and not self._vectors:
                return _summed_matrix(self._edges[0].matrix)
            ends = [i for i in labels if len(self._at(i)) == 1]
            if ends:
                self._remove(min(ends))
                continue
            if all(len(self._at(i)) == 2 for i in labels) and not any(e.matrix.op == "power" for e in self._edges):
                return self._trace()
            before = len(self._edges)
            self._merge()
            if len(self._edges) == before:
                self._remove(min(labels, key=lambda i: (len(self._at(i)), i)))

    def _place(self, label: int, x: Expression) -> None:
        self._vectors.setdefault(label, []).append(x)

    def _labels(self) -> set[int]:
        return {i for e in self._edges for i in (e.row, e.column)} | set(self._vectors)

    def _at(self, label: int) -> list[Edge]:
        return [e for e in self._edges if label in (e.row, e.column)]

    def _remove(self, label: int) -> None:
        edges = self._at(label)
        if not 1 <= len(edges) <= 2:
            raise NotExpressible
        held = self._vectors.pop(label, [])
        self._edges = [e for e in self._edges if e not in edges]
        first, last = edges[0], edges[-1]
        if len(edges) == 1:
            matrix = first.from_(first.other(label))
            v = quotient(held) if held else ex.ones(matrix.columns)
            self._place(first.other(label), ex.product([matrix, v]))
            return
        middle = [ex.diag(quotient(held))] if held else []
        start, stop = first.other(label), last.other(label)
        chain = ex.product([first.from_(start), *middle, last.from_(label)])
        self._edges.append(Edge(start, stop, chain))

    def _merge(self) -> None:
        """Edges side by side become one."""
        made: dict[frozenset[int], Edge] = {}
        together: dict[frozenset[int], list[Expression]] = {}
        for e in self._edges:
            first = made.setdefault(frozenset((e.row, e.column)), e)
            together.setdefault(frozenset((e.row, e.column)), []).append(e.from_(first.row))
        self._edges = [Edge(e.row, e.column, quotient(together[key])) for key, e in made.items()]

    def _trace(self) -> Expression:
        """A ring of matrices, read from where it needs the fewest transposes."""
        best: Expression | None = None
        for e in self._edges:
            for label in (e.row, e.column):
                found = ex.call("trace", [self._ring(e, label)])
                if best is None or found.turns < best.turns:
                    best = found
        assert best is not None
        return best

    def _ring(self, edge: Edge, label: int) -> Expression:
        chain, left = [], list(self._edges)
        while True:
            left.remove(edge)
            if label in self._vectors:
                chain.append(ex.diag(quotient(self._vectors[label])))
            chain.append(edge.from_(label))
            label = edge.other(label)
            following = [e for e in left if label in (e.row, e.column)]
            if not following:
                break
            edge = following[0]
        if left:
            raise NotExpressible
        return ex.product(chain)


def quotient(arrays: Sequence[Expression]) -> Expression:
    """The elementwise product; negative powers go below."""
    if len(arrays) == 1 and not _is_inverted(arrays[0]):
        return arrays[0]
    top = [x for x in arrays if not _is_inverted(x)]
    bottom = [_inverted(x) for x in arrays if _is_inverted(x)]
    made = ex.hadamard(top, bottom)
    turned = ex.transpose(made)
    return ex.transpose(turned) if turned.turns + 1 < made.turns else made


def _is_inverted(x: Expression) -> bool:
    x = x.args[0] if x.op == "transpose" else x
    return x.op == "power" and x.data < 0


def _inverted(x: Expression) -> Expression:
    if x.op == "transpose":
        return ex.transpose(_inverted(x.args[0]))
    return ex.power(x.args[0], -x.data)


def _summed_vectors(vectors: list[Expression]) -> Expression:
    squares = [v for v in vectors if v.op == "power" and v.data == 2]
    if len(vectors) == 1:
        v = vectors[0]
        if squares:
            return ex.norm(v.args[0], Fraction(2))
        return ex.call("trace", v.args) if v.op == "diagonal" else ex.summed(quotient(vectors))
    if any(_is_inverted(v) for v in vectors):
        return ex.summed(quotient(vectors))
    if squares:
        x = squares[0]
        rest = quotient([v for v in vectors if v is not x])
        return ex.product([ex.transpose(x.args[0]), ex.diag(rest), x.args[0]])
    if len(vectors) == 2:
        a, b = vectors
        one, other = ex.product([ex.transpose(a), b]), ex.product([ex.transpose(b), a])
        return one if one.turns <= other.turns else other
    return ex.summed(quotient(vectors))


def _summed_matrix(matrix: Expression) -> Expression:
    turned = ex.transpose(matrix)
    matrix = turned if turned.turns < matrix.turns else matrix
    if matrix.op == "power" and matrix.data == 2:
        return ex.norm(matrix.args[0], Fraction(2))
    return ex.summed(matrix)
