"""The schedule of a program: which loops compute what, in which order, and what stays with NumPy.

Nodes are taken in order. A node joins the first region over its iteration space that comes after everything it reads,
or opens a new one at the end; steps in their order are then an order of computation. One pass, linear in the program.
"""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass, replace

from ...primitives.contraction import EINSUM
from ...primitives.primitive import Leaf
from ...primitives.selection import CONCATENATE
from ...program.node import Node
from ...program.program import Program
from .contractions import accumulations, contraction_suits
from .layout import View, contiguous, may_be_view, view_of
from .region import Factor, Put, Reduction, Region, along, factors_of, is_point, is_whole, summed, trailing
from .scans import OPERATORS
from .spelling import HELD

#: nodes that a region holds, so that the C compiler's time stays linear
_MOST_POINTS = 200
#: elements of the innermost axis, and times that an operand is read, from which a copy in its order pays
_WORTH_COPY = 4
#: a copy of an array with its axes in another order
_COPY = Leaf("copy")
_REDUCTIONS = {"max": "max", "min": "min", "prod": "*"}
_LEAVES = ("input", "constant")
_SCALARS = ("literal", "dim")


@dataclass(eq=False)
class Call:
    """A node that NumPy computes."""

    node: Node


@dataclass(eq=False)
class Scan:
    """Running sums of ``source`` along one axis."""

    node: Node
    source: Node
    axis: int
    reverse: bool


Step = Region | Call | Scan


class Schedule:
    """The steps of a program whose dims are ints; ``views`` says where every value stands."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.steps: list[Step] = []
        self.views: dict[Node, View] = {}
        #: the step that computes what a buffer holds; -1 for inputs and constants
        self.made: dict[Node, int] = {}
        #: the last step that reads a buffer
        self.last: dict[Node, int] = {}
        #: nodes that NumPy must see as arrays
        self.seen: dict[Node, None] = {}
        self._regions: dict[tuple[int, ...], tuple[list[int], list[Region]]] = {}
        self._points: dict[Node, Region] = {}
        self._copies: dict[tuple[View, tuple[int, ...]], Node] = {}
        self._native: dict[Node, bool] = {}
        self._accumulated, self._absorbed = accumulations(program, self._is_native)
        self._called = self._called_views()
        for node in program.nodes:
            self._place(node)
        for node in program.outputs:
            if node.primitive.name not in _SCALARS:
                self._show(node, len(self.steps))

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
        found = self._native.get(node)
        if found is None:
            found = self._may_loop(node)
            if node.primitive is not EINSUM:  # of contractions more is known later
                self._native[node] = found
        return found

    def _may_loop(self, node: Node) -> bool:
        name = node.primitive.name
        if name in _LEAVES or name in _SCALARS:
            return True
        if node.dtype not in HELD or any(o.dtype not in HELD for o in node.operands) or 0 in node.shape:
            return False
        if any(0 in o.shape for o in node.operands):
            return False
        if name in ("assemble", "concatenate"):
            return True
        if name in OPERATORS or name in _REDUCTIONS:
            return node.dtype.kind == "f"
        if name == "reshape" or is_point(node):
            return True
        return node.primitive is EINSUM and self._is_native_einsum(node)

    def _is_native_einsum(self, node: Node) -> bool:
        if node.dtype.kind != "f":
            return False
        suits = contraction_suits(*node.params[:3])
        return self._computes(node) if suits is None else suits

    def _computes(self, node: Node) -> bool:
        """True where the operand that has every label is a value that a loop computes anyway."""
        labels = node.params[0]
        widest = max(range(len(labels)), key=lambda k: len(labels[k]))
        return node.operands[widest] in self._points

    def _place(self, node: Node) -> None:
        name = node.primitive.name
        if name in _SCALARS or node in self._absorbed:
            return
        if name in _LEAVES:
            self.views[node] = View(node, 0, contiguous(node.shape))
            self.made[node] = -1
            return
        if may_be_view(node) and self._view(node):
            return
        if not self._is_native(node):
            self._call(node)
        elif name == "assemble":
            pieces = [(o, _target(node, spec)) for o, spec in zip(node.operands, node.params[1], strict=True)]
            self._assemble(node, pieces, True)
        elif name == "concatenate":
            specs = [CONCATENATE.piece(node, k) for k in range(len(node.operands))]
            self._assemble(node, [(o, _target(node, s)) for o, s in zip(node.operands, specs, strict=True)], False)
        elif name in OPERATORS:
            self._scan(node)
        elif name in _REDUCTIONS:
            self._extremum(node)
        elif node.primitive is EINSUM and summed(node):
            self._sum(node)
        elif node.primitive is EINSUM and len(set(node.params[1])) < len(node.params[1]):
            self._diagonal(node)
        else:
            self._point(node)

    def _view(self, node: Node) -> bool:
        source = self.views.get(node.operands[0])
        view = None if source is None or node.dtype not in HELD else view_of(node, source)
        if view is None:
            return False
        self.views[node] = view
        if node in self._called:
            self._call(node)
        return True

    def _own(self, node: Node, step: int) -> None:
        """``node`` is computed by a step into a buffer of its own."""
        self.views[node] = View(node, 0, contiguous(node.shape))
        self.made[node] = step

    def _read(self, node: Node, step: int) -> None:
        """A step reads ``node`` out of memory."""
        base = self.views[node].base
        self.last[base] = max(self.last.get(base, -1), step)
        region = self._points.get(base)
        if region is not None:
            region.stored[base] = None

    def _show(self, node: Node, step: int) -> None:
        """NumPy reads ``node``."""
        self.seen[node] = None
        if node in self.views:
            self.seen[self.views[node].base] = None
            self._read(node, step)
        else:
            self.last[node] = max(self.last.get(node, -1), step)

    def _call(self, node: Node) -> None:
        step = len(self.steps)
        self.steps.append(Call(node))
        for o in node.operands:
            if o.primitive.name not in _SCALARS:
                self._show(o, step)
        if node not in self.views:
            self._own(node, step)
            self.seen[node] = None

    def _after(self, factors: list[Factor] | tuple[Factor, ...], extents: tuple[int, ...]) -> int:
        """The first step that may read all factors in a loop over ``extents``."""
        first = 0
        for f in factors:
            if f.node.primitive.name in _SCALARS:
                continue
            made = self.made[self.views[f.node].base]
            first = max(first, made if self._in_loop(f, extents) else made + 1)
        return first

    def _in_loop(self, f: Factor, extents: tuple[int, ...]) -> bool:
        """True where a region over ``extents`` that computes the factor has it at hand."""
        region = self._points.get(f.node)
        return region is not None and region.extents == extents and is_whole(f.axes, f.node, extents)

    def _region(self, extents: tuple[int, ...], first: int) -> tuple[int, Region]:
        """The region over ``extents`` at ``first`` or later that has room, or a new one."""
        numbers, regions = self._regions.setdefault(extents, ([], []))
        for k in range(bisect.bisect_left(numbers, first), len(numbers)):
            if len(regions[k].points) + len(regions[k].reductions) + len(regions[k].puts) < _MOST_POINTS:
                return numbers[k], regions[k]
        return self._append(Region(extents))

    def _append(self, region: Region) -> tuple[int, Region]:
        numbers, regions = self._regions.setdefault(region.extents, ([], []))
        step = len(self.steps)
        self.steps.append(region)
        if not region.closed:
            numbers.append(step)
            regions.append(region)
        return step, region

    def _reads(self, factors: list[Factor] | tuple[Factor, ...], step: int, region: Region) -> None:
        for f in factors:
            here = self._points.get(f.node) is region and is_whole(f.axes, f.node, region.extents)
            if f.node.primitive.name not in _SCALARS and not here:
                self._read(f.node, step)

    def _point(self, node: Node) -> None:
        extents = node.operands[0].shape if node.primitive.name == "reshape" else node.shape
        factors = factors_of(node, extents)
        step, region = self._region(extents, self._after(factors, extents))
        self._reads(factors, step, region)
        region.points[node] = factors
        self._own(node, step)
        self._points[node] = region

    def _sum(self, node: Node) -> None:
        labels, out, sizes, _ = node.params
        every = {i for ls in labels for i in ls}
        whole = [ls for ls in labels if set(ls) == every and len(set(ls)) == len(ls)]
        order = whole[0] if whole else (*[i for i in out if i in every], *summed(node))
        extents = tuple([sizes[i] for i in order])
        factors = tuple(
            [Factor(o, along(ls, order, sizes), node.dtype) for o, ls in zip(node.operands, labels, strict=True)]
        )
        kept = tuple([order.index(i) if i in every else None for i in out])
        if not whole and out and out[-1] in every:
            factors = tuple([self._streaming(f, order.index(out[-1]), extents) for f in factors])
        self._reduce(Reduction(node, factors, kept, "+"), extents, bool(whole))

    def _streaming(self, f: Factor, axis: int, extents: tuple[int, ...]) -> Factor:
        """A small operand of a contraction copied so that the axis that runs innermost is side by side in it."""
        if axis not in f.axes or extents[axis] < _WORTH_COPY or f.node.primitive.name in _SCALARS:
            return f
        view, place = self.views[f.node], f.axes.index(axis)
        size = math.prod(f.node.shape)
        if view.strides[place] == 1 or f.axes.count(axis) > 1 or _WORTH_COPY * size > math.prod(extents):
            return f
        order = (*[k for k in range(f.node.ndim) if k != place], place)
        copied = self._copies.get((view, order))
        if copied is None:
            shape = tuple([f.node.shape[k] for k in order])
            copied = self._copies[view, order] = Node(_COPY, (f.node,), (), shape, f.node.dtype)
            own = contiguous(shape)
            target = View(copied, 0, tuple([own[order.index(k)] for k in range(f.node.ndim)]))
            whole = Factor(f.node, trailing(f.node.shape, f.node.shape), f.node.dtype)
            step, region = self._append(Region(f.node.shape, closed=True))
            region.puts.append(Put((whole,), target, False))
            self._reads((whole,), step, region)
            self._own(copied, step)
        return Factor(copied, tuple([f.axes[k] for k in order]), f.dtype)

    def _extremum(self, node: Node) -> None:
        (x,) = node.operands
        kept = tuple([k for k in range(x.ndim) if k not in node.params[0]])
        factor = Factor(x, trailing(x.shape, x.shape), x.dtype)
        self._reduce(Reduction(node, (factor,), kept, _REDUCTIONS[node.primitive.name]), x.shape, True)

    def _reduce(self, reduction: Reduction, extents: tuple[int, ...], joins: bool) -> None:
        if joins:
            step, region = self._region(extents, self._after(reduction.factors, extents))
        else:
            step, region = self._append(Region(extents, closed=True))
        self._reads(reduction.factors, step, region)
        total = self._accumulated.get(reduction.node)
        if total is not None:
            reduction = replace(reduction, node=total, adds=total in self.made)
        region.reductions.append(reduction)
        self._own(reduction.node, step)

    def _assemble(self, node: Node, pieces: list[tuple[Node, View]], adds: bool) -> None:
        """Zeros, and each piece put, or added, where it belongs."""
        if adds:
            self._fill(node)
        step = len(self.steps)
        for k, (piece, target) in enumerate(pieces):
            factor = Factor(piece, trailing(piece.shape, piece.shape), node.dtype)
            step, region = self._append(Region(piece.shape, closed=True))
            region.puts.append(Put((factor,), target, adds and k > 0))
            self._reads((factor,), step, region)
        self._own(node, step)

    def _fill(self, node: Node) -> None:
        _, region = self._append(Region((math.prod(node.shape),), closed=True))
        region.fills.append(node)

    def _diagonal(self, node: Node) -> None:
        """Zeros with a product on the diagonals that repeated labels name."""
        labels, out, sizes, _ = node.params
        unique = tuple(dict.fromkeys(out))
        by_label: dict[int, int] = {}
        for i, stride in zip(out, contiguous(node.shape), strict=True):
            by_label[i] = by_label.get(i, 0) + stride
        self._fill(node)
        extents = tuple([sizes[i] for i in unique])
        factors = tuple(
            [Factor(o, along(ls, unique, sizes), node.dtype) for o, ls in zip(node.operands, labels, strict=True)]
        )
        step, region = self._append(Region(extents, closed=True))
        target = View(node, 0, tuple([by_label[i] for i in unique]))
        region.puts.append(Put(factors, target, False))
        self._reads(factors, step, region)
        self._own(node, step)

    def _scan(self, node: Node) -> None:
        (x,) = node.operands
        axis, reverse = node.params
        step = len(self.steps)
        self.steps.append(Scan(node, x, axis, reverse))
        self._read(x, step)
        self._own(node, step)


def _target(node: Node, spec: tuple) -> View:
    """The view of ``node`` that a slice of it is."""
    offset, strides = 0, []
    for entry, stride in zip(spec, contiguous(node.shape), strict=True):
        if isinstance(entry, tuple):
            offset += entry[0] * stride
            strides.append(entry[2] * stride)
        else:
            offset += entry * stride
    return View(node, offset, tuple(strides))
