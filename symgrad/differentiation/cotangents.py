"""The cotangents of nodes from those of what is made of them, against edges."""

from __future__ import annotations

from collections.abc import Sequence

from ..primitives.casting import flow_as
from ..primitives.functions import add
from ..primitives.scan import ROW, rows_added
from ..primitives.selection import ASSEMBLE
from ..primitives.selection import assemble as assemble_pieces
from ..program.node import Node, originating
from .edges import ActiveEdges


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
