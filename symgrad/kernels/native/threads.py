"""The threads that large loops are dealt out to; the compiled code runs without the interpreter's lock.

Between two chunks the interpreter runs: there an interrupt ends the whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import BackendError
from ..blocks import share, thread_count
from .trial import Trial

#: the threads that a loop is dealt out to, this one among them
THREADS = min(thread_count(), 16)
#: calls of a kernel after which it is found out again whether other threads help, and how many more each time
_FIRST_PAUSE, _LATER = 1000, 4


def deal(call: Callable, outer: int, chunks: int, *arrays: Any, threads: int = 0) -> None:
    """Run a step in ``chunks`` parts of its outermost loop, which so many threads take; all, where it says 0."""
    held = [np.ascontiguousarray(a) for a in arrays]
    left = list(range(chunks))

    def work() -> None:
        while left:
            try:
                k = left.pop()
            except IndexError:  # another thread was faster
                return
            _run(call, outer * k // chunks, outer * (k + 1) // chunks, k, *held)

    share(work, min(chunks, threads or THREADS), left.clear)


class DealIfFaster:
    """``deal``, or the same chunks on this thread alone: waking another one may take longer than a short step.

    It is the same for all steps of a kernel, since a thread that one step has woken is there for the next. Which is
    faster calls of the kernel show, and again ever more rarely, since what disturbed them may be over.
    """

    def __init__(self) -> None:
        self._threads = 0  # all
        self._untried, self._pause = 0, _FIRST_PAUSE

    def __call__(self, call: Callable, outer: int, chunks: int, *arrays: Any) -> None:
        deal(call, outer, chunks, *arrays, threads=self._threads)

    def tried(self, kernel: Callable[..., tuple]) -> Callable[..., tuple]:
        """``kernel``, whose steps this runs, on all threads or on one."""

        def on(threads: int) -> Callable[..., tuple]:
            def run(*arrays: Any) -> tuple:
                self._threads = threads
                return kernel(*arrays)

            return run

        def decide(helps: bool) -> None:
            self._threads = 0 if helps else 1
            self._untried, self._pause = self._pause, _LATER * self._pause

        def run(*arrays: Any) -> tuple:
            nonlocal trial
            if self._untried:
                self._untried -= 1
                if not self._untried:
                    trial = Trial(on(0), on(1), decide)
                return kernel(*arrays)
            return trial(*arrays)

        trial = Trial(on(0), on(1), decide)
        return run


def in_turn(call: Callable, turns: int, chunks: int, *arrays: Any) -> None:
    """Run the turns of a loop in ``chunks`` parts, one after the other."""
    held = [np.ascontiguousarray(a) for a in arrays]
    for k in range(chunks):
        _run(call, turns * k // chunks, turns * (k + 1) // chunks, 0, *held)


def on_contiguous(call: Callable, *arrays: Any) -> None:
    """Run a segment on copies of those arrays that are not contiguous."""
    _run(call, *[np.ascontiguousarray(a) for a in arrays])


def _run(call: Callable, *given: Any) -> None:
    if call(*given):
        raise BackendError("a compiled kernel got an array that it cannot read")


def take_block(blocks: list[np.ndarray], size: int) -> np.ndarray:
    """A block of memory that no other call has in use."""
    try:
        return blocks.pop()
    except IndexError:
        return np.empty(size, np.uint8)
