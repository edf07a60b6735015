"""The local variables of a function while it is traced: when a name is bound, and to which traced value."""

from __future__ import annotations

import contextlib
import dis
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

from .provenance import SourceLine
from .tracer import Tracer

Bound = Callable[[str, SourceLine, Tracer], None]


def code_of(fn: Callable) -> CodeType | None:
    """The code that ``fn`` runs: that of a Cell's construct, of what a wrapper wraps; None where there is none."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    target = inspect.unwrap(getattr(fn, "construct", fn))
    return getattr(getattr(target, "__func__", target), "__code__", None)


@contextlib.contextmanager
def watching(fn: Callable, bound: Bound) -> Iterator[None]:
    """Inside, ``bound(name, line, value)`` is called whenever ``fn`` itself binds a local name to a traced value.

    It is called before the next instruction, so that it may still change what the name stands for. The interpreter's
    own tracing is used, and is put back as it was; functions that ``fn`` calls run untouched.
    """
    code = code_of(fn)
    stores = {} if code is None else _stores(code)
    if not stores:
        yield
        return

    def called(frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code is not code:
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        before: list[int] = [-1]

        def step(frame: FrameType, event: str, arg: Any) -> Any:
            if event == "opcode":
                names, number = stores.get(before[0], ((), 0))
                before[0] = frame.f_lasti
                for name in names:
                    value = frame.f_locals.get(name)
                    if type(value) is Tracer:
                        bound(name, SourceLine(frame.f_code.co_filename, number), value)
            return step

        return step

    outer = sys.gettrace()
    sys.settrace(called)
    try:
        yield
    finally:
        sys.settrace(outer)


def bound_names(fn: Callable) -> list[str]:
    """The local names that ``fn`` binds, arguments that are bound again among them."""
    code = code_of(fn)
    stores = {} if code is None else _stores(code)
    return list(dict.fromkeys(name for names, _ in stores.values() for name in names))


def _stores(code: CodeType) -> dict[int, tuple[tuple[str, ...], int]]:
    """The instructions that bind local names: offset -> the names and their line."""
    found = {}
    for i in dis.get_instructions(code):
        if i.opname.startswith(("STORE_FAST", "STORE_DEREF")):
            names = i.argval if isinstance(i.argval, tuple) else (i.argval,)
            names = names if i.opname == "STORE_FAST_STORE_FAST" else names[:1]
            number = i.positions.lineno if i.positions is not None else None
            found[i.offset] = (names, number or code.co_firstlineno)
    return found
