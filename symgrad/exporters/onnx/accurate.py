"""Functions that onnxruntime does not compute in float64, out of those it does, to a few units in the last place.

None of them loses digits by cancellation, and infinities and NaN come out as in NumPy; so do zeros but for their sign,
which onnxruntime's Where does not keep.
"""

from __future__ import annotations

import math

import numpy as np

from .graph import Graph
from .steps import Value

_LN2 = math.log(2.0)
#: from here the square of a number is all that counts beside one
_LARGE = 1e8


def native_in_single(operator: str):
    """A decorator: float32 has the operator, float64 what the function composes."""

    def decorated(composed):
        def written(g: Graph, x: Value) -> Value:
            return g.unary(operator, x) if x.dtype == np.float32 else composed(g, x)

        return written

    return decorated


def expm1(g: Graph, x: Value) -> Value:
    """``(eˣ - 1)·x / log(eˣ)``, whose rounding errors cancel (Kahan)."""
    one = g.like(1, x)
    u = g.unary("Exp", x)
    less = g.sub(u, one)
    made = g.mul(less, g.div(x, g.unary("Log", u)))
    plain = g.either(g.test("Equal", less, g.like(-1, x)), g.test("Equal", u, g.like(math.inf, x)))
    return g.where(g.test("Equal", u, one), x, g.where(plain, less, made))


def log1p(g: Graph, x: Value) -> Value:
    """``log(u) - ((u - 1) - x)/u`` with ``u = 1 + x``: the second term is what rounding took from ``u``."""
    one = g.like(1, x)
    u = g.add(one, x)
    logarithm = g.unary("Log", u)
    lost = g.div(g.sub(g.sub(u, one), x), u)
    plain = g.either(g.test("Equal", u, g.like(0, x)), g.test("Equal", u, g.like(math.inf, x)))
    made = g.where(plain, logarithm, g.sub(logarithm, lost))
    return g.where(g.test("Equal", u, one), x, made)


def odd(g: Graph, x: Value, of_absolute) -> Value:
    """An odd function by its values at ``|x|``."""
    made = of_absolute(g.unary("Abs", x))
    return g.where(g.test("Less", x, g.like(0, x)), g.neg(made), made)


@native_in_single("Sinh")
def sinh(g: Graph, x: Value) -> Value:
    def of_absolute(a: Value) -> Value:
        half, root = g.like(0.5, x), g.unary("Exp", g.mul(g.like(0.5, x), a))
        grown = expm1(g, a)
        small = g.mul(half, g.add(grown, g.div(grown, g.add(grown, g.like(1, x)))))
        return g.where(g.test("Greater", a, g.like(22.0, x)), g.mul(g.mul(half, root), root), small)

    return odd(g, x, of_absolute)


@native_in_single("Cosh")
def cosh(g: Graph, x: Value) -> Value:
    half = g.like(0.5, x)
    root = g.unary("Exp", g.mul(half, g.unary("Abs", x)))
    return g.add(g.mul(g.mul(half, root), root), g.div(g.div(half, root), root))


@native_in_single("Asinh")
def arcsinh(g: Graph, x: Value) -> Value:
    def of_absolute(a: Value) -> Value:
        one, large = g.like(1, x), g.test("Greater", a, g.like(_LARGE, x))
        s = g.where(large, one, g.mul(a, a))
        near = log1p(g, g.add(a, g.div(s, g.add(one, g.unary("Sqrt", g.add(one, s))))))
        return g.where(large, g.add(g.unary("Log", a), g.like(_LN2, x)), near)

    return odd(g, x, of_absolute)


@native_in_single("Acosh")
def arccosh(g: Graph, x: Value) -> Value:
    large = g.test("Greater", x, g.like(_LARGE, x))
    t = g.sub(g.where(large, g.like(1, x), x), g.like(1, x))
    root = g.mul(g.unary("Sqrt", t), g.unary("Sqrt", g.add(t, g.like(2, x))))
    near = log1p(g, g.add(t, root))
    return g.where(large, g.add(g.unary("Log", x), g.like(_LN2, x)), near)


@native_in_single("Atanh")
def arctanh(g: Graph, x: Value) -> Value:
    def of_absolute(a: Value) -> Value:
        return g.mul(g.like(0.5, x), log1p(g, g.div(g.add(a, a), g.sub(g.like(1, x), a))))

    return odd(g, x, of_absolute)


@native_in_single("Tan")
def tan(g: Graph, x: Value) -> Value:
    return g.div(g.unary("Sin", x), g.unary("Cos", x))


def turned(g: Graph, angle: Value, y: Value, x: Value) -> Value:
    """The angle of ``(x, y)`` to all digits from one to float32's.

    Turned back by ``angle`` the point stands at an angle so small that it is its own tangent.
    """
    c, s = g.unary("Cos", angle), g.unary("Sin", angle)
    across = g.sub(g.mul(y, c), g.mul(x, s))
    along = g.add(g.mul(x, c), g.mul(y, s))
    return g.add(angle, g.div(across, along))


def _in_single(g: Graph, x: Value) -> Value:
    """The arctangent to the digits of float32, as ``x`` is."""
    return g.cast(g.unary("Atan", g.cast(x, np.float32)), x.dtype)


@native_in_single("Atan")
def arctan(g: Graph, x: Value) -> Value:
    def of_absolute(a: Value) -> Value:
        one, steep = g.like(1, x), g.test("Greater", a, g.like(1, x))
        return turned(g, _in_single(g, a), g.where(steep, one, a), g.where(steep, g.div(one, a), one))

    return odd(g, x, of_absolute)


def arctan2(g: Graph, y: Value, x: Value) -> Value:
    """The angle in the first octant, then by the signs."""
    if y.dtype == np.float32:
        double = arctan2(g, g.cast(y, np.float64), g.cast(x, np.float64))
        return g.cast(double, np.float32)
    zero, one, infinite = g.like(0, x), g.like(1, x), g.like(math.inf, x)
    up, along = g.unary("Abs", y), g.unary("Abs", x)
    most = g.binary("Max", up, along)
    none, endless = g.test("Equal", most, zero), g.test("Equal", most, infinite)

    def scaled(side: Value, at_origin: Value) -> Value:
        far = g.cast(g.test("Equal", side, infinite), x.dtype)
        return g.where(none, at_origin, g.where(endless, far, g.div(side, most)))

    p, q = scaled(up, zero), scaled(along, one)
    steep = g.test("Greater", p, q)
    octant = _in_single(g, g.div(g.binary("Min", p, q), g.binary("Max", p, q)))
    angle = turned(g, g.where(steep, g.sub(g.like(math.pi / 2, x), octant), octant), p, q)
    angle = g.where(signbit(g, x), g.sub(g.like(math.pi, x), angle), angle)
    angle = g.where(signbit(g, y), g.neg(angle), angle)
    unknown = g.either(g.is_nan(x), g.is_nan(y))
    return g.where(unknown, g.like(math.nan, x), angle)


@native_in_single("Asin")
def arcsin(g: Graph, x: Value) -> Value:
    return odd(g, x, lambda a: arctan2(g, a, _leg(g, a)))


@native_in_single("Acos")
def arccos(g: Graph, x: Value) -> Value:
    return arctan2(g, _leg(g, x), x)


def _leg(g: Graph, x: Value) -> Value:
    """``sqrt(1 - x²)``"""
    one = g.like(1, x)
    return g.unary("Sqrt", g.mul(g.sub(one, x), g.add(one, x)))


def signbit(g: Graph, x: Value) -> Value:
    """True where the sign is negative, that of a zero too; a NaN counts as positive."""
    zero = g.like(0, x)
    below = g.test("Less", x, zero)
    if not x.is_float:
        return below
    return g.either(below, g.test("Less", g.unary("Reciprocal", x), zero))


def copysign(g: Graph, a: Value, b: Value) -> Value:
    return g.mul(g.unary("Abs", a), g.where(signbit(g, b), g.like(-1, a), g.like(1, a)))


def cbrt(g: Graph, x: Value) -> Value:
    """A power of 1/3, which is no float, and one step of Newton's."""

    def of_absolute(a: Value) -> Value:
        three = g.like(3, x)
        y = g.binary("Pow", a, g.like(1 / 3, x))
        better = g.sub(y, g.div(g.sub(y, g.div(g.div(a, y), y)), three))
        plain = g.either(g.test("Equal", a, g.like(0, x)), g.test("Equal", a, g.like(math.inf, x)))
        return g.where(plain, a, better)

    return odd(g, x, of_absolute)


def hypot(g: Graph, a: Value, b: Value) -> Value:
    a, b = g.unary("Abs", a), g.unary("Abs", b)
    most, least = g.binary("Max", a, b), g.binary("Min", a, b)
    ratio = g.div(least, most)
    made = g.mul(most, g.unary("Sqrt", g.add(g.like(1, a), g.mul(ratio, ratio))))
    made = g.where(g.test("Equal", most, g.like(0, a)), most, made)
    infinite = g.like(math.inf, a)
    endless = g.either(g.test("Equal", a, infinite), g.test("Equal", b, infinite))
    return g.where(endless, infinite, made)


def logarithm(g: Graph, x: Value, base: float) -> Value:
    """The logarithm to a whole base, whole at its powers."""
    y = g.div(g.unary("Log", x), g.like(math.log(base), x))
    whole = g.unary("Round", y)
    return g.where(g.test("Equal", g.binary("Pow", g.like(base, x), whole), x), whole, y)


def logaddexp(g: Graph, a: Value, b: Value) -> Value:
    far = g.neg(g.unary("Abs", g.sub(a, b)))
    grown = g.add(g.binary("Max", a, b), log1p(g, g.unary("Exp", far)))
    return g.where(g.test("Equal", a, b), g.add(a, g.like(_LN2, a)), grown)


def logaddexp2(g: Graph, a: Value, b: Value) -> Value:
    far = g.neg(g.unary("Abs", g.sub(a, b)))
    small = log1p(g, g.binary("Pow", g.like(2, a), far))
    grown = g.add(g.binary("Max", a, b), g.mul(small, g.like(1 / _LN2, a)))
    return g.where(g.test("Equal", a, b), g.add(a, g.like(1, a)), grown)


def sigmoid(g: Graph, x: Value) -> Value:
    """``1/(1 + e⁻ˣ)``: onnxruntime's own operator loses all digits on the left."""
    one = g.like(1, x)
    return g.div(one, g.add(one, g.unary("Exp", g.neg(x))))
