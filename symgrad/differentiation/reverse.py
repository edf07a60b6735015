"""Reverse mode: cotangents pulled from outputs to inputs, one pass against topological order."""

from __future__ import annotations

from collections.abc import Sequence

from ..primitives.primitive import SWEEP
from ..program.collector import collector_paused
from ..program.node import Node
from .cotangents import cotangents_of
from .limits import with_limits
from .stored import pays, recalled


@collector_paused()
def reverse_sweep(
    outputs: Sequence[Node], cotangents: Sequence[Node | None], wrt: Sequence[Node], batch: int = 0
) -> list[Node | None]:
    """The cotangent of each node of ``wrt``; None where it is zero.

    ``cotangents`` belong to ``outputs``, each with ``batch`` leading axes. The result is built in the
    active graph; work and size are linear in the number of nodes between.
    """
    outputs, edges = with_limits(outputs, wrt)

    def derive() -> list[Node | None]:
        found = cotangents_of(edges, outputs, cotangents, batch)
        return [found.get(w) for w in wrt]

    if not pays(edges, batch):
        return derive()
    return recalled(f"reverse {batch}", outputs, cotangents, wrt, len(edges), derive)


SWEEP.append(reverse_sweep)
