"""Powers, logarithms, entropies, losses and angles, as SciPy has them."""

from __future__ import annotations

import math

import sympy
from scipy import special

from .declaring import POSITIVE, A, B, Value, declare, fn, gated

_DEGREE, _NEAR = math.pi / 180, 0.5
_ANGLE = (20.0, 70.0)


def _exprel_slope(x: Value) -> Value:
    """The derivative of ``(exp(x) - 1) / x``, by a series near 0."""
    is_near = fn.absolute(x) < 1
    near = 0.5 * fn.hyp1f1(2, 3, fn.where(is_near, x, 0))
    far = fn.where(is_near, 1, x)
    above = fn.exprel(x) * (1 - 1 / far) + 1 / far  # which overflows with the value
    return fn.where(is_near, near, fn.where(x > 0, above, (fn.exp(x) - fn.exprel(x)) / far))


def _log_ratio(x: Value, y: Value) -> Value:
    """``log(x/y)``, also where the quotient is too large or too small for a float."""
    ratio = x / y
    is_far = fn.logical_or(fn.equal(ratio, 0), fn.isinf(ratio))
    return fn.where(is_far, fn.log(x) - fn.log(y), fn.log(fn.where(is_far, 1, ratio)))


def _log_mean_slope(w: Value) -> Value:
    """The derivative of ``log(1 + w) / w``, by a series near 0."""
    is_near = fn.absolute(w) < _NEAR
    near = -0.5 * fn.hyp2f1(2, 2, 3, fn.where(is_near, -w, 0))
    far = fn.where(is_near, 1, w)
    return fn.where(is_near, near, (w / (1 + w) - fn.log1p(w)) / fn.square(far))


declare("exprel", (sympy.exp(A) - 1) / A, [_exprel_slope])
declare("cosm1", sympy.cos(A) - 1, [lambda x: -fn.sin(x)])
declare("exp10", 10**A, [lambda x: math.log(10) * fn.exp10(x)])
declare(
    "powm1",
    A**B - 1,
    [lambda x, y: gated(y, fn.power(x, y - 1)), lambda x, y: gated(fn.power(x, y), fn.log(x))],
    [POSITIVE, (-3.0, 3.0)],
)
# of the same name as NumPy's functions, which may round otherwise
declare("special_cbrt", None, [lambda x: 1 / (3 * fn.special_cbrt(x) ** 2)], [POSITIVE], ufunc=special.cbrt)
declare("special_exp2", 2**A, [lambda x: math.log(2) * fn.special_exp2(x)], ufunc=special.exp2)
declare("special_expm1", sympy.exp(A) - 1, [lambda x: fn.exp(x)], ufunc=special.expm1)
declare("special_log1p", sympy.log(1 + A), [lambda x: 1 / (1 + x)], [(-0.7, 3.0)], ufunc=special.log1p)
declare("wrightomega", sympy.LambertW(sympy.exp(A)), [lambda x: fn.wrightomega(x) / (1 + fn.wrightomega(x))])

declare("sindg", sympy.sin(sympy.pi * A / 180), [lambda x: _DEGREE * fn.cosdg(x)], [_ANGLE])
declare("cosdg", sympy.cos(sympy.pi * A / 180), [lambda x: -_DEGREE * fn.sindg(x)], [_ANGLE])
declare("tandg", sympy.tan(sympy.pi * A / 180), [lambda x: _DEGREE * (1 + fn.tandg(x) ** 2)], [_ANGLE])
declare("cotdg", sympy.cot(sympy.pi * A / 180), [lambda x: -_DEGREE * (1 + fn.cotdg(x) ** 2)], [_ANGLE])
declare("radian", None, [lambda *_: _DEGREE, lambda *_: _DEGREE / 60, lambda *_: _DEGREE / 3600], [_ANGLE] * 3)

declare("entr", -A * sympy.log(A), [lambda x: gated(fn.greater_equal(x, 0), -1 - fn.log(x))], [POSITIVE])
declare(
    "rel_entr",
    A * sympy.log(A / B),
    [
        lambda x, y: gated(fn.isfinite(fn.rel_entr(x, y)), 1 + _log_ratio(x, y)),
        lambda x, y: gated(fn.isfinite(fn.rel_entr(x, y)), -x / y),
    ],
    [POSITIVE, POSITIVE],
)
declare(
    "kl_div",
    A * sympy.log(A / B) - A + B,
    [
        lambda x, y: gated(fn.isfinite(fn.kl_div(x, y)), _log_ratio(x, y)),
        lambda x, y: gated(fn.isfinite(fn.kl_div(x, y)), 1 - x / y),
    ],
    [POSITIVE, POSITIVE],
)
declare(
    "huber",
    sympy.Piecewise((B**2 / 2, sympy.Abs(B) <= A), (A * (sympy.Abs(B) - A / 2), True)),
    [
        lambda d, r: fn.maximum(fn.absolute(r) - d, 0),
        lambda d, r: fn.maximum(fn.minimum(r, d), -d),
    ],
    [(0.5, 2.0), (-3.0, 3.0)],
)


def _by_width(d: Value, r: Value) -> Value:
    """``(h - d)²/h`` with ``h = hypot(d, r)``, of factors that neither overflow nor cancel."""
    h = fn.hypot(d, r)
    share = r / (h + d)
    return r / h * share * (r * share)


declare(
    "pseudo_huber",
    A**2 * (sympy.sqrt(1 + (B / A) ** 2) - 1),
    [_by_width, lambda d, r: d * (r / fn.hypot(d, r))],
    [(0.5, 2.0), (-3.0, 3.0)],
)


def _boxcox_by_power(logarithm: Value, power: Value) -> Value:
    return fn.square(logarithm) * _exprel_slope(power * logarithm)


declare(
    "boxcox",
    (A**B - 1) / B,
    [lambda x, p: fn.power(x, p - 1), lambda x, p: _boxcox_by_power(fn.log(x), p)],
    [POSITIVE, (-2.0, 2.0)],
)
declare(
    "boxcox1p",
    ((1 + A) ** B - 1) / B,
    [lambda x, p: fn.power(1 + x, p - 1), lambda x, p: _boxcox_by_power(fn.log1p(x), p)],
    [(-0.6, 3.0), (-2.0, 2.0)],
)
declare(
    "inv_boxcox",
    (1 + A * B) ** (1 / B),
    [
        lambda y, p: fn.power(fn.inv_boxcox(y, p), 1 - p),
        lambda y, p: fn.inv_boxcox(y, p) * fn.square(y) * _log_mean_slope(p * y),
    ],
    [(0.2, 2.0), (0.2, 2.0)],
)
declare(
    "inv_boxcox1p",
    (1 + A * B) ** (1 / B) - 1,
    [
        lambda y, p: fn.power(1 + fn.inv_boxcox1p(y, p), 1 - p),
        lambda y, p: (1 + fn.inv_boxcox1p(y, p)) * fn.square(y) * _log_mean_slope(p * y),
    ],
    [(0.2, 2.0), (0.2, 2.0)],
)
