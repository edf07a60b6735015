"""Blocks: how dims are cut, and where each block stands in an array."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sympy

from ..program.dims import value_of

#: the number of the block along each dim
Block = Mapping[sympy.Symbol, int]


class Blocks:
    """Each dim that is split, with the lengths of its blocks.

    >>> from symgrad.program.dims import named_dim
    >>> n = named_dim("n")
    >>> blocks = Blocks({n: (4, 4, 2)})
    >>> [blocks.slices((n, None), block)[0] for block in blocks.over((n,))]
    [slice(0, 4, None), slice(4, 8, None), slice(8, 10, None)]
    """

    def __init__(self, lengths: Mapping[sympy.Symbol, Sequence[int]]) -> None:
        self.lengths = {d: tuple(own) for d, own in lengths.items()}
        self._ends = {d: tuple(itertools.accumulate(own)) for d, own in self.lengths.items()}

    def over(self, dims: Sequence[sympy.Symbol]) -> Iterator[Block]:
        """Every block of these dims, the last dim's the fastest; one block where there are none."""
        for numbers in itertools.product(*[range(len(self.lengths[d])) for d in dims]):
            yield dict(zip(dims, numbers, strict=True))

    def count(self, dims: Sequence[sympy.Symbol]) -> int:
        """How many there are."""
        return math.prod(len(self.lengths[d]) for d in dims)

    def slices(self, axes: Sequence[sympy.Symbol | None], block: Block) -> tuple[slice, ...]:
        """Where a block is in an array of these axes, None for a whole one."""
        return tuple([slice(None) if d is None else self._slice(d, block[d]) for d in axes])

    def shape(self, dims: Sequence[Any], block: Block, sizes: Mapping[sympy.Symbol, int]) -> tuple[int, ...]:
        """The shape that a block has of an array of these dims, whose others have ``sizes``."""
        return tuple([self.lengths[d][block[d]] if d in block else value_of(d, sizes) for d in dims])

    def _slice(self, dim: sympy.Symbol, number: int) -> slice:
        end = self._ends[dim][number]
        return slice(end - self.lengths[dim][number], end)
