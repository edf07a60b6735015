"""How many digits slopes and curvatures keep, over the whole domain, against differences in 1200 digits by mpmath.

An error is counted in units in the last place of the true number, where that is a normal number of the precision.
``BOUND`` holds for every function but those in ``LOOSER``, which says why.
"""

from __future__ import annotations

import itertools

import mpmath
import numpy as np
import pytest
from scipy import special

import symgrad as sg

BOUND = 8.0
#: digits of the reference, and of the step that is a part of the argument
DIGITS, STEP = 1200, 60
FEWER_DIGITS, LONGER_STEP = 120, 25

_SIZES = [10.0**k for k in (-300, -155, -100, -20, -8, -3, -1, 8, 10, 20, 100, 150, 155, 200, 300)]
_ORDINARY = [0.3, 0.7, 0.9, 1.0, 1.1, 2.0, 3.0, 7.0, 10.0, 19.0, 40.0, 80.0, 300.0, 700.0, 1e4]
POSITIVE = sorted(_SIZES + _ORDINARY)
REAL = sorted([*POSITIVE, 0.0, *(-x for x in POSITIVE)])
NONZERO = [x for x in REAL if x]
TURNS = [x for x in REAL if abs(x) < 1e20]
SMALL = [x for x in REAL if abs(x) < 26]
INSIDE = sorted({*(x for x in REAL if abs(x) < 1), *(s * (1 - 2.0**-k) for k in (8, 20) for s in (1, -1))})
SHARE = [x for x in INSIDE if x > 0]
BEYOND_ONE = sorted({*(x for x in POSITIVE if x > 1), *(1 + 2.0**-k for k in (8, 20))})
ABOVE_MINUS_ONE = sorted({*(x for x in REAL if x > -1), *(-1 + 2.0**-k for k in (8, 20))})
PLANE = [s * x for x in (1e-300, 1e-160, 1e-20, 1e-3, 1.0, 2.5, 1e8, 1e100, 1e160, 1e300) for s in (1, -1)]
QUADRANT = [x for x in PLANE if x > 0]
LOGARITHMS = [-700.0, -40.0, -3.0, -1e-20, 1e-5, 0.5, 2.5, 40.0, 700.0]
EXPONENTS = [-2.5, -1.0, -0.5, 0.5, 1.5, 3.0, 7.0]

_log_one_plus = lambda x: mpmath.log(1 + x)  # noqa: E731


def _sigmoid(x):
    return 1 / (1 + mpmath.exp(-x))


#: function, the same in mpmath, its points, and whether it is smooth at 0: there steps need not be small beside x
ONE = {
    "square": (np.square, lambda x: x * x, REAL, True),
    "reciprocal": (np.reciprocal, lambda x: 1 / x, NONZERO, False),
    "sqrt": (np.sqrt, mpmath.sqrt, POSITIVE, False),
    "cbrt": (np.cbrt, lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), NONZERO, False),
    "absolute": (np.absolute, abs, NONZERO, False),
    "exp": (np.exp, mpmath.exp, REAL, True),
    "exp2": (np.exp2, lambda x: mpmath.mpf(2) ** x, REAL, True),
    "expm1": (np.expm1, mpmath.expm1, REAL, True),
    "log": (np.log, mpmath.log, POSITIVE, False),
    "log2": (np.log2, lambda x: mpmath.log(x) / mpmath.log(2), POSITIVE, False),
    "log10": (np.log10, lambda x: mpmath.log(x) / mpmath.log(10), POSITIVE, False),
    "log1p": (np.log1p, _log_one_plus, ABOVE_MINUS_ONE, True),
    "sin": (np.sin, mpmath.sin, TURNS, True),
    "cos": (np.cos, mpmath.cos, TURNS, True),
    "tan": (np.tan, mpmath.tan, TURNS, True),
    "arcsin": (np.arcsin, mpmath.asin, INSIDE, True),
    "arccos": (np.arccos, mpmath.acos, INSIDE, True),
    "arctan": (np.arctan, mpmath.atan, REAL, True),
    "sinh": (np.sinh, mpmath.sinh, REAL, True),
    "cosh": (np.cosh, mpmath.cosh, REAL, True),
    "tanh": (np.tanh, mpmath.tanh, REAL, True),
    "arcsinh": (np.arcsinh, lambda x: mpmath.sign(x) * mpmath.log(abs(x) + mpmath.sqrt(1 + x * x)), REAL, True),
    "arccosh": (np.arccosh, lambda x: mpmath.log(x + mpmath.sqrt(x * x - 1)), BEYOND_ONE, False),
    "arctanh": (np.arctanh, lambda x: (mpmath.log(1 + x) - mpmath.log(1 - x)) / 2, INSIDE, True),
    "deg2rad": (np.deg2rad, lambda x: x * mpmath.pi / 180, REAL, True),
    "erf": (special.erf, mpmath.erf, SMALL, True),
    "erfc": (special.erfc, mpmath.erfc, SMALL, True),
    "expit": (special.expit, _sigmoid, REAL, True),
    "log_expit": (special.log_expit, lambda x: -mpmath.log(1 + mpmath.exp(-x)), REAL, True),
    "logit": (special.logit, lambda x: mpmath.log(x / (1 - x)), SHARE, False),
    "ndtr": (special.ndtr, mpmath.ncdf, SMALL, True),
    "entr": (special.entr, lambda x: -x * mpmath.log(x), POSITIVE, False),
    "exprel": (special.exprel, lambda x: mpmath.expm1(x) / x, [x for x in NONZERO if abs(x) < 600], True),
    "cosm1": (special.cosm1, lambda x: mpmath.cos(x) - 1, TURNS, True),
    "exp10": (special.exp10, lambda x: mpmath.mpf(10) ** x, [x for x in REAL if abs(x) < 1e4], True),
    "logistic": (lambda x: 1 / (1 + np.exp(-x)), _sigmoid, REAL, True),
    "softplus": (lambda x: np.log(1 + np.exp(x)), lambda x: mpmath.log(1 + mpmath.exp(x)), REAL, True),
    "one by cosh": (lambda x: 1 / np.cosh(x), mpmath.sech, REAL, True),
    "log of cosh": (lambda x: np.log(np.cosh(x)), lambda x: mpmath.log(mpmath.cosh(x)), REAL, True),
    "Lorentz curve": (lambda x: 1 / (1 + x * x), lambda x: 1 / (1 + x * x), REAL, True),
}
TWO = {
    "divide": (np.divide, lambda a, b: a / b, PLANE, PLANE),
    "multiply": (np.multiply, lambda a, b: a * b, PLANE, PLANE),
    "arctan2": (np.arctan2, mpmath.atan2, PLANE, PLANE),
    "hypot": (np.hypot, lambda a, b: mpmath.sqrt(a * a + b * b), *[[x for x in PLANE if abs(x) > 1e-200]] * 2),
    "logaddexp": (np.logaddexp, lambda a, b: mpmath.log(mpmath.exp(a) + mpmath.exp(b)), LOGARITHMS, LOGARITHMS),
    "power": (np.power, lambda a, b: a**b, [1e-30, 1e-3, 0.5, 1.5, 10.0, 1e10], EXPONENTS),
    "xlogy": (special.xlogy, lambda a, b: a * mpmath.log(b), PLANE, QUADRANT),
    "xlog1py": (special.xlog1py, lambda a, b: a * _log_one_plus(b), PLANE, QUADRANT),
    "huber": (
        special.huber,
        lambda d, r: r * r / 2 if abs(r) <= d else d * (abs(r) - d / 2),
        QUADRANT,
        [1.01 * x for x in PLANE],
    ),
    "pseudo_huber": (special.pseudo_huber, lambda d, r: d * d * (mpmath.sqrt(1 + (r / d) ** 2) - 1), QUADRANT, PLANE),
}

#: further functions of SciPy, of which mpmath has not so many digits in reasonable time
_FAR = [x for x in POSITIVE if 1e-20 <= x <= 700] + [2.5e3, 1e6]
_BOTH = sorted([*_FAR, *(-x for x in _FAR)])
_SCALED = [1e-8, 1e-3, 0.1, 0.3, 0.7, 1.1, 2.0, 3.0, 7.0, 10.0, 19.0, 40.0, 80.0]
_FEW = [1e-8, 0.3, 3.0, 19.0, 40.0, 300.0]  # of which mpmath is slow
OTHERS = {
    "erfcx": (special.erfcx, lambda x: mpmath.exp(x * x) * mpmath.erfc(x), [x for x in _BOTH if x > -20], True),
    "erfi": (special.erfi, mpmath.erfi, [x for x in _BOTH if abs(x) < 26], True),
    "dawsn": (special.dawsn, lambda x: mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x), _BOTH, True),
    "erfinv": (special.erfinv, mpmath.erfinv, [x for x in INSIDE if abs(x) > 1e-20], True),
    "log_ndtr": (special.log_ndtr, lambda x: mpmath.log(mpmath.ncdf(x)), [x for x in _BOTH if -300 < x < 10], True),
    "gamma": (special.gamma, mpmath.gamma, [x for x in _FAR if x < 170], False),
    "gammaln": (special.gammaln, mpmath.loggamma, _FAR, False),
    "digamma": (special.digamma, mpmath.digamma, _FAR, False),
    "exp1": (special.exp1, mpmath.e1, _SCALED, False),
    "expi": (special.expi, mpmath.ei, _SCALED, False),
    "i0": (special.i0, lambda x: mpmath.besseli(0, x), _SCALED, True),
    "i1": (special.i1, lambda x: mpmath.besseli(1, x), _SCALED, True),
    "i0e": (special.i0e, lambda x: mpmath.besseli(0, x) * mpmath.exp(-x), _FAR, False),
    "i1e": (special.i1e, lambda x: mpmath.besseli(1, x) * mpmath.exp(-x), _FAR, False),
    "k0e": (special.k0e, lambda x: mpmath.besselk(0, x) * mpmath.exp(x), _FEW, False),
    "k1e": (special.k1e, lambda x: mpmath.besselk(1, x) * mpmath.exp(x), _FEW, False),
    "j0": (special.j0, mpmath.j0, _SCALED, True),
    "y1": (special.y1, lambda x: mpmath.bessely(1, x), _SCALED, False),
    "spence": (special.spence, lambda x: mpmath.polylog(2, 1 - x), _SCALED, False),
    "ellipk": (special.ellipk, mpmath.ellipk, [x for x in SHARE if x > 1e-20], True),
    "ellipe": (special.ellipe, mpmath.ellipe, [x for x in SHARE if x > 1e-20], True),
    "loggamma": (special.loggamma, mpmath.loggamma, _FAR, False),
    "boxcox": (lambda x: special.boxcox(x, 0.5), lambda x: (mpmath.sqrt(x) - 1) * 2, _FAR, False),
    "shi": (lambda x: special.shichi(x)[0], mpmath.shi, _SCALED, True),
    "si": (lambda x: special.sici(x)[0], mpmath.si, _SCALED, True),
    "ci": (lambda x: special.sici(x)[1], mpmath.ci, _SCALED, False),
    "sindg": (special.sindg, lambda x: mpmath.sin(x * mpmath.pi / 180), _BOTH, True),
}

_ZERO = "it has a zero at an ordinary point, near which it is a difference"
_SUBTRACTED = "terms that are alike are subtracted at ordinary points; far out a series or Tricomi's function is taken"
_SQUARES = "the inverse square of the distance is no number of this precision while its product with the angle is"
#: function and what is derived -> how many units, in all precisions, and why
LOOSER = {
    ("expit", (0, 0)): (np.inf, _ZERO),
    ("logistic", (0, 0)): (np.inf, _ZERO),
    ("one by cosh", (0, 0)): (200.0, _ZERO),
    ("Lorentz curve", (0, 0)): (16.0, _ZERO),
    ("entr", (0,)): (64.0, _ZERO),
    ("arctan2", (0, 0)): (np.inf, _SQUARES),
    ("arctan2", (1, 1)): (np.inf, _SQUARES),
    ("arctan2", (0, 1)): (np.inf, _ZERO + ", and " + _SQUARES),
    ("logaddexp", (0,)): (200.0, "a - b is rounded, by up to half a unit of 1400"),
    ("logaddexp", (1,)): (200.0, "a - b is rounded, by up to half a unit of 1400"),
    ("logaddexp", (0, 0)): (400.0, "a - b is rounded, by up to half a unit of 1400"),
    ("logaddexp", (1, 1)): (400.0, "a - b is rounded, by up to half a unit of 1400"),
    ("logaddexp", (0, 1)): (400.0, "a - b is rounded, by up to half a unit of 1400"),
    ("xlogy", (1, 1)): (np.inf, "the inverse square of b is no number while its product with a is"),
    ("xlog1py", (1, 1)): (np.inf, "the inverse square of b is no number while its product with a is"),
    ("pseudo_huber", (0,)): (np.inf, "the square of r over a large width is no number while its product is"),
    ("pseudo_huber", (0, 0)): (np.inf, "terms that are alike far out are subtracted"),
    ("pseudo_huber", (0, 1)): (np.inf, "terms that are alike far out are subtracted"),
    ("pseudo_huber", (1,)): (np.inf, "r over a much larger width is no number while its product is"),
    ("pseudo_huber", (1, 1)): (np.inf, "r over a much larger width is no number while its product is"),
    ("erfcx", (0,)): (128.0, _SUBTRACTED),
    ("erfcx", (0, 0)): (8192.0, _SUBTRACTED),
    ("dawsn", (0,)): (64.0, _SUBTRACTED),
    ("dawsn", (0, 0)): (4096.0, _SUBTRACTED),
    ("erfinv", (0,)): (16.0, "the square of its value is in an exponential"),
    ("erfinv", (0, 0)): (32.0, "the square of its value is in an exponential"),
    ("log_ndtr", (0, 0)): (64.0, _SUBTRACTED),
    ("i1e", (0,)): (16.0, _ZERO),
    ("i1e", (0, 0)): (32.0, _ZERO),
    **{(f"k{order}e", (0,)): (32.0, _SUBTRACTED) for order in (0, 1)},
    **{(f"k{order}e", (0, 0)): (512.0, _SUBTRACTED) for order in (0, 1)},
    **{(name, (0,)): (256.0, _ZERO) for name in ("j0", "y1")},
    **{(name, (0, 0)): (512.0, _ZERO) for name in ("j0", "y1")},
    ("power", (0, 1)): (64.0, _ZERO),
    ("divide", (1, 1)): (np.inf, "the inverse square of b is no number while its product with a is"),
}


def _differences(exact, point, smooth, step):
    """The first and second derivatives at a point, by central differences; by which operands -> the number."""
    point = [mpmath.mpf(float(x)) for x in point]
    least = mpmath.mpf(10) ** -100 if smooth else 0
    steps = [max(abs(x), least) * mpmath.mpf(10) ** -step for x in point]

    def at(*moves):
        return exact(*[x + m * h for x, m, h in zip(point, moves, steps, strict=True)])

    made = {}
    here = at(*[0] * len(point))
    for k, h in enumerate(steps):
        above, below = (at(*[s * (j == k) for j in range(len(point))]) for s in (1, -1))
        made[(k,)], made[k, k] = (above - below) / (2 * h), (above - 2 * here + below) / h**2
    if len(point) == 2:
        mixed = at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)
        made[0, 1] = mixed / (4 * steps[0] * steps[1])
    return made


def _units(got, want, kind):
    """How far ``got`` is from the true number, in units in its last place; 0 where that is no normal number."""
    limits = np.finfo(kind)
    if abs(want) > float(limits.max):
        return 0.0 if abs(float(got)) > 0.99 * float(limits.max) else np.inf
    if abs(want) < float(limits.tiny):
        return 0.0 if abs(float(got)) <= 2 * float(limits.tiny) else np.inf
    return float(abs(mpmath.mpf(float(got)) - want) / abs(want)) / float(limits.eps) if np.isfinite(got) else np.inf


def _worst(function, exact, grids, kind, smooth=False, digits=DIGITS, step=STEP):
    limits = np.finfo(kind)
    with np.errstate(all="ignore"):
        points = [tuple(map(kind, p)) for p in itertools.product(*grids)]
        points = sorted({p for p in points if all(np.isfinite(x) and (x == 0 or abs(x) >= limits.tiny) for x in p)})
        points = [p for p in points if not any(x == 0 for x in p) or any(0.0 in grid for grid in grids)]
        columns = [np.array([p[k] for p in points], kind) for k in range(len(grids))]
        places = tuple(range(len(grids)))
        gradient = sg.grad(lambda *xs: np.sum(function(*xs)), places)
        first = gradient(*columns)
        second = [sg.grad(lambda *xs, k=k: np.sum(gradient(*xs)[k]), places)(*columns) for k in places]
    worst = {}
    with mpmath.workdps(digits):
        for row, point in enumerate(points):
            for by, want in _differences(exact, point, smooth, step).items():
                got = first[by[0]][row] if len(by) == 1 else second[by[0]][by[1]][row]
                worst[by] = max(
                    worst.get(by, (0.0,)), (_units(got, want, kind), point, float(got), mpmath.nstr(want, 9))
                )
    return worst


def _check(name, worst):
    for by, (units, *where) in worst.items():
        bound, _ = LOOSER.get((name, by), (BOUND, ""))
        assert units <= bound, f"{name} by {by}: {units:.3g} units at {where}"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number(name, kind):
    function, exact, points, smooth = ONE[name]
    _check(name, _worst(function, exact, [points], kind, smooth))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("name", OTHERS)
def test_other_functions_of_one_number(name, kind):
    function, exact, points, smooth = OTHERS[name]
    _check(name, _worst(function, exact, [points], kind, smooth, FEWER_DIGITS, LONGER_STEP))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_numbers(name, kind):
    function, exact, *grids = TWO[name]
    _check(name, _worst(function, exact, grids, kind))
