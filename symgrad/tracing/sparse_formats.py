"""The entries of a sparse matrix in a traced function, and the formats of ``scipy.sparse`` that they are in."""

from __future__ import annotations

from typing import Any, NoReturn, Self

import numpy as np

from ..errors import UnsupportedOperation
from .local_array import looking_into
from .sparse_places import scipy_sparse
from .trace import as_node
from .tracer import Tracer

#: the formats that keep the array of entries that they are given, in its order
IN_ORDER = ("coo", "csr", "csc")


class SparseEntries:
    """The ``entries`` at ``row`` and ``col``, which add up where they meet.

    ``kind`` is the class of scipy that they stand for; ``is_ordered`` where scipy has the entries in this order. They
    look into the array that they were given in wherever scipy keeps that.
    """

    ndim = 2
    #: where a conversion of scipy has added up the entries that meet, row by row or column by column
    is_made_of_coo = False

    def __init__(
        self, kind: type, entries: Any, row: Any, col: Any, shape: tuple[int, int], is_ordered: bool = True
    ) -> None:
        self.kind = kind
        self.entries = entries
        self.row = row
        self.col = col
        self.shape = shape
        self.is_ordered = is_ordered

    @property
    def __class__(self) -> type:  # type: ignore[override]
        """What ``isinstance`` and ``scipy.sparse.issparse`` see."""
        return self.kind

    @property
    def _stands_for(self) -> type:
        return self.kind

    @property
    def _is_array(self) -> bool:
        return issubclass(self.kind, scipy_sparse().sparray)

    @property
    def dtype(self) -> np.dtype:
        return self.entries.dtype

    @property
    def data(self) -> Any:
        """The entries as scipy has them."""
        self._needs_order("data")
        return self.entries

    @data.setter
    def data(self, entries: Any) -> None:
        if entries is not self.data:  # as after A.data *= 2
            self.entries = looking_into(entries)

    @property
    def indices(self) -> np.ndarray:
        """The column of each entry, or the row in a matrix of columns."""
        self._needs_order("indices")
        return np.asarray(self.col if self.format == "csr" else self.row)

    @property
    def indptr(self) -> np.ndarray:
        """Where the entries of each row, or column, begin."""
        self._needs_order("indptr")
        outer, count = (self.row, self.shape[0]) if self.format == "csr" else (self.col, self.shape[1])
        return np.concatenate([[0], np.cumsum(np.bincount(np.asarray(outer), minlength=count))])

    @property
    def nnz(self) -> int:
        self._needs_order("nnz")
        return self.row.shape[0]

    @property
    def format(self) -> str:
        return self.kind.__name__[:3]

    @property
    def T(self) -> Self:
        return self.transpose()

    def transpose(self, axes: Any = None, copy: bool = False) -> Self:
        turned = {"csr": "csc", "csc": "csr"}.get(self.format, self.format)
        rows, columns = self.shape
        self._settle()
        made = type(self)(self._named(turned), self.entries, self.col, self.row, (columns, rows), self.is_ordered)
        return made.copy() if copy or self.format not in IN_ORDER else made

    def copy(self) -> Self:
        return self._with(Tracer(as_node(self.entries)))

    def _named(self, format: str) -> type:
        return getattr(scipy_sparse(), f"{format}_{'array' if self._is_array else 'matrix'}")

    def asformat(self, format: str | None, copy: bool = False) -> Self:
        if format is None or format == self.format:
            return self.copy() if copy else self
        return self.as_kind(self._named(format), copy)

    def as_kind(self, kind: type, copy: bool = False) -> Self:
        """The same entries as a matrix of another class of scipy, which copies them where it orders them anew."""
        self._settle()
        format = kind.__name__[:3]
        is_ordered = self.is_ordered and format in (self.format, "coo")
        made = type(self)(kind, self.entries, self.row, self.col, self.shape, is_ordered)
        is_kept = format == self.format or (format == "coo" and self.format in IN_ORDER)
        if is_kept and not copy:
            return made
        made = made.copy()
        made.is_made_of_coo = self.format == "coo" and format in ("csr", "csc")
        return made

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> Self:
        is_same = self.dtype == dtype and not copy
        return self if is_same else self._with(Tracer(as_node(self.entries)).astype(dtype))

    def tocsr(self, copy: bool = False) -> Self:
        return self.asformat("csr", copy)

    def tocsc(self, copy: bool = False) -> Self:
        return self.asformat("csc", copy)

    def tocoo(self, copy: bool | None = None) -> Self:
        return self.asformat("coo", self.format == "csc" if copy is None else copy)

    def tolil(self, copy: bool = False) -> Self:
        return self.asformat("lil", copy)

    def todok(self, copy: bool = False) -> Self:
        return self.asformat("dok", copy)

    def sum_duplicates(self) -> None:
        """Entries that meet count as their sum all the time."""

    sort_indices = sum_duplicates

    def eliminate_zeros(self) -> None:
        """How many entries there are then depends on their values, and is not told."""
        self.is_ordered = self.is_made_of_coo = False

    def _settle(self) -> None:
        """Have the entries in the order of scipy, those that meet added up, before others look into them."""
        if self.is_made_of_coo:
            self._in_order()

    def _in_order(self) -> None:
        raise NotImplementedError

    def _with(self, data: Any) -> Self:
        return type(self)(self.kind, data, self.row, self.col, self.shape, self.is_ordered)

    def _needs_order(self, what: str) -> None:
        self._settle()
        if not self.is_ordered or self.format not in IN_ORDER:
            refuse(f"{what} of a sparse matrix that was made in the function", "Take what you need of A.toarray()")


def refuse(what: str, instead: str) -> NoReturn:
    raise UnsupportedOperation.here(
        f"{what} has no derivative rule in symgrad. {instead}, or compute it outside the differentiated function "
        "and pass it in."
    )
