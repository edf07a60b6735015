"""Inverses and determinants as bases of the tensor algebra."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import sympy

from ...program.node import Node
from .algebra import Algebra
from .functions import function, power
from .terms import Factor, NotExpressible, Poly, Term, content


def inverse(algebra: Algebra, poly: Poly) -> Poly:
    """``poly⁻¹``; numbers and scalars leave it, the inverse of a diagonal matrix is one, ``(A⁻¹)⁻¹ = A``."""
    if not poly.dims:
        return power(algebra, poly, Fraction(-1))
    if not poly.terms:
        raise NotExpressible
    scale = content(poly)
    inner = algebra.times(poly, 1 / scale)
    if inner.single is not None:
        ((term, coefficient),) = inner.terms.items()
        if term.out[0] == term.out[1] and all(set(f.labels) <= {term.out[0]} for f in term.factors):
            factors = [Factor(f.base, -f.power, f.labels) for f in term.factors]
            made = algebra.collected(poly.dims, [(1 / coefficient, term.out, factors)])
            return algebra.times(made, 1 / scale)
        scalars = [f for f in term.factors if not f.labels]
        rest = [f for f in term.factors if f.labels]
        if len(rest) == 1 and rest[0].base.kind == "inverse" and rest[0].power == 1:
            made = algebra.relabelled(rest[0].base.args[0], rest[0].labels, term.out[::-1])
        else:
            made = _inverted(algebra, Poly(poly.dims, {Term(term.out, tuple(rest)): sympy.Integer(1)}))
        under = algebra.collected((), [(1 / coefficient, (), [Factor(f.base, -f.power, ()) for f in scalars])])
        made = algebra.contract([(under, ()), (made, (0, 1))], (0, 1), dict(enumerate(poly.dims)))
    else:
        made = algebra.written(_inverted(algebra, inner), poly, scale)
    return algebra.times(made, 1 / scale)


def _inverted(algebra: Algebra, poly: Poly) -> Poly:
    return algebra.array("inverse", None, [poly], poly.dims)


def _determinant(algebra: Algebra, kind: str, poly: Poly) -> Poly:
    """A function of a matrix that is the same of its transpose."""
    turned = algebra.relabelled(poly, (1, 0), (0, 1))
    first = min((poly, turned), key=lambda p: p.ordering)
    return algebra.array(kind, None, [first], ())


def _determinant_node(algebra: Algebra, node: Node, polys: Sequence[Poly]) -> Poly:
    (poly,) = polys
    name = node.primitive.name
    if name == "log_determinant":
        if poly.dims:
            return _determinant(algebra, "logdet", poly)
        return function(algebra, "log", [function(algebra, "absolute", [poly])])
    det = _determinant(algebra, "det", poly) if poly.dims else poly
    return det if name == "determinant" else function(algebra, "sign", [det])


def _solve_node(algebra: Algebra, node: Node, polys: Sequence[Poly]) -> Poly:
    """``solve(A, B)`` as ``A⁻¹ B``."""
    a, b = node.operands
    matrix = inverse(algebra, polys[0])
    sizes = {k: d for k, d in ((0, a.shape[0]), (1, a.shape[1]), *enumerate(b.shape[1:], 2)) if d != 1}
    lower = tuple(i for i in (1, *range(2, 1 + b.ndim)) if i in sizes)
    upper = tuple(i for i in (0, *range(2, 1 + b.ndim)) if i in sizes)
    return algebra.contract([(matrix, tuple(i for i in (0, 1) if i in sizes)), (polys[1], lower)], upper, sizes)


#: primitive -> how it is written, for one matrix
LINEAR_ALGEBRA: dict[str, Callable[[Algebra, Node, Sequence[Poly]], Poly]] = {
    "inverse": lambda algebra, node, polys: inverse(algebra, polys[0]),
    "solve": _solve_node,
    "determinant": _determinant_node,
    "log_determinant": _determinant_node,
    "determinant_sign": _determinant_node,
}
