"""Reductions that are not sums: extremum, product, cumulative sum, and the integer-valued searches.

Ties of an extremum share the derivative evenly, as in JAX. The partials of a product are products of
the others, built as a tree, so that zeros are exact and every order of derivative follows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..program.dims import Dim, Shape
from ..program.node import Node, emit
from .casting import cast
from .contraction import contract, expand_behind, gate
from .functions import (
    add,
    divide,
    equal,
    isnan,
    less,
    logical_and,
    logical_not,
    logical_or,
    multiply,
    not_equal,
    square,
)
from .primitive import ByTangent, Params, Primitive, literal
from .selection import SLICE, concatenate, full, take_slice, turns_round
from .shaping import reshape

if TYPE_CHECKING:
    from .batching import Batching


class Reduction(ByTangent):
    """A ufunc's ``reduce`` over ``params = (axes,)``."""

    def __init__(self, name: str, ufunc: np.ufunc) -> None:
        self.name = name
        self.ufunc = ufunc

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        (x,) = operands
        return tuple(d for k, d in enumerate(x.shape) if k not in params[0]), x.dtype, False

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        return emit(self, operands, (tuple([k + 1 for k in node.params[0]]),))

    def evaluate(self, params: Params, *values: Any) -> Any:
        return self.ufunc.reduce(values[0], axis=params[0])

    def spell(self, node: Node) -> str:
        return f"{self.name}[axes={list(node.params[0])}]"


class Extremum(Reduction):
    """``np.max`` or ``np.min``."""

    def mask(self, node: Node) -> tuple[Node, Node]:
        """Where the extremum is taken, and one over how often; everywhere, and NaN, where it is NaN."""
        (x,) = node.operands
        extreme = _spread(node, node, 0)
        hit = equal(x, extreme)
        count = _collapse(node, cast(hit, node.dtype), 0)
        return logical_or(hit, not_equal(extreme, extreme)), divide(count, square(count))

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        hit, share = self.mask(node)
        collapsed = _collapse(node, gate(hit, tangent), batch)
        labels = tuple(range(collapsed.ndim))
        return contract([collapsed, share], [labels, labels[batch:]], labels, collapsed.shape)


def _labels(node: Node, batch: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    axes = node.params[0]
    rank = node.operands[0].ndim
    lead = tuple(range(batch))
    wide = lead + tuple(range(batch, batch + rank))
    narrow = lead + tuple(batch + k for k in range(rank) if k not in axes)
    return wide, narrow


def _spread(node: Node, small: Node, batch: int) -> Node:
    wide, narrow = _labels(node, batch)
    return contract([small], [narrow], wide, small.shape[:batch] + node.operands[0].shape)


def _collapse(node: Node, large: Node, batch: int) -> Node:
    wide, narrow = _labels(node, batch)
    return contract([large], [wide], narrow, large.shape)


class Product(Reduction):
    """``np.prod``."""

    def others(self, node: Node) -> Node:
        """At each element the product of all others that it is reduced with."""
        (x,) = node.operands
        axes = node.params[0]
        rest = tuple(k for k in range(x.ndim) if k not in axes)
        order = rest + axes
        moved = contract([x], [tuple(range(x.ndim))], order, x.shape)
        lead = moved.shape[: len(rest)]
        flat = reshape(moved, (*lead, math.prod(x.shape[k] for k in axes)))
        back = tuple(order.index(k) for k in range(x.ndim))
        others = reshape(_products_of_others(flat), moved.shape)
        return contract([others], [tuple(range(x.ndim))], back, moved.shape)

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        others = self.others(node)
        labels = tuple(range(tangent.ndim))
        product = contract([others, tangent], [labels[batch:], labels], labels, tangent.shape)
        return _collapse(node, product, batch)


def _products_of_others(x: Node) -> Node:
    """Along the last axis, the product of all entries but each; a balanced tree, linear work."""
    levels = [x]
    while levels[-1].shape[-1] > 1:
        levels.append(_halve(levels[-1]))
    top = levels[-1]
    outside = expand_behind(literal(1), 0, top.shape)
    for level in reversed(levels[:-1]):
        outside = _unhalve(level, outside)
    return cast(outside, x.dtype)


def _piece(x: Node, start: int, length: int, step: int) -> Node:
    return take_slice(x, (*full(x.shape[:-1]), (start, length, step)))


def _halve(x: Node) -> Node:
    n = x.shape[-1]
    paired = multiply(_piece(x, 0, n // 2, 2), _piece(x, 1, n // 2, 2))
    return concatenate([paired, _piece(x, n - 1, 1, 1)], x.ndim - 1) if n % 2 else paired


def _unhalve(level: Node, outside: Node) -> Node:
    n = level.shape[-1]
    pairs = _piece(outside, 0, n // 2, 1)
    left = multiply(pairs, _piece(level, 1, n // 2, 2))
    right = multiply(pairs, _piece(level, 0, n // 2, 2))
    inner = _interleaved(left, right)
    return concatenate([inner, _piece(outside, n // 2, 1, 1)], level.ndim - 1) if n % 2 else inner


class Accumulation(Primitive):
    """Sums or products of all elements up to each; ``params = (axis, reverse)``, reverse from the end."""

    def __init__(self, name: str, function: Callable[[np.ndarray, int], np.ndarray]) -> None:
        self.name = name
        self.function = function

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return operands[0].shape, operands[0].dtype, False

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        axis, reverse = node.params
        return emit(self, operands, (axis + 1, reverse))

    def evaluate(self, params: Params, *values: Any) -> Any:
        axis, reverse = params
        if reverse:
            return np.flip(self.function(np.flip(values[0], axis), axis), axis)
        return self.function(values[0], axis)

    def spell(self, node: Node) -> str:
        return f"{self.name}[axis={node.params[0]}{',reverse' if node.params[1] else ''}]"


class CumulativeSum(Accumulation):
    """``np.cumsum``, whose transpose runs the other way."""

    keeps_zeros = True

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        axis, reverse = node.params
        return cumulative_sum(tangent, axis + batch, reverse)

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        axis, reverse = node.params
        return cumulative_sum(ct, axis + batch, not reverse)


class CumulativeProduct(Accumulation, ByTangent):
    """``np.cumprod``: ``y[i] = x[i] y[i-1]``, so its derivative is ``dy[i] = x[i] dy[i-1] + y[i-1] dx[i]``."""

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        if 0 in node.shape:
            return tangent
        x, before, back = self._along_last(node)
        moved = _to_last(tangent, node.params, batch)
        return back(_recurrence(x, _scaled(before, moved)), batch)

    def _along_last(self, node: Node) -> tuple[Node, Node, Callable[[Node, int], Node]]:
        """The operand and the products before each element, running along the last axis; and the way back."""
        (x,), axis = node.operands, node.params[0]

        def back(moved: Node, batch: int) -> Node:
            turned = _flipped(moved) if node.params[1] else moved
            lead, own = tuple(range(batch)), tuple(range(batch, moved.ndim))
            labels = (*lead, *own[:axis], *own[axis + 1 :], own[axis])
            return contract([turned], [labels], (*lead, *own), (*moved.shape[:batch], *node.shape))

        return _to_last(x, node.params, 0), _delayed(_to_last(node, node.params, 0)), back


def _to_last(x: Node, params: Params, batch: int) -> Node:
    """``x`` with the axis that an accumulation runs along behind the others, in the order of running."""
    axis, reverse = params[0] + batch, params[1]
    labels = tuple(range(x.ndim))
    moved = contract([x], [labels], (*labels[:axis], *labels[axis + 1 :], axis), x.shape)
    return _flipped(moved) if reverse else moved


def _flipped(x: Node) -> Node:
    n = x.shape[-1]
    return _piece(x, n - 1, n, -1)


def _delayed(x: Node) -> Node:
    """One place later along the last axis, behind a one."""
    first = cast(expand_behind(literal(1), 0, (*x.shape[:-1], 1)), x.dtype)
    return concatenate([first, _piece(x, 0, x.shape[-1] - 1, 1)], x.ndim - 1)


def _scaled(factor: Node, tangent: Node) -> Node:
    """A product that is linear in ``tangent``, which has leading axes more."""
    labels = tuple(range(tangent.ndim))
    return contract([factor, tangent], [labels[tangent.ndim - factor.ndim :], labels], labels, tangent.shape)


def _recurrence(a: Node, b: Node) -> Node:
    """``s[i] = a[i] s[i-1] + b[i]`` along the last axis, from ``s[0] = b[0]``.

    Two steps are one step of half as many: linear work, as many operations as halving has levels, and right at zeros,
    since nothing is divided.
    """
    n = a.shape[-1]
    if n < 2:
        return b
    first, second = (_piece(b, start, n // 2, 2) for start in (0, 1))
    factors = _piece(a, 1, n // 2, 2)
    paired = _recurrence(multiply(_piece(a, 0, n // 2, 2), factors), add(_scaled(factors, first), second))
    ahead = _piece(paired, 0, (n - 1) // 2, 1)
    between = add(_scaled(_piece(a, 2, (n - 1) // 2, 2), ahead), _piece(b, 2, (n - 1) // 2, 2))
    return _interleaved(concatenate([_piece(b, 0, 1, 1), between], b.ndim - 1), paired)


def _interleaved(even: Node, odd: Node) -> Node:
    """Elements of two arrays in turn; ``even`` may have one more."""
    pairs = odd.shape[-1]
    unit = (*odd.shape, 1)
    both = concatenate([reshape(_piece(even, 0, pairs, 1), unit), reshape(odd, unit)], len(unit) - 1)
    made = reshape(both, (*odd.shape[:-1], 2 * pairs))
    if even.shape[-1] == pairs:
        return made
    return concatenate([made, _piece(even, pairs, 1, 1)], odd.ndim - 1)


class Search(Primitive):
    """An integer-valued function of an array, without a derivative; ``params = (axis,)``."""

    parameters = "[axis={}]"

    def __init__(self, name: str, function: Callable[..., np.ndarray], keeps_axis: bool) -> None:
        self.name = name
        self.function = function
        self.keeps_axis = keeps_axis

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        shape = operands[0].shape
        (axis,) = params
        return shape if self.keeps_axis else shape[:axis] + shape[axis + 1 :], np.dtype(np.intp), False

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        return emit(self, operands, (node.params[0] + 1,))

    def evaluate(self, params: Params, *values: Any) -> Any:
        return self.function(values[0], axis=params[0])


class SearchSorted(Primitive):
    """``np.searchsorted(knots, values)``, without a derivative; ``params = (side,)``."""

    name = "searchsorted"
    parameters = "[{}]"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return operands[1].shape, np.dtype(np.intp), False

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        if not batched[0]:
            return emit(self, operands, node.params)
        knots, values = over.complete(operands, batched)
        return _counted(knots, values, node.params[0], over.size)

    def evaluate(self, params: Params, *values: Any) -> Any:
        return np.searchsorted(*values, side=params[0])


def _counted(knots: Node, values: Node, side: str, size: Dim) -> Node:
    """Where ``values`` belong among the sorted ``knots`` of the same example: the number of knots on their left.

    NaN is sorted behind everything, as NumPy has it.
    """
    each = reshape(values, (*values.shape, 1))
    row = reshape(knots, (size, *(1,) * (values.ndim - 1), knots.shape[-1]))
    if side == "left":
        left = logical_or(less(row, each), logical_and(isnan(each), logical_not(isnan(row))))
    else:
        left = logical_not(logical_or(less(each, row), logical_and(isnan(row), logical_not(isnan(each)))))
    labels = tuple(range(left.ndim))
    return contract([cast(left, np.dtype(np.intp))], [labels], labels[:-1], left.shape, "sum")


MAX, MIN = Extremum("max", np.maximum), Extremum("min", np.minimum)
PROD = Product("prod", np.multiply)
CUMSUM, CUMPROD = CumulativeSum("cumsum", np.cumsum), CumulativeProduct("cumprod", np.cumprod)
SEARCHSORTED = SearchSorted()
ARGMAX, ARGMIN = Search("argmax", np.argmax, False), Search("argmin", np.argmin, False)
ARGSORT = Search("argsort", lambda x, axis: np.argsort(x, axis, kind="stable"), True)


def cumulative_sum(x: Node, axis: int, reverse: bool = False) -> Node:
    """Running sums along ``axis``; of an array from its end, the other way, so that ``y[::-1]`` needs none."""
    if x.primitive is SLICE and turns_round(x.params[0], x.operands[0].shape) and x.params[0][axis][2] == -1:
        return take_slice(emit(CUMSUM, x.operands, (axis, not reverse)), x.params[0])
    return emit(CUMSUM, (x,), (axis, reverse))
