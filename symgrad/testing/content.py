"""What a value holds, in plain tuples: they can be sent to another process, and compared."""

from __future__ import annotations

import io
import pickle
import warnings
from collections import deque
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..tracing.bytecode.reads import code_reads
from ..tracing.generators import GENERATORS, state_of
from ..tracing.guards import MISSING, cell_content
from ..tracing.instances import attributes_of
from ..tracing.libraries import is_library, is_library_file
from ..tracing.local_array import LocalArray
from ..tracing.tracer import Tracer

#: ``(sort, class, what it holds)``; the sort is ``"array"``, of numbers too, ``"text"``, ``"items"`` or ``"deep"``
Content = tuple
#: how far down containers and objects are looked into
_DEPTH = 12
_ITEMS = (list, tuple, deque, set, frozenset)
_NUMBERS = (bool, int, float, complex)
_NAMES = {number.__name__ for number in _NUMBERS}
_TEXT = (str, bytes, bytearray)


def content_of(value: Any, depth: int = _DEPTH) -> Content:
    """What ``value`` holds.

    >>> content_of([1.5, "a"])
    ('items', 'list', (('array', 'float', ((), b'\\x00\\x00\\x00\\x00\\x00\\x00\\xf8?')), ('text', 'str', "'a'")))
    """
    kind = type(value)
    if kind in (Tracer, LocalArray):
        return "text", "traced value", "a traced value that was left there"
    if depth == 0:
        return "deep", kind.__name__, None
    if isinstance(value, (bool, int, float, complex, np.generic, np.ndarray)):
        array = np.asarray(value)
        if array.dtype.kind in "biufc":
            name = kind.__name__ if kind in _NUMBERS else array.dtype.name
            return "array", name, (array.shape, array.tobytes())
        return "text", str(array.dtype), repr(array.tolist())
    if isinstance(value, _TEXT) or value is None:
        return "text", kind.__name__, repr(value)
    if isinstance(value, Mapping):
        parts: list[Any] = [part for item in value.items() for part in item]
    elif isinstance(value, _ITEMS):
        parts = list(value)
    elif isinstance(value, GENERATORS):
        return "text", kind.__name__, repr(state_of(value))
    elif isinstance(value, io.StringIO | io.BytesIO) and not value.closed:
        return "text", kind.__name__, repr((value.tell(), value.getvalue()))
    elif isinstance(value, (ModuleType, type, FunctionType, BuiltinFunctionType, MethodType)):
        return "text", kind.__name__, getattr(value, "__qualname__", repr(value))
    elif isinstance(value, Iterator) or is_library(kind.__module__):
        return "text", kind.__name__, _as_pickled(value)
    else:
        parts = [part for item in attributes_of(value).items() for part in item]
    held = [content_of(part, depth - 1) for part in parts]
    return "items", kind.__name__, tuple(sorted(held, key=repr) if isinstance(value, (set, frozenset)) else held)


def _as_pickled(value: Any) -> str:
    """What tells an object of a library from what it was; its class alone where nothing does."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of iterators, in Python 3.12
            return pickle.dumps(value).hex()
    except Exception:  # a generator, a file, a lock
        shown = repr(value)
        return "" if " at 0x" in shown else shown


def state_of_function(function: Any) -> dict[str, Content]:
    """What a function reads of what outlives its calls, by name: globals, closures, ``self``, and so on through the
    user's functions and classes that it reaches.
    """
    found: dict[str, Content] = {}
    pending, seen = [("", function)], set()
    while pending:
        name, value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, MethodType):
            pending += [("self", value.__self__), (name, value.__func__)]
        elif isinstance(value, FunctionType):
            if not is_library_file(value.__code__.co_filename):
                pending += _read(value)
        elif isinstance(value, type):
            if not is_library(value.__module__):
                pending += [(f"{value.__name__}.{k}", v) for k, v in vars(value).items() if not k.startswith("__")]
        elif not isinstance(value, (ModuleType, BuiltinFunctionType)):
            found[name or "self"] = content_of(value)
            if not is_library(type(value).__module__):
                pending.append((type(value).__name__, type(value)))
    return found


def _read(function: FunctionType) -> list[tuple[str, Any]]:
    space = function.__globals__
    read = [(name, space[name]) for name in code_reads(function.__code__).globals if name in space]
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    held = [(name, content) for name, cell in cells if (content := cell_content(cell)) is not MISSING]
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    kept = [*((f"a default of {function.__name__}", v) for v in defaults), *vars(function).items()]
    return [*read, *held, *kept]


def codes_of(function: Any) -> list[CodeType]:
    """The code of a function, and of those written in it."""
    pending = [getattr(getattr(function, "__func__", function), "__code__", None)]
    found = []
    while pending:
        code = pending.pop()
        if isinstance(code, CodeType):
            found.append(code)
            pending += code.co_consts
    return found


def numbers(content: Content) -> np.ndarray:
    """The array of an ``("array", …)``."""
    _, dtype, (shape, data) = content
    return np.frombuffer(data, dtype).reshape(shape)


def shown(content: Content, kinds: bool = True) -> str:
    """A content as it is read in a message.

    >>> shown(content_of({"n": 2}))
    'dict of 2 parts'
    >>> shown(content_of(np.ones(2)))
    'array([1., 1.])'
    """
    sort, kind, held = content
    if sort == "array":
        array = numbers(content)
        return (
            repr(array if array.shape else array[()] if kinds and kind not in _NAMES else array.item())
            if array.size <= 8
            else f"{kind} of shape {array.shape}"
        )
    if sort == "text":
        return held if len(held) <= 60 and held else f"another {kind}"
    return f"{kind} of {len(held)} parts" if sort == "items" else kind


def difference(got: Content, want: Content, tolerance: float, kinds: bool = True) -> tuple[str, str] | None:
    """The first places where two contents differ, as they are shown; None where they are alike.

    Floats are alike within ``tolerance``, relative to the largest of their array; NaN is like NaN. Without ``kinds``
    numbers are alike whether they are Python's or NumPy's.
    """
    if got[0] == want[0] == "array":
        same = _alike(got, want, tolerance) and not (kinds and got[1] != want[1])
        return None if same else (shown(got, kinds), shown(want, kinds))
    if got[:2] == want[:2] and got[0] == "items" and len(got[2]) == len(want[2]):
        pairs = (difference(a, b, tolerance, kinds) for a, b in zip(got[2], want[2], strict=True))
        return next((found for found in pairs if found is not None), None)
    return None if got == want else (shown(got, kinds), shown(want, kinds))


def _alike(got: Content, want: Content, tolerance: float) -> bool:
    a, b = numbers(got), numbers(want)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind not in "fc":
        return np.array_equal(a, b)
    largest = np.max(np.abs(b), initial=0, where=np.isfinite(b))
    loose = max(tolerance, 64 * float(np.finfo(a.dtype).eps))
    with np.errstate(all="ignore"):
        return bool(np.all((a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= loose * largest)))
