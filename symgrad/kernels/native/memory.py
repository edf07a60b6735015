"""One block of memory for the values that steps hand on to later ones: placed by when they live."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ...errors import KernelError
from ...program.node import Node

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


def bytes_of(base: Node) -> int:
    """The bytes of a value."""
    return math.prod(base.shape) * base.dtype.itemsize


def placed(steps: Sequence[Sequence[Node]], fits: Callable[[Node], bool]) -> tuple[dict[Node, int], int]:
    """Where in a block each value is that ``fits``, and the bytes of the block; ``steps`` are the values of each."""
    block, places = Memory(), {}
    first: dict[Node, int] = {}
    last: dict[Node, int] = {}
    for k, bases in enumerate(steps):
        for base in bases:
            if fits(base):
                first.setdefault(base, k)
                last[base] = k
    starts: dict[int, list[Node]] = {}
    ends: dict[int, list[Node]] = {}
    for base in first:
        starts.setdefault(first[base], []).append(base)
        ends.setdefault(last[base], []).append(base)
    for k in range(len(steps)):
        for base in starts.get(k, ()):
            places[base] = block.take(bytes_of(base))
        for base in ends.get(k, ()):
            block.give(places[base], bytes_of(base))
    check_places(steps, places)
    return places, block.size


def check_places(steps: Sequence[Sequence[Node]], places: dict[Node, int]) -> None:
    """A KernelError where a step reads a place of the block that holds another value by then."""
    holds: dict[int, Node] = {}
    written: set[Node] = set()
    for step in steps:
        bases = {base for base in step if base in places}
        new = bases - written
        written |= new
        holds.update((places[base], base) for base in new)
        lost = [base for base in bases if holds[places[base]] is not base]
        if lost:
            raise KernelError(
                f"a compiled kernel would read {lost[0]} where another value stands, a defect of symgrad."
            )


def _rounded(count: int) -> int:
    """``count`` or up to an eighth more, so that lengths are few and one is used again where another was.

    >>> [_rounded(c) for c in (1, 64, 1000, 8_000_000)]
    [64, 64, 1024, 8388608]
    """
    step = max(_ALIGNED, 1 << max(count.bit_length() - 4, 0))
    return -(-max(count, 1) // step) * step  # what has no elements has a place of its own too
