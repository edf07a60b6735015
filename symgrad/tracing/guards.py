"""Guards: remembered values that say, at every call, whether all is still as it was.

What cannot change is remembered by identity, what can by content.
"""

from __future__ import annotations

import itertools
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping
from operator import is_, itemgetter
from typing import Any, NamedTuple

import numpy as np

from .stand_ins import LOCK, own_members

MISSING = object()
#: elements of a large array that are compared at a time
_CHUNK = 1 << 15
#: bytes up to which an array is compared as a whole
_SMALL = 1 << 15
#: containers whose items are remembered, and what puts items into an empty one
_SEQUENCES: dict[Any, Callable[[Any, Iterable[Any]], None]] = {list: list.extend, set: set.update, deque: deque.extend}
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


class Guards:
    """What was remembered of functions, names, containers and arrays.

    It is compared at every call, so it is laid out for few steps of Python: identities in tuples, compared in C.
    """

    def __init__(self) -> None:
        self._functions: list[tuple[types.FunctionType, Any, Any, Any]] = []
        self._absent: list[tuple[KeysView[str], tuple[str, ...], Any]] = []
        self._parts: list[tuple[Callable[[Any], tuple], Any, tuple]] = []
        self._cells: list[tuple[Any, Any]] = []
        self._empty: list[Any] = []
        self._read: list[tuple[Callable[[Any, Any], Any], Any, Any, Any]] = []
        self._sequences: list[tuple[Any, tuple]] = []
        self._mappings: list[tuple[Any, tuple, tuple]] = []
        self._classes: list[tuple[type, tuple, tuple]] = []
        self._members: list[tuple[Callable[[Any], Mapping[Any, Any]], Any, tuple, tuple]] = []
        self._arrays: list[_Content] = []
        self._contents: list[tuple[Callable[[Any], Any], Any, Any]] = []
        self._holds_more = False
        self._epoch = _epoch[0]

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
        for present, absent, _ in self._absent:
            if not present.isdisjoint(absent):
                return False
        try:
            for read, holder, values in self._parts:
                if not all(map(is_, read(holder), values)):
                    return False
            for cell, value in self._cells:
                if cell.cell_contents is not value:
                    return False
        except (KeyError, ValueError):  # a name or the content of a cell was deleted
            return False
        return not any(self._empty) and (not self._holds_more or self._more_unchanged())

    def _more_unchanged(self) -> bool:
        """The part of ``unchanged`` that plain functions of plain values have no use for."""
        try:
            for read, holder, key, value in self._read:
                if read(holder, key) is not value:
                    return False
            for sequence, items in self._sequences:
                if len(sequence) != len(items) or not all(map(is_, sequence, items)):
                    return False
            for mapping, keys, values in self._mappings:
                if not _same_members(mapping, keys, values):
                    return False
            for cls, keys, values in self._classes:
                if not _same_members(own_members(cls), keys, values):
                    return False
            for members, value, keys, values in self._members:
                if not _same_members(members(value), keys, values):
                    return False
            for read, value, content in self._contents:
                if read(value) != content:
                    return False
        except Exception:  # what can no longer be read has changed: the function itself will say what is wrong
            return False
        return all(map(_same_content, self._arrays))

    def held(self) -> Iterator[Any]:
        """What can be written to of that which is remembered as a whole: dicts, lists and cells."""
        yield from self._empty
        yield from (mapping for mapping, _, _ in self._mappings)
        yield from (sequence for sequence, _ in self._sequences)
        yield from (cell for cell, _ in self._cells)

    def named_arrays(self) -> Iterator[np.ndarray]:
        """The arrays that names of modules, and of closures, stand for."""
        named = (value for _, _, values in self._parts for value in values)
        yield from (v for v in itertools.chain(named, (v for _, v in self._cells)) if isinstance(v, np.ndarray))

    def namespaces(self) -> Iterator[Any]:
        """The dicts of which some names are remembered."""
        yield from (holder for read, holder, _ in self._parts if isinstance(read, itemgetter))

    def watch_function(self, function: types.FunctionType) -> None:
        """Remember the code and the defaults of a function."""
        self._functions.append((function, function.__code__, function.__defaults__, function.__kwdefaults__))

    def watch_about_functions(self, names: Iterable[str]) -> None:
        """Remember what the functions so far are called, and what else of these names they say of themselves."""
        for function, *_ in self._functions:
            for name in names:
                value = self.watch_read(getattr, function, name)
                if isinstance(value, dict):
                    self.watch_members(value)

    def watch_cell(self, cell: types.CellType) -> Any:
        """Remember what a cell of a closure holds, and return it."""
        value = cell_content(cell)
        if value is MISSING:
            self.watch_read(cell_content, cell, None)
        else:
            self._cells.append((cell, value))
        return value

    def watch_names(self, namespace: Mapping[str, Any], names: Iterable[str]) -> None:
        """Remember what these names hold, and that the others are not there."""
        present = [name for name in names if name in namespace]
        absent = tuple([name for name in names if name not in namespace])
        if absent:
            self._absent.append((namespace.keys(), absent, namespace))
        if present:
            self.watch_parts(itemgetter(*present, present[0]), namespace)  # of one name it would give no tuple

    def watch_parts(self, read: Callable[[Any], tuple], holder: Any) -> tuple:
        """Remember by identity what ``read`` gives of the holder, and return it; a KeyError of it is a change."""
        values = read(holder)
        self._parts.append((read, holder, values))
        return values

    def watch_class(self, cls: type) -> Mapping[str, Any]:
        """Remember what a class holds, and return it."""
        with LOCK:
            members = dict(own_members(cls))
        self._classes.append((cls, tuple(members), tuple(members.values())))
        self._holds_more = True
        return members

    def watch_members(self, mapping: Mapping[Any, Any]) -> tuple:
        """Remember what a mapping holds, and in which order; its values."""
        values = tuple(mapping.values())
        if values:
            self._mappings.append((mapping, tuple(mapping), values))
            self._holds_more = True
        else:
            self._empty.append(mapping)
        return values

    def watch_members_of(self, members: Callable[[Any], Mapping[Any, Any]], value: Any) -> tuple:
        """Remember a mapping that is made anew for each look at a value; its values."""
        now = members(value)
        self._members.append((members, value, tuple(now), tuple(now.values())))
        self._holds_more = True
        return tuple(now.values())

    def watch_sequence(self, sequence: Any) -> None:
        """Remember the items of a container."""
        self._sequences.append((sequence, tuple(sequence)))
        self._holds_more = True

    def watch_read(self, read: Callable[[Any, Any], Any], holder: Any, key: Any) -> Any:
        """Remember by identity what ``read(holder, key)`` gives, and return it."""
        value = read(holder, key)
        self._read.append((read, holder, key, value))
        self._holds_more = True
        return value

    def watch_content(self, read: Callable[[Any], Any], value: Any) -> None:
        """Remember the content of a value as something that compares by content."""
        self._contents.append((read, value, read(value)))
        self._holds_more = True

    def watch_array(self, array: np.ndarray) -> None:
        """Remember the elements of an array, to the bit."""
        plain = _plain(array)
        content = plain.tobytes() if plain.nbytes <= _SMALL else np.array(_in_one_piece(plain))
        self._arrays.append(_Content(array, plain.shape, plain.dtype, content))
        self._holds_more = True


def cell_content(cell: types.CellType, _: Any = None) -> Any:
    """What a cell holds; MISSING where it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def _same_members(mapping: Mapping[Any, Any], keys: tuple, values: tuple) -> bool:
    return len(mapping) == len(keys) and all(map(is_, mapping, keys)) and all(map(is_, mapping.values(), values))


def _plain(array: np.ndarray) -> np.ndarray:
    """The array without the code of a subclass."""
    return np.ndarray.view(array, np.ndarray)


def _same_content(known: _Content) -> bool:
    """Equal to the bit: a zero of another sign is another one, and a NaN is what it was."""
    array, shape, dtype, content = known
    if type(array) is not np.ndarray:
        array = _plain(array)
    if array.shape != shape or array.dtype != dtype:
        return False
    if isinstance(content, bytes):
        return array.tobytes() == content
    word = np.uint64 if array.itemsize % 8 == 0 else np.uint8
    now, then = (a.reshape(-1).view(word) for a in (_in_one_piece(array), content))
    chunks = range(0, now.size, _CHUNK)  # in pieces, so that the comparison stays in the cache and stops early
    return all((now[k : k + _CHUNK] == then[k : k + _CHUNK]).all() for k in chunks)


def _in_one_piece(array: np.ndarray) -> np.ndarray:
    """The elements in the order in which they lie, without a copy where they lie side by side."""
    return np.ascontiguousarray(_as_it_lies(array))


def _as_it_lies(array: np.ndarray) -> np.ndarray:
    return array.T if array.flags.f_contiguous else array
