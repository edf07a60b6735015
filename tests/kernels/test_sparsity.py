"""Sparsity as a value: what it is called, its picture in a notebook, and its drawing."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from symgrad.kernels.sparsity import Sparsity


def of_entries(dense) -> Sparsity:
    dense = np.asarray(dense, bool)
    return Sparsity(dense.shape, *np.nonzero(dense))


def squares(pattern) -> set[tuple[int, int]]:
    """Row and column of each square of the picture."""
    path = ET.fromstring(pattern._repr_html_().partition("<br>")[0]).find("path").get("d")
    return {(int(row), int(column)) for column, row in re.findall(r"M(\d+) (\d+)h1v1h-1z", path)}


@pytest.mark.parametrize(
    ("dense", "kind"),
    [
        (np.zeros((3, 4)), "empty"),
        (np.zeros((0, 4)), "empty"),
        (np.ones((3, 4)), "dense"),
        (np.eye(5), "diagonal"),
        (np.eye(5, k=1) + np.eye(5, k=-1), "tridiagonal"),
        (np.eye(9) + np.eye(9, k=3), "banded (0 below the diagonal, 3 above)"),
        (np.eye(5)[::-1], "sparse"),
    ],
)
def test_kind(dense, kind):
    assert of_entries(dense).kind == kind


def test_the_picture_has_a_square_for_each_entry():
    dense = np.random.default_rng(0).random((7, 30)) < 0.3
    assert squares(of_entries(dense)) == set(zip(*np.nonzero(dense), strict=True))


@pytest.mark.parametrize("shape", [(1000, 1000), (3, 5000), (5000, 1)])
def test_the_picture_of_a_large_pattern_stays_small_and_inside(shape):
    pattern = of_entries(np.random.default_rng(1).random(shape) < 0.2)
    drawing = ET.fromstring(pattern._repr_html_().partition("<br>")[0])
    *_, width, height = map(int, drawing.get("viewBox").split())
    assert max(width, height) == 120
    shown = squares(pattern)
    assert all(row < height and column < width for row, column in shown)
    scale = max(shape) / 120
    reduced = {
        (int(row / scale), int(column / scale)) for row, column in zip(pattern.rows, pattern.columns, strict=True)
    }
    assert shown == reduced


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (4, 0)])
def test_the_picture_of_no_entries(shape):
    assert squares(of_entries(np.zeros(shape))) == set()


def test_spy_draws_the_entries_with_rows_downwards():
    pytest.importorskip("matplotlib")
    pattern = of_entries(np.eye(4, 6, k=2))
    axes = pattern.spy()
    (line,) = axes.lines
    assert list(zip(line.get_ydata(), line.get_xdata(), strict=True)) == [(0, 2), (1, 3), (2, 4), (3, 5)]
    assert axes.get_ylim() == (3.5, -0.5)
    assert axes.get_xlim() == (-0.5, 5.5)
    assert pattern.spy(axes) is axes
