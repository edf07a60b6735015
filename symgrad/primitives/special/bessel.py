"""Bessel, spherical Bessel, Kelvin, Struve, Airy and parabolic cylinder functions, by their argument."""

from __future__ import annotations

import math
from collections.abc import Callable

import sympy

from .declaring import POSITIVE, A, B, Value, declare, declare_parts, fn, gated

ORDER, WHOLE = (0.3, 3.0), (1, 4)


def _mean(name: str, sign: int, factor: float = 0.5) -> Callable[[Value, Value], Value]:
    """``(f(v - 1, x) ± f(v + 1, x)) / 2``, by which most Bessel functions are derived."""

    def slope(v: Value, x: Value) -> Value:
        below, above = getattr(fn, name)(v - 1, x), getattr(fn, name)(v + 1, x)
        return factor * (below + above if sign > 0 else below - above)

    return slope


for _name, _formula in (("jv", sympy.besselj), ("yv", sympy.bessely), ("jve", None), ("yve", None)):
    _domain = [ORDER, POSITIVE]
    declare(_name, _formula and _formula(A, B), [None, _mean(_name, -1)], _domain)
declare("yn", None, [None, _mean("yn", -1)], [WHOLE, POSITIVE])
declare("iv", sympy.besseli(A, B), [None, _mean("iv", 1)], [ORDER, POSITIVE])
declare("kv", sympy.besselk(A, B), [None, _mean("kv", 1, -0.5)], [ORDER, POSITIVE])
declare("kn", None, [None, _mean("kn", 1, -0.5)], [WHOLE, POSITIVE])
declare(
    "ive",
    sympy.besseli(A, B) * sympy.exp(-sympy.Abs(B)),
    [None, lambda v, x: _mean("ive", 1)(v, x) - fn.sign(x) * fn.ive(v, x)],
    [ORDER, POSITIVE],
)
declare(
    "kve",
    sympy.besselk(A, B) * sympy.exp(B),
    [None, lambda v, x: fn.kve(v, x) + _mean("kve", 1, -0.5)(v, x)],
    [ORDER, POSITIVE],
)
declare("j0", sympy.besselj(0, A), [lambda x: -fn.j1(x)])
declare("j1", sympy.besselj(1, A), [lambda x: 0.5 * (fn.j0(x) - fn.jv(2, x))])
declare("y0", sympy.bessely(0, A), [lambda x: -fn.y1(x)], [POSITIVE])
declare("y1", sympy.bessely(1, A), [lambda x: fn.y0(x) - fn.y1(x) / x], [POSITIVE])
declare("i0", sympy.besseli(0, A), [lambda x: fn.i1(x)])
declare("i1", sympy.besseli(1, A), [lambda x: 0.5 * (fn.i0(x) + fn.iv(2, x))])


def _first_scaled_slope(x: Value) -> Value:
    """``i0e'' + i0e'`` of positive numbers, since ``I₁`` is the slope of ``I₀``."""
    z = -2 * fn.absolute(x)
    return 1.5 * fn.hyp1f1(2.5, 3, z) - fn.hyp1f1(1.5, 2, z)


# ``exp(-|x|) I₀(x)`` is Kummer's M(1/2, 1, -2|x|): Bessel functions that far out are alike are not subtracted
declare(
    "i0e",
    sympy.besseli(0, A) * sympy.exp(-sympy.Abs(A)),
    [lambda x: -fn.sign(x) * fn.hyp1f1(1.5, 2, -2 * fn.absolute(x))],
)
declare("i1e", sympy.besseli(1, A) * sympy.exp(-sympy.Abs(A)), [_first_scaled_slope])
declare("k0", sympy.besselk(0, A), [lambda x: -fn.k1(x)], [POSITIVE])
declare("k1", sympy.besselk(1, A), [lambda x: -fn.k0(x) - fn.k1(x) / x], [POSITIVE])
#: from here on SciPy has all digits of Tricomi's function, by which scaled functions that are alike far out differ
_ALIKE = 30.0


def _one_less_the_other(x: Value) -> Value:
    """``exp(x) (K₁(x) - K₀(x))``, which is ``√π U(3/2, 2, 2x)``."""
    far = math.sqrt(math.pi) * fn.hyperu(1.5, 2, 2 * fn.maximum(x, _ALIKE))
    return fn.where(x > _ALIKE, far, fn.k1e(x) - fn.k0e(x))


declare("k0e", sympy.besselk(0, A) * sympy.exp(A), [lambda x: -_one_less_the_other(x)], [POSITIVE])
declare("k1e", sympy.besselk(1, A) * sympy.exp(A), [lambda x: _one_less_the_other(x) - fn.k1e(x) / x], [POSITIVE])


def _spherical(name: str, sign: int, factor: int = 1) -> Callable[[Value, Value], Value]:
    """``(n f(n - 1, x) ± (n + 1) f(n + 1, x)) / (2n + 1)``, also where there is no order below."""

    def slope(n: Value, x: Value) -> Value:
        below, above = (getattr(fn, name)(m, x) for m in (fn.maximum(n - 1, 0), n + 1))
        return factor * (gated(n, below) + sign * (n + 1) * above) / (2 * n + 1)

    return slope


for _name, _sign, _factor in (("jn", -1, 1), ("yn", -1, 1), ("in", 1, 1), ("kn", 1, -1)):
    _rules = [None, _spherical(f"spherical_{_name}", _sign, _factor)]
    _domain = [WHOLE, POSITIVE]
    declare(f"spherical_{_name}", None, _rules, _domain, arity=2)

# Kelvin functions, of which second derivatives are those of Bessel's equation at x·exp(3πi/4)
for _name, _slope in (("ber", "berp"), ("bei", "beip"), ("ker", "kerp"), ("kei", "keip")):
    declare(_name, None, [lambda x, slope=_slope: getattr(fn, slope)(x)], [POSITIVE])
declare("berp", None, [lambda x: -fn.bei(x) - gated(fn.not_equal(x, 0), fn.berp(x) / x)], [POSITIVE])
declare(
    "beip",
    None,
    [lambda x: fn.where(fn.equal(x, 0), 0.5, fn.ber(x) - fn.beip(x) / x)],
    [POSITIVE],
)
declare("kerp", None, [lambda x: -fn.kei(x) - fn.kerp(x) / x], [POSITIVE])
declare("keip", None, [lambda x: fn.ker(x) - fn.keip(x) / x], [POSITIVE])


def _struve(name: str, sign: int) -> Callable[[Value, Value], Value]:
    def slope(v: Value, x: Value) -> Value:
        below, above = getattr(fn, name)(v - 1, x), getattr(fn, name)(v + 1, x)
        rest = fn.power(0.5 * x, v) * fn.rgamma(v + 1.5) / math.sqrt(math.pi)
        return 0.5 * (below + sign * above + rest)

    return slope


declare("struve", None, [None, _struve("struve", -1)], [ORDER, POSITIVE])
declare("modstruve", None, [None, _struve("modstruve", 1)], [ORDER, POSITIVE])
declare("itstruve0", None, [lambda x: fn.struve(0, x)], [POSITIVE])
declare("it2struve0", None, [lambda x: -fn.struve(0, x) / x], [POSITIVE])
declare("itmodstruve0", None, [lambda x: fn.modstruve(0, x)], [POSITIVE])

declare_parts(
    "airy",
    ("ai", "aip", "bi", "bip"),
    [
        [lambda x: fn.airy_aip(x)],
        [lambda x: x * fn.airy_ai(x)],
        [lambda x: fn.airy_bip(x)],
        [lambda x: x * fn.airy_bi(x)],
    ],
    (-3.0, 3.0),
)
declare_parts(
    "airye",
    ("ai", "aip", "bi", "bip"),
    [
        [lambda x: fn.airye_aip(x) + fn.sqrt(x) * fn.airye_ai(x)],
        [lambda x: x * fn.airye_ai(x) + fn.sqrt(x) * fn.airye_aip(x)],
        [lambda x: fn.airye_bip(x) - fn.sqrt(fn.maximum(x, 0)) * fn.airye_bi(x)],
        [lambda x: x * fn.airye_bi(x) - fn.sqrt(fn.maximum(x, 0)) * fn.airye_bip(x)],
    ],
    POSITIVE,
)
declare_parts("iti0k0", ("i0", "k0"), [[lambda x: fn.i0(x)], [lambda x: fn.k0(x)]], POSITIVE)
declare_parts("itj0y0", ("j0", "y0"), [[lambda x: fn.j0(x)], [lambda x: fn.y0(x)]], POSITIVE)
declare_parts("it2i0k0", ("i0", "k0"), [[lambda x: (fn.i0(x) - 1) / x], [lambda x: -fn.k0(x) / x]], POSITIVE)
declare_parts("it2j0y0", ("j0", "y0"), [[lambda x: (1 - fn.j0(x)) / x], [lambda x: -fn.y0(x) / x]], POSITIVE)
# the parabolic cylinder functions, each with its slope: the second derivative is that of Weber's equation
for _name, _factor in (
    ("pbdv", lambda v, x: 0.25 * x * x - v - 0.5),
    ("pbvv", lambda v, x: 0.25 * x * x - v - 0.5),
    ("pbwa", lambda a, x: a - 0.25 * x * x),
):
    declare_parts(
        _name,
        ("value", "slope"),
        [
            [None, lambda v, x, name=_name: getattr(fn, f"{name}_slope")(v, x)],
            [None, lambda v, x, name=_name, factor=_factor: factor(v, x) * getattr(fn, f"{name}_value")(v, x)],
        ],
        ORDER,
        (0.3, 2.0),
    )
