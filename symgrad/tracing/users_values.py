"""Values of users' classes, as functions of NumPy and of numbers take them: what their methods say that they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import FunctionType, MethodType
from typing import Any

from .computed import is_numeric
from .libraries import is_library

#: methods by which NumPy takes an object otherwise
_OF_ARRAYS = ("__array_ufunc__", "__array_function__", "__array__", "__len__")


def as_taken(call: Callable, function: Callable, value: Any) -> Any:
    """What ``function`` makes of a value of a class of the user's before it computes, by ``call`` of its methods."""
    kind = type(value)
    if is_library(kind.__module__) or any(hasattr(kind, name) for name in _OF_ARRAYS[:2]):
        return value
    if function is float or function is complex or getattr(function, "__module__", "") == math.__name__:
        return _called(call, value, "__float__")
    if not is_numeric(function, None):
        return value
    if hasattr(kind, "__array__"):
        return _called(call, value, "__array__")
    is_sequence = hasattr(kind, "__len__") and hasattr(kind, "__getitem__")
    return list(value) if is_sequence and not (issubclass(kind, Mapping) or callable(value)) else value


def own_method(ufunc: Any, value: Any) -> Callable | None:
    """The method of the user's that NumPy takes an object by, ``value.exp()`` for ``np.exp(value)``; else None."""
    kind = type(value)
    if is_library(kind.__module__) or any(hasattr(kind, name) for name in _OF_ARRAYS):
        return None
    method = getattr(kind, ufunc.__name__, None)
    return MethodType(method, value) if type(method) is FunctionType else None


def _called(call: Callable, value: Any, name: str) -> Any:
    method = getattr(type(value), name, None)
    return call(method, value) if type(method) is FunctionType else value
