"""What runs on one block where operations are shifted: each reads a few elements of the neighbours, the halo.

Of an axis of ``n + c`` elements, a block of ``n`` from ``first`` to ``end`` owns the elements ``first`` to ``end``, and
the last block those that follow too; of one of ``3 (n + c)`` elements it owns three for each, a row. What an operation
reads is found from the results backwards: ``x[1:] - x[:-1]`` reads ``first`` to ``end + 1`` of ``x``, so its ``Reach``
is ``(0, 1)``. At the edges of the whole nothing is beyond, and what stands there, such as the row that ``np.roll``
brings around, is read by the first or the last block alone. So a stage has a program for each ``Edges``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from ..primitives.casting import cast
from ..primitives.contraction import contract
from ..primitives.external import zeros_of
from ..primitives.functions import add, negative, subtract
from ..primitives.index_arrays import counts_ones
from ..primitives.primitive import input_node, literal
from ..primitives.reduction import CUMSUM
from ..primitives.selection import (
    ASSEMBLE,
    CONCATENATE,
    GATHER,
    SCATTER,
    SLICE,
    Spec,
    assemble,
    concatenate,
    full,
    take_slice,
)
from ..program.dims import Dim, Shape, is_named, normal
from ..program.node import Graph, Node
from ..program.program import Program
from .block_axes import BEFORE, Axis, Dims, Edges, Fixed, Shifted, axis_of, blocks_of, part_of, places
from .sizes import like, made_again
from .tall_matrices import TRIANGLE

#: the first element from the block's first one, and the end from its end
Reach = tuple[int, int]
#: for each axis, None for one that is whole
Reaches = tuple[Reach | None, ...]


def sizes_in(nodes: Sequence[Node], totals: Collection[Dim], over: Dims) -> set[sympy.Symbol]:
    """The names in the sizes that nodes have, or that they are where these are not among the ``totals``."""
    dims = [d for n in nodes for d in n.shape if is_named(d)]
    dims += [n.params[0] for n in nodes if n.primitive.name == "dim" and n.params[0] not in totals]
    return {s for d in dims for s in d.free_symbols}.difference(map(blocks_of, over))


@dataclass(frozen=True)
class OnBlock:
    """What runs on a block: ``program`` takes those of the stage's ``reads``, each with its halo, then the totals."""

    program: Program
    reads: tuple[int, ...]
    reaches: tuple[Reaches, ...]


class Halo:
    """The elements of each value that a block at some ``edges`` needs, to give its own ones of ``gives``."""

    def __init__(
        self, inside: Sequence[Node], gives: Collection[Node], over: Dims, edges: Mapping[sympy.Symbol, Edges]
    ) -> None:
        self._inside = inside
        self._gives = gives
        self._over = over
        self._edges = edges
        #: the elements that a block must have along a dim, so that what is read is its own and its neighbours'
        self.least: dict[sympy.Symbol, int] = {}
        self.reach: dict[Node, Reaches] = {n: self._own(n.shape) for n in gives}
        #: what is read of the operands of each node that is computed, None of those that such a block does not read
        self._read: dict[Node, list[Reaches | None]] = {}
        for node in reversed(inside):
            if node in self.reach:
                self._read[node] = self._needed(node)
                for o, needed in zip(node.operands, self._read[node], strict=True):
                    self._widen(o, needed)

    def on_block(self, reads: Sequence[Node], totals: Sequence[Dim]) -> OnBlock | None:
        """What runs, of ``reads`` and of the sizes of the whole; None where the block gives nothing."""
        if all(n.primitive is SLICE and self._read[n] == [None] for n in self._gives):
            return None
        given = [n for n in reads if n in self.reach]
        missing = sizes_in([*given, *(n for n in self._inside if n in self.reach)], totals, self._over)
        missing = missing.difference(*map(self._sizes, given))
        for n in reads:  # a block's sizes are those of what it reads
            if n not in self.reach and self._sizes(n) & missing:
                self.reach[n] = self._own(n.shape)
                missing -= self._sizes(n)
        own = [k for k, n in enumerate(reads) if n in self.reach]
        self._lengths = self._lengths_of([reads[k] for k in own])
        self._sums: dict[tuple[sympy.Symbol, int, int], Dim] = {}
        graph = Graph()
        with graph:
            names = [f"x{k}" for k in range(len(own) + len(totals))]
            inputs: list[Node] = []
            for name, k in zip(names, own, strict=False):
                n = reads[k]
                inputs.append(input_node(name, self._shape(n.shape, self.reach[n]), n.dtype, n.weak))
                inputs[-1].masked = n.masked
            counted = [input_node(name, (), np.dtype(np.float64), True) for name in names[len(own) :]]
            of_total = dict(zip(totals, counted, strict=True))
            image = dict(zip([reads[k] for k in own], inputs, strict=True))
            for node in self._inside:
                if node.primitive.name == "dim" and node.params[0] in of_total:
                    image[node] = of_total[node.params[0]]
                elif node in self.reach:
                    image[node] = self._again(node, image)
            outputs = [self._trimmed(n, image[n], self._own(n.shape)) for n in self._gives]
        program = Program([*inputs, *counted], outputs, names, graph)
        return OnBlock(program, tuple(own), tuple([self.reach[reads[k]] for k in own]))

    # what is read

    def _axes(self, shape: Shape) -> list[Axis | None]:
        return [axis_of(d, self._over) for d in shape]

    def _sizes(self, node: Node) -> set[sympy.Symbol]:
        """The names whose sizes on a block are known where it reads ``node``."""
        pairs = list(zip(node.shape, self._axes(node.shape), strict=True))
        in_blocks = {axis.dim for _, axis in pairs if axis is not None and axis.times}
        return in_blocks | {d for d, axis in pairs if axis is None and isinstance(d, sympy.Symbol)}

    def _own(self, shape: Shape) -> Reaches:
        """What a block has of an array of its own, which is never nothing."""
        axes = self._axes(shape)
        for axis in axes:
            if axis is not None:
                self._require(axis.dim, 1 - axis.more)
        return tuple([None if axis is None else self._at(axis, (0, 0)) for axis in axes])

    def _at(self, axis: Axis, reach: Reach) -> Reach:
        """A reach that ends where the whole does."""
        is_first, is_last = self._edges[axis.dim]
        return 0 if is_first else reach[0], axis.more if is_last else reach[1]

    def _require(self, dim: sympy.Symbol, length: int) -> None:
        self.least[dim] = max(self.least.get(dim, 1), length)

    def _widen(self, node: Node, needed: Reaches | None) -> None:
        if needed is None:
            return
        known = self.reach.get(node, needed)
        widened: list[Reach | None] = []
        for axis, old, new in zip(self._axes(node.shape), known, needed, strict=True):
            if axis is None or old is None or new is None:
                widened.append(None)
                continue
            low, high = self._at(axis, (min(old[0], new[0]), max(old[1], new[1])))
            is_first, is_last = self._edges[axis.dim]
            beyond = 0 if is_last else high - min(axis.more, 0)  # what an axis has more is the last block's alone
            self._require(axis.dim, max(low - high, 0 if is_first else -low, beyond))
            widened.append((low, high))
        self.reach[node] = tuple(widened)

    def _needed(self, node: Node) -> list[Reaches | None]:
        """What is read of each operand; None for one that such a block does not read."""
        reach = self.reach[node]
        if node.primitive is SLICE:
            return [self._of_whole(node, reach)]
        if node.primitive in (ASSEMBLE, CONCATENATE):
            pairs = zip(places(node), node.operands, strict=True)
            return [self._of_piece(spec, piece, node.shape, reach) for spec, piece in pairs]
        if node.primitive is CUMSUM:  # which begins at an end of the block
            axis, reverse = node.params
            low, high = reach[axis] or (0, 0)
            begun = (low, max(high, 0)) if reverse else (min(low, 0), high)
            return [tuple([begun if k == axis and r is not None else r for k, r in enumerate(reach)])]
        own = {axis[:2]: r for axis, r in zip(self._axes(node.shape), reach, strict=True) if axis is not None}
        return [
            tuple(
                [
                    own.get(axis[:2], rest) if axis is not None and axis.times else rest
                    for axis, rest in zip(self._axes(o.shape), self._own(o.shape), strict=True)
                ]
            )
            for o in node.operands
        ]

    def _of_whole(self, node: Node, reach: Reaches) -> Reaches | None:
        """What a slice reads of the array that it is a part of."""
        kept = iter(reach)
        needed: list[Reach | None] = []
        for entry, axis in zip(node.params[0], self._axes(node.operands[0].shape), strict=True):
            own = next(kept) if isinstance(entry, tuple) else None
            part = part_of(entry, axis) if axis is not None else None
            if axis is None or part is None:
                needed.append(None)
            elif isinstance(part, Fixed):
                needed.append(self._at(axis, (0, 0)))
                if not self._holds(part, axis, self._at(axis, (0, 0))):
                    return None
            elif own is not None:
                needed.append((own[0] + part.by, own[1] + part.by))
        return tuple(needed)

    def _of_piece(self, spec: Spec, piece: Node, shape: Shape, reach: Reaches) -> Reaches | None:
        """What is read of a piece that stands at ``spec`` in an array of ``shape``, of which ``reach`` is computed."""
        axes = iter(self._axes(piece.shape))
        needed: list[Reach | None] = []
        for entry, axis, own in zip(spec, self._axes(shape), reach, strict=True):
            kept = isinstance(entry, tuple)
            inner = next(axes) if kept else None
            part = part_of(entry, axis) if axis is not None else None
            if isinstance(part, Fixed) and axis is not None and own is not None and not self._holds(part, axis, own):
                return None
            if isinstance(part, Shifted) and inner is not None and own is not None:
                needed.append(self._at(inner, (own[0] - part.by, own[1] - part.by)))
            elif kept:
                needed.append(None)
        return tuple(needed)

    def _holds(self, part: Fixed, axis: Axis, reach: Reach) -> bool:
        """Whether such a block has a part that stands at an end of the whole; blocks have all of it or nothing."""
        (low, high), edges = reach, self._edges[axis.dim]
        holds = edges.is_last if part.at_end else edges.is_first
        if part.at_end:
            self._require(axis.dim, (low if holds else high) - part.start)
        else:
            self._require(axis.dim, part.start + part.length - (high if holds else low))
        return holds

    # what is computed

    def _lengths_of(self, reads: Sequence[Node]) -> dict[sympy.Symbol, Dim]:
        """The length of a block along each dim, where the name stands for the first axis that is read of it."""
        lengths: dict[sympy.Symbol, Dim] = {}
        axes = [(a, r) for n in reads for a, r in zip(self._axes(n.shape), self.reach[n], strict=True) if a and r]
        for axis, reach in sorted(axes, key=lambda pair: pair[0].times != 1):
            if axis.times and axis.dim not in lengths:
                lengths[axis.dim] = normal(axis.dim / axis.times - (reach[1] - reach[0]))
        return lengths

    def _length(self, axis: Axis, reach: Reach) -> Dim:
        if not axis.times:
            return 1
        key = axis.dim, axis.times, reach[1] - reach[0]
        if key not in self._sums:
            self._sums[key] = normal(axis.times * (self._lengths.get(axis.dim, axis.dim) + reach[1] - reach[0]))
        return self._sums[key]

    def _shape(self, shape: Shape, reaches: Reaches) -> Shape:
        """The shape that a block has of an array."""
        entries = zip(shape, self._axes(shape), reaches, strict=True)
        return tuple([d if axis is None or r is None else self._length(axis, r) for d, axis, r in entries])

    def _trimmed(self, node: Node, image: Node, wanted: Reaches) -> Node:
        """Of what a block has of ``node`` the part that is wanted."""
        reaches = zip(self._axes(node.shape), wanted, self.reach[node], strict=True)
        starts = [axis.times * (w[0] - r[0]) if axis and w and r else 0 for axis, w, r in reaches]
        pairs = zip(starts, self._shape(node.shape, wanted), strict=True)
        return take_slice(image, tuple([(start, length, 1) for start, length in pairs]))

    def _again(self, node: Node, image: Mapping[Node, Node]) -> Node:
        """The node as a block has it."""
        needed = self._read[node]
        read = [(o, wanted) for o, wanted in zip(node.operands, needed, strict=True) if wanted is not None]
        given = [self._trimmed(o, image[o], wanted) for o, wanted in read]
        reach = self.reach[node]
        shape = self._shape(node.shape, reach)
        if node.primitive is SLICE:
            if not read:
                return _nothing(shape, node.dtype)
            ((whole, wanted),) = read
            return take_slice(given[0], self._place(node.params[0], whole.shape, wanted, shape, reach))
        if node.primitive is CONCATENATE:
            return concatenate(given, node.params[0])
        if node.primitive is BEFORE:
            axis, labels = node.params[0], tuple(range(node.ndim))
            one = (*labels[:axis], node.ndim, *labels[axis + 1 :])
            return contract(given, [labels], one, (*given[0].shape, 1))
        if node.primitive is TRIANGLE:
            return TRIANGLE.of_block(*given)
        if node.primitive is ASSEMBLE:
            held = [(spec, wanted) for spec, wanted in zip(places(node), needed, strict=True) if wanted is not None]
            specs = [
                self._place(spec, node.shape, reach, piece.shape, wanted)
                for piece, (spec, wanted) in zip(given, held, strict=True)
            ]
            return cast(assemble(given, shape, specs) if given else zeros_of(shape, node.dtype), node.dtype)
        lengths: dict[Dim, Dim] = {}
        for dims in [o.shape for o in node.operands]:
            lengths |= zip(dims, self._shape(dims, self._own(dims)), strict=True)
        lengths |= zip(node.shape, shape, strict=True)
        if node.primitive in (GATHER, SCATTER):
            given[1] = self._from_begin(node, given[1])
        again = made_again(node, given, _with_lengths(node.params, lengths))
        return self._running(node, again) if node.primitive is CUMSUM else again

    def _from_begin(self, node: Node, index: Node) -> Node:
        """An index into rows of the block's own, counted from the first one that is read."""
        whole = node.operands[0] if node.primitive is GATHER else node
        axis = self._axes(whole.shape)[node.params[0]]
        if axis is None:
            return index
        pairs = zip(self._axes(node.shape), self.reach[node], strict=True)
        begin = next(r[0] for a, r in pairs if a and r and a[:2] == axis[:2])
        from_begin = subtract(index, literal(axis.times * begin)) if begin else index
        return cast(from_begin, node.operands[1].dtype)  # where a block begins is a float there

    def _running(self, node: Node, made: Node) -> Node:
        """What is summed up of the rows that are read as the block has it, which begins at its first row or its end."""
        axis, reverse = node.params
        own, reach = self._axes(node.shape)[axis], self.reach[node][axis]
        if own is None or reach is None:
            return made
        if counts_ones(node):
            return add(made, literal(own.times * reach[0])) if reach[0] else made
        beyond = own.times * (reach[1] if reverse else -reach[0])
        if not beyond or (reverse and self._edges[own.dim].is_last):
            return made
        length = made.shape[axis]
        whole = full(made.shape)
        if beyond < 0:
            start = 0 if reverse else -beyond
            return take_slice(made, (*whole[:axis], (start, normal(length + beyond), 1), *whole[axis + 1 :]))
        at = normal(length - beyond) if reverse else beyond - 1
        labels = tuple(range(made.ndim))
        before = take_slice(made, (*whole[:axis], at, *whole[axis + 1 :]))
        return subtract(made, contract([before], [labels[:axis] + labels[axis + 1 :]], labels, made.shape))

    def _place(self, spec: Spec, shape: Shape, whole: Reaches, lengths: Shape, part: Reaches) -> Spec:
        """Where a part that is at ``spec`` in an array of ``shape`` is on a block, which has so much of both."""
        kept, entries = iter(zip(lengths, part, strict=True)), []
        for entry, axis, reach in zip(spec, self._axes(shape), whole, strict=True):
            length, own = next(kept) if isinstance(entry, tuple) else (None, None)
            if axis is None or reach is None:
                entries.append(entry)
                continue
            taken = part_of(entry, axis)
            if isinstance(taken, Shifted) and own is not None:
                start = axis.times * (own[0] + taken.by - reach[0])
            else:
                start = self._start(taken, axis, reach) if isinstance(taken, Fixed) else 0
            entries.append(start if length is None else (start, length, 1))
        return tuple(entries)

    def _start(self, part: Fixed, axis: Axis, reach: Reach) -> Dim:
        """Where a part at an end of the whole is in what the block at that end has."""
        return normal(self._length(axis, reach) - axis.more + part.start) if part.at_end else part.start


def _nothing(shape: Shape, dtype: np.dtype) -> Node:
    """What a block gives of a part that another one has, to be added to that: -0.0, which changes no number."""
    zeros = zeros_of(shape, dtype)
    return negative(zeros) if dtype.kind in "fc" else zeros


def _with_lengths(param: Any, lengths: Mapping[Dim, Dim]) -> Any:
    """A parameter of a node with the lengths that a block has."""
    if isinstance(param, tuple):
        return like(param, [_with_lengths(p, lengths) for p in param])
    return lengths.get(param, param) if isinstance(param, sympy.Basic) else param
