"""How many steps a loop takes: ``count(carries, constants)``, with ``params = (loop,)``.

The first thing that a step of the loop keeps says whether the step is taken: one that is not ends the loop, of which
``length`` is the bound. Nothing is differentiated through it: the derivative is that of a loop of so many steps.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..program.interpret import interpreted
from .loop import Loop
from .primitive import Primitive

#: the length of a loop that goes on until it ends
UNBOUNDED = sys.maxsize


class Count(Primitive):
    """See the module."""

    name = "count"

    def infer(self, operands, params):
        return (), np.dtype(np.int64), False

    def dependencies(self, node):
        return ()

    def evaluate(self, params, *values):
        (loop,) = params
        return steps_taken(loop, values, lambda *given: interpreted(loop.body, given))

    def spell(self, node):
        return "count"


COUNT = Count()


def steps_taken(loop: Loop, values: Sequence[Any], step: Callable[..., Sequence[Any]]) -> np.int64:
    """How many steps are taken, where ``step`` computes the body."""
    carried, constants = values[: loop.carries], values[loop.carries :]
    taken = 0
    while taken < loop.length:
        *carried, goes_on = step(*carried, *constants)
        if not np.all(goes_on):
            break
        taken += 1
    return np.int64(taken)
