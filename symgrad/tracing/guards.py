"""Guards on what a function reads from its surroundings: globals, closures, attributes, defaults.

A trace bakes in the numbers and arrays that the function found outside its arguments. ``Surroundings``
remembers them, by identity where they cannot change and by content where they can, and says whether
they still are what they were. Names are over-approximated by those in the code object, so a change that
matters is never missed.
"""

from __future__ import annotations

import collections
import functools
import random
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .tracer import Tracer

_MISSING = object()
_IMMUTABLE = (
    type(None),
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    np.generic,
    np.dtype,
    np.ufunc,
    range,
    slice,
    frozenset,
)
_CHUNK = 1 << 15
_LIBRARIES = ("site-packages", "dist-packages", "lib/python")
_epoch = [0]


def outdate_traces() -> None:
    """Every trace so far no longer serves: something that all of them may have used has changed."""
    _epoch[0] += 1


class Surroundings:
    """A snapshot of everything ``function`` can read besides its arguments."""

    def __init__(self, function: Callable) -> None:
        self._held: list[tuple[Callable[[Any, Any], Any], Any, Any, Any]] = []
        self._arrays: list[tuple[np.ndarray, np.ndarray]] = []
        self._containers: list[tuple[Any, Any]] = []
        self._guarded: list[tuple[Any, dict[str, Any]]] = []
        self._weights: list[np.ndarray] = []
        self._generators: list[tuple[np.random.Generator, Any]] = []
        self._random = _random_state()
        self._epoch = _epoch[0]
        self._walk(function)

    def unchanged(self) -> bool:
        """True where every value is what it was."""
        if self._epoch != _epoch[0]:
            return False
        for read, holder, key, value in self._held:
            if read(holder, key) is not value:
                return False
        for container, copy in self._containers:
            if not _same_items(container, copy):
                return False
        for value, members in self._guarded:
            if not _same_items(type(value)._guarded(value), members):
                return False
        for array, copy in self._arrays:
            if array.shape != copy.shape or array.dtype != copy.dtype or not _same_content(array, copy):
                return False
        return True

    def watch_weights(self, read: set[int]) -> None:
        """Guard the contents of weights that the trace (which read those with these ids) holds no input for."""
        self._arrays += [(w, np.array(w)) for w in self._weights if id(w) not in read]

    def drew_random_numbers(self) -> bool:
        """True where a random generator has moved since the snapshot: the run cannot be kept."""
        if _random_state() != self._random:
            return True
        return any(str(g.bit_generator.state) != state for g, state in self._generators)

    def _walk(self, root: Any) -> None:
        pending: list[tuple[Any, frozenset[str]]] = [(root, frozenset())]
        seen: dict[int, Any] = {}  # holds the values, so that no id is used again
        while pending:
            value, names = pending.pop()
            if isinstance(value, _IMMUTABLE) or id(value) in seen:
                continue
            seen[id(value)] = value
            pending += [(v, names) for v in self._look(value, names, pending)]

    def _look(self, value: Any, names: frozenset[str], pending: list) -> list[Any]:
        """Remember ``value`` and return what it leads to."""
        if type(value) is Tracer:  # left over from another trace; refused where it is used
            return []
        guarded = getattr(type(value), "_guarded", None)
        if guarded is not None:
            members = guarded(value)
            self._guarded.append((value, members))
            if isinstance(value, np.ndarray):
                self._weights.append(value)
            return [type(value), *members.values()]
        if isinstance(value, np.ndarray):
            self._arrays.append((value, np.array(value)))
            return []
        if isinstance(value, np.random.Generator):
            self._generators.append((value, str(value.bit_generator.state)))
            return []
        if isinstance(value, types.FunctionType):
            if not _is_library(value.__module__):
                self._function(value, pending)
            return []
        if isinstance(value, types.MethodType):
            pending.append((value.__func__, names))
            return [value.__self__]
        if isinstance(value, functools.partial):
            return [value.func, *value.args, *value.keywords.values()]
        if isinstance(value, (list, tuple, dict, set, collections.deque)):
            if not isinstance(value, tuple):
                self._containers.append((value, value.copy()))
            return list(value.values()) if isinstance(value, dict) else list(value)
        if isinstance(value, types.ModuleType):
            return [] if _is_library(value.__name__) else self._named(vars(value), names)
        if isinstance(value, type):
            return [v for c in value.__mro__ if not _is_library(c.__module__) for v in self._class(vars(c))]
        if isinstance(value, types.BuiltinFunctionType):
            return []
        return self._attributes(value)

    def _function(self, function: types.FunctionType, pending: list) -> None:
        code = function.__code__
        names = _names(code)
        self._held.append((_attribute, function, "__code__", code))
        for name in names:
            value = function.__globals__.get(name, _MISSING)
            self._held.append((_item, function.__globals__, name, value))
            pending.append((value, names))
        for cell in function.__closure__ or ():
            value = _cell(cell, None)
            self._held.append((_cell, cell, None, value))
            pending.append((value, names))
        for name in ("__defaults__", "__kwdefaults__"):
            value = getattr(function, name)
            self._held.append((_attribute, function, name, value))
            pending.append((value, names))

    def _named(self, members: Any, names: frozenset[str]) -> list[Any]:
        found = [name for name in names if name in members]
        self._held += [(_item, members, name, members[name]) for name in found]
        return [members[name] for name in found]

    def _class(self, members: Any) -> list[Any]:
        self._containers.append((members, dict(members)))
        found = [v for name, v in members.items() if not name.startswith("__") or name == "__call__"]
        return [getattr(v, "__func__", None) or getattr(v, "fget", None) or v for v in found]

    def _attributes(self, value: Any) -> list[Any]:
        members = getattr(value, "__dict__", None)
        if members is not None:
            self._containers.append((members, dict(members)))
            return [type(value), *members.values()]
        slots = [s for c in type(value).__mro__ for s in getattr(c, "__slots__", ()) if hasattr(value, s)]
        self._held += [(_attribute, value, s, getattr(value, s)) for s in slots]
        return [type(value), *(getattr(value, s) for s in slots)]


def _item(mapping: Any, key: Any) -> Any:
    return mapping.get(key, _MISSING)


def _attribute(holder: Any, name: Any) -> Any:
    return getattr(holder, name, _MISSING)


def _cell(cell: Any, _: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def _same_items(container: Any, copy: Any) -> bool:
    if len(container) != len(copy):
        return False
    if isinstance(copy, dict):
        return all(container.get(k, _MISSING) is v for k, v in copy.items())
    if isinstance(container, (list, collections.deque)):
        return all(a is b for a, b in zip(container, copy, strict=True))
    return container == copy


def _same_content(array: np.ndarray, copy: np.ndarray) -> bool:
    """Equal to the bit where the layout allows, NaN equal to NaN."""
    if array.dtype.kind == "O" or not (array.flags.c_contiguous and copy.flags.c_contiguous):
        return bool(np.array_equal(array, copy, equal_nan=array.dtype.kind in "fc"))
    word = np.uint64 if array.itemsize % 8 == 0 else np.uint8
    now, then = (np.asarray(a).reshape(-1).view(word) for a in (array, copy))
    chunks = range(0, now.size, _CHUNK)  # in pieces, so that the comparison stays in the cache and stops early
    return all(np.array_equal(now[k : k + _CHUNK], then[k : k + _CHUNK]) for k in chunks)


def _random_state() -> tuple:
    state: Any = np.random.get_state(legacy=True)
    return random.getstate(), state[1].tobytes(), *state[2:]


@functools.lru_cache(maxsize=4096)
def _names(code: types.CodeType) -> frozenset[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return frozenset(names)


@functools.lru_cache(maxsize=4096)
def _is_library(module: str | None) -> bool:
    if not module:
        return True
    top = module.partition(".")[0]
    if top in sys.builtin_module_names or top in sys.stdlib_module_names or top == "symgrad":
        return top != "__main__"
    file = getattr(sys.modules.get(top), "__file__", None)
    return bool(file) and any(part in file for part in _LIBRARIES)
