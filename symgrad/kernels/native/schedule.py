"""The schedule of a program whose dims are ints: the loops that are compiled, and what stays with NumPy."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ...emit.loops.flat import steps_of, strides_of
from ...emit.loops.language import Index
from ...emit.loops.nests import MAX_ROW
from ...emit.loops.placement import Placement
from ...emit.loops.regions import Block, Put, Read, Reduction, Region, Step, loops_of
from ...emit.loops.sinking import sink
from ...emit.loops.views import View, moved, own_places, relabelled, whole
from ...primitives.contraction import EINSUM
from ...primitives.identity import IDENTITIES
from ...primitives.loop import Loop, Piece
from ...primitives.primitive import Leaf
from ...primitives.scan import PART, SCAN
from ...primitives.windows import even_steps
from ...program.forks import cached_property
from ...program.node import Node
from ...program.program import Program
from .contractions import accumulations, may_loop
from .points import HELD, for_loops, work_of

_LEAVES = ("input", "constant")
_SCALARS = ("literal", "dim")
#: the two buffers of what a loop carries, and what it keeps although nothing reads it
_CARRIED, _UNREAD = Leaf("carried"), Leaf("unread")
#: additions that the call of a step takes in a loop
_TURN = 20.0
#: additions of one turn up to which a loop runs in C: longer ones are dealt out to threads, or could not be interrupted
_MAX_TURN = 400_000.0
#: turns from which a copy of a constant pays, which is made before the first of them
_MANY = 4
#: pointers of the steps of a turn that a loop in C keeps on the stack
_MAX_POINTERS = 2048


def may_be_view(node: Node) -> bool:
    """True for a node that moves no element of its first operand (a reshape: only where the strides allow)."""
    if node.primitive is EINSUM:
        return not node.operands[0].is_literal and relabelled(node) is not None
    name = node.primitive.name
    if name == "gather":
        return even_steps(node.operands[1], node.operands[0].shape[node.params[0]]) is not None
    return name in ("slice", "reshape", *IDENTITIES) or (name == "cast" and node.dtype == node.operands[0].dtype)


class Schedule(Placement):
    """The steps of a program.

    A block of the kind "numpy" is a node that NumPy computes, one of the kind "loop" a loop that runs in C: its reads
    are the buffers of what it carries, then its other operands, by their axes.
    """

    #: whether large loops are dealt out to threads
    deals = True

    def __init__(self, program: Program) -> None:
        super().__init__(True)
        self.program = program
        #: nodes that NumPy must see as arrays
        self.seen: dict[Node, None] = {}
        self._native: dict[Node, bool | None] = {}
        #: where what is reshaped in place begins
        self._offsets: dict[Node, int] = {}
        #: loops that run in C: their bodies, the buffers of their carries, the arrays of what they keep
        self.bodies: dict[Node, Body] = {}
        self.carried: dict[Node, list[Node]] = {}
        self.kept: dict[Node, list[Node]] = {}
        self._parts = {(n.operands[0], n.params): n for n in program.nodes if n.primitive is PART}
        self._accumulated, self._absorbed = accumulations(program, self._is_native)
        self._called = self._called_views()
        for node in program.nodes:
            if node not in self._absorbed:
                self.place(node)
        self._show_results()
        sink(self)

    def _show_results(self) -> None:
        """The outputs are arrays."""
        for node in self.program.outputs:
            if node.primitive.name not in _SCALARS:
                self._show(node, len(self.steps))
        self.claimed = dict.fromkeys(self.seen, 0)

    @cached_property
    def work(self) -> float:
        """What all steps cost, in additions."""
        return sum(_TURN + self.work_of(step) for step in self.steps)

    def work_of(self, step: Step) -> float:
        """What a step costs, in additions."""
        if isinstance(step, Region):
            return work_of(step)
        if step.kind == "loop":
            return self.bodies[step.node].work * self.bodies[step.node].loop.length
        return float(math.prod(step.node.shape)) if step.kind == "scan" else 0.0

    def place(self, node: Node) -> None:
        views = may_be_view(node)
        if node.is_leaf:
            self._leaf(node)
        elif not self._is_native(node):
            self._call(node)
        elif node.primitive is SCAN:
            self._loop(node)
        elif node.primitive is PART:
            self._part(node)
        elif not views:
            self._compute(node)
        else:
            super().place(node)
            if node in self._called:
                self._call(node)

    def base_of(self, node: Node) -> tuple[Node, int]:
        """The node whose memory a value has, and where it begins there."""
        offset = 0
        while node in self.backing:
            offset += self._offsets.get(node, 0)
            node = self.backing[node]
        return node, offset

    def _reshape(self, node: Node) -> None:
        """What lies together in memory is reshaped where it is."""
        x = node.operands[0]
        view = self.views[x]
        offset, steps = steps_of(Read(view.root, view.places), range(x.ndim))
        together = all(d == 1 or own == s for d, own, s in zip(x.shape, steps, strides_of(x.shape), strict=True))
        if not together or view.root.primitive.name in _SCALARS:
            super()._reshape(node)
            return
        self.backing[node] = view.root
        self._offsets[node] = int(offset)
        self.boxed.add(node)
        self._made(node, self._step(Block("alias", node, (Read(view.root, view.places),))))

    def _called_views(self) -> set[Node]:
        """The view nodes that NumPy reads or that are outputs."""
        wanted = set(self.program.outputs)
        for node in reversed(self.program.nodes):
            views = may_be_view(node)
            if (views and node in wanted) or (not views and not self._is_native(node)):
                wanted.update(o for o in node.operands if may_be_view(o))
        return wanted

    def _is_native(self, node: Node) -> bool:
        """True where loops of our own may compute the node."""
        if node not in self._native:
            self._native[node] = self._may_loop(node)
        found = self._native[node]
        return self._computes(node) if found is None else found

    def _may_loop(self, node: Node) -> bool | None:
        """What is known before anything is placed; None for a contraction of which more is known later."""
        name = node.primitive.name
        if name in _LEAVES or name in _SCALARS:
            return True
        if node.primitive is SCAN:
            return self._runs(node)
        if node.primitive is PART and node.operands[0].primitive is SCAN:
            return self._is_native(node.operands[0])
        if not all(map(_is_held, (node, *node.operands))):
            return False
        return True if may_be_view(node) else may_loop(node)

    def _computes(self, node: Node) -> bool:
        """True where the operand that has every label is a value that a loop computes anyway."""
        labels = node.params[0]
        widest = max(range(len(labels)), key=lambda k: len(labels[k]))
        return node.operands[widest] in self._points

    def _call(self, node: Node) -> None:
        step = self._step(Block("numpy", node, ()))
        for o in node.operands:
            if o.primitive.name not in _SCALARS:
                self._show(o, step)
        if node not in self.views:
            self.views[node] = whole(node)
            self._made(node, step)
            self.seen[node] = None

    def _show(self, node: Node, step: int) -> None:
        """NumPy reads ``node``."""
        self.seen[node] = None
        if node not in self.views:
            self.last[node] = max(self.last.get(node, -1), step)
            return
        root = self.views[node].root
        if root.primitive.name not in _SCALARS:
            self.seen |= {root: None, self.base_of(root)[0]: None}
            self._read(Read(root, ()), step)

    def _is_array(self, root: Node) -> bool:
        return root.primitive.name not in _SCALARS

    def _joins(self, node: Node) -> bool:
        return node not in self._accumulated

    def _reduction(self, reduction: Reduction) -> Reduction:
        total = self._accumulated.get(reduction.node)
        if total is None:
            return reduction
        adds = total in self.made
        self.views[total] = whole(total)
        return replace(reduction, node=total, adds=adds)

    # loops

    def _runs(self, node: Node) -> bool:
        """True for a loop that runs in C: of known results, and all of its body is compiled."""
        loop = node.params[0]
        given = zip(node.operands, loop.inputs, strict=True)
        if any(o.dtype != n.dtype for o, n in given) or not all(map(_is_held, (*loop.inputs, *loop.body.outputs))):
            return False
        read = [n for n in self.program.nodes if node in n.operands]
        if node in self.program.outputs or not all(n.primitive is PART for n in read):
            return False
        body = Body(loop)
        if body.runs:
            self.bodies[node] = body
        return body.runs

    def _loop(self, node: Node) -> None:
        """What is carried is copied into the first of its buffers, and lies in the one or the other at the end."""
        loop = node.params[0]
        self.carried[node] = [self._buffers(o) for o in node.operands[: loop.carries]]
        reads = [Read(both, own_places(both.shape)) for both in self.carried[node]]
        reads += [self._beside(o, loop.is_element(k)) for k, o in enumerate(node.operands) if k >= loop.carries]
        step = self._step(Block("loop", node, tuple(reads)))
        pieces = loop.pieces[len(loop.finals) :]
        self.kept[node] = [self._parts.get((node, tuple(p))) or Node(_UNREAD, (), (), *p[1:]) for p in pieces]
        for made in (*self.carried[node], *self.kept[node]):
            self._memory(made)
            self._made(made, step)

    def _buffers(self, start: Node) -> Node:
        """Two buffers for what begins as ``start``."""
        both = Node(_CARRIED, (), (), (2, *start.shape), start.dtype)
        self._memory(both)
        extents, image = loops_of(start.shape)
        view = self.views[start]
        read = Read(view.root, moved(view.places, image))
        self._put(Put(both, (read,), (Index(), *moved(own_places(start.shape), image))), extents)
        return both

    def _memory(self, node: Node) -> None:
        self.views[node] = whole(node)
        self.boxed.add(node)

    def _beside(self, node: Node, is_element: bool) -> Read:
        """An operand whose elements, or all of it, lie together in memory."""
        view = self.views[node]
        read = Read(view.root, view.places)
        _, steps = steps_of(read, range(node.ndim))
        near = list(zip(node.shape, steps, strides_of(node.shape), strict=True))[is_element:]
        if self._is_array(view.root) and all(d == 1 or own == s for d, own, s in near):
            return read
        return Read(self.as_array(node), own_places(node.shape))

    def _part(self, node: Node) -> None:
        """A result of a loop: it was kept there, or is copied out of the buffers."""
        (scan,) = node.operands
        if node in self.kept[scan]:
            return
        loop = scan.params[0]
        both = self.carried[scan][loop.finals[loop.pieces.index(Piece(*node.params))]]
        self._memory(node)
        extents, image = loops_of(node.shape)
        place = moved(own_places(node.shape), image)
        self._put(Put(node, (Read(both, (Index(loop.length % 2), *place)),), place), extents)


class Body(Schedule):
    """The steps of one turn of a loop: each output is computed, or copied, to where the loop has it."""

    deals = False

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self._constants = frozenset(loop.inputs[loop.carries + loop.elements :]) if loop.length >= _MANY else ()
        super().__init__(for_loops(loop.body))

    def _turns(self, node: Node, labels: Any, out: Any, sizes: Any) -> bool:
        return sizes[out[-1]] <= MAX_ROW and any(o in self._constants for o in node.operands)

    def _is_worth_copy(self, view: View, elements: int, turns: int) -> bool:
        return view.root in self._constants or super()._is_worth_copy(view, elements, turns)

    @property
    def runs(self) -> bool:
        """True where all of it is compiled, and short."""
        if any(isinstance(step, Block) and step.kind == "numpy" for step in self.steps):
            return False
        return self.work <= _MAX_TURN and sum(map(_pointers, self.steps)) <= _MAX_POINTERS

    def _called_views(self) -> set[Node]:
        return set()

    def _show_results(self) -> None:
        for k, node in enumerate(self.program.outputs):
            self.output(node, k)


def _is_held(node: Any) -> bool:
    return node.dtype in HELD and 0 not in node.shape


def _pointers(step: Step) -> int:
    """The pointers of a step, at most."""
    if isinstance(step, Region):
        return sum(len(item.reads) + 1 for item in step.items)
    return 2 * len(step.node.operands) + len(step.node.params[0].pieces) if step.kind == "loop" else 2
