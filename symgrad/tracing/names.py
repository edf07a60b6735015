"""The names of a function that has no source, as it sees them while its calls are followed.

Its code runs as it is, with globals of its own: modules, functions and the types that it does no more than call are
handed out as what takes their calls in hand. Names are looked up when they are used, as ever.
"""

from __future__ import annotations

import builtins
import dis
import functools
from collections.abc import Callable
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from .code_reads import with_nested
from .guards import MISSING, cell_content
from .rewriting import LOOK_AT_CALLER

_STORES = ("STORE_GLOBAL", "DELETE_GLOBAL")
_BY_NAME = ("LOAD_GLOBAL", "LOAD_NAME")
#: names that stand for themselves
_KEPT = LOOK_AT_CALLER | {"__import__"}
_CALLED_TYPES = ("vectorize",)
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, np.ufunc, type(np.sum), functools.partial)


def with_names(function: FunctionType, hook: Any) -> FunctionType:
    """``function`` with its calls by name handed to ``hook``; itself where it cannot have names of its own."""
    code = function.__code__
    if type(function.__globals__) is Names or _rebinds_globals(code):
        return function
    names = Names(function.__globals__, _called(code), hook)
    closure = function.__closure__ and tuple(_seen_cell(c, names) for c in function.__closure__)
    return remade(function, code, names, closure)


def remade(
    function: FunctionType, code: CodeType, space: dict[str, Any], closure: tuple[CellType, ...] | None
) -> FunctionType:
    """``function`` with other code, globals or cells; in all else it is as it was."""
    made = FunctionType(code, space, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    return made


@functools.lru_cache(maxsize=1024)
def _rebinds_globals(code: CodeType) -> bool:
    return any(i.opname in _STORES for c in with_nested(code) for i in dis.get_instructions(c))


@functools.lru_cache(maxsize=1024)
def _called(code: CodeType) -> frozenset[str]:
    """The global names that the code does nothing with but call them."""
    loads = [i for c in with_nested(code) for i in dis.get_instructions(c) if i.opname in _BY_NAME]
    return frozenset(i.argval for i in loads) - {i.argval for i in loads if "NULL" not in i.argrepr} - _KEPT


class Names(dict):
    """The globals of a function, read through."""

    def __init__(self, space: dict[str, Any], called: frozenset[str], hook: Any) -> None:
        super().__init__(__builtins__={**vars(builtins), "__import__": self._import})
        self.space = space
        self._called = called
        self.hook = hook

    def __getitem__(self, name: str) -> Any:
        value = self.space[name] if name in self.space else vars(builtins)[name]
        return value if name in _KEPT else self.seen(value, name in self._called)

    def __contains__(self, name: object) -> bool:
        return name in self.space

    def _import(self, *args: Any, **kwargs: Any) -> Any:
        return self.seen(builtins.__import__(*args, **kwargs), False)

    def seen(self, value: Any, is_called: bool) -> Any:
        """What stands for ``value``; a type only where it is called and no more."""
        if isinstance(value, ModuleType):
            return Seen(value, self)
        if isinstance(value, type):
            return Called(value, self) if is_called else value
        if isinstance(value, _FUNCTIONS):
            return Called(value, self)
        return self.hook.outside(value)


class Seen:
    """A module whose functions are called through a hook."""

    def __init__(self, value: Any, names: Names) -> None:
        self._value = value
        self._names = names

    def __getattr__(self, name: str) -> Any:
        return self._names.seen(getattr(self._value, name), name in _CALLED_TYPES)


class Called(Seen):
    """A function that is called through a hook."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._names.hook.call(self._value, *args, **kwargs)


class Instance:
    """An object of the user whose methods are called through a hook; else it is what it stands for."""

    __slots__ = ("_names", "_value")

    def __init__(self, value: Any, names: Names) -> None:
        object.__setattr__(self, "_value", value)
        object.__setattr__(self, "_names", names)

    @property
    def __class__(self) -> type:  # type: ignore[override]
        return self._value.__class__

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._value, name)
        return Called(value, self._names) if isinstance(value, MethodType) else value

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._value, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._names.hook.call(self._value, *args, **kwargs)

    def __getitem__(self, index: Any) -> Any:
        return self._value[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._value[index] = value

    def __len__(self) -> int:
        return len(self._value)

    def __eq__(self, other: object) -> bool:
        return self._value == (other._value if type(other) is Instance else other)

    def __hash__(self) -> int:
        return hash(self._value)


def with_instance(function: Callable, instance: Any) -> Any:
    """The instance as a method that has names of its own sees it."""
    names = getattr(function, "__globals__", None)
    return Instance(instance, names) if type(names) is Names and type(instance) is not Instance else instance


def _seen_cell(cell: CellType, names: Names) -> CellType:
    value = cell_content(cell)
    seen = value if value is MISSING else names.seen(value, False)
    return cell if seen is value else CellType(seen)
