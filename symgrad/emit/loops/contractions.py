"""Which loops a contraction runs through, in which order."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from ...primitives.order import extent
from ...program.dims import Dim
from ...program.node import Node
from .language import Index
from .views import View, moved

#: elements of a result that stays in the cache while sums are added to it from the outermost loop
_CACHED = 4096
#: elements summed from which that pays, for rows that are longer than the other
_MANY, _SHORT = 64, 4


Places = tuple[Index, ...]


@dataclass(frozen=True)
class Sums:
    """A reduction as loops: ``labels`` from the outermost, with their ``extents``, those of ``out`` kept.

    ``reads`` are the places of its operands, ``place`` that of the result, over the numbers of the loops. ``whole``
    where one operand has every label, so that the reduction may run where that operand is computed.
    """

    labels: tuple[int, ...]
    whole: bool
    extents: tuple[Dim, ...]
    reads: tuple[Places, ...]
    place: Places


def loops_for(
    views: Sequence[View], labels: Sequence[Sequence[int]], out: Sequence[int], sizes: Sequence[Dim], last: bool
) -> Sums:
    """The loops of a contraction; ``last`` where the last axis of an array is the one that lies together in memory."""
    return _loops_for(tuple([v.places for v in views]), tuple(map(tuple, labels)), tuple(out), tuple(sizes), last)


@functools.lru_cache(maxsize=4096)  # a loop that is written out asks for the same ones at every turn
def _loops_for(
    views: tuple[Places, ...], labels: tuple[tuple[int, ...], ...], out: tuple[int, ...], sizes: tuple, last: bool
) -> Sums:
    order, whole = _order(views, labels, out, sizes, last)
    at = {i: Index(0, ((k, 1),)) for k, i in enumerate(order)}
    reads = tuple([moved(p, [at.get(i, Index()) for i in own]) for p, own in zip(views, labels, strict=True)])
    return Sums(order, whole, tuple([sizes[i] for i in order]), reads, tuple([at.get(i, Index()) for i in out]))


def _order(
    views: tuple[Places, ...], labels: tuple[tuple[int, ...], ...], out: tuple[int, ...], sizes: tuple, last: bool
) -> tuple[tuple[int, ...], bool]:
    """The labels from the outermost loop on, and whether an operand has them all."""
    every = dict.fromkeys(i for ls in (*labels, out) for i in ls if sizes[i] != 1)
    for view, own in zip(views, labels, strict=True):
        wide = [i for i in own if sizes[i] != 1]
        if len(set(wide)) == len(wide) and set(wide) == set(every):
            return _in_memory(view, own, wide), True
    kept = [i for i in dict.fromkeys(out) if sizes[i] != 1]
    kept = kept if last else kept[::-1]
    summed = [i for i in every if i not in out]
    inner = _innermost(views, labels, kept, summed, sizes, last)
    if inner in kept:
        rest = [i for i in kept if i != inner]
        row, turns = extent([sizes[inner]]), extent([sizes[i] for i in summed])
        if extent([sizes[i] for i in kept]) <= _CACHED and turns > _MANY and row > _SHORT:
            return (*summed, *rest, inner), False
        return (*rest, *summed, inner), False
    return (*kept, *[i for i in summed if i != inner], inner), False


def _in_memory(places: Places, own: Sequence[int], wide: Sequence[int]) -> tuple[int, ...]:
    """The labels of an operand in the order in which what it is a view of lies in memory."""
    named = dict.fromkeys(own[axis] for place in places for axis, _ in place.terms)
    return tuple(named) if set(named) == set(wide) else tuple(wide)


def _innermost(
    views: Sequence[Places], labels: Sequence[Sequence[int]], kept: list, summed: list, sizes: Sequence[Dim], last: bool
) -> int:
    """The label whose loop walks through memory in the smallest steps."""
    cost = dict.fromkeys((*summed, *kept), 0.0)
    for places, own in zip(views, labels, strict=True):
        if not places:
            continue
        near = places[-1 if last else 0]
        for i in {i for i in own if i in cost}:
            named = moved(places, [Index(0, ((label, 1),)) for label in own])
            found = [p for p in named if any(name == i for name, _ in p.terms)]
            beside = moved([near], [Index(0, ((label, 1),)) for label in own])[0]
            cost[i] += 0 if found == [beside] else 1
    for i in kept:
        cost[i] += 0.5 if i == kept[-1] else 1.5  # results are written, which costs more than a sum in a register
    return min(cost, key=lambda i: (cost[i], -extent([sizes[i]])))


def is_summed(node: Node) -> bool:
    """True for an einsum that sums over more than one element."""
    return _is_summed(*node.params[:3])


@functools.lru_cache(maxsize=4096)
def _is_summed(labels: tuple, out: tuple, sizes: tuple) -> bool:
    return any(i not in out and sizes[i] != 1 for ls in labels for i in ls)
