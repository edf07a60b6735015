"""A loop in C: one step, whose turns run the steps of its body.

The pointers of the loop are what its body's pointers begin with: those to elements and to what is kept move on at each
turn, those to carries go back and forth between two buffers. So loops stand in loops.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from ...emit.loops.regions import Block, Region
from ...primitives.primitive import Leaf
from ...program.node import Node
from .form import STEP, Access, Written
from .memory import bytes_of, placed
from .schedule import Body, Schedule
from .steps import Emitted, Pointer, access_of, region_step, scan_step, zeros_before

#: what the steps of a turn hand on to one another
_OWN = Leaf("own")
#: ``turns`` is that of python_call.c
_TEXT = f"{STEP} {{ turns(p, d, lo, hi); }}"


class LoopStep(Emitted):
    """A loop; ``parts`` are its steps with their pointers, which begin at the loop's own."""

    turns = True

    def __init__(self, block: Block, schedule: Schedule) -> None:
        body = schedule.bodies[block.node]
        text = Written(_TEXT, (), (), body.loop.length, ())
        writes = (*schedule.carried[block.node], *schedule.kept[block.node])
        super().__init__(text, [], body.work * body.loop.length, writes)
        known = self._known(block, schedule, body)
        constants = set(body.program.inputs[body.loop.carries + body.loop.elements :])
        steps = [step for step in steps_in(body) if isinstance(step, Emitted)]
        once = _alike(steps, known.keys() - constants)
        ordered = once + [step for step in steps if step not in once]
        bases = [[access.base for access in step.accesses] for step in ordered]
        bases.append([base for step in once for base in step.writes])  # which stay until the last turn
        own, size = placed(bases, lambda base: base not in known and base.primitive.name != "constant")
        if own:
            place = self._pointer(Access(Node(_OWN, (), (), (size,), np.dtype(np.uint8)), 0))
            known |= {base: Pointer(place, start) for base, start in own.items()}
        for base in [base for step in bases for base in step]:
            if base not in known:
                known[base] = Pointer(self._pointer(Access(base, 0)))
        given = [(step, [known[access.base].at(access) for access in step.accesses]) for step in ordered]
        self.parts = given[: len(once)], given[len(once) :]
        self.chunks = [0] * len(self.accesses)

    def _pointer(self, access: Access) -> int:
        self.accesses.append(access)
        return len(self.accesses) - 1

    def _known(self, block: Block, schedule: Schedule, body: Body) -> dict[Node, Pointer]:
        """Where inputs and outputs of the body are."""
        loop, inputs = body.loop, body.program.inputs
        last = loop.length - 1 if loop.reverse else 0
        targets: list[Pointer] = []
        known: dict[Node, Pointer] = {}
        for carry, both in zip(inputs, schedule.carried[block.node], strict=False):
            number, size = self._pointer(Access(both, 0)), bytes_of(carry)
            known[carry] = Pointer(number, odd=size)
            targets.append(Pointer(number, size, odd=-size))
        for k, read in enumerate(block.reads[loop.carries :], loop.carries):
            along = int(loop.is_element(k))
            access, steps = access_of(read, inputs[k].ndim + along, schedule)
            turn = steps[0] * inputs[k].dtype.itemsize if along else 0
            known[inputs[k]] = Pointer(self._pointer(access), last * turn, -turn if last else turn)
        for kept in schedule.kept[block.node]:
            turn = bytes_of(kept) // max(loop.length, 1)
            targets.append(Pointer(self._pointer(Access(kept, 0)), last * turn, -turn if last else turn))
        return known | {base: targets[number] for base, number in body.claimed.items()}


def _alike(steps: Sequence[Emitted], varies: Collection[Node]) -> list[Emitted]:
    """The steps that do the same at every turn; ``varies`` are the values that are others then."""
    changing, found = set(varies), list(steps)
    while True:
        others = [step for step in found if any(access.base in changing for access in step.accesses)]
        if not others:
            return found
        changing.update(base for step in others for base in step.writes)
        found = [step for step in found if step not in others]


def steps_in(schedule: Schedule) -> Iterator[Emitted | Block]:
    """The steps of a schedule: those in C, and the nodes that NumPy computes."""
    for number, step in enumerate(schedule.steps):
        for zero in zeros_before(schedule, number):
            yield region_step(zero, schedule)
        if isinstance(step, Region):
            if step.items:
                yield region_step(step, schedule)
        elif step.kind == "numpy":
            yield step
        elif step.kind == "scan":
            yield scan_step(step, schedule)
        elif step.kind == "loop":
            yield LoopStep(step, schedule)
