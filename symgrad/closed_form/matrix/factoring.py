"""Sums made shorter: softmax recognised in products, common factors taken out of sums."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import sympy

from .algebra import Algebra
from .functions import bracketed, split_by_axes, summed_exponential
from .terms import Base, Factor, Labels, NotExpressible, Poly, Term, content

_MAX_STEPS = 24
#: letters that the complement of a probability is worth
_COMPLEMENT = 2.0
#: letters that a fraction within a fraction is worth
_NESTED = 4.0


def with_softmax(algebra: Algebra, poly: Poly) -> Poly:
    """``poly`` with ``exp(z)/Σ exp(z)`` as softmax(z), from which shifts along the axis are left out."""
    raw = []
    found = False
    for term, c in poly.terms.items():
        if any(f.power > 0 and _vanishes(algebra, f.base) for f in term.factors):
            found = True
            continue
        factors = list(_opened(term))
        while pair := _exponential_over_sum(factors):
            found = True
            factors = _paired(algebra, factors, *pair)
        raw.append((c, term.out, factors))
    return algebra.collected(poly.dims, raw) if found else poly


def _vanishes(algebra: Algebra, base: Base) -> bool:
    """True for the sum over an axis of a bracket that is 0 when the bracket is opened: ``Σ (x − mean x)``."""
    inner = base.args[0].single if base.kind == "group" else None
    if inner is None or len(inner[0].factors) != 1:
        return False
    (f,) = inner[0].factors
    if f.power != 1 or f.base.kind != "group" or not set(inner[0].out) < set(f.labels):
        return False
    return not algebra.relabelled(f.base.args[0], f.labels, inner[0].out).terms


def _opened(term: Term) -> Iterator[Factor]:
    """The factors, with sums over products in their place."""
    fresh = 1000
    for f in term.factors:
        inner = f.base.args[0].single if f.base.kind == "group" else None
        if inner is None or inner[1] != 1 or f.power.denominator != 1 or not 0 < f.power < 4 or _lone(inner[0]):
            yield f
            continue
        for _ in range(int(f.power)):
            image = dict(zip(inner[0].out, f.labels, strict=True))
            for g in inner[0].factors:
                for i in g.labels:
                    if i not in image:
                        image[i] = fresh
                        fresh += 1
                yield Factor(g.base, g.power, tuple(image[i] for i in g.labels))


def _lone(term: Term) -> bool:
    return len(term.factors) == 1


def _exponential_over_sum(factors: list[Factor]) -> tuple[int, int, int] | None:
    """Places of an exponential and of the power of its sum that divides it, and how often (negative: inverted)."""
    for j, g in enumerate(factors):
        found = summed_exponential(g.base) if g.power.denominator == 1 else None
        if found is None:
            continue
        single = g.base.args[0].single
        assert single is not None
        own, axes = found
        for i, f in enumerate(factors):
            times = f.power / own.power
            if f.base is not own.base or times * g.power >= 0 or abs(times) < 1:
                continue
            kept = [k for k in range(len(own.labels)) if k not in axes]
            if all(g.labels[single[0].out.index(own.labels[k])] == f.labels[k] for k in kept):
                count = min(int(abs(times)), int(abs(g.power)))
                return i, j, count if times > 0 else -count
    return None


def _paired(algebra: Algebra, factors: list[Factor], i: int, j: int, count: int) -> list[Factor]:
    f, g = factors[i], factors[j]
    found = summed_exponential(g.base)
    assert found is not None
    own, axes = found
    argument = algebra.times(f.base.args[0], sympy.Rational(own.power))
    moving, _ = split_by_axes(algebra, argument, axes)
    base = algebra.base("softmax", axes, [moving if moving.terms else argument], f.base.dims)
    made = [
        Factor(f.base, f.power - count * own.power, f.labels),
        Factor(g.base, g.power + count, g.labels),
        Factor(base, Fraction(count), f.labels),
    ]
    return [x for k, x in enumerate(factors) if k not in (i, j)] + [x for x in made if x.power]


def at_places(algebra: Algebra, poly: Poly) -> Poly:
    """``poly`` with what unit vectors multiply at their places: ``p ⊙ e₃`` is ``p₃ e₃``, ``pᵀe₃`` is ``p₃``."""
    raw = []
    found = False
    for term, c in poly.terms.items():
        factors = list(_opened(term))
        units = [f for f in factors if f.base.kind == "unit"]
        if not units:
            raw.append((c, term.out, list(term.factors)))
            continue
        found = True
        places = {f.labels[0]: f.base.data for f in units}
        if all(places[f.labels[0]] == f.base.data for f in units):
            kept = [f for f in units if f.labels[0] in term.out]
            raw.append((c, term.out, [*kept, *(_placed(algebra, f, places) for f in factors if f not in units)]))
    return algebra.collected(poly.dims, raw) if found else poly


def _placed(algebra: Algebra, factor: Factor, places: Mapping[int, Any]) -> Factor:
    """``factor`` with these labels held at places."""
    base, free = factor.base, tuple(i for i in factor.labels if i not in places)
    if len(free) == len(factor.labels):
        return factor
    entries = tuple([places.get(i, (0, d, 1)) for i, d in zip(factor.labels, base.dims, strict=True)])
    dims = [d for i, d in zip(factor.labels, base.dims, strict=True) if i not in places]

    def held(poly: Poly) -> Poly:
        number = poly.number
        return algebra.array("slice", entries, [poly], dims) if number is None else algebra.constant(number, dims)

    if base.kind == "slice":
        rest = iter(entries)
        whole = tuple([_within(e, next(rest)) if isinstance(e, tuple) else e for e in base.data])
        return Factor(algebra.base("slice", whole, base.args, dims), factor.power, free)
    if base.kind == "function" and base not in algebra.guarded:  # elementwise
        return Factor(algebra.base("function", base.data, [held(p) for p in base.args], dims), factor.power, free)
    return Factor(algebra.base("slice", entries, [algebra.power_of(base, Fraction(1))], dims), factor.power, free)


def _within(run: tuple, entry: Any) -> Any:
    """What a place of a run of elements is in the whole; the run itself for all of it."""
    start, _, step = run
    return run if isinstance(entry, tuple) else start + entry * step


def factored(algebra: Algebra, poly: Poly) -> Poly:
    """``poly`` with common factors in front of brackets, as long as that makes it shorter."""
    for _ in range(_MAX_STEPS):
        if len(poly.terms) < 2:
            return poly
        best = poly
        for signature in _shared(poly):
            try:
                made = _taken_out(algebra, poly, signature)
            except NotExpressible:
                continue
            if made.cost < best.cost + _bonus(poly, made, signature):
                best = made
        if best is poly:
            return poly
        poly = best
    return poly


Signature = tuple[Any, Labels, bool]


def _signature(term: Term, factor: Factor) -> Signature | None:
    """What makes a factor the same in two terms: base, the output places of its axes (−1: summed), sign of power."""
    if len(set(factor.labels)) < len(factor.labels):
        return None
    if any(term.out.count(i) > 1 for i in factor.labels):
        return None
    places = tuple(term.out.index(i) if i in term.out else -1 for i in factor.labels)
    if factor.base.symmetric:
        places = tuple(sorted(places))
    return factor.base, places, factor.power > 0


def _shared(poly: Poly) -> list[Signature]:
    count: dict[Signature, int] = {}
    for term in poly.terms:
        for s in {_signature(term, f) for f in term.factors} - {None}:
            count[s] = count.get(s, 0) + 1  # type: ignore[index]
    return sorted((s for s, k in count.items() if k > 1), key=lambda s: (s[0].serial, s[1], s[2]))


def _bonus(poly: Poly, made: Poly, signature: Signature) -> float:
    """How much longer a sum may be for a factor in front of it.

    A denominator that all terms have goes below a line of its own, even where that is no shorter. Where a letter would
    be left below a line above it, the sum has to become much shorter. ``p − p²`` is ``p (1 − p)`` of probabilities.
    """
    base, places, is_above = signature
    powers = {f.power for term in poly.terms for f in term.factors if _signature(term, f) == signature}
    is_probability = base.kind == "function" and base.data in ("sigmoid", "ndtr")
    if is_probability and powers == {1, 2} and all(len(term.factors) == 1 for term in poly.terms):
        return _COMPLEMENT
    if places or is_above:
        return -0.05
    return -_NESTED if len(powers) > 1 and not base.args else 1.1 if len(made.terms) == 1 else -0.05


def _taken_out(algebra: Algebra, poly: Poly, signature: Signature) -> Poly:
    """``F·a + F·b + c`` as ``F·(a + b) + c``."""
    base, places, positive = signature
    having = []
    for term, c in poly.terms.items():
        own = [f for f in term.factors if _signature(term, f) == signature]
        if own:
            having.append((term, c, own[0]))
    least = min((abs(f.power) for _, _, f in having), default=Fraction(1))
    taken = least if positive else -least
    rests = []
    for term, c, f in having:
        rest = list(term.factors)
        rest.remove(f)
        if f.power != taken:
            rest.append(Factor(base, f.power - taken, f.labels))
        axes = f.labels
        if base.symmetric and len(axes) == 2:
            axes = tuple(sorted(axes, key=lambda i: term.out.index(i) if i in term.out else -1))
        rests.append((term, c, axes, rest))
    kept = [
        p
        for p in range(len(poly.dims))
        if p not in places or any(t.out[p] in f.labels for t, _, _, rest in rests for f in rest)
    ]
    inner = [k for k, p in enumerate(places) if p < 0]
    if len(kept) + len(inner) > 2 and places:
        raise NotExpressible
    dims = [poly.dims[p] for p in kept] + [base.dims[k] for k in inner]
    whole = algebra.collected(
        dims, [(c, (*(t.out[p] for p in kept), *(axes[k] for k in inner)), rest) for t, c, axes, rest in rests]
    )
    whole = bracketed(algebra, whole)
    count = len(poly.dims)
    labels = tuple(p if p >= 0 else count + k for k, p in enumerate(places))
    sizes = dict(enumerate(poly.dims)) | {count + k: base.dims[k] for k in inner}
    lead = algebra.power_of(base, taken)
    product = algebra.contract(
        [(lead, labels), (whole, (*kept, *(count + k for k in inner)))], tuple(range(count)), sizes
    )
    others = {t: c for t, c in poly.terms.items() if not any(t is h for h, _, _ in having)}
    return algebra.add([product, Poly(poly.dims, others)])


#: numbers in a sum that no fraction is taken out of it for
_LARGE = 60


def common_number(poly: Poly) -> tuple[Any, Poly]:
    """The number in front of a sum, and the sum without it.

    There is no fraction in front of what has whole numbers in it, or would have large ones.
    """
    if len(poly.terms) < 2:
        return sympy.Integer(1), poly
    scale, numbers = content(poly), list(poly.terms.values())
    if scale.is_Rational and scale.q != 1 and (any(c.is_Integer or abs(c / scale) > _LARGE for c in numbers)):
        scale = sympy.Integer(-1 if scale.is_negative else 1)
    if scale.is_negative and not all(c.could_extract_minus_sign() for c in numbers):
        scale = -scale
    return scale, Poly(poly.dims, {t: sympy.cancel(c / scale) for t, c in poly.terms.items()})
