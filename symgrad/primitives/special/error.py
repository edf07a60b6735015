"""The error function's kin, and the normal distribution."""

from __future__ import annotations

import math

import sympy

from .compiled import FAR, density_by_distribution, tail
from .declaring import FRACTION, A, B, Value, declare, fn, gated

_TWO_BY_ROOT_PI, _ROOT_TWO_PI, _ROOT_HALF = 2 / math.sqrt(math.pi), math.sqrt(2 * math.pi), math.sqrt(0.5)


def _dawson_slope(x: Value) -> Value:
    """``1 - 2x D(x)``, and ``-∑ (2k - 1)‼ / (2x²)^k`` where that cancels."""
    return fn.where(fn.absolute(x) > FAR, -tail(x, 1), 1 - 2 * x * fn.dawsn(x))


declare("erfi", sympy.erfi(A), [lambda x: _TWO_BY_ROOT_PI * fn.exp(x * x)])
declare("dawsn", sympy.sqrt(sympy.pi) / 2 * sympy.exp(-(A**2)) * sympy.erfi(A), [_dawson_slope])
declare("erfinv", sympy.erfinv(A), [lambda y: fn.exp(fn.erfinv(y) ** 2) / _TWO_BY_ROOT_PI], [(-0.9, 0.9)])
declare("erfcinv", sympy.erfcinv(A), [lambda y: fn.exp(fn.erfcinv(y) ** 2) / -_TWO_BY_ROOT_PI], [(0.1, 1.9)])
declare(
    "ndtri",
    sympy.sqrt(2) * sympy.erfinv(2 * A - 1),
    [lambda p: _ROOT_TWO_PI * fn.exp(0.5 * fn.ndtri(p) ** 2)],
    [FRACTION],
)
declare("ndtri_exp", None, [lambda y: 1 / Value(density_by_distribution(fn.ndtri_exp(y).node))], [(-3.0, -0.2)])
declare(
    "owens_t",
    None,
    [
        lambda h, a: fn.exp(-0.5 * h * h) * fn.erf(_ROOT_HALF * a * h) / (-2 * _ROOT_TWO_PI),
        lambda h, a: fn.exp(-0.5 * h * h * (1 + a * a)) / (2 * math.pi * (1 + a * a)),
    ],
)
declare(
    "nrdtrimn",
    None,
    [
        lambda p, std, x: -std * _ROOT_TWO_PI * fn.exp(0.5 * fn.ndtri(p) ** 2),
        lambda p, std, x: -fn.ndtri(p),
        lambda p, std, x: 1,
    ],
    [FRACTION, (0.3, 2.0), (-2.0, 2.0)],
)
declare(
    "nrdtrisd",
    None,
    [
        lambda mean, p, x: -1 / fn.ndtri(p),
        lambda mean, p, x: (mean - x) / fn.ndtri(p) ** 2 * _ROOT_TWO_PI * fn.exp(0.5 * fn.ndtri(p) ** 2),
        lambda mean, p, x: 1 / fn.ndtri(p),
    ],
    [(-2.0, 0.0), (0.6, 0.9), (0.5, 2.0)],
)
declare("log_expit", -sympy.log(1 + sympy.exp(-A)), [lambda x: fn.expit(-x)])
declare(
    "xlog1py",
    A * sympy.log(1 + B),
    [lambda x, y: fn.log1p(y), lambda x, y: gated(x, 1 / (1 + y))],
    [(-3.0, 3.0), (-0.7, 3.0)],
)
