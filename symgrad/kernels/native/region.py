"""Regions: loop nests over one iteration space, with the values computed, stored, reduced and put in them."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field

import numpy as np

from ...primitives.contraction import EINSUM
from ...primitives.elementwise import Template
from ...primitives.primitive import literal_value
from ...program.node import Node
from .layout import View, passes_on
from .spelling import COSTS, HELD, is_spelled, loop_dtypes, spelled, spelled_literal

#: additions from which a region is dealt out to threads
DEALT_FROM = 400_000.0

#: for each axis of an operand the axis of the iteration space that it follows, None where it is broadcast
Axes = tuple[int | None, ...]


@dataclass(frozen=True)
class Factor:
    """An operand as a loop reads it: which element, and as which dtype."""

    node: Node
    axes: Axes
    dtype: np.dtype


@dataclass(frozen=True)
class Reduction:
    """``node`` is the product of ``factors``, reduced over all axes but those that ``kept`` names for each of its own.

    Where it ``adds``, to what is there.
    """

    node: Node
    factors: tuple[Factor, ...]
    kept: tuple[int | None, ...]
    operator: str
    adds: bool = False


@dataclass(frozen=True)
class Put:
    """A product written, or added, into a place of a buffer."""

    factors: tuple[Factor, ...]
    target: View
    adds: bool


@dataclass(eq=False)
class Region:
    """One loop nest. ``points`` are computed at every element; of them ``stored`` are kept for later steps.

    A ``closed`` one holds one reduction or put alone, whose axes may be taken in any order.
    """

    extents: tuple[int, ...]
    points: dict[Node, tuple[Factor, ...]] = field(default_factory=dict)
    reductions: list[Reduction] = field(default_factory=list)
    puts: list[Put] = field(default_factory=list)
    fills: list[Node] = field(default_factory=list)
    stored: dict[Node, None] = field(default_factory=dict)
    closed: bool = False

    def work(self) -> float:
        """What the loops cost, in additions."""
        own = sum(point_cost(n) for n in self.points)
        own += sum(len(r.factors) for r in self.reductions) + len(self.puts) + len(self.fills)
        return float(math.prod(self.extents)) * own


def point_cost(node: Node) -> float:
    """What a point costs an element, in additions."""
    return COSTS.get(node.primitive.name, max(len(node.operands) - 1, 1))


def is_point(node: Node) -> bool:
    """True for a node that C computes element by element."""
    if node.dtype not in HELD or any(o.dtype not in HELD for o in node.operands):
        return False
    name = node.primitive.name
    if isinstance(node.primitive, Template):
        return is_spelled(node)
    if name == "gate":
        return True
    if name == "cast":
        return node.dtype.kind == "f" or node.operands[0].dtype.kind == "b"
    return node.primitive is EINSUM and not summed(node) and len(set(node.params[1])) == len(node.params[1])


def summed(node: Node) -> list[int]:
    """The labels that an einsum sums over."""
    return _summed(*node.params[:3])


@functools.lru_cache(maxsize=4096)
def _summed(labels: tuple, out: tuple, sizes: tuple) -> list[int]:
    return [i for i in dict.fromkeys(i for ls in labels for i in ls) if i not in out and sizes[i] != 1]


def trailing(shape: tuple[int, ...], extents: tuple[int, ...]) -> Axes:
    """How an operand of ``shape`` broadcasts over ``extents``."""
    shift = len(extents) - len(shape)
    return tuple([None if d == 1 != extents[shift + k] else shift + k for k, d in enumerate(shape)])


def along(labels: tuple[int, ...], order: tuple[int, ...], sizes: tuple) -> Axes:
    """How an operand with ``labels`` follows the iteration order of labels."""
    return tuple([order.index(i) if i in order and sizes[i] != 1 else None for i in labels])


def is_whole(axes: Axes, node: Node, extents: tuple[int, ...]) -> bool:
    """True where a factor is read at the very element that the loop is at."""
    return node.shape == extents and all(a == k or extents[k] == 1 for k, a in enumerate(axes))


def factors_of(node: Node, extents: tuple[int, ...]) -> tuple[Factor, ...]:
    """The operands of a point node over its iteration space."""
    if node.primitive is EINSUM:
        labels, out, sizes, _ = node.params
        return tuple(
            [Factor(o, along(ls, out, sizes), node.dtype) for o, ls in zip(node.operands, labels, strict=True)]
        )
    if isinstance(node.primitive, Template):
        dtypes = loop_dtypes(node)
    elif node.primitive.name == "gate":
        m = node.operands[0]
        dtypes = (m.dtype if m.dtype.kind == "b" else node.dtype, node.dtype)
    else:
        dtypes = (node.operands[0].dtype,)
    operands = node.operands[:1] if passes_on(node) else node.operands
    return tuple([Factor(o, trailing(o.shape, extents), np.dtype(d)) for o, d in zip(operands, dtypes, strict=True)])


def point_format(node: Node) -> str:
    """The C expression of a point node over ``{0} {1} {2} …``."""
    name = node.primitive.name
    if isinstance(node.primitive, Template):
        return spelled(node)
    if name == "gate":
        return "({0} ? {1} : 0)" if node.operands[0].dtype.kind == "b" else "({0} != 0 ? {0} * {1} : 0)"
    if name == "einsum":
        return product_format(len(node.operands), node.operands[0].is_literal and node.operands[0].params[0] == -1)
    return f"(({HELD[node.dtype]}){{0}})"


def product_format(count: int, negates: bool) -> str:
    """The product of that many factors, of which the first may be -1."""
    if negates and count > 1:
        return "(-" + product_format(count, False).replace("{0} * ", "") + ")"
    return "(" + " * ".join(f"{{{k}}}" for k in range(count)) + ")" if count > 1 else "{0}"


def literal_code(factor: Factor) -> str:
    """A literal operand in C."""
    return spelled_literal(literal_value(factor.node), factor.dtype)
