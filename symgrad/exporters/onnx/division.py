"""Quotients and remainders as NumPy rounds them, and powers of whole numbers."""

from __future__ import annotations

import numpy as np

from ...errors import UnsupportedOperation
from .accurate import copysign
from .graph import Graph
from .steps import Value


def remainder(g: Graph, a: Value, b: Value) -> Value:
    """With the sign of the divisor; of whole numbers by 0 it is 0."""
    if not a.is_float:
        return _whole(g, a, b, lambda x, y: g.binary("Mod", x, y), g.like(0, a))
    return _divided(g, a, b)[1]


def fmod(g: Graph, a: Value, b: Value) -> Value:
    """With the sign of the dividend."""
    if not a.is_float:
        return _whole(g, a, b, lambda x, y: g.sub(x, g.mul(g.div(x, y), y)), g.like(0, a))
    return g.binary("Mod", a, b, fmod=1)


def floor_divide(g: Graph, a: Value, b: Value) -> Value:
    """Rounded down; of whole numbers by 0 it is 0."""
    if a.is_float:
        return _divided(g, a, b)[0]

    def quotient(x: Value, y: Value) -> Value:
        toward_zero = g.div(x, y)
        rest = g.sub(x, g.mul(toward_zero, y))
        zero = g.like(0, a)
        apart = g.binary("Xor", g.test("Less", rest, zero), g.test("Less", y, zero))
        down = g.both(g.negation(g.test("Equal", rest, zero)), apart)
        return g.sub(toward_zero, g.cast(down, a.dtype))

    return _whole(g, a, b, quotient, g.neg(a))


def _whole(g: Graph, a: Value, b: Value, of, at_minus_one: Value) -> Value:
    """A quotient of whole numbers, never by 0 or -1, which processors trap on."""
    zero = g.like(0, a)
    by_zero, by_minus_one = g.test("Equal", b, zero), g.test("Equal", b, g.like(-1, a))
    safe = g.where(g.either(by_zero, by_minus_one), g.like(1, a), b)
    return g.where(by_zero, zero, g.where(by_minus_one, at_minus_one, of(a, safe)))


def _divided(g: Graph, a: Value, b: Value) -> tuple[Value, Value]:
    """``np.divmod`` of floats, step by step as NumPy takes it."""
    zero, one = g.like(0, a), g.like(1, a)
    rest = g.binary("Mod", a, b, fmod=1)
    none = g.test("Equal", rest, zero)
    apart = g.both(g.negation(none), g.binary("Xor", g.test("Less", b, zero), g.test("Less", rest, zero)))
    quotient = g.sub(g.div(g.sub(a, rest), b), g.cast(apart, a.dtype))
    rest = g.where(none, copysign(g, zero, b), g.where(apart, g.add(rest, b), rest))
    down = g.unary("Floor", quotient)
    down = g.where(g.test("Greater", g.sub(quotient, down), g.like(0.5, a)), g.add(down, one), down)
    plain = g.div(a, b)
    down = g.where(g.test("Equal", quotient, zero), copysign(g, zero, plain), down)
    by_zero = g.test("Equal", b, zero)
    return g.where(by_zero, plain, down), g.where(by_zero, g.like(np.nan, a), rest)


def power(g: Graph, a: Value, b: Value) -> Value:
    """Of whole numbers by repeated squares: onnxruntime takes it through floats, which do not hold all of them."""
    if a.is_float:
        return g.binary("Pow", a, b)
    exponent = g.initializers.get(b.name)
    if exponent is None or exponent.size != 1 or exponent.item() < 0:
        raise UnsupportedOperation(
            "onnx: a power of whole numbers is written for a constant exponent alone; cast the base to float."
        )
    left, square, made = exponent.item(), a, None
    while left:
        if left & 1:
            made = square if made is None else g.mul(made, square)
        left >>= 1
        square = g.mul(square, square) if left else square
    return made if made is not None else g.expand(g.like(1, a), a.shape)
