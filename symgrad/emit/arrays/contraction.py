"""Contractions: products by broadcasting, matrix products, sums; einsum where nothing else fits.

More than two operands are multiplied pair by pair, in the order that opt_einsum finds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...passes.grams import halves
from ...primitives.contraction import Labels
from ...primitives.order import extent, pairwise_order
from ...program.node import Node

if TYPE_CHECKING:
    from .writer import ArrayWriter


@dataclass(frozen=True)
class Labelled:
    """A piece of source with the labels of its axes; ``fresh`` where nothing else looks into its memory."""

    code: str
    labels: Labels
    fresh: bool = False


def product_sizes(first: Iterable[int], second: Iterable[int], kept: Iterable[int], sizes: Sequence) -> tuple:
    """How many products the contraction of two arrays is, and of each the rows, the columns, the summed elements."""
    a, b = set(first), set(second)
    shared = a & b
    parts = shared.intersection(kept), a - shared, b - shared, shared.difference(kept)
    return tuple([math.prod([sizes[i] for i in part]) for part in parts])


def is_product(node: Node) -> bool:
    """True for an einsum that NumPy's broadcasting alone computes, nothing summed or moved."""
    labels, out, _, spelling = node.params
    wide = [ls for ls in labels if ls == out]
    aligned = all(ls == out[len(out) - len(ls) :] for ls in labels)
    return len(labels) > 1 and bool(wide) and aligned and not spelling and len(set(out)) == len(out) and bool(out)


class Contraction:
    """Writes one einsum node."""

    def __init__(self, writer: ArrayWriter, node: Node) -> None:
        self.writer = writer
        self.node = node
        labels, out, sizes, _ = node.params
        self.labels: tuple[Labels, ...] = labels
        self.out: Labels = out
        self.sizes = tuple(map(writer.expected, sizes))
        self._readable = writer.dialect.readable

    def write(self, out: Labels | None = None) -> Labelled:
        """The result as a term with the labels ``out``, by default all of them; not fresh where it may be a view."""
        out = self.out if out is None else out
        unique = tuple(dict.fromkeys(out))
        w, dtype = self.writer, self.node.dtype
        read = [
            w.read(o) if o.is_literal or o.primitive.name == "dim" else w.typed(o, dtype) for o in self.node.operands
        ]
        terms = [self._simple(Labelled(code, ls), set(out)) for code, ls in zip(read, self.labels, strict=True)]
        factors = [t.code for t in terms if not t.labels]
        arrays = [t for t in terms if t.labels]
        made = self._contracted(arrays, factors, unique) if arrays else self._of_scalars(factors, unique)
        return self._placed(made, unique, out)

    def _of_scalars(self, factors: list[str], unique: Labels) -> Labelled:
        if not self._readable:
            return Labelled("".join(self.writer.folded(factors, self.node.operands)) or "1.0", ())
        w, code = self.writer, " * ".join(factors) or "1.0"
        of_numbers = all(map(w.is_number, self.node.operands))
        if not unique and not of_numbers:
            return Labelled(code, (), len(factors) > 1)
        call = "scalar" if not unique else "full" if of_numbers else "full_of"
        return Labelled(w.call(call, code, shape=self._shape(unique), dtype=w.dtype(self.node.dtype)), unique, True)

    def _contracted(self, terms: list[Labelled], factors: list[str], out: Labels) -> Labelled:
        """The product of all, summed over what is not in ``out``."""
        if self._readable and {i for t in terms for i in t.labels} <= set(out):
            return self._product(terms, factors, tuple(i for i in out if any(i in t.labels for t in terms)))
        factors = self.writer.folded(factors, self.node.operands)
        if not self._readable and is_product(self.node):
            return self._by_calls(terms, factors, out, self.writer.buffer(self.node))
        small = min(range(len(terms)), key=lambda k: self._size(terms[k].labels))
        if factors and self._size(terms[small].labels) <= self._size(out):  # the smallest array takes the factors
            terms[small] = self._bound(self._product([terms[small]], factors, terms[small].labels))
            factors = []
        made = self._in_order(terms, out)
        if factors and " @ " in made.code:
            made = Labelled(f"({made.code})", made.labels, True)
        return self._product([made], factors, made.labels) if factors else made

    def _in_order(self, terms: list[Labelled], out: Labels) -> Labelled:
        if len(terms) == 1:
            return self._reduced(terms[0], set(out))
        found = None if self._readable else halves([(t.code, t.labels) for t in terms], out)
        if found is not None:
            half, weights = [terms[k] for k in found.half], [terms[k] for k in found.weights]
            return self._gram(half, weights, found.rows, found.columns, out[0])
        for i, j in pairwise_order(tuple([t.labels for t in terms]), out, self.sizes):
            second, first = terms.pop(max(i, j)), terms.pop(min(i, j))
            needed = set(out) | {label for t in terms for label in t.labels}
            made = self._pair(first, second, needed, out if not terms else ())
            terms.append(self._bound(made) if terms else made)
        return terms[0]

    def _gram(
        self, half: list[Labelled], weights: list[Labelled], rows: Labels, mirror: Labels, first: int
    ) -> Labelled:
        """``aᵀ diag(w) a``, of which BLAS computes one triangle."""
        summed = tuple(dict.fromkeys(i for t in (*half, *weights) for i in t.labels if i not in rows))
        a = self._spread(half, (*summed, *rows))
        if len(summed) != 1 or len(rows) != 1:
            a = f"{a}.reshape(({self._extent(summed)}, {self._extent(rows)}))"
        a = a if a.isidentifier() else self.writer.assign(a)
        library = self._library(rows, rows, summed)
        if weights:
            w = self._spread(weights, summed)
            flat = ".ravel()" if len(summed) > 1 else ""
            code = f"{'' if library == 'np' else library + '.'}gram({a}, {w}{flat})"
        else:
            code = f"{library}.dot({a}.T, {a})"
        code = self.writer.assign(code)
        if len(rows) > 1:
            code = self.writer.assign(f"{code}.reshape({self._shape((*rows, *mirror))})")
        return Labelled(code, (*mirror, *rows) if mirror[0] == first else (*rows, *mirror), True)  # it is symmetric

    def _spread(self, terms: list[Labelled], order: Labels) -> str:
        """The broadcast product of terms over all of ``order``."""
        made, *others = sorted(terms, key=lambda t: self._size(t.labels))
        for t in others:
            made = self._product([made, t], [], tuple(i for i in order if i in set(made.labels) | set(t.labels)))
        if set(made.labels) == set(order):
            return self._arranged(made, order)
        return self.writer.call("broadcast", self._aligned(made, order), shape=self._shape(order))

    def _pair(self, a: Labelled, b: Labelled, needed: set[int], out: Labels) -> Labelled:
        a = self._bound(self._reduced(a, needed | set(b.labels)))
        b = self._bound(self._reduced(b, needed | set(a.labels)))
        shared = set(a.labels) & set(b.labels)
        summed = [i for i in a.labels if i in shared and i not in needed]
        if not summed:
            present = set(a.labels) | set(b.labels)
            order = tuple(i for i in out if i in present) or tuple(dict.fromkeys(a.labels + b.labels))
            return self._product([a, b], [], order)
        both = [i for i in a.labels if i in shared and i in needed]
        rows = [i for i in a.labels if i not in shared]
        columns = [i for i in b.labels if i not in shared]
        if out and rows and columns and out.index(rows[0]) > out.index(columns[0]):
            a, b, rows, columns = b, a, columns, rows
        library = self._library(rows, columns, summed)
        if not both and len(rows) <= 1 and len(summed) == 1 and len(columns) <= 1:
            left, right = self._arranged(a, (*rows, *summed)), self._arranged(b, (*summed, *columns))
            return self._made(self._dot(library, "dot", left, right), (*rows, *columns))
        if not both and not rows and not columns:
            left, right = f"{a.code}.reshape(-1)", f"{self._arranged(b, a.labels)}.reshape(-1)"
            return self._made(self._dot(library, "dot", left, right), ())
        order = (*both, *rows, *columns)
        if (not rows and not columns) or not self.writer.dialect.groups:
            letters = self._spelled([a.labels, b.labels], order)
            return self._made(self.writer.call("einsum", a.code, b.code, letters=letters), order)
        left, right = self._grouped(a, both, rows, summed), self._grouped(b, both, summed, columns)
        code = self._dot(library, "matmul", left, right)
        if len(rows) != 1 or len(columns) != 1:
            code = f"({code})" if self._readable else code
            code = f"{code}.reshape({self._shape(order)})"
        return self._made(code, order)

    def _made(self, code: str, labels: Labels) -> Labelled:
        """A new array; calls take names."""
        return Labelled(code if self._readable else self.writer.assign(code), labels, True)

    def _dot(self, library: str, function: str, left: str, right: str) -> str:
        return f"{left} @ {right}" if self._readable else f"{library}.{function}({left}, {right})"

    def _library(self, rows: Sequence[int], columns: Sequence[int], summed: Sequence[int]) -> str:
        return self.writer.library(self.node.dtype, *map(self._size, (rows, columns, summed)))

    def _product(self, terms: list[Labelled], factors: list[str], order: Labels) -> Labelled:
        """Nothing summed: a product by broadcasting; for readers the small operands first."""
        if not self._readable:
            return self._by_calls(terms, factors, order)
        minus = self.writer.number(-1.0)
        negative = factors.count(minus) % 2 == 1
        factors = [f for f in factors if f != minus]
        terms = sorted(terms, key=lambda t: self._size(t.labels))
        if len(terms) + len(factors) == 1 and not negative:
            return terms[0]
        codes = [*factors, *[self._aligned(t, order) for t in terms]]
        return Labelled(("-" if negative else "") + " * ".join(codes), order, True)

    def _by_calls(
        self, terms: list[Labelled], factors: list[str], order: Labels, buffer: str | None = None
    ) -> Labelled:
        """A product call by call, into ``buffer`` or what the first call gives."""
        # a reused buffer is read before it is written, so it goes first; then what has the full shape
        terms = sorted(terms, key=lambda t: (t.code != buffer, t.labels != order))
        made, *others = [self._aligned(t, order) for t in terms]
        shape = [self.sizes[i] for i in order]
        of_one_dtype = all(o.weak or o.dtype == self.node.dtype for o in self.node.operands)
        for other in (*others, *factors):
            out = f", out={buffer}" if buffer else ""
            negates = of_one_dtype and other == self.writer.number(-1.0)
            code = f"np.negative({made}{out})" if negates else f"np.multiply({made}, {other}{out})"
            made = self.writer.assign(code, shape=shape)
            buffer = buffer or (made if self.writer.is_let_go(shape) else None)
        return Labelled(made, order, True)

    def _size(self, labels: Sequence[int]) -> float:
        return extent([self.sizes[i] for i in labels])

    def _simple(self, t: Labelled, kept: set[int]) -> Labelled:
        """Diagonals taken and unit axes dropped."""
        unique = tuple(dict.fromkeys(t.labels))
        if unique != t.labels:
            t = Labelled(self.writer.call("einsum", t.code, letters=self._spelled([t.labels], unique)), unique)
        units = [k for k, i in enumerate(t.labels) if self.sizes[i] == 1 and i not in kept]
        if units:
            index = ", ".join("0" if k in units else ":" for k in range(len(t.labels)))
            t = Labelled(f"{t.code}[{index}]", tuple(i for k, i in enumerate(t.labels) if k not in units))
        return t

    def _reduced(self, t: Labelled, needed: set[int]) -> Labelled:
        axes = tuple(k for k, i in enumerate(t.labels) if i not in needed)
        if not axes:
            return t
        kept = tuple(i for i in t.labels if i in needed)
        return self._made(self.writer.reduced("sum", t.code, axes if kept else None), kept)

    def _bound(self, t: Labelled) -> Labelled:
        """A computed term under a name."""
        if not t.fresh or t.code.isidentifier():
            return t
        return Labelled(self.writer.assign(t.code, shape=[self.sizes[i] for i in t.labels]), t.labels, True)

    def _grouped(self, t: Labelled, *groups: list) -> str:
        """``t`` as a stack of matrices: its first group of axes, and the others each as one axis."""
        first, left, right = groups
        code = self._arranged(t, (*first, *left, *right))
        if len(left) == len(right) == 1:
            return code
        grouped = [*[self._extent([i]) for i in first], self._extent(left), self._extent(right)]
        return f"{code}.reshape(({', '.join(grouped)}))"

    def _extent(self, labels: Sequence[int]) -> str:
        """The number of elements of some axes."""
        sizes = [self.sizes[i] for i in labels]
        if all(type(s) is int for s in sizes):
            return str(math.prod(sizes))
        return " * ".join(map(self.writer.dim, sizes))

    def _shape(self, labels: Sequence[int]) -> str:
        return self.writer.shape([self.sizes[i] for i in labels])

    def _arranged(self, t: Labelled, order: Labels) -> str:
        """Source of ``t`` with its axes in ``order``."""
        if t.labels == order:
            return t.code
        axes = tuple([t.labels.index(i) for i in order])
        return f"{t.code}.T" if len(order) == 2 else self.writer.call("transpose", t.code, axes=axes)

    def _aligned(self, t: Labelled, order: Labels) -> str:
        """Source of ``t`` as a view that broadcasts over ``order``."""
        present = tuple(i for i in order if i in t.labels)
        code = self._arranged(t, present)
        if order[len(order) - len(present) :] == present:
            return code
        return code + self._slots(present, order)

    def _slots(self, present: Labels, order: Labels) -> str:
        return f"[{', '.join(':' if i in present else 'None' for i in order)}]" if present else ""

    def _placed(self, t: Labelled, unique: Labels, out: Labels) -> Labelled:
        """``t`` broadcast and put on diagonals, as the output labels say."""
        present = tuple(i for i in unique if i in t.labels)
        if t.labels != present or present != unique or unique != out:
            t = self._bound(t)
        code, fresh = self._arranged(t, present), t.fresh and t.labels == present
        if present != unique:
            code, fresh = code + self._slots(present, unique), False
            if not present or any(self.sizes[i] != 1 for i in unique if i not in present):
                code = self.writer.call("broadcast", code, shape=self._shape(unique))
        if unique == out:
            return Labelled(code, out, fresh)
        if self._readable and len(unique) == 1 and len(out) == 2:
            return Labelled(f"{self.writer.dialect.library}.diag({code})", out, True)
        letters = self._spelled([out], unique)
        return Labelled(self.writer.call("diagonal", code, shape=self._shape(out), letters=letters), out, True)

    def _spelled(self, labels: Sequence[Labels], out: Sequence[int]) -> str:
        """Labels as einsum letters."""
        return ",".join(map(self.writer.letters, labels)) + "->" + self.writer.letters(out)
