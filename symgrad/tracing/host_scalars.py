"""Ints that change from call to call: Python computes with them at every call, what meets an array is an input.

While a function is traced such an argument is a ``HostScalar``. Python's own arithmetic on it (``1 - 0.9**t``) is
recorded as steps that run again at every call, before the kernel: with whole numbers of any size, and rounded as
Python does. Where it meets an array its value becomes an input of the program. Where the function branches on it, or
needs a number made of it (``range``, a shape), that number is guarded. An argument that is needed as a number itself,
or that something could hold on to (a parameter of an operation, a key, the result), is no value: see ``NotAValue``.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from ..primitives.primitive import literal
from ..program.node import Node
from .sizes import Size
from .trace import Trace, current
from .tracer import Tracer
from .tree import flatten, tree_map

#: whole numbers up to here are floats too, and of every dtype of 64 bits
MAX_INT = 1 << 53


class NotAValue(Exception):
    """Some of the ints that were to be values are needed as numbers: ``which`` of all ints of the call."""

    def __init__(self, which: Collection[int]) -> None:
        super().__init__(which)
        self.which = which


class _Place(int):
    """Where an operand stands among the values of a Host."""


class Host:
    """What Python computes of the ints of a call: steps, guards on what they give, and inputs of the program."""

    def __init__(self, varying: Collection[int], trace: Trace) -> None:
        """``varying`` are the arguments that are values, by their place among all ints of a call."""
        self._varying = sorted(varying)
        self._trace: Trace | None = trace
        self._ints = itertools.count()
        self._labels: list[str] = []
        self._values: list[Any] = []
        self._steps: list[tuple[Callable, tuple]] = []
        self._guards: dict[int, Any] = {}
        self._inputs: dict[int, Node] = {}
        self._fixed: set[int] = set()
        self.closed = False

    def anew(self, trace: Trace) -> Host:
        """What computes of the same ints in another trace."""
        return Host(self._varying, trace)

    def argument(self, value: int, label: str) -> Any:
        """An int argument as the function sees it; they are asked for in order."""
        if next(self._ints) not in self._varying:
            return value
        self._values.append(value)
        self._labels.append(label)
        return HostScalar(self, len(self._values) - 1)

    @property
    def nodes(self) -> list[Node]:
        """The inputs of the program that Python computes."""
        return list(self._inputs.values())

    @property
    def labels(self) -> list[str]:
        """What these inputs are called."""
        return [n.params[0] for n in self.nodes]

    def value(self, place: int) -> Any:
        """What was computed while the function was traced."""
        return self._values[place]

    def step(self, function: Callable, operands: Sequence[Any]) -> Any:
        """``function`` of scalars, some of which are computed here."""
        if self.closed:
            return function(*map(_plain, operands))
        read = tuple([_Place(o._place) if type(o) is HostScalar and o._host is self else _plain(o) for o in operands])
        try:
            made = self._made(function, read, self._values)
        except Exception:  # the user's code may catch it, and go on with other ints than these
            for place in [o for o in read if type(o) is _Place]:
                self.guard(place)
            raise
        self._steps.append((function, read))
        self._values.append(made)
        return HostScalar(self, len(self._values) - 1)

    def guard(self, place: int) -> Any:
        """The value, which other calls must give too."""
        if not self.closed:
            self._guards[place] = self._values[place]
            if place < len(self._labels):
                self._fix(place)
        return self._values[place]

    def keep(self, place: int) -> Any:
        """The value for something that may hold on to it."""
        self._fix(place)
        return self._values[place]

    def node(self, place: int) -> Node:
        """The value as an input of the program."""
        value = self._values[place]
        if self._trace is None or current() is not self._trace:
            return literal(self.keep(place))
        if place not in self._inputs:
            root = min(self._roots(place))
            label = self._labels[root] + (f"_{len(self._inputs)}" if place != root else "")
            self._inputs[place] = self._trace.new_input(label, _given(value), weak=type(value) in (int, float))
        return self._inputs[place]

    def finish(self, outputs: Any) -> None:
        """The function has returned. Raises NotAValue where its trace cannot serve other ints."""
        for leaf in flatten(outputs)[0]:
            if type(leaf) is HostScalar:
                self._fix(leaf._place)
            elif not isinstance(leaf, _RESULTS) and not hasattr(leaf, "assemble"):
                self._fixed |= set(self._varying)  # it may hold some
        for place, node in self._inputs.items():
            if type(self._values[place]) is int and self._meets_others(node, None if node.differentiable else np.int64):
                self._fix(place)
        self.close()
        if self._fixed:
            raise NotAValue(self._fixed)

    def _meets_others(self, number: Node, own: Any) -> bool:
        """True where a whole number meets whole numbers of another dtype than ``own``: whether it fits is NumPy's."""
        assert self._trace is not None
        for node in self._trace.graph.table.values():
            if number in node.operands:
                others = [o for o in node.operands if o.dtype.kind in "iu" and o is not number and not o.is_literal]
                if any(o.dtype != own for o in others if not (o.weak and own)):
                    return True
        return False

    def close(self) -> None:
        """From now on the values are plain numbers, and nothing of the trace is held on to."""
        self.closed = True
        self._trace = None

    def inputs(self, leaves: Sequence[Any], ints: Sequence[int]) -> list[Any] | None:
        """The inputs of the program in a call with these arrays and ints; None where the trace does not serve it."""
        values: list[Any] = [ints[k] for k in self._varying]
        try:
            for function, read in self._steps:
                values.append(self._made(function, read, values))
            if not all(_same(values[place], then) for place, then in self._guards.items()):
                return None
            if not all(_kind(values[place]) == _kind(self._values[place]) for place in self._inputs):
                return None
            return [*leaves, *(_given(values[place]) for place in self._inputs)]
        except Exception:  # traced anew it is the function's own
            return None

    @staticmethod
    def _made(function: Callable, read: tuple, values: list[Any]) -> Any:
        return function(*[values[o] if type(o) is _Place else o for o in read])

    def _fix(self, place: int) -> None:
        if not self.closed:
            self._fixed |= {self._varying[root] for root in self._roots(place)}

    def _roots(self, place: int) -> set[int]:
        """The arguments that a value is computed from."""
        first, pending, seen = len(self._labels), [place], set()
        while pending:
            at = pending.pop()
            if at not in seen:
                seen.add(at)
                if at >= first:
                    pending += [o for o in self._steps[at - first][1] if type(o) is _Place]
        return {int(at) for at in seen if at < first}


class HostScalar:
    """A Python number that follows from the int arguments of a call. Made by symgrad, never by users."""

    __slots__ = ("_host", "_place")

    def __init__(self, host: Host, place: int) -> None:
        self._host = host
        self._place = place

    @property
    def __class__(self) -> type:  # type: ignore[override]
        """What ``isinstance`` sees."""
        return type(self._host.value(self._place))

    @property
    def _symgrad_node(self) -> Node:
        return self._host.node(self._place)

    def _exact(self) -> Any:
        return self._host.guard(self._place)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(type(v) is Tracer for v in inputs):
            return NotImplemented
        if self._host.closed:
            return getattr(ufunc, method)(*map(_plain, inputs), **kwargs)
        if method == "__call__" and ufunc.nout == 1 and not kwargs and all(map(_is_scalar, inputs)):
            return self._host.step(ufunc, inputs)
        given = [Tracer(v._symgrad_node) if type(v) is HostScalar else v for v in inputs]
        return getattr(ufunc, method)(*given, **tree_map(_number, kwargs))

    def __array_function__(self, func: Callable, types: Any, args: Any, kwargs: Any) -> Any:
        if any(type(v) is Tracer for v in flatten((args, kwargs))[0]):
            return NotImplemented
        if not kwargs and all(map(_is_scalar, args)) and _is_scalar(func(*map(_value, args))):
            return self._host.step(func, args)
        return func(*tree_map(_number, args), **tree_map(_number, kwargs))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._exact(), dtype)

    # what is a number is computed at every call

    def __round__(self, digits: Any = None) -> Any:
        return self._host.step(round, (self,) if digits is None else (self, digits))

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    # what is a decision is guarded

    def __bool__(self) -> bool:
        return self._host.step(bool, (self,))._exact() if not self._host.closed else bool(self._exact())

    def __int__(self) -> int:
        return operator.index(self._host.step(math.trunc, (self,))) if self.__class__ is not int else self._exact()

    def __index__(self) -> int:
        return operator.index(self._exact())

    def __float__(self) -> float:
        return float(self._exact())

    def __complex__(self) -> complex:
        return complex(self._exact())

    def __repr__(self) -> str:
        return repr(self._exact())

    def __str__(self) -> str:
        return str(self._exact())

    def __format__(self, spec: str) -> str:
        return format(self._exact(), spec)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(self.__class__, name):
            raise AttributeError(f"{self.__class__.__name__!r} object has no attribute {name!r}")
        return getattr(self._exact(), name)

    def __hash__(self) -> int:
        return hash(self._host.keep(self._place))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _plain, (self._host.keep(self._place),)

    def __copy__(self) -> HostScalar:
        return self

    def __deepcopy__(self, memo: Any) -> HostScalar:
        return self


def _operator(name: str) -> None:
    function = getattr(operator, name)

    def method(self: HostScalar, other: Any) -> Any:
        return self._host.step(function, (self, other)) if _is_scalar(other) else NotImplemented

    def reflected(self: HostScalar, other: Any) -> Any:
        return self._host.step(function, (other, self)) if _is_scalar(other) else NotImplemented

    setattr(HostScalar, f"__{name.rstrip('_')}__", method)
    setattr(HostScalar, f"__r{name.rstrip('_')}__", reflected)


def _unary(name: str, function: Callable) -> None:
    setattr(HostScalar, f"__{name}__", lambda self: self._host.step(function, (self,)))


def _comparison(name: str) -> None:
    function = getattr(operator, name)

    def method(self: HostScalar, other: Any) -> Any:
        if not _is_scalar(other):
            return NotImplemented
        answer = self._host.step(function, (self, other))
        return answer._exact() if type(answer) is HostScalar else answer

    setattr(HostScalar, f"__{name}__", method)


for _name in (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"),
    *("lshift", "rshift", "and_", "or_", "xor"),
):
    _operator(_name)
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    _comparison(_name)
for _name in ("neg", "pos", "abs", "invert"):
    _unary(_name, getattr(operator, _name))
for _name in ("trunc", "floor", "ceil"):
    _unary(_name, getattr(math, _name))

_RESULTS = (Tracer, np.ndarray, np.generic, Size, type(None), str, bool, int, float)


def _kind(value: Any) -> tuple[type, bool]:
    return type(value), type(value) is int and abs(value) > MAX_INT


def _given(value: Any) -> Any:
    """A number as an input of the program: what is beyond whole numbers of 64 bits meets floats alone, as a float."""
    if isinstance(value, np.generic):
        return np.asarray(value)
    return float(value) if _kind(value)[1] else value


def _is_scalar(value: Any) -> bool:
    kind = type(value)
    return kind is HostScalar or kind in (int, float, bool) or issubclass(kind, np.generic)


def _value(value: Any) -> Any:
    """A number that is neither guarded nor kept."""
    return value._host.value(value._place) if type(value) is HostScalar else value


def _plain(value: Any) -> Any:
    """A number, whatever holds it."""
    return value._host.keep(value._place) if type(value) is HostScalar else value


def _number(value: Any) -> Any:
    """A number, guarded."""
    return value._exact() if type(value) is HostScalar else value


def _same(now: Any, then: Any) -> bool:
    return type(now) is type(then) and bool(now == then or (now != now and then != then))
