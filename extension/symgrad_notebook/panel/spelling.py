"""Spelling: values and functions as a notebook's user would write them in code."""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import symgrad
from symgrad.nn import Cell
from symgrad.tensor import Parameter, Tensor

#: elements of an array that is written out: as many as the grid of sens has
MAX_ELEMENTS = 36


class Spelling:
    """Finds the user's own names for values, and writes small values out.

    ``namespace`` holds the user's variables. Without one (None), functions and arguments are taken to be called as
    they call themselves. ``imports`` are the lines that what was spelled needs.
    """

    def __init__(self, namespace: Mapping[str, Any] | None) -> None:
        self.namespace = namespace
        self.imports: list[str] = []
        #: what stands for a function that no variable holds
        self.unknown: str | None = None
        self._names: dict[int, list[str]] = {}
        for name, value in (namespace or {}).items():
            if name.isidentifier() and not name.startswith("_"):
                self._names.setdefault(id(value), []).append(name)

    def module(self, module: types.ModuleType, usual: str) -> str:
        """What a module is called, with the line that imports it where nobody has."""
        names = self._names.get(id(module), [])
        if names:
            return usual if usual in names else names[0]
        line = f"import {module.__name__} as {usual}"
        if line not in self.imports and not (self.namespace is None and module is symgrad):
            self.imports.append(line)
        return usual

    def name(self, value: Any, usual: str) -> str | None:
        """The variable that holds this very object, ``usual`` first of several."""
        if self.namespace is None:
            return usual
        names = self._names.get(id(value), [])
        return usual if usual in names else names[0] if names else None

    def called(self, function: Callable, derived: Any = None) -> str:
        """A function or Cell; ``derived`` may be a derivative of it that has a name."""
        own = getattr(function, "__name__", "net" if isinstance(function, Cell) else "f")
        usual = own if isinstance(own, str) and own.isidentifier() else "f"
        found = self.name(function, usual)
        if found is None and derived is not None and (by := self.name(derived, "")):
            while derived is not function and hasattr(derived, "fn"):
                derived, by = derived.fn, f"{by}.fn"
            return by
        if found is None and self.namespace is not None:
            for name, value in self.namespace.items():  # a function of a module, such as np.sin
                mine = isinstance(value, types.ModuleType) and not name.startswith("_")
                if mine and getattr(value, usual, None) is function:
                    return f"{name}.{usual}"
            while usual in self.namespace:
                usual += "_"
            self.unknown = usual
        return found or usual

    def literal(self, value: Any) -> str | None:
        """A small value written out; None for one that is large or of another kind."""
        if isinstance(value, Parameter):
            return None
        if isinstance(value, Tensor):
            elements = self._elements(value)
            sg = self.module(symgrad, "sg")
            return None if elements is None else f"{sg}.Tensor({elements}, {sg}.{value.dtype.name})"
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, np.generic):
            return f"{self.module(np, 'np')}.{value.dtype.name}({self._number(value)})"
        if isinstance(value, float):
            return self._number(value)
        if value is None or isinstance(value, (bool, int, str)):
            return repr(value)
        if type(value) is dict:
            parts = [(self.literal(k), self.literal(v)) for k, v in value.items()]
            return None if any(None in p for p in parts) else "{" + ", ".join(f"{k}: {v}" for k, v in parts) + "}"
        if type(value) in (tuple, list):
            return self._sequence(value)
        return None

    def _sequence(self, value: Sequence[Any]) -> str | None:
        parts = [p for p in map(self.literal, value) if p is not None]
        if len(parts) < len(value):
            return None
        inner = ", ".join(parts)
        if isinstance(value, list):
            return f"[{inner}]"
        return f"({inner},)" if len(parts) == 1 else f"({inner})"

    def _array(self, value: np.ndarray) -> str | None:
        alike = value.size > 1 and bool((value == 1).all())
        shape = value.shape[0] if value.ndim == 1 else value.shape
        elements = str(shape) if alike else self._elements(value)
        if elements is None:
            return None
        np_ = self.module(np, "np")
        kind = "" if value.dtype == np.float64 else f", {np_}.{value.dtype.name}"
        return f"{np_}.{'ones' if alike else 'array'}({elements}{kind})"

    def _elements(self, value: np.ndarray) -> str | None:
        if value.size > MAX_ELEMENTS or value.dtype.kind not in "fiu" or not value.size:
            return None
        return self._nested(np.asarray(value))

    def _nested(self, value: np.ndarray) -> str:
        if value.ndim == 0:
            return self._number(value[()])
        return f"[{', '.join(self._nested(v) for v in value)}]"

    def _number(self, value: Any) -> str:
        if math.isnan(value) or math.isinf(value):
            np_ = self.module(np, "np")
            return f"{np_}.nan" if math.isnan(value) else f"{'-' if value < 0 else ''}{np_}.inf"
        return str(value)  # float32's own digits, not those of the float64 beside it
