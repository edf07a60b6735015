"""The form of a region: all that its C text depends on, without its nodes; regions of one form share one function."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...program.node import Node
from .layout import View, contiguous
from .region import DEALT_FROM, Factor, Reduction, Region, is_whole, literal_code, point_format

#: how a value is had: C text, or a number of an access or of a point before it; then its dtype, and the one wanted
Code = tuple[str, "str | int", np.dtype, np.dtype]


class Point(NamedTuple):
    """A value: its C expression over ``{0} {1} {2}``, its dtype, its operands, the access it is stored to or None."""

    format: str
    dtype: np.dtype
    operands: tuple[Code, ...]
    stored: int | None


class Sum(NamedTuple):
    """A product of ``factors`` that is reduced into an access, or added to what is there."""

    operator: str
    adds: bool
    dtype: np.dtype
    factors: tuple[Code, ...]
    access: int


class Placed(NamedTuple):
    """A product of ``factors`` that is written, or added, to an access."""

    factors: tuple[Code, ...]
    adds: bool
    access: int


class Form(NamedTuple):
    """What is hashable of a region: ``accesses`` are dtypes and strides."""

    extents: tuple[int, ...]
    closed: bool
    deals: bool
    accesses: tuple[tuple[np.dtype, tuple[int, ...]], ...]
    points: tuple[Point, ...]
    sums: tuple[Sum, ...]
    puts: tuple[Placed, ...]
    fills: tuple[int, ...]


def is_dealt(work: float) -> bool:
    """True for a loop that costs enough additions to be dealt out to threads."""
    return work >= DEALT_FROM


class Reading:
    """Takes down the form of one region, and which views its accesses are."""

    def __init__(self, region: Region, views: dict[Node, View]) -> None:
        self.region = region
        self._views = views
        self.accessed: list[View] = []
        self._accesses: dict[tuple, int] = {}
        self._known: list[tuple[np.dtype, tuple[int, ...]]] = []
        self._numbers: dict[Node, int] = {}
        whole = contiguous(region.extents)
        points = tuple([self._point(n, factors, whole) for n, factors in region.points.items()])
        sums = tuple([self._sum(r) for r in region.reductions])
        puts = tuple(
            [
                Placed(self._codes(p.factors), p.adds, self._access(p.target, p.target.base.dtype, p.target.strides))
                for p in region.puts
            ]
        )
        fills = tuple([self._access(views[n], n.dtype, whole) for n in region.fills])
        self.form = Form(
            region.extents, region.closed, is_dealt(region.work()), tuple(self._known), points, sums, puts, fills
        )

    def _access(self, view: View, dtype: np.dtype, strides: tuple[int, ...]) -> int:
        key = (view.base, view.offset, strides)
        number = self._accesses.get(key)
        if number is None:
            number = self._accesses[key] = len(self.accessed)
            self.accessed.append(view)
            self._known.append((dtype, strides))
        return number

    def _point(self, node: Node, factors: tuple[Factor, ...], whole: tuple[int, ...]) -> Point:
        codes = self._codes(factors)
        stored = self._access(self._views[node], node.dtype, whole) if node in self.region.stored else None
        self._numbers[node] = len(self._numbers)
        return Point(point_format(node), node.dtype, codes, stored)

    def _sum(self, r: Reduction) -> Sum:
        codes = self._codes(r.factors)
        strides = [0] * len(self.region.extents)
        for axis, stride in zip(r.kept, contiguous(r.node.shape), strict=True):
            if axis is not None:
                strides[axis] = stride
        access = self._access(self._views[r.node], r.node.dtype, tuple(strides))
        return Sum(r.operator, r.adds, r.node.dtype, codes, access)

    def _codes(self, factors: tuple[Factor, ...]) -> tuple[Code, ...]:
        return tuple([self._code(f) for f in factors])

    def _code(self, f: Factor) -> Code:
        node = f.node
        if node.is_literal:
            return ("literal", literal_code(f), f.dtype, f.dtype)
        number = self._numbers.get(node)
        if number is not None and is_whole(f.axes, node, self.region.extents):
            return ("point", number, node.dtype, f.dtype)
        view = self._views[node]
        strides = [0] * len(self.region.extents)
        for axis, stride in zip(f.axes, view.strides, strict=True):
            if axis is not None:
                strides[axis] += stride
        return ("access", self._access(view, node.dtype, tuple(strides)), node.dtype, f.dtype)
