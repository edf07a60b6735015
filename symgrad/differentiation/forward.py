"""Forward mode: tangents pushed from inputs to outputs, one pass in topological order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from ..program.collector import collector_paused
from ..program.node import Node
from .limits import with_limits
from .stored import pays, recalled
from .tangents import pushed


@collector_paused()
def forward_sweep(outputs: Sequence[Node], tangents: Mapping[Node, Node], batch: int = 0) -> list[Node | None]:
    """The tangent of each output; None where it is zero.

    ``tangents`` maps nodes to their tangents, each with ``batch`` leading axes. The result is built in
    the active graph; work and size are linear in the number of nodes.
    """
    outputs, edges = with_limits(outputs, tangents)
    derive = partial(pushed, edges, outputs, tangents, batch)
    if not pays(edges, batch):
        return derive()
    return recalled(f"forward {batch}", outputs, list(tangents.values()), list(tangents), len(edges), derive)
