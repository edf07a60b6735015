"""The schedule of a program whose dims are ints: the loops that are compiled, and what stays with NumPy."""

from __future__ import annotations

from dataclasses import replace

from ...emit.loops.flat import steps_of, strides_of
from ...emit.loops.placement import Placement
from ...emit.loops.regions import Block, Read, Reduction
from ...emit.loops.sinking import sink
from ...emit.loops.views import whole
from ...primitives.contraction import EINSUM
from ...program.node import Node
from ...program.program import Program
from .contractions import accumulations, contraction_suits
from .points import HELD, is_point

_LEAVES = ("input", "constant")
_SCALARS = ("literal", "dim")
_NAMES = ("mark", "stop_gradient", "custom")


def may_be_view(node: Node) -> bool:
    """True for a node that moves no element of its first operand (a reshape: only where the strides allow)."""
    if node.primitive is EINSUM:
        labels, out, sizes, _ = node.params
        if len(labels) != 1 or node.operands[0].is_literal or len(set(out)) < len(out):
            return False
        return node.dtype == node.operands[0].dtype and all(i in out or sizes[i] == 1 for i in labels[0])
    name = node.primitive.name
    return name in ("slice", "reshape", *_NAMES) or (name == "cast" and node.dtype == node.operands[0].dtype)


class Schedule(Placement):
    """The steps of a program; a block of the kind "numpy" is a node that NumPy computes."""

    def __init__(self, program: Program) -> None:
        super().__init__(True)
        self.program = program
        #: nodes that NumPy must see as arrays
        self.seen: dict[Node, None] = {}
        self._native: dict[Node, bool | None] = {}
        #: where what is reshaped in place begins
        self._offsets: dict[Node, int] = {}
        self._accumulated, self._absorbed = accumulations(program, self._is_native)
        self._called = self._called_views()
        for node in program.nodes:
            if node not in self._absorbed:
                self.place(node)
        for node in program.outputs:
            if node.primitive.name not in _SCALARS:
                self._show(node, len(self.steps))
        self.claimed = dict.fromkeys(self.seen, 0)
        sink(self)

    def place(self, node: Node) -> None:
        views = may_be_view(node)
        if node.is_leaf:
            self._leaf(node)
        elif not self._is_native(node):
            self._call(node)
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
        if node.dtype not in HELD or any(o.dtype not in HELD for o in node.operands) or 0 in node.shape:
            return False
        if any(0 in o.shape for o in node.operands):
            return False
        if name in ("assemble", "concatenate") or may_be_view(node):
            return True
        if name in ("max", "min", "prod", "cumsum", "cumprod"):
            return node.dtype.kind == "f"
        if is_point(node):
            return True
        return contraction_suits(*node.params[:3]) if node.primitive is EINSUM and node.dtype.kind == "f" else False

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
