"""The tensor algebra that forms are simplified in: sums of products of arrays with labelled axes.

A ``Poly`` is a sum of ``Term``s over shared output axes; a term is a product of factors, powers of ``Base``s whose
axes carry labels. A label that is no output label is summed over, an output label that no factor has is a
broadcast, a repeated output label is a diagonal (δ). Axes of size one are left out everywhere. Equal things are
equal objects: bases are interned, terms have a canonical order, so that like terms meet and cancel.

    2 Xᵀ(Xw) over output axis i:   2 · X[k,i] · X[k,j] · w[j]
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any, NamedTuple

import numpy as np
import sympy

from ...primitives.elementwise import ELEMENTWISE
from ...program.dims import Dim

Labels = tuple[int, ...]


class NotExpressible(Exception):
    """What is asked for has no matrix notation, or one too large to read; the caller falls back."""


class Base:
    """An array that is not taken apart: an input, a function's value, an inverse, a sum in brackets.

    ``kind`` and ``data`` say which, ``args`` are the Polys it is made of, ``dims`` the sizes of its axes.
    ``weight`` counts the leaves that writing it out takes, each use of a shared one.
    """

    __slots__ = ("args", "cost", "data", "depth", "dims", "kind", "serial", "symmetric", "weight")

    def __init__(self, kind: str, data: Any, args: tuple[Poly, ...], dims: tuple[Dim, ...], serial: int) -> None:
        self.kind = kind
        self.data = data
        self.args = args
        self.dims = dims
        self.serial = serial
        self.symmetric = False
        self.weight = sum((p.weight for p in args), 1)
        self.depth = 1 + max((p.depth for p in args), default=0)
        own = sum((p.cost for p in args), 0.0)
        self.cost = {"leaf": 1.0, "group": own + (0.5 if own > 1 else 0)}.get(kind, 1.5 + 0.1 * own)

    @property
    def is_indicator(self) -> bool:
        """True for values that are 0 or 1."""
        return self.kind in ("unit", "onehot") or (self.kind == "function" and _is_truth(self.data))


@functools.cache
def _is_truth(name: str) -> bool:
    """True for an operation that says of numbers what is true or false."""
    ufunc = ELEMENTWISE[name].ufunc if name in ELEMENTWISE else None
    return isinstance(ufunc, np.ufunc) and any(types.endswith("d->?") for types in ufunc.types)


class Factor(NamedTuple):
    """A power of a base, with a label for each axis."""

    base: Base
    power: Fraction
    labels: Labels


class Term(NamedTuple):
    """A product over the output labels ``out``; canonical where ``Algebra`` made it."""

    out: Labels
    factors: tuple[Factor, ...]

    @property
    def key(self) -> tuple:
        return tuple((f.base.serial, f.power, f.labels) for f in self.factors), self.out


class Poly:
    """A sum of terms with sympy coefficients over axes of sizes ``dims``."""

    __slots__ = ("cost", "depth", "dims", "key", "terms", "weight")

    def __init__(self, dims: tuple[Dim, ...], terms: dict[Term, Any]) -> None:
        self.dims = dims
        self.terms = dict(sorted(((t, c) for t, c in terms.items() if c != 0), key=lambda item: item[0].key))
        self.key = (dims, tuple((t.key, c) for t, c in self.terms.items()))
        bases = [f.base for t in self.terms for f in t.factors]
        self.weight = sum(b.weight for b in bases) + len(self.terms)
        self.depth = max((b.depth for b in bases), default=0)
        self.cost = sum(term_cost(t, c) for t, c in self.terms.items()) + 0.2 * max(len(self.terms) - 1, 0)

    @property
    def ordering(self) -> list:
        """What sums over the same bases are ordered by."""
        return [t.key for t in self.terms]

    @property
    def single(self) -> tuple[Term, Any] | None:
        """The only term and its coefficient, where there is one."""
        return next(iter(self.terms.items())) if len(self.terms) == 1 else None

    @property
    def number(self) -> Any | None:
        """The coefficient, where this is the same number everywhere."""
        if not self.terms:
            return sympy.Integer(0)
        term, coefficient = next(iter(self.terms.items()))
        plain = len(self.terms) == 1 and not term.factors and len(set(term.out)) == len(term.out)
        return coefficient if plain else None


def term_cost(term: Term, coefficient: Any) -> float:
    """How long a term reads, roughly in letters."""
    touched = {i for f in term.factors for i in f.labels}
    cost = sum(f.base.cost + (0.3 if f.power != 1 else 0) for f in term.factors)
    if not term.factors and len(set(term.out)) == len(term.out):
        return 0.5
    cost += 0.7 * (len(term.out) - len(set(term.out)))
    if touched or term.out:
        cost += 0.7 * len(set(term.out) - touched)
    return cost + (0.5 if abs(coefficient) != 1 or not term.factors else 0)


def components(factors: Sequence[Factor]) -> Iterator[list[Factor]]:
    """The groups of factors that labels connect."""
    left = list(factors)
    while left:
        part, labels = [left.pop(0)], set()
        grown = True
        while grown:
            labels = {i for f in part for i in f.labels}
            near = [f for f in left if labels & set(f.labels)]
            left = [f for f in left if not labels & set(f.labels)]
            part += near
            grown = bool(near)
        yield part


def canonical(out: Labels, factors: Iterable[Factor]) -> Term:
    """The term with labels numbered, and factors ordered, in a way that does not depend on how it was written."""
    factors = list(factors)
    color: dict[int, int] = {}
    for f in factors:
        for i in f.labels:
            color[i] = 0
    for place, i in enumerate(out):
        color[i] = hash((color.get(i, 0), place, 1))
    mine = [0] * len(factors)
    for _ in range(4):
        mine = [hash((f.base.serial, f.power, _seen(f, color))) for f in factors]
        near: dict[int, list] = {i: [] for i in color}
        for f, c in zip(factors, mine, strict=True):
            for axis, i in enumerate(f.labels):
                near[i].append((c, 0 if f.base.symmetric else axis))
        color = {i: hash((color[i], tuple(sorted(near[i])))) for i in color}
    number: dict[int, int] = {}
    for i in out:
        number.setdefault(i, len(number))
    left = sorted(range(len(factors)), key=lambda k: (factors[k].base.serial, factors[k].power, mine[k]))
    order: list[Factor] = []
    while left:  # those that touch numbered labels first, so that numbers follow the chain
        k = min(left, key=lambda k: (min((number.get(i, 99) for i in factors[k].labels), default=-1), left.index(k)))
        left.remove(k)
        f = factors[k]
        axes = sorted(f.labels, key=lambda i: (number.get(i, 99), color[i])) if f.base.symmetric else f.labels
        for i in axes:
            number.setdefault(i, len(number))
        order.append(Factor(f.base, f.power, tuple(number[i] for i in axes)))
    order.sort(key=lambda f: (f.base.serial, f.power, f.labels))
    return Term(tuple(number[i] for i in out), tuple(order))


def _seen(factor: Factor, color: dict[int, int]) -> tuple:
    seen = [color[i] for i in factor.labels]
    return tuple(sorted(seen) if factor.base.symmetric else seen)


def content(poly: Poly) -> Any:
    """What leaves coprime integers, the first positive, when divided out; a sign where ratios are not numbers."""
    coefficients = list(poly.terms.values())
    if not coefficients:
        return sympy.Integer(1)
    first = coefficients[0]
    ratios = [sympy.cancel(c / first) for c in coefficients]
    if not all(r.is_Rational for r in ratios):
        return sympy.Integer(-1) if first.could_extract_minus_sign() else sympy.Integer(1)
    if first.is_Float:
        return first
    shared = sympy.Rational(gcd(*[int(r.p) for r in ratios]), lcm(*[int(r.q) for r in ratios]))
    return first * shared


def not_negative(factor: Factor) -> bool:
    """True where the factor is known to have no negative value."""
    if factor.power.numerator % 2 == 0 and factor.power.denominator == 1:
        return True
    base = factor.base
    if base.kind == "group":
        terms = base.args[0].terms
        return all(c.is_nonnegative and all(map(not_negative, t.factors)) for t, c in terms.items())
    if base.kind == "function":
        return base.data in ("exp", "sigmoid", "absolute", "cosh", "step", "relu") or base.is_indicator
    return base.kind in ("softmax", "unit", "onehot")
