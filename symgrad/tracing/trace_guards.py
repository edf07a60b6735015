"""The guards of a trace: all that a function can read besides the arrays it is called with.

A trace bakes in the numbers and arrays that the function found in globals, closures, attributes, defaults and static
arguments. They are remembered before the run: by identity where they cannot change and by content where they can.
What is read is over-approximated, so a change that matters is never missed.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ..errors import CONTRACT, TracingError
from .generators import GLOBAL_GENERATORS, state_of
from .guards import Guards, cell_content
from .libraries import is_library, is_random
from .local_array import LocalArray
from .trace import Trace
from .tracer import Tracer
from .walk import Walk
from .walked_values import ITERATOR

#: what is neither traced nor holds what is, of which namespaces and data are full
_PLAIN = frozenset((float, int, bool, complex, str, bytes, type(None), type, np.ndarray, np.float64, np.ufunc))
_PLAIN |= {FunctionType, BuiltinFunctionType, ModuleType}

_CHANGED = (
    "the function had changed what it reads when it turned out that its calls have to be followed, or all steps of a "
    f"loop traced. It is not run a second time; the next call is traced so from the start. {CONTRACT}"
)


class TraceGuards(Guards):
    """The guards of one trace of ``function``, called with these static arguments."""

    def __init__(self, function: Callable, arguments: Iterable[Any] = ()) -> None:
        super().__init__()
        walk = Walk(self)
        walk.run(function, arguments)
        self._names = walk.names
        self._changing = walk.changing
        self._weights = walk.weights
        self.classes = [*walk.classes]
        self.is_followed = walk.is_followed
        self.has_effects = walk.has_effects
        self.asks_identity = walk.asks_identity
        self.caught = walk.caught
        self._generators = walk.generators + [(g, state_of(g)) for g in GLOBAL_GENERATORS]

    def watch_weights(self, read: set[int]) -> None:
        """Guard the contents of weights that the trace (which read those with these ids) holds no input for."""
        for weight in self._weights:
            if id(weight) not in read:
                self.watch_array(weight)

    def may_run_again(self) -> bool:
        """During the run, whether another in its place has the effects of one, and finds all as this one did."""
        return not self.has_effects and self.sees_all() and self.unchanged()

    def again(self, trace: Trace) -> Trace:
        """A trace for another run in place of that of ``trace``; refused where that has changed what it read."""
        if not self.unchanged():
            raise TracingError.here(_CHANGED)
        return trace.anew()

    def sees_all(self) -> bool:
        """Whether the function reads nothing that no guard sees, random numbers apart."""
        return all(map(is_random, self._changing))

    def note_changing(self, what: Iterable[str]) -> None:
        """Note what else the run has turned out to read that changes."""
        self._changing.update(what)

    def may_serve_again(self) -> bool:
        """True after a run that has drawn no random number, and read and moved nothing but what the guards see."""
        return not self._changing and not self._have_moved() and self.unchanged()

    def changing(self) -> list[str]:
        """After the run, what the function may read that no guard can see; none where it draws random numbers too."""
        return [] if self._have_moved() or any(map(is_random, self._changing)) else sorted(self._changing)

    def has_changed_itself(self) -> bool:
        """After the run, whether the function has changed what it reads, beside random numbers that it draws."""
        return not (self._have_moved() or any(map(is_random, self._changing)) or self.unchanged())

    def settle(self, trace: Trace) -> None:
        """After the run, put values, where they are known, in place of traced ones that it left in what it read."""
        named = [(space, self._names & space.keys()) for space in self.namespaces()]
        pending, seen = [*named, *((place, None) for place in self.held())], set()
        while pending:
            place, names = pending.pop()
            if id(place) in seen:
                continue
            seen.add(id(place))
            if names is None:
                _settle_keys(place, trace)
            for key, value in _places(place) if names is None else [(name, place[name]) for name in names]:
                if type(value) in _PLAIN:
                    continue
                settled = _settled(value, trace)
                if settled is not value:
                    _put(place, key, settled)
                pending += [(inside, None) for inside in _inside(value)]

    def has_taken(self) -> bool:
        """After the run, whether it has drawn random numbers, or may have taken items from an iterator."""
        return self._have_moved() or any(what.startswith(ITERATOR) for what in self._changing)

    def _have_moved(self) -> bool:
        return any(state_of(g) != state for g, state in self._generators)


def _settled(value: Any, trace: Trace) -> Any:
    """What a traced value stands for, or a tuple with those in place of its items; itself where there is none."""
    kind = type(value)  # a proxy says that it is what it stands for
    if issubclass(kind, (Tracer, LocalArray)):
        with contextlib.suppress(TracingError):  # of a step of a loop, or of an earlier trace
            if trace.has_value(value._symgrad_node):
                made = np.array(trace.value_of(value._symgrad_node))
                return made.item() if value.__class__ in (bool, int, float, complex) else made[()]
    if issubclass(kind, tuple):
        items = [_settled(v, trace) for v in value]
        if any(now is not before for now, before in zip(items, value, strict=True)):
            return getattr(kind, "_make", tuple)(items)
    return value


def _settle_keys(place: Any, trace: Trace) -> None:
    """The same for the keys of a dict and the members of a set, in their order."""
    kind = type(place)
    if not issubclass(kind, (dict, set)) or not any(issubclass(type(key), Tracer) for key in tuple(place)):
        return
    if issubclass(kind, set):
        members = [_settled(m, trace) for m in place]
        set.clear(place)
        set.update(place, members)
        return
    items = [(_settled(key, trace), value) for key, value in dict.items(place)]
    dict.clear(place)
    for key, value in items:
        dict.__setitem__(place, key, value)


def _places(place: Any) -> list[tuple[Any, Any]]:
    """Where something stands in a dict, a list or a cell, and what."""
    kind = type(place)
    if kind is CellType:
        return [(None, cell_content(place))]
    if issubclass(kind, dict):
        return list(dict.items(place))
    return list(enumerate(place)) if issubclass(kind, (list, deque)) else []


def _inside(value: Any) -> list[Any]:
    """What a value holds traced values in, where it does: itself, or what its attributes stand in."""
    kind = type(value)
    if issubclass(kind, tuple):
        return [inside for v in value for inside in _inside(v)]
    if issubclass(kind, (list, dict, deque, set)):
        return [value]
    if is_library(kind.__module__):
        return []
    with contextlib.suppress(Exception):  # whatever the user's own code raises when its object is looked at
        return [vars(value)]
    return []


def _put(place: Any, key: Any, value: Any) -> None:
    if isinstance(place, CellType):
        place.cell_contents = value
    else:
        place[key] = value
