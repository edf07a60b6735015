"""The local variables of a function while it is traced: when a name is bound, and to which traced value."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from ..errors import is_library
from ..program.node import Node
from .bytecode.places import Store, stores
from .calls import followed_code
from .local_array import LocalArray
from .provenance import SourceLine
from .trace import current
from .tracer import Tracer

#: told of a name, the line that binds it and the value; gives what the name stands for instead, or None
Bound = Callable[[str, SourceLine, Any], Tracer | None]
#: told of a name, when the function returns, and of the traced values in the list or array that it stands for then
Listed = Callable[[str, list[Node]], None]


def code_of(fn: Callable) -> CodeType | None:
    """The code that ``fn`` runs: that of a Cell's construct, of what a wrapper wraps; None where there is none."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    target = inspect.unwrap(getattr(fn, "construct", fn))
    return getattr(getattr(target, "__func__", target), "__code__", None)


@dataclass
class _Watch:
    """One function that is watched; ``frame`` is the call that is, of those under way the outermost."""

    code: CodeType
    bound: Bound
    listed: Listed | None
    #: whether the user's functions that it calls are watched in its place
    calls: bool
    #: whether it is told of values that are not traced too
    plain: bool = False
    frame: FrameType | None = None

    def is_for(self, code: CodeType) -> bool:
        """Whether calls of this code are watched."""
        return code is not self.code and not is_library(code.co_filename) if self.calls else code is self.code


class _Thread(threading.local):
    """Who watches in this thread."""

    def __init__(self) -> None:
        self.watches: list[_Watch] = []


_state = _Thread()


@contextlib.contextmanager
def watching(
    fn: Callable, bound: Bound, listed: Listed | None = None, calls: bool = False, plain: bool = False
) -> Iterator[None]:
    """Inside, ``bound(name, line, value)`` is called whenever ``fn`` itself binds a local name to a traced value.

    Where it binds none and ``calls`` is true, whenever one of the user's functions that it calls does: an expression
    such as ``loss(w, X)`` is told in the names of ``loss``. Where ``plain`` is true, it is called of every value.

    It is called before the next instruction, and may give another value for the name. Values that are appended to a
    list, or written into an array, have no name of their own; ``listed(name, values)`` tells of them at last. The
    interpreter's own tracing is used, and is put back as it was; what ``fn`` calls runs untouched, further calls of its
    own code too.
    """
    code, trace = code_of(fn), current()
    if code is None or not (calls or stores(code)):
        yield
        return
    calls = calls and not stores(code)
    followed = followed_code(code) if trace is not None and trace.follow is not None else code
    watch = _Watch(followed, bound, listed, calls, plain)
    outer = sys.gettrace()
    sys._getframe().f_trace_opcodes = True  # Python 3.12 has instructions told where a frame has asked before
    try:
        _state.watches.append(watch)
        sys.settrace(_called)
        yield
    finally:
        sys.settrace(outer)
        _state.watches.remove(watch)


def _called(frame: FrameType, event: str, arg: Any) -> Any:
    """A call begins: gives what follows its instructions, where it is watched."""
    watches = [w for w in _state.watches if w.frame is None and w.is_for(frame.f_code)]
    if not watches:
        return None
    for watch in watches:
        watch.frame = frame
    found = stores(frame.f_code)
    before = -1

    def step(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal before
        if event == "opcode":
            store = found.get(before)
            before = frame.f_lasti
            if store is not None:
                _bind(frame, store, watches)
        elif event == "return":
            for watch in watches:
                watch.frame = None
                if watch.listed is not None:
                    _list(frame, watch.listed)
        return step

    frame.f_trace = step  # first: Python 3.13 has no eye on the instructions of a frame that nobody follows
    frame.f_trace_opcodes = True
    frame.f_trace_lines = False
    return step


def _bind(frame: FrameType, store: Store, watches: list[_Watch]) -> None:
    held = frame.f_locals  # asked for once: what is written into it is the frame's when the interpreter goes on
    for name in store.names:
        value = held.get(name)
        for watch in watches:
            if watch.plain or type(value) is Tracer or (type(value) is LocalArray and value.is_traced):
                other = watch.bound(name, SourceLine(frame.f_code.co_filename, store.line), value)
                if other is not None:
                    if store.read_again and type(value) is Tracer:
                        value._node = other._node
                    held[name] = value = other


def _list(frame: FrameType, listed: Listed) -> None:
    for name, value in frame.f_locals.items():
        if type(value) is list:
            listed(name, [v._symgrad_node for v in value if type(v) is Tracer])
        elif type(value) is LocalArray:
            listed(name, value.written)


def bound_names(fn: Callable) -> list[str]:
    """The local names that ``fn`` binds, arguments that are bound again among them."""
    code = code_of(fn)
    found = {} if code is None else stores(code)
    return list(dict.fromkeys(name for store in found.values() for name in store.names))


def has_names(fn: Callable) -> bool:
    """Whether ``fn`` binds local names, or one of the user's functions that it calls by name: see ``watching``."""
    if bound_names(fn):
        return True
    try:
        found = inspect.getclosurevars(inspect.unwrap(fn))
    except (TypeError, ValueError):  # no function of Python, or one with a name that is not bound yet
        return False
    held = [*found.globals.values(), *found.nonlocals.values()]
    called = [f for o in held for f in (o, *[inspect.getattr_static(o, name, None) for name in found.unbound])]
    users = [f for f in called if callable(f) and (code := code_of(f)) is not None and not is_library(code.co_filename)]
    return any(map(bound_names, users))


def binding_count(fn: Callable, name: str) -> int:
    """How many places of ``fn`` bind the local ``name``."""
    code = code_of(fn)
    return 0 if code is None else sum(name in store.names for store in stores(code).values())
