"""Which of two kernels is faster, found out by the calls themselves."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from typing import Any

#: the clock by which calls are compared
clock = time.perf_counter_ns

#: calls of each that are compared at least, and that are enough: the closer both are, the less do more of them cost
_FEWEST, _MOST = 3, 64
#: nanoseconds that a comparison takes at least: longer than a busy machine takes a processor away
_SPAN = 5e7
#: nanoseconds of a call that nothing but the kernel explains
_LONG = 1e9
#: ``1 + _CLEAR / n`` is how many times slower one has to be for ``n`` calls of each to be enough
_CLEAR = 4.0
#: how near the two fastest calls of each are where neither was disturbed
_ALIKE = 1.05


class Trial:
    """Two functions that compute the same, called in turn until it is clear which one is faster.

    The fastest call of each counts, by the clock on the wall, since threads help. What disturbs the machine disturbs
    both, and can only make a call slower: the closer they are, the more calls are compared. A fastest call counts as
    undisturbed where a second one took as long; unless the other is so much slower that this does not matter.
    """

    def __init__(
        self, first: Callable[..., tuple], second: Callable[..., tuple], decide: Callable[[bool], None]
    ) -> None:
        """``decide`` is told whether the first is the faster one."""
        self._turns = itertools.cycle(enumerate((first, second)))
        self._fastest = [(math.inf, math.inf), (math.inf, math.inf)]  # the two fastest calls of each
        self._counts = [0, 0]
        self._began = clock()
        self._decide = decide

    def __call__(self, *arrays: Any) -> tuple:
        turn, function = next(self._turns)
        began = clock()
        results = function(*arrays)
        first, second = self._fastest[turn]
        taken = clock() - began
        self._fastest[turn] = (taken, first) if taken < first else (first, min(second, taken))
        self._counts[turn] += 1
        if self._is_clear():
            self._decide(self._fastest[0][0] <= self._fastest[1][0])
        return results

    def _is_clear(self) -> bool:
        (low, _), (high, _) = sorted(self._fastest)
        count = min(self._counts)
        if clock() < self._began + _SPAN:
            return False
        if count >= _MOST or not count:
            return count >= _MOST
        repeats = all(second <= first * _ALIKE for first, second in self._fastest)
        enough = high >= _LONG or (count >= _FEWEST and (repeats or high >= low * (1 + _CLEAR)))
        return enough and high >= low * (1 + _CLEAR / count)
