"""Runs the function of a region over blocks of its elements, on as many threads as pay.

Ufuncs give the interpreter's lock back while they work, so threads run blocks side by side. Where every operand is
contiguous the blocks are ranges of one long axis; else they are slices of the first axis whose rows are short enough.
"""

from __future__ import annotations

import contextvars
import itertools
import math
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np

from ..program.forks import in_each_child
from .reuse import empty

#: elements of a block where one thread runs; its values stay in the cache
_ALONE = 1 << 14
#: elements of a block where threads take turns at the interpreter's lock: more, since each turn has a price
_SHARED = 1 << 15
#: elements that a block has at least, where all of them are enough for it
_FEWEST = 1 << 12
#: bytes of scratch memory that blocks are made for, a thread
_SCRATCH = 1 << 22
#: nanoseconds of work from which one more thread pays
_THREAD = 150_000
#: bytes of scratch memory that stay for the next call, a thread
_KEPT = 1 << 25
#: bytes of a cache line, and those by which the starts of scratch arrays differ, so that they share no cache sets
_LINE, _STAGGER = 64, 320


class Blocks:
    """``function`` over blocks: ``(operands, shape) -> results``.

    ``function(*operands, *outputs, *scratch, axes)`` computes one block: it writes the elementwise results into
    ``outputs`` and returns the reductions, of which ``axes`` lists the axes. ``outputs`` and ``scratch`` are dtypes,
    ``reused`` says for each output which operand's memory it may take over, or -1, ``reductions`` are pairs of a ufunc
    and the axes that stay; ``cost`` is in nanoseconds an element.
    """

    def __init__(
        self,
        function: Callable[..., tuple],
        outputs: Sequence[str],
        reused: Sequence[int],
        reductions: Sequence[tuple[np.ufunc, tuple[int, ...]]],
        scratch: Sequence[str],
        cost: float,
    ) -> None:
        self.function = function
        self.outputs = tuple(map(np.dtype, outputs))
        self.reused = tuple(reused)
        self.reductions = tuple(reductions)
        self.scratch = tuple(map(np.dtype, scratch))
        self.cost = cost
        self.bytes = sum(d.itemsize for d in self.scratch)
        self._flat = all(not kept for _, kept in reductions)

    def __call__(self, operands: Sequence[Any], shape: tuple[int, ...]) -> list[Any]:
        results = [
            operands[k] if k >= 0 and _fits(operands[k], shape) else empty(shape, d)
            for d, k in zip(self.outputs, self.reused, strict=True)
        ]
        wide = [o if _is_scalar(o) else _spread(o, shape) for o in operands]
        scalar = [_is_scalar(o) for o in wide]
        arrays = results
        if self._flat and all(s or o.flags.c_contiguous for o, s in zip(wide, scalar, strict=True)):
            wide = [o if s else o.reshape(-1) for o, s in zip(wide, scalar, strict=True)]
            arrays = [r.reshape(-1) for r in results]
            shape = (math.prod(shape),)
        elements = math.prod(shape)
        threads = max(1, min(thread_count(), int(elements * self.cost / _THREAD)))
        run = _Run(self, wide, scalar, arrays, shape, _block_size(elements, threads, self.bytes))
        run.on(min(threads, len(run.blocks)))
        return results + run.reduced()


class _Run:
    """One call: its blocks, and what each of them gave."""

    def __init__(
        self,
        kernel: Blocks,
        operands: list[Any],
        scalar: list[bool],
        outputs: list[np.ndarray],
        shape: tuple[int, ...],
        size: int,
    ) -> None:
        self.kernel = kernel
        self.operands = list(zip(operands, scalar, strict=True))
        self.outputs = outputs
        self.shape = shape
        self.split, self.blocks = _cut(shape, size)
        self.largest = math.prod(shape[self.split + 1 :]) * self._length(self.blocks[0])
        self.axes = [
            tuple(k - self.split for k in range(self.split, len(shape)) if k not in kept)
            for _, kept in kernel.reductions
        ]
        self.partial: list[tuple] = [()] * len(self.blocks)
        self._next = iter(range(len(self.blocks)))

    def _length(self, index: tuple) -> int:
        return index[-1].stop - index[-1].start

    def on(self, threads: int) -> None:
        """Work through the blocks, this thread among ``threads``."""
        share(self.work, threads, self._stop)

    def _stop(self) -> None:
        """After an exception nobody starts another block."""
        self._next = iter(())

    def work(self) -> None:
        """Take blocks until none is left."""
        memory = _pool.borrow(self._bytes())
        try:
            scratch, length = [], -1
            for k in iter(lambda: next(self._next, -1), -1):
                index = self.blocks[k]
                if self._length(index) != length:
                    length = self._length(index)
                    scratch = self._scratch(memory, (length, *self.shape[self.split + 1 :]))
                operands = [o if scalar else o[index] for o, scalar in self.operands]
                self.partial[k] = self.kernel.function(
                    *operands, *[o[index] for o in self.outputs], *scratch, self.axes
                )
        finally:
            _pool.give_back(memory)

    def _bytes(self) -> int:
        return self.largest * self.kernel.bytes + 2 * _STAGGER * len(self.kernel.scratch)

    def _scratch(self, memory: np.ndarray, shape: tuple[int, ...]) -> list[np.ndarray]:
        """The scratch arrays of a block of ``shape``, side by side in ``memory``."""
        made, start = [], 0
        for dtype in self.kernel.scratch:
            stop = start + math.prod(shape) * dtype.itemsize
            made.append(memory[start:stop].view(dtype).reshape(shape))
            start = stop + -stop % _LINE + _STAGGER
        return made

    def reduced(self) -> list[Any]:
        """The reductions of the whole, from those of the blocks."""
        made = []
        for (ufunc, kept), parts in zip(self.kernel.reductions, zip(*self.partial, strict=True)):
            whole = [k for k in kept if k <= self.split]
            if not whole:
                made.append(ufunc.reduce(np.array(parts), axis=0))
                continue
            result = np.empty([self.shape[k] for k in kept], parts[0].dtype)
            groups: dict[tuple, list] = {}
            for index, part in zip(self.blocks, parts, strict=True):
                at = tuple([index[k] for k in whole])
                groups.setdefault(tuple(i.start if isinstance(i, slice) else i for i in at), [at]).append(part)
            for at, *own in groups.values():
                result[at] = own[0] if len(own) == 1 else ufunc.reduce(np.array(own), axis=0)
            made.append(result)
        return made


def _fits(array: np.ndarray, shape: tuple[int, ...]) -> bool:
    return array.shape == shape and array.flags.c_contiguous


def _is_scalar(value: Any) -> bool:
    """True where one value serves every element: a number, or an array that repeats one element."""
    return not isinstance(value, np.ndarray) or not value.ndim


def _spread(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """``array`` over ``shape``; its only element where it has no more."""
    if array.size == 1 or (array.size and not any(array.strides)):
        return array[(slice(0, 1),) * array.ndim].reshape(())
    return array if array.shape == shape else np.broadcast_to(array, shape)


def _block_size(elements: int, threads: int, scratch: int) -> int:
    """Elements of a block that has ``scratch`` bytes an element beside it; as many blocks for each thread."""
    size = _ALONE
    if threads > 1:
        turns = max(2, -(-elements // (threads * _SHARED)))
        size = -(-elements // (threads * turns))
    return max(_FEWEST, min(size, _SCRATCH // max(scratch, 1)))


@lru_cache(maxsize=64)
def _cut(shape: tuple[int, ...], size: int) -> tuple[int, Sequence[tuple]]:
    """The axis that is cut and the indices of blocks of about ``size`` elements."""
    if 0 in shape:
        return 0, [(slice(0, shape[0]),)]
    split, row = 0, math.prod(shape[1:])
    while split + 1 < len(shape) and row > size:
        split += 1
        row = math.prod(shape[split + 1 :])
    step = max(1, size // row)
    n = shape[split]
    cuts = [slice(i, min(i + step, n)) for i in range(0, n, step)]
    leads: Iterator[tuple] = itertools.product(*map(range, shape[:split]))
    return split, [(*lead, cut) for lead in leads for cut in cuts]


@lru_cache(maxsize=1)
def thread_count() -> int:
    """The threads that regions may run on: the processors of this process, or fewer where the environment says so."""
    return _threads_wanted()


def _threads_wanted() -> int:
    for name in ("SYMGRAD_NUM_THREADS", "OMP_NUM_THREADS"):
        text = os.environ.get(name, "")
        if text.isdigit() and int(text):
            return min(int(text), _processors())
    return _processors()


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Pool:
    """The threads that help; none is left after a fork, so the child makes its own."""

    def __init__(self) -> None:
        self._forget()
        in_each_child(self._forget)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._idle: deque[np.ndarray] = deque()

    def helpers(self, work: Callable[[], None], count: int) -> list[Future]:
        """``count`` threads begin ``work`` as soon as they are free; none at the interpreter's end."""
        if count < 1:
            return []
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(max(1, thread_count() - 1), "symgrad")
            try:  # what the caller has set for floating-point errors holds in the helpers
                return [self._executor.submit(contextvars.copy_context().run, work) for _ in range(count)]
            except RuntimeError:
                return []

    def borrow(self, size: int) -> np.ndarray:
        """At least ``size`` bytes of memory that nobody else has, from the start of a cache line."""
        while self._idle:
            try:
                memory = self._idle.pop()
            except IndexError:  # another thread was faster
                break
            if memory.nbytes >= size:
                return memory
        memory = np.empty(size + _LINE, np.uint8)
        return memory[-memory.ctypes.data % _LINE :]

    def give_back(self, memory: np.ndarray) -> None:
        """Keep ``memory`` for who borrows next."""
        if memory.nbytes <= _KEPT and len(self._idle) < thread_count():
            self._idle.append(memory)


_pool = _Pool()


def share(work: Callable[[], None], threads: int, stop: Callable[[], None]) -> None:
    """Run ``work``, which takes pieces until none is left, on this thread and on others as they are free.

    ``stop`` is called when this thread has done what it could: then no piece is begun any more.
    """
    helpers = _pool.helpers(work, threads - 1)
    try:
        work()
    finally:
        stop()
        waited = [h for h in helpers if not h.cancel()]
        for h in waited:
            h.exception()
    for h in waited:
        h.result()
