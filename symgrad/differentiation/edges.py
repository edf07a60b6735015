"""Active edges: where a derivative flows between some nodes and others.

An edge leads from a source to a node whose value depends on it smoothly. The source need not be an operand: ``1/(1 +
exp(-x))`` has an edge from ``x`` itself, past the nodes between, and a custom function has none from what computes its
value. So what lies between two nodes is found along edges, never along operands; every sweep walks the same ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from operator import attrgetter
from typing import Any

from ..program.node import Node

#: a source, and the name of the linear map from its tangents to those of the node
Edge = tuple[Node, Any]
#: node -> the edges that lead to it, operands first
ActiveEdges = dict[Node, Sequence[Edge]]


def edges_of(node: Node) -> Sequence[Edge]:
    """Every edge that leads to ``node``."""
    return node.primitive.dependencies(node)


def active_edges(outputs: Iterable[Node], wrt: Collection[Node]) -> ActiveEdges:
    """The nodes on the paths from ``wrt`` to ``outputs``, in topological order, and for each the edges of these paths.

    Paths begin at the last of ``wrt`` that they meet: no edge leads to one of these. Linear in the program.
    """
    sources = set(wrt)
    every: dict[Node, Sequence[Edge]] = {}
    pending = list(outputs)
    while pending:
        node = pending.pop()
        if node not in every:
            found = every[node] = () if node in sources else edges_of(node)
            pending += [source for source, _ in found]
            assert all(source.serial < node.serial for source, _ in found), f"{node} has an edge from a later node"
    active: ActiveEdges = {}
    for node in sorted(every, key=attrgetter("serial")):
        if node in sources:
            active[node] = ()
            continue
        found = [edge for edge in every[node] if edge[0] in active]
        if found:
            active[node] = found
    return active


def moving(nodes: Iterable[Node], wrt: Iterable[Node]) -> set[Node]:
    """``wrt`` and those of ``nodes``, operands first, that a path leads to from there, wherever it goes on to."""
    found = set(wrt)
    for node in nodes:
        if node not in found and any(source in found for source, _ in edges_of(node)):
            found.add(node)
    return found
