"""How a walk looks at a value that a function can read: what is remembered of it, and what it leads to."""

from __future__ import annotations

import abc
import collections
import contextlib
import contextvars
import decimal
import functools
import gc
import io
import logging
import pickle
import threading
import types
import weakref
from collections.abc import Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .generators import state_of
from .guards import MISSING
from .instances import is_used_up
from .libraries import is_foreign

if TYPE_CHECKING:
    from .walk import Walk


#: how what is said of an iterator begins
ITERATOR = "an iterator"


class Changing(NamedTuple):
    """Stands for what is not the same at every call."""

    what: str


def array(walk: Walk, array: np.ndarray) -> None:
    if array.dtype == object:
        walk.pending += walk.guards.watch_members_of(_objects, array)
        walk.guards.watch_content(np.shape, array)
    elif array.dtype.hasobject:
        pickled(walk, array)
    else:
        walk.guards.watch_array(array)


def scalar(walk: Walk, scalar: np.generic) -> None:
    if isinstance(scalar, np.void):
        pickled(walk, scalar)


def generator(walk: Walk, generator: Any) -> None:
    try:
        walk.generators.append((generator, state_of(generator)))
    except Exception:  # the machine's own
        walk.pending.append(Changing(f"random.{type(generator).__name__}"))


def mapping(walk: Walk, mapping: Mapping[Any, Any]) -> None:
    if isinstance(mapping, dict) and type(mapping).__iter__ is not dict.__iter__ and is_foreign(type(mapping)):
        pickled(walk, mapping)  # its keys are not what it gives when it is gone through, as those of a dok_matrix
        return
    walk.pending += [*mapping, *walk.guards.watch_members(mapping)]
    if isinstance(mapping, collections.defaultdict):
        walk.pending.append(walk.guards.watch_read(getattr, mapping, "default_factory"))


def fixed_items(walk: Walk, items: Any) -> None:
    walk.pending += items


def items(walk: Walk, items: Any) -> None:
    walk.guards.watch_sequence(items)
    walk.pending += items


def method(walk: Walk, method: types.MethodType) -> None:
    walk.pending += [method.__func__, method.__self__]


def descriptor(walk: Walk, descriptor: Any) -> None:
    held = [getattr(descriptor, name, None) for name in ("__func__", "fget", "fset", "fdel", "func")]
    walk.pending += held


def partial(walk: Walk, partial: functools.partial) -> None:
    walk.pending += walk.guards.watch_parts(attrgetter("func", "args", "keywords"), partial)


def cached(walk: Walk, function: Any) -> None:
    """A function that keeps its results: those that it has, until they are cleared.

    A trace in whose run it computes further ones is not kept: they are seen by the next.
    """
    misses = state_of(function)
    walk.generators.append((function, misses))
    walk.guards.watch_read(_has_computed, function, misses)
    for held in gc.get_referents(function):
        if type(held) is dict and held is not vars(function):
            if function.cache_parameters()["maxsize"] is None:
                walk.pending += held.values()
            elif not any(type(v).__name__ == "_lru_list_elem" for v in held.values()):  # else it is the cache, of links
                walk.pending.append(held)  # whose results are referents too
        elif not isinstance(held, (type, dict)):
            walk.pending.append(held)
    walk.pending += [function.__wrapped__, *walk.guards.watch_members(vars(function))]


def _has_computed(function: Any, misses: int) -> bool:
    """Whether it still keeps what it has computed: it counts from 0 again when that is cleared."""
    return state_of(function) >= misses


def view(walk: Walk, view: Any) -> None:
    walk.pending.append(view.mapping)


def context_variable(walk: Walk, variable: contextvars.ContextVar) -> None:
    walk.pending.append(walk.guards.watch_read(_in_context, variable, None))


def thread_local(walk: Walk, local: threading.local) -> None:
    walk.pending += walk.guards.watch_members_of(vars, local)
    walk.note_class(type(local))


def signal(walk: Walk, signal: Any) -> None:
    """What threads wait for: how it is now, which is for another thread to change."""
    walk.guards.watch_members_of(vars, signal)


def reference(walk: Walk, reference: weakref.ref) -> None:
    walk.pending.append(walk.guards.watch_read(_referred, reference, None))


def logger(walk: Walk, logger: logging.Logger) -> None:
    walk.guards.watch_content(_levels, logger)


def lock(walk: Walk, lock: Any) -> None:
    walk.guards.watch_content(_is_locked, lock)


def subclasses(cls: type) -> list[int]:
    """Which classes derive from one now."""
    return list(map(id, type.__subclasses__(cls)))


def registrations(_: None) -> Any:
    """What changes with each class that is registered with an abstract one."""
    return abc.get_cache_token()


def decimal_context(_: None) -> str:
    """How Python computes with decimal numbers in this thread."""
    return repr(decimal.getcontext())


def print_options(_: None) -> str:
    """How NumPy writes arrays."""
    return repr(np.get_printoptions())


def file(walk: Walk, file: io.IOBase) -> None:
    if isinstance(file, (io.StringIO, io.BytesIO)):
        pickled(walk, file)
        return
    with contextlib.suppress(ValueError):  # of a closed one nothing is read
        if file.readable():
            walk.pending.append(Changing("a file"))


def hidden(walk: Walk, value: Any) -> None:
    """An object whose content lies where Python cannot look: compared as bytes, if it has any."""
    kind = type(value)
    if str(kind.__module__).startswith("pandas._libs") and kind.__name__ == "BlockValuesRefs":
        return  # who else looks into the values, which are looked at themselves
    if is_used_up(value):
        walk.pending.append(Changing(f"{ITERATOR} ({kind.__name__})"))
    elif getattr(value, "_objects", None) is not None:  # ctypes: it points to what lies elsewhere
        walk.pending.append(Changing(f"memory behind a {kind.__name__}"))
    elif callable(value):
        walk.look_at_callable(value)
    else:
        try:
            walk.guards.watch_content(_bytes, value)
        except (TypeError, ValueError, BufferError):
            pickled(walk, value)


def pickled(walk: Walk, value: Any) -> None:
    try:
        walk.guards.watch_content(pickle.dumps, value)
    except Exception:  # whatever its own code raises
        walk.pending.append(Changing(f"an object of type {type(value).__name__}, which cannot be compared"))


def _levels(logger: logging.Logger) -> tuple[int, int]:
    return logger.getEffectiveLevel(), logger.manager.disable


def _is_locked(lock: Any) -> bool:
    return lock.locked()


def _bytes(value: Any) -> bytes:
    with memoryview(value) as view:
        return view.tobytes()


def _objects(array: np.ndarray) -> Mapping[Any, Any]:
    return dict(enumerate(array.ravel().tolist()))


def _in_context(variable: contextvars.ContextVar, _: Any) -> Any:
    try:
        return variable.get()
    except LookupError:
        return MISSING


def _referred(reference: weakref.ref, _: Any) -> Any:
    return reference()
