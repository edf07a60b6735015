"""From the nodes of a Program to sums of the tensor algebra.

Three ways of multiplying sums out are tried by the caller: never (``keep``), always (``expand``), or where that
makes a product shorter (``shorter``); cancellation needs the first brackets opened, reading wants the last kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from ...primitives.elementwise import Elementwise
from ...primitives.external import External
from ...primitives.identity import IDENTITIES
from ...program.node import Node
from ...program.program import Program
from .. import symbols
from .algebra import Algebra
from .application import Application
from .functions import bracketed, function, power
from .linear_algebra import LINEAR_ALGEBRA
from .selections import BY_INDEX, matrix_of, picks_of, selected
from .terms import NotExpressible, Poly, Term

#: leaves of a form written out, and nesting, beyond which nobody reads it
MAX_LEAVES, MAX_DEPTH = 3000, 40
WAYS = ("shorter", "keep", "expand")


class Translation:
    """The nodes of one program as sums; ``None`` for a node that has no matrix notation."""

    def __init__(self, program: Program, way: str, algebra: Algebra) -> None:
        self.algebra = algebra
        self._way = way
        self._names = symbols.leaf_names(program)
        self.polys: dict[Node, Poly | None] = {}
        for node in program.nodes:
            operands = [self.polys[o] or self._infinite(o, node) for o in node.operands]
            read = operands[:1] if node.primitive in BY_INDEX else operands
            try:
                poly = None if None in read else self._translated(node, operands)
            except NotExpressible:
                poly = None
            if poly is not None and (poly.weight > MAX_LEAVES or poly.depth > MAX_DEPTH):
                poly = None
            self.polys[node] = poly

    def _translated(self, node: Node, polys: Sequence[Any]) -> Poly:
        name = node.primitive.name
        if node.is_complex or any(o.is_complex for o in node.operands):
            raise NotExpressible  # what holds of real numbers is used freely there
        if node.is_leaf:
            return self._leaf(node, name)
        if name == "einsum":
            return self._einsum(node, polys)
        if name == "gate":
            return self._product(node, polys)
        if name in IDENTITIES:
            return polys[0]
        if name == "cast":
            if node.dtype.kind != "f" and node.operands[0].dtype.kind == "f":
                raise NotExpressible
            return polys[0]
        if isinstance(node.primitive, Elementwise):
            return self._elementwise(node, polys)
        if isinstance(node.primitive, External):
            made = Application(node.primitive, node.params)
            return self.algebra.array("applied", made, polys, wide(node.shape))
        if name in LINEAR_ALGEBRA and node.operands[0].ndim == 2:
            return LINEAR_ALGEBRA[name](self.algebra, node, polys)
        if node.primitive in BY_INDEX:
            picks = picks_of(node)
            indices = [self._index(p.index) for p in picks if p.index is not None]
            return selected(self.algebra, node, polys[0], picks, indices)
        if name in _WHOLE:
            return _WHOLE[name](self, node, polys)
        raise NotExpressible

    def _infinite(self, node: Node, reader: Node) -> Poly | None:
        """An infinity everywhere, where a case has it: what masks do. Nothing else could be computed with it."""
        value = node.params[0] if node.is_literal else node.params[0].value if node.primitive.name == "constant" else 0
        if reader.primitive.name != "where" or not np.size(value) or not np.isinf(np.ravel(value)[0]):
            return None
        if np.any(np.not_equal(value, np.ravel(value)[0])):
            return None
        return self.algebra.constant(symbols.number(np.ravel(value)[0]), wide(node.shape))

    def _index(self, node: Node) -> Poly | None:
        """An index as what it is called; known places too, whatever they are."""
        if node.primitive.name != "constant":
            return self.polys[node]
        return self.algebra.array("leaf", (self._names[node], node.shape), [], wide(node.shape))

    def _leaf(self, node: Node, name: str) -> Poly:
        dims = wide(node.shape)
        if name == "literal":
            return self.algebra.constant(short_number(node.params[0]))
        if name == "dim":
            return self.algebra.constant(node.params[0])
        if name == "constant":
            value = node.params[0].value
            if value.size and value.dtype.kind in "biuf":
                if (value == value.flat[0]).all():
                    return self.algebra.constant(short_number(value.flat[0]), dims)
                if len(dims) == 2 and (value == value.flat[0] * np.eye(*value.shape[-2:])).all():
                    unit = Poly(dims, {Term((0, 0), ()): sympy.Integer(1)})
                    return self.algebra.times(unit, short_number(value.flat[0]))
                if len(dims) == 1 and np.count_nonzero(value) == 1:
                    (place,) = np.flatnonzero(value).tolist()
                    unit = self.algebra.array("unit", place, [], dims)
                    return self.algebra.times(unit, short_number(value.flat[place]))
        return self.algebra.array("leaf", (self._names[node], node.shape), [], dims)

    # products

    def _einsum(self, node: Node, polys: Sequence[Poly]) -> Poly:
        labels, out, sizes, _ = node.params
        extent = {i: d for i, d in enumerate(sizes) if d != 1}
        places = [tuple(i for i in ls if i in extent) for ls in labels]
        return self._contracted(list(zip(polys, places, strict=True)), tuple(i for i in out if i in extent), extent)

    def _product(self, node: Node, polys: Sequence[Poly]) -> Poly:
        operands = [(p, places(o, node)) for p, o in zip(polys, node.operands, strict=True)]
        extent = {i: d for i, d in enumerate(node.shape) if d != 1}
        return self._contracted(operands, tuple(extent), extent)

    def _contracted(self, operands: list, out: tuple[int, ...], sizes: dict[int, Any]) -> Poly:
        algebra = self.algebra
        sums = [k for k, (p, _) in enumerate(operands) if p.single is None and p.terms]
        others = any(p.number is None for k, (p, _) in enumerate(operands) if k not in sums)
        summing = any(i not in out for _, ls in operands for i in ls)
        if not sums or not (others or len(sums) > 1 or summing):
            return algebra.contract(operands, out, sizes)

        def kept() -> Poly:
            closed = [(bracketed(algebra, p) if k in sums else p, ls) for k, (p, ls) in enumerate(operands)]
            return algebra.contract(closed, out, sizes)

        if self._way == "keep":
            return kept()
        if self._way == "expand":
            return algebra.contract(operands, out, sizes)
        short = kept()
        try:
            opened = algebra.contract(operands, out, sizes)
        except NotExpressible:
            return short
        structured = any(_is_structured(operands[k][0]) for k in sums)
        return opened if opened.cost < short.cost + (0.6 if structured else 0) else short

    # elementwise

    def _elementwise(self, node: Node, polys: Sequence[Poly]) -> Poly:
        name, algebra = node.primitive.name, self.algebra
        if name in _ON_BITS and node.dtype.kind != "b":
            raise NotExpressible
        name = _OF_TRUTH.get(name, name)
        if name == "multiply":
            return self._product(node, polys)
        spread = [self._spread(p, o, node) for p, o in zip(polys, node.operands, strict=True)]
        if name == "divide":
            if node.operands[1].dtype.kind != "f" and node.operands[0].dtype.kind != "f" and node.dtype.kind != "f":
                raise NotExpressible
            lower = power(algebra, polys[1], Fraction(-1))
            return self._product(node, [polys[0], lower])
        if name == "add":
            return algebra.add(spread)
        if name == "subtract":
            return algebra.add([spread[0], algebra.times(spread[1], -1)])
        if name in _POWERS:
            if name == "square" and self._way == "expand" and len(node.shape) > 2:
                axes = tuple(i for i, d in enumerate(node.shape) if d != 1)
                return self._contracted([(spread[0], axes)] * 2, axes, {i: node.shape[i] for i in axes})
            return power(algebra, spread[0], _POWERS[name])
        if name == "negative":
            return algebra.times(spread[0], -1)
        if name in ("positive", "conjugate"):
            return spread[0]
        if name in ("power", "float_power"):
            exponent = spread[1].number
            if exponent is not None and exponent.is_Rational:
                return power(algebra, spread[0], Fraction(int(exponent.p), int(exponent.q)))
        if name == "not_equal" and spread[0].key == spread[1].key:  # of a real number it is false
            return algebra.constant(0, wide(node.shape))
        if name == "logical_or" and any(not p.terms for p in spread):
            return next((p for p in spread if p.terms), spread[0])
        return function(algebra, name, spread)

    def _spread(self, poly: Poly, operand: Node, node: Node) -> Poly:
        """``poly`` broadcast to the shape of ``node``."""
        extent = {i: d for i, d in enumerate(node.shape) if d != 1}
        where = places(operand, node)
        if where == tuple(extent):
            return poly
        return self.algebra.contract([(poly, where)], tuple(extent), extent)


def has_density(program: Program) -> bool:
    """Whether something of normal distributions stands in a program: Φ, or the number √(2π)."""
    if any(n.primitive.name in ("ndtr", "log_ndtr") for n in program.nodes):
        return True
    root = sympy.sqrt(2 * sympy.pi)
    numbers = [symbols.number(value) for value in map(_value, program.nodes) if value is not None]
    return any((x * root).is_Rational or (x / root).is_Rational for x in numbers if x.is_number)


def _value(node: Node) -> Any:
    """The number that a node is; None for others."""
    if node.is_literal:
        return node.params[0]
    is_number = node.primitive.name == "constant" and not node.shape and node.dtype.kind == "f"
    return node.params[0].value[()] if is_number else None


def _is_structured(poly: Poly) -> bool:
    """True for a sum with a δ, a broadcast or a number in it."""
    for term in poly.terms:
        held = {i for f in term.factors for i in f.labels}
        if len(set(term.out)) < len(term.out) or set(term.out) - held or not term.factors:
            return True
    return False


def wide(shape: Sequence) -> tuple:
    """The dims that are not one."""
    return tuple(d for d in shape if d != 1)


def places(operand: Node, node: Node) -> tuple[int, ...]:
    """The axes of ``node`` that the wide axes of an operand, broadcast to it, lie on."""
    first = len(node.shape) - len(operand.shape)
    return tuple(first + k for k, d in enumerate(operand.shape) if d != 1)


def short_number(value: Any) -> sympy.Basic:
    """A scalar as sympy reads it: the simple fraction that it rounds to, where there is one."""
    if isinstance(value, (bool, np.bool_)):
        return sympy.Integer(int(value))
    exact = symbols.number(value)
    if isinstance(exact, sympy.Float):
        near = Fraction(float(value)).limit_denominator(1000)
        if float(near) == float(value):
            return sympy.Rational(near.numerator, near.denominator)
    if not exact.is_finite:
        raise NotExpressible
    return exact


#: what operations on bits are of truth values
_OF_TRUTH = {
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "bitwise_xor": "logical_xor",
    "invert": "logical_not",
}
_ON_BITS = (*_OF_TRUTH, "ldexp")
_POWERS = {
    "square": Fraction(2),
    "sqrt": Fraction(1, 2),
    "norm_sqrt": Fraction(1, 2),
    "reciprocal": Fraction(-1),
}


def _axes_of(node: Node, axes: Sequence[int]) -> tuple[int, ...]:
    """Axes of a node's operand among those that are not one."""
    shape = node.operands[0].shape
    kept = [k for k, d in enumerate(shape) if d != 1]
    return tuple(kept.index(k) for k in axes if k in kept)


def _reduction(translation: Translation, node: Node, polys: Sequence[Poly]) -> Poly:
    axes = _axes_of(node, node.params[0])
    if not axes:
        return polys[0]
    number = polys[0].number
    if number is not None and node.primitive.name != "prod":
        return translation.algebra.constant(number, wide(node.shape))
    return translation.algebra.array("reduction", (node.primitive.name, axes), [polys[0]], wide(node.shape))


def _slice(translation: Translation, node: Node, polys: Sequence[Poly]) -> Poly:
    shape = node.operands[0].shape
    spec = [(e, d) for e, d in zip(node.params[0], shape, strict=True) if d != 1]
    if all(e == (0, d, 1) for e, d in spec):
        return polys[0]
    if len(spec) > 2:
        raise NotExpressible
    entries = tuple(e[0] if isinstance(e, tuple) and e[1] == 1 else e for e, _ in spec)
    return translation.algebra.array("slice", entries, [polys[0]], wide(node.shape))


def _assemble(translation: Translation, node: Node, polys: Sequence[Poly]) -> Poly:
    """What fills an axis as it is, and what stands at one place of it times a unit vector."""
    shape, specs = node.params
    algebra, extent = translation.algebra, {i: d for i, d in enumerate(shape) if d != 1}
    made = []
    for poly, spec in zip(polys, specs, strict=True):
        places = {i: e[0] if isinstance(e, tuple) and e[1] == 1 else e for i, e in enumerate(spec) if i in extent}
        filled = tuple(i for i, e in places.items() if e == (0, extent[i], 1))
        if any(isinstance(e, tuple) and i not in filled for i, e in places.items()):
            raise NotExpressible
        units = [(algebra.array("unit", places[i], [], (d,)), (i,)) for i, d in extent.items() if i not in filled]
        made.append(algebra.contract([(poly, filled), *units], tuple(extent), extent))
    return algebra.add(made)


def _reshape(translation: Translation, node: Node, polys: Sequence[Poly]) -> Poly:
    before, after = wide(node.operands[0].shape), wide(node.shape)
    if before == after:
        return polys[0]
    if len(before) == 2 and len(after) == 1:
        return translation.algebra.array("vec", None, [polys[0]], after)
    return matrix_of(polys[0], after)


_WHOLE: dict[str, Callable[[Translation, Node, Sequence[Poly]], Poly]] = {
    "max": _reduction,
    "min": _reduction,
    "prod": _reduction,
    "slice": _slice,
    "assemble": _assemble,
    "reshape": _reshape,
}
