"""Values that one later nest alone reads are computed there: what would be an array becomes a number."""

from __future__ import annotations

from collections.abc import Iterator

from ...program.node import Node
from .regions import Block, Item, Point, Read, Region, own_read
from .schedule import MAX_ITEMS, Schedule


def sink(schedule: Schedule) -> None:
    """Move points into the only region that reads them, the last ones first, where that makes no more arrays."""
    steps = schedule.steps
    readers: dict[Node, list[tuple[int, Read]]] = {}
    for k, step in enumerate(steps):
        for read in _reads(step):
            readers.setdefault(read.root, []).append((k, read))
    added: dict[int, list[Item]] = {}
    for k in range(len(steps) - 1, -1, -1):
        step = steps[k]
        if isinstance(step, Block) or not step.extents:
            continue
        kept: list[Item] = []
        for item in reversed(step.items):
            target = _target(schedule, item, k, readers, added)
            if target is None or not isinstance(item, Point):
                kept.append(item)
                continue
            added.setdefault(target, []).append(item)
            schedule.move(item, target)
            for read in item.reads:
                own = readers[read.root]
                own.remove((k, read))
                own.append((target, read))
        step.items[:] = reversed(kept)
    for k, items in added.items():
        region = steps[k]
        assert isinstance(region, Region)
        region.items[:0] = reversed(items)


def _reads(step: Region | Block) -> Iterator[Read]:
    if isinstance(step, Block):
        yield from step.reads
    else:
        for item in step.items:
            yield from item.reads


def _target(
    schedule: Schedule, item: Item, here: int, readers: dict[Node, list[tuple[int, Read]]], added: dict
) -> int | None:
    """The only step that reads a point, a later region of the same loops; None where it stays."""
    node = item.node
    if not isinstance(item, Point) or node not in schedule.stored or node in schedule.claimed or not readers.get(node):
        return None
    target = readers[node][0][0]
    step = schedule.steps[target]
    own = own_read(node)
    if target <= here or any(k != target or read != own for k, read in readers[node]):
        return None
    if isinstance(step, Block) or step.extents != schedule.extents_of(here):
        return None
    if len(step.items) + len(added.get(target, ())) >= 2 * MAX_ITEMS:
        return None
    held = {r.root for r in item.reads if schedule.is_local(r.root)}
    return target if len(held) <= 1 else None
