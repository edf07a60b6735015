"""Where each primitive is computed: views need no step, points join regions, the rest has steps of its own.

Nodes are taken in order, once each: linear in the program.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...errors import UnsupportedOperation
from ...primitives.elementwise import Elementwise
from ...primitives.loop import Loop, Piece
from ...primitives.selection import CONCATENATE
from ...program.dims import Dim, is_named
from ...program.node import Node
from .contractions import is_summed, loops_for
from .disjoint import are_disjoint
from .language import Index
from .regions import LOOKED_UP, Block, Put, Read, Reduction, broadcast_read, loops_of, own_read
from .scalars import checked
from .schedule import Schedule
from .views import View, even_place, moved, view_of, whole

_REDUCTIONS = {"max": "maximum", "min": "minimum", "prod": "multiply"}
_NUMBERS = ("determinant", "log_determinant", "determinant_sign")
_CALLS = ("inverse", "solve", "cholesky", "argsort", *_NUMBERS)
#: elements side by side, and times that an operand is read, from which a copy in the order of the loops pays
_WORTH_COPY = 4
_PLACED = ("reshape", "concatenate", "assemble", "gather", "scatter", "convolve")


class Placement(Schedule):
    """The schedule of nodes that are in order."""

    def place(self, node: Node) -> None:
        """Schedule one node, whose operands have been."""
        checked(node)
        if node.is_leaf:
            self._leaf(node)
            return
        view = view_of(node, self.views)
        if view is not None:
            self.views[node] = view
        else:
            self._compute(node)

    def _leaf(self, node: Node) -> None:
        self.views[node] = whole(node)
        self.born[node] = self.made[node] = -1

    def _compute(self, node: Node) -> None:
        """Give a node that is no view a step."""
        name = node.primitive.name
        self.views[node] = whole(node)
        if isinstance(node.primitive, Elementwise) or name in ("gate", "cast"):
            self._broadcast(node)
        elif name == "einsum":
            self._einsum(node)
        elif name in _REDUCTIONS:
            (x,) = node.operands
            axes = tuple(range(x.ndim))
            self._reduce(node, [axes], tuple(k for k in axes if k not in node.params[0]), x.shape, _REDUCTIONS[name])
        elif name in _CALLS:
            self._block("call", node, [self.as_array(o) for o in node.operands])
        elif name in ("cumsum", "cumprod", "argmax", "argmin"):
            self._scan(node)
        elif name == "scan":
            self._repeat(node)
        elif name == "part" and node.operands[0] in self.kept:
            self._result(node)
        elif name == "searchsorted":
            knots, values = node.operands
            read = broadcast_read(self.views[values], values.shape, node.shape, loops_of(node.shape)[1])
            self._point(node, [read, Read(self.as_array(knots), ())])
        elif name in _PLACED:
            getattr(self, "_" + name)(node)
        else:
            raise UnsupportedOperation(f"{name} has no form in loops; export it as python or json.")

    def _block(self, kind: str, node: Node, arrays: Sequence[Node]) -> None:
        if kind == "call" and node.shape and node.primitive.name not in _NUMBERS:
            self.boxed.add(node)
        step = self._step(Block(kind, node, tuple([own_read(a) for a in arrays])))
        self._made(node, step)

    def _repeat(self, node: Node) -> None:
        """A loop, which begins with copies of what it carries and leaves its last values in them."""
        loop: Loop = node.params[0]
        begun = [self._copied(self.views[o], o.shape, o.dtype) for o in node.operands[: loop.carries]]
        others = [own_read(self.as_array(o)) if o.shape else self._scalar(o) for o in node.operands[loop.carries :]]
        step = self._step(Block("repeat", node, (*map(own_read, begun), *others)))
        self.made[node] = step
        for copied in begun:
            self._made(copied, step)
        self._begun[node] = begun
        self.kept[node] = [None] * len(loop.kept)

    def _result(self, node: Node) -> None:
        """One result of a loop."""
        (row,) = node.operands
        loop: Loop = row.params[0]
        number, count = loop.pieces.index(Piece(*node.params)), len(loop.finals)
        if number < count:
            self.views[node] = whole(self._begun[row][loop.finals[number]])
            return
        self.kept[row][number - count] = node
        self.boxed.add(node)
        self._made(node, self.made[row])

    def _broadcast(self, node: Node) -> None:
        image = loops_of(node.shape)[1]
        self._point(node, [broadcast_read(self.views[o], o.shape, node.shape, image) for o in node.operands])

    def _einsum(self, node: Node) -> None:
        labels, out, sizes, _ = node.params
        if is_summed(node):
            self._reduce(node, labels, out, sizes, "add")
            return
        unique = tuple(dict.fromkeys(out))
        extents, image = loops_of(tuple([sizes[i] for i in unique]))
        at = {i: image[k] for k, i in enumerate(unique)}
        reads = [
            Read(self.views[o].root, moved(self.views[o].places, [at.get(i, Index()) for i in ls]))
            for o, ls in zip(node.operands, labels, strict=True)
        ]
        if unique == out:
            self._point(node, reads)
        else:
            self.zeroed.add(node)
            self.boxed.add(node)
            self._put(Put(node, tuple(reads), tuple([at[i] for i in out])), extents)

    def _reduce(self, node: Node, labels: Sequence, out: Sequence[int], sizes: Sequence[Dim], operation: str) -> None:
        views = [self.views[o] for o in node.operands]
        found = loops_for(views, labels, out, sizes, self.row_major)
        if out and (not found.whole or self._turns(node, labels, out, sizes)):
            label = out[-1 if self.row_major else 0]
            streams = [self._streaming(v, own, label, sizes) for v, own in zip(views, labels, strict=True)]
            views, labels = [v for v, _ in streams], [own for _, own in streams]
            found = loops_for(views, labels, out, sizes, self.row_major)
        reads = tuple([Read(view.root, places) for view, places in zip(views, found.reads, strict=True)])
        joins = found.whole and self._joins(node)
        step, region = self._region(found.extents, reads) if joins else self._closed(found.extents)
        for read in reads:
            self._read(read, step)
        region.items.append(self._reduction(Reduction(node, reads, found.place, operation)))
        self._made(region.items[-1].node, step)

    def _turns(self, node: Node, labels: Sequence, out: Sequence[int], sizes: Sequence[Dim]) -> bool:
        """True where an operand that has every label may be copied too."""
        return False

    def _is_worth_copy(self, view: View, elements: Any, turns: Any) -> bool:
        """True where a copy of so many elements pays that are read in so many turns of the loops."""
        return _WORTH_COPY * elements <= turns

    def _joins(self, node: Node) -> bool:
        """True for a reduction that may run in the loops of others."""
        return True

    def _reduction(self, reduction: Reduction) -> Reduction:
        """The reduction as it is done."""
        return reduction

    def _streaming(
        self, view: View, own: Sequence[int], label: int, sizes: Sequence[Dim]
    ) -> tuple[View, Sequence[int]]:
        """A small operand of a contraction copied so that the axis of the label lies together in memory."""
        extents = [sizes[i] for i in own]
        if list(own).count(label) != 1 or any(is_named(d) for d in sizes) or sizes[label] < _WORTH_COPY:
            return view, own
        axis = list(own).index(label)
        beside = [k for k, place in enumerate(view.places) if any(name == axis for name, _ in place.terms)]
        near = len(view.places) - 1 if self.row_major else 0
        if beside == [near] and dict(view.places[near].terms)[axis] == 1:
            return view, own
        if not self._is_worth_copy(view, math.prod(extents), math.prod(sizes)):
            return view, own
        rest = [k for k in range(len(own)) if k != axis]
        order = [*rest, axis] if self.row_major else [axis, *rest]
        image = [Index() if extents[k] == 1 else Index(0, ((order.index(k), 1),)) for k in range(len(own))]
        turned = View(view.root, moved(view.places, image))
        key = (turned, tuple([extents[k] for k in order]))
        copied = self._copies.get(key)
        if copied is None:
            copied = self._copies[key] = self._copied(*key, view.root.dtype, apart=True)
        return self.views[copied], tuple([own[k] for k in order])

    def _scan(self, node: Node) -> None:
        if node.primitive.name in ("cumsum", "cumprod"):
            self.boxed.add(node)
        view = self.views[node.operands[0]]
        # the places stay in the axes of the operand, which the block counts itself
        step = self._step(Block("scan", node, (Read(view.root, view.places),)))
        self._made(node, step)

    def _reshape(self, node: Node) -> None:
        source = self.as_array(node.operands[0])
        self.backing[node] = source
        self.boxed.add(node)
        self._block("alias", node, [source])

    def _concatenate(self, node: Node) -> None:
        self.boxed.add(node)
        specs = [CONCATENATE.piece(node, k) for k in range(len(node.operands))]
        self._pieces(node, specs, adds=False)

    def _assemble(self, node: Node) -> None:
        self.boxed.add(node)
        self.zeroed.add(node)
        self._pieces(node, node.params[1], adds=not are_disjoint(node.params[1]))

    def _pieces(self, node: Node, specs: Sequence, adds: bool) -> None:
        for piece, spec in zip(node.operands, specs, strict=True):
            extents, image = loops_of(piece.shape)
            view = self.views[piece]
            inside = iter(image)
            place = []
            for entry, d in zip(spec, node.shape, strict=True):
                if isinstance(entry, tuple):
                    place.append(moved([Index(entry[0], ((0, entry[2]),))], [next(inside)])[0])
                else:
                    place.append(Index(entry + d if isinstance(entry, int) and entry < 0 else entry))
            read = Read(view.root, moved(view.places, image))
            after = self.made.get(node, -1) + 1 if adds else 0  # turns of one loop do not write the same elements
            self._put(Put(node, (read,), tuple(place), adds), extents, after)

    def _gather(self, node: Node) -> None:
        x, index = node.operands
        axis = node.params[0]
        image = loops_of(node.shape)[1]
        own = [*image[:axis], Index(0, ((LOOKED_UP, 1),)), *image[axis + index.ndim :]]
        read = Read(self.views[x].root, moved(self.views[x].places, own))
        self._point(node, [self._index(index, image[axis : axis + index.ndim]), read])

    def _scatter(self, node: Node) -> None:
        y, index = node.operands
        axis = node.params[0]
        self.boxed.add(node)
        self.zeroed.add(node)
        extents, image = loops_of(y.shape)
        read = Read(self.views[y].root, moved(self.views[y].places, image))
        even = even_place(index, node.shape[axis], axis)
        if even is not None:
            place = (*image[:axis], *moved((even,), image), *image[axis + index.ndim :])
            self._put(Put(node, (read,), place, True), extents)
            return
        place = (*image[:axis], Index(0, ((LOOKED_UP, 1),)), *image[axis + index.ndim :])
        self._put(Put(node, (self._index(index, image[axis : axis + index.ndim]), read), place, True), extents)

    def _index(self, index: Node, image: Sequence[Index]) -> Read:
        view = self.views[index]
        return Read(view.root, moved(view.places, image))

    def _convolve(self, node: Node) -> None:
        self.boxed.add(node)
        self.zeroed.add(node)
        extents, image = loops_of(tuple([o.shape[0] for o in node.operands]))
        views = [self.views[o] for o in node.operands]
        reads = tuple([Read(v.root, moved(v.places, [i])) for v, i in zip(views, image, strict=True)])
        place = Index(0, (*image[0].terms, *image[1].terms))
        self._put(Put(node, reads, (place,), True), extents)
