"""Colorings are valid, few where few suffice, and every entry can be read back."""

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st

from symgrad.differentiation.structure.coloring import column_colors, star_colors, star_places


def patterns(rows, columns):
    return st.lists(st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1)), max_size=40).map(
        lambda places: _pattern(places, (rows, columns))
    )


def _pattern(places, shape):
    dense = np.zeros(shape, bool)
    for place in places:
        dense[place] = True
    return sparse.csr_array(dense)


def tridiagonal(n):
    return sparse.csr_array(np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 1)


def arrow(n):
    dense = np.eye(n, dtype=bool)
    dense[0] = dense[:, 0] = True
    return sparse.csr_array(dense)


@given(patterns(7, 9))
def test_columns_of_one_color_share_no_row(pattern):
    colors = column_colors(pattern)
    dense = pattern.toarray()
    assert colors.min() >= 0
    for color in range(colors.max() + 1):
        assert dense[:, colors == color].sum(axis=1).max() <= 1


@given(patterns(8, 8))
def test_every_entry_of_a_symmetric_matrix_is_read_back_from_its_star_compression(pattern):
    dense = pattern.toarray() | pattern.toarray().T | np.eye(8, dtype=bool)
    rng = np.random.default_rng(0)
    matrix = np.where(dense, 1.0, 0.0) * rng.normal(size=dense.shape)
    matrix = matrix + matrix.T
    symmetric = sparse.csr_array(dense)
    colors = star_colors(symmetric)
    compressed = matrix @ np.eye(colors.max() + 1)[colors]
    rows, columns, place, color = star_places(symmetric, colors)
    np.testing.assert_array_equal(compressed[place, color], matrix[rows, columns])


@pytest.mark.parametrize(
    ("pattern", "color", "most"),
    [
        (tridiagonal(50), column_colors, 3),
        (tridiagonal(50), star_colors, 3),
        (arrow(50), star_colors, 2),  # a column coloring needs all 50
        (sparse.csr_array(np.eye(6, dtype=bool)), column_colors, 1),
    ],
)
def test_known_patterns_take_few_colors(pattern, color, most):
    assert color(pattern).max() + 1 == most


def test_no_columns_take_no_colors():
    assert len(column_colors(sparse.csr_array((3, 0), dtype=bool))) == 0
