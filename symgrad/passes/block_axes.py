"""Axes in blocks: which dim's blocks an axis follows, and what a slice or a piece takes of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import sympy

from ..primitives.primitive import Params, Primitive
from ..primitives.selection import ASSEMBLE, CONCATENATE, SLICE, Spec
from ..program.dims import Dim, Shape, is_named, normal
from ..program.node import Node

Dims = frozenset[sympy.Symbol]


class Axis(NamedTuple):
    """An axis of ``times * (dim + more)`` elements, in blocks of ``dim``: a row of them for each of the dim's.

    Where ``times`` is 0 it has one element for each block.
    """

    dim: sympy.Symbol
    more: int
    times: int = 1


class Edges(NamedTuple):
    """Whether a block is the first along a dim, and the last."""

    is_first: bool
    is_last: bool


INNER = Edges(False, False)


class SizesNeeded(Exception):
    """These names of sizes are not known where they must be; the program can be split where they are numbers."""

    def __init__(self, names: Collection[sympy.Symbol]) -> None:
        super().__init__(f"the sizes of {', '.join(map(str, names))} are needed")
        self.names = names


@lru_cache(maxsize=256)
def first_of(dim: sympy.Symbol) -> sympy.Symbol:
    """What stands for the place of the first element of a block of ``dim``."""
    return sympy.Symbol(f"first of {dim}", integer=True, nonnegative=True)


@lru_cache(maxsize=256)
def blocks_of(dim: sympy.Symbol) -> sympy.Symbol:
    """What stands for the number of blocks of ``dim``."""
    return sympy.Symbol(f"blocks of {dim}", integer=True, nonnegative=True)


@lru_cache(maxsize=4096)
def axis_of(dim: Dim, over: Dims) -> Axis | None:
    """An axis in blocks of one of ``over``; None for one that is whole, ValueError for one that follows no block.

    >>> from symgrad.program.dims import named_dim
    >>> n = named_dim("n")
    >>> axis_of(n - 1, frozenset([n])), axis_of(3 * n - 6, frozenset([n]))
    (Axis(dim=n, more=-1, times=1), Axis(dim=n, more=-2, times=3))
    """
    own = dim.free_symbols & over if is_named(dim) else ()
    if not own:
        return next((Axis(d, 0, 0) for d in over if dim == blocks_of(d)), None)
    symbol = next(iter(own))
    times = normal(sympy.diff(dim, symbol))
    if len(own) > 1 or (is_named(times) and (times.is_Rational or times.free_symbols & own)):
        raise ValueError(dim)
    if is_named(times):
        raise SizesNeeded(times.free_symbols)
    more = normal(dim / times - symbol)
    if not isinstance(more, int):
        raise ValueError(dim)
    return Axis(symbol, more, times)


def split_axis(dim: Dim, over: Dims) -> Axis | None:
    """``axis_of``, and None for one that follows no block."""
    try:
        return axis_of(dim, over)
    except ValueError:
        return None


def is_split(dim: Dim, over: Dims) -> bool:
    """Whether an axis is in blocks; one that follows none is not."""
    return split_axis(dim, over) is not None


class Shifted(NamedTuple):
    """A part whose row ``k`` is row ``k + by`` of the whole; it has ``more`` rows than the dim."""

    by: int
    more: int


class Fixed(NamedTuple):
    """A part of ``length`` elements at ``start``, counted from the end of the dim where it is ``at_end``."""

    start: int
    length: int
    at_end: bool


def part_of(entry: Any, axis: Axis) -> Shifted | Fixed | None:
    """What an entry of a slice takes of an axis in blocks; None for what may be of any block.

    >>> from symgrad.program.dims import named_dim
    >>> n = named_dim("n")
    >>> part_of((1, n - 1, 1), Axis(n, 0)), part_of((n - 1, 1, 1), Axis(n, 0))
    (Shifted(by=1, more=-1), Fixed(start=-1, length=1, at_end=True))
    >>> part_of((3, 3 * n - 3, 1), Axis(n, 0, 3))
    Shifted(by=1, more=-1)
    """
    start, length, step = map(normal, entry) if isinstance(entry, tuple) else (normal(entry), 1, 1)
    if step != 1 or not axis.times:
        return None
    if is_named(length):
        own = split_axis(length, frozenset([axis.dim]))
        if own is None or own.times != axis.times or not isinstance(start, int) or start % axis.times:
            return None
        return Shifted(start // axis.times, own.more)
    if axis.times != 1:
        return None
    if isinstance(start, int):
        return Fixed(start, length, False)
    from_end = normal(start - axis.dim)
    return Fixed(from_end, length, True) if isinstance(from_end, int) else None


class BlocksBefore(Primitive):
    """The sum of what the blocks before each have along an axis, or of those after it; ``params = (axis, reverse)``.

    The axis has an element for each block of the dim whose blocks it was in.
    """

    name = "sum of the blocks before"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        (x,), axis = operands, params[0]
        (dim,) = x.shape[axis].free_symbols
        return (*x.shape[:axis], blocks_of(dim), *x.shape[axis + 1 :]), x.dtype, False

    def evaluate(self, params: Params, *values: np.ndarray) -> np.ndarray:
        """Of what each block has."""
        (totals,), (axis, reverse) = values, params
        along = np.moveaxis(np.flip(totals, axis) if reverse else totals, axis, 0)
        before = np.zeros_like(along)
        np.cumsum(along[:-1], 0, out=before[1:])
        placed = np.moveaxis(before, 0, axis)
        return np.flip(placed, axis) if reverse else placed


BEFORE = BlocksBefore()


def places(node: Node) -> Sequence[Spec]:
    """Where the operands of a node that puts pieces together stand in it."""
    if node.primitive is ASSEMBLE:
        return node.params[1]
    return [CONCATENATE.piece(node, k) for k in range(len(node.operands))]


def shifted_dims(nodes: Collection[Node], over: Dims) -> Dims:
    """Those dims along which the edges of the whole differ from what is inside."""
    found: set[sympy.Symbol] = set()
    for node in nodes:
        entries = [(d, (0, d, 1)) for d in node.shape]
        if node.primitive is SLICE:
            entries += zip(node.operands[0].shape, node.params[0], strict=True)
        elif node.primitive in (ASSEMBLE, CONCATENATE):
            entries += [pair for spec in places(node) for pair in zip(node.shape, spec, strict=True)]
        for d, entry in entries:
            axis = axis_of(d, over)
            if axis is not None and axis.times and (axis.more or entry != (0, d, 1)):
                found.add(axis.dim)
    return frozenset(found)
