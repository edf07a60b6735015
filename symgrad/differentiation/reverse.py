"""Reverse mode: cotangents pulled from outputs to inputs, one pass against topological order."""

from __future__ import annotations

from collections.abc import Sequence

from ..primitives.casting import flow_as
from ..primitives.functions import add
from ..primitives.primitive import SWEEP
from ..primitives.scan import ROW, rows_added
from ..primitives.selection import ASSEMBLE
from ..primitives.selection import assemble as assemble_pieces
from ..program.collector import collector_paused
from ..program.node import Node, originating
from .across_kinks import across_kinks
from .edges import ActiveEdges
from .stored import pays, recalled


@collector_paused()
def reverse_sweep(
    outputs: Sequence[Node], cotangents: Sequence[Node | None], wrt: Sequence[Node], batch: int = 0
) -> list[Node | None]:
    """The cotangent of each node of ``wrt``; None where it is zero.

    ``cotangents`` belong to ``outputs``, each with ``batch`` leading axes. The result is built in the
    active graph; work and size are linear in the number of nodes between.
    """
    outputs, edges = across_kinks(outputs, wrt)

    def derive() -> list[Node | None]:
        found = cotangents_of(edges, outputs, cotangents, batch)
        return [found.get(w) for w in wrt]

    if not pays(edges, batch):
        return derive()
    return recalled(f"reverse {batch}", outputs, cotangents, wrt, len(edges), derive)


def cotangents_of(
    edges: ActiveEdges, outputs: Sequence[Node], cotangents: Sequence[Node | None], batch: int = 0
) -> dict[Node, Node]:
    """The cotangent of every node that any of ``cotangents`` reaches along ``edges``."""
    arrived: dict[Node, list[Node]] = {}
    for output, ct in zip(outputs, cotangents, strict=True):
        if ct is not None:
            arrived.setdefault(output, []).append(ct)
    for node in originating(reversed(edges)):
        parts = arrived.get(node)
        if parts is None:
            continue
        ct = parts[0]
        if len(parts) > 1:
            ct = accumulate(parts)
            arrived[node] = [ct]
        reached = edges[node]
        together = bool(reached) and node.primitive.flows_together
        made = node.primitive.vjp_of_all(node, [key for _, key in reached], ct, batch) if together else {}
        for source, key in reached:
            part = made[key] if together else node.primitive.vjp(node, source, key, ct, batch)
            if part is not None:
                arrived.setdefault(source, []).append(flow_as(part, source.dtype))
    return {node: parts[0] if len(parts) == 1 else accumulate(parts) for node, parts in arrived.items()}


def accumulate(parts: list[Node]) -> Node:
    """The sum of cotangents; those that were placed into zeros are placed into the same zeros."""
    if len(parts) == 1:
        return parts[0]
    if all(p.primitive is ROW for p in parts):
        return rows_added(parts)
    placed = [p for p in parts if p.primitive is ASSEMBLE]
    if len(placed) > 1:
        pieces = [o for p in placed for o in p.operands]
        specs = [s for p in placed for s in p.params[1]]
        parts = [p for p in parts if p.primitive is not ASSEMBLE] + [assemble_pieces(pieces, placed[0].shape, specs)]
    total = parts[0]
    for part in parts[1:]:
        total = add(total, part)
    return total


SWEEP.append(reverse_sweep)
