"""Python's collector of cycles waits while a program is derived or lowered.

It looks through all objects that live whenever there are a quarter more of them. Nodes are made by the hundred thousand
and stay, none is in a cycle: without a pause half of the time would be spent on finding nothing.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Generator

from .forks import Lock, in_each_child

_lock = Lock()
#: how many are in a pause, in all threads, and whether the first of them has found the collector at work
_inside, _was_on = 0, False


@contextlib.contextmanager
def collector_paused() -> Generator[None]:
    """Inside, nothing is collected; after the last that is inside the collector goes on, unless it was off before.

    >>> with collector_paused():
    ...     gc.isenabled()
    False
    """
    global _inside, _was_on
    with _lock:
        if not _inside:
            _was_on = gc.isenabled()
            gc.disable()
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside = max(_inside - 1, 0)
            if not _inside and _was_on:
                gc.enable()


def _forget() -> None:
    """In a child that was forked: the threads that were inside are none of its own."""
    global _inside
    if _inside and _was_on:
        gc.enable()
    _inside = 0


in_each_child(_forget)
