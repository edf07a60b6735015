"""Blocks: how dims are cut, and where each block stands in an array."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import sympy

from ..passes.block_axes import Axis, Edges, blocks_of, first_of
from ..passes.halos import Reach
from ..passes.splitting import Split, Stage
from ..program.dims import value_of

#: the number of the block along each dim
Block = Mapping[sympy.Symbol, int]
#: where an array is read
Place = tuple[slice, ...]


class Blocks:
    """Each dim that is split, with the lengths of its blocks.

    >>> from symgrad.program.dims import named_dim
    >>> n = named_dim("n")
    >>> blocks = Blocks({n: (4, 4, 2)})
    >>> [blocks.slices((Axis(n, 0), None), block)[0] for block in blocks.over((n,))]
    [slice(0, 4, None), slice(4, 8, None), slice(8, 10, None)]
    >>> [blocks.slices((Axis(n, -1),), block, [(0, 1)])[0] for block in blocks.over((n,))][:2]
    [slice(0, 5, None), slice(4, 9, None)]
    """

    def __init__(self, lengths: Mapping[sympy.Symbol, Sequence[int]]) -> None:
        self.lengths = {d: tuple(own) for d, own in lengths.items()}
        self._ends = {d: tuple(itertools.accumulate(own)) for d, own in self.lengths.items()}

    def at_least(self, least: Mapping[sympy.Symbol, int]) -> Blocks:
        """Those that are shorter than the ``least`` joined with the next, or the last one with that before.

        >>> from symgrad.program.dims import named_dim
        >>> n = named_dim("n")
        >>> Blocks({n: (1, 1, 4, 1)}).at_least({n: 2}).lengths[n]
        (2, 5)
        """
        return Blocks({d: _joined(own, least.get(d, 1)) for d, own in self.lengths.items()})

    def first(self, dim: sympy.Symbol, number: int) -> int:
        """The place of the first element of a block."""
        return self._ends[dim][number] - self.lengths[dim][number]

    def over(self, dims: Sequence[sympy.Symbol]) -> Iterator[Block]:
        """Every block of these dims, the last dim's the fastest; one block where there are none."""
        for numbers in itertools.product(*[range(len(self.lengths[d])) for d in dims]):
            yield dict(zip(dims, numbers, strict=True))

    def counts(self) -> dict[sympy.Symbol, int]:
        """How many there are of each dim, by what stands for that."""
        return {blocks_of(d): len(own) for d, own in self.lengths.items()}

    def count(self, dims: Sequence[sympy.Symbol]) -> int:
        """How many there are."""
        return math.prod(len(self.lengths[d]) for d in dims)

    def edges(self, dims: Sequence[sympy.Symbol], block: Block) -> tuple[Edges, ...]:
        """At which edges of the whole a block is, along each dim."""
        return tuple([Edges(block[d] == 0, block[d] == len(self.lengths[d]) - 1) for d in dims])

    def lengths_of(self, axis: Axis) -> tuple[int, ...]:
        """What each block has of an axis of its own."""
        if not axis.times:
            return (1,) * len(self.lengths[axis.dim])
        *most, last = self.lengths[axis.dim]
        return tuple([axis.times * n for n in (*most, last + axis.more)])

    def slices(
        self, axes: Sequence[Axis | None], block: Block, reaches: Sequence[Reach | None] | None = None
    ) -> tuple[slice, ...]:
        """Where a block is in an array of these axes, None for a whole one; with what it ``reaches`` beside it."""
        within = [None] * len(axes) if reaches is None else reaches
        return tuple([slice(None) if a is None else self._slice(a, block[a.dim], r) for a, r in zip(axes, within)])

    def _slice(self, axis: Axis, number: int, reach: Reach | None) -> slice:
        if not axis.times:
            return slice(number, number + 1)
        end, length = self._ends[axis.dim][number], self.lengths[axis.dim][number]
        low, high = reach or (0, axis.more if number == len(self.lengths[axis.dim]) - 1 else 0)
        return slice(axis.times * (end - length + low), axis.times * (end + high))


class Run(NamedTuple):
    """A block that a stage runs on: at which edges, and where in which of the stage's ``reads``."""

    block: Block
    edges: tuple[Edges, ...]
    places: list[tuple[int, Place]]


def runs(split: Split, stage: Stage, blocks: Blocks) -> Iterator[Run]:
    """What a stage runs on, block after block; those that give nothing are left out."""
    axes = [split.of(n) for n in stage.reads]
    for block in blocks.over(stage.dims):
        edges = stage.edges(blocks.edges(stage.dims, block))
        on_block = stage.on_blocks[edges]
        if on_block is not None:
            pairs = zip(on_block.reads, on_block.reaches, strict=True)
            yield Run(block, edges, [(k, blocks.slices(axes[k], block, reaches)) for k, reaches in pairs])


def totals_of(stage: Stage, blocks: Blocks, block: Block, sizes: Mapping[sympy.Symbol, int]) -> list[float]:
    """What a stage is told of the whole on a block: sizes, and where the block begins."""
    places = {first_of(d): blocks.first(d, block[d]) for d in stage.dims}
    return [float(value_of(d, {**sizes, **places})) for d in stage.totals]


def shape_of(dims: Sequence[Any], place: Sequence[slice], sizes: Mapping[sympy.Symbol, int]) -> tuple[int, ...]:
    """The shape of what is at ``place`` of an array of these dims, whose names have ``sizes``."""
    return tuple([value_of(d, sizes) if s.stop is None else s.stop - s.start for d, s in zip(dims, place, strict=True)])


def without(lengths: Sequence[int], more: int) -> tuple[int, ...]:
    """The blocks of a dim, where those of an axis of ``more`` elements have these lengths.

    >>> without((3, 2, 1), 2), without((3, 3), -1)
    ((3, 1), (3, 4))
    """
    total = sum(lengths) - more
    ends = [0, *(end for end in itertools.accumulate(lengths[:-1]) if 0 < end < total), total]
    return tuple([end - start for start, end in itertools.pairwise(ends)])


def _joined(lengths: Sequence[int], least: int) -> tuple[int, ...]:
    joined: list[int] = []
    pending = 0
    for length in lengths:
        pending += length
        if pending >= least:
            joined.append(pending)
            pending = 0
    if pending and joined:
        joined[-1] += pending
    return tuple(joined) if joined else (sum(lengths),)
