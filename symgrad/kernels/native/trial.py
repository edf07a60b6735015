"""Which of two kernels is faster, found out by the calls themselves."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from typing import Any

#: the clock by which calls are compared
clock = time.perf_counter_ns

#: calls of each that are compared at least, and that are enough
_FEWEST, _MOST = 3, 16
#: nanoseconds that a comparison takes at least: longer than a busy machine takes a processor away
_SPAN = 5e7
#: nanoseconds of a call that nothing but the kernel explains
_LONG = 1e9
#: ``1 + _CLEAR / n`` is how many times slower one has to be for ``n`` calls of each to be enough
_CLEAR = 4.0


class Trial:
    """Two functions that compute the same, called in turn until it is clear which one is faster.

    The fastest call of each counts, by the clock on the wall, since threads help. What disturbs the machine disturbs
    both, and can only make a call slower: the closer they are, the more calls are compared.
    """

    def __init__(
        self, first: Callable[..., tuple], second: Callable[..., tuple], decide: Callable[[bool], None]
    ) -> None:
        """``decide`` is told whether the first is the faster one."""
        self._turns = itertools.cycle(enumerate((first, second)))
        self._fastest = [math.inf, math.inf]
        self._counts = [0, 0]
        self._began = clock()
        self._decide = decide

    def __call__(self, *arrays: Any) -> tuple:
        turn, function = next(self._turns)
        began = clock()
        results = function(*arrays)
        self._fastest[turn] = min(self._fastest[turn], clock() - began)
        self._counts[turn] += 1
        if self._is_clear():
            self._decide(self._fastest[0] <= self._fastest[1])
        return results

    def _is_clear(self) -> bool:
        low, high = sorted(self._fastest)
        count = min(self._counts)
        if clock() < self._began + _SPAN:
            return False
        enough = count >= _FEWEST or (count and high >= _LONG)
        return count >= _MOST or (bool(enough) and high >= low * (1 + _CLEAR / count))
