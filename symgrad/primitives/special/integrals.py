"""Exponential, trigonometric and Fresnel integrals, elliptic integrals and functions, means."""

from __future__ import annotations

import math

import sympy

from .declaring import FRACTION, POSITIVE, A, B, Value, declare, declare_parts, fn, gated

#: where classical formulas of elliptic integrals cancel, a hypergeometric function does not
_NEAR = 0.5

declare("exp1", sympy.expint(1, A), [lambda x: -fn.exp(-x) / x], [POSITIVE])
declare("expi", sympy.Ei(A), [lambda x: fn.exp(x) / x], [POSITIVE])


def _expn_slope(n: Value, x: Value) -> Value:
    at_zero = fn.exp(-x) * (1 + 1 / x) / x
    return -fn.where(fn.equal(n, 0), at_zero, fn.expn(fn.maximum(n - 1, 0), x))


declare("expn", sympy.expint(A, B), [None, _expn_slope], [(1, 4), POSITIVE])
declare_parts("sici", ("si", "ci"), [[lambda x: fn.spherical_jn(0, x)], [lambda x: fn.cos(x) / x]], POSITIVE)
declare_parts("shichi", ("shi", "chi"), [[lambda x: fn.spherical_in(0, x)], [lambda x: fn.cosh(x) / x]], POSITIVE)
declare_parts(
    "fresnel",
    ("s", "c"),
    [[lambda x: fn.sin(0.5 * math.pi * x * x)], [lambda x: fn.cos(0.5 * math.pi * x * x)]],
    (-3.0, 3.0),
)


def _spence_slope(z: Value) -> Value:
    """``log(z) / (1 - z)``, by a series near 1."""
    u = 1 - z
    is_near = fn.absolute(u) < _NEAR
    series = -fn.hyp2f1(1, 1, 2, fn.where(is_near, u, 0))
    return fn.where(is_near, series, fn.log(z) / fn.where(is_near, 1, u))


declare("spence", sympy.polylog(2, 1 - A), [_spence_slope], [POSITIVE])


def first_kind_slope(m: Value) -> Value:
    """``K'(m)``."""
    is_near = fn.absolute(m) < _NEAR
    far = fn.where(is_near, _NEAR, m)
    near = math.pi / 8 * fn.hyp2f1(1.5, 1.5, 2, fn.where(is_near, m, 0))
    return fn.where(is_near, near, (fn.ellipe(far) / (1 - far) - fn.ellipk(far)) / (2 * far))


def second_kind_slope(m: Value) -> Value:
    """``E'(m)``."""
    is_near = fn.absolute(m) < _NEAR
    far = fn.where(is_near, _NEAR, m)
    near = -math.pi / 8 * fn.hyp2f1(0.5, 1.5, 2, fn.where(is_near, m, 0))
    return fn.where(is_near, near, (fn.ellipe(far) - fn.ellipk(far)) / (2 * far))


def _near_one_slope(p: Value) -> Value:
    """The derivative of ``K(1 - p)``."""
    is_near = p > _NEAR  # m is small
    far = fn.where(is_near, _NEAR, p)
    near = math.pi / 8 * fn.hyp2f1(1.5, 1.5, 2, fn.where(is_near, 1 - p, 0))
    return -fn.where(is_near, near, (fn.ellipe(1 - far) / far - fn.ellipkm1(far)) / (2 * (1 - far)))


declare("ellipk", sympy.elliptic_k(A), [first_kind_slope], [(-2.0, 0.9)])
declare("ellipkm1", None, [_near_one_slope], [(0.1, 1.8)])
declare("ellipe", sympy.elliptic_e(A), [second_kind_slope], [(-2.0, 0.9)])


def _incomplete_slope(phi: Value, m: Value, kind: int) -> Value:
    """The derivative of ``F(φ, m)`` or ``E(φ, m)`` by ``m``: Carlson's form around 0, and whole periods."""
    turns = fn.rint(phi / math.pi)
    reduced = phi - math.pi * turns
    s, c = fn.sin(reduced), fn.cos(reduced)
    rest = 1 - m * s * s
    if kind == 1:
        return s * s * s / 6 * fn.elliprd(c * c, 1, rest) + gated(turns, first_kind_slope(m)) * 2
    return -s * s * s / 6 * fn.elliprd(c * c, rest, 1) + gated(turns, second_kind_slope(m)) * 2


def _delta(phi: Value, m: Value) -> Value:
    return fn.sqrt(1 - m * fn.sin(phi) ** 2)


declare(
    "ellipkinc",
    sympy.elliptic_f(A, B),
    [lambda phi, m: 1 / _delta(phi, m), lambda phi, m: _incomplete_slope(phi, m, 1)],
    [(-3.0, 3.0), FRACTION],
)
declare(
    "ellipeinc",
    sympy.elliptic_e(A, B),
    [_delta, lambda phi, m: _incomplete_slope(phi, m, 2)],
    [(-3.0, 3.0), FRACTION],
)


def _amplitude_by_m(u: Value, m: Value) -> Value:
    """Of ``u = F(am, m)``."""
    return -fn.ellipj_dn(u, m) * _incomplete_slope(fn.ellipj_ph(u, m), m, 1)


def _dn_by_m(u: Value, m: Value) -> Value:
    sn, cn = fn.ellipj_sn(u, m), fn.ellipj_cn(u, m)
    return -sn * (0.5 * sn + m * cn * _amplitude_by_m(u, m)) / fn.ellipj_dn(u, m)


declare_parts(
    "ellipj",
    ("sn", "cn", "dn", "ph"),
    [
        [
            lambda u, m: fn.ellipj_cn(u, m) * fn.ellipj_dn(u, m),
            lambda u, m: fn.ellipj_cn(u, m) * _amplitude_by_m(u, m),
        ],
        [
            lambda u, m: -fn.ellipj_sn(u, m) * fn.ellipj_dn(u, m),
            lambda u, m: -fn.ellipj_sn(u, m) * _amplitude_by_m(u, m),
        ],
        [lambda u, m: -m * fn.ellipj_sn(u, m) * fn.ellipj_cn(u, m), _dn_by_m],
        [lambda u, m: fn.ellipj_dn(u, m), _amplitude_by_m],
    ],
    (-1.4, 1.4),
    FRACTION,
)


def _carlson_d(x: Value, y: Value, z: Value) -> Value:
    """The derivative of ``R_D(x, y, z)`` by ``x``, of the equation of Euler and Poisson; NaN where ``x = z``."""
    return (fn.elliprd(y, z, x) - fn.elliprd(x, y, z)) / (2 * (x - z))


def _carlson_d_last(x: Value, y: Value, z: Value) -> Value:
    rest = x * _carlson_d(x, y, z) + y * _carlson_d(y, x, z)
    return (-1.5 * fn.elliprd(x, y, z) - rest) / z


_THREE = (POSITIVE,) * 3
declare(
    "elliprf",
    None,
    [
        lambda x, y, z: fn.elliprd(y, z, x) / -6,
        lambda x, y, z: fn.elliprd(x, z, y) / -6,
        lambda x, y, z: fn.elliprd(x, y, z) / -6,
    ],
    _THREE,
)
declare("elliprd", None, [_carlson_d, lambda x, y, z: _carlson_d(y, x, z), _carlson_d_last], _THREE)


def _carlson_c(x: Value, y: Value) -> Value:
    return fn.elliprd(y, y, x) / -6


declare(
    "elliprc",
    None,
    [_carlson_c, lambda x, y: (-0.5 * fn.elliprc(x, y) - x * _carlson_c(x, y)) / y],
    [POSITIVE, POSITIVE],
)


def _mean_slope(a: Value, b: Value) -> Value:
    """The derivative by ``a`` of the mean, ``π/4 (a + b) / K(t²)`` with ``t = (a - b)/(a + b)``."""
    t = (a - b) / (a + b)
    quotient = first_kind_slope(t * t) / fn.ellipk(t * t)
    return fn.agm(a, b) / (a + b) * (1 - 4 * b * t * quotient / (a + b))


declare("agm", None, [_mean_slope, lambda a, b: _mean_slope(b, a)], [POSITIVE, POSITIVE])
declare("zetac", sympy.zeta(A) - 1, [None], [(1.5, 4.0)])
