"""Arrays as they lie in memory, the last axis innermost: one index an element, loops merged that walk on as one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...program.dims import Dim, Shape, normal
from ...program.node import Node
from .language import Array, Element, Index
from .nests import Values
from .regions import Point, Read, Region, own_read
from .views import moved


@functools.lru_cache(maxsize=4096)
def strides_of(shape: Shape) -> tuple[Dim, ...]:
    """How far apart neighbours along each axis are, in elements.

    >>> strides_of((2, 3, 4))
    (12, 4, 1)
    """
    strides: list[Dim] = []
    step: Dim = 1
    for d in reversed(shape):
        strides.append(step)
        step = normal(step * d)
    return tuple(reversed(strides))


@functools.lru_cache(maxsize=4096)
def flattened(shape: Shape, places: tuple[Index, ...]) -> Index:
    """The index of an element in memory.

    >>> flattened((2, 3), (Index(1), Index(0, (("i", 1),))))
    Index(offset=3, terms=(('i', 1),))
    """
    offset: Dim = 0
    terms: dict[Any, Dim] = {}
    for place, stride in zip(places, strides_of(shape), strict=True):
        offset = offset + place.offset * stride
        for name, coefficient in place.terms:
            terms[name] = terms.get(name, 0) + coefficient * stride
    return Index(normal(offset), tuple([(name, normal(c)) for name, c in terms.items() if c != 0]))


def flat_index(read: Read) -> Index:
    """The index in memory of what is read, over loops."""
    return flattened(read.root.shape, read.places)


def steps_of(read: Read, loops: Sequence[int]) -> tuple[Dim, tuple[Dim, ...]]:
    """Where in memory a read begins, and how far each of the loops takes it."""
    return _steps_of(read.root.shape, read.places, tuple(loops))


@functools.lru_cache(maxsize=4096)
def _steps_of(shape: Shape, places: tuple[Index, ...], loops: tuple[int, ...]) -> tuple[Dim, tuple[Dim, ...]]:
    index = flattened(shape, places)
    steps = dict(index.terms)
    return index.offset, tuple([steps.get(k, 0) for k in loops])


@dataclass
class FlatValues(Values):
    """Values in memory: an element is had by one index."""

    rows = True

    def element(self, read: Read, names: dict[Any, Index]) -> Element:
        array = self.arrays[read.root]
        if not array.shape:
            return Element(array, ())
        at = flattened(array.shape, moved(read.places, names))
        return Element(Array(array.name, array.shape[:1], array.dtype, array.role), (at,))


def accesses(region: Region, is_array: Callable[[Node], bool]) -> Iterator[Read]:
    """What a region reads and writes in memory."""
    for item in region.items:
        yield from (r for r in item.reads if is_array(r.root) and len(r.places) == r.root.ndim)
        if not isinstance(item, Point):
            yield Read(item.node, item.place)
        elif is_array(item.node):
            yield own_read(item.node)


def merged(region: Region, indices: Sequence[Index]) -> tuple[Region, dict[int, int]]:
    """The region with neighbouring loops that all indices walk through as one made one; which loop each has become.

    The inner one of them counts for both.
    """
    extents, order, into = _merged(region.extents, tuple(region.order), tuple(indices))
    return replace(region, extents=extents, order=order), into


@functools.lru_cache(maxsize=4096)
def _merged(
    region: tuple[Dim, ...], loops: tuple[int, ...], indices: tuple[Index, ...]
) -> tuple[tuple[Dim, ...], tuple[int, ...], dict[int, int]]:
    extents, order, into = list(region), list(loops), {}
    strides = [dict(index.terms) for index in indices]
    for k in range(len(order) - 2, -1, -1):
        outer, inner = order[k], order[k + 1]
        if all(s.get(outer, 0) == normal(s.get(inner, 0) * extents[inner]) for s in strides):
            extents[inner] = normal(extents[inner] * extents[outer])
            into[outer] = inner
            del order[k]
    return tuple(extents), tuple(order), into
