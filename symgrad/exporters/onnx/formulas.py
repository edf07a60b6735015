"""What onnxruntime does not compute in float64, out of what it does: as functions of NumPy that tensors are given to.

None of them loses digits by cancellation, and infinities and NaN come out as in NumPy; so do zeros but for their sign,
which onnxruntime's Where does not keep. Tensors are compared by ``np.equal``; of whole numbers ``/`` rounds towards
zero, as in ONNX.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

Formula = Callable[..., Any]
_LN2 = math.log(2.0)
#: from here the square of a number is all that counts beside one
_LARGE = 1e8
#: below it erf is its series
_SERIES = 0.5
_TERMS = [2 / math.sqrt(math.pi) * (-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(13)]


def odd(of_absolute: Formula) -> Formula:
    """The odd function that is ``of_absolute`` on the right."""

    @functools.wraps(of_absolute)
    def formula(x: Any) -> Any:
        made = of_absolute(np.abs(x))
        return np.where(x < 0, -made, made)

    return formula


def is_either(x: Any, first: float, second: float) -> Any:
    """True where x is one of two numbers."""
    return np.equal(x, first) | np.equal(x, second)


# powers and logarithms


def expm1(x: Any) -> Any:
    """``(eˣ - 1)·x / log(eˣ)``, whose rounding errors cancel (Kahan)."""
    u = np.exp(x)
    less = u - 1
    made = less * (x / np.log(u))
    return np.where(np.equal(u, 1), x, np.where(is_either(u, 0, math.inf) | np.equal(less, -1), less, made))


def log1p(x: Any) -> Any:
    """``log(u) - ((u - 1) - x)/u`` with ``u = 1 + x``: the second term is what rounding took from ``u``."""
    u = 1 + x
    logarithm = np.log(u)
    made = np.where(is_either(u, 0, math.inf), logarithm, logarithm - ((u - 1) - x) / u)
    return np.where(np.equal(u, 1), x, made)


def logarithm(base: int) -> Formula:
    """The logarithm to a whole base, whole at its powers."""

    def formula(x: Any) -> Any:
        y = np.log(x) / math.log(base)
        whole = np.rint(y)
        return np.where(np.equal(np.power(base, whole), x), whole, y)

    return formula


def hypot(a: Any, b: Any) -> Any:
    a, b = np.abs(a), np.abs(b)
    most = np.maximum(a, b)
    ratio = np.minimum(a, b) / most
    made = np.where(np.equal(most, 0), most, most * np.sqrt(1 + ratio * ratio))
    return np.where(np.equal(a, math.inf) | np.equal(b, math.inf), math.inf, made)


# hyperbolic and circular functions


@odd
def sinh(a: Any) -> Any:
    grown, root = expm1(a), np.exp(a / 2)
    return np.where(a > 22, root / 2 * root, (grown + grown / (grown + 1)) / 2)


def cosh(x: Any) -> Any:
    root = np.exp(np.abs(x) / 2)
    return root / 2 * root + 0.5 / root / root


@odd
def arcsinh(a: Any) -> Any:
    large = a > _LARGE
    s = np.where(large, 1, a * a)
    return np.where(large, np.log(a) + _LN2, log1p(a + s / (1 + np.sqrt(1 + s))))


def arccosh(x: Any) -> Any:
    large = x > _LARGE
    t = np.where(large, 1, x) - 1
    return np.where(large, np.log(x) + _LN2, log1p(t + np.sqrt(t) * np.sqrt(t + 2)))


@odd
def arctanh(a: Any) -> Any:
    return log1p((a + a) / (1 - a)) / 2


def turned(angle: Any, y: Any, x: Any) -> Any:
    """The angle of ``(x, y)`` to all digits from one to float32's.

    Turned back by ``angle`` the point stands at an angle so small that it is its own tangent.
    """
    c, s = np.cos(angle), np.sin(angle)
    return angle + (y * c - x * s) / (x * c + y * s)


def _in_single(x: Any) -> Any:
    """The arctangent to the digits of float32, as ``x`` is."""
    return np.arctan(x.astype(np.float32)).astype(x.dtype)


@odd
def arctan(a: Any) -> Any:
    steep = a > 1
    return turned(_in_single(a), np.where(steep, 1, a), np.where(steep, 1 / a, 1))


def arctan2(y: Any, x: Any) -> Any:
    """The angle in the first octant, then by the signs."""
    up, along = np.abs(y), np.abs(x)
    most = np.maximum(up, along)

    def scaled(side: Any, at_origin: float) -> Any:
        far = np.equal(side, math.inf).astype(x.dtype)
        return np.where(np.equal(most, 0), at_origin, np.where(np.equal(most, math.inf), far, side / most))

    p, q = scaled(up, 0), scaled(along, 1)
    octant = _in_single(np.minimum(p, q) / np.maximum(p, q))
    angle = turned(np.where(p > q, math.pi / 2 - octant, octant), p, q)
    angle = np.where(np.signbit(x), math.pi - angle, angle)
    angle = np.where(np.signbit(y), -angle, angle)
    return np.where(np.isnan(x) | np.isnan(y), math.nan, angle)


def _leg(x: Any) -> Any:
    return np.sqrt((1 - x) * (1 + x))


# signs, steps, quotients


def signbit(x: Any) -> Any:
    """True where the sign is negative, that of a zero too; a NaN counts as positive."""
    return (x < 0) | (np.reciprocal(x) < 0)


def copysign(a: Any, b: Any) -> Any:
    a = np.abs(a)
    return np.where(np.signbit(b), -a, a)


def other_than_nan(extremum: Formula) -> Formula:
    """The extremum that ignores NaN where the other side has a number."""
    return lambda a, b: np.where(np.isnan(a), b, np.where(np.isnan(b), a, extremum(a, b)))


def ldexp(a: Any, b: Any) -> Any:
    """By three powers of 2, each of which a float holds."""
    most = 300 if a.dtype == np.float32 else 2130
    exponent = np.maximum(np.minimum(b, most), -most)
    third = exponent / 3
    for part in (third, third, exponent - (third + third)):
        a = a * np.power(2, part.astype(a.dtype))
    return a


def whole_divided(a: Any, b: Any) -> tuple[Any, Any, Any]:
    """The quotient of whole numbers rounded down, the rest of it, and that of the one rounded towards zero.

    Never by 0 or -1, which processors trap on.
    """
    safe = np.where(is_either(b, 0, -1), 1, b)
    quotient = a / safe
    rest = a - quotient * safe
    down = ~np.equal(rest, 0) & ((rest < 0) ^ (safe < 0))
    floor = np.where(np.equal(b, -1), -a, quotient - down.astype(a.dtype))
    return np.where(np.equal(b, 0), 0, floor), np.where(down, rest + safe, rest), rest


# the error function and its kin: erfcx(x) = exp(x²)·erfc(x) is smooth and never small, so all others come from it


def polynomial(coefficients: Any, x: Any) -> Any:
    """By Horner's rule, the highest power first."""
    made = coefficients[0]
    for coefficient in coefficients[1:]:
        made = made * x + coefficient
    return made


@functools.cache
def _logarithms() -> tuple[float, ...]:
    """The polynomial in ``2·t - 1`` of ``log(erfcx(x)/t)`` with ``t = 2/(2 + x)``."""
    from scipy.special import erfcx

    chebyshev = np.polynomial.chebyshev
    u = chebyshev.chebpts1(31)
    t = (u + 1) / 2
    fitted = chebyshev.chebfit(u, np.log(erfcx(2 / t - 2) / t), 30)
    return tuple(chebyshev.cheb2poly(fitted)[::-1].tolist())


def erfcx_right(x: Any) -> Any:
    """For ``x ≥ 0``."""
    t = 2 / (2 + x)
    return t * np.exp(polynomial(_logarithms(), 2 * t - 1))


def bell(x: Any) -> Any:
    """``exp(-x²)``, the square split so that no digit of it is lost."""
    near = np.maximum(np.minimum(x, 40), -40)  # beyond it is 0
    high = near.astype(np.float32).astype(x.dtype)
    return np.exp(-(high * high)) * np.exp(-((near - high) * (near + high)))


def erfcx(x: Any) -> Any:
    right, least = erfcx_right(np.abs(x)), -26.7  # before the reciprocal overflows
    grown = np.where(x < least, math.inf, 2 / bell(np.maximum(x, least)))
    return np.where(x < 0, grown - right, right)


def erfc(x: Any) -> Any:
    right = bell(x) * erfcx_right(np.abs(x))
    return np.where(x < 0, 2 - right, right)


def erf(x: Any) -> Any:
    return np.where(np.abs(x) < _SERIES, polynomial(_TERMS[::-1], x * x) * x, 1 - erfc(x))


#: those that are computed in float64 whatever they are given, and rounded once
DOUBLE = frozenset(("arctan2", "erfc", "erfcx"))
_NAMED = (
    *(expm1, log1p, hypot, sinh, cosh, arcsinh, arccosh, arctanh, arctan, arctan2, signbit, copysign),
    *(ldexp, erf, erfc, erfcx),
)
_ANY: dict[str, Formula] = {
    **dict.fromkeys(("positive", "conjugate"), lambda x: x),
    "square": lambda x: x * x,
    "not_equal": lambda a, b: ~np.equal(a, b),
}
_FLOATS: dict[str, Formula] = _ANY | {
    **{formula.__name__: formula for formula in _NAMED},
    "exp2": lambda x: np.power(2, x),
    "log2": logarithm(2),
    "log10": logarithm(10),
    "cbrt": odd(lambda a: np.power(a, 1 / 3)),
    "tan": lambda x: np.sin(x) / np.cos(x),
    "arcsin": odd(lambda a: arctan2(a, _leg(a))),
    "arccos": lambda x: arctan2(_leg(x), x),
    "isfinite": lambda x: ~(np.isnan(x) | np.isinf(x)),
    "trunc": lambda x: np.where(x < 0, np.ceil(x), np.floor(x)),
    "fmax": other_than_nan(np.maximum),
    "fmin": other_than_nan(np.minimum),
}
_WHOLE: dict[str, Formula] = _ANY | {
    **dict.fromkeys(("floor", "ceil", "trunc", "rint"), lambda x: x),
    **dict.fromkeys(("isnan", "isinf"), lambda x: ~np.equal(x, x)),
    "isfinite": lambda x: np.equal(x, x),
    "signbit": lambda x: x < 0,
    "floor_divide": lambda a, b: whole_divided(a, b)[0],
    "remainder": lambda a, b: whole_divided(a, b)[1],
    "fmod": lambda a, b: whole_divided(a, b)[2],
}
_TRUTH: dict[str, Formula] = _WHOLE | {"absolute": lambda x: x, "where": lambda c, a, b: (c & a) | (~c & b)}


def formula_of(name: str, dtype: np.dtype) -> Formula | None:
    """The formula of an operation on a dtype; None where there is none.

    >>> formula_of("cbrt", np.dtype(float))(np.array([-8.0, 0.0]))
    array([-2.,  0.])
    """
    return {"f": _FLOATS, "b": _TRUTH}.get(dtype.kind, _WHOLE).get(name)
