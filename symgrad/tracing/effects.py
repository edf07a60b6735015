"""Effects: whether a function may change what outlives its run, so that it must not be run a second time.

What it can reach is looked at before the run. A function has no effects where all of that is known to have none.
Whatever is not known here counts as an effect: so some functions are followed without need, and none runs twice.
"""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import sympy

from .generators import CACHED, GENERATORS
from .library_code import is_declared
from .local_array import LocalArray
from .tracer import Tracer

#: functions without a rule that choose by no value, and keep nothing
PURE = frozenset(
    (
        *(abs, pow, sum, len, tuple, list),
        *(np.eye, np.identity, np.zeros, np.ones, np.diff, np.flip, np.cross, np.atleast_1d, np.atleast_2d),
        *(np.hstack, np.vstack, np.column_stack, np.matrix_transpose, np.trapezoid),
        *(np.linalg.matrix_power, np.linalg.outer, np.linalg.matmul, np.linalg.vecdot, np.linalg.trace),
    )
)
#: others that keep nothing
_COMPUTE = PURE | frozenset(
    (
        *(all, any, bin, callable, chr, divmod, format, hash, hex, id, isinstance, issubclass, max, min, oct, ord),
        *(repr, round, sorted),
        *(np.array, np.asarray, np.arange, np.linspace, np.empty, np.full, np.zeros_like, np.ones_like, np.full_like),
        *(np.shape, np.ndim, np.size, np.isscalar, np.result_type, np.finfo, np.iinfo, np.dtype),
    )
)
#: and those of NumPy that have no rule, being composed of others
_COMPUTE |= frozenset(
    getattr(np, name)
    for name in (
        *("allclose", "angle", "array_equal", "array_equiv", "astype", "atleast_3d", "bartlett", "blackman"),
        *("broadcast_shapes", "can_cast", "common_type", "corrcoef", "cov", "diag_indices", "diag_indices_from"),
        *("digitize", "dsplit", "dstack", "extract", "fix", "fliplr", "flipud", "geomspace", "hamming"),
        *("hanning", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd", "hsplit", "i0", "indices"),
        *("intersect1d", "iscomplex", "iscomplexobj", "isin", "isneginf", "isposinf", "isreal", "isrealobj"),
        *("issubdtype", "iterable", "ix_", "kaiser", "logspace", "mask_indices", "may_share_memory"),
        *("min_scalar_type", "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanpercentile", "nanprod"),
        *("nanquantile", "nanstd", "nansum", "nanvar", "ndindex", "percentile", "poly", "polyadd", "polyder"),
        *("polydiv", "polyfit", "polyint", "polymul", "polysub", "promote_types", "quantile"),
        *("ravel_multi_index", "real_if_close", "require", "rollaxis", "roots", "rot90", "select", "setdiff1d"),
        *("setxor1d", "shares_memory", "sort_complex", "tri", "tril_indices", "tril_indices_from", "trim_zeros"),
        *("triu_indices", "triu_indices_from", "union1d", "unravel_index", "unwrap", "vander", "vsplit"),
    )
)
#: packages of which all functions but these do nothing but compute
_COMPUTING_PACKAGES = tuple(
    f"{package}."
    for package in ("math", "cmath", "numpy.linalg", "numpy.fft", "scipy.fft", "scipy.linalg", "scipy.special")
)
_NOT_COMPUTING = frozenset(("seterr", "geterr", "errstate", "clarkson_woodruff_transform"))
#: declared functions that write into an array that they are given
WRITING = frozenset(("copyto", "put", "place", "putmask", "put_along_axis", "fill_diagonal", "shuffle"))
_CONTAINERS = (list, tuple, dict, set, frozenset)
_TEXT_AND_NUMBERS = (bool, int, float, complex, str, bytes)
_TYPES = frozenset(
    (*_CONTAINERS, *_TEXT_AND_NUMBERS, range, zip, map, enumerate, filter, reversed, slice, object, type(None))
)
#: what holds what is looked at itself, or nothing
_PLAIN = (
    *(*_CONTAINERS, *_TEXT_AND_NUMBERS, types.FunctionType, types.MethodType, types.ModuleType, types.MappingProxyType),
    *(np.ndarray, np.generic, np.dtype, np.ufunc, Tracer, LocalArray, sympy.Basic),
    *(property, classmethod, staticmethod, type({}.keys()), type({}.values()), type({}.items())),
)


def computes(function: Any) -> bool:
    """Whether a function of a library, or a class, does nothing but compute; True for what cannot be called."""
    if isinstance(function, (np.ufunc, types.ModuleType)) or not callable(function):
        return True
    if isinstance(function, type) and not _is_symgrads(function.__module__):
        is_plain = issubclass(function, (np.generic, np.ndarray, BaseException)) and function is not np.memmap
        return is_plain or _is_in(function, _COMPUTE | _TYPES)
    module = str(getattr(function, "__module__", ""))
    if _is_symgrads(module) or f"{module}.".startswith(_COMPUTING_PACKAGES):
        return getattr(function, "__name__", "") not in _NOT_COMPUTING
    return _is_in(function, _COMPUTE) or (
        getattr(function, "__name__", "") not in WRITING and not _draws(function) and is_declared(function)
    )


def holds_none(value: Any, is_users: bool) -> bool:
    """Whether an object that a function can reach is such that its code, which is looked at, is all that changes it.

    ``is_users`` says that its class is the user's own.
    """
    if isinstance(value, (GENERATORS, CACHED)):
        return False
    if isinstance(value, (_PLAIN, type, types.BuiltinFunctionType)):
        return True
    return is_users or _is_symgrads(type(value).__module__)


def _is_symgrads(module: Any) -> bool:
    """What is symgrad's own calls functions of the user's, which are looked at themselves, and keeps traces alone."""
    return str(module).partition(".")[0] == "symgrad"  # classes of C may have something else there


def _is_in(function: Any, functions: frozenset[Any]) -> bool:
    try:
        return function in functions
    except TypeError:  # it cannot be hashed
        return False


def _draws(function: Any) -> bool:
    return isinstance(getattr(function, "__self__", None), GENERATORS)
