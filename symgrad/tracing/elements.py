"""Elements: a number for each element of the traced values that were written somewhere in a trace.

An array that a function makes and fills is a plain array beside one of these numbers: moving elements is then NumPy's
own indexing of the numbers, and what was written is put together where the array is read as a whole.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

from ..primitives.contraction import transpose
from ..primitives.selection import concatenate
from ..primitives.shaping import reshape
from ..primitives.windows import steps_of
from ..program.node import Node
from .sorted_places import part_of, some_of
from .trace import running

#: what stands for an element that is known
KNOWN = -1
_FEW = 8  # pieces that are joined rather than picked from


class Elements:
    """The traced values of one trace by the numbers of their elements, each in row order."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._nodes: list[Node] = []
        self._first: dict[Node, int] = {}
        self._count = 0

    def numbers(self, node: Node) -> np.ndarray:
        """The numbers of the elements of ``node``, in its shape."""
        start = self._first.get(node)
        size = int(np.prod(node.shape, dtype=int))
        if start is None:
            start = self._first[node] = self._count
            self._starts.append(start)
            self._nodes.append(node)
            self._count += max(size, 1)
        return np.arange(start, start + size).reshape(node.shape)

    def element(self, number: Any) -> Node:
        """The element with this number."""
        place = bisect_right(self._starts, number) - 1
        node = self._nodes[place]
        if not node.shape:
            return node
        at = np.unravel_index(int(number) - self._starts[place], node.shape)
        return part_of(node, tuple(map(int, at)))

    def values(self, numbers: np.ndarray) -> list[Node]:
        """The traced values that elements with these numbers are of."""
        traced = numbers[numbers != KNOWN]
        return [self._nodes[k] for k in np.unique(np.searchsorted(self._starts, traced, side="right") - 1).tolist()]

    def assembled(self, numbers: np.ndarray, known: np.ndarray) -> Node:
        """The array of the elements with these numbers, and of ``known`` where they are ``KNOWN``."""
        flat, values = numbers.ravel(), known.ravel()
        piece = np.searchsorted(self._starts, flat, side="right") - 1
        piece[flat == KNOWN] = KNOWN
        if not flat.size or (piece == KNOWN).all():
            return running().constant(np.array(known))
        follows = (piece[1:] == piece[:-1]) & ((flat[1:] == flat[:-1] + 1) | (piece[1:] == KNOWN))
        starts = np.concatenate([[0], np.flatnonzero(~follows) + 1])
        pieces = np.unique(piece)
        is_one = len(pieces) == 1 < len(starts)
        part = _part(self._nodes[pieces[0]], numbers - self._starts[pieces[0]]) if is_one else None
        if part is not None:
            made = part
        elif len(starts) > _FEW and len(starts) > 2 * len(pieces):
            made = self._picked(flat, piece, pieces, values)
        else:
            ends = [*starts[1:].tolist(), flat.size]
            parts = [self._run(flat, piece, values, s, e) for s, e in zip(starts.tolist(), ends, strict=True)]
            made = parts[0] if len(parts) == 1 else concatenate([reshape(p, (_size(p),)) for p in parts], 0)
        return made if made.shape == numbers.shape else reshape(made, numbers.shape)

    def _run(self, flat: np.ndarray, piece: np.ndarray, values: np.ndarray, start: int, end: int) -> Node:
        """Elements that follow each other in one value."""
        if piece[start] == KNOWN:
            return running().constant(values[start:end].copy())
        node, first = self._nodes[piece[start]], int(flat[start]) - self._starts[piece[start]]
        if end - start == _size(node):
            return node
        of_one_row = _part(node, np.arange(first, first + end - start)) if node.ndim > 1 else None
        return part_of(reshape(node, (_size(node),)), ((first, end - start, 1),)) if of_one_row is None else of_one_row

    def _picked(self, flat: np.ndarray, piece: np.ndarray, pieces: np.ndarray, values: np.ndarray) -> Node:
        """Elements in any order, picked from their values one after the other."""
        index = np.empty(flat.shape, np.intp)
        parts, offset = [], 0
        for k in pieces.tolist():
            chosen = piece == k
            if k == KNOWN:
                part = running().constant(values[chosen])
                index[chosen] = offset + np.arange(part.shape[0])
            else:
                part = reshape(self._nodes[k], (_size(self._nodes[k]),))
                index[chosen] = offset + flat[chosen] - self._starts[k]
            parts.append(part)
            offset += part.shape[0]
        joined = parts[0] if len(parts) == 1 else concatenate(parts, 0)
        return some_of(joined, running().constant(index), 0)


def taken(node: Node, places: np.ndarray) -> Node:
    """The elements of ``node`` at flat ``places``."""
    if places.shape == node.shape and np.array_equal(places.ravel(), np.arange(places.size)):
        return node
    part = _part(node, places)
    return some_of(reshape(node, (_size(node),)), running().constant(places), 0) if part is None else part


def _part(node: Node, places: np.ndarray) -> Node | None:
    """The elements of ``node`` at flat ``places``, where they are a slice of it whose axes are permuted; else None."""
    steps = steps_of(places)
    if steps is None:
        return None
    strides = np.cumprod((1, *node.shape[:0:-1]))[::-1].tolist()
    spec: list[Any] = [int(k) for k in np.unravel_index(places.flat[0], node.shape)]
    axes = []
    for step, count in zip(steps, places.shape, strict=True):
        if count == 1:
            continue
        axis = next((k for k, s in enumerate(strides) if s <= abs(step)), None)
        if axis is None or step % strides[axis] or axis in axes:
            return None
        first, along = spec[axis], step // strides[axis]
        if not 0 <= first + along * (count - 1) < node.shape[axis]:
            return None
        spec[axis] = (first, count, along)
        axes.append(axis)
    made = part_of(node, tuple(spec))
    return reshape(transpose(made, [sorted(axes).index(k) for k in axes]), places.shape)


def _size(node: Node) -> int:
    return int(np.prod(node.shape, dtype=int))
