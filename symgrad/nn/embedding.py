"""Embedding: rows of a table by number."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops
from ..dtype import float32
from ..errors import ArgumentError
from ..tensor import Parameter
from .cell import Cell
from .initializers import initial

__all__ = ["Embedding"]


class Embedding(Cell):
    """The rows of ``embedding_table``, of shape ``(vocab_size, embedding_size)``, that integers name.

    The row ``padding_idx`` starts as zeros. ``use_one_hot`` computes a product with one-hot rows in place of a look-up:
    the same values.

    >>> Embedding(3, 2, embedding_table=[[0, 1], [2, 3], [4, 5]])(np.array([2, 0])).asnumpy()
    array([[4., 5.],
           [0., 1.]], dtype=float32)
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        use_one_hot: bool = False,
        embedding_table: Any = "normal",
        dtype: Any = float32,
        padding_idx: int | None = None,
    ) -> None:
        super().__init__()
        for what, size in (("vocab_size", vocab_size), ("embedding_size", embedding_size)):
            if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
                raise ArgumentError(f"Embedding: {what} must be a positive int, got {size!r}.")
        self.vocab_size, self.embedding_size = int(vocab_size), int(embedding_size)
        self.use_one_hot = use_one_hot
        table = initial(embedding_table, (self.vocab_size, self.embedding_size), dtype)
        if padding_idx is not None:
            if not 0 <= padding_idx < vocab_size:
                raise ArgumentError(f"Embedding: padding_idx must be a row of {vocab_size}, got {padding_idx!r}.")
            table[padding_idx] = 0
        self.padding_idx = padding_idx
        self.embedding_table = Parameter(table)

    def construct(self, ids):
        if self.use_one_hot:
            rows = ops.one_hot(ids, self.vocab_size, 1.0, 0.0).astype(self.embedding_table.dtype)
            return np.matmul(rows, self.embedding_table)
        return np.take(self.embedding_table, ids, axis=0)

    def extend_repr(self) -> str:
        return f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, use_one_hot={self.use_one_hot}"
