"""Sparsity: which entries of a Jacobian may be other than zero, as a value to look at and to ask."""

from __future__ import annotations

import numpy as np

_MAX_SHOWN = 24


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

    def __str__(self) -> str:
        if max(self.shape) > _MAX_SHOWN:
            return repr(self)
        return "\n".join("".join("■" if e else "·" for e in row) for row in self.toarray())
