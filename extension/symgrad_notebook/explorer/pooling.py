"""Windows of a matrix brought down to a grid that fits on a screen: of the entries of a bin the largest shows.

An average or a nearest neighbour would lose a lone entry among zeros; the largest by magnitude never does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

#: what a cell holds, the more notable the higher: zero by structure, a number, −∞, ∞, NaN
ZERO, NUMBER, MINUS_INFINITY, INFINITY, NAN = range(5)


@dataclass(frozen=True)
class Window:
    """Rows ``top`` to ``bottom`` and columns ``left`` to ``right``, the ends left out."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def shape(self) -> tuple[int, int]:
        """The rows and columns in it."""
        return self.bottom - self.top, self.right - self.left

    @property
    def middle(self) -> tuple[int, int]:
        """The row and column in the middle."""
        return (self.top + self.bottom) // 2, (self.left + self.right) // 2

    def within(self, shape: tuple[int, int]) -> Window:
        """The part of it inside a matrix of this shape.

        >>> Window(-5, 3, 2, 99).within((10, 10))
        Window(top=0, bottom=3, left=2, right=10)
        """
        rows, columns = shape
        top, left = min(max(self.top, 0), rows), min(max(self.left, 0), columns)
        return Window(top, max(min(self.bottom, rows), top), left, max(min(self.right, columns), left))


@dataclass(frozen=True)
class Pooled:
    """For each bin the finite value of largest magnitude, with its sign, and the most notable mark."""

    values: np.ndarray
    marks: np.ndarray


def starts(count: int, bins: int) -> np.ndarray:
    """Where each of ``bins`` bins of ``count`` places begins, as even as whole numbers allow.

    >>> starts(10, 4)
    array([0, 2, 5, 7])
    """
    return np.arange(bins) * count // max(bins, 1)


def bin_of(places: np.ndarray, count: int, bins: int) -> np.ndarray:
    """The bin that each place is in.

    >>> bin_of(np.arange(10), 10, 4)
    array([0, 0, 1, 1, 1, 2, 2, 3, 3, 3])
    """
    return ((places.astype(np.int64) + 1) * bins - 1) // max(count, 1)


def marks_of(values: np.ndarray, pattern: np.ndarray | None) -> np.ndarray:
    """The mark of each value; ``pattern`` says which places are other than zero by structure, None that all are."""
    marks = np.full(values.shape, NUMBER, np.uint8)
    if pattern is not None:
        marks[~pattern] = ZERO
    if not np.isfinite(values).all():
        marks[np.isneginf(values)] = MINUS_INFINITY
        marks[np.isposinf(values)] = INFINITY
        marks[np.isnan(values)] = NAN
    return marks


class Entries:
    """The entries of a block that are held, with their marks; the others are zero by structure."""

    def __init__(self, values: np.ndarray, marks: np.ndarray, shape: tuple[int, int]) -> None:
        self.shape = shape
        self._values = values
        self._marks = marks
        #: the values that are held, 0 where they are not finite
        self.finite = values if marks.max(initial=ZERO) <= NUMBER else np.where(marks > NUMBER, 0, values)

    def count(self, mark: int) -> int:
        """How many entries have this mark."""
        absent = self.shape[0] * self.shape[1] - self._values.size if mark == ZERO else 0
        return int(np.count_nonzero(self._marks == mark)) + absent

    def first(self, mark: int) -> tuple[int, int] | None:
        """The first entry that is held with this mark, row by row."""
        at = np.flatnonzero(self._marks == mark)
        return self._place(int(at[0])) if len(at) else None

    def at(self, row: int, column: int) -> tuple[float, int]:
        """The value of one entry and its mark."""
        raise NotImplementedError

    def strongest(self, window: Window) -> tuple[int, int]:
        """The most notable entry of a window, by its mark, then by its magnitude; the middle where there is none."""
        raise NotImplementedError

    def pooled(self, window: Window, bins: tuple[int, int]) -> Pooled:
        """The window on a grid of ``bins`` rows and columns, no more than it has."""
        raise NotImplementedError

    def _place(self, k: int) -> tuple[int, int]:
        """Where the entry stands that is held in place ``k``."""
        raise NotImplementedError


class DenseEntries(Entries):
    """The entries of a block as an array; ``pattern`` as in ``marks_of``."""

    def __init__(self, values: np.ndarray, pattern: np.ndarray | None) -> None:
        super().__init__(values, marks_of(values, pattern), (values.shape[0], values.shape[1]))

    def at(self, row: int, column: int) -> tuple[float, int]:
        return float(self._values[row, column]), int(self._marks[row, column])

    def strongest(self, window: Window) -> tuple[int, int]:
        part = slice(window.top, window.bottom), slice(window.left, window.right)
        marks = self._marks[part]
        if not marks.any():
            return window.middle
        weight = np.where(marks == marks.max(), np.abs(self.finite[part]), -1)
        row, column = divmod(int(weight.argmax()), weight.shape[1])
        return window.top + row, window.left + column

    def pooled(self, window: Window, bins: tuple[int, int]) -> Pooled:
        part = slice(window.top, window.bottom), slice(window.left, window.right)
        values, marks = self.finite[part], self._marks[part]
        if not values.size or bins == values.shape:
            return Pooled(np.asarray(values, float), marks)
        highest = _reduced(np.maximum, values, bins)
        lowest = _reduced(np.minimum, values, bins)
        strongest = np.where(-lowest > highest, lowest, highest).astype(float)
        return Pooled(strongest, _reduced(np.maximum, marks, bins))

    def _place(self, k: int) -> tuple[int, int]:
        row, column = divmod(k, self.shape[1])
        return row, column


class SparseEntries(Entries):
    """The entries of a block as the three arrays of a CSR matrix; nothing of the size of the matrix is built."""

    def __init__(self, matrix: Any) -> None:
        super().__init__(matrix.data, marks_of(matrix.data, None), (int(matrix.shape[0]), int(matrix.shape[1])))
        self._indptr, self._columns = matrix.indptr, matrix.indices

    def at(self, row: int, column: int) -> tuple[float, int]:
        start, end = self._indptr[row], self._indptr[row + 1]
        k = start + np.searchsorted(self._columns[start:end], column)
        if k == end or self._columns[k] != column:
            return 0.0, ZERO
        return float(self._values[k]), int(self._marks[k])

    def strongest(self, window: Window) -> tuple[int, int]:
        start, _, columns, values, marks = self._rows(window)
        inside = np.flatnonzero((columns >= window.left) & (columns < window.right))
        if not len(inside):
            return window.middle
        notable = inside[marks[inside] == marks[inside].max()]
        return self._place(start + notable[np.abs(values[notable]).argmax()])

    def pooled(self, window: Window, bins: tuple[int, int]) -> Pooled:
        _, rows, columns, values, marks = self._rows(window)
        inside = (columns >= window.left) & (columns < window.right)
        if not inside.all():
            rows, columns, values, marks = rows[inside], columns[inside], values[inside], marks[inside]
        down, across = window.shape
        key = bin_of(rows, down, bins[0]) * bins[1] + bin_of(columns - window.left, across, bins[1])
        highest, lowest = np.zeros(bins[0] * bins[1]), np.zeros(bins[0] * bins[1])
        np.maximum.at(highest, key, values)
        np.minimum.at(lowest, key, values)
        found = np.zeros(bins[0] * bins[1], np.uint8)
        np.maximum.at(found, key, marks)
        return Pooled(np.where(-lowest > highest, lowest, highest).reshape(bins), found.reshape(bins))

    def _rows(self, window: Window) -> tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of the window's rows: where they start; of each entry there its row, column, finite value and mark."""
        start, end = int(self._indptr[window.top]), int(self._indptr[window.bottom])
        counts = np.diff(self._indptr[window.top : window.bottom + 1])
        rows = np.repeat(np.arange(len(counts)), counts)
        return start, rows, self._columns[start:end], self.finite[start:end], self._marks[start:end]

    def _place(self, k: int) -> tuple[int, int]:
        return int(np.searchsorted(self._indptr, k, side="right")) - 1, int(self._columns[k])


def _reduced(by: np.ufunc, values: np.ndarray, bins: tuple[int, int]) -> np.ndarray:
    for axis in (0, 1):
        if bins[axis] != values.shape[axis]:
            values = by.reduceat(values, starts(values.shape[axis], bins[axis]), axis=axis)
    return values
