"""The words that nothing of a user's is called in Fortran."""

from __future__ import annotations

from ..loops.language import STATUSES
from .procedures import WRITTEN
from .spelling import KINDS

#: statements and intrinsic functions; Fortran reserves none, but a name that is one of them cannot be called any more
_WORDS = """
    abs acos acosh aint allocatable allocate allocated anint any asin asinh associate atan atan2 atanh bit_size
    block call case character close complex contains cos cosh cycle data deallocate default dimension do double
    elemental else elseif elsewhere end enddo endif entry epsilon equivalence erf erfc erfc_scaled exit exp
    exponent external false floor format forall fraction function go goto hypot huge iand if ieee_arithmetic
    ieee_is_finite ieee_is_nan ieor implicit in inout int integer intent interface intrinsic ior iso_fortran_env
    kind log log10 log_gamma logical max maxval merge min mod module modulo namelist none not nullify only open
    operator optional order out parameter pause pointer print private procedure program protected public pure
    read real recursive reshape result return rewind rewrite save scale select sequence sign sin sinh size
    spread sqrt stat stop sub subroutine sum tan tanh target then tiny transfer transpose true type use value
    where while write
"""
#: what generated lines themselves declare
_OWN = ["failed", "info", *[f"status_{name}" for name in STATUSES], *[f"unread_{k}" for k in range(100)]]
_SUFFIXES = ("", *[f"_{kind}" for kind in KINDS.values()], "_logical")

_WRITTEN = [f"{name}{end}" for name in (*WRITTEN.sources, "infinity", "nan") for end in _SUFFIXES]

RESERVED: frozenset[str] = frozenset([*_WORDS.split(), *_OWN, *KINDS.values(), *_WRITTEN])
