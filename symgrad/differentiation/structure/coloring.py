"""Coloring: many columns of a sparse matrix through one product, where no two of a color share a row.

Curtis, Powell, Reid (1974) for columns and rows; star coloring for symmetric matrices, as Gebremedhin, Manne and
Pothen, "What color is your Jacobian?" (SIAM Review 2005), algorithm 4.1, greedy in order of degree.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np


def column_colors(pattern: Any) -> np.ndarray:
    """A color for each column of a ``csr_array``, such that columns of one color share no row."""
    by_column = pattern.T.tocsr()
    degrees = np.diff(by_column.indptr)
    colors = np.full(by_column.shape[0], -1)
    for j in np.argsort(-degrees, kind="stable"):
        rows = by_column.indices[by_column.indptr[j] : by_column.indptr[j + 1]]
        near = [pattern.indices[pattern.indptr[r] : pattern.indptr[r + 1]] for r in rows]
        colors[j] = _lowest(colors[np.concatenate(near)]) if near else 0
    return colors


def star_colors(pattern: Any) -> np.ndarray:
    """A color for each column of a symmetric pattern: neighbours differ, and no path of four has two colors."""
    starts, near = pattern.indptr, pattern.indices
    colors = np.full(pattern.shape[0], -1)
    neighbours = [near[a:b][near[a:b] != v] for v, (a, b) in enumerate(itertools.pairwise(starts))]
    for v in np.argsort(-np.diff(starts), kind="stable"):
        taken: set[int] = set()
        for w in neighbours[v]:
            others = [x for x in neighbours[w] if x != v and colors[x] >= 0]
            if colors[w] < 0:
                taken.update(int(colors[x]) for x in others)
                continue
            taken.add(int(colors[w]))
            taken.update(
                int(colors[x]) for x in others if any(y != w and colors[y] == colors[w] for y in neighbours[x])
            )
        colors[v] = _lowest(np.array(sorted(taken), dtype=int))
    return colors


def _lowest(taken: np.ndarray) -> int:
    """The lowest color that is not in ``taken``, which may hold -1 for none."""
    used = np.unique(taken[taken >= 0])
    free = np.flatnonzero(used != np.arange(len(used)))
    return int(free[0]) if len(free) else len(used)


def star_places(pattern: Any, colors: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows and columns of the entries, and where each stands in the compressed matrix: its row and color there.

    An entry (i, j) is alone in row i among the columns of j's color, or in row j among those of i's.
    """
    coo = pattern.tocoo()
    rows, columns = coo.coords
    count = int(colors.max()) + 1 if len(colors) else 1
    _, inverse, sharing = np.unique(rows * count + colors[columns], return_inverse=True, return_counts=True)
    alone = sharing[inverse] == 1
    return rows, columns, np.where(alone, rows, columns), np.where(alone, colors[columns], colors[rows])
