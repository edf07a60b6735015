"""Containers: cells that hold cells in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import ArgumentTypeError, mistakes
from .cell import Cell

__all__ = ["CellList", "SequentialCell"]


class _Ordered(Cell):
    """Cells in order, each an attribute named by its place."""

    def __init__(self, *cells: Any) -> None:
        super().__init__()
        given = cells[0] if len(cells) == 1 and not isinstance(cells[0], Cell) else cells
        self.extend(given)

    def append(self, cell: Cell) -> _Ordered:
        """Add a cell at the end; returns the container."""
        if not isinstance(cell, Cell):
            raise ArgumentTypeError(f"{type(self).__name__} holds Cells, got a {type(cell).__name__}.")
        setattr(self, str(len(self)), cell)
        return self

    def extend(self, cells: Any) -> _Ordered:
        """Add cells at the end; returns the container."""
        with mistakes(f"{type(self).__name__} takes Cells or a list of them"):
            given = list(cells)
        for cell in given:
            self.append(cell)
        return self

    def __len__(self) -> int:
        return len(self.name_cells())

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cells())

    def __getitem__(self, index: int | slice) -> Any:
        found = self.cells()[index]
        return type(self)(found) if isinstance(index, slice) else found

    def __setitem__(self, index: int, cell: Cell) -> None:
        if not isinstance(cell, Cell):
            raise ArgumentTypeError(f"{type(self).__name__} holds Cells, got a {type(cell).__name__}.")
        setattr(self, str(range(len(self))[index]), cell)


class SequentialCell(_Ordered):
    """Cells one after another: the output of each is the input of the next.

    ``SequentialCell(a, b)`` or ``SequentialCell([a, b])``; ``append``, ``len``, indexing and iteration work as for
    a list. Parameters are named by place: ``0.weight``. What is no Cell is an ArgumentTypeError.

    >>> import numpy as np
    >>> from symgrad import nn
    >>> net = nn.SequentialCell(nn.Dense(2, 3, activation="tanh"), nn.Dense(3, 1))
    >>> net(np.ones((4, 2), np.float32)).shape
    (4, 1)
    """

    def construct(self, x):
        for cell in self.cells():
            x = cell(x)
        return x


class CellList(_Ordered):
    """A list of cells whose Parameters the cell that holds it knows of; it is iterated over, not called.

    >>> from symgrad import nn
    >>> [p.name for p in nn.CellList([nn.Dense(1, 1, has_bias=False) for _ in range(2)]).get_parameters()]
    ['0.weight', '1.weight']
    """
