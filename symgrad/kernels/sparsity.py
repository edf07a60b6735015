"""Sparsity: which entries of a Jacobian may be other than zero, as a value to look at and to ask."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import MissingPart

_MAX_SHOWN = 24
#: squares along a side of a picture, and its width
_MAX_SQUARES, _PIXELS = 120, 240


def new_axes(caller: str) -> Any:
    """The axes of a new figure, which a notebook shows at the end of the cell."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingPart(f"{caller} draws with matplotlib: pip install 'symgrad[notebook]'") from None
    return plt.subplots()[1]


class Sparsity:
    """The pattern of a matrix: ``shape``, and the ``rows`` and ``columns`` of its entries in row order.

    An entry outside is zero for all values of the inputs. Printed, it is a picture where it is small.

    >>> import numpy as np, symgrad
    >>> pattern = symgrad.jacobian(lambda x: x[1:] - x[:-1]).sparsity(np.ones(4))
    >>> pattern
    Sparsity of shape (3, 4): 6 entries, 50%, banded (0 below the diagonal, 1 above)
    >>> print(pattern)
    ■■··
    ·■■·
    ··■■
    """

    def __init__(self, shape: tuple[int, int], rows: np.ndarray, columns: np.ndarray) -> None:
        self.shape = shape
        self.rows = rows
        self.columns = columns

    @property
    def nnz(self) -> int:
        """The number of entries."""
        return len(self.rows)

    @property
    def density(self) -> float:
        """The share of all entries, 0 to 1."""
        return self.nnz / max(self.shape[0] * self.shape[1], 1)

    @property
    def bandwidths(self) -> tuple[int, int]:
        """How far entries lie below and above the diagonal."""
        if not self.nnz:
            return (0, 0)
        ahead = self.columns - self.rows
        return max(int(-ahead.min()), 0), max(int(ahead.max()), 0)

    def toarray(self) -> np.ndarray:
        """The pattern as a dense array of truth values."""
        dense = np.zeros(self.shape, bool)
        dense[self.rows, self.columns] = True
        return dense

    @property
    def kind(self) -> str:
        """What a person would call it: empty, diagonal, tridiagonal, banded, dense or sparse."""
        below, above = self.bandwidths
        if not self.nnz:
            return "empty"
        if self.density == 1:
            return "dense"
        if (below, above) == (0, 0):
            return "diagonal"
        if (below, above) == (1, 1):
            return "tridiagonal"
        if below + above < max(self.shape) / 2:
            return f"banded ({below} below the diagonal, {above} above)"
        return "sparse"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sparsity):
            return NotImplemented
        own, theirs = (self.rows, self.columns), (other.rows, other.columns)
        return self.shape == other.shape and all(map(np.array_equal, own, theirs))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        share = f"{100 * self.density:.3g}%"
        return f"Sparsity of shape {self.shape}: {self.nnz} entries, {share}, {self.kind}"

    def _repr_html_(self) -> str:
        """The pattern as a picture, in the colour of the text; of a large one a square stands for several entries."""
        scale = max(1.0, max(self.shape) / _MAX_SQUARES)
        height, width = (max(1, int(np.ceil(n / scale))) for n in self.shape)
        squares = np.unique(np.stack([self.rows / scale, self.columns / scale]).astype(int), axis=1)
        path = "".join(f"M{column} {row}h1v1h-1z" for row, column in squares.T)
        return (
            f'<svg viewBox="0 0 {width} {height}" width="{max(12, _PIXELS * width // max(width, height))}" '
            'style="outline:1px solid;outline-color:color-mix(in srgb, currentColor 40%, transparent)">'
            f'<path d="{path}" fill="currentColor"/></svg><br><small>{self!r}</small>'
        )

    def spy(self, axes: Any = None) -> Any:
        """Draw the pattern with matplotlib, on ``axes`` or a new figure; gives the axes.

        Raises MissingPart where there is no matplotlib.

        >>> import numpy as np, symgrad
        >>> axes = symgrad.hessian(lambda x: np.sum(x[1:] * x[:-1])).sparsity(np.ones(9)).spy()
        >>> axes.get_title()
        'Sparsity of shape (9, 9): 16 entries, 19.8%, tridiagonal'
        """
        axes = new_axes("spy") if axes is None else axes
        rows, columns = self.shape
        side = max(0.5, 200 / max(rows, columns, 1))
        axes.plot(self.columns, self.rows, linestyle="none", marker="s", markersize=side, color="C0")
        axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5), aspect="equal", title=repr(self))
        axes.xaxis.tick_top()
        return axes

    def __str__(self) -> str:
        if max(self.shape) > _MAX_SHOWN:
            return repr(self)
        return "\n".join("".join("■" if e else "·" for e in row) for row in self.toarray())
