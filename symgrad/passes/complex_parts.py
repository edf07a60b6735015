"""Complex numbers as pairs of real ones, for what computes with real numbers alone: compiled loops, and most formats.

``# z·w -> (a·c − b·d, a·d + b·c)``, and so on for each operation that is known; what is not known keeps its complex
operands, and is taken apart behind it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from ..primitives import functions as f
from ..primitives.casting import CAST, cast
from ..primitives.contraction import EINSUM, GATE, Labels, contract, expand, gate
from ..primitives.elementwise import Elementwise
from ..primitives.identity import STOP
from ..primitives.primitive import CONSTANT, LITERAL, CapturedArray, constant, literal, literal_value
from ..primitives.reduction import CUMSUM
from ..primitives.selection import ASSEMBLE, CONCATENATE, GATHER, SCATTER, SLICE
from ..primitives.shaping import RESHAPE
from ..program.dims import Dim
from ..program.node import Node, emit, emit_again
from ..program.program import Program

#: the real part and the imaginary one, None where that is zero
Pair = tuple[Node, "Node | None"]

#: what moves and adds elements, each part by itself
_MOVES = (SLICE, RESHAPE, ASSEMBLE, CONCATENATE, GATHER, SCATTER, CUMSUM, STOP)
#: what is not continuous where an imaginary part is zero: there the sign of that zero decides
_WITH_CUTS = frozenset(
    (
        *("sqrt", "log", "log2", "log10", "log1p", "power", "arctan2"),
        *("arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh"),
    )
)
#: complex factors of which all products of parts are taken at once
_MAX_FACTORS = 3


def in_parts(program: Program) -> Program:
    """``program`` with complex numbers as two real ones, as far as its operations are known."""
    if not any(n.is_complex for n in program.nodes):
        return program
    with program.graph:
        return _Parted(program).program


class _Parted:
    """What each node has become: a real one another node, a complex one its parts, or one that is no pair."""

    def __init__(self, program: Program) -> None:
        self._is_signed = not _WITH_CUTS.isdisjoint(n.primitive.name for n in program.nodes)
        self._whole: dict[Node, Node] = {}
        self._pairs: dict[Node, Pair] = {}
        for node in program.nodes:
            self._take(node)
        self.program = program.with_outputs([self.whole(o) for o in program.outputs])

    def _take(self, node: Node) -> None:
        rule = _RULES.get(node.primitive if not isinstance(node.primitive, Elementwise) else node.primitive.name)
        if any(o.is_complex for o in node.operands) or (node.is_complex and node.primitive is not CAST):
            made = None if rule is None else rule(node, [self._taken(o, node) for o in node.operands])
            if made is not None and node.is_complex:
                re, im = made
                self._pairs[node] = _wide(re, node), None if im is None else _wide(im, node)
                return
            if made is not None:
                self._whole[node] = cast(_wide(made[0], node), node.dtype)
                return
        elif node.is_complex:  # real numbers become complex
            self._pairs[node] = cast(self.whole(node.operands[0]), _part_dtype(node)), None
            return
        operands = tuple([self.whole(o) for o in node.operands])
        self._whole[node] = node if operands == node.operands else emit_again(node, operands)

    def whole(self, node: Node) -> Node:
        """``node`` as one value."""
        if node not in self._whole:
            re, im = self._pairs[node]
            made = emit(CAST, (re,), (node.dtype,))
            if im is not None and self._is_signed:  # 1j times a negative zero is a positive one
                above = f.add(made, f.multiply(literal(1j), f.absolute(im)))
                made = f.where(f.less(f.copysign(1.0, im), 0), f.conjugate(above), above)
            elif im is not None:
                made = f.add(made, f.multiply(literal(1j), im))
            self._whole[node] = made
        return self._whole[node]

    def _taken(self, operand: Node, node: Node) -> Pair:
        """The parts of an operand; a zero is a number like others where its sign may decide."""
        re, im = self.pair(operand)
        if im is None and self._is_signed and isinstance(node.primitive, Elementwise):
            im = cast(literal(0.0), _part_dtype(node) if node.is_complex else re.dtype)
        elif im is None and self._is_signed and operand.differentiable:
            im = _zeros(re)
        return re, im

    def pair(self, node: Node) -> Pair:
        """The parts of ``node``."""
        if node not in self._pairs:
            made = self._whole[node]
            self._pairs[node] = (f.real(made), f.imag(made)) if node.is_complex else (made, None)
        return self._pairs[node]


def _wide(part: Node, node: Node) -> Node:
    return part if part.shape == node.shape else expand(part, node.shape)


def _zeros(like: Node) -> Node:
    return cast(expand(literal(0.0), like.shape), like.dtype)


def _part_dtype(node: Node) -> np.dtype:
    return np.dtype(f"f{node.dtype.itemsize // 2}")


# arithmetic of pairs; None is a zero that is known


def _plus(a: Node | None, b: Node | None) -> Node | None:
    return a if b is None else b if a is None else f.add(a, b)


def _minus(a: Node | None, b: Node | None) -> Node | None:
    return a if b is None else f.negative(b) if a is None else f.subtract(a, b)


def _times(a: Node | None, b: Node | None) -> Node | None:
    return None if a is None or b is None else f.multiply(a, b)


def _zero_for(x: Node | None, like: Node) -> Node:
    return cast(literal(0.0), like.dtype) if x is None else x


def _product(x: Pair, y: Pair) -> Pair:
    re = _minus(_times(x[0], y[0]), _times(x[1], y[1]))
    assert re is not None
    return re, _plus(_times(x[0], y[1]), _times(x[1], y[0]))


def _quotient(x: Pair, y: Pair) -> Pair:
    if y[1] is None:
        return f.divide(x[0], y[0]), None if x[1] is None else f.divide(x[1], y[0])
    c, d = y[0], y[1]
    is_steep = f.greater(f.absolute(d), f.absolute(c))  # Smith's way, as NumPy divides
    large, small = f.where(is_steep, d, c), f.where(is_steep, c, d)
    ratio = f.where(f.equal(large, 0), 0.0, f.divide(small, large))
    below = f.add(large, f.multiply(small, ratio))
    a, b = x[0], _zero_for(x[1], c)
    first, second = f.where(is_steep, b, a), f.where(is_steep, a, b)
    re = f.divide(f.add(first, f.multiply(second, ratio)), below)
    im = f.divide(f.subtract(second, f.multiply(first, ratio)), below)
    return re, f.where(is_steep, f.negative(im), im)


def _modulus(x: Pair) -> Node:
    return f.absolute(x[0]) if x[1] is None else f.hypot(x[0], x[1])


def _sqrt(x: Pair) -> Pair:
    a, b = x[0], _zero_for(x[1], x[0])
    half = f.sqrt(f.multiply(0.5, f.add(_modulus(x), f.absolute(a))))
    other = f.where(f.equal(half, 0), b, f.divide(b, f.multiply(2, half)))
    is_right = f.greater_equal(a, 0)
    return f.where(is_right, half, f.absolute(other)), f.where(is_right, other, f.copysign(half, b))


def _exp(x: Pair) -> Pair:
    size = f.exp(x[0])
    return (size, None) if x[1] is None else (f.multiply(size, f.cos(x[1])), f.multiply(size, f.sin(x[1])))


def _log(x: Pair) -> Pair:
    return f.log(_modulus(x)), f.arctan2(_zero_for(x[1], x[0]), x[0])


def _trigonometric(x: Pair) -> Pair:
    a, b = x[0], _zero_for(x[1], x[0])
    return f.multiply(f.sin(a), f.cosh(b)), f.multiply(f.cos(a), f.sinh(b))


def _cosine(x: Pair) -> Pair:
    a, b = x[0], _zero_for(x[1], x[0])
    return f.multiply(f.cos(a), f.cosh(b)), f.negative(f.multiply(f.sin(a), f.sinh(b)))


def _turned(x: Pair) -> Pair:
    """``i·z``."""
    return f.negative(_zero_for(x[1], x[0])), x[0]


def _turned_back(x: Pair) -> Pair:
    """``-i·z``."""
    return _zero_for(x[1], x[0]), f.negative(x[0])


def _sign(x: Pair) -> Pair:
    size = _modulus(x)
    is_zero = f.equal(size, 0)
    parts = [None if p is None else f.where(is_zero, 0.0, f.divide(p, size)) for p in x]
    assert parts[0] is not None
    return parts[0], parts[1]


def _power(node: Node, operands: Sequence[Pair]) -> Pair | None:
    """Whole exponents by products, the others not: NumPy's branch cuts are its own."""
    base, exponent = node.operands[0], node.operands[1]
    if not exponent.is_literal or literal_value(exponent) not in range(1, 9) or not base.is_complex:
        return None
    made, square, rest = None, operands[0], int(literal_value(exponent).real)
    while rest:
        if rest & 1:
            made = square if made is None else _product(made, square)
        rest >>= 1
        square = _product(square, square) if rest else square
    return made


def _contraction(node: Node, operands: Sequence[Pair]) -> Pair | None:
    labels, out, sizes, _ = node.params
    re, im = _summed(list(operands), list(labels), out, sizes)
    if re is None:
        return None
    dtype = _part_dtype(node) if node.is_complex else node.dtype
    return cast(re, dtype), None if im is None else cast(im, dtype)


def _summed(
    pairs: list[Pair], labels: list[Labels], out: Labels, sizes: Sequence[Dim]
) -> tuple[Node | None, Node | None]:
    """The sum over which parts are taken of each factor; of many factors two are multiplied before."""
    while sum(im is not None for _, im in pairs) > _MAX_FACTORS:
        first, second = [k for k, (_, im) in enumerate(pairs) if im is not None][:2]
        others = {i for k, ls in enumerate(labels) if k not in (first, second) for i in ls} | set(out)
        own = tuple(dict.fromkeys(i for i in (*labels[first], *labels[second]) if i in others))
        re, im = _summed([pairs[first], pairs[second]], [labels[first], labels[second]], own, sizes)
        assert re is not None
        pairs[first], labels[first] = (re, im), own
        del pairs[second], labels[second]
    parts: list[Node | None] = [None, None]
    for taken in itertools.product(*[(0, 1) if im is not None else (0,) for _, im in pairs]):
        turns = sum(taken)
        factors = [pair[k] for pair, k in zip(pairs, taken, strict=True)]
        made = contract([x for x in factors if x is not None], labels, out, sizes)
        join = _minus if turns % 4 in (2, 3) else _plus
        parts[turns % 2] = join(parts[turns % 2], made)
    return parts[0], parts[1]


def _gated(node: Node, operands: Sequence[Pair]) -> Pair | None:
    m, t = operands
    if node.operands[0].is_complex:
        m, t = (_truth(f.not_equal(m[0], 0), m[1]), None), _product(m, t)
    return gate(m[0], t[0]), None if t[1] is None else gate(m[0], t[1])


def _truth(own: Node, other: Node | None) -> Node:
    return own if other is None else f.logical_or(own, f.not_equal(other, 0))


def _moved(node: Node, operands: Sequence[Pair]) -> Pair:
    """Each part by itself; indices are the same for both."""
    taken = [emit(node.primitive, tuple([x[0] for x in operands]), node.params)]
    if any(x[1] is not None for x in operands):
        others = [
            _zeros(x[0]) if x[1] is None and o.differentiable else x[1] or x[0]
            for x, o in zip(operands, node.operands, strict=True)
        ]
        taken.append(emit(node.primitive, tuple(others), node.params))
    return taken[0], taken[1] if len(taken) > 1 else None


def _chosen(node: Node, operands: Sequence[Pair]) -> Pair | None:
    (c, other), a, b = operands
    if node.operands[0].is_complex:
        c = _truth(f.not_equal(c, 0), other)
    re = f.where(c, a[0], b[0])
    if a[1] is None and b[1] is None:
        return re, None
    return re, f.where(c, _zero_for(a[1], re), _zero_for(b[1], re))


def _equal(node: Node, operands: Sequence[Pair]) -> Pair:
    (a, b), (c, d) = operands
    other = None if b is None and d is None else f.equal(0.0 if b is None else b, 0.0 if d is None else d)
    same = f.equal(a, c)
    return (same if other is None else f.logical_and(same, other)), None


def _either(test: Elementwise, join: Elementwise) -> Callable[[Node, Sequence[Pair]], Pair]:
    def rule(node: Node, operands: Sequence[Pair]) -> Pair:
        ((re, im),) = operands
        return (test(re) if im is None else join(test(re), test(im))), None

    return rule


def _of_one(rule: Callable[[Pair], Pair]) -> Callable[[Node, Sequence[Pair]], Pair]:
    return lambda node, operands: rule(operands[0])


def _constant(node: Node, operands: Sequence[Pair]) -> Pair:
    value = node.params[0].value
    return constant(CapturedArray(np.array(value.real))), constant(CapturedArray(np.array(value.imag)))


def _literal(node: Node, operands: Sequence[Pair]) -> Pair:
    value = literal_value(node)
    return literal(value.real), literal(value.imag) if value.imag else None


_RULES: dict[object, Callable[[Node, Sequence[Pair]], Pair | None]] = {
    CONSTANT: _constant,
    LITERAL: _literal,
    EINSUM: _contraction,
    GATE: _gated,
    CAST: lambda node, x: (
        (cast(x[0][0], _part_dtype(node)), x[0][1] and cast(x[0][1], _part_dtype(node))) if node.is_complex else None
    ),
    **dict.fromkeys(_MOVES, _moved),
    "real": lambda node, x: (x[0][0], None),
    "imag": lambda node, x: (_zeros(x[0][0]) if x[0][1] is None else x[0][1], None),
    "conjugate": _of_one(lambda x: (x[0], None if x[1] is None else f.negative(x[1]))),
    "positive": _of_one(lambda x: x),
    "negative": _of_one(lambda x: (f.negative(x[0]), None if x[1] is None else f.negative(x[1]))),
    "absolute": _of_one(lambda x: (_modulus(x), None)),
    "sign": _of_one(_sign),
    "add": lambda node, x: (f.add(x[0][0], x[1][0]), _plus(x[0][1], x[1][1])),
    "subtract": lambda node, x: (f.subtract(x[0][0], x[1][0]), _minus(x[0][1], x[1][1])),
    "multiply": lambda node, x: _product(*x),
    "divide": lambda node, x: _quotient(*x),
    "square": _of_one(lambda x: _product(x, x)),
    "reciprocal": _of_one(lambda x: _quotient((cast(literal(1.0), x[0].dtype), None), x)),
    "power": _power,
    "sqrt": _of_one(_sqrt),
    "exp": _of_one(_exp),
    "log": _of_one(_log),
    "sin": _of_one(_trigonometric),
    "cos": _of_one(_cosine),
    "sinh": _of_one(lambda x: _turned_back(_trigonometric(_turned(x)))),
    "cosh": _of_one(lambda x: _cosine(_turned(x))),
    "where": _chosen,
    "equal": _equal,
    "not_equal": lambda node, x: (f.logical_not(_equal(node, x)[0]), None),
    "isnan": _either(f.isnan, f.logical_or),
    "isinf": _either(f.isinf, f.logical_or),
    "isfinite": _either(f.isfinite, f.logical_and),
}
