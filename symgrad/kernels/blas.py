"""Products and factorisations by the BLAS library, on as many of its threads as the machine has free.

The threads of OpenBLAS wait for each other by spinning. Where another process keeps a processor busy, one of them does
not run and the others wait for it, milliseconds in a product of microseconds. So where calls lose more by that than
their threads gain, the threads are halved for a while; then more are tried again. Between calls the library is as its
user set it.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, Protocol

import numpy as np

from ..primitives.spelling import self_dot as _self_dot
from ..program.forks import cached_property, in_each_child
from . import runtime

#: multiplications of two matrices, and elements of a matrix times a vector, from which OpenBLAS uses threads
_MATRICES, _VECTORS = 1 << 18, 9216
#: seconds beyond those on half the threads that calls may lose: one call may, on a machine with nothing else to do
_MAX_LOST = 0.01
#: seconds of a call that is not looked at further, and of a multiplication on one thread at most
_SHORT, _MULTIPLICATION = 3e-5, 1e-9
#: seconds for which threads stay fewer, first and at most, and how many times what the call took
_FIRST_PAUSE, _LONGEST_PAUSE, _AS_LONG = 0.05, 2.0, 8.0
#: calls whose times are remembered
_MAX_REMEMBERED = 4096
#: seconds between which a call of which nothing is known is as usual
_NOTHING = math.inf, -math.inf
#: what the time of a product depends on
_KIND = attrgetter("shape", "dtype.char")
#: in place of a number of threads: as many as the library has
_ALL = 0


def uses_threads(rows: float, columns: float, summed: float) -> bool:
    """True where OpenBLAS computes a product of these sizes on several threads."""
    return rows * columns * summed >= (_MATRICES if min(rows, columns, summed) > 1 else _VECTORS)


class Library(Protocol):
    """A BLAS library, as threadpoolctl has it."""

    def get_num_threads(self) -> int: ...

    def set_num_threads(self, num_threads: int) -> Any: ...


class Threads:
    """Lets calls have all threads of ``library``, or fewer for a while after one was held up."""

    def __init__(self, library: Library, clock: Callable[[], float] = time.perf_counter) -> None:
        self._library = library
        self._clock = clock
        self._best: dict[tuple, float] = {}
        self._usual: dict[tuple, tuple[float, float]] = {}
        self._divisor = 1
        self._pause = self._lost = 0.0
        self._tried = self._until = -math.inf
        self._own = self._fewer = 0
        self._lock = threading.Lock()
        self._limited = 0

    @property
    def are_fewer(self) -> bool:
        """True while calls have fewer threads than the library has."""
        return self._divisor > 1

    def after_fork(self) -> None:
        """The child has none of the calls that other threads were in."""
        self._lock = threading.Lock()
        if self._limited:
            self._limited = 0
            self._library.set_num_threads(self._own)

    def run(self, function: Callable, work: Callable, *operands: Any, **options: Any) -> Any:
        """``function(*operands, **options)``, timed; ``work(*operands, result)`` bounds its multiplications."""
        start = self._clock()
        threads = _ALL if self._divisor == 1 else self._limit(_call(function, operands, options), start)
        try:
            result = function(*operands, **options)
        finally:
            if threads != _ALL:
                self._release()
        end = self._clock()
        if end - start > _SHORT or threads == 1:
            call = _call(function, operands, options)
            least, most = self._usual.get(call, _NOTHING)
            if not least <= end - start <= most or threads != _ALL or self._lost or self._pause:
                self._learn(call, threads, start, end, _MULTIPLICATION * work(*operands, result))
        return result

    def _limit(self, call: tuple, now: float) -> int:
        """Leave a call fewer threads, more of them again when it is time; how many it has.

        It has one where that was never seen: then it is known what waiting costs.
        """
        with self._lock:
            if now >= self._until:
                self._divisor = max(1, self._divisor // 2)
                self._tried, self._until = now, now + self._pause
                self._lost = _MAX_LOST / 2
            if self._divisor == 1:
                return _ALL
            if not self._limited:
                self._own = self._library.get_num_threads()
            self._limited += 1
            self._fewer = max(1, self._own // self._divisor) if (1, call) in self._best else 1
            self._library.set_num_threads(self._fewer)
            return self._fewer

    def _release(self) -> None:
        """After the last call that had fewer threads, all of them; unless somebody else set another number."""
        with self._lock:
            self._limited -= 1
            if not self._limited and self._library.get_num_threads() == self._fewer:
                self._library.set_num_threads(self._own)

    def _learn(self, call: tuple, threads: int, start: float, now: float, longest: float) -> None:
        took = now - start
        if len(self._best) >= _MAX_REMEMBERED:
            self._best.clear()
            self._usual.clear()
        best = self._best[threads, call] = min(took, self._best.get((threads, call), math.inf))
        if threads == 1:
            self._usual.pop(call, None)
            return
        on_half = min(2 * best, longest, self._best.get((1, call), math.inf))
        if threads == _ALL:
            self._usual[call] = best, on_half
        with self._lock:
            self._lost = min(max(0.0, self._lost + took - on_half), _MAX_LOST)
            if threads == _ALL and not self._lost:  # they gain again, so what held them up is over
                self._pause = 0.0
            if took <= on_half or self._lost < _MAX_LOST:
                return
            own = self._own if self._limited else self._library.get_num_threads()
            if own <= self._divisor:
                return
            again = start < self._tried + self._pause
            self._pause = min(2 * self._pause, _LONGEST_PAUSE) if again else _FIRST_PAUSE
            self._divisor *= 2
            self._until = now + self._pause + _AS_LONG * took


def _call(function: Callable, operands: tuple, options: dict[str, Any]) -> tuple:
    """What calls that take the same time have in common."""
    return function, *map(_KIND, operands), *map(str, options.values())


class _NumPys:
    """The library that NumPy calls, looked for when it is first asked: that takes longer than most first calls."""

    @cached_property
    def _spinning(self) -> Library | None:
        """NumPy's OpenBLAS; None where it has another library, whose threads do not spin."""
        from threadpoolctl import ThreadpoolController

        for found in ThreadpoolController().lib_controllers:  # in the order of loading: NumPy's own comes first
            if found.internal_api == "openblas" and getattr(found, "threading_layer", "") == "pthreads":
                return found
        return None

    def get_num_threads(self) -> int:
        """One, of which there are never fewer, where there is nothing to be done about them."""
        return 1 if self._spinning is None else self._spinning.get_num_threads()

    def set_num_threads(self, num_threads: int) -> None:
        if self._spinning is not None:
            self._spinning.set_num_threads(num_threads)


@lru_cache(maxsize=1)
def _threads() -> Threads:
    threads = Threads(_NumPys())
    in_each_child(threads.after_fork)
    return threads


def has_fewer_threads() -> bool:
    """Whether calls have fewer of the library's threads for now, since they were held up."""
    return _threads().are_fewer


def _watched(function: Callable, work: Callable) -> Callable:
    def call(*operands: Any, **options: Any) -> Any:
        return _threads().run(function, work, *operands, **options)

    return call


def _product(*arrays: Any) -> float:
    """The multiplications of a product: each pair of its operands and its result shares one kind of axes."""
    return math.sqrt(math.prod(map(np.size, arrays)))


def _cubic(matrix: Any, *_: Any) -> float:
    return matrix.size * matrix.shape[-1]


dot, matmul, inner, vdot, vecdot, tensordot = [
    _watched(f, _product) for f in (np.dot, np.matmul, np.inner, np.vdot, np.vecdot, np.tensordot)
]
inv, solve, det, slogdet, cholesky = [
    _watched(f, _cubic) for f in (np.linalg.inv, np.linalg.solve, np.linalg.det, np.linalg.slogdet, np.linalg.cholesky)
]
self_dot = _watched(_self_dot, lambda x, _: x.size)
gram = partial(runtime.gram, dot=dot)
