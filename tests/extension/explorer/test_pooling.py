"""Pooling against brute force: what a bin shows is the most notable and the largest of what is in it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from symgrad_notebook.explorer.pooling import (
    INFINITY,
    MINUS_INFINITY,
    NAN,
    NUMBER,
    ZERO,
    DenseEntries,
    SparseEntries,
    Window,
    bin_of,
    starts,
)

sparse = pytest.importorskip("scipy.sparse")
VALUES = st.sampled_from([0.0, 1.0, -2.0, 3.5, -3.5, 1e-300, np.inf, -np.inf, np.nan])


@st.composite
def matrices(draw):
    """Values, the pattern (outside of which they are 0), a window and a grid."""
    rows, columns = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    count = rows * columns
    pattern = np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count))).reshape(rows, columns)
    values = np.array(draw(st.lists(VALUES, min_size=count, max_size=count))).reshape(rows, columns)
    top, left = draw(st.integers(0, rows - 1)), draw(st.integers(0, columns - 1))
    window = Window(top, draw(st.integers(top + 1, rows)), left, draw(st.integers(left + 1, columns)))
    bins = draw(st.integers(1, window.shape[0])), draw(st.integers(1, window.shape[1]))
    return np.where(pattern, values, 0.0), pattern, window, bins


def _both(values, pattern):
    rows, columns = np.nonzero(pattern)
    csr = sparse.csr_array((values[pattern], (rows, columns)), shape=values.shape)
    csr.sort_indices()
    return DenseEntries(values, pattern), SparseEntries(csr)


def _mark(value, is_there):
    if not is_there:
        return ZERO
    if np.isnan(value):
        return NAN
    if np.isinf(value):
        return INFINITY if value > 0 else MINUS_INFINITY
    return NUMBER


def _brute(values, pattern, window, bins):
    shown, marks = np.zeros(bins), np.zeros(bins, np.uint8)
    for i in range(window.top, window.bottom):
        for j in range(window.left, window.right):
            at = tuple(
                int(bin_of(np.array(k - first), n, b))
                for k, first, n, b in zip((i, j), (window.top, window.left), window.shape, bins, strict=True)
            )
            marks[at] = max(marks[at], _mark(values[i, j], pattern[i, j]))
            if np.isfinite(values[i, j]) and abs(values[i, j]) > abs(shown[at]):
                shown[at] = values[i, j]
    return shown, marks


@settings(max_examples=200)
@given(matrices())
def test_a_bin_shows_the_largest(made):
    values, pattern, window, bins = made
    expected, marks = _brute(values, pattern, window, bins)
    for entries in _both(values, pattern):
        found = entries.pooled(window, bins)
        np.testing.assert_array_equal(found.marks, marks)
        np.testing.assert_array_equal(np.abs(found.values), np.abs(expected))
        # of two of one magnitude either may show
        clear = ~np.isin(-expected, values)
        np.testing.assert_array_equal(found.values[clear], expected[clear])


@settings(max_examples=100)
@given(matrices())
def test_the_strongest_of_a_window(made):
    values, pattern, window, _ = made
    for entries in _both(values, pattern):
        row, column = entries.strongest(window)
        assert window.top <= row < window.bottom
        assert window.left <= column < window.right
        part = slice(window.top, window.bottom), slice(window.left, window.right)
        marks = [
            [_mark(v, p) for v, p in zip(*pair, strict=True)] for pair in zip(values[part], pattern[part], strict=True)
        ]
        value, mark = entries.at(row, column)
        assert mark == np.max(marks)
        if mark == NUMBER:
            assert abs(value) == np.abs(values[part][np.isfinite(values[part])]).max()
        if mark == ZERO:
            assert (row, column) == window.middle


@settings(max_examples=100)
@given(matrices())
def test_dense_and_sparse_say_the_same(made):
    values, pattern, _, _ = made
    dense, csr = _both(values, pattern)
    for mark in (ZERO, NUMBER, MINUS_INFINITY, INFINITY, NAN):
        assert dense.count(mark) == csr.count(mark)
        if mark != ZERO:
            assert dense.first(mark) == csr.first(mark)
    np.testing.assert_array_equal(*(np.sort(e.finite[e.finite != 0]) for e in (dense, csr)))
    for i, j in np.ndindex(values.shape):
        np.testing.assert_array_equal(dense.at(i, j), csr.at(i, j))


@given(st.integers(1, 5000), st.integers(1, 300))
def test_bins_are_even_and_none_is_empty(count, bins):
    bins = min(count, bins)
    first = starts(count, bins)
    sizes = np.diff([*first, count])
    assert sizes.min() >= 1
    assert sizes.max() - sizes.min() <= 1
    np.testing.assert_array_equal(bin_of(np.arange(count), count, bins), np.repeat(np.arange(bins), sizes))


def test_a_lone_entry_of_a_large_matrix_is_seen():
    values = np.zeros((1000, 1000))
    values[777, 333] = -1e-9
    entries = DenseEntries(values, values != 0)
    found = entries.pooled(Window(0, 1000, 0, 1000), (64, 64))
    assert np.argwhere(found.marks == NUMBER).tolist() == [[777 * 64 // 1000, 333 * 64 // 1000]]
    assert found.values.min() == -1e-9
