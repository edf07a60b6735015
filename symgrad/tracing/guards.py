"""Guards on what a function reads from its surroundings: globals, closures, attributes, defaults.

A trace bakes in the numbers and arrays that the function found outside its arguments. ``Surroundings``
remembers them, by identity where they cannot change and by content where they can, and says whether
they still are what they were. Names are over-approximated by those in the code object, so a change that
matters is never missed.
"""

from __future__ import annotations

import collections
import dis
import functools
import random
import sys
import types
from collections.abc import Callable, KeysView, Mapping
from operator import is_, itemgetter
from typing import Any, NamedTuple

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
#: elements of a large array that are compared at a time
_CHUNK = 1 << 15
#: bytes up to which an array is compared as a whole
_SMALL = 1 << 15
_LIBRARIES = ("site-packages", "dist-packages", "lib/python")
_epoch = [0]


def outdate_traces() -> None:
    """Every trace so far no longer serves: something that all of them may have used has changed."""
    _epoch[0] += 1


class _Content(NamedTuple):
    """An array and its content: as bytes where it is small, else as a copy."""

    array: np.ndarray
    shape: tuple
    dtype: np.dtype
    content: Any


class Surroundings:
    """A snapshot of everything ``function`` can read besides its arguments.

    It is compared at every call, so it is laid out for few steps of Python: identities in tuples, compared in C.
    """

    def __init__(self, function: Callable) -> None:
        self._functions: list[tuple[types.FunctionType, Any, Any, Any]] = []
        self._namespaces: dict[int, tuple[Mapping[str, Any], set[str]]] = {}
        self._absent: list[tuple[KeysView[str], tuple[str, ...]]] = []
        self._named: list[tuple[Callable[[Any], tuple], Mapping[str, Any], tuple]] = []
        self._cells: list[tuple[Any, Any]] = []
        self._empty: list[Any] = []
        self._read: list[tuple[Callable[[Any, Any], Any], Any, Any, Any]] = []
        self._sequences: list[tuple[Any, tuple]] = []
        self._mappings: list[tuple[Any, tuple, tuple]] = []
        self._guarded: list[tuple[Callable[[Any], dict[str, Any]], Any, tuple, tuple]] = []
        self._arrays: list[_Content] = []
        self._weights: list[np.ndarray] = []
        self._generators: list[tuple[np.random.Generator, Any]] = []
        self._random = _random_state()
        self._epoch = _epoch[0]
        self._walk(function)
        for namespace, names in self._namespaces.values():
            self._watch_names(namespace, sorted(names))
        self._holds_more = bool(self._read or self._sequences or self._mappings or self._guarded or self._arrays)

    def unchanged(self) -> bool:
        """True where every value is what it was."""
        if self._epoch != _epoch[0]:
            return False
        for function, code, defaults, keywords in self._functions:
            if (
                function.__code__ is not code
                or function.__defaults__ is not defaults
                or function.__kwdefaults__ is not keywords
            ):
                return False
        for present, absent in self._absent:
            if not present.isdisjoint(absent):
                return False
        try:
            for read, namespace, values in self._named:
                if not all(map(is_, read(namespace), values)):
                    return False
            for cell, value in self._cells:
                if cell.cell_contents is not value:
                    return False
        except (KeyError, ValueError):  # a name or the content of a cell was deleted
            return False
        return not any(self._empty) and (not self._holds_more or self._more_unchanged())

    def _more_unchanged(self) -> bool:
        """The part of ``unchanged`` that plain functions of plain values have no use for."""
        for read, holder, key, value in self._read:
            if read(holder, key) is not value:
                return False
        for sequence, items in self._sequences:
            if len(sequence) != len(items) or not all(map(is_, sequence, items)):
                return False
        for mapping, keys, values in self._mappings:
            if not _same_members(mapping, keys, values):
                return False
        for members, value, keys, values in self._guarded:
            if not _same_members(members(value), keys, values):
                return False
        return all(map(_same_content, self._arrays))

    def watch_weights(self, read: set[int]) -> None:
        """Guard the contents of weights that the trace (which read those with these ids) holds no input for."""
        self._arrays += [_content(w) for w in self._weights if id(w) not in read]
        self._holds_more = self._holds_more or bool(self._arrays)

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
            self._guarded.append((guarded, value, tuple(members), tuple(members.values())))
            if isinstance(value, np.ndarray):
                self._weights.append(value)
            return [type(value), *members.values()]
        if isinstance(value, np.ndarray):
            self._arrays.append(_content(value))
            return self._members(vars(value)) if getattr(value, "__dict__", None) else []  # a mask, a unit
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
            return [value.func, *value.args, *self._members(value.keywords)]
        if isinstance(value, dict):
            return self._members(value)
        if isinstance(value, (list, tuple, set, collections.deque)):
            items = tuple(value)
            if not isinstance(value, tuple):
                self._sequences.append((value, items))
            return list(items)
        if isinstance(value, types.ModuleType):
            return [] if _is_library(value.__name__) else self._named_in(vars(value), names)
        if isinstance(value, type):
            return [v for c in value.__mro__ if not _is_library(c.__module__) for v in self._class(vars(c))]
        if isinstance(value, types.BuiltinFunctionType):
            return []
        return self._attributes(value)

    def _function(self, function: types.FunctionType, pending: list) -> None:
        code, defaults, keywords = function.__code__, function.__defaults__, function.__kwdefaults__
        self._functions.append((function, code, defaults, keywords))
        names = _names(code)
        space, read = function.__globals__, _global_names(code)
        self._namespaces.setdefault(id(space), (space, set()))[1].update(read)
        found = [space[name] for name in read if name in space]
        for cell in function.__closure__ or ():
            value = _cell(cell, None)
            if value is _MISSING:
                self._read.append((_cell, cell, None, value))
            else:
                self._cells.append((cell, value))
            found.append(value)
        if keywords is not None:
            found += self._members(keywords)
        pending += [(value, names) for value in (*found, defaults)]

    def _named_in(self, members: dict[str, Any], names: frozenset[str]) -> list[Any]:
        found = [name for name in names if name in members]
        self._namespaces.setdefault(id(members), (members, set()))[1].update(found)
        return [members[name] for name in found]

    def _watch_names(self, namespace: Mapping[str, Any], names: list[str]) -> None:
        """Remember what these names hold, and that the others are not there."""
        present = [name for name in names if name in namespace]
        absent = tuple([name for name in names if name not in namespace])
        if absent:
            self._absent.append((namespace.keys(), absent))
        if present:
            read = itemgetter(*present, present[0])  # of one name it would give no tuple
            self._named.append((read, namespace, read(namespace)))

    def _members(self, mapping: Mapping[Any, Any]) -> list[Any]:
        """Remember what a mapping holds, and in which order."""
        values = tuple(mapping.values())
        if not values:
            self._empty.append(mapping)
            return []
        self._mappings.append((mapping, tuple(mapping), values))
        return list(values)

    def _class(self, members: Mapping[str, Any]) -> list[Any]:
        self._members(members)
        found = [v for name, v in members.items() if not name.startswith("__") or name == "__call__"]
        return [getattr(v, "__func__", None) or getattr(v, "fget", None) or v for v in found]

    def _attributes(self, value: Any) -> list[Any]:
        members = getattr(value, "__dict__", None)
        if isinstance(members, dict):
            python = members.get("py_func")
            if isinstance(python, types.FunctionType):  # numba's: what is beside it is the compiler's own
                return [python]
            return [type(value), *self._members(members)]
        slots = [s for c in type(value).__mro__ for s in getattr(c, "__slots__", ()) if hasattr(value, s)]
        self._read += [(_attribute, value, s, getattr(value, s)) for s in slots]
        return [type(value), *(getattr(value, s) for s in slots)]


def _attribute(holder: Any, name: Any) -> Any:
    return getattr(holder, name, _MISSING)


def _cell(cell: Any, _: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def _same_members(mapping: Mapping[Any, Any], keys: tuple, values: tuple) -> bool:
    return len(mapping) == len(keys) and all(map(is_, mapping, keys)) and all(map(is_, mapping.values(), values))


def _content(array: np.ndarray) -> _Content:
    plain = array if type(array) is np.ndarray else _plain(array)
    as_bytes = plain.nbytes <= _SMALL and not plain.dtype.hasobject
    content = plain.tobytes() if as_bytes else np.array(plain)
    return _Content(array, plain.shape, plain.dtype, content)


def _plain(array: np.ndarray) -> np.ndarray:
    """The array without the code of a subclass."""
    return np.ndarray.view(array, np.ndarray)


def _same_content(known: _Content) -> bool:
    """Equal to the bit where the layout allows, NaN equal to NaN."""
    array, shape, dtype, content = known
    if type(array) is not np.ndarray:
        array = _plain(array)
    if array.shape != shape or array.dtype != dtype:
        return False
    if isinstance(content, bytes):
        return array.tobytes() == content
    if dtype.hasobject or not (array.flags.c_contiguous and content.flags.c_contiguous):
        return bool(np.array_equal(array, content, equal_nan=dtype.kind in "fc"))
    word = np.uint64 if array.itemsize % 8 == 0 else np.uint8
    now, then = (np.asarray(a).reshape(-1).view(word) for a in (array, content))
    chunks = range(0, now.size, _CHUNK)  # in pieces, so that the comparison stays in the cache and stops early
    return all((now[k : k + _CHUNK] == then[k : k + _CHUNK]).all() for k in chunks)


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
def _global_names(code: types.CodeType) -> frozenset[str]:
    """The names that code reads as globals, not those of attributes: ``x.T`` does not read a variable ``T``."""
    names = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _global_names(constant)
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
