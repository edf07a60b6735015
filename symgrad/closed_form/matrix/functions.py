"""Elementwise functions and powers of sums, and the compositions that have names: σ, softmax, logsumexp.

Powers are part of the algebra, so that ``x · 1/x`` cancels; what is not a power is a base whose argument is a sum
in canonical form.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy

from ...primitives.elementwise import ELEMENTWISE, SLOTS
from .algebra import Algebra
from .terms import Factor, Labels, NotExpressible, Poly, Term, content, not_negative


def power(algebra: Algebra, poly: Poly, exponent: Fraction) -> Poly:
    """``poly`` to a power, elementwise."""
    if exponent == 1:
        return poly
    if exponent == 0:
        return algebra.constant(1, poly.dims)
    number = poly.number
    if number is not None:
        return algebra.constant(_number_power(number, exponent), poly.dims)
    if exponent < 0 and any(map(_is_sparse, poly.terms)):
        raise NotExpressible  # infinite off the diagonal
    scale = content(poly)
    if exponent.denominator != 1 and not scale.is_positive:  # no root of a sign
        scale = -scale if (-scale).is_positive else sympy.Integer(1)
    inner = algebra.times(poly, 1 / scale)
    ((term, coefficient), *others) = inner.terms.items()
    if others or coefficient != 1:
        made = algebra.written(_group_power(algebra, inner, exponent), poly, scale)
    else:
        made = _term_power(algebra, poly.dims, term, exponent)
    return algebra.times(made, _number_power(scale, exponent))


def _is_sparse(term: Term) -> bool:
    return len(set(term.out)) < len(term.out) or any(f.base.kind == "unit" for f in term.factors)


def _term_power(algebra: Algebra, dims: tuple, term: Term, exponent: Fraction) -> Poly:
    """A product to a power: factors on the output axes each, where their sign allows it, the rest as a whole."""
    free = set(term.out)
    sharp = exponent.denominator == 1
    outside, inside = [], []
    for f in term.factors:
        if set(f.labels) <= free and (sharp or not_negative(Factor(f.base, Fraction(1), f.labels))):
            outside.append(Factor(f.base, f.power * exponent, f.labels))
        elif set(f.labels) <= free and not_negative(f):  # (x²)^½ is |x|
            absolute = _absolute(algebra, f)
            outside.append(Factor(absolute.base, f.power * exponent, absolute.labels))
        else:
            inside.append(f)
    if len(inside) == 1 and set(inside[0].labels) <= free and inside[0].power.numerator == 1:
        outside.append(Factor(inside[0].base, inside[0].power * exponent, inside[0].labels))
    elif inside:
        held = tuple(i for i in dict.fromkeys(term.out) if any(i in f.labels for f in inside))
        whole = algebra.summed(inside, held)
        outside.append(Factor(whole.base, exponent, held))
    return algebra.collected(dims, [(sympy.Integer(1), term.out, outside)])


def _absolute(algebra: Algebra, factor: Factor) -> Factor:
    """``|x|`` where the factor is a power of ``x``."""
    plain = algebra.power_of(factor.base, Fraction(1))
    made = algebra.factor("function", "absolute", [plain], factor.base.dims)
    return made._replace(labels=tuple(factor.labels[k] for k in made.labels))


def _group_power(algebra: Algebra, poly: Poly, exponent: Fraction) -> Poly:
    """A sum with content one to a power; ``(1 + exp(u))⁻¹`` is ``σ(−u)``."""
    if exponent < 0 and exponent.denominator == 1:
        inner = _logit(algebra, poly)
        if inner is not None:
            return power(algebra, function(algebra, "sigmoid", [inner]), -exponent)
    return algebra.array("group", None, [poly], poly.dims, exponent)


def bracketed(algebra: Algebra, poly: Poly) -> Poly:
    """A sum as one base, its content in front."""
    if poly.single is not None or not poly.terms:
        return poly
    scale = content(poly)
    group = algebra.array("group", None, [algebra.times(poly, 1 / scale)], poly.dims)
    return algebra.times(algebra.written(group, poly, scale), scale)


def _logit(algebra: Algebra, poly: Poly) -> Poly | None:
    """``−u`` where ``poly`` is ``1 + exp(u)``."""
    if len(poly.terms) != 2 or any(c != 1 for c in poly.terms.values()):
        return None
    one, other = sorted(poly.terms, key=lambda t: len(t.factors))
    if one.factors or len(set(one.out)) < len(one.out) or len(other.factors) != 1:
        return None
    (f,) = other.factors
    if f.base.kind != "function" or f.base.data != "exp" or not set(f.labels) <= set(other.out):
        return None
    labels = tuple(range(len(poly.dims)))
    (argument,) = f.base.args
    sizes = dict(zip(labels, poly.dims, strict=True))
    wide = algebra.contract([(argument, tuple(other.out.index(i) for i in f.labels))], labels, sizes)
    return algebra.times(wide, -sympy.Rational(f.power))


def function(algebra: Algebra, name: str, args: Sequence[Poly]) -> Poly:
    """The function called ``name`` of sums over the same axes, under the name people use."""
    dims = args[0].dims
    first = args[0]
    name = "sigmoid" if name == "expit" else name
    if (value := _known(name, args)) is not None:
        return algebra.constant(value, dims)
    if name == "exp":
        return _exponential(algebra, first)
    if name == "log":
        return _logarithm(algebra, first)
    if name in ("log1p", "expm1"):
        one = algebra.constant(1, dims)
        if name == "log1p":
            return function(algebra, "log", [algebra.add([one, first])])
        return algebra.add([function(algebra, "exp", [first]), algebra.constant(-1, dims)])
    compared = _compared(algebra, first) if name in ("where", "logical_not") else None
    if compared is not None:
        operation, sides = compared
        if name == "logical_not":
            return algebra.array("function", _OPPOSITE[operation], sides, dims)
        if operation == "equal" and [p.number for p in args[1:]] == [sympy.Rational(1, 2), 1]:
            return algebra.array("function", "tie", sides, dims)  # its share
        if sides[1].number == 0 and _is_positive_part(operation, sides[0], *args[1:]):
            return algebra.array("function", "relu", [sides[0]], dims)
    if name in ("maximum", "fmax") and len(args) == 2:
        zero = [p.number is not None and p.number == 0 for p in args]
        if all(zero):
            return first
        if any(zero):
            return algebra.array("function", "relu", [args[zero.index(False)]], dims)
    sign = _parity(name)
    opposite = [algebra.times(first, -1)] if sign else []
    if sign and algebra.has("function", name, opposite, dims):
        return algebra.times(algebra.array("function", name, opposite, dims), sign)
    if name in ("absolute", "fabs"):
        if all(c.is_nonnegative and all(map(not_negative, t.factors)) for t, c in first.terms.items()):
            return first
        return algebra.array("function", "absolute", [first], dims)
    return algebra.array("function", name, args, dims)


@functools.cache
def _parity(name: str) -> int:
    """-1 for an odd function of one number, 1 for an even one, 0 for others."""
    value = ELEMENTWISE[name].expr if name in ELEMENTWISE else sympy.S.NaN
    if value.free_symbols != {SLOTS[0]} or not isinstance(value, sympy.Expr):
        return 0
    opposite = value.subs(SLOTS[0], -SLOTS[0])
    return 1 if opposite == value else -1 if opposite == -value else 0


def _known(name: str, args: Sequence[Poly]) -> Any | None:
    """The value of a function of numbers, where it is rational: ``tanh(0)``."""
    numbers = [p.number for p in args]
    if name not in ELEMENTWISE or any(x is None or not x.is_Rational for x in numbers):
        return None
    value = ELEMENTWISE[name].expr.subs(dict(zip(SLOTS, numbers, strict=False)))
    return value if value.is_Rational else None


#: a comparison, and what holds of real numbers where it does not
_OPPOSITE = {
    "less": "greater_equal",
    "greater": "less_equal",
    "less_equal": "greater",
    "greater_equal": "less",
    "equal": "not_equal",
    "not_equal": "equal",
}


def _compared(algebra: Algebra, poly: Poly) -> tuple[str, list[Poly]] | None:
    """The comparison that ``poly`` is, and its sides; None where it is something else."""
    single = poly.single
    if single is None or single[1] != 1 or len(single[0].factors) != 1:
        return None
    (f,), out = single[0].factors, single[0].out
    if f.power != 1 or f.base.kind != "function" or f.base.data not in _OPPOSITE or sorted(f.labels) != sorted(out):
        return None
    return f.base.data, [algebra.relabelled(p, f.labels, out) for p in f.base.args]


def _is_positive_part(operation: str, x: Poly, chosen: Poly, other: Poly) -> bool:
    """Whether ``chosen`` where ``x`` is so to 0, and ``other`` elsewhere, is ``x`` where that is positive, else 0."""
    kept, rest = (chosen, other) if operation.startswith("greater") else (other, chosen)
    return operation not in ("equal", "not_equal") and kept.key == x.key and rest.number == 0


def _exponential(algebra: Algebra, poly: Poly) -> Poly:
    """``exp(c·u)`` as a power of ``exp(u)``, so that exponentials merge."""
    if not poly.terms:
        return algebra.constant(1, poly.dims)
    scale = content(poly)
    root = _root(algebra, algebra.times(poly, -2)) if algebra.has_density else None
    if root is not None:
        density = algebra.array("function", "density", [root], poly.dims)
        return algebra.times(density, sympy.sqrt(2 * sympy.pi))
    if not scale.is_Rational:
        scale = sympy.Integer(-1) if scale.could_extract_minus_sign() else sympy.Integer(1)
    return algebra.array("function", "exp", [algebra.times(poly, 1 / scale)], poly.dims, Fraction(scale.p, scale.q))


def _root(algebra: Algebra, poly: Poly) -> Poly | None:
    """``v`` where ``poly`` is ``v²``, one product."""
    single = poly.single
    if single is None or not single[1].is_positive or not single[0].factors:
        return None
    term, c = single
    if any(
        f.power.denominator != 1 or f.power.numerator % 2 or not set(f.labels) <= set(term.out) for f in term.factors
    ):
        return None
    roots = [f._replace(power=f.power / 2) for f in term.factors]
    signs = [sympy.sign(algebra.units.get(f.base, 1)) ** f.power.numerator for f in roots]
    return algebra.collected(poly.dims, [(sympy.sqrt(c) * sympy.Mul(*signs), term.out, roots)])


def _logarithm(algebra: Algebra, poly: Poly) -> Poly:
    """``log Σ exp(u)`` as logsumexp(u) with what does not vary along the sum taken out; ``log exp(u)`` as u."""
    single = poly.single
    if single and single[1] == 1 and len(single[0].factors) == 1:
        (f,) = single[0].factors
        labels = tuple(range(len(poly.dims)))
        places = tuple(single[0].out.index(i) for i in f.labels) if set(f.labels) <= set(single[0].out) else None
        sizes = dict(zip(labels, poly.dims, strict=True))
        if places is not None and f.base.kind == "function" and f.base.data == "exp":
            wide = algebra.contract([(f.base.args[0], places)], labels, sizes)
            return algebra.times(wide, sympy.Rational(f.power))
        found = summed_exponential(f.base) if f.power == 1 and places is not None else None
        if found is not None and places is not None:
            exponent, axes = found
            argument = algebra.times(exponent.base.args[0], sympy.Rational(exponent.power))
            order = exponent.labels  # of the group's own term: its outputs, then the summed axes
            moving, still = split_by_axes(algebra, argument, axes)
            if moving.terms:
                kept = tuple(i for k, i in enumerate(order) if k not in axes)
                own = algebra.array("logsumexp", axes, [moving], f.base.dims)
                back = tuple(places[i] for i in kept)
                total = algebra.contract([(own, back)], labels, sizes)
                if still is None:
                    return total
                return algebra.add([total, algebra.contract([(still, back)], labels, sizes)])
    return algebra.array("function", "log", [poly], poly.dims)


def summed_exponential(base) -> tuple[Factor, tuple[int, ...]] | None:
    """The exponential that ``base`` is the sum of, and the axes of it that are summed."""
    if base.kind != "group" or base.args[0].single is None:
        return None
    term, coefficient = base.args[0].single
    if coefficient != 1 or len(term.factors) != 1 or len(set(term.out)) < len(term.out):
        return None
    (f,) = term.factors
    if f.base.kind != "function" or f.base.data != "exp" or len(set(f.labels)) < len(f.labels):
        return None
    axes = tuple(k for k, i in enumerate(f.labels) if i not in term.out)
    return (f, axes) if axes and set(term.out) <= set(f.labels) else None


def split_by_axes(algebra: Algebra, poly: Poly, axes: tuple[int, ...]) -> tuple[Poly, Poly | None]:
    """``poly`` in terms that vary along ``axes``, and the rest without those axes (None where there is none)."""
    moving, still = {}, {}
    for term, c in poly.terms.items():
        held = {i for f in term.factors for i in f.labels}
        fixed = all(term.out[k] not in held and term.out.count(term.out[k]) == 1 for k in axes)
        (still if fixed else moving)[term] = c
    if not still:
        return poly, None
    rest: Labels = tuple(k for k in range(len(poly.dims)) if k not in axes)
    raw = [(c, tuple(t.out[k] for k in rest), list(t.factors)) for t, c in still.items()]
    return Poly(poly.dims, moving), algebra.collected([poly.dims[k] for k in rest], raw)


def _number_power(value: Any, exponent: Fraction) -> Any:
    made = value ** sympy.Rational(exponent)
    if not (made.is_real and made.is_finite):
        raise NotExpressible
    return made
