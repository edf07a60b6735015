"""The steps of a schedule in C: what each is called with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...emit.loops.flat import steps_of
from ...emit.loops.regions import Block, Point, Put, Read, Region, loops_of, own_read
from ...emit.loops.views import own_places
from ...primitives.primitive import literal
from ...program.node import Graph, Node
from .form import Access, Form, Written, is_dealt
from .points import work_of
from .scans import scan_loops
from .schedule import Schedule


class Pointer(NamedTuple):
    """A pointer of a step: one of those that are at hand, so many bytes on.

    ``turn`` is added at each turn of the loop around it (or for each part of a step that is dealt out), ``odd`` at
    every second one.
    """

    place: int
    start: int = 0
    turn: int = 0
    odd: int = 0

    def at(self, access: Access) -> Pointer:
        """The pointer to what begins somewhere in the memory that this one points to."""
        return self._replace(start=self.start + access.offset * access.base.dtype.itemsize)


class Emitted:
    """A step in C, its pointers, and for each the bytes from one chunk's copy to the next."""

    #: whether threads share it, whether its turns follow one another: both can be cut into parts
    deals = turns = False
    #: the steps of a loop: those before its first turn, and those of a turn
    parts: Sequence[Sequence[tuple[Emitted, Sequence[Pointer]]]] = ()

    def __init__(self, written: Written, accesses: list[Access], work: float, writes: Iterable[Node] = ()) -> None:
        """``writes`` are the bases that it writes to."""
        self.written = written
        self.accesses = accesses
        self.work = work
        self.writes = frozenset(writes)
        self.chunks = [0] * len(accesses)


def region_step(region: Region, schedule: Schedule) -> Emitted:
    """The loops of a region."""
    form = Form(region, schedule)
    written = [item.node for item in region.items if not isinstance(item, Point) or schedule.is_array(item.node)]
    made = Emitted(form.written(), form.accessed, work_of(region), [schedule.base_of(n)[0] for n in written])
    made.deals = form.deals
    return made


def scan_step(block: Block, schedule: Schedule) -> Emitted:
    """Running sums or products."""
    node = block.node
    accesses: list[Access] = []
    strides: list[tuple[int, ...]] = []
    axis, reverse = node.params
    for read in (*block.reads, Read(node, own_places(node.shape))):
        access, steps = access_of(read, node.ndim, schedule)
        accesses.append(access)
        strides.append(steps)
    loops = scan_loops(node.primitive.name, node.shape, axis, reverse, strides[0], strides[1], node.dtype)
    made = Emitted(loops, accesses, float(math.prod(node.shape)), [node])
    made.deals = schedule.deals and is_dealt(made.work)
    return made


def access_of(read: Read, axes: int, schedule: Schedule) -> tuple[Access, tuple[int, ...]]:
    """Where a value begins whose places are in its axes, and its strides."""
    offset, steps = steps_of(read, range(axes))
    base, start = schedule.base_of(read.root)
    return Access(base, start + offset), steps


def zeros_before(schedule: Schedule, number: int) -> Iterator[Region]:
    """What sets to zero the values that begin so and are first written by a step."""
    for node in schedule.zeroed:
        if schedule.born[node] == number:
            with Graph():
                zero = literal(0.0)
            extents = loops_of(node.shape)[0]
            put = Put(node, (Read(zero, ()),), own_read(node).places)
            yield Region(extents, range(len(extents)), items=[put])
