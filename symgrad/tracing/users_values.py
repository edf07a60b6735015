"""Values of users' classes, as functions of NumPy and of numbers take them: what their methods say that they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from .computed import is_numeric
from .libraries import is_library


def as_taken(call: Callable, function: Callable, value: Any) -> Any:
    """What ``function`` makes of a value of a class of the user's before it computes, by ``call`` of its methods."""
    kind = type(value)
    if is_library(kind.__module__) or hasattr(kind, "__array_ufunc__") or hasattr(kind, "__array_function__"):
        return value
    if function is float or function is complex or getattr(function, "__module__", "") == math.__name__:
        return _called(call, value, "__float__")
    if not is_numeric(function, None):
        return value
    if hasattr(kind, "__array__"):
        return _called(call, value, "__array__")
    is_sequence = hasattr(kind, "__len__") and hasattr(kind, "__getitem__")
    return list(value) if is_sequence and not (issubclass(kind, Mapping) or callable(value)) else value


def _called(call: Callable, value: Any, name: str) -> Any:
    method = getattr(type(value), name, None)
    return call(method, value) if type(method) is FunctionType else value
