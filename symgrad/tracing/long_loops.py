"""Long loops: where every step does what the step before did, the first and the last are traced, and others left out.

What is left out is put back when the steps become one operation (``passes.rolling``), which looks at those that were
traced alone. So the time that a long loop takes to trace does not grow with its length. It is done where the code of
the loop is straight, so that a step follows from what it reads, and where a step has found all as the one before it.
A trace that has got long, in a loop like that, is made again to leave steps out (``TraceAgain``); one that cannot do
without them is made again with every step.
"""

from __future__ import annotations

import bisect
import builtins
import collections
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import BuiltinFunctionType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from ..errors import is_library, is_symgrads
from ..program.node import active_graph, next_serial
from .dispatch import place_of_out
from .effects import PURE, WRITING
from .library_code import is_declared
from .local_array import LocalArray
from .rewriting import is_closed, straight_function, straight_loop_at
from .straight import ATTRIBUTES, METHODS, Straight, is_method
from .trace import Trace, current
from .tracer import Tracer

#: steps that are traced at the beginning and at the end, and steps from which the others are left out
HEAD, TAIL, MIN_STEPS = 10, 4, 40
#: the last steps of the beginning, which must have as many operations as those of the end
ALIKE = 7
#: operations after which a trace is made again for the sake of a loop; it is asked again at so many times these
LONG, _LONGER = 4096, 4
_NUMBERS = frozenset((bool, int, float, complex, np.float64, np.float32, np.int64))
_PLAIN = frozenset((*_NUMBERS, str, type(None), type(...), Tracer, LocalArray))
_FUNCTIONS = (type, BuiltinFunctionType, FunctionType, type(np.sum))
_DEPTH = 3  # of containers in one another that are looked through


def ask_when_long(trace: Trace) -> None:
    """Have ``TraceAgain`` raised where the trace has got long in a loop of which steps can be left out."""
    graph = trace.graph
    began, count = next_serial(), LONG

    def ask() -> None:
        nonlocal count
        frames = _users_frames(sys._getframe(2))
        for k, frame in enumerate(frames):
            code = straight_loop_at(frame.f_code, frame.f_lineno)
            if code is None or not (_carries_traced(code, frame) and _is_determined(code, frame)):
                continue
            if all(is_closed(f.f_code) for f in frames[k:]) and trace.left_out.may_start_again():
                trace.left_out.make_again(whole=False)
            return
        count *= _LONGER
        graph.ask_at(began + count, ask)

    graph.ask_at(began + count, ask)


_ENTRY = "symgrad.compiled"


def _users_frames(frame: FrameType | None) -> list[FrameType]:
    """The frames of the user's own code in this trace, from ``frame`` outwards."""
    found = []
    while frame is not None and frame.f_globals.get("__name__") != _ENTRY:
        file = frame.f_code.co_filename
        if not (is_symgrads(file) or is_library(file)):
            found.append(frame)
        frame = frame.f_back
    return found


def some_steps(values: Iterable[Any], code: tuple) -> Iterable[Any]:
    """What a loop with this straight code runs over, or the part of it for which a step is traced."""
    trace = current()
    if trace is None or not trace.left_out.is_allowed or active_graph() is not trace.graph:
        return values
    straight = Straight(*code)
    if type(values) is range:
        count: Any = len(values)
    elif type(values) is Tracer and values.shape:
        count = values.shape[0]
    else:
        return values
    if type(count) is not int or count < MIN_STEPS:
        return values
    if type(values) is range and not straight.by_place:
        trace.left_out.give_up()
        return values
    return _some(values, count, straight, trace)


def _some(values: Any, count: int, code: Straight, trace: Trace) -> Iterator[Any]:
    before: list[int] = []
    old: dict[int, Any] = {}
    states: list[Any] = []
    for k in range(HEAD):
        if k == HEAD - ALIKE:
            old = {id(v): v for v in _held(sys._getframe(1).f_locals.values()) if type(v) in (Tracer, list)}
        if k >= HEAD - ALIKE:
            before.append(next_serial())
        if k == HEAD - 1:
            states.append(_state(sys._getframe(1), code, trace, before, old))
        yield values[k]
    before.append(next_serial())
    frame = sys._getframe(1)
    states.append(_state(frame, code, trace, before, old))
    is_shorter = states[0] == states[1] and _is_determined(code, frame) and _may_run_again(frame, trace)
    del frame
    if not is_shorter:
        trace.left_out.give_up()
        for k in range(HEAD, count):
            yield values[k]
        return
    trace.left_out.leave(count - TAIL - HEAD, tuple(before))
    after: list[int] = []
    for k in range(count - TAIL, count):
        after.append(next_serial())
        yield values[k]
    trace.left_out.end((*after, next_serial()))


def _may_run_again(frame: FrameType, trace: Trace) -> bool:
    """Whether the functions that are running leave nothing behind, so that they may run again with every step."""
    return all(is_closed(f.f_code) for f in _users_frames(frame)) and trace.left_out.may_start_again()


def _held(values: Iterable[Any]) -> Iterator[Any]:
    """``values``, and what the lists and tuples among them hold; each list once."""
    pending, met = list(values), set[int]()
    while pending:
        value = pending.pop()
        yield value
        if type(value) is tuple or (type(value) is list and id(value) not in met):
            met.add(id(value))
            pending += value


def _state(
    frame: FrameType, code: Straight, trace: Trace, began: Sequence[int], old: Mapping[int, Any]
) -> tuple[Any, ...]:
    """What a step finds beside the values of operations.

    ``began`` are the numbers that it and others began with, ``old`` the traced values and lists that were there before
    these, by identity.
    """
    names = frame.f_locals
    if any(name not in names for name in code.bound):
        return (object(),)  # global names, which anything may read
    objects: dict[int, int] = {}
    carried = tuple([_kind(names[name], began, old, objects) for name in _carried(code, frame)])
    return carried, len(trace.branches), len(trace.keys), len(trace.written), len(trace.lying), len(trace.operands)


def _carried(code: Straight, frame: FrameType) -> list[str]:
    """The names that a step reads as the step before left them; functions that it calls may read those in cells."""
    cells = {*frame.f_code.co_cellvars, *frame.f_code.co_freevars}
    return [*code.carried, *(name for name in code.bound if name in cells and name not in code.carried)]


def _carries_traced(code: Straight, frame: FrameType) -> bool:
    """Whether the names that a loop carries stand for traced values, so that none of them is a number that changes."""
    carried = [frame.f_locals.get(name) for name in _carried(code, frame)]
    return all(type(value) in (Tracer, list, tuple) for value in _held(carried))


def _kind(value: Any, began: Sequence[int], old: Mapping[int, Any], objects: dict[int, int]) -> Any:
    """Equal for values of the same operation so many steps before, equal numbers and texts, and the same object.

    What was computed longer before than there are steps at the end is equal to nothing. Of a traced value and a list it
    is the same object too that was there before the steps, and the same one of those that were met, in ``objects``.
    """
    kind = type(value)
    if kind not in (Tracer, list, tuple):
        return (kind, repr(value)) if kind in _NUMBERS or kind is str else _Same(value)
    is_met, own = id(value) in objects, None
    if kind is not tuple:
        number = objects.setdefault(id(value), len(objects))
        own = _Same(value) if id(value) in old else number
    if kind is not Tracer:
        return kind, own, () if is_met else tuple([_kind(v, began, old, objects) for v in value])
    node = value._node  # what is to be read anew as it is
    step = bisect.bisect(began, node.serial)
    if not step:
        return kind, own, node
    age = len(began) - step
    return (kind, own, age, node.serial - began[step - 1]) if age < TAIL else object()  # a step older after the last


class _Same(NamedTuple):
    """An object, equal to itself alone."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return type(other) is _Same and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class _Unknown(Exception):
    """It is not known what the code does."""


#: stands for what an array has, and for what a function is given
_OF_ARRAY = object()


def _is_determined(code: Straight, frame: FrameType) -> bool:
    """Whether all that a step calls and reads is such that it does the same in the next one."""
    if code.variable not in frame.f_locals or code.variable in frame.f_code.co_cellvars + frame.f_code.co_freevars:
        return False  # what is called may read it
    names = _names(frame.f_locals, frame.f_globals)
    pending = [(code, names, frozenset[str]())]
    seen: dict[tuple[int, int], Any] = {}  # holds the functions, so that no id is used again
    try:
        if any(type(frame.f_locals.get(name)) is not Tracer for name in code.updated):
            return False
        if any(type(_value(path, names, frozenset())) is not Tracer for path in code.indexed):
            return False  # of an array or a list that is known the elements in the middle may be others
        while pending:
            own, names, given = pending.pop()
            found = [_value(path, names, given) for path in own.read]
            functions = [f for value in found for f in _functions_in(value, 0)]
            for path, count in own.called:
                function = _value(path, names, given)
                name = path.rpartition(".")[2]
                if function is _OF_ARRAY and "." in path and not is_method(name, count):
                    raise _Unknown
                if type(function) is np.ufunc and count <= function.nin and is_declared(function):
                    continue
                if type(function) in _FUNCTIONS[1:] and count > place_of_out(function):
                    raise _Unknown
                functions.append(function)
            for function in functions:
                of = id(getattr(function, "__func__", function)), id(getattr(function, "__self__", None))
                if of not in seen:
                    seen[of] = function
                    inside, defaults = _inside(function)
                    pending += inside
                    functions += [f for value in defaults for f in _functions_in(value, 0)]
    except _Unknown:
        return False
    return True


def _names(*spaces: dict[str, Any]) -> Mapping[str, Any]:
    return collections.ChainMap(*spaces, builtins.__dict__)


def _value(path: str, names: Mapping[str, Any], given: frozenset[str]) -> Any:
    """What a dotted name stands for; ``given`` are names of which nothing is known but that they are arrays."""
    first, *rest = path.split(".")
    if first in given:
        if any(name not in ATTRIBUTES | METHODS for name in rest):
            raise _Unknown
        return _OF_ARRAY
    if first not in names:
        raise _Unknown
    value = names[first]
    for name in rest:
        value = _member(value, name)
    return value


def _member(owner: Any, name: str) -> Any:
    """An attribute that no code makes: of an array, or as it stands in a module, an object or its class."""
    if owner is _OF_ARRAY or _is_plain(owner):
        if name not in ATTRIBUTES | METHODS:
            raise _Unknown
        return _OF_ARRAY
    kind = type(owner)
    if kind is ModuleType:
        found = vars(owner).get(name, _Unknown)
        return getattr(owner, name) if found is _Unknown and owner is np else found  # what NumPy loads when asked
    of_class = next((vars(c)[name] for c in kind.__mro__ if name in vars(c)), None)
    if kind.__getattribute__ is not object.__getattribute__ or hasattr(type(of_class), "__set__"):
        raise _Unknown
    own = getattr(owner, "__dict__", {})
    if name in own:
        return own[name]
    if type(of_class) is FunctionType:
        return MethodType(of_class, owner)
    if of_class is not None and _is_plain(of_class):
        return of_class
    raise _Unknown


def _is_plain(value: Any) -> bool:
    """Whether it is an array, a number or a text, of a class that is none of a user's."""
    kind = type(value)
    if kind in _PLAIN:
        return True
    is_of_numpy = issubclass(kind, np.dtype) or (issubclass(kind, (np.generic, np.ndarray)) and value.dtype.kind != "O")
    return is_of_numpy and _is_library_class(kind)


def _is_library_class(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in ("numpy", "symgrad")


def _functions_in(value: Any, depth: int) -> list[Any]:
    """The functions in a value of which nothing can be changed by straight code; Unknown where it may hold others."""
    if value is _OF_ARRAY or _is_plain(value):
        return []
    if type(value) in (tuple, list, dict) and depth < _DEPTH:
        return [f for v in (value.values() if type(value) is dict else value) for f in _functions_in(v, depth + 1)]
    if type(value) in (FunctionType, MethodType):
        return [value]
    raise _Unknown


def _inside(function: Any) -> tuple[list[tuple[Straight, Any, frozenset[str]]], list[Any]]:
    """What the code of a function reads, which is straight, and what it is given by default.

    Nothing of a function of a library that has a rule.
    """
    if function is _OF_ARRAY:
        return [], []
    instance = None
    if type(function) is MethodType:
        instance, function = function.__self__, function.__func__
    if type(function) is FunctionType and not is_library(function.__code__.co_filename):
        defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        return [_of_users(function, instance)], defaults
    if instance is not None or type(function) not in _FUNCTIONS:
        raise _Unknown
    owner = getattr(function, "__self__", None)  # as the state of random numbers is
    if (owner is not None and type(owner) is not ModuleType) or getattr(function, "__name__", "") in WRITING:
        raise _Unknown
    if function not in PURE and not is_declared(function):
        raise _Unknown
    return [], []


def _of_users(function: FunctionType, instance: Any) -> tuple[Straight, Any, frozenset[str]]:
    straight = straight_function(function.__code__)
    if straight is None:
        raise _Unknown
    code = function.__code__
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    try:
        closure = {name: cell.cell_contents for name, cell in cells.items()}
    except ValueError:
        raise _Unknown from None
    own: dict[str, Any] = {} if instance is None else {code.co_varnames[0]: instance}
    return straight, _names(own, closure, function.__globals__), frozenset(straight.bound) - own.keys()
