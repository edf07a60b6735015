"""The tangents of nodes from those of their sources, along edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..primitives.casting import flow_as
from ..primitives.functions import add
from ..program.node import Node, originating
from .edges import ActiveEdges, Edge


def pushed(edges: ActiveEdges, outputs: Sequence[Node], tangents: Mapping[Node, Node], batch: int) -> list[Node | None]:
    """The tangent of each output, where the sources that ``tangents`` has not stand still; None where it is zero."""
    flow: dict[Node, Node] = dict(tangents)
    for node in originating(edges):
        if node not in flow:
            tangent = tangent_of(node, edges[node], flow, batch)
            if tangent is not None:
                flow[node] = tangent
    return [flow.get(o) for o in outputs]


def tangent_of(node: Node, edges: Sequence[Edge], flow: Mapping[Node, Node], batch: int = 0) -> Node | None:
    """The tangent of ``node`` from those of its sources along ``edges``, each with ``batch`` leading axes.

    None where it is zero.
    """
    if node.primitive.flows_together:
        found = {key: flow[source] for source, key in edges if source in flow}
        return node.primitive.jvp_of_all(node, found, batch) if found else None
    total: Node | None = None
    for source, key in edges:
        tangent = flow.get(source)
        if tangent is None:
            continue
        part = node.primitive.jvp(node, source, key, tangent, batch)
        if part is not None:
            part = flow_as(part, node.dtype)
            total = part if total is None else add(total, part)
    return total
