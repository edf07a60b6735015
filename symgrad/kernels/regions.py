"""Regions: elementwise work over one shape that can run together, one block of elements after another.

A region is taken as one step of the program, so no path may leave it and come back. Every node has a *stage*, the
number of times that a path to it has left elementwise work over one shape; members of a region are of one shape and
one stage, and whatever reads a region from outside is of a later stage. So the steps have an order, and it is found
in one walk over the program.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..primitives.casting import CAST
from ..primitives.contraction import EINSUM, GATE, Labels
from ..primitives.elementwise import Elementwise
from ..primitives.functions import where
from ..program.dims import Shape
from ..program.node import Node
from ..program.program import Program

#: reductions by the ufunc that combines what blocks give
REDUCTIONS = {"einsum": "add", "max": "maximum", "min": "minimum"}


@dataclass(eq=False)
class Region:
    """Elementwise nodes over ``shape`` and reductions of their values, in the program's order."""

    shape: Shape
    members: list[Node] = field(default_factory=list)
    #: values from outside that are read
    reads: list[Node] = field(default_factory=list)
    #: elementwise members that are read outside, then the reductions
    outputs: list[Node] = field(default_factory=list)
    reductions: list[Node] = field(default_factory=list)


def is_elementwise(node: Node) -> bool:
    """True for a node whose entries each come from the entries of its operands at the same place."""
    if not node.shape or node.weak or node.is_complex or any(o.is_complex for o in node.operands):
        return False
    if isinstance(node.primitive, Elementwise):
        return node.primitive is where or _is_plain_ufunc(node.primitive.ufunc)
    if node.primitive is EINSUM:
        return node.dtype.kind == "f" and is_aligned_product(node)
    return node.primitive in (GATE, CAST) or node.primitive.name == "stop_gradient"


def _is_plain_ufunc(ufunc: object) -> bool:
    return isinstance(ufunc, np.ufunc) and ufunc.nout == 1 and not all("O" in t for t in ufunc.types)


def is_aligned_product(node: Node) -> bool:
    """True for an einsum that multiplies operands whose axes stand in the order of the result's."""
    labels, out, sizes, spelling = node.params
    if spelling or len(labels) < 2 or len(set(out)) < len(out):
        return False
    place = {i: k for k, i in enumerate(out)}
    for ls in labels:
        kept = [place[i] for i in ls if i in place]
        if sorted(set(kept)) != kept or any(sizes[i] != 1 for i in ls if i not in place):
            return False
    return {i for ls in labels for i in ls} >= set(out)


def reduced_shape(node: Node) -> Shape | None:
    """The shape that a reduction goes over, where its operands have it or are scalars; else None."""
    if node.primitive.name in ("max", "min"):
        return node.operands[0].shape
    if node.primitive is not EINSUM:
        return None
    labels, out, sizes, spelling = node.params
    wide = max(labels, key=len, default=())
    if spelling not in ("", "sum") or not wide or any(ls not in ((), wide) for ls in labels):
        return None
    if len(set(wide)) < len(wide) or len(out) == len(wide) or kept_axes(wide, out) is None:
        return None
    return tuple(sizes[i] for i in wide) if node.dtype.kind == "f" or spelling else None


def kept_axes(labels: Labels, out: Labels) -> tuple[int, ...] | None:
    """The axes of a sum that stay, None where it moves them or adds others."""
    kept = [labels.index(i) if i in labels else -1 for i in out]
    return None if -1 in kept or sorted(set(kept)) != kept else tuple(kept)


def find_regions(
    program: Program, joins: Callable[[Node, Shape], bool], pays: Callable[[Region], bool]
) -> list[Region]:
    """The regions of ``program`` that ``pays`` accepts, of nodes of which ``joins`` holds with the region's shape."""
    stages = _Stages(program, joins)
    stages.move_later()
    found = [_described(members, stages) for members in _connected(stages)]
    return [r for r in found if pays(r)]


class _Stages:
    """The class (a shape) and stage of each node; nodes of one class and stage may run together."""

    def __init__(self, program: Program, joins: Callable[[Node, Shape], bool]) -> None:
        self.program = program
        self.outputs = set(program.outputs)
        self.shape: dict[Node, Shape] = {}
        self.reduces: set[Node] = set()
        self.stage: dict[Node, int] = {}
        self.users: dict[Node, list[Node]] = {}
        for node in program.nodes:
            for o in dict.fromkeys(node.operands):
                self.users.setdefault(o, []).append(node)
            if not node.is_leaf:
                self._classify(node, joins)
                self.stage[node] = max((self.after(o, node) for o in node.operands), default=0)

    def _classify(self, node: Node, joins: Callable[[Node, Shape], bool]) -> None:
        if is_elementwise(node):
            if joins(node, node.shape):
                self.shape[node] = node.shape
            return
        shape = reduced_shape(node)
        if shape is not None and joins(node, shape) and any(self.shape.get(o) == shape for o in node.operands):
            self.shape[node] = shape
            self.reduces.add(node)

    def joined(self, o: Node, reader: Node) -> bool:
        """True where a value may be read by ``reader`` inside a region."""
        return o in self.shape and o not in self.reduces and self.shape[o] == self.shape.get(reader)

    def after(self, o: Node, reader: Node) -> int:
        """The first stage that a reader of ``o`` can have."""
        return self.stage.get(o, 0) + (o in self.shape and not self.joined(o, reader))

    def move_later(self) -> None:
        """Move what only later stages read to them, where that lets no more values cross between stages.

        Walked from the last stage to the first. Such nodes move together with those that feed them.
        """
        groups: dict[tuple, list[Node]] = {}
        for node in self.program.nodes:
            if node in self.shape:
                groups.setdefault((self.stage[node], self.shape[node]), []).append(node)
        for stage, shape in sorted(groups, key=lambda key: -key[0]):
            late: dict[Node, int] = {}
            for node in reversed(groups[stage, shape]):
                readers = self.users.get(node, [])
                if node in self.reduces or node in self.outputs:
                    continue
                earliest = min(late.get(u, self.stage[u]) - (not self.joined(node, u)) for u in readers)
                if earliest > stage:
                    late[node] = earliest
            for together in _components(late, lambda n, late=late: [o for o in n.operands if o in late]):
                if self._crossing_after(together, late) <= self._crossing_before(together, stage):
                    self.stage.update((n, late[n]) for n in together)

    def _crossing_before(self, moved: Sequence[Node], stage: int) -> int:
        return sum(any(self.stage[u] > stage for u in self.users[n]) for n in moved)

    def _crossing_after(self, moved: Sequence[Node], late: dict[Node, int]) -> int:
        own = set(moved)
        fed = {o for n in moved for o in n.operands if o not in own and self.joined(o, n)}
        leaving = sum(any(not self.joined(n, u) for u in self.users[n]) for n in moved)
        return leaving + sum(o not in self.outputs and not self._crosses(o, late) for o in fed)

    def _crosses(self, node: Node, late: dict[Node, int]) -> bool:
        """True where something outside of its stage reads ``node`` whatever moves."""
        return any(
            u not in late and (not self.joined(node, u) or self.stage[u] > self.stage[node]) for u in self.users[node]
        )


def _components(nodes: Iterable[Node], linked: Callable[[Node], Iterable]) -> list[list[Node]]:
    """``nodes`` in groups that ``linked`` ties together, each in the order given."""
    parent: dict = {}

    def find(x):
        parent.setdefault(x, x)
        while parent[x] != x:
            parent[x] = x = parent[parent[x]]
        return x

    nodes = list(nodes)
    for node in nodes:
        for other in linked(node):
            parent[find(other)] = find(node)
    groups: dict = {}
    for node in nodes:
        groups.setdefault(find(node), []).append(node)
    return list(groups.values())


def _connected(stages: _Stages) -> list[list[Node]]:
    """The members of each region: of one class and stage, and tied by what they read."""
    groups: dict[tuple, list[Node]] = {}
    for node in stages.program.nodes:
        if node in stages.shape:
            groups.setdefault((stages.stage[node], stages.shape[node]), []).append(node)
    found: list[list[Node]] = []
    for (_, shape), members in groups.items():
        own = {n for n in members if n not in stages.reduces}
        members = [n for n in members if n in own or any(o in own for o in n.operands)]
        found += _components(members, lambda n, shape=shape: [o for o in n.operands if o.shape == shape])
    return found


def _described(members: list[Node], stages: _Stages) -> Region:
    own = set(members)
    region = Region(stages.shape[members[0]], members)
    region.reads = list(dict.fromkeys(o for n in members for o in n.operands if o not in own and not o.is_literal))
    region.reductions = [n for n in members if n in stages.reduces]
    leaving = [n for n in members if n in stages.outputs or any(u not in own for u in stages.users[n])]
    region.outputs = [n for n in leaving if n not in stages.reduces] + region.reductions
    return region


def in_order(program: Program, regions: Sequence[Region]) -> list[Node | Region]:
    """The nodes of ``program`` with each region as one step, operands first and else in the program's own order."""
    home: dict[Node, Node | Region] = {n: r for r in regions for n in r.members}
    place: dict[Node | Region, int] = {n: k for k, n in enumerate(program.nodes)}
    place.update((r, max(place[n] for n in r.members)) for r in regions)
    readers: dict[Node | Region, list[Node | Region]] = {}
    missing: dict[Node | Region, int] = {}
    for node in program.nodes:
        step = home.get(node, node)
        missing.setdefault(step, 0)
        for o in dict.fromkeys(node.operands):
            source = home.get(o, o)
            if source is not step:
                readers.setdefault(source, []).append(step)
                missing[step] += 1
    steps = {place[s]: s for s in missing}
    ready = [place[s] for s, count in missing.items() if not count]
    heapq.heapify(ready)
    order: list[Node | Region] = []
    while ready:
        step = steps[heapq.heappop(ready)]
        order.append(step)
        for reader in readers.get(step, ()):
            missing[reader] -= 1
            if not missing[reader]:
                heapq.heappush(ready, place[reader])
    assert len(order) == len(missing)
    return order
