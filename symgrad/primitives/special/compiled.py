"""The functions of ``scipy.special`` that compiled loops and exports to other languages know too.

Their tables are those of ``functions.py``.
"""

from __future__ import annotations

import math

import sympy
from scipy import special

from ...program.node import Node
from ..contraction import gate
from ..elementwise import SLOTS
from ..functions import ANY, NONZERO, add, declare, divide, exp, less, log, multiply, negative, square, subtract, where
from .declaring import Value, fn

A, B, *_ = SLOTS
POSITIVE = (0.3, 5.0)
_TWO_BY_ROOT_PI = 2 / math.sqrt(math.pi)
_ROOT_TWO_BY_PI, _ROOT_HALF = math.sqrt(2 / math.pi), math.sqrt(0.5)
#: below it the density by the distribution is computed without their quotient
_TAIL = 0.0
#: beyond it the derivatives of erfcx and of Dawson's integral are asymptotic series
FAR = 8.0


def _bell(a: Node, factor: float) -> Node:
    """``factor · exp(-a²)``."""
    return multiply(factor, exp(negative(square(a))))


erf = declare("erf", special.erf, sympy.erf(A), partials=(lambda a: _bell(a, _TWO_BY_ROOT_PI),))
erfc = declare("erfc", special.erfc, sympy.erfc(A), partials=(lambda a: _bell(a, -_TWO_BY_ROOT_PI),))


def tail(x: Value, sign: int) -> Value:
    """``∑ ±(2k - 1)‼ / (2x²)^k`` over k = 1, 2, …, for ``|x|`` beyond FAR: 20 terms are all that count."""
    r = sign / (2 * fn.square(fn.maximum(fn.absolute(x), FAR)))
    series = 39 * r
    for factor in range(37, 0, -2):
        series = factor * r * (1 + series)
    return series


def _erfcx_slope(a: Node) -> Node:
    """``2a erfcx(a) - 2/√π``, and the asymptotic series where that cancels."""
    x = Value(a)
    near = 2 * x * fn.erfcx(x) - _TWO_BY_ROOT_PI
    return near.node if a.is_complex else fn.where(x > FAR, _TWO_BY_ROOT_PI * tail(x, -1), near).node


erfcx = declare("erfcx", special.erfcx, sympy.exp(A**2) * sympy.erfc(A), partials=(_erfcx_slope,))
# of orders that are numbers, for which tracing sees to it
zeta = declare(
    "zeta",
    special._ufuncs._zeta,  # pyright: ignore[reportPrivateUsage]  # the public one is no ufunc
    sympy.zeta(A, B),
    partials=(None, lambda s, q: negative(multiply(s, zeta(add(s, 1), q)))),
    domain=((1.5, 4.0), POSITIVE),
)
digamma = declare("digamma", special.psi, sympy.digamma(A), partials=(lambda a: zeta(2.0, a),), domain=(POSITIVE,))
gammaln = declare(
    "gammaln",
    special.gammaln,
    sympy.log(sympy.Abs(sympy.gamma(A))),
    partials=(lambda a: digamma(a),),
    domain=(POSITIVE,),
)
expit = declare(
    "expit", special.expit, 1 / (1 + sympy.exp(-A)), partials=(lambda a: multiply(expit(a), expit(negative(a))),)
)
logit = declare(
    "logit",
    special.logit,
    sympy.log(A / (1 - A)),
    partials=(lambda a: divide(1, multiply(a, subtract(1, a))),),
    domain=((0.1, 0.9),),
)
xlogy = declare(
    "xlogy",
    special.xlogy,
    A * sympy.log(B),
    partials=(lambda a, b: log(b), lambda a, b: gate(a, divide(1, b))),
    domain=(ANY, NONZERO),
)


def _normal_density(a: Node) -> Node:
    return multiply(_ROOT_TWO_BY_PI / 2, exp(multiply(-0.5, square(a))))


def density_by_distribution(a: Node) -> Node:
    """``φ(a)/Φ(a)``, without overflow on the right and cancellation on the left."""
    left = divide(_ROOT_TWO_BY_PI, erfcx(multiply(-_ROOT_HALF, a)))
    right = multiply(_ROOT_TWO_BY_PI / 2, exp(subtract(multiply(-0.5, square(a)), log_ndtr(a))))
    return where(less(a, _TAIL), left, right)


_NDTR = (1 + sympy.erf(A / sympy.sqrt(2))) / 2
ndtr = declare("ndtr", special.ndtr, _NDTR, partials=(_normal_density,))
log_ndtr = declare("log_ndtr", special.log_ndtr, sympy.log(_NDTR), partials=(density_by_distribution,))
