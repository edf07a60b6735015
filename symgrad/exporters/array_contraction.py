"""Contractions as source to read: products by broadcasting, ``@`` where it is a matrix product, else einsum.

More than two operands are multiplied pair by pair, in the order that opt_einsum finds.
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..primitives.order import NAMED, pairwise_order
from ..program.node import Node

if TYPE_CHECKING:
    from .array_source import ArrayWriter

Labels = tuple[int, ...]


@dataclass(frozen=True)
class Term:
    """A piece of source with the labels of its axes; ``fresh`` where nothing else looks into its memory."""

    code: str
    labels: Labels
    fresh: bool = False


class ArrayContraction:
    """Writes one einsum node."""

    def __init__(self, writer: ArrayWriter, node: Node) -> None:
        self.writer = writer
        self.node = node
        self.labels, self.out, self.sizes, _ = node.params

    def write(self) -> tuple[str, bool]:
        """The source, and whether it is memory of its own."""
        unique = tuple(dict.fromkeys(self.out))
        writer, dtype = self.writer, self.node.dtype
        terms, scalars = [], []
        for o, ls in zip(self.node.operands, self.labels, strict=True):
            raw = o.primitive.name in ("literal", "dim")
            term = Term(writer.read(o) if raw else writer.typed(o, dtype), ls)
            (terms if ls else scalars).append(term)
        if not terms:
            return self._of_scalars([t.code for t in scalars], unique)
        terms = [self._simple(t, set(self.out)) for t in terms]
        factors = [t.code for t in scalars] + [t.code for t in terms if not t.labels]
        terms = [t for t in terms if t.labels]
        if not terms:
            return self._of_scalars(factors, unique)
        made = self._contracted(terms, factors, unique)
        return self._placed(made, unique)

    def _of_scalars(self, factors: list[str], unique: Labels) -> tuple[str, bool]:
        code = " * ".join(factors) or "1.0"
        if unique or all(o.weak for o in self.node.operands):
            code = self.writer.filled([self.sizes[i] for i in unique], code, self.node)
        return (code, True) if unique == self.out else self._placed(Term(code, unique, True), unique)

    def _contracted(self, terms: list[Term], factors: list[str], out: Labels) -> Term:
        """The product of all, summed over what is not in ``out``."""
        if {i for t in terms for i in t.labels} <= set(out):
            return self._product(terms, factors, tuple(i for i in out if any(i in t.labels for t in terms)))
        small = min(range(len(terms)), key=lambda k: self._size(terms[k].labels))
        if factors and self._size(terms[small].labels) <= self._size(out):
            terms[small] = self._bound(self._product([terms[small]], factors, terms[small].labels))
            factors = []
        made = self._in_order(terms, out)
        if factors and " @ " in made.code:
            made = Term(f"({made.code})", made.labels, True)
        return self._product([made], factors, made.labels) if factors else made

    def _in_order(self, terms: list[Term], out: Labels) -> Term:
        if len(terms) == 1:
            return self._reduced(terms[0], set(out))
        for i, j in pairwise_order(tuple([t.labels for t in terms]), out, self.sizes):
            second, first = terms.pop(max(i, j)), terms.pop(min(i, j))
            needed = set(out) | {label for t in terms for label in t.labels}
            made = self._pair(first, second, needed, out if not terms else ())
            terms.append(self._bound(made) if terms else made)
        return terms[0]

    def _pair(self, a: Term, b: Term, needed: set[int], out: Labels) -> Term:
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
        if not both and len(rows) <= 1 and len(summed) == 1 and len(columns) <= 1:
            left, right = self.arranged(a, (*rows, *summed)), self.arranged(b, (*summed, *columns))
            return Term(f"{left} @ {right}", (*rows, *columns), True)
        if not both and not rows and not columns:
            return Term(f"{a.code}.reshape(-1) @ {self.arranged(b, a.labels)}.reshape(-1)", (), True)
        code, labels = self.writer.pair(self, a, b, (both, rows, summed, columns))
        return Term(code, labels, True)

    def _product(self, terms: list[Term], factors: list[str], order: Labels) -> Term:
        """Nothing summed: a product by broadcasting, the small operands first."""
        minus = self.writer.number(-1.0)
        negative = factors.count(minus) % 2 == 1
        factors = [f for f in factors if f != minus]
        terms = sorted(terms, key=lambda t: self._size(t.labels))
        if len(terms) + len(factors) == 1 and not negative:
            return terms[0]
        codes = [*factors, *[self._aligned(t, order) for t in terms]]
        return Term(("-" if negative else "") + " * ".join(codes), order, True)

    def _size(self, labels: Sequence[int]) -> int:
        return math.prod(s if isinstance(s, int) else NAMED for s in (self.sizes[i] for i in labels))

    def _simple(self, t: Term, kept: set[int]) -> Term:
        """Diagonals taken and unit axes dropped."""
        unique = tuple(dict.fromkeys(t.labels))
        if unique != t.labels:
            t = Term(self.writer.einsum(self.spelled([t.labels], unique), t.code), unique)
        units = [k for k, i in enumerate(t.labels) if self.sizes[i] == 1 and i not in kept]
        if units:
            index = ", ".join("0" if k in units else ":" for k in range(len(t.labels)))
            t = Term(f"{t.code}[{index}]", tuple(i for k, i in enumerate(t.labels) if k not in units))
        return t

    def _reduced(self, t: Term, needed: set[int]) -> Term:
        axes = tuple(k for k, i in enumerate(t.labels) if i not in needed)
        if not axes:
            return t
        kept = tuple(i for i in t.labels if i in needed)
        return Term(self.writer.sum(t.code, axes if kept else None), kept, True)

    def _bound(self, t: Term) -> Term:
        """A computed term under a name."""
        if not t.fresh or t.code.isidentifier():
            return t
        return Term(self.writer.assign(t.code, shape=[self.sizes[i] for i in t.labels]), t.labels, True)

    def arranged(self, t: Term, order: Labels) -> str:
        """Source of ``t`` with its axes in ``order``."""
        if t.labels == order:
            return t.code
        axes = [t.labels.index(i) for i in order]
        return f"{t.code}.T" if len(order) == 2 else self.writer.permuted(t.code, axes)

    def _aligned(self, t: Term, order: Labels) -> str:
        """Source of ``t`` as a view that broadcasts over ``order``."""
        present = tuple(i for i in order if i in t.labels)
        code = self.arranged(t, present)
        if order[len(order) - len(present) :] == present:
            return code
        return f"{code}[{', '.join(':' if i in present else 'None' for i in order)}]"

    def _placed(self, t: Term, unique: Labels) -> tuple[str, bool]:
        """``t`` broadcast and put on diagonals, as the output labels say."""
        present = tuple(i for i in unique if i in t.labels)
        if t.labels != present or present != unique or unique != self.out:
            t = self._bound(t)
        code, fresh = self.arranged(t, present), t.fresh and t.labels == present
        shape = [self.sizes[i] for i in unique]
        if present != unique:
            code, fresh = f"{code}[{', '.join(':' if i in present else 'None' for i in unique)}]", False
            if any(self.sizes[i] != 1 for i in unique if i not in present):
                code = self.writer.broadcast(code, shape)
        if unique == self.out:
            return code, fresh
        if len(unique) == 1 and len(self.out) == 2:
            return f"{self.writer.library}.diag({code})", True
        spelled = f"{self.letters(self.out)}->{self.letters(unique)}"
        shape = self.writer.shape([self.sizes[i] for i in self.out])
        return self.writer.call("_on_diagonal", code, shape, repr(spelled)), True

    def spelled(self, labels: Sequence[Labels], out: Sequence[int]) -> str:
        """Labels as einsum letters."""
        return ",".join(map(self.letters, labels)) + "->" + self.letters(out)

    def letters(self, labels: Sequence[int]) -> str:
        """Labels as letters, from i on as one writes them."""
        alphabet = "ijklmnopqrstuvwxyzabcdefgh" + string.ascii_uppercase
        return "".join(alphabet[i] for i in labels)

    def extent(self, labels: Sequence[int]) -> Any:
        """The number of elements of some axes."""
        return math.prod((self.sizes[i] for i in labels), start=1)
