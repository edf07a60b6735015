"""Regions: loop nests that compute many values at once, and what is computed in them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...program.dims import Dim, Shape
from ...program.node import Node
from .language import Index
from .views import View, moved, own_places

#: stands in an Index for the index that a gather or scatter has looked up
LOOKED_UP = "looked up"


class Read(NamedTuple):
    """``root[places]``; the names of the places are numbers of loops."""

    root: Node
    places: tuple[Index, ...]


@dataclass(frozen=True, eq=False)
class Point:
    """A value at every turn of the loops."""

    node: Node
    reads: tuple[Read, ...]


@dataclass(frozen=True, eq=False)
class Put:
    """The product of what is read, written, or added, to an element of ``node``."""

    node: Node
    reads: tuple[Read, ...]
    place: tuple[Index, ...]
    adds: bool = False


@dataclass(frozen=True, eq=False)
class Reduction:
    """The product of what is read, taken into an element of ``node`` by an operation.

    Where it ``adds``, to what is there.
    """

    node: Node
    reads: tuple[Read, ...]
    place: tuple[Index, ...]
    operation: str = "add"
    adds: bool = False


Item = Point | Put | Reduction


@dataclass(eq=False)
class Region:
    """Loops of these extents, of which none is 1, in this order from the outermost, and what is done in them."""

    extents: tuple[Dim, ...]
    order: Sequence[int]
    closed: bool = False
    items: list[Item] = field(default_factory=list)


@dataclass(eq=False)
class Block:
    """A step of statements of its own: a call, a scan, a condition. ``kind`` says which."""

    kind: str
    node: Node
    reads: tuple[Read, ...]


Step = Region | Block


@functools.lru_cache(maxsize=4096)
def loops_of(shape: Shape) -> tuple[tuple[Dim, ...], tuple[Index, ...]]:
    """The extents of the loops over an array, and each of its axes in them.

    >>> loops_of((2, 1, 3))
    ((2, 3), (Index(offset=0, terms=((0, 1),)), Index(offset=0, terms=()), Index(offset=0, terms=((1, 1),))))
    """
    extents: list[Dim] = []
    image = []
    for d in shape:
        if d == 1:
            image.append(Index())
        else:
            image.append(Index(0, ((len(extents), 1),)))
            extents.append(d)
    return tuple(extents), tuple(image)


def broadcast_read(view: View, shape: Shape, wide: Shape, image: Sequence[Index]) -> Read:
    """A value of ``shape`` read as if it had the shape ``wide``, whose axes stand in loops as ``image`` says."""
    lead = len(wide) - len(shape)
    own = [Index() if d == 1 else image[lead + k] for k, d in enumerate(shape)]
    return Read(view.root, moved(view.places, own))


def own_read(node: Node) -> Read:
    """A node read by the loops over it."""
    return Read(node, _own_loops(node.shape))


@functools.lru_cache(maxsize=4096)
def _own_loops(shape: Shape) -> tuple[Index, ...]:
    return moved(own_places(shape), loops_of(shape)[1])
