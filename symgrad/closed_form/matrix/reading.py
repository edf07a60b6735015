"""From sums of the tensor algebra to matrix expressions: terms of rank up to two, Kronecker products beyond."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import sympy

from . import expression as ex
from .algebra import Algebra
from .expression import Expression
from .factoring import at_places, common_number, factored, with_softmax
from .graph import TermGraph
from .naming import is_named
from .terms import Base, Factor, NotExpressible, Poly, Term, components

_ONE, _MINUS = sympy.Integer(1), sympy.Integer(-1)


class Reader:
    """Reads sums of one algebra."""

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
        self._read: dict[tuple, Expression] = {}
        self._bases: dict[Base, Expression] = {}
        self._units: dict[Base, Any] = {}
        self._complements: dict[Base, Base] = {}
        self._repeated: set[Base] = set()

    def output(self, poly: Poly, split: int = 0) -> Expression:
        """The expression of an output; of rank above two as a matrix whose rows are the first ``split`` axes."""
        self._pair_sigmoids(poly)
        self._repeated = _repeated(poly)
        return ex.released(self._sum(poly, split))

    def guarded(self, poly: Poly) -> list[Expression]:
        """The scalars and vectors of an output, one over which counts as 0 where they are 0."""
        found = []
        for f in _factors(poly):
            if f.power < 0 and f.base in self.algebra.guarded:
                x = self._base(f.base)
                bare = ex.released(ex.call("norm", x.args, Fraction(1)) if x.op == "norm" else x)
                found += [bare] if bare not in found else []
        return found

    def read(self, poly: Poly) -> Expression:
        """The expression of a sum of rank up to two; recursion is over its nesting, which is bounded."""
        if poly.key not in self._read:
            self._read[poly.key] = self._sum(poly, 0)
        return self._read[poly.key]

    def _sum(self, poly: Poly, split: int, unit: Any = _ONE) -> Expression:
        """A sum, counted in ``unit``."""
        for shortened in (with_softmax, at_places, factored):
            poly = shortened(self.algebra, poly)
        if not poly.terms:
            return _zero(poly.dims, split)
        counted = {t: c * self._scale_of(t) / unit for t, c in poly.terms.items()}
        scale, poly = common_number(Poly(poly.dims, counted))
        mean = _of_mean(poly, lambda term: _ONE)
        scale, poly = scale * mean, Poly(poly.dims, {t: c / mean for t, c in poly.terms.items()})
        read = self._term if len(poly.dims) <= 2 else self._block
        terms = [read(t, c, poly.dims, split) for t, c in poly.terms.items()]
        return ex.scaled(scale, [], [], ex.total(terms))

    # bases

    def _scale_of(self, term: Term) -> Any:
        """What the numbers of the sums in a term come to, which are read without them."""
        return sympy.Mul(*[self._scale(f.base) ** f.power for f in term.factors])

    def _scale(self, base: Base) -> Any:
        """The number that a base is read without."""
        if base.kind == "group":
            return self._unit(base)
        return 1 / self._unit(base) if base.kind == "inverse" else _ONE

    def _unit(self, base: Base) -> Any:
        """What the numbers of a sum are read over: as it was written, or a mean.

        ``n x − 𝟏𝟏ᵀx`` is read as ``x − 1/n · 𝟏𝟏ᵀx``, for that is a mean.
        """
        if base not in self._units:
            unit = self.algebra.units.get(base, _ONE)
            is_mean = abs(unit) == 1 and base.kind == "group"
            self._units[base] = unit * _of_mean(base.args[0], self._scale_of) if is_mean else unit
        return self._units[base]

    def _base(self, base: Base) -> Expression:
        if base not in self._bases:
            self._bases[base] = self._opened(base)
        return self._bases[base]

    def _opened(self, base: Base) -> Expression:
        rank = len(base.dims)
        if rank > 2:
            raise NotExpressible
        rows = base.dims[0] if rank else 1
        columns = base.dims[1] if rank == 2 else 1
        if base.kind == "leaf":
            name, shape = base.data
            lying = rank == 1 and len(shape) > 1 and shape[-1] != 1
            return ex.transpose(ex.leaf(name, 1, rows)) if lying else ex.leaf(name, rows, columns)
        if base in self._complements:
            plain = self._base(self._complements[base])
            return ex.total([_one(rows, columns), ex.scaled(_MINUS, [], [], plain)])
        if base.kind in ("group", "inverse"):
            args = [self._sum(base.args[0], 0, self._unit(base))]
        else:
            args = [self.read(p) for p in base.args]
        if base.kind == "group":
            (made,) = args
            if base in self._repeated and made.op == "sum" and is_named(ex.released(made)):
                return ex.held(made)
        elif base.kind in ("logsumexp", "reduction") and ex.transpose(args[0]).turns < args[0].turns:
            name, axes = base.data if base.kind == "reduction" else ("", base.data)
            data = (name, ex.turned_axes(axes)) if name else ex.turned_axes(axes)
            made = ex.call(base.kind, [ex.transpose(args[0])], data, rows, columns)
        else:
            made = ex.call(base.kind, args, base.data, rows, columns)
        turned = ex.transpose(made)  # twice transposed, it stands the way that needs fewer transposes
        return ex.transpose(turned) if turned.turns < made.turns else made

    def _pair_sigmoids(self, poly: Poly) -> None:
        """``σ(−u)`` is written ``1 − σ(u)`` where ``σ(u)`` occurs too."""
        bases = dict.fromkeys(f.base for f in _factors(poly))
        seen = {b.args[0].key: b for b in bases if b.kind == "function" and b.data == "sigmoid"}
        for base in seen.values():
            opposite = seen.get(self.algebra.times(base.args[0], -1).key)
            if opposite is not None and base not in self._complements and opposite not in self._complements:
                first = next(iter(base.args[0].terms.values()))
                plain, other = (opposite, base) if first.could_extract_minus_sign() else (base, opposite)
                self._complements[other] = plain

    # terms

    def _scalars(self, factors: Sequence[Factor]) -> tuple[list[Expression], list[Expression], list[Factor]]:
        """Scalar factors above and below the line, and the others."""
        top = [ex.power(self._base(f.base), f.power) for f in factors if not f.labels and f.power > 0]
        bottom = [ex.power(self._base(f.base), -f.power) for f in factors if not f.labels and f.power < 0]
        return top, bottom, [f for f in factors if f.labels]

    def _graph(self, factors: Sequence[Factor], out: Sequence[int]) -> TermGraph:
        arrays = []
        for f in factors:
            if len(f.labels) > 2:
                raise NotExpressible
            arrays.append((ex.power(self._base(f.base), f.power), f.labels))
        return TermGraph(arrays, out)

    def _term(self, term: Term, coefficient: Any, dims: Sequence, split: int) -> Expression:
        top, bottom, factors = self._scalars(term.factors)
        if term.out:
            body = self._array(term.out, factors, dims)
        else:
            top += [self._graph(part, ()).scalar() for part in components(factors)]
            body = ex.number(1)
        return ex.scaled(coefficient, top, bottom, body)

    def _array(self, out: Sequence[int], factors: Sequence[Factor], dims: Sequence) -> Expression:
        graph = self._graph(factors, out)
        graph.reduce()
        if len(out) == 1:
            return graph.vector(out[0], dims[0])
        if out[0] == out[1]:
            return ex.diag(graph.vector(out[0], dims[0]))
        return graph.between(out[0], out[1], dims)

    # terms of rank three and four

    def _block(self, term: Term, coefficient: Any, dims: Sequence, split: int) -> Expression:
        """``A ⊗ B``, with the commutation matrix, an outer product of vec's, or one of these scaled elementwise."""
        if len(dims) > 4 or not 1 <= split <= 2 or len(dims) - split > 2:
            raise NotExpressible
        top, bottom, factors = self._scalars(term.factors)
        if len(factors) == 1 and factors[0].labels == term.out and factors[0].base.kind == "group":
            inside = self._sum(factors[0].base.args[0], split, self._unit(factors[0].base))
            return ex.scaled(coefficient, top, bottom, ex.power(inside, factors[0].power))
        body = self._paired(term.out, factors, dims, split)
        if body is None:  # a factor on both axes of the rows, or of the columns, scales them
            rows, columns = set(term.out[:split]), set(term.out[split:])
            before = [f for f in factors if len(rows) == 2 and set(f.labels) == rows]
            after = [f for f in factors if len(columns) == 2 and set(f.labels) == columns and f not in before]
            rest = [f for f in factors if f not in before and f not in after]
            body = self._paired(term.out, rest, dims, split)
            if body is None:
                raise NotExpressible
            left = [ex.diag(ex.vec(self._array(term.out[:split], before, dims[:split])))] if before else []
            right = [ex.diag(ex.vec(self._array(term.out[split:], after, dims[split:])))] if after else []
            body = ex.product([*left, body, *right])
        return ex.scaled(coefficient, top, bottom, body)

    def _paired(self, out: Sequence[int], factors: Sequence[Factor], dims: Sequence, split: int) -> Expression | None:
        parts = [{i for f in part for i in f.labels} for part in components(factors)]
        links = [{p for p, i in enumerate(out) if i in labels} for labels in parts]
        links += [{p for p, i in enumerate(out) if i == j} for j in set(out)]

        def block(places: Sequence[int]) -> Expression:
            """The product of what touches these axes, as a matrix of rows and columns."""
            labels = [out[p] for p in places]
            own = [f for k, part in enumerate(components(factors)) if parts[k] & set(labels) for f in part]
            made = self._array(labels, own, [dims[p] for p in places])
            return ex.transpose(made) if len(places) == 1 and places[0] >= split else made

        for first, second, kind in _pairings(split, len(dims) - split):
            if not all(link <= set(first) or link <= set(second) for link in links):
                continue
            a, b = block(first), block(second)
            if kind == "outer":
                return ex.product([_column(a), ex.transpose(_column(b))])
            made = ex.kron(a, b)
            if a.op == b.op == "identity":
                made = ex.identity(a.rows * b.rows)
            turn = (
                ex.call("commutation", (), (dims[2], dims[3]), dims[2] * dims[3], dims[2] * dims[3]) if kind else None
            )
            return ex.product([made, turn]) if turn else made
        return None


def _of_mean(poly: Poly, scale_of: Callable[[Term], Any]) -> Any:
    """The number in a sum over which the others are one over so many as are added up; 1 where there is none."""
    numbers = {t: c * scale_of(t) for t, c in poly.terms.items()}
    numbers = {t: -c if c.could_extract_minus_sign() else c for t, c in numbers.items()}
    if any(c.has(sympy.Float) or c.is_infinite for c in numbers.values()):
        return _ONE
    for most in dict.fromkeys(numbers.values()):
        rest = [t for t, c in numbers.items() if c != most]
        if (rest or len(numbers) == 1) and all(_count(t) == sympy.cancel(most / numbers[t]) != 1 for t in rest):
            return most
    return _ONE


def _count(term: Term) -> Any:
    """How many elements are added up in each of a term, where that is no product."""
    added = [(i, d) for f in term.factors for i, d in zip(f.labels, f.base.dims, strict=True) if i not in term.out]
    if len({i for i, _ in added}) < len(added):
        return _ONE
    inner = [f.base.args[0].terms for f in term.factors if f.base.kind == "group"]
    return sympy.Mul(*[d for _, d in added], *[_count(t) for terms in inner if len(terms) == 1 for t in terms])


def _factors(poly: Poly) -> Iterator[Factor]:
    """The factors that a sum is made of, inside and out, each of a base once a power."""
    pending, met = [poly], set()
    while pending:
        for f in [f for t in pending.pop().terms for f in t.factors]:
            if (f.base, f.power) not in met:
                met.add((f.base, f.power))
                pending += f.base.args
                yield f


def _repeated(poly: Poly) -> set[Base]:
    """The sums in brackets that stand in several places."""
    pending, polys, count = [poly], {poly.key}, Counter[Base]()
    while pending:
        for f in [f for t in pending.pop().terms for f in t.factors]:
            count[f.base] += 1
            new = [p for p in f.base.args if p.key not in polys]
            polys |= {p.key for p in new}
            pending += new
    return {base for base, times in count.items() if times > 1 and base.kind == "group"}


def _pairings(rows: int, columns: int) -> list[tuple[tuple[int, ...], tuple[int, ...], str]]:
    """Axes of the two factors of a product, and its kind: Kronecker, with ``turn``ed input, or ``outer``."""
    if (rows, columns) == (2, 2):
        return [((0, 2), (1, 3), ""), ((0, 3), (1, 2), "turn"), ((0, 1), (2, 3), "outer")]
    if (rows, columns) == (2, 1):
        return [((0, 2), (1,), ""), ((0,), (1, 2), ""), ((0, 1), (2,), "outer")]
    return [((0, 1), (2,), ""), ((1,), (0, 2), ""), ((0,), (1, 2), "outer")]


def _column(x: Expression) -> Expression:
    if x.columns == 1:
        return x
    return ex.transpose(x) if x.rows == 1 else ex.vec(x)


def _one(rows: Any, columns: Any) -> Expression:
    if rows == 1 and columns == 1:
        return ex.number(1)
    return ex.ones(rows) if columns == 1 else ex.call("all_ones", (), None, rows, columns)


def _zero(dims: Sequence, split: int) -> Expression:
    if len(dims) > 2:
        rows, columns = sympy.prod(dims[:split]), sympy.prod(dims[split:])
    else:
        rows, columns = [*dims, 1, 1][:2]
    return ex.call("zero", (), None, rows, columns)
