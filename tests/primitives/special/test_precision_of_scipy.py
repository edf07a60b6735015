"""How many digits slopes and curvatures of SciPy's functions keep, against mpmath in 100 digits.

``test_precision`` has the table of the others; the points here are those where SciPy's own functions have their digits.
"""

from __future__ import annotations

import functools
import itertools

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy import special
from test_precision import _ZERO, BOUND, ONE, OTHERS, TWO, _units

import symgrad as sg
from symgrad.primitives.elementwise import ELEMENTWISE, ON_BITS, TRUTHS
from symgrad.primitives.special import OPERATIONS
from symgrad.primitives.special.declaring import Component

#: digits of the reference, and its steps as parts of the arguments
DIGITS, STEP = 100, mpf(10) ** -14

_SIZES = [1e-8, 1e-3, 0.1, 0.3, 0.7, 1.1, 2.6, 3.0, 7.0, 10.0, 19.0, 40.0, 80.0]
_TINY, _LARGE, _NEAR = _SIZES[:2], _SIZES[3:], _SIZES[:-2]
_KELVIN = [x for x in _SIZES if not 3 < x < 30]  # between these SciPy's have few digits
_SIGNED = sorted([*_NEAR, *(-x for x in _NEAR)])
_FEW = [1e-8, 0.3, 1.1, 3.0, 19.0, 80.0]
_UNIT = [-0.95, -0.7, -0.2, 0.1, 0.4, 0.6, 0.9, 0.99]
_SHARE = [1e-8, 1e-3, 0.1, 0.3, 0.7, 0.9, 0.99]
_WEBER = [-2.0, 1e-8, 0.3, 1.1, 2.0]
_ANGLES = [20.0, 50.0, 70.0, 89.0, 100.0, 350.0, 1e4]
_TURNS = [*_SIZES[:6], 1.6, 2.3, 4.3, 7.2]
_BASES, _EXPONENTS = [1e-8, 0.3, 0.9, 1.1, 19.0], [-2.5, -1.0, -0.5, 0.5, 1.5, 3.0]
_POWERS, _INVERSE_POWERS = [-2.0, -0.5, 1e-8, 0.5, 2.0], [1e-8, 0.3, 1.0, 2.0]
_LOGARITHMS = [-40.0, -3.0, 1e-5, 0.5, 2.5, 40.0]
_WHERE_ELLIPTIC = [-2.0, 0.3, 1.1, 3.0], [-3.0, 0.3, 0.7, 0.9]


def _beside(kind):
    """A Bessel function of orders that are next to whole ones, at which mpmath is slow."""
    return lambda order, x: kind(order + mpf(10) ** -30, x)


def _scaled(kind, scale):
    return lambda v, x: mpmath.exp(scale * x) * kind(v, x)


def _airy(kind, order, scale):
    return lambda x: mpmath.exp(scale * mpf(2) / 3 * x ** mpf(1.5)) * kind(x, derivative=order)


def _spherical(kind):
    return lambda n, x: mpmath.sqrt(mpmath.pi / (2 * x)) * kind(n + mpf(0.5), x)


def _kelvin(name):
    """A part of ``J₀`` or ``K₀`` on a ray, or of the slope along it."""
    kind, eighths = (mpmath.besselj, mpf(6) / 8) if name[0] == "b" else (_K, mpf(2) / 8)
    order, part = len(name) - 3, "imag" if "ei" in name else "real"
    return lambda x: getattr(kind(order, mpmath.expjpi(eighths) * x) * (-mpmath.expjpi(eighths)) ** order, part)


def _solved(start, function, slope, wanted):
    """The root of ``function(x) - wanted`` near what SciPy says."""
    x = mpf(float(start))
    for _ in range(4):
        x -= (function(x) - wanted) / slope(x)
    return x


def _gamma_below(a, x):
    return mpmath.gammainc(a, 0, x, regularized=True)


def _gamma_density(a, x):
    return x ** (a - 1) * mpmath.exp(-x) / mpmath.gamma(a)


def _gamma_root(a, y):
    start = special.gammaincinv(float(a), float(y))
    return _solved(start, lambda x: _gamma_below(a, x), lambda x: _gamma_density(a, x), y)


def _beta_density(a, b, x):
    return x ** (a - 1) * (1 - x) ** (b - 1) / mpmath.beta(a, b)


def _beta_root(a, b, y):
    start, below = special.betaincinv(float(a), float(b), float(y)), functools.partial(mpmath.betainc, a, b, 0)
    return _solved(start, lambda x: below(x, regularized=True), lambda x: _beta_density(a, b, x), y)


def _normal_root(p):
    return _solved(special.ndtri(float(p)), mpmath.ncdf, mpmath.npdf, p)


def _student_root(df, p):
    u = _beta_root(df / 2, mpf(0.5), 2 * min(p, 1 - p))
    return mpmath.sign(p - 0.5) * mpmath.sqrt(df * (1 - u) / u)


def _fisher_density(n, d, x):
    return _beta_density(n / 2, d / 2, n * x / (d + n * x)) * n * d / (d + n * x) ** 2


def _fisher_root(n, d, p):
    u = _beta_root(n / 2, d / 2, p)
    return d / n * u / (1 - u)


def _with_complement(name, density, points, *given, sign=1):
    """The rows of a distribution function and its complement; ``sign`` is that of the slope of the first."""
    slopes = {name: lambda *xs: sign * density(*xs), f"{name}c": lambda *xs: -sign * density(*xs)}
    return {f"{name} of {given}": (given, (slope,), points) for name, slope in slopes.items()}


def _elliptic(kind):
    return lambda u, m: mpmath.ellipfun(kind, u, m=m).real


_Y, _K = _beside(mpmath.bessely), _beside(mpmath.besselk)
_BESSEL = {"j": mpmath.besselj, "y": _Y, "i": mpmath.besseli, "k": _K}
_SCALED = {k: _scaled(f, s) for (k, f), s in zip(_BESSEL.items(), (0, 0, -1, 1), strict=True)}
_STRUVE = {"struve": mpmath.struveh, "modstruve": mpmath.struvel}
_POLYNOMIALS = {
    **{k: getattr(mpmath, k) for k in ("legendre", "chebyt", "chebyu", "hermite")},
    **{f"sh_{k}": lambda n, x, k=k: getattr(mpmath, k)(n, 2 * x - 1) for k in ("legendre", "chebyt", "chebyu")},
    "chebyc": lambda n, x: 2 * mpmath.chebyt(n, x / 2),
    "chebys": lambda n, x: mpmath.chebyu(n, x / 2),
    "hermitenorm": lambda n, x: mpmath.hermite(n, x / mpmath.sqrt(2)) / mpmath.sqrt(2) ** n,
}
_OWEN = (
    lambda h, a: -mpmath.npdf(h) / 2 * mpmath.erf(a * h / mpmath.sqrt(2)),
    lambda h, a: mpmath.exp(-h * h * (1 + a * a) / 2) / (2 * mpmath.pi * (1 + a * a)),
)
#: the first operands, or the function where it is called otherwise; the same in mpmath, or the slopes by the other
#: operands; and the points of these
TABLE = {
    **{f"{k}v of {v}": ((v,), f, _SIZES) for k, f in _BESSEL.items() for v in (0.25, 2.75)},
    **{f"{k}ve of {v}": ((v,), f, _SIZES) for k, f in _SCALED.items() for v in (0.25, 2.75)},
    **{f"{k}n": ((2,), _BESSEL[k], _SIZES) for k in "yk"},
    **{k: ((), functools.partial(_BESSEL[k[0]], int(k[1])), _SIZES) for k in ("j1", "y0", "k0", "k1")},
    **{f"spherical_{k}n of {n}": ((n,), _spherical(f), _SIZES) for k, f in _BESSEL.items() for n in (0, 2)},
    **{name: ((), _kelvin(name), _KELVIN) for name in ("ber", "bei", "ker", "kei", "berp", "kerp", "keip")},
    "beip": ((), _kelvin("beip"), _KELVIN[3:]),
    **{f"{k} of {v}": ((v,), f, _SIZES) for k, f in _STRUVE.items() for v in (0.25, 2.0)},
    **{f"it{k}0": ((), (functools.partial(f, 0),), _SIZES) for k, f in _STRUVE.items()},
    "it2struve0": ((), (lambda x: -mpmath.struveh(0, x) / x,), _LARGE),
    **{f"iti0k0_{k}0": ((), (functools.partial(_BESSEL[k], 0),), _SIZES) for k in "ik"},
    **{f"itj0y0_{k}0": ((), (functools.partial(_BESSEL[k], 0),), _SIZES) for k in "jy"},
    "it2i0k0_i0": ((), (lambda x: (mpmath.besseli(0, x) - 1) / x,), _LARGE),
    "it2i0k0_k0": ((), (lambda x: -_K(0, x) / x,), _SIZES),
    "it2j0y0_j0": ((), (lambda x: (1 - mpmath.besselj(0, x)) / x,), _LARGE),
    "it2j0y0_y0": ((), (lambda x: -_Y(0, x) / x,), _SIZES),
    **{
        f"{name}_{part}{'p' * order}": ((), _airy(kind, order, scale if name == "airye" else 0), points)
        for name, points in (("airy", [x for x in _SIGNED if x > -8]), ("airye", _NEAR))
        for part, kind, scale in (("ai", mpmath.airyai, 1), ("bi", mpmath.airybi, -1))
        for order in (0, 1)
    },
    "pbdv_value": ((0.75,), mpmath.pcfd, _WEBER),
    "pbdv_slope": ((0.75,), lambda v, x: x / 2 * mpmath.pcfd(v, x) - mpmath.pcfd(v + 1, x), _WEBER),
    "pbvv_value": ((0.75,), lambda v, x: mpmath.pcfv(-v - 0.5, x), _WEBER),
    "pbvv_slope": ((0.75,), (lambda v, x: (x * x / 4 - v - 0.5) * mpmath.pcfv(-v - 0.5, x),), _WEBER),
    "pbwa_value": ((0.75,), mpmath.pcfw, _WEBER),
    "pbwa_slope": ((0.75,), (lambda a, x: (a - x * x / 4) * mpmath.pcfw(a, x),), _WEBER),
    "rgamma": ((), mpmath.rgamma, [*_SIZES, -0.3, -2.6]),
    "poch": ((), lambda z, m: mpmath.gamma(z + m) / mpmath.gamma(z), _FEW[1:], _FEW[1:-1]),
    "binom": ((), mpmath.binomial, [3.1, 7.0, 19.0, 80.0], [0.3, 1.1, 2.6]),
    "beta": ((), mpmath.beta, _FEW[1:], _FEW[1:]),
    "betaln": ((), lambda a, b: mpmath.log(mpmath.beta(a, b)), _FEW[1:], _FEW[1:]),
    "gammaincinv": ((2.5,), _gamma_root, _SHARE),
    "gammainccinv": ((2.5,), lambda a, y: _gamma_root(a, 1 - y), _SHARE),
    "betaincinv": ((0.75, 2.5), _beta_root, _SHARE),
    "betainccinv": ((0.75, 2.5), lambda a, b, y: _beta_root(a, b, 1 - y), _SHARE),
    **{k: v for a in (0.25, 2.5, 30.0) for k, v in _with_complement("gammainc", _gamma_density, _SIZES, a).items()},
    **_with_complement("betainc", _beta_density, _SHARE, 0.25, 2.5),
    **_with_complement("betainc", _beta_density, _SHARE, 3.0, 20.0),
    **_with_complement("bdtr", lambda k, n, p: _beta_density(k + 1, n - k, p), _SHARE, 2.0, 6, sign=-1),
    "bdtri": ((2.0, 6), lambda k, n, y: 1 - _beta_root(n - k, k + 1, y), _SHARE),
    **_with_complement("nbdtr", lambda k, n, p: _beta_density(n, k + 1, p), _SHARE, 2, 6),
    "nbdtri": ((2, 6), lambda k, n, y: _beta_root(mpf(n), mpf(k + 1), y), _SHARE),
    **_with_complement("pdtr", lambda k, m: _gamma_density(k + 1, m), _SIZES, 2.0, sign=-1),
    "pdtri": ((2,), lambda k, y: _gamma_root(mpf(k + 1), 1 - y), _SHARE),
    **_with_complement("chdtr", lambda v, x: _gamma_density(v / 2, x / 2) / 2, _SIZES, 3.0),
    "chdtri": ((3.0,), lambda v, p: 2 * _gamma_root(v / 2, 1 - p), _SHARE),
    **_with_complement("fdtr", _fisher_density, _SIZES, 3.0, 5.0),
    "fdtri": ((3.0, 5.0), _fisher_root, _SHARE),
    "stdtr": ((3.5,), (lambda df, t: (1 + t * t / df) ** -2.25 / mpmath.sqrt(df) / mpmath.beta(0.5, 1.75),), _SIGNED),
    "stdtrit": ((3.5,), _student_root, _SHARE),
    "gdtr": (lambda a, x: special.gdtr(a, 2.5, x), lambda a, x: _gamma_below(2.5, a * x), _FEW[1:4], _FEW[1:4]),
    "gdtrc": (lambda a, x: special.gdtrc(a, 2.5, x), lambda a, x: 1 - _gamma_below(2.5, a * x), _FEW[1:4], _FEW[1:4]),
    "gdtria": (lambda p, x: special.gdtria(p, 2.5, x), lambda p, x: _gamma_root(2.5, p) / x, _SHARE[1::2], [0.3, 19.0]),
    "gdtrix": (lambda a, p: special.gdtrix(a, 2.5, p), lambda a, p: _gamma_root(2.5, p) / a, [0.3, 19.0], _SHARE[1::2]),
    "erfcinv": ((), lambda y: -_normal_root(y / 2) / mpmath.sqrt(2), [*_SHARE, 1.1, 1.7, 1.99]),
    "ndtri": ((), _normal_root, _SHARE),
    "ndtri_exp": ((), lambda y: _normal_root(mpmath.exp(y)), [-80.0, -19.0, -3.0, -1.1, -0.3, -1e-3, -1e-8]),
    "nrdtrimn": ((), lambda p, std, x: x - std * _normal_root(p), [1e-3, 0.3, 0.9], [0.3, 3.0], [-2.0, 0.7]),
    "nrdtrisd": ((), lambda mean, p, x: (x - mean) / _normal_root(p), [-2.0, 1e-3], [0.6, 0.9, 0.99], [0.7, 19.0]),
    "owens_t": ((), _OWEN, _FEW[:4], _FEW[:4]),
    "powm1": ((), lambda x, y: x**y - 1, _BASES, _EXPONENTS),
    "float_power": ((), lambda x, y: x**y, _BASES, _EXPONENTS),
    "boxcox by both": ((), lambda x, p: (x**p - 1) / p, _FEW, _POWERS),
    "boxcox1p": ((), lambda x, p: ((1 + x) ** p - 1) / p, [-0.6, *_FEW[1:]], _POWERS),
    "inv_boxcox": ((), lambda y, p: (1 + p * y) ** (1 / p), [-0.3, 0.3, 1.1, 3.0, 40.0], _INVERSE_POWERS),
    "inv_boxcox1p": ((), lambda y, p: (1 + p * y) ** (1 / p) - 1, [-0.3, 0.3, 1.1, 3.0, 40.0], _INVERSE_POWERS),
    "rel_entr": ((), lambda x, y: x * mpmath.log(x / y), _FEW, [3e-8, 0.4, 1.0, 2.5, 40.0]),
    "kl_div": ((), lambda x, y: x * mpmath.log(x / y) - x + y, _FEW, [3e-8, 0.4, 1.0, 2.5, 40.0]),
    **{f"special_{k}": ((), ONE[k][1], [x for x in _SIGNED if x > -1]) for k in ("cbrt", "exp2", "expm1", "log1p")},
    "wrightomega": ((), lambda x: mpmath.lambertw(mpmath.exp(x)).real, [-80.0, *_SIGNED, 80.0, 1e4]),
    "logaddexp2": ((), lambda a, b: mpmath.log(mpf(2) ** a + mpf(2) ** b, 2), _LOGARITHMS, _LOGARITHMS),
    "squared_sech": (sg.grad(lambda x: np.sum(np.tanh(x))), lambda x: mpmath.sech(x) ** 2, _SIGNED),
    **{f"{k}dg": ((), lambda x, k=k: getattr(mpmath, k)(mpmath.radians(x)), _ANGLES) for k in ("cos", "tan", "cot")},
    "zeta": (functools.partial(special.zeta, 2.5), functools.partial(mpmath.zeta, 2.5), _FEW),
    **{f"expn of {n}": ((n,), mpmath.expint, _SIZES) for n in (0, 1, 3)},
    "shichi_chi": ((), mpmath.chi, _SIZES),
    **{f"fresnel_{k}": ((), getattr(mpmath, f"fresnel{k}"), _TURNS) for k in "sc"},
    "ellipkm1": ((), lambda p: mpmath.ellipk(1 - p), [0.1, 0.4, 0.6, 0.9, 1.1, 1.4, 1.6, 7.0]),
    "ellipkinc": ((), mpmath.ellipf, *_WHERE_ELLIPTIC),
    "ellipeinc": ((), mpmath.ellipe, *_WHERE_ELLIPTIC),
    **{f"ellipj_{k}": ((), _elliptic(k), _FEW[1:4], _SHARE[3:6]) for k in ("sn", "cn", "dn")},
    "ellipj_ph": ((), lambda u, m: mpmath.atan2(_elliptic("sn")(u, m), _elliptic("cn")(u, m)), _FEW[1:4], _SHARE[3:6]),
    "elliprc": ((), mpmath.elliprc, [1e-8, 0.3, 1.1, 19.0], [1e-3, 0.4, 1.2, 40.0]),
    **{k: ((), getattr(mpmath, k), [1e-3, 19.0], [0.4, 1.2], [0.7, 3.0]) for k in ("elliprd", "elliprf")},
    "agm": ((), mpmath.agm, [1e-3, 0.3, 1.1, 19.0], [1e-2, 0.4, 1.2, 40.0]),
    **{f"eval_{k}": ((5,), p, _SHARE if k[:3] == "sh_" else _UNIT) for k, p in _POLYNOMIALS.items()},
    "eval_laguerre": ((5,), lambda n, x: mpmath.laguerre(n, 0, x), _SIZES),
    "eval_genlaguerre": ((5, 1.25), mpmath.laguerre, _SIZES),
    "eval_gegenbauer": ((5, 1.25), mpmath.gegenbauer, _UNIT),
    "eval_jacobi": ((5, 1.25, 0.75), mpmath.jacobi, _UNIT),
    "eval_sh_jacobi": (
        (5, 3.25, 1.75),
        lambda *x: mpmath.jacobi(5, 1.5, 0.75, 2 * x[3] - 1) / mpmath.binomial(12.25, 5),
        _SHARE,
    ),
    "lpmv of 0": ((0, 3), lambda m, v, x: (5 * x**3 - 3 * x) / 2, _UNIT),
    "lpmv of 1": ((1, 3), lambda m, v, x: -mpmath.sqrt(1 - x * x) * (15 * x * x - 3) / 2, _UNIT),
    "hyp0f1": ((1.75,), mpmath.hyp0f1, [-19.0, -3.0, *_SIZES]),
    "hyp1f1": ((0.75, 1.875), mpmath.hyp1f1, [-80.0, -19.0, -3.0, *_SIZES]),
    "hyp2f1": ((0.75, 1.25, 1.875), mpmath.hyp2f1, [-19.0, -3.0, 1e-8, *_UNIT]),
    "hyperu": ((0.75, 1.25), mpmath.hyperu, [*_SIZES[:6], 40.0, 80.0]),
}
_ELLIPTIC = "ellipkinc ellipeinc ellipj_sn ellipj_cn ellipj_dn ellipj_ph"
_SCALED_AIRY = "airye_ai airye_aip airye_bi airye_bip"
#: points at which functions of the table lose what they keep elsewhere
_LOSING = {
    **dict.fromkeys(("beip", "it2i0k0_i0", "it2j0y0_j0", "it2struve0"), ([*_TINY, 0.1],)),
    **dict.fromkeys(("poch", "beta", "betaln"), ([1e-8, 1e-3, 0.3, 19.0], [1e-8, 1e-3, 0.3])),
    "binom": ([3.1, 7.0, 19.0, 80.0], _TINY),
    "boxcox1p": (_TINY, _POWERS),
    **dict.fromkeys(("inv_boxcox", "inv_boxcox1p"), ([1e-8, -1e-3], _INVERSE_POWERS)),
    "ellipkm1": (_TINY,),
    **dict.fromkeys(_ELLIPTIC.split(), ([1e-8, 0.3, 3.0], [1e-8, 0.7])),
    **dict.fromkeys(_SCALED_AIRY.split(), ([40.0, 80.0],)),
}
TABLE |= {f"{name} where it loses": (*TABLE[name][:2], *grids) for name, grids in _LOSING.items()}

_SUBTRACTED = "terms that are alike are subtracted"
_EXPONENT = "the argument of an exponential or of a sine is large, and rounded"
#: why, and of which functions -> how many units slopes and curvatures are off, in all precisions
_LOOSER = {
    "SciPy's own values have up to 200 units, and more near zeros of the slope": {
        "jv jve": (256.0, 2048.0),
        "yv yve": (256.0, 32.0),
        "yn": (2048.0, 64.0),
        "j1 y0 itj0y0_j0 itj0y0_y0 itstruve0 it2struve0 it2j0y0_j0 it2j0y0_y0": (256.0, 256.0),
        "ber bei ker kei berp kerp keip tandg": (128.0, 256.0),
        "kv airy_ai airy_aip airy_bi airy_bip pbdv_value pbvv_value pbvv_slope pbwa_value pbwa_slope": (32.0, 32.0),
        "eval_legendre eval_chebyt eval_sh_legendre eval_sh_chebyt eval_sh_chebyu": (64.0, 16.0),
        "eval_gegenbauer eval_sh_jacobi hyp1f1 hyp2f1 hyperu inv_boxcox inv_boxcox1p": (64.0, 64.0),
    },
    _ZERO: {
        "rgamma": (128.0, 1024.0),
        "gammaincinv gammainccinv gdtria gdtrix": (32.0, 65536.0),
        "fdtri shichi_chi squared_sech": (BOUND, 16.0),
    },
    _SUBTRACTED: {
        "ive kve": (1024.0, 32768.0),
        "beip": (32.0, 4096.0),
        "struve": (1024.0, 16384.0),
        _SCALED_AIRY: (512.0, 131072.0),
        "it2i0k0_i0": (128.0, 128.0),
        "poch binom beta betaln": (2048.0, 16384.0),
        "wrightomega": (BOUND, 4096.0),
        _ELLIPTIC: (BOUND, 512.0),
        "elliprd": (BOUND, 32.0),
    },
    _EXPONENT: {
        "gammainc gammaincc": (512.0, 512.0),
        "betainc betaincc bdtr bdtrc nbdtr nbdtrc pdtr pdtrc": (128.0, 128.0),
        "pdtri erfcinv owens_t boxcox": (32.0, 64.0),
        "nbdtri chdtri stdtrit ndtri ndtri_exp nrdtrimn logaddexp2 fresnel_s fresnel_c": (32.0, 32.0),
    },
    "the value is near 1, and so what is left to 1 is rounded": {"betainccinv bdtri": (512.0, 2048.0)},
    "the parameter of an elliptic integral is near 1, and rounded": {"agm": (16384.0, 32768.0)},
    "x² - 1, by which it is divided, is small": {"lpmv": (128.0, 4096.0)},
    "open: 1, or a value at 0, is subtracted": {"it2i0k0_i0 it2j0y0_j0": (np.inf, np.inf)},
    "open: two quotients by x are subtracted": {"beip it2struve0": (BOUND, np.inf)},
    "open: digammas of neighbours are subtracted": {"poch binom beta betaln": (np.inf, np.inf)},
    "open: log(1 + x) is taken of what is rounded": {"boxcox1p inv_boxcox inv_boxcox1p": (BOUND, np.inf)},
    "open: the slope of E is infinite at 1 - p, which is rounded to 1": {"ellipkm1": (BOUND, np.inf)},
    "open: of Carlson's forms of alike arguments": {_ELLIPTIC: (16.0, np.inf)},
    "open: terms that are alike are subtracted twice": {_SCALED_AIRY: (4096.0, np.inf)},
}
LOOSER = {
    name + " where it loses" * why.startswith("open"): (*bounds, why)
    for why, rows in _LOOSER.items()
    for names, bounds in rows.items()
    for name in names.split()
}


def _function(name):
    """What a user writes for an operation."""
    ufunc = (OPERATIONS.get(name) or ELEMENTWISE[name]).ufunc
    return (lambda *xs: ufunc.ufunc(*xs)[ufunc.place]) if isinstance(ufunc, Component) else ufunc


def _derivatives(exact, given, x):
    """By which operands -> the first and the second derivatives."""
    steps = [abs(v) * STEP for v in x]

    def of(function, *moves):
        return function(*given, *[v + h * sum(s for k, s in moves if k == j) for j, (v, h) in enumerate(zip(x, steps))])

    def difference(terms, by):
        made = mpmath.fsum(terms)
        return made / by if abs(made) > max(map(abs, terms)) * mpf(10) ** (8 - DIGITS) else mpf(0)

    for k, h in enumerate(steps):
        if isinstance(exact, tuple):
            slope = exact[k]
            yield (k,), of(slope)
            yield from (
                ((j, k), difference([of(slope, (j, 1)), -of(slope, (j, -1))], 2 * steps[j])) for j in range(k + 1)
            )
            continue
        above, below = of(exact, (k, 1)), of(exact, (k, -1))
        yield (k,), difference([above, -below], 2 * h)
        yield (k, k), difference([above, -2 * of(exact), below], h**2)
        for j in range(k):
            corners = [s * t * of(exact, (k, s), (j, t)) for s in (1, -1) for t in (1, -1)]
            yield (j, k), difference(corners, 4 * h * steps[j])


def _worst(name, kind):
    """By which operands -> the largest error in units, and where."""
    given, exact, *grids = TABLE[name]
    function, given = (given, ()) if callable(given) else (_function(name.split()[0]), given)
    points = sorted({tuple(map(kind, p)) for p in itertools.product(*grids)})
    columns = [np.array(c, kind) for c in zip(*points, strict=True)]
    places = tuple(range(len(columns)))
    gradient = sg.grad(lambda *xs: np.sum(function(*given, *xs)), places)
    with np.errstate(all="ignore"):
        first = gradient(*columns)
        second = [sg.grad(lambda *xs, k=k: np.sum(gradient(*xs)[k]), places)(*columns) for k in places]
    worst = {}
    with mpmath.workdps(DIGITS):
        before = [mpf(v) if isinstance(v, float) else v for v in given]
        for row, point in enumerate(points):
            for by, want in _derivatives(exact, before, [mpf(float(v)) for v in point]):
                got = first[by[0]][row] if len(by) == 1 else second[by[0]][by[1]][row]
                found = (_units(got, want, kind), tuple(map(float, point)), float(got), mpmath.nstr(want, 9))
                worst[by] = max(worst.get(by, (0.0,)), found)
    return worst


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:non-integer arg n:DeprecationWarning")
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("name", TABLE)
def test_functions_of_scipy(name, kind):
    *bounds, _ = LOOSER.get(name) or LOOSER.get(name.split()[0], (BOUND, BOUND, ""))
    for by, (units, *where) in _worst(name, kind).items():
        assert units <= bounds[len(by) - 1], f"{name} by {by}: {units:.3g} units at {where}"


#: why the other operations are in no table
WITHOUT = {
    **dict.fromkeys(("add", "subtract", "negative", "positive", "conjugate", "real", "imag"), "its slope is constant"),
    **dict.fromkeys(("rad2deg", "radians", "degrees", "radian", "ldexp"), "its slope is constant"),
    **dict.fromkeys(("maximum", "minimum", "fmax", "fmin", "where", "heaviside", "at_kink"), "its slope is 0 or 1"),
    **dict.fromkeys(("copysign", "fabs"), "its slope is 1 or -1"),
    **dict.fromkeys(("remainder", "fmod"), "its slopes are whole numbers"),
    **dict.fromkeys(("floor", "ceil", "trunc", "rint", "sign", "floor_divide", "gammasgn"), "it is a step"),
    **dict.fromkeys(TRUTHS, "its values are truth values"),
    **dict.fromkeys((*ON_BITS, "invert"), "its operands are whole numbers"),
    **dict.fromkeys(("sici_si", "sici_ci", "shichi_shi"), "it is in the other table as si, ci or shi"),
    "norm_sqrt": "it is sqrt under another name",
    "zetac": "its slope is refused",
}


def test_every_operation_is_in_a_table():
    compared = {*ONE, *TWO, *OTHERS, *(name.split()[0] for name in TABLE)}
    assert {*OPERATIONS, *ELEMENTWISE} - compared == WITHOUT.keys()
