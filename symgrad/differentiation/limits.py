"""What the rules of single nodes leave out of a derivative, since it is a limit of several of them together."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..program.node import Node
from .across_equal_values import across_equal_values
from .across_kinks import across_kinks
from .edges import ActiveEdges, active_edges


def with_limits(outputs: Sequence[Node], wrt: Collection[Node]) -> tuple[Sequence[Node], ActiveEdges]:
    """``outputs`` with what else their derivatives by ``wrt`` are, and their active edges; so sweeps begin.

    They stand for their derivatives alone: nothing reads their values.
    """
    edges = active_edges(outputs, wrt)
    whole = across_equal_values(outputs, wrt, edges)
    return across_kinks(whole, wrt, edges if whole is outputs else active_edges(whole, wrt))
