"""The functions of ``scipy.special`` that have derivatives; imported where a traced function calls one of them.

scipy is optional: nothing else in symgrad imports this package. What compiled loops know is in ``compiled``; what SciPy
alone computes stands in a room for each family, one declaration a function (``declaring`` says how).
"""

from __future__ import annotations

from typing import Any

from ..elementwise import Elementwise
from . import bessel, compiled, distributions, elementary, error, gamma, integrals, polynomials
from .compiled import digamma, erf, erfc, erfcx, expit, gammaln, log_ndtr, logit, ndtr, xlogy, zeta
from .declaring import DOMAINS, OPERATIONS, SEVERAL

ROOMS = (bessel, compiled, distributions, elementary, error, gamma, integrals, polynomials)
#: scipy's ufunc -> Elementwise: of those with a compiled form, and of all
COMPILED: dict[Any, Elementwise] = {
    t.ufunc: t for t in (erf, erfc, erfcx, digamma, gammaln, expit, logit, xlogy, ndtr, log_ndtr)
}
SPECIAL: dict[Any, Elementwise] = {**{t.ufunc: t for t in OPERATIONS.values()}, **COMPILED}
#: every operation here, also those that derivatives alone bring in
EVERY = (*SPECIAL.values(), zeta)

__all__ = ["COMPILED", "DOMAINS", "EVERY", "OPERATIONS", "SEVERAL", "SPECIAL", "digamma", "zeta"]
