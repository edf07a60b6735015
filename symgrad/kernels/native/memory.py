"""One block of memory for the values that steps hand on to later ones: placed by when they live."""

from __future__ import annotations

_ALIGNED = 64


class Memory:
    """Places are given in the order of steps; what has been read for the last time makes room for its like."""

    def __init__(self) -> None:
        self.size = 0
        self._free: dict[int, list[int]] = {}

    def take(self, count: int) -> int:
        """The start of ``count`` free bytes."""
        length = _rounded(count)
        free = self._free.get(length)
        if free:
            return free.pop()
        start = self.size
        self.size += length
        return start

    def give(self, start: int, count: int) -> None:
        """These bytes are free again."""
        self._free.setdefault(_rounded(count), []).append(start)


def _rounded(count: int) -> int:
    """``count`` or up to an eighth more, so that lengths are few and one is used again where another was.

    >>> [_rounded(c) for c in (1, 64, 1000, 8_000_000)]
    [64, 64, 1024, 8388608]
    """
    step = max(_ALIGNED, 1 << max(count.bit_length() - 4, 0))
    return -(-count // step) * step
