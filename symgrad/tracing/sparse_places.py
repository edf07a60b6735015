"""Where the entries of sparse matrices are, on plain arrays."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..errors import ShapeError


def scipy_sparse() -> Any:
    return sys.modules["scipy.sparse"]


def entries_of(matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The stored entries of a matrix of two dims in their order, with their rows and columns."""
    if matrix.ndim != 2:
        raise ShapeError.here(f"sparse arrays of {matrix.ndim} dims are not traced; reshape it to two")
    if matrix.format in ("csr", "csc"):
        lengths = np.diff(matrix.indptr)
        outer, inner = np.repeat(np.arange(lengths.size), lengths), matrix.indices[: matrix.indptr[-1]].astype(np.intp)
        row, col = (outer, inner) if matrix.format == "csr" else (inner, outer)
        return matrix.data[: inner.size], row, col
    coo = matrix.tocoo()
    return coo.data, coo.row.astype(np.intp), coo.col.astype(np.intp)


def arrays_of_places(matrix: Any) -> list[Any]:
    """What its class takes behind the array of its entries."""
    if matrix.format == "coo":
        return [(matrix.row, matrix.col)]
    return [matrix.offsets] if matrix.format == "dia" else [matrix.indices, matrix.indptr]


def matrix_of(kind: type, data: np.ndarray, row: np.ndarray, col: np.ndarray, shape: tuple[int, int]) -> Any:
    """The matrix of this class with these entries, in their order where they are in that of the class."""
    format = kind.__name__[:3]
    outer, inner = (row, col) if format == "csr" else (col, row)
    if format not in ("csr", "csc") or (np.diff(outer) < 0).any():
        coo = getattr(scipy_sparse(), f"coo_{kind.__name__.partition('_')[2]}")
        return coo((data, (row, col)), shape=shape).asformat(format)
    lengths = np.bincount(outer, minlength=shape[0] if format == "csr" else shape[1])
    return kind((data, inner, np.concatenate([[0], np.cumsum(lengths)])), shape=shape)


def meeting(keys: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of places at which two arrays have the same key, in the order of the first."""
    order = np.argsort(others, kind="stable")
    begin = np.searchsorted(others, keys, "left", order)
    counts = np.searchsorted(others, keys, "right", order) - begin
    first = np.repeat(np.arange(keys.size), counts)
    within = np.arange(first.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return first, order[np.repeat(begin, counts) + within]
