"""Contractions as NumPy source: views, sums, elementwise products and BLAS calls.

A contraction of many operands is ordered by opt_einsum; each pair becomes a broadcast product where
nothing is summed, a matrix product where something is, and ``np.einsum`` only where neither fits.
"""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..passes.grams import halves
from ..primitives.contraction import Labels
from ..primitives.order import pairwise_order


def subscripts(labels: Sequence[int]) -> str:
    """Labels as ``np.einsum`` letters."""
    return "".join(string.ascii_letters[i] for i in labels)


@dataclass(frozen=True)
class Term:
    """A piece of source with the labels of its axes; ``scalar`` for a Python or 0-d scalar."""

    code: str
    labels: Labels
    fresh: bool = False

    @property
    def scalar(self) -> bool:
        return not self.labels


_MINUS_ONE = "(-1.0)"
Assign = Callable[[str], str]  # binds an expression to a new name
Dims = Callable[[Any], str]  # spells a dim
Library = Callable[[float, float, float], str]  # whose functions multiply so many rows, columns and summed elements


def product_sizes(first: Iterable[int], second: Iterable[int], kept: Iterable[int], sizes: Sequence) -> tuple:
    """How many products the contraction of two arrays is, and of each the rows, the columns, the summed elements."""
    a, b = set(first), set(second)
    shared = a & b
    parts = shared.intersection(kept), a - shared, b - shared, shared.difference(kept)
    return tuple([math.prod([sizes[i] for i in part]) for part in parts])


class Contraction:
    """Writes one einsum node."""

    def __init__(self, sizes: tuple, assign: Assign, dim: Dims, library: Library) -> None:
        self.sizes = sizes
        self.assign = assign
        self.dim = dim
        self.library = library

    def write(self, names: Sequence[str], labels: Sequence[Labels], out: Labels) -> Term:
        """The result as a Term whose labels are ``out``; not fresh where it may be a view."""
        unique = tuple(dict.fromkeys(out))
        terms = [self._simple(Term(n, ls), set(out)) for n, ls in zip(names, labels, strict=True)]
        factor = self._folded([t for t in terms if t.scalar])
        arrays = [t for t in terms if not t.scalar]
        if not arrays:
            return self._place(factor or Term("1.0", ()), out, unique)
        if factor is not None:  # the smallest array takes the factor
            small = min(range(len(arrays)), key=lambda k: self._size(arrays[k].labels))
            if self._size(arrays[small].labels) <= self._size(unique):
                arrays[small] = self._scale(arrays[small], factor)
                factor = None
        result = self._in_order(arrays, unique)[0]
        return self._place(result if factor is None else self._scale(result, factor), out, unique)

    def _size(self, labels: Sequence[int]) -> float:
        return math.prod(float(s) if isinstance(s, int) else 1000.0 for s in (self.sizes[i] for i in labels))

    def _simple(self, t: Term, kept: set[int]) -> Term:
        """Diagonals taken and unit axes dropped."""
        unique = tuple(dict.fromkeys(t.labels))
        if unique != t.labels:
            t = Term(f"np.einsum({subscripts(t.labels) + '->' + subscripts(unique)!r}, {t.code})", unique)
        units = [k for k, i in enumerate(t.labels) if self.sizes[i] == 1 and i not in kept]
        if units:
            index = ", ".join("0" if k in units else ":" for k in range(len(t.labels)))
            t = Term(f"{t.code}[{index}]", tuple(i for k, i in enumerate(t.labels) if k not in units))
        return t

    def _in_order(self, terms: list[Term], out: Labels) -> list[Term]:
        if len(terms) < 2:
            return [self._reduce(t, set(out)) for t in terms]
        found = halves([(t.code, t.labels) for t in terms], out)
        if found is not None:
            half, weights = [terms[k] for k in found.half], [terms[k] for k in found.weights]
            return [self._gram(half, weights, found.rows, found.columns, out[0])]
        for i, j in pairwise_order(tuple([t.labels for t in terms]), out, self.sizes):
            second, first = terms.pop(max(i, j)), terms.pop(min(i, j))
            needed = set(out) | {label for t in terms for label in t.labels}
            terms.append(self._pair(first, second, needed, out if not terms else ()))
        return terms

    def _gram(self, half: list[Term], weights: list[Term], rows: Labels, mirror: Labels, first: int) -> Term:
        """``aᵀ diag(w) a``, of which BLAS computes one triangle."""
        summed = tuple(dict.fromkeys(i for t in (*half, *weights) for i in t.labels if i not in rows))
        a = self._multiplied(half, (*summed, *rows))
        if len(summed) != 1 or len(rows) != 1:
            a = f"{a}.reshape(({self._extent(summed)}, {self._extent(rows)}))"
        a = a if a.isidentifier() else self.assign(a)
        library = self.library(self._size(rows), self._size(rows), self._size(summed))
        if weights:
            w = self._multiplied(weights, summed)
            flat = ".ravel()" if len(summed) > 1 else ""
            code = f"{'' if library == 'np' else library + '.'}gram({a}, {w}{flat})"
        else:
            code = f"{library}.dot({a}.T, {a})"
        code = self.assign(code)
        if len(rows) > 1:
            code = self.assign(f"{code}.reshape({self._shape((*rows, *mirror))})")
        return Term(code, (*mirror, *rows) if mirror[0] == first else (*rows, *mirror), True)  # it is symmetric

    def _multiplied(self, terms: list[Term], order: Labels) -> str:
        """The broadcast product of terms over ``order``."""
        terms = sorted(terms, key=lambda t: self._size(t.labels))
        made = terms[0]
        for t in terms[1:]:
            own = tuple(i for i in order if i in set(made.labels) | set(t.labels))
            made = Term(self.assign(f"np.multiply({self._align(made, own)}, {self._align(t, own)})"), own, True)
        if set(made.labels) == set(order):
            return self._arranged(made, order)
        return f"np.broadcast_to({self._align(made, order)}, {self._shape(order)})"

    def _reduce(self, t: Term, needed: set[int]) -> Term:
        axes = tuple(k for k, i in enumerate(t.labels) if i not in needed)
        if not axes:
            return t
        kept = tuple(i for i in t.labels if i in needed)
        axis = "None" if not kept else str(axes)
        return Term(self.assign(f"np.add.reduce({t.code}, axis={axis})"), kept, True)

    def _pair(self, a: Term, b: Term, needed: set[int], out: Labels) -> Term:
        a = self._reduce(a, needed | set(b.labels))
        b = self._reduce(b, needed | set(a.labels))
        shared = set(a.labels) & set(b.labels)
        summed = [i for i in a.labels if i in shared and i not in needed]
        if not summed:
            order = tuple(i for i in out if i in set(a.labels) | set(b.labels)) or tuple(
                dict.fromkeys(a.labels + b.labels)
            )
            return Term(self.assign(f"np.multiply({self._align(a, order)}, {self._align(b, order)})"), order, True)
        both = [i for i in a.labels if i in shared and i in needed]
        rows = [i for i in a.labels if i not in shared]
        columns = [i for i in b.labels if i not in shared]
        if out and rows and columns and out.index(rows[0]) > out.index(columns[0]):
            a, b, rows, columns = b, a, columns, rows
        if not rows and not columns:
            if both:
                spelled = f"{subscripts(a.labels)},{subscripts(b.labels)}->{subscripts(both)}"
                return Term(self.assign(f"np.einsum({spelled!r}, {a.code}, {b.code})"), tuple(both), True)
            b_code = self._arranged(b, a.labels)
            flat = ".ravel()" if len(a.labels) > 1 else ""
            library = self.library(1, 1, self._size(a.labels))
            return Term(self.assign(f"{library}.dot({a.code}{flat}, {b_code}{flat})"), (), True)
        return self._product(a, b, both, rows, summed, columns)

    def _product(self, a: Term, b: Term, both: list, rows: list, summed: list, columns: list) -> Term:
        library = self.library(self._size(rows), self._size(columns), self._size(summed))
        if not both and len(rows) <= 1 and len(summed) == 1 and len(columns) <= 1:
            left = self._arranged(a, (*rows, *summed))
            right = self._arranged(b, (*summed, *columns))
            return Term(self.assign(f"{library}.dot({left}, {right})"), (*rows, *columns), True)
        left = self._grouped(a, both, rows, summed)
        right = self._grouped(b, both, summed, columns)
        code = f"{library}.matmul({left}, {right})"
        order = (*both, *rows, *columns)
        if len(rows) != 1 or len(columns) != 1:
            code = f"{code}.reshape({self._shape(order)})"
        return Term(self.assign(code), order, True)

    def _grouped(self, t: Term, *groups: list) -> str:
        first, left, right = groups
        code = self._arranged(t, (*first, *left, *right))
        if len(left) == len(right) == 1:
            return code
        grouped = [self._extent([i]) for i in first] + [self._extent(left), self._extent(right)]
        return f"{code}.reshape(({', '.join(grouped)}))"

    def _extent(self, labels: Sequence[int]) -> str:
        return " * ".join(self.dim(self.sizes[i]) for i in labels) or "1"

    def _shape(self, labels: Sequence[int]) -> str:
        return "(" + "".join(self.dim(self.sizes[i]) + ", " for i in labels) + ")"

    def _arranged(self, t: Term, order: Labels) -> str:
        """Source of ``t`` with its axes in ``order``."""
        if t.labels == order:
            return t.code
        if len(order) == 2:
            return f"{t.code}.T"
        return f"{t.code}.transpose({tuple(t.labels.index(i) for i in order)})"

    def _align(self, t: Term, order: Labels) -> str:
        """Source of ``t`` as a view that broadcasts over ``order``."""
        present = tuple(i for i in order if i in t.labels)
        code = self._arranged(t, present)
        if not present or order[len(order) - len(present) :] == present:
            return code
        return f"{code}[{', '.join(':' if i in present else 'None' for i in order)}]"

    def _folded(self, scalars: list[Term]) -> Term | None:
        """The product of the scalars."""
        if not scalars:
            return None
        product = scalars[0]
        for s in scalars[1:]:
            product = Term(self.assign(f"np.multiply({product.code}, {s.code})"), ())
        return product

    def _scale(self, t: Term, factor: Term) -> Term:
        if factor.code == _MINUS_ONE:
            return Term(self.assign(f"np.negative({t.code})"), t.labels, True)
        return Term(self.assign(f"np.multiply({t.code}, {factor.code})"), t.labels, True)

    def _place(self, t: Term, out: Labels, unique: Labels) -> Term:
        """``t`` broadcast and put on diagonals, as the output labels say."""
        present = tuple(i for i in unique if i in t.labels)
        code, fresh = self._arranged(t, present), t.fresh and t.labels == present
        if present != unique:
            slots = f"[{', '.join(':' if i in present else 'None' for i in unique)}]" if present else ""
            code, fresh = f"{code}{slots}", False
            if not present or any(self.sizes[i] != 1 for i in unique if i not in present):
                code = f"np.broadcast_to({code}, {self._shape(unique)})"
        if unique != out:
            spelled = f"{subscripts(out)!r}, {subscripts(unique)!r}"
            code, fresh = f"embed_diagonal({code}, {self._shape(out)}, {spelled})", True
        return Term(code, out, fresh)
