"""A limit to the time that sympy may take: some of its algorithms have none of their own."""

from __future__ import annotations

import contextlib
import inspect
import sys
import time
from collections.abc import Iterator
from typing import Any

#: seconds after which it is raised once more, where something has swallowed it
_AGAIN = 0.5


class TimeIsUp(BaseException):
    """Raised inside of what takes too long; no ``except Exception`` on the way catches it."""


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TimeIsUp in this thread where the body takes longer than ``seconds``.

    Python's own profiling hook looks at the clock at every call, so one long operation in C is not cut short. The
    hook that was there is put back, and runs meanwhile too; under a profiler written in C there is no limit.
    """
    end = time.monotonic() + seconds
    outer = sys.getprofile()
    if outer is not None and not callable(outer):
        yield
        return

    def hook(frame: Any, event: Any, arg: Any) -> None:
        nonlocal end
        if outer is not None:
            outer(frame, event, arg)
        # a generator may be about to be closed by the collector of garbage, which would swallow what is raised
        if event == "call" and time.monotonic() > end and not frame.f_code.co_flags & inspect.CO_GENERATOR:
            end = time.monotonic() + _AGAIN
            raise TimeIsUp

    sys.setprofile(hook)
    try:
        yield
    finally:
        sys.setprofile(outer)
