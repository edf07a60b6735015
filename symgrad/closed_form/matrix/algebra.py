"""Algebra: sums are added and multiplied out, brought into canonical form, and equal things kept the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import sympy

from ...program.dims import Dim
from ..symbols import unrounded
from .terms import Base, Factor, Labels, NotExpressible, Poly, Term, canonical, components, content, not_negative

#: terms of a sum, factors of a term: beyond it a form is not worth reading
MAX_TERMS, MAX_FACTORS = 48, 24
#: products brought into canonical form before an attempt is given up; some take a tenth of a millisecond
MAX_WORK = 6000
_ONE = Fraction(1)


class Algebra:
    """Makes bases, terms and sums, and keeps equal ones the same."""

    def __init__(self, has_density: bool = False) -> None:
        """``has_density`` where ``exp(−v²/2)`` is told by the normal density φ(v)."""
        self.has_density = has_density
        self._bases: dict[tuple, Base] = {}
        #: bases whose negative powers count as 0 where the base is 0
        self.guarded: set[Base] = set()
        #: what the numbers of sums are shown over
        self.units: dict[Base, Any] = {}
        self._work = 0

    # making

    def base(self, kind: str, data: Any, args: Sequence[Poly], dims: Sequence[Dim]) -> Base:
        """The base of this kind, interned."""
        key = (kind, data, tuple(p.key for p in args), tuple(dims))
        if key not in self._bases:
            self._bases[key] = Base(kind, data, tuple(args), tuple(dims), len(self._bases))
        return self._bases[key]

    def has(self, kind: str, data: Any, args: Sequence[Poly], dims: Sequence[Dim]) -> bool:
        """Whether this base has been made."""
        return (kind, data, tuple(p.key for p in args), tuple(dims)) in self._bases

    def factor(self, kind: str, data: Any, args: Sequence[Poly], dims: Sequence[Dim]) -> Factor:
        """A base with its axes in order; a matrix of matrices is the same base as its transpose, labels swapped."""
        base = self.base(kind, data, args, dims)
        if len(dims) == 2 and kind in ("function", "group", "inverse") and all(len(p.dims) == 2 for p in args):
            turned = [self.relabelled(p, (1, 0), (0, 1)) for p in args]
            base.symmetric = all(p.key == q.key for p, q in zip(args, turned, strict=True))
            if [p.ordering for p in turned] < [p.ordering for p in args]:
                return Factor(self.base(kind, data, turned, dims[::-1]), _ONE, (1, 0))
        return Factor(base, _ONE, tuple(range(len(dims))))

    def array(self, kind: str, data: Any, args: Sequence[Poly], dims: Sequence[Dim], power: Fraction = _ONE) -> Poly:
        """A power of a base as a sum of one term."""
        factor = self.factor(kind, data, args, dims)._replace(power=power)
        return self.collected(dims, [(sympy.Integer(1), tuple(range(len(dims))), [factor])])

    def written(self, made: Poly, poly: Poly, scale: Any) -> Poly:
        """``made``, a base of ``poly`` over ``scale``, which is shown with the numbers that ``poly`` has at first."""
        single = made.single
        if single is not None and len(single[0].factors) == 1:
            is_fraction = scale.is_Rational and scale.q != 1 and any(c.is_Integer for c in poly.terms.values())
            sign = sympy.Integer(-1 if scale.could_extract_minus_sign() else 1)
            self.units.setdefault(single[0].factors[0].base, 1 / scale if is_fraction else sign)
        return made

    def power_of(self, base: Base, power: Fraction) -> Poly:
        """A power of a base as it is."""
        whole = tuple(range(len(base.dims)))
        return Poly(base.dims, {Term(whole, (Factor(base, power, whole),)): sympy.Integer(1)})

    def constant(self, value: Any, dims: Sequence[Dim] = ()) -> Poly:
        """The same number everywhere."""
        return Poly(tuple(dims), {Term(tuple(range(len(dims))), ()): sympy.sympify(value)})

    def collected(self, dims: Sequence[Dim], raw: Iterable[tuple[Any, Labels, list[Factor]]]) -> Poly:
        """The sum of products that are not in canonical form yet."""
        terms: dict[Term, Any] = {}
        for coefficient, out, factors in raw:
            if coefficient == 0:
                continue
            count, term = self._normal(out, factors)
            terms[term] = terms.get(term, 0) + coefficient * count
            if len(terms) > MAX_TERMS or len(term.factors) > MAX_FACTORS:
                raise NotExpressible
        return Poly(tuple(dims), {t: _tidy(c) for t, c in terms.items()})

    # combining

    def add(self, polys: Sequence[Poly]) -> Poly:
        """The sum."""
        raw = [(c, t.out, list(t.factors)) for p in polys for t, c in p.terms.items()]
        return self.collected(polys[0].dims, raw)

    def times(self, poly: Poly, value: Any) -> Poly:
        """A number times ``poly``."""
        return Poly(poly.dims, {t: _tidy(c * value) for t, c in poly.terms.items()})

    def relabelled(self, poly: Poly, labels: Labels, out: Labels) -> Poly:
        """``poly``, whose axes are called ``labels``, as an array with axes ``out``."""
        sizes = dict(zip(labels, poly.dims, strict=True))
        return self.contract([(poly, labels)], out, sizes)

    def contract(self, operands: Sequence[tuple[Poly, Labels]], out: Labels, sizes: dict[int, Dim]) -> Poly:
        """The einsum of sums, multiplied out; δ's unify labels, a label that nothing holds counts its size."""
        if _count(operands) > 4 * MAX_TERMS:
            raise NotExpressible
        raw = [
            self._multiplied(chosen, [ls for _, ls in operands], out, sizes)
            for chosen in product(*[p.terms.items() for p, _ in operands])
        ]
        return self.collected([sizes[i] for i in out], raw)

    def _multiplied(
        self, chosen: Sequence[tuple[Term, Any]], labels: Sequence[Labels], out: Labels, sizes: dict[int, Dim]
    ) -> tuple[Any, Labels, list[Factor]]:
        parent: dict[int, int] = {i: i for i in sizes}

        def find(i: int) -> int:
            while parent[i] != i:
                i = parent[i]
            return i

        fresh = max(sizes, default=0) + 1
        coefficient: Any = sympy.Integer(1)
        factors: list[Factor] = []
        for (term, c), ls in zip(chosen, labels, strict=True):
            coefficient = coefficient * c
            image: dict[int, int] = {}
            for own, outer in zip(term.out, ls, strict=True):
                if own in image:
                    parent[find(outer)] = find(image[own])
                else:
                    image[own] = outer
            for f in term.factors:
                for i in f.labels:
                    if i not in image:
                        image[i] = parent[fresh] = fresh
                        fresh += 1
                factors.append(Factor(f.base, f.power, tuple(image[i] for i in f.labels)))
        factors = [Factor(f.base, f.power, tuple(map(find, f.labels))) for f in factors]
        out = tuple(map(find, out))
        held = {i for f in factors for i in f.labels} | set(out)
        for i in {find(i) for ls in labels for i in ls} - held:
            coefficient = coefficient * sizes[i]
        return coefficient, out, factors

    # canonical form

    def _normal(self, out: Labels, factors: list[Factor]) -> tuple[Any, Term]:
        """Powers merged, sums over one factor alone and scalars that are contractions made bases of their own.

        The number counts the labels summed over whose factors cancel.
        """
        self._work += 1
        if self._work > MAX_WORK:
            raise NotExpressible
        extent = {i: d for f in factors for i, d in zip(f.labels, f.base.dims, strict=True)}
        count: Any = sympy.Integer(1)
        while True:
            factors = _picked_once(factors, out)
            merged = _unmasked(self._unguarded(_merged(factors)))
            merged = self._sifted(self._complemented(self._stepped(merged)))
            held = {i for f in merged for i in f.labels}
            for i in {i for f in factors for i in f.labels} - held - set(out):
                count = count * extent[i]
            uses = Counter(i for f in merged for i in set(f.labels))
            factors = []
            for f in merged:
                kept = tuple(i for i in dict.fromkeys(f.labels) if i in out or uses[i] > 1)
                if f.base.kind == "onehot" and f.labels[-1] not in (*kept, *f.labels[:-1]):  # each row adds up to 1
                    uses.subtract(f.labels[:-1])
                    count = count * (1 if kept else prod(f.base.dims[:-1]))
                    continue
                factors.append(f if set(kept) == set(f.labels) else self.summed(_summands(f), kept))
            if factors == merged:
                break
        rest = [f for f in factors if not f.labels]
        for part in components([f for f in factors if f.labels]):
            touches = any(i in out for f in part for i in f.labels)
            rest += part if touches else [self.summed(part, ())]
        return count, canonical(out, _merged(rest))

    def _unguarded(self, factors: list[Factor]) -> list[Factor]:
        """``[s > 0]·s⁻¹`` as ``s⁻¹``, remembered to count as 0 where s is 0."""
        kept = []
        for f in factors:
            guard = _guarded_base(f.base)
            near = [g for g in factors if guard and g.base is guard[0] and g.labels == _picked(f.labels, guard[1])]
            if near:
                self.guarded.add(near[0].base)
            else:
                kept.append(f)
        return kept

    def _stepped(self, factors: list[Factor]) -> list[Factor]:
        """``[a ≥ b]`` times the share of a tie as the step of ``a − b``: 1, 1/2 or 0."""
        for tie in factors:
            if tie.base.kind != "function" or tie.base.data != "tie" or tie.power != 1:
                continue
            for wins in factors:
                sign = _order(wins.base, tie.base) if wins.labels == tie.labels else 0
                if not sign:
                    continue
                a, b = tie.base.args
                difference = self.add([self.times(a, sign), self.times(b, -sign)])
                difference = self.times(difference, 1 / abs(content(difference)))
                step = self.factor("function", "step", [difference], a.dims)
                rest = [f for f in factors if f is not tie and f is not wins]
                return self._stepped([*rest, step._replace(labels=_picked(tie.labels, step.labels))])
        return factors

    def _complemented(self, factors: list[Factor]) -> list[Factor]:
        """``exp(−u) σ(u)ⁿ`` as ``σ(u)ⁿ⁻¹ σ(−u)``."""
        for s in [f for f in factors if f.base.kind == "function" and f.base.data == "sigmoid" and f.power >= 1]:
            opposite = self.times(s.base.args[0], -1)
            for e in factors:
                if e.labels != s.labels or e.base.kind != "function" or e.base.data != "exp":
                    continue
                if self.times(e.base.args[0], sympy.Rational(e.power)).key == opposite.key:
                    made = self.factor("function", "sigmoid", [opposite], s.base.dims)
                    rest = [f for f in factors if f is not s and f is not e]
                    left = [s._replace(power=s.power - 1)] if s.power > 1 else []
                    return _merged([*rest, *left, made._replace(labels=_picked(s.labels, made.labels))])
        return factors

    def _sifted(self, factors: list[Factor]) -> list[Factor]:
        """``onehot(y)ᵢⱼ (Σₖ onehot(y)ᵢₖ aᵢₖ)ⁿ`` as ``onehot(y)ᵢⱼ aᵢⱼⁿ``."""
        for one in [f for f in factors if f.base.kind == "onehot"]:
            for f in factors:
                picked = _picked_by(one, f)
                if picked is not None:
                    return _merged([*(g for g in factors if g is not f), *picked])
        return factors

    def summed(self, factors: Sequence[Factor], out: Labels) -> Factor:
        """The product of ``factors``, summed to ``out``, as one factor."""
        extent = {i: d for f in factors for i, d in zip(f.labels, f.base.dims, strict=True)}
        dims = tuple(extent[i] for i in out)
        poly = Poly(dims, {canonical(out, factors): sympy.Integer(1)})
        return Factor(self.base("group", None, (poly,), dims), _ONE, out)


def _count(operands: Sequence[tuple[Poly, Labels]]) -> int:
    count = 1
    for p, _ in operands:
        count *= max(len(p.terms), 1)
    return count


def _merged(factors: Iterable[Factor]) -> list[Factor]:
    powers: dict[tuple[Base, Labels], Fraction] = {}
    for f in factors:
        labels = tuple(sorted(f.labels)) if f.base.symmetric else f.labels
        total = powers.get((f.base, labels), Fraction(0)) + f.power
        powers[f.base, labels] = _ONE if f.base.is_indicator and total > 0 else total
    return [Factor(base, power, labels) for (base, labels), power in powers.items() if power]


def _summands(factor: Factor) -> list[Factor]:
    """What is summed in a factor that is a sum of products, and is summed again; else the factor."""
    single = factor.base.args[0].single if factor.base.kind == "group" and factor.power == 1 else None
    if single is None or single[1] != 1 or len(set(single[0].out)) < len(single[0].out):
        return [factor]
    image = dict(zip(single[0].out, factor.labels, strict=True))
    inner = {i for f in single[0].factors for i in f.labels} - image.keys()
    image |= {i: k for k, i in enumerate(inner, max(factor.labels) + 1)}
    return [_renamed(f, image) for f in single[0].factors]


def _order(base: Base, tie: Base) -> int:
    """1 where ``base`` is ``[a ≥ b]`` of the tie of a and b, -1 where it is ``[a ≤ b]``."""
    if base.kind != "function" or base.data not in ("greater_equal", "less_equal"):
        return 0
    sign = 1 if base.data == "greater_equal" else -1
    keys, own = [p.key for p in base.args], [p.key for p in tie.args]
    return sign if keys == own else -sign if keys == own[::-1] else 0


def _picked_once(factors: list[Factor], out: Labels) -> list[Factor]:
    """``Σₖ onehot(y)ᵢₖ onehot(y)ᵢⱼ aᵢₖ`` as ``onehot(y)ᵢⱼ aᵢⱼ``; where i is summed over, ``MᵀMa`` is shorter."""
    ones: dict[tuple[Base, Labels], int] = {}
    for f in sorted((f for f in factors if f.base.kind == "onehot"), key=lambda f: f.labels[-1] not in out):
        *row, column = f.labels
        kept = ones.setdefault((f.base, tuple(row)), column)
        if kept != column and column not in out and all(i in out for i in row):
            return _picked_once([_renamed(g, {column: kept}) for g in factors], out)
    return factors


def _renamed(factor: Factor, image: Mapping[int, int]) -> Factor:
    return factor._replace(labels=tuple([image.get(i, i) for i in factor.labels]))


def _picked_by(one: Factor, f: Factor) -> list[Factor] | None:
    """The factors that ``f`` is where ``one`` is not 0; None where it does not pick by that."""
    single = f.base.args[0].single if f.base.kind == "group" and f.power.denominator == 1 else None
    if single is None or single[1] != 1 or len(set(single[0].out)) < len(single[0].out):
        return None
    image = dict(zip(single[0].out, f.labels, strict=True))
    for own in single[0].factors:
        if own.base is not one.base:
            continue
        *row, column = own.labels
        if [image.get(i) for i in row] == [*one.labels[:-1]] and column not in image:
            image[column] = one.labels[-1]
            rest = [g for g in single[0].factors if g is not own]
            if all(i in image for g in rest for i in g.labels):
                return [_renamed(g, image)._replace(power=g.power * f.power) for g in rest]
            return None
    return None


def _unmasked(factors: list[Factor]) -> list[Factor]:
    """``c·exp(where(c, x, −∞))`` without the mask ``c``: it is 0 where that is false."""
    masks = [mask for f in factors if f.power > 0 and (mask := _mask(f))]
    return [f for f in factors if not any(_is_truth_of(f, *mask) for mask in masks)] if masks else factors


def _mask(exponential: Factor) -> tuple[Poly, Labels, bool] | None:
    """The ``c`` of ``exp(where(c, x, −∞) + …)``, which labels it has, and whether it is true for ``x``."""
    if exponential.base.kind != "function" or exponential.base.data != "exp":
        return None
    for term, coefficient in exponential.base.args[0].terms.items():
        if not coefficient.is_positive or len(term.factors) != 1:
            continue
        (case,) = term.factors
        if case.base.kind == "function" and case.base.data == "where" and case.power == 1:
            mask, *sides = case.base.args
            infinite = [side.number == -sympy.oo for side in sides]
            if any(infinite):
                outer = dict(zip(term.out, exponential.labels, strict=True))
                return mask, tuple([outer[i] for i in case.labels]), infinite[1]
    return None


def _is_truth_of(factor: Factor, mask: Poly, labels: Labels, holds: bool) -> bool:
    """Whether ``factor`` is ``mask`` at these labels, where it ``holds``, or ``¬mask``."""
    if factor.power != 1:
        return False
    if factor.base.kind == "function" and factor.base.data == "logical_not":
        return not holds and factor.labels == labels and factor.base.args[0].key == mask.key
    single = mask.single
    if not holds or single is None or single[1] != 1 or len(single[0].factors) != 1:
        return False
    (own,) = single[0].factors
    image = dict(zip(single[0].out, labels, strict=True))
    return factor.base is own.base and factor.labels == tuple([image.get(i) for i in own.labels])


def _guarded_base(base: Base) -> tuple[Base, Labels] | None:
    """``s``, and which axes are its own, where ``base`` is ``[s > 0]`` or ``[s ≠ 0]``."""
    if base.kind != "function" or base.data not in ("greater", "not_equal"):
        return None
    single, zero = base.args[0].single, base.args[1].number
    if single is None or zero is None or zero != 0 or len(single[0].factors) != 1 or not single[1].is_positive:
        return None
    (f,) = single[0].factors
    positive = base.data == "not_equal" or not_negative(f)
    if f.power <= 0 or not positive or not set(f.labels) <= set(single[0].out):
        return None
    return f.base, tuple(single[0].out.index(i) for i in f.labels)


def _picked(labels: Labels, places: Labels) -> Labels:
    return tuple(labels[k] for k in places)


def _tidy(coefficient: Any) -> Any:
    if coefficient.is_Float:  # such as the 1 that 0.9 and 0.1 come to
        return unrounded(coefficient)
    return coefficient if coefficient.is_Number else sympy.cancel(coefficient)
