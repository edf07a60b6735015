"""CompiledFunction: a function traced once a signature, its kernel cached, its guards checked at every call."""

from __future__ import annotations

import inspect
import logging
import time
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import CodeType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from .attempts import Attempts
from .context import is_debugging
from .debugging import is_finite, what_went_wrong
from .errors import (
    CONTRACT,
    NonFiniteError,
    TracedAgain,
    TracingError,
    UnsupportedOperation,
    at_user_line,
    is_library,
    is_own,
    shortened,
)
from .kernels.backend import checked_backend
from .named_dims import Declared, Placeholder, argument_names
from .signature import Call, VaryingInts, called_name, ints_of, key_of_arrays
from .trace_entry import Arguments, TraceEntry, is_input
from .tracing.host_scalars import Host, NotAValue
from .tracing.library_calls import refuse_untyped
from .tracing.local_names import code_of, watching
from .tracing.opened import watch_what_is_opened
from .tracing.trace import Purpose, Trace, called, current
from .tracing.trace_guards import TraceGuards
from .tracing.tracer import Tracer
from .tracing.tree import classes_in, flatten, tree_map
from .tracing.users_methods import followed_methods

_log = logging.getLogger("symgrad")

_MANY_FUNCTIONS = 1000  # of one source that are traced before a warning
_MAX_SIGNATURES = 256  # kept of a function
_MAX_ENTRIES = 16  # traces kept a signature: one each for the branches and guarded values met
_TRACED_TOO_OFTEN = (
    "is traced again at nearly every call, for another shape or another value of an argument that is no array, and the "
    "oldest traces are forgotten. Pass numbers that change as floats or arrays, and compute with them by operators and "
    "NumPy (np.sqrt, not math.sqrt); where sizes change, declare them by names (sg.Array['n'])."
)
_CHANGING = (
    "is traced again at every call, which takes far longer than its kernel: it may read {}, and nothing tells before a "
    f"call whether that has changed. Read it outside of the function, and pass what it gives as an argument. {CONTRACT}"
)
_CHANGED = (
    "is traced again at every call, which takes far longer than its kernel: it changes what it reads (a counter, a "
    f"list of what it has computed, a result that it keeps). Do that where it is called. {CONTRACT}"
)
_CAUGHT = (
    "{} catches the {} that NumPy is told to raise of values: while a function is traced nothing is computed that "
    "could raise it, and its other way would never be taken. Ask for the values instead, as in if np.all(x > 0). "
    f"{CONTRACT}"
)
_MAX_SAID = 3  # of what a function reads are named

#: the trees of ``Declared`` of positional and of keyword arguments, None for an argument that declares nothing
Shapes = tuple[Sequence[Any], Mapping[str, Any]]


class CompiledFunction:
    """``body`` run on traced arguments, once a signature; calls run the kernel.

    The signature is the structure of the arguments, the shape and dtype of every array, and the value of
    everything that is not an array or a float. ``watched`` is the user's function, whose globals and
    closures are guarded. ``shapes`` says which shapes the arguments declare: the signature holds the names in
    place of sizes, which are checked at every call. Where the result is ``concrete`` they are checked and no more.
    """

    def __init__(
        self,
        body: Callable,
        watched: Callable,
        backend: str = "auto",
        cache: bool = True,
        shapes: Callable[[tuple, dict[str, Any]], Shapes] | None = None,
        concrete: bool = False,
        names: Callable[[int, Mapping[str, Any]], Sequence[str]] | None = None,
    ) -> None:
        """``names`` says what so many positional arguments are called, beside arguments by name."""
        checked_backend(backend)
        self.names = names or (lambda count, kwargs: argument_names(watched, count))
        self.shapes = shapes
        self.concrete = concrete
        self.body = body
        self.watched = watched
        self.backend = backend
        self.cache = cache
        self.latest: TraceEntry | None = None
        self._entries: dict[Any, list[TraceEntry]] = {}
        self._by_arrays = self._entries if shapes is None else {}
        self._bound: dict[Any, Any] = {}
        self._ints = VaryingInts(_MAX_SIGNATURES)
        code = code_of(watched)
        self._asks_types = code is not None and "type" in code.co_names  # type(n) is int of no number but itself
        file = "" if code is None else code.co_filename
        self._attempts = Attempts(is_library(file) and not is_own(file))  # whose code is never run as it is
        self._has_warned = False
        self._not_kept: Any = None  # the signature of the latest trace that cannot serve again

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if is_debugging():
            return self._debugged(args, kwargs)
        entry = None if kwargs else self.known(args)
        if entry is not None:
            return entry.run(args)
        return self._run(args, kwargs)

    def _run(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        call = self._call(args, kwargs)
        running, leaves = self._running(call)
        return running.run(leaves, call.wraps)

    def _debugged(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The result, looked at; where it is not finite, the function is traced again with its lines."""
        result = self._run(args, kwargs)
        if is_finite(result):
            return result
        entry, leaves = self.recorded(*args, **kwargs)
        name = getattr(getattr(self.body, "__self__", None), "__name__", None) or called_name(self.watched)
        raise NonFiniteError(what_went_wrong(name, result, entry, entry.arguments(leaves)))

    def known(self, args: tuple) -> TraceEntry | None:
        """The trace that serves arrays and floats such as it has served; None where more has to be looked at.

        What is checked before a function is traced follows from the signature, so it need not be checked again.
        """
        key = key_of_arrays(args)
        if key is None:
            return None
        for entry in self._by_arrays.get(key, ()):
            if entry.unchanged() and (entry.unconditional or entry.holds_for(args)):
                self.latest = entry
                return entry
        return None

    def entry(self, *args: Any, **kwargs: Any) -> TraceEntry:
        """The trace that serves these arguments."""
        return self._serving(self._call(args, kwargs))

    def entry_of_shapes(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], purpose: Purpose = Purpose.RUN
    ) -> TraceEntry:
        """The trace for float64 arrays of which no more than trees of ``Declared`` are known."""
        key = (tuple(map(_texts, args)), tuple((name, _texts(tree)) for name, tree in kwargs.items()))
        for entry in self._entries.get(key, ()):
            if entry.serves_shapes() and entry.is_for(purpose):
                break
        else:
            made = [tree_map(_stand_in, t) for t in args], {name: tree_map(_stand_in, t) for name, t in kwargs.items()}
            entry = self._new_entry(*made, key, _new_trace(None, purpose))
        self.latest = entry
        return entry

    def sizes(self, args: tuple, kwargs: dict[str, Any]) -> Mapping[Any, int]:
        """What the named dims are in a call with these arguments."""
        return self._call(args, kwargs).sizes or {}

    def served(self, *args: Any, **kwargs: Any) -> tuple[TraceEntry, list[Any]]:
        """The trace that serves these arguments, and the arrays among them in order."""
        call = self._call(args, kwargs)
        return self._serving(call), call.leaves

    def kept(self, args: tuple, kwargs: dict[str, Any]) -> tuple[TraceEntry, list[Any]] | None:
        """A trace that serves arrays like these, whatever they hold, and the arrays in order; None where none does."""
        call = self._call(args, kwargs)
        for entry in self._entries.get(call.key, ()):
            fits = entry.host is None and entry.is_for(Purpose.RUN) and not entry.taken
            if fits and entry.serves(call.leaves, call.sizes):
                return entry, call.leaves
        return None

    def recorded(self, *args: Any, **kwargs: Any) -> tuple[TraceEntry, list[Any]]:
        """As ``served``; the graph of the trace knows the lines that its nodes come from.

        It is recorded where it is asked for alone: that takes time and memory.
        """
        return self._shown(args, kwargs, Purpose.LINES)

    def read(self, *args: Any, **kwargs: Any) -> tuple[TraceEntry, list[Any]]:
        """As ``recorded``, for formulas: loops are operations."""
        return self._shown(args, kwargs, Purpose.FORMULAS)

    def _shown(self, args: tuple, kwargs: dict[str, Any], purpose: Purpose) -> tuple[TraceEntry, list[Any]]:
        call, latest = self._call(args, kwargs), self.latest
        entry = self._serving(call, purpose)
        self.latest = latest or entry  # calls are served as before
        return entry, call.leaves

    def _call(self, args: tuple, kwargs: dict[str, Any]) -> Call:
        call = Call(args, kwargs)
        if self.shapes is None:
            return call.read()
        named = call.read_named(*self.shapes(args, kwargs), self._bound)
        return Call(args, kwargs).read() if self.concrete else named

    def _kept(self, key: tuple, call: Call, purpose: Purpose = Purpose.RUN) -> tuple[TraceEntry, Sequence[Any]] | None:
        """The trace of this signature that serves a call, and its inputs; one for the ``purpose``."""
        for entry in self._entries.get(key, ()):
            if not entry.is_for(purpose):
                continue
            leaves = call.leaves if entry.host is None else entry.host.inputs(call.leaves, ints_of(call.key))
            if leaves is not None and entry.serves(leaves, call.sizes):
                self.latest = entry
                return entry, leaves
        return None

    def _serving(self, call: Call, purpose: Purpose = Purpose.RUN) -> TraceEntry:
        """The trace that serves a call, in which ints are what they are."""
        found = self._kept(call.key, call, purpose)
        if found is not None:
            return found[0]
        self.latest = entry = self._new_entry(*call.stand_ins(), call.key, _new_trace(call.sizes, purpose))
        return entry

    def _running(self, call: Call) -> tuple[TraceEntry, Sequence[Any]]:
        """The trace that runs, and its inputs: ints are part of the signature until they change."""
        found = self._kept(call.key, call)
        varying, key = self._ints.of(call.key) if found is None and self.cache and not self._asks_types else ((), ())
        if not varying:
            return found or (self._serving(call), call.leaves)
        found = self._kept(key, call)
        if found is not None:
            return found
        trace = Trace(call.sizes)
        host = Host(varying, trace)
        try:
            self.latest = entry = self._new_entry(*call.stand_ins(), key, trace, host)
            assert entry.host is not None  # that of the attempt that got through
            return entry, entry.host.inputs(call.leaves, ints_of(call.key)) or call.leaves
        except NotAValue as needed:
            which: Collection[int] = needed.which
        except Exception:  # the function's own, or it takes nothing but an int: it has no effects, and runs again
            which = ()
        host.close()
        entry = None if which else self._serving(call)
        self._ints.fix(call.key, which or varying)
        return self._running(call) if entry is None else (entry, call.leaves)

    def _new_entry(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], key: Any, trace: Trace, host: Host | None = None
    ) -> TraceEntry:
        if self.cache and not self._entries:
            _note_first_trace(self.watched)
        leaves, structure = flatten((*args, *kwargs.values()))
        static = [v for v in leaves if not is_input(v)]
        guards = TraceGuards(self.watched, [*static, *classes_in(structure)])
        if guards.caught is not None:
            raise UnsupportedOperation(_CAUGHT.format(called_name(self.watched), guards.caught))

        def run(trace: Trace, host: Host | None) -> TraceEntry:
            return self._traced(args, kwargs, trace, host, guards)

        if host is not None and guards.has_effects:
            raise NotAValue(())  # which may need another run
        trace, entry = self._attempts.made(trace, host, guards, run)
        guards.note_changing(trace.looked_outside)
        trace.let_go()
        guards.watch_weights(entry.weights_read)
        if self.cache and key is not None:
            if guards.may_serve_again():
                self._keep(key, entry)
            else:
                changing = guards.changing()
                told = _CHANGING.format(" or ".join(changing[:_MAX_SAID])) if changing else _CHANGED
                self._warn_of(told if changing or guards.has_changed_itself() else None, key)
        return entry

    def _traced(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        trace: Trace,
        host: Host | None,
        guards: TraceGuards,
    ) -> TraceEntry:
        """The entry of one run of the function."""
        began = time.perf_counter()
        watch_what_is_opened()
        labels = self.names(len(args), kwargs)
        arguments = Arguments(trace, labels, tuple(kwargs), host)
        with trace, followed_methods(guards.classes if trace.follow is not None else ()):
            traced = [arguments.traced(label, v) for label, v in zip(labels, args, strict=True)]
            named = {label: arguments.traced(label, v) for label, v in kwargs.items()}
            try:
                with self._watching(trace):
                    is_users = self.body is self.watched
                    outputs = called(self.body, traced, named) if is_users else self.body(*traced, **named)
                if host is not None:
                    host.finish(outputs)
                made = TraceEntry(arguments, guards, outputs, self.backend)
                if trace.left_out.any:
                    trace.left_out.check(made.program.nodes)
                if _log.isEnabledFor(logging.DEBUG):
                    took, count = 1000 * (time.perf_counter() - began), len(made.program.bindings)
                    name = called_name(self.watched)
                    _log.debug("traced and derived %s in %.1f ms: %d operations", name, took, count)
                return made
            except NotAValue:
                raise
            except Exception as error:
                refuse_untyped(error, trace)
                raise
            finally:
                guards.settle(trace)

    def _watching(self, trace: Trace) -> AbstractContextManager[None]:
        if not trace.graph.is_recorded:
            return nullcontext()
        return watching(self.watched, trace.bind, trace.bind_items, calls=True)

    def _keep(self, key: Any, entry: TraceEntry) -> None:
        """Remember a trace; the oldest is forgotten where there are too many."""
        kept = self._entries.setdefault(key, [])
        kept.insert(int(entry.is_recorded), entry)  # after the latest, which may have its kernel
        forgotten = [*kept[_MAX_ENTRIES:]] if entry.host is not None else []
        del kept[_MAX_ENTRIES:]
        while len(self._entries) > _MAX_SIGNATURES:
            forgotten += self._entries.pop(next(iter(self._entries)))
        if forgotten:
            self._warn(_TRACED_TOO_OFTEN)

    def _warn_of(self, reason: str | None, key: Any) -> None:
        """Warn where a second call alike is traced, and there is a ``reason``."""
        if reason is not None and self._not_kept == key:
            self._warn(reason)
        self._not_kept = key

    def _warn(self, message: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            name = shortened(getattr(self.watched, "__name__", type(self.watched).__name__))
            warnings.warn(at_user_line(f"{name} {message}"), TracedAgain, stacklevel=2)


#: how many functions of the same code have been traced
_first_traces: WeakKeyDictionary[CodeType, int] = WeakKeyDictionary()


def _note_first_trace(function: Callable) -> None:
    """Warn once where the same line makes function after function, each of which is traced."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if not isinstance(code, CodeType) or is_own(code.co_filename):
        return
    count = _first_traces[code] = _first_traces.get(code, 0) + 1
    if count == _MANY_FUNCTIONS:
        warnings.warn(
            at_user_line(
                f"{count} functions of the same source ({shortened(code.co_name)}, line {code.co_firstlineno}) were "
                "traced, each anew. Make the function and its derivative once, outside of the loop, and pass what "
                "changes as an argument."
            ),
            TracedAgain,
            stacklevel=2,
        )


def _new_trace(sizes: Mapping[Any, int] | None, purpose: Purpose) -> Trace:
    inside = None if purpose is Purpose.RUN else CompiledFunction._new_entry.__code__
    return Trace(sizes, purpose, inside)


def _texts(tree: Any) -> Any:
    """A tree of ``Declared`` as part of a signature."""
    leaves, structure = flatten(tree)
    return structure, tuple([d and d.text for d in leaves])


def _stand_in(declared: Declared | None) -> Placeholder | None:
    return declared and Placeholder(declared.shape, np.dtype(np.float64))


def is_tracing(args: Any) -> bool:
    """True inside a trace: then derivatives are built into it instead of being run."""
    if current() is not None:
        return True
    leaves, _ = flatten(args)
    if any(isinstance(v, Tracer) for v in leaves):
        raise TracingError.here("a traced value was used after its trace had ended.")
    return False
