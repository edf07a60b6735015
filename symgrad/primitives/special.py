"""The ufuncs of ``scipy.special`` that have derivatives; imported where a traced function calls one of them.

Their tables are those of ``functions.py``. scipy is optional: nothing else in symgrad imports this module.
"""

from __future__ import annotations

import math
from typing import Any

import sympy
from scipy import special

from ..program.node import Node
from .contraction import gate
from .elementwise import SLOTS, Elementwise
from .functions import ANY, NONZERO, add, declare, divide, exp, less, log, multiply, negative, square, subtract, where

A, B, _ = SLOTS
POSITIVE = (0.3, 5.0)
_TWO_BY_ROOT_PI = 2 / math.sqrt(math.pi)
_ROOT_TWO_BY_PI, _ROOT_HALF = math.sqrt(2 / math.pi), math.sqrt(0.5)
#: below it the density by the distribution is computed without their quotient
_TAIL = -10.0


def _bell(a: Node, factor: float) -> Node:
    """``factor · exp(-a²)``."""
    return multiply(factor, exp(negative(square(a))))


erf = declare("erf", special.erf, sympy.erf(A), partials=(lambda a: _bell(a, _TWO_BY_ROOT_PI),))
erfc = declare("erfc", special.erfc, sympy.erfc(A), partials=(lambda a: _bell(a, -_TWO_BY_ROOT_PI),))
erfcx = declare(
    "erfcx",
    special.erfcx,
    sympy.exp(A**2) * sympy.erfc(A),
    partials=(lambda a: subtract(multiply(2, multiply(a, erfcx(a))), _TWO_BY_ROOT_PI),),
)
zeta = declare(
    "zeta",
    special._ufuncs._zeta,
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


def _density_by_distribution(a: Node) -> Node:
    """``φ(a)/Φ(a)``, without overflow on the right and cancellation on the left."""
    left = divide(_ROOT_TWO_BY_PI, erfcx(multiply(-_ROOT_HALF, a)))
    right = multiply(_ROOT_TWO_BY_PI / 2, exp(subtract(multiply(-0.5, square(a)), log_ndtr(a))))
    return where(less(a, _TAIL), left, right)


_NDTR = (1 + sympy.erf(A / sympy.sqrt(2))) / 2
ndtr = declare("ndtr", special.ndtr, _NDTR, partials=(_normal_density,))
log_ndtr = declare("log_ndtr", special.log_ndtr, sympy.log(_NDTR), partials=(_density_by_distribution,))

#: scipy's ufunc -> Elementwise
SPECIAL: dict[Any, Elementwise] = {
    t.ufunc: t for t in (erf, erfc, erfcx, digamma, gammaln, expit, logit, xlogy, ndtr, log_ndtr)
}
