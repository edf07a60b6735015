"""The gamma and beta functions, complete and incomplete, and their inverses."""

from __future__ import annotations

import math

import sympy

from .declaring import FRACTION, POSITIVE, A, B, C, Value, declare, flat, fn


def gamma_density(a: Value, x: Value) -> Value:
    """``x^(a - 1) exp(-x) / Γ(a)``, the derivative of ``gammainc(a, x)`` by ``x``."""
    return fn.exp(fn.xlogy(a - 1, x) - x - fn.gammaln(a))


def beta_density(a: Value, b: Value, x: Value, rest: Value | None = None) -> Value:
    """``x^(a - 1) (1 - x)^(b - 1) / B(a, b)``, the derivative of ``betainc(a, b, x)``; ``rest`` is ``1 - x``."""
    right = fn.xlog1py(b - 1, -x) if rest is None else fn.xlogy(b - 1, rest)
    return fn.exp(fn.xlogy(a - 1, x) + right - fn.betaln(a, b))


def _rgamma_slope(x: Value) -> Value:
    """``-ψ(x)/Γ(x)``; on the left, where ψ has poles that 1/Γ takes away, by reflection."""
    u = 1 - x
    left = fn.gamma(u) * (fn.cos(math.pi * x) - fn.digamma(u) * fn.sin(math.pi * x) / math.pi)
    return fn.where(x < 0.5, left, -fn.digamma(x) * fn.rgamma(x))


declare("gamma", sympy.gamma(A), [lambda x: fn.gamma(x) * fn.digamma(x)], [POSITIVE])
declare("loggamma", sympy.loggamma(A), [lambda x: fn.digamma(x)], [POSITIVE])
declare("rgamma", 1 / sympy.gamma(A), [_rgamma_slope])
declare("gammasgn", None, [flat])
declare(
    "poch",
    sympy.gamma(A + B) / sympy.gamma(A),
    [
        lambda z, m: fn.poch(z, m) * (fn.digamma(z + m) - fn.digamma(z)),
        lambda z, m: fn.poch(z, m) * fn.digamma(z + m),
    ],
    [POSITIVE, POSITIVE],
)
declare(
    "binom",
    sympy.gamma(A + 1) / (sympy.gamma(B + 1) * sympy.gamma(A - B + 1)),
    [
        lambda n, k: fn.binom(n, k) * (fn.digamma(n + 1) - fn.digamma(n - k + 1)),
        lambda n, k: fn.binom(n, k) * (fn.digamma(n - k + 1) - fn.digamma(k + 1)),
    ],
    [(3.1, 6.0), (0.3, 2.8)],
)
declare(
    "beta",
    sympy.gamma(A) * sympy.gamma(B) / sympy.gamma(A + B),
    [
        lambda a, b: fn.beta(a, b) * (fn.digamma(a) - fn.digamma(a + b)),
        lambda a, b: fn.beta(a, b) * (fn.digamma(b) - fn.digamma(a + b)),
    ],
    [POSITIVE, POSITIVE],
)
declare(
    "betaln",
    sympy.log(sympy.Abs(sympy.gamma(A) * sympy.gamma(B) / sympy.gamma(A + B))),
    [lambda a, b: fn.digamma(a) - fn.digamma(a + b), lambda a, b: fn.digamma(b) - fn.digamma(a + b)],
    [POSITIVE, POSITIVE],
)
declare("gammainc", sympy.lowergamma(A, B) / sympy.gamma(A), [None, gamma_density], [POSITIVE, POSITIVE])
declare(
    "gammaincc",
    sympy.uppergamma(A, B) / sympy.gamma(A),
    [None, lambda a, x: -gamma_density(a, x)],
    [POSITIVE, POSITIVE],
)
declare("gammaincinv", None, [None, lambda a, y: 1 / gamma_density(a, fn.gammaincinv(a, y))], [POSITIVE, FRACTION])
declare("gammainccinv", None, [None, lambda a, y: -1 / gamma_density(a, fn.gammainccinv(a, y))], [POSITIVE, FRACTION])
_SHAPES = (POSITIVE, POSITIVE, FRACTION)
declare("betainc", sympy.betainc_regularized(A, B, 0, C), [None, None, beta_density], _SHAPES)
declare(
    "betaincc",
    sympy.betainc_regularized(A, B, C, 1),
    [None, None, lambda a, b, x: -beta_density(a, b, x)],
    _SHAPES,
)
declare("betaincinv", None, [None, None, lambda a, b, y: 1 / beta_density(a, b, fn.betaincinv(a, b, y))], _SHAPES)
declare("betainccinv", None, [None, None, lambda a, b, y: -1 / beta_density(a, b, fn.betainccinv(a, b, y))], _SHAPES)
