"""The threads that large loops are dealt out to; the compiled code runs without the interpreter's lock.

Between two chunks the interpreter runs: there an interrupt ends the whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import BackendError
from ..blocks import share, thread_count

#: the threads that a loop is dealt out to, this one among them
THREADS = min(thread_count(), 16)


def deal(call: Callable, outer: int, chunks: int, *arrays: Any) -> None:
    """Run a step in ``chunks`` parts of its outermost loop, which the threads take."""
    held = [np.ascontiguousarray(a) for a in arrays]
    left = list(range(chunks))

    def work() -> None:
        while left:
            try:
                k = left.pop()
            except IndexError:  # another thread was faster
                return
            if call(outer * k // chunks, outer * (k + 1) // chunks, k, *held):
                raise BackendError("a compiled kernel got an array that it cannot read")

    share(work, min(chunks, THREADS), left.clear)


def in_turn(call: Callable, turns: int, chunks: int, *arrays: Any) -> None:
    """Run the turns of a loop in ``chunks`` parts, one after the other."""
    held = [np.ascontiguousarray(a) for a in arrays]
    for k in range(chunks):
        if call(turns * k // chunks, turns * (k + 1) // chunks, 0, *held):
            raise BackendError("a compiled kernel got an array that it cannot read")


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
