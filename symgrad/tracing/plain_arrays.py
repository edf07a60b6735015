"""Arrays that traces take: those that compute plainly, of dtypes that symgrad computes with."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, DtypeError, mistakes

#: kinds of arrays of text and of times, whose values are settings
LABELS = "USMm"


def checked_dtype(dtype: np.dtype, what: str) -> np.dtype:
    """``dtype`` where symgrad computes with it: bool, integers, floats and complex numbers."""
    if dtype.kind in "biuf" or dtype in (np.complex64, np.complex128):
        return dtype
    if dtype.kind == "c":
        raise DtypeError(f"{what} has dtype {dtype}; complex numbers are complex64 or complex128, cast with astype.")
    if dtype.kind == "O":
        raise DtypeError(f"{what} has dtype object; pass numeric arrays (ragged lists make object arrays).")
    raise DtypeError(f"{what} has dtype {dtype}; symgrad differentiates numeric arrays.")


#: array classes that compute as plain arrays do, whatever they override; ``Tensor`` and ``Parameter`` are added to them
PLAIN_ARRAYS: set[type] = {np.ndarray, np.memmap, np.recarray}
#: what an array class may override and still compute as a plain array
_BESIDE_COMPUTING = frozenset(
    [
        *("__new__", "__init__", "__array_finalize__", "__array_priority__", "__doc__", "__module__", "__dict__"),
        *("__repr__", "__str__", "__format__", "__reduce__", "__setstate__", "__copy__", "__deepcopy__", "__setattr__"),
    ]
)


def plain_array(value: Any, what: str) -> np.ndarray:
    """``value`` as a plain array; an error where it is one whose class computes by rules of its own."""
    if isinstance(value, np.ndarray) and not _computes_plainly(type(value)):
        raise ArgumentTypeError.here(f"{what} is a {by_own_rules(type(value))}")
    with mistakes(what):
        return np.asarray(value)


def by_own_rules(kind: type) -> str:
    """What to write in place of an array of a class that computes by rules of its own."""
    fix = "pass np.asarray(x), and account for what it knows beside its numbers (a unit, labels)"
    if issubclass(kind, np.ma.MaskedArray):
        fix = "write np.where(mask, 0.0, x * data) with mask = np.ma.getmaskarray(m) and data = m.filled(1.0)"
    elif issubclass(kind, np.matrix):
        fix = "pass np.asarray(m), and write @ for its *"
    return f"{kind.__name__}, which computes by rules of its own that symgrad does not know; {fix}."


@functools.lru_cache(maxsize=1024)
def _computes_plainly(kind: type) -> bool:
    """True where a subclass of ndarray overrides nothing that computes."""
    own = itertools.takewhile(lambda c: c not in PLAIN_ARRAYS, kind.__mro__)
    computing = set(dir(np.ndarray)) - _BESIDE_COMPUTING
    return not any(computing.intersection(vars(c)) for c in own)


def listed_array(value: Any) -> np.ndarray:
    """The array of a list of numbers."""
    array = np.asarray(value)
    checked_dtype(array.dtype, "a list")
    return array


def is_same_array(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays hold the same, to the bit."""
    return one.shape == other.shape and one.dtype == other.dtype and one.tobytes() == other.tobytes()
