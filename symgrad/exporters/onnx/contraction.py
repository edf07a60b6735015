"""Contractions by matrix products, broadcast products and sums, pair by pair.

ONNX has an Einsum; onnxruntime's stops the process on arrays without elements and sums whole numbers as floats.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...primitives.order import extent, pairwise_order
from ...program.dims import Dim, is_named, size
from ...program.node import Node
from .graph import Graph
from .steps import BOOL, INT, Value, xp

Labels = tuple[int, ...]


@dataclass(frozen=True)
class Labelled:
    """A tensor and the labels of its axes."""

    value: Value
    labels: Labels


def einsum(g: Graph, node: Node, operands: list[Value]) -> Value:
    """The value of a contraction; truth values are counted."""
    labels, out, sizes, _ = node.params
    dtype = INT if node.dtype == BOOL else node.dtype
    made = Contraction(g, sizes).write([x.astype(dtype) for x in operands], labels, out, dtype)
    return made.astype(node.dtype)


class Contraction:
    """Writes one contraction."""

    def __init__(self, g: Graph, sizes: Sequence[Dim]) -> None:
        self.g = g
        self.sizes = sizes

    def write(self, operands: Sequence[Value], labels: Sequence[Labels], out: Labels, dtype: Any) -> Value:
        """The result, its axes labelled ``out``."""
        unique = tuple(dict.fromkeys(out))
        terms = [self._simple(Labelled(x, ls), set(out)) for x, ls in zip(operands, labels, strict=True)]
        arrays = [t for t in terms if t.labels]
        scalars = [t.value for t in terms if not t.labels]
        known_first = sorted(scalars, key=lambda x: x.name not in self.g.initializers)
        factor = functools.reduce(operator.mul, known_first, self.g.constant(1, dtype))
        if not arrays:
            return self._place(Labelled(factor, ()), out, unique)
        small = min(range(len(arrays)), key=lambda k: self._count(arrays[k].labels))
        if self._count(arrays[small].labels) <= self._count(unique):  # the smallest array takes the factor
            arrays[small] = Labelled(factor * arrays[small].value, arrays[small].labels)
            return self._place(self._in_order(arrays, unique), out, unique)
        made = self._in_order(arrays, unique)
        return self._place(Labelled(factor * made.value, made.labels), out, unique)

    def _count(self, labels: Sequence[int]) -> float:
        return extent(self._shape(labels))

    def _shape(self, labels: Sequence[int]) -> tuple:
        return tuple(self.sizes[i] for i in labels)

    def _simple(self, t: Labelled, kept: set[int]) -> Labelled:
        """Diagonals taken and unit axes dropped."""
        value, labels = t.value, t.labels
        while len(set(labels)) < len(labels):
            i = next(i for i in labels if labels.count(i) > 1)
            value, labels = self._diagonal(value, labels, i)
        units = [k for k, i in enumerate(labels) if self.sizes[i] == 1 and i not in kept]
        value = self.g.squeeze(value, units)
        return Labelled(value, tuple(i for k, i in enumerate(labels) if k not in units))

    def _diagonal(self, x: Value, labels: Labels, i: int) -> tuple[Value, Labels]:
        """The diagonal over the first two axes of a label, as the last axis: every (n+1)th of n² elements."""
        first = labels.index(i)
        pair = (first, labels.index(i, first + 1))
        rest = [k for k in range(x.rank) if k not in pair]
        n = self.sizes[i]
        lead = [x.shape[k] for k in rest]
        flat = self.g.reshape(self.g.transpose(x, [*rest, *pair]), (*lead, n * n))
        return self.g.slice(flat, [len(lead)], [(0, n, n + 1)]), (*[labels[k] for k in rest], i)

    def _in_order(self, terms: list[Labelled], out: Labels) -> Labelled:
        if len(terms) == 1:
            return self._reduced(terms[0], set(out))
        for i, j in pairwise_order(tuple([t.labels for t in terms]), out, tuple(self.sizes)):
            second, first = terms.pop(max(i, j)), terms.pop(min(i, j))
            needed = set(out) | {label for t in terms for label in t.labels}
            terms.append(self._pair(first, second, needed, out if not terms else ()))
        return terms[0]

    def _reduced(self, t: Labelled, needed: set[int]) -> Labelled:
        axes = [k for k, i in enumerate(t.labels) if i not in needed]
        return Labelled(self.g.total(t.value, axes), tuple(i for i in t.labels if i in needed))

    def _pair(self, a: Labelled, b: Labelled, needed: set[int], out: Labels) -> Labelled:
        a = self._reduced(a, needed | set(b.labels))
        b = self._reduced(b, needed | set(a.labels))
        shared = set(a.labels) & set(b.labels)
        summed = [i for i in a.labels if i in shared and i not in needed]
        both = [i for i in a.labels if i in shared and i in needed]
        rows = [i for i in a.labels if i not in shared]
        columns = [i for i in b.labels if i not in shared]
        if not summed or (both and not rows and not columns):
            present = set(a.labels) | set(b.labels)
            order = tuple(i for i in out if i in present)
            order += tuple(dict.fromkeys(i for i in a.labels + b.labels if i not in order))
            made = self._aligned(a, order) * self._aligned(b, order)
            return self._reduced(Labelled(made, order), needed)
        if out and rows and columns and out.index(rows[0]) > out.index(columns[0]):
            a, b, rows, columns = b, a, columns, rows
        return self._product(a, b, both, rows, summed, columns)

    def _product(self, a: Labelled, b: Labelled, both: list, rows: list, summed: list, columns: list) -> Labelled:
        """A matrix product; of vectors where nothing stands beside what is summed.

        onnxruntime merges a transposition of the left side into the product, wrongly where the right one is a vector:
        there the vector goes first, unless the left side is nothing's result. Nor does it take vectors for no rows.
        """
        g = self.g
        if rows and not columns and not g.is_given(self._grouped(a, both, [rows], summed, last=True)):
            a, b, rows, columns = b, a, columns, rows
        empty = any(is_named(d) or d == 0 for d in self._shape([*rows, *summed, *columns]))
        vectors = not both and not empty
        left = self._grouped(a, both, [rows] if rows or not vectors else [], summed, last=True)
        right = self._grouped(b, both, [columns] if columns or not vectors else [], summed, last=False)
        grouped = [size(self._shape(group)) for group in (rows, columns) if group or not vectors]
        made = g.apply("MatMul", [left, right], left.dtype, (*self._shape(both), *grouped))
        order = (*both, *rows, *columns)
        return Labelled(g.reshape(made, self._shape(order)), order)

    def _grouped(self, t: Labelled, both: list, kept: list[list], summed: list, last: bool) -> Value:
        groups = [*kept, summed] if last else [summed, *kept]
        order = (*both, *[i for group in groups for i in group])
        shape = (*self._shape(both), *[size(self._shape(group)) for group in groups])
        return self.g.reshape(self._arranged(t, order), shape)

    def _arranged(self, t: Labelled, order: Labels) -> Value:
        return self.g.transpose(t.value, [t.labels.index(i) for i in order])

    def _aligned(self, t: Labelled, order: Labels) -> Value:
        """``t`` with unit axes where it lacks labels of ``order``, save at the front."""
        present = tuple(i for i in order if i in t.labels)
        value = self._arranged(t, present)
        started = False
        missing = []
        for k, i in enumerate(order):
            started = started or i in t.labels
            if started and i not in t.labels:
                missing.append(k)
        skipped = next((k for k, i in enumerate(order) if i in t.labels), 0)
        return self.g.unsqueeze(value, [k - skipped for k in missing])

    def _place(self, t: Labelled, out: Labels, unique: Labels) -> Value:
        """``t`` broadcast and put on diagonals, as the output labels say."""
        wide = self.g.expand(self._aligned(t, unique), self._shape(unique))
        return wide if unique == out else self._on_diagonals(wide, unique, out)

    def _on_diagonals(self, x: Value, unique: Labels, out: Labels) -> Value:
        """Zeros with ``x`` where the places along axes of the same label agree."""
        g = self.g
        first = {i: out.index(i) for i in unique}
        repeated = [k for k, i in enumerate(out) if first[i] != k]
        x = g.unsqueeze(x, repeated)
        for k in repeated:
            places = g.places(self.sizes[out[k]])
            along, across = ([n for n in range(len(out)) if n != axis] for axis in (first[out[k]], k))
            x = xp.where(xp.equal(g.unsqueeze(places, along), g.unsqueeze(places, across)), x, 0)
        return x
