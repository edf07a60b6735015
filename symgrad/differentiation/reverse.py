"""Reverse mode: cotangents pulled from outputs to inputs, one pass against topological order."""

from __future__ import annotations

from collections.abc import Sequence

from ..primitives.casting import flow_as
from ..primitives.external import External
from ..primitives.functions import add
from ..primitives.primitive import SWEEP
from ..primitives.scan import ROW, rows_added
from ..primitives.selection import ASSEMBLE
from ..primitives.selection import assemble as assemble_pieces
from ..program.collector import collector_paused
from ..program.node import Node, ancestors, originating
from .stored import pays, recalled


def active_nodes(outputs: Sequence[Node], wrt: Sequence[Node]) -> list[Node]:
    """The nodes between ``wrt`` and ``outputs`` that a derivative flows through, operands first."""
    sources = set(wrt)
    active: set[Node] = set()
    order: list[Node] = []
    for node in smooth_ancestors(outputs):
        if node in sources or not active.isdisjoint(node.operands):
            active.add(node)
            order.append(node)
    return order


def smooth_ancestors(outputs: Sequence[Node]) -> list[Node]:
    """The nodes that a derivative of ``outputs`` may flow through, operands first.

    Sweeps may go through more than that, but not through a function that runs as it is: what it declares goes around
    it, and of one whose value decides a branch nothing needs to be declared.
    """
    every = ancestors(outputs)
    if not any(isinstance(n.primitive, External) for n in every):
        return every
    reached = set(outputs)
    for node in reversed(every):
        if node in reached:
            reached.update([source for source, _ in node.primitive.dependencies(node)])
    return [n for n in every if n in reached]


@collector_paused()
def reverse_sweep(
    outputs: Sequence[Node], cotangents: Sequence[Node | None], wrt: Sequence[Node], batch: int = 0
) -> list[Node | None]:
    """The cotangent of each node of ``wrt``; None where it is zero.

    ``cotangents`` belong to ``outputs``, each with ``batch`` leading axes. The result is built in the
    active graph; work and size are linear in the number of nodes between.
    """
    order = active_nodes(outputs, wrt)

    def derive() -> list[Node | None]:
        found = cotangents_of(order, outputs, cotangents, wrt, batch)
        return [found.get(w) for w in wrt]

    if not pays(order, batch):
        return derive()
    return recalled(f"reverse {batch}", outputs, cotangents, wrt, len(order), derive)


def cotangents_of(
    order: Sequence[Node],
    outputs: Sequence[Node],
    cotangents: Sequence[Node | None],
    wrt: Sequence[Node],
    batch: int = 0,
) -> dict[Node, Node]:
    """The cotangent of every node of ``order``, the active ones, that any of ``cotangents`` reaches."""
    active, sources = set(order), set(wrt)
    arrived: dict[Node, list[Node]] = {}
    for output, ct in zip(outputs, cotangents, strict=True):
        if ct is not None:
            arrived.setdefault(output, []).append(ct)
    for node in originating(reversed(order)):
        parts = arrived.get(node)
        if parts is None:
            continue
        ct = parts[0]
        if len(parts) > 1:
            ct = accumulate(parts)
            arrived[node] = [ct]
        if node in sources:
            continue
        reached = [(source, key) for source, key in node.primitive.dependencies(node) if source in active]
        together = node.primitive.flows_together
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
