"""The steps that compute a program: which loops there are, what is read where, what needs memory.

What is computed element by element joins the first region over its extents that comes after everything it reads, or
opens a new one at the end; steps in their order are then an order of computation.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence

import numpy as np

from ...primitives.primitive import Leaf
from ...program.dims import Dim, Shape
from ...program.node import Node
from .regions import Block, Point, Put, Read, Region, Step, loops_of, own_read
from .views import View, moved, own_places, whole

#: values that one nest of loops computes, so that a compiler's time stays linear
MAX_ITEMS = 200
_COPY = Leaf("copy")
_SCALARS = ("literal", "dim")


class Schedule:
    """The steps of nodes that are in order; ``row_major`` where an array's last axis lies together in memory."""

    def __init__(self, row_major: bool) -> None:
        self.row_major = row_major
        self.steps: list[Step] = []
        self.views: dict[Node, View] = {}
        #: the first step that writes a value, and the last; -1 for what is there before
        self.born: dict[Node, int] = {}
        self.made: dict[Node, int] = {}
        #: the last step that reads a value
        self.last: dict[Node, int] = {}
        #: points whose value is read after their loops
        self.stored: set[Node] = set()
        #: values of one element that are arrays nevertheless
        self.boxed: set[Node] = set()
        #: reshaped array -> the array whose elements it has
        self.backing: dict[Node, Node] = {}
        #: what begins as zeros
        self.zeroed: set[Node] = set()
        #: value -> the number of the output that it is computed in
        self.claimed: dict[Node, int] = {}
        #: loop -> the array of each of its results that is kept of the steps, None for one that nobody reads
        self.kept: dict[Node, list[Node | None]] = {}
        self._begun: dict[Node, list[Node]] = {}
        self._regions: dict[tuple[Dim, ...], tuple[list[int], list[Region]]] = {}
        self._points: dict[Node, Region] = {}
        self._copies: dict[tuple[View, Shape], Node] = {}

    # results

    def require(self, condition: Node) -> None:
        """End with the status "branch" unless a number is true."""
        self._step(Block("require", condition, (self._scalar(condition),)))

    def output(self, node: Node, number: int) -> None:
        """Write a value into an output: the value is computed there, where it can be, else it is copied."""
        view = self.views[node]
        root = view.root
        inside = self.born[root] >= 0 and root not in self.backing and root not in self.claimed
        if inside and view == whole(root) and root.shape == node.shape and self._is_array(root):
            self.claimed[root] = number
            if root in self._points:
                self.stored.add(root)
            return
        self.claimed[self._copied(view, node.shape, node.dtype)] = number

    # arrays

    def as_array(self, node: Node) -> Node:
        """The value as an array of its own, all elements in their places: what a call can be given."""
        view = self.views[node]
        root = view.root
        if view == whole(root) and root.shape == node.shape and self._is_array(root):
            if root in self._points:
                self.stored.add(root)
            elif root.is_leaf:
                self.boxed.add(root)
            return root
        copied = self._copies.get((view, node.shape))
        if copied is None:
            copied = self._copies[view, node.shape] = self._copied(view, node.shape, node.dtype)
        return copied

    def is_array(self, node: Node) -> bool:
        """True for a value that is in memory after all steps are known."""
        return self._is_array(node) and (node not in self._points or node in self.stored or node in self.boxed)

    def _is_array(self, root: Node) -> bool:
        if root.primitive.name in _SCALARS or (root.is_leaf and not root.shape):
            return False
        return root.is_leaf or root in self.boxed or any(d != 1 for d in root.shape)

    def _copied(self, view: View, shape: Shape, dtype: np.dtype, apart: bool = False) -> Node:
        """An array with the elements of a view; its loops are ``apart`` from others where they run across memory."""
        copied = Node(_COPY, (), (), shape, dtype)
        self.boxed.add(copied)
        self.views[copied] = whole(copied)
        extents, image = loops_of(shape)
        read = Read(view.root, moved(view.places, image))
        self._put(Put(copied, (read,), moved(own_places(shape), image)), extents, closed=apart)
        return copied

    # points that move

    def extents_of(self, step: int) -> tuple[Dim, ...]:
        """The extents of a region."""
        region = self.steps[step]
        assert isinstance(region, Region)
        return region.extents

    def is_local(self, node: Node) -> bool:
        """True for a point that is a number within its loops."""
        return node in self._points and node not in self.stored and any(d != 1 for d in node.shape)

    def move(self, item: Point, step: int) -> None:
        """``item`` is computed in a later region, which alone reads it."""
        region = self.steps[step]
        assert isinstance(region, Region)
        self._points[item.node] = region
        self.stored.discard(item.node)
        self.born[item.node] = self.made[item.node] = step
        for read in item.reads:
            self._read(read, step)

    # steps

    def _step(self, step: Step) -> int:
        self.steps.append(step)
        if isinstance(step, Block):
            for read in step.reads:
                self._read(read, len(self.steps) - 1)
        return len(self.steps) - 1

    def _read(self, read: Read, step: int) -> None:
        """A step reads a value; where other loops than its own do, it is stored."""
        root = read.root
        if root in self._points and self.made[root] != step and self._is_array(root):
            self.stored.add(root)
        base: Node | None = root
        while base is not None:
            self.last[base] = max(self.last.get(base, -1), step)
            base = self.backing.get(base)

    def _made(self, node: Node, step: int) -> None:
        self.born[node] = min(self.born.get(node, step), step)
        self.made[node] = max(self.made.get(node, step), step)

    def _after(self, reads: Sequence[Read], extents: tuple[Dim, ...]) -> int:
        """The first step whose loops over ``extents`` may read all of it."""
        first = 0
        for read in reads:
            made = self.made[read.root]
            region = self._points.get(read.root)
            here = region is not None and region.extents == extents and read == own_read(read.root)
            first = max(first, made if here else made + 1)
        return first

    def _region(self, extents: tuple[Dim, ...], reads: Sequence[Read], after: int = 0) -> tuple[int, Region]:
        """The region over ``extents`` from step ``after`` on that may read all of it and has room, or a new one."""
        first = max(after, self._after(reads, extents))
        numbers, regions = self._regions.setdefault(extents, ([], []))
        for k in range(bisect.bisect_left(numbers, first), len(numbers)):
            if len(regions[k].items) < MAX_ITEMS:
                return numbers[k], regions[k]
        region = Region(extents, tuple(range(len(extents)))[:: 1 if self.row_major else -1])
        numbers.append(self._step(region))
        regions.append(region)
        return numbers[-1], region

    def _closed(self, extents: tuple[Dim, ...]) -> tuple[int, Region]:
        region = Region(extents, range(len(extents)), closed=True)
        return self._step(region), region

    def _point(self, node: Node, reads: Sequence[Read]) -> None:
        step, region = self._region(loops_of(node.shape)[0], reads)
        region.items.append(Point(node, tuple(reads)))
        for read in reads:
            self._read(read, step)
        self._made(node, step)
        self._points[node] = region

    def _put(self, put: Put, extents: tuple[Dim, ...], after: int = 0, closed: bool = False) -> None:
        step, region = self._closed(extents) if closed else self._region(extents, put.reads, after)
        region.items.append(put)
        for read in put.reads:
            self._read(read, step)
        self._made(put.node, step)

    def _scalar(self, node: Node) -> Read:
        view = self.views[node]
        return Read(view.root, view.places)
