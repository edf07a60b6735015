"""A limit to the work of sympy: some of its algorithms have none of their own."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import sys
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

import mpmath

#: after which part of a limit it is raised once more, where something has swallowed it
_AGAIN = 0.25


class TimeIsUp(BaseException):
    """Raised inside of what takes too long; no ``except Exception`` on the way catches it."""


def within(seconds: float) -> contextlib.AbstractContextManager[None]:
    """Raise TimeIsUp in this thread where the body takes longer than ``seconds``."""
    return _limited(time.monotonic, seconds)


def within_calls(count: int) -> contextlib.AbstractContextManager[None]:
    """Raise TimeIsUp in this thread where the body calls more than ``count`` functions, however busy the machine is.

    sympy makes about a million and a half a second.
    """
    return _limited(itertools.count(1).__next__, count)


class Allowance:
    """So many calls for several tasks together, each of which is broken off by a TimeIsUp where none is left."""

    def __init__(self, calls: int) -> None:
        self._left = calls

    @contextlib.contextmanager
    def drawn_on(self) -> Iterator[None]:
        """The calls that are made inside are taken from what is left."""
        count = itertools.count(1).__next__
        try:
            with _limited(count, self._left):
                yield
        finally:
            self._left = max(0, self._left - count())


@contextlib.contextmanager
def _limited(spent: Callable[[], float], limit: float) -> Iterator[None]:
    """Raise TimeIsUp where ``spent``, which is asked at every call, grows by more than ``limit``.

    It is asked by Python's own hook of calls, so one long operation in C is not cut short: by that of tracing, or of
    profiling, which takes twice as long, where a debugger traces. The hook that was there is put back, and runs
    meanwhile too; under a profiler written in C there is no limit.
    """
    traced = sys.gettrace()
    is_free = traced is None or getattr(traced, "__module__", "") == __name__
    get, put = (sys.gettrace, sys.settrace) if is_free else (sys.getprofile, sys.setprofile)
    outer: Any = get()
    if outer is not None and not callable(outer):
        yield
        return

    def hook(frame: Any, event: Any, arg: Any) -> None:
        nonlocal end
        if outer is not None:
            outer(frame, event, arg)
        if event == "call" and spent() > end and _may_be_left(frame.f_code):
            end = spent() + _AGAIN * limit
            raise TimeIsUp

    end, precision = spent() + limit, mpmath.mp.prec
    put(hook)  # type: ignore[arg-type]
    try:
        yield
    finally:
        put(outer)  # type: ignore[arg-type]
        mpmath.mp.prec = precision  # which a ``with`` may have been about to set when it was left


def _may_be_left(code: types.CodeType) -> bool:
    """False for the end of a ``with``, which tidies up, and for a generator.

    The collector of garbage may be about to close that one, which would swallow what is raised.
    """
    return code.co_name != "__exit__" and not code.co_flags & inspect.CO_GENERATOR
