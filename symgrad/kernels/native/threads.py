"""The threads that large loops are dealt out to; the compiled code runs without the interpreter's lock."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ...errors import BackendError
from ..blocks import thread_count

#: the threads that a loop is dealt out to, this one among them
THREADS = min(thread_count(), 16)


@functools.lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(THREADS - 1, 1), thread_name_prefix="symgrad")


def deal(call: Callable, outer: int, chunks: int, *arrays: Any) -> None:
    """Run a step in ``chunks`` parts of its outermost loop, all but the first on other threads."""
    held = [np.ascontiguousarray(a) for a in arrays]
    ends = [outer * k // chunks for k in range(chunks + 1)]
    submit = _pool(os.getpid()).submit
    others = [submit(call, ends[k], ends[k + 1], k, *held) for k in range(1, chunks)]
    try:
        call(ends[0], ends[1], 0, *held)
    finally:
        for other in others:
            other.result()


def on_contiguous(call: Callable, *arrays: Any) -> None:
    """Run a segment on copies of those arrays that are not contiguous."""
    if call(*[np.ascontiguousarray(a) for a in arrays]):
        raise BackendError("a compiled kernel got an array that it cannot read")


def take_block(blocks: list[np.ndarray], size: int) -> np.ndarray:
    """A block of memory that no other call has in use."""
    try:
        return blocks.pop()
    except IndexError:
        return np.empty(size, np.uint8)
