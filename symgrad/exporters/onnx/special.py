"""The error function and its kin, by a table of polynomials; they are computed in float64 whatever they are given.

``erfcx(x) = exp(x²)·erfc(x)`` is smooth and never small, so all others come from it without cancellation.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from ...errors import UnsupportedOperation
from .accurate import log1p, sigmoid
from .graph import Graph
from .steps import INT, Value

_PIECES, _DEGREE = 100, 8
_ROOT_HALF = math.sqrt(0.5)
#: below it erf is its series
_SERIES = 0.5
_TERMS = [2 / math.sqrt(math.pi) * (-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(13)]


def in_double(rule: Callable[..., Value]) -> Callable[..., Value]:
    """The rule in float64, its result rounded once."""

    @functools.wraps(rule)
    def written(g: Graph, *xs: Value) -> Value:
        return g.cast(rule(g, *[g.cast(x, np.float64) for x in xs]), xs[0].dtype)

    return written


@functools.cache
def _table() -> np.ndarray:
    """Of ``erfcx(x)/t`` with ``t = 4/(4 + x)``, for each piece the coefficients in a variable from -1 to 1."""
    from scipy.special import erfcx

    nodes = np.polynomial.chebyshev.chebpts1(_DEGREE + 1)
    t = (np.arange(_PIECES)[:, None] + (nodes + 1) / 2) / _PIECES
    with np.errstate(divide="ignore"):
        values = erfcx(4 / t - 4) / t
    fitted = np.polynomial.chebyshev.chebfit(nodes, values.T, _DEGREE)
    return np.array(
        [np.resize([*np.polynomial.chebyshev.cheb2poly(c), *[0.0] * _DEGREE], _DEGREE + 1) for c in fitted.T]
    )


def _erfcx_right(g: Graph, x: Value) -> Value:
    """For ``x ≥ 0``."""
    four, one = g.like(4, x), g.like(1, x)
    t = g.div(four, g.add(four, x))
    y = g.mul(t, g.like(_PIECES, x))
    known = g.where(g.is_nan(y), g.like(0, x), y)
    piece = g.binary("Min", g.unary("Floor", known), g.like(_PIECES - 1, x))
    u = g.sub(g.mul(g.sub(y, piece), g.like(2, x)), one)
    index = g.cast(piece, INT)
    made: Value | None = None
    for column in _table().T[::-1]:
        coefficient = g.apply("Gather", [g.constant(column, np.float64), index], x.dtype, x.shape, axis=0)
        made = coefficient if made is None else g.add(g.mul(made, u), coefficient)
    assert made is not None
    return g.mul(made, t)


def _bell(g: Graph, x: Value) -> Value:
    """``exp(-x²)``, the square split so that no digit of it is lost."""
    most = g.like(40.0, x)  # from where on it is 0
    near = g.binary("Max", g.binary("Min", x, most), g.neg(most))
    high = g.cast(g.cast(near, np.float32), x.dtype)
    rest = g.mul(g.sub(near, high), g.add(near, high))
    return g.mul(g.unary("Exp", g.neg(g.mul(high, high))), g.unary("Exp", g.neg(rest)))


def _is_left(g: Graph, x: Value) -> Value:
    return g.test("Less", x, g.like(0, x))


@in_double
def erfcx(g: Graph, x: Value) -> Value:
    right = _erfcx_right(g, g.unary("Abs", x))
    bell = _bell(g, g.binary("Max", x, g.like(-26.7, x)))  # before the reciprocal overflows
    grown = g.where(g.test("Less", x, g.like(-26.7, x)), g.like(math.inf, x), g.div(g.like(2, x), bell))
    return g.where(_is_left(g, x), g.sub(grown, right), right)


@in_double
def erfc(g: Graph, x: Value) -> Value:
    right = g.mul(_bell(g, x), _erfcx_right(g, g.unary("Abs", x)))
    return g.where(_is_left(g, x), g.sub(g.like(2, x), right), right)


def erf(g: Graph, x: Value) -> Value:
    return g.unary("Erf", x) if x.dtype == np.float32 else _erf(g, x)


def _erf(g: Graph, x: Value) -> Value:
    near = g.test("Less", g.unary("Abs", x), g.like(_SERIES, x))
    s = g.mul(x, x)
    series = g.like(_TERMS[-1], x)
    for term in _TERMS[-2::-1]:
        series = g.add(g.mul(series, s), g.like(term, x))
    return g.where(near, g.mul(series, x), g.sub(g.like(1, x), erfc(g, x)))


@in_double
def ndtr(g: Graph, x: Value) -> Value:
    half = g.like(0.5, x)
    z = g.mul(x, g.like(_ROOT_HALF, x))
    near = g.test("Less", g.unary("Abs", z), g.like(_SERIES, x))
    return g.where(near, g.add(half, g.mul(half, _erf(g, z))), g.mul(half, erfc(g, g.neg(z))))


@in_double
def log_ndtr(g: Graph, x: Value) -> Value:
    half, minus_one = g.like(0.5, x), g.like(-1, x)
    z = g.mul(x, g.like(_ROOT_HALF, x))
    tail = g.unary("Log", g.mul(half, _erfcx_right(g, g.unary("Abs", z))))
    left = g.sub(tail, g.mul(half, g.mul(x, x)))
    right = log1p(g, g.neg(g.mul(half, erfc(g, z))))
    return g.where(g.test("Less", x, minus_one), left, right)


@in_double
def logit(g: Graph, x: Value) -> Value:
    one, middle = g.like(1, x), g.like(0.5, x)
    s = g.mul(g.sub(x, middle), g.like(2, x))
    near = g.sub(log1p(g, s), log1p(g, g.neg(s)))
    is_near = g.test("Less", g.unary("Abs", s), g.like(0.4, x))
    return g.where(is_near, near, g.unary("Log", g.div(x, g.sub(one, x))))


def xlogy(g: Graph, x: Value, y: Value) -> Value:
    zero = g.like(0, x)
    plain = g.either(g.negation(g.test("Equal", x, zero)), g.is_nan(y))
    return g.where(plain, g.mul(x, g.unary("Log", y)), zero)


def _refused(name: str) -> Callable[..., Value]:
    def rule(g: Graph, *xs: Value) -> Value:
        raise UnsupportedOperation(
            f"onnx: {name} has no operator in the standard domain; export to another format, such as python or torch."
        )

    return rule


RULES: dict[str, Callable[..., Value]] = {
    "erf": erf,
    "erfc": erfc,
    "erfcx": erfcx,
    "expit": sigmoid,
    "logit": logit,
    "xlogy": xlogy,
    "ndtr": ndtr,
    "log_ndtr": log_ndtr,
    **{name: _refused(name) for name in ("digamma", "gammaln", "zeta")},
}
