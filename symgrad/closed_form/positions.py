"""Positions in flattened arrays, read as the indices that they are made of: ``⌊(i n + j) / n⌋`` is ``i``.

A position is a sum of whole multiples of indices, each of which runs from 0 up to its size. It is split where the
part that the stride does not divide is shown to be smaller than the stride; elsewhere floor and remainder stay.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import sympy

Sizes = Mapping[Any, Any]
#: terms that a position may have to be read; more are left to floor and remainder
_MAX_TERMS = 12


def flattened(index: Sequence[Any], shape: Sequence[Any]) -> Any:
    """The position of ``index`` in an array of ``shape``, row by row.

    >>> p = sympy.Symbol("p", integer=True, nonnegative=True)
    >>> flattened([sympy.floor(p / 3), sympy.Mod(p, 3)], [4, 3])
    p
    """
    position: Any = sympy.Integer(0)
    for i, d in zip(index, shape, strict=True):
        position = joined(position * d + i)
    return position


def joined(position: Any) -> Any:
    """A sum in which ``d ⌊p / d⌋ + p mod d`` is ``p``."""
    terms: Any = sympy.Add.make_args(position)
    for term in terms if len(terms) <= _MAX_TERMS else ():
        if isinstance(term, sympy.Mod):
            whole: Any = term.args[0]
            d: Any = term.args[1]
            multiple = d * sympy.floor(whole / d)
            if multiple in terms:
                return position - term - multiple + whole
    return position


def reshaped(index: Sequence[Any], shape: Sequence[Any], wanted: Sequence[Any], sizes: Sizes) -> tuple[Any, ...]:
    """Where the element at ``index`` of an array of ``shape`` is when the array is reshaped to ``wanted``.

    >>> i, j = sympy.symbols("i j", integer=True, nonnegative=True)
    >>> reshaped([i, j], (6, 5), (2, 3, 5), {i: 6, j: 5})
    (floor(i/3), Mod(i, 3), j)
    """
    made: list[Any] = []
    first = before = 0
    for last, after in _common(shape, wanted):  # groups of axes that hold the same elements
        own = flattened(index[first:last], shape[first:last])
        made += unflattened(own, wanted[before:after], sizes)
        first, before = last, after
    return tuple(made)


def _common(shape: Sequence[Any], other: Sequence[Any]) -> list[tuple[int, int]]:
    """How many leading axes of each hold as many elements, from group to group; the last group ends both."""
    ends, before = [], 0
    products = [_product(other[:k]) for k in range(len(other) + 1)]
    for k in range(1, len(shape)):
        product = _product(shape[:k])
        at = next((m for m in range(before + 1, len(other)) if products[m] == product), None)
        if at is not None:
            ends.append((k, at))
            before = at
    return [*ends, (len(shape), len(other))]


def _product(shape: Sequence[Any]) -> Any:
    return sympy.expand(math.prod(shape))


def unflattened(position: Any, shape: Sequence[Any], sizes: Sizes) -> tuple[Any, ...]:
    """The index in an array of ``shape`` that has this position.

    >>> i, j = sympy.symbols("i j", integer=True, nonnegative=True)
    >>> unflattened(4 * i + j, (3, 2, 2), {i: 3, j: 2})
    (i, 0, j)
    >>> unflattened(4 * i + j, (3, 2, 2), {i: 3, j: 4})
    (i, floor(j/2), Mod(j, 2))
    """
    index = []
    rest = position
    for axis, d in enumerate(shape):
        stride = math.prod(shape[axis + 1 :])
        fits = _within(rest, d * stride, sizes)
        quotient, rest = divided(rest, stride, sizes) or (sympy.floor(rest / stride), rest)
        index.append(quotient if fits else sympy.Mod(quotient, d))
    return tuple(index)


def divided(position: Any, by: Any, sizes: Sizes) -> tuple[Any, Any] | None:
    """Quotient and remainder of a position, where they are indices; None where that is not known.

    >>> i, j, n = sympy.symbols("i j n", integer=True, nonnegative=True)
    >>> divided(i * n + j, n, {j: n}), divided(i * n + j, n, {j: n + 1})
    ((i, j), None)
    """
    by = sympy.sympify(by)
    if by == 1:
        return position, sympy.Integer(0)
    terms = sympy.Add.make_args(sympy.expand(position))
    if len(terms) > _MAX_TERMS or by == 0:
        return None
    shares = [(t, sympy.cancel(t / by)) for t in terms]
    whole = [share for _, share in shares if sympy.denom(share) == 1 and share.is_integer]
    rest = sympy.Add(*[t for t, share in shares if not (sympy.denom(share) == 1 and share.is_integer)])
    return (sympy.Add(*whole), rest) if _within(rest, by, sizes) else None


def same(position: Any, other: Any, sizes: Sizes) -> list[tuple[Any, Any]]:
    """What is equal to what where two positions are one: ``i = k`` and ``j = m``, where ``i n + j = k n + m``.

    >>> i, j, k, m, n = sympy.symbols("i j k m n", integer=True, nonnegative=True)
    >>> same(i * n + j, k * n + m, {i: 5, j: n, k: 5, m: n})
    [(i, k), (j, m)]
    """
    strides = [t.as_independent(*sizes, as_Add=False)[0] if sizes else t for t in sympy.Add.make_args(position)]
    for stride in sorted([s for s in strides if s != 1], key=sympy.default_sort_key, reverse=True):
        first, second = divided(position, stride, sizes), divided(other, stride, sizes)
        if first is not None and second is not None:
            rows = [] if first[0] == second[0] else [(first[0], second[0])]
            return [*rows, *same(first[1], second[1], sizes)]
    return [(position, other)]


def solved(
    pairs: Sequence[tuple[Any, Any]], indices: Sequence[Any], sizes: Sizes
) -> tuple[dict[Any, Any], list[tuple[Any, Any, Any]], list[tuple[Any, Any]]]:
    """Those of ``indices`` that equations give, the ranges that this leaves to others, and the equations that are left.

    >>> i, k, m = sympy.symbols("i k m", integer=True, nonnegative=True)
    >>> solved([(i, k)], [k], {i: 5, k: 5})
    ({k: i}, [], [])
    >>> solved([(i, k + m)], [k, m], {i: 8, k: 6, m: 3})
    ({k: i - m}, [(m, Max(0, i - 5), Min(2, i))], [])
    """
    given: dict[Any, Any] = {}
    ranges: list[tuple[Any, Any, Any]] = []
    left: list[tuple[Any, Any]] = []
    for n, (place, sum_of) in enumerate(pairs):
        own = [k for k in indices if sum_of.has(k)]
        others = [other for j, pair in enumerate(pairs) if j != n for other in pair]
        alone = not any(e.has(k) for e in others for k in own)
        if len(own) == 1 and sum_of == own[0] and _within(place, sizes[own[0]], sizes) and own[0] not in given:
            given[own[0]] = place
        elif len(own) == 2 and alone and not place.has(*own) and (by := _by_other(place, sum_of, own, sizes)):
            (k, value), bounds = by
            given[k] = value
            ranges.append(bounds)
        else:
            left.append((place, sum_of))
    return given, ranges, left


def _by_other(place: Any, sum_of: Any, own: Sequence[Any], sizes: Sizes) -> Any:
    """``k = place - s m`` and the range of ``m``, where ``k + s m`` is ``place``; None for another sum."""
    for k, m in (own, own[::-1]):
        step = sum_of.coeff(m)
        if sum_of == k + step * m and step.is_Integer and step > 0:
            low, high = place - sizes[k] + 1, place
            if step != 1:
                low, high = sympy.ceiling(low / step), sympy.floor(high / step)
            return (k, place - step * m), (m, sympy.Max(0, low), sympy.Min(sizes[m] - 1, high))
    return None


def _size(index: Any, sizes: Sizes) -> Any:
    """What an index, a remainder or a quotient of one stays below; None where that is not known."""
    if isinstance(index, sympy.Mod):
        return index.args[1] if index.args[1].is_positive else None
    if isinstance(index, sympy.floor):
        whole, by = sympy.fraction(sympy.together(index.args[0]))
        size = None if isinstance(whole, sympy.floor) else _size(whole, sizes)
        count = None if size is None else sympy.cancel(size / by)
        return count if count is not None and count.is_integer else None
    return sizes.get(index)


def _within(position: Any, size: Any, sizes: Sizes) -> bool:
    """Whether ``0 <= position < size`` for all indices within their sizes."""
    largest: Any = sympy.Integer(0)
    for term in sympy.Add.make_args(sympy.expand(position)):
        factor, indices = term.as_independent(*sizes, as_Add=False) if sizes else (term, sympy.Integer(1))
        if not (factor.is_integer and factor.is_nonnegative):
            return False
        if indices != 1:
            bound = _size(indices, sizes)
            if bound is None:
                return False
            factor = factor * (bound - 1)
        largest += factor
    return bool(sympy.expand(size - 1 - largest).is_nonnegative)


def turned(index: Any, shift: Any, size: Any, sizes: Sizes) -> Any:
    """The place ``shift`` from ``index``, counted around.

    >>> i = sympy.Symbol("i", integer=True)
    >>> turned(turned(i, 1, 5, {i: 5}), 2, 5, {i: 5}), turned(turned(i, 1, 5, {i: 5}), -1, 5, {i: 5})
    (Mod(i + 3, 5), i)
    """
    place = sympy.expand(index.args[0] + shift) if index.func is sympy.Mod and index.args[1] == size else index + shift
    if isinstance(size, int):
        number, rest = place.as_coeff_Add()
        place = rest + number % size
    return place if sizes.get(place) == size else sympy.Mod(place, size)


def around(index: Any) -> tuple[Any, Any]:
    """What stands before and behind ``mod``: one place back is ``i - 1``, and not ``i + 19``.

    >>> around(sympy.Mod(sympy.Symbol("i", integer=True) - 1, 20))
    (i - 1, 20)
    """
    place, size = index.args
    number, _ = place.as_coeff_Add()
    is_late = 2 * number > size if size.is_Integer else size in sympy.Add.make_args(place)
    return (place - size if is_late else place), size


def decided(element: Any, sizes: Sizes) -> Any:
    """``element`` without the conditions on indices that hold, or do not, wherever these run.

    >>> i, j = sympy.symbols("i j", integer=True, nonnegative=True)
    >>> decided(sympy.Piecewise((i, j - i <= 4), (0, True)), {i: 5, j: 5})
    i
    """
    known = {}
    for test in element.atoms(sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge):
        ends = _ends(test.gts - test.lts, sizes)
        if ends is not None:
            low, high = ends if isinstance(test, (sympy.Le, sympy.Ge)) else (ends[0] - 1, ends[1] - 1)
            known |= {test: sympy.true} if low >= 0 else {test: sympy.false} if high < 0 else {}
    return element.xreplace(known) if known else element


def _ends(linear: Any, sizes: Sizes) -> tuple[Any, Any] | None:
    """The least and the largest that a sum of multiples of indices may be; None for others, and for sizes by name."""
    low = high = linear.xreplace(dict.fromkeys(linear.free_symbols, sympy.Integer(0)))
    for index in linear.free_symbols:
        slope, size = linear.coeff(index), sizes.get(index)
        if not (slope.is_Integer and isinstance(size, (int, sympy.Integer))):
            return None
        low, high = low + min(slope * (size - 1), 0), high + max(slope * (size - 1), 0)
        linear = linear - slope * index
    return (low, high) if linear.is_Integer else None
