"""Libraries' own Python code, traced as the user's: NumPy functions without a rule, numpy.polynomial, parts of scipy.

Where such code gets a traced value its calls are followed, as those of the user's functions are, down to what is
written in C: that has a rule, or is declared in ``dispatch.CALLS``. So a function that a library composes of others
needs no rule, and its values are the library's own to the bit.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..errors import DtypeError
from .dispatch import CALLS, NAMED_CALLS, has_rule, load_rules, module_of
from .guards import cell_content
from .labels import is_dataset_of_xarray, labels_of
from .local_array import LocalArray, holds_traced
from .tracer import Tracer

#: modules whose code is followed; of other libraries nobody has looked whether it can be
_FOLLOWED = (
    *(
        "numpy.lib.",
        "numpy._core.",
        "numpy.polynomial.",
        "numpy.linalg.",
        "numpy.fft.",
        "scipy._lib.",
        "scipy._external.",
    ),
    *("scipy.integrate.", "scipy.interpolate.", "scipy.linalg.", "scipy.ndimage.", "scipy.signal.", "scipy.spatial."),
    *("scipy.stats._axis_nan_policy", "scipy.stats._covariance", "scipy.stats._kde", "scipy.stats._morestats"),
    *("scipy.stats._multivariate", "scipy.stats._stats_mstats_common", "scipy.stats._stats_py"),
    *("scipy.stats._quantile", "scipy.stats._variation"),
)
#: what ``computed`` has for functions of one element, or of one row, and what is refused by its name
_CALLED_OTHERWISE = (np.vectorize, np.apply_along_axis, np.i0)
#: modules whose functions take complex numbers too
_OF_COMPLEX = ("numpy", "scipy.fft", "scipy.linalg", "scipy.signal", "scipy.sparse", "scipy._lib", "scipy._external")
#: functions of NumPy whose code takes parts of complex numbers in place
_OF_REALS = ("cov", "corrcoef")
#: modules in C -> those with the same functions for arrays of any library
_FOR_ANY_ARRAYS = {
    f"scipy.spatial.transform._{name}_cy": f"scipy.spatial.transform._{name}_xp"
    for name in ("rotation", "rigid_transform")
}
#: how far down what an instance of a library holds is looked through
_DEPTH = 2
#: the kind of NumPy's functions, which hold their code
_DISPATCHED: Any = type(np.sum)
_ATOMS = frozenset((Tracer, LocalArray, np.ndarray, float, int, bool, str, type(None), np.float64))


def is_library_code(function: Any) -> bool:
    """Whether it is a function of a library whose code is followed."""
    return type(function) is FunctionType and str(function.__globals__.get("__name__")).startswith(_FOLLOWED)


def library_code(function: Any, args: Any, kwargs: Any) -> Any:
    """What to call, its calls followed, in place of a library's ``function``; None where that is called as it is."""
    if isinstance(function, (np.ufunc, np.vectorize)) or function in _CALLED_OTHERWISE:
        return None
    answer = _named(function)
    if answer is not None:
        is_method = type(function) is MethodType or not getattr(function, "__module__", None)
        given = getattr(function, "__self__", None) if is_method else None
        depth = 0 if _of_labels(function) else _DEPTH  # whose methods take functions that see what is known
        if any(concerns(v, depth) for v in (given, *args, *kwargs.values())) or _makes_buffer(function, args, kwargs):
            _check_real(function, args, kwargs)
            return functools.partial(answer, *([] if given is None else [given]))
    owner: Any = None
    inner: Any = getattr(function, "_implementation", function) if type(function) is _DISPATCHED else function
    alike = _FOR_ANY_ARRAYS.get(str(getattr(function, "__module__", "")))
    inner = inner if alike is None else getattr(sys.modules[alike], function.__name__, inner)
    if type(function) is MethodType:
        owner, inner = function.__self__, function.__func__
    elif isinstance(function, type):
        inner = function.__init__ if function.__new__ is object.__new__ else function.__new__
    elif type(inner) is not FunctionType:
        owner, inner = function, getattr(type(function), "__call__", None)  # noqa: B004
    if not is_library_code(inner) or not any(map(concerns, (owner, *args, *kwargs.values(), *_closed_over(inner)))):
        return None
    _check_real(function, args, kwargs)
    return function if isinstance(function, type) else inner if owner is None else MethodType(inner, owner)


def _check_real(function: Any, args: Any, kwargs: Any) -> None:
    """A DtypeError for traced complex numbers, but in functions that are tried with them."""
    module, own = str(getattr(function, "__module__", "")), getattr(function, "__name__", "")
    if module.startswith(_OF_COMPLEX) and ".polynomial" not in module and own not in _OF_REALS:
        return
    if any(
        isinstance(v, (Tracer, LocalArray)) and v.dtype.kind == "c" and holds_traced(v)
        for v in (*args, *kwargs.values())
    ):
        name = f"{module.partition('._')[0]}.{getattr(function, '__qualname__', function)}"
        raise DtypeError.here(f"{name} of complex numbers has no derivative rule in symgrad; take it of their parts.")


def _named(function: Any) -> Any:
    """What is declared for a function by its public name."""
    module = module_of(function)
    library = _of_labels(function)
    if library:
        if type(function) is not MethodType:
            return NAMED_CALLS.get(f"{library}.{getattr(function, '__qualname__', '')}")
        name = function.__name__
        if isinstance(function.__self__, type):
            return NAMED_CALLS.get(f"{library}.{function.__qualname__}")
        kind = type(function.__self__)
        answer = NAMED_CALLS[f"{library}.*"] if labels_of(kind) or is_dataset_of_xarray(kind) else None
        return answer and (lambda known, *args, **kwargs: answer(known, name, *args, **kwargs))
    if not isinstance(module, str) or module.partition(".")[0] not in ("scipy", "statistics"):
        return None
    return NAMED_CALLS.get(f"{module.partition('._')[0]}.{getattr(function, '__qualname__', '')}")


def _makes_buffer(function: Any, args: Any, kwargs: Any) -> bool:
    """Whether it makes a DataArray of one number, which is there to be written into: known ones cannot be."""
    if _of_labels(function) != "xarray" or not (args or kwargs):
        return False
    name, first = function.__name__, args[0] if args else kwargs.get("data")
    if name == "DataArray" and type(first) is LocalArray and first.dtype.kind == "f" and first.plain.size:
        return bool(np.array_equal(first.plain, np.full_like(first.plain, first.plain.flat[0]), equal_nan=True))
    return name in ("zeros_like", "ones_like", "full_like") and labels_of(type(first))


def _of_labels(function: Any) -> str:
    """The library of data with labels that a function is of; nothing for others."""
    library = str(getattr(function, "__module__", "")).partition(".")[0]
    return library if library in ("pandas", "xarray") else ""


def is_closed(function: Any) -> bool:
    """Whether it is a function of scipy of which nothing is declared."""
    return str(getattr(function, "__module__", "")).startswith("scipy.") and _named(function) is None


def is_declared(function: Any) -> bool:
    """Whether there is a rule, or an answer, for this very function, or for the method that it is."""
    load_rules(function)
    try:
        return has_rule(function) or (function.__func__ if type(function) is MethodType else function) in CALLS
    except TypeError:  # it cannot be hashed
        return False


def concerns(value: Any, depth: int = _DEPTH) -> bool:
    """Whether a value is traced, holds one, or may be a function of one; so far down in instances of libraries."""
    kind = type(value)
    if kind in _ATOMS or holds_traced(value):
        return holds_traced(value)
    if kind in (FunctionType, MethodType):
        return depth == _DEPTH or any(map(holds_traced, _closed_over(value)))
    if kind is functools.partial:
        return concerns((value.func, *value.args), depth) or concerns(value.func, depth)
    if kind in (list, tuple, dict):
        return any(concerns(v, 0) for v in (value.values() if kind is dict else value) if type(v) not in _ATOMS)
    if isinstance(value, (type, ModuleType)):
        return False
    held = _held(value)
    is_deep = depth > 0 and kind.__module__.startswith(_FOLLOWED)
    return any(map(holds_traced, held)) or (is_deep and any(concerns(v, depth - 1) for v in held))


def _held(value: Any) -> list[Any]:
    """What an instance holds."""
    slots = [name for c in type(value).__mro__ for name in vars(c).get("__slots__", ())]
    found = getattr(value, "__dict__", {})
    return [*(found.values() if type(found) is dict else ()), *[getattr(value, n, None) for n in slots]]


def _closed_over(function: FunctionType) -> Iterator[Any]:
    return map(cell_content, function.__closure__ or ())
