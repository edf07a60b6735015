"""Python's operators on arrays that a traced function has made: those of the plain array, or of the traced one.

And the parts of complex numbers, to read and to write.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError
from .dispatch import refuse
from .local_array import LocalArray, holds_traced, unwrapped


def _operator(name: str, reflected: bool = False) -> Callable[[Any, Any], Any]:
    operate = getattr(operator, name)

    def method(self: LocalArray, other: Any) -> Any:
        other = unwrapped(other, traced=True)
        if isinstance(other, (type(None), str, bytes, dict, set)):
            return NotImplemented
        made = operate(other, self.now) if reflected else operate(self.now, other)
        return LocalArray.of(made) if type(made) is np.ndarray else made

    return method


def _in_place(name: str) -> Callable[[Any, Any], Any]:
    operate = getattr(operator, name)
    in_place = getattr(operator, f"i{name.rstrip('_')}")

    def method(self: LocalArray, other: Any) -> Any:
        other = unwrapped(other, traced=True)
        if not (self.is_traced or holds_traced(other)):
            in_place(self.plain, other)
            return self
        made = operate(self.now, other)
        if not np.can_cast(made.dtype, self.dtype, "same_kind"):
            refuse(f"an array of {self.dtype} cannot hold a result of {made.dtype}; write x = x + y.")
        self[...] = made
        return self

    return method


def _unary(name: str) -> Callable[[Any], Any]:
    operate = getattr(operator, name)

    def method(self: LocalArray) -> Any:
        made = operate(self.now)
        return LocalArray.of(made) if type(made) is np.ndarray else made

    return method


def _part(name: str, joined: Callable[[Any, Any], Any]) -> property:
    """The real or the imaginary part, which ``joined`` with the other one makes the array."""

    def part(self: LocalArray) -> Any:
        if self.dtype.kind != "c" or not self.is_traced:
            return self.attribute(self, name)
        return getattr(self.whole, name)

    def write(self: LocalArray, value: Any) -> None:
        if self.dtype.kind != "c" and name == "imag":
            raise ArgumentTypeError.here("an array of real numbers has no imaginary part to write to")
        self[...] = joined(value, self.now) if self.dtype.kind == "c" else value

    return property(part, write)


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift")
for _name in _BINARY:
    _plain = _name.rstrip("_")
    setattr(LocalArray, f"__{_plain}__", _operator(_name))
    setattr(LocalArray, f"__r{_plain}__", _operator(_name, reflected=True))
    setattr(LocalArray, f"__i{_plain}__", _in_place(_name))
LocalArray.__divmod__ = lambda self, other: (self // other, self % other)  # type: ignore[attr-defined]
LocalArray.__rdivmod__ = lambda self, other: (other // self, other % self)  # type: ignore[attr-defined]
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(LocalArray, f"__{_name}__", _operator(_name))
for _name in ("neg", "pos", "abs", "invert"):
    setattr(LocalArray, f"__{_name}__", _unary(_name))
LocalArray.real = _part("real", lambda value, array: value + 1j * np.imag(array))  # type: ignore[attr-defined]
LocalArray.imag = _part("imag", lambda value, array: np.real(array) + 1j * value)  # type: ignore[attr-defined]
