"""``scipy.sparse`` in traced functions: matrices as constants and as arguments, whose entries are differentiated by.

A matrix is its entries, with the row and the column of each: products gather by column, multiply, and add by row, so
they cost what the entries cost, and the zeros of Jacobians are known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import numpy as np

from ..errors import ArgumentTypeError, ShapeError, UnsupportedOperation
from ..primitives.selection import SCATTER, gather
from ..program.node import emit
from .dispatch import DEFERRED
from .making import array_of
from .sparse_places import entries_of, matrix_of, meeting, scipy_sparse
from .trace import as_node, running
from .tracer import Tracer


class SparseTracer:
    """A sparse matrix in a traced function: the ``entries`` at ``row`` and ``col``, which add up where they meet.

    ``kind`` is the class of scipy that it stands for; ``is_ordered`` where scipy has the entries in this order.
    """

    __array_ufunc__ = None  # NumPy leaves the operators to this class
    ndim = 2

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

    @property
    def nnz(self) -> int:
        self._needs_order("nnz")
        return self.row.shape[0]

    @property
    def format(self) -> str:
        return self.kind.__name__[:3]

    @property
    def T(self) -> SparseTracer:
        return self.transpose()

    def transpose(self, axes: Any = None, copy: bool = False) -> SparseTracer:
        turned = {"csr": "csc", "csc": "csr"}.get(self.format, self.format)
        rows, columns = self.shape
        return SparseTracer(self._named(turned), self.entries, self.col, self.row, (columns, rows), self.is_ordered)

    def copy(self) -> SparseTracer:
        return self._with(self.entries)

    def _named(self, format: str) -> type:
        return getattr(scipy_sparse(), f"{format}_{'array' if self._is_array else 'matrix'}")

    def asformat(self, format: str | None, copy: bool = False) -> SparseTracer:
        return self if format is None or format == self.format else self.as_kind(self._named(format))

    def as_kind(self, kind: type) -> SparseTracer:
        """The same entries as a matrix of another class of scipy."""
        is_ordered = self.is_ordered and kind.__name__[:3] in (self.format, "coo")
        return SparseTracer(kind, self.entries, self.row, self.col, self.shape, is_ordered)

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> SparseTracer:
        return self._with(Tracer(as_node(self.entries)).astype(dtype))

    def summed(self) -> SparseTracer:
        """The same matrix, of entries that do not meet."""
        places, own = np.unique(self._places(), return_inverse=True)
        if places.size == own.size:
            return self
        row, col = np.divmod(places, self.shape[1])
        return SparseTracer(self.kind, _added(self.entries, own, places.size), row, col, self.shape, False)

    def _places(self) -> np.ndarray:
        """Where the entries are in the dense array, row by row; guarded where the matrix is an argument."""
        return np.asarray(self.row) * self.shape[1] + np.asarray(self.col)

    def tocsr(self, copy: bool = False) -> SparseTracer:
        return self.asformat("csr")

    def tocsc(self, copy: bool = False) -> SparseTracer:
        return self.asformat("csc")

    def tocoo(self, copy: bool = False) -> SparseTracer:
        return self.asformat("coo")

    def toarray(self, order: Any = None, out: Any = None) -> Tracer:
        """The dense array, with all its zeros."""
        rows, columns = self.shape
        place = Tracer(as_node(self.row)) * columns + self.col
        return _added(self.entries, place, rows * columns).reshape(self.shape)

    def diagonal(self, k: int = 0) -> Any:
        """The entries whose column is ``k`` behind their row."""
        first = max(0, -k)
        size = max(0, min(self.shape[0] - first, self.shape[1] - max(0, k)))
        row = Tracer(as_node(self.row))
        on_it = np.equal(row + k, self.col)
        place = np.where(on_it, row - first, 0)
        return _added(np.where(on_it, self.entries, 0), place, size) if size else np.zeros(0, self.dtype)

    def sum(self, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        if axis is None:
            return np.sum(Tracer(as_node(self.entries)))
        self._needs_array("sum(axis)", "A @ np.ones(n)")
        own, size = (self.col, self.shape[1]) if axis in (0, -2) else (self.row, self.shape[0])
        return _added(self.entries, own, size)

    def mean(self, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        return self.sum(axis) / (self.shape[0] * self.shape[1] if axis is None else self.shape[axis])

    def __neg__(self) -> SparseTracer:
        return self._with(-Tracer(as_node(self.entries)))

    def __pos__(self) -> SparseTracer:
        return self

    # products

    def __matmul__(self, other: Any) -> Any:
        if is_sparse(other):
            return self._product(stand_in(other))
        x = _dense(other)
        if x.ndim not in (1, 2) or x.shape[0] != self.shape[1]:
            raise ShapeError.here(f"a sparse matrix of shape {self.shape} and shape {x.shape} do not fit")
        picked = gather(as_node(x), as_node(self.col), 0)
        data = Tracer(as_node(self.entries))
        return _added((data if x.ndim == 1 else data[:, None]) * Tracer(picked), self.row, self.shape[0])

    def _product(self, other: SparseTracer) -> SparseTracer:
        self._needs_fit(other, self.shape[1] == other.shape[0])
        first, second = pairs = meeting(np.asarray(self.col), np.asarray(other.row))
        row, col = np.asarray(self.row)[first], np.asarray(other.col)[second]
        return self._joined(other, pairs, row, col, (self.shape[0], other.shape[1]))

    def _joined(self, other: SparseTracer, pairs: Any, row: Any, col: Any, shape: tuple[int, int]) -> SparseTracer:
        """The products of these pairs of entries of both, each at its row and column."""
        mine, theirs = (Tracer(as_node(m.entries))[k] for m, k in zip((self, other), pairs, strict=True))
        kind = (other if other._is_array else self)._named("csr")
        return SparseTracer(kind, mine * theirs, row, col, shape, False).summed()

    def __rmatmul__(self, other: Any) -> Any:
        if is_sparse(other):
            return stand_in(other) @ self
        return (self.T @ _dense(other).T).T

    def dot(self, other: Any) -> Any:
        return self._scaled(other) if np.ndim(other) == 0 and not is_sparse(other) else self @ other

    def __mul__(self, other: Any) -> Any:
        return self.multiply(other) if self._is_array else self.dot(other)

    def __rmul__(self, other: Any) -> Any:
        if self._is_array or (np.ndim(other) == 0 and not is_sparse(other)):
            return self.multiply(other)
        return self.__rmatmul__(other)

    def multiply(self, other: Any) -> SparseTracer:
        """Element by element: where this matrix has no entry, zero."""
        if is_sparse(other):
            return self._multiplied(stand_in(other))
        x = _dense(other)
        rows, columns = self.shape
        if x.ndim == 0:
            return self._scaled(x)
        if x.shape == (rows, columns):
            x, place = x.reshape((rows * columns,)), Tracer(as_node(self.row)) * columns + self.col
        elif x.shape in ((columns,), (1, columns)):
            x, place = x.reshape((columns,)), self.col
        elif x.shape == (rows, 1):
            x, place = x.reshape((rows,)), self.row
        else:
            raise ShapeError.here(f"a sparse matrix of shape {self.shape} and shape {x.shape} do not fit")
        made = self._scaled(Tracer(gather(as_node(x), as_node(place), 0)))
        made.is_ordered = False
        return made

    def _multiplied(self, other: SparseTracer) -> SparseTracer:
        self._needs_fit(other, self.shape == other.shape)
        first, _ = pairs = meeting(self._places(), other._places())
        return self._joined(other, pairs, np.asarray(self.row)[first], np.asarray(self.col)[first], self.shape)

    def __truediv__(self, other: Any) -> SparseTracer:
        if is_sparse(other):
            _refuse("a quotient of sparse matrices", "Divide dense arrays (toarray())")
        return self.multiply(1 / _dense(other))

    def _scaled(self, factor: Any) -> SparseTracer:
        return self._with(Tracer(as_node(self.entries)) * factor)

    # sums

    def __add__(self, other: Any) -> Any:
        if is_sparse(other):
            right = stand_in(other)
            self._needs_fit(right, self.shape == right.shape)
            pairs = [(self.entries, right.entries), (self.row, right.row), (self.col, right.col)]
            data, row, col = (np.concatenate([Tracer(as_node(v)) for v in pair]) for pair in pairs)
            coo = self.asformat("coo").kind
            return SparseTracer(coo, data, row, col, self.shape, False)
        x = _dense(other)
        if x.ndim == 0:
            _refuse("a number added to a sparse matrix", "Add it to A.toarray()")
        self._needs_array("+ with a dense array", "A.toarray() + x")
        return self.toarray() + x

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + (-stand_in(other) if is_sparse(other) else -_dense(other))

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    # the rest

    def _with(self, data: Any) -> SparseTracer:
        return SparseTracer(self.kind, data, self.row, self.col, self.shape, self.is_ordered)

    def _needs_fit(self, other: SparseTracer, fits: bool) -> None:
        if not fits:
            raise ShapeError.here(f"sparse matrices of shapes {self.shape} and {other.shape} do not fit")

    def _needs_order(self, what: str) -> None:
        if not self.is_ordered or self.format not in ("coo", "csr", "csc"):
            _refuse(f"{what} of a sparse matrix that was made in the function", "Take what you need of A.toarray()")

    def _needs_array(self, what: str, instead: str) -> None:
        """Refuse what a sparse matrix gives as an ``np.matrix``, and a sparse array as an array."""
        if not self._is_array:
            _refuse(
                f"{self.kind.__name__}: {what}, which gives an np.matrix,", f"Write {instead}, or use a sparse array"
            )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not (name in _PLACES or hasattr(self.kind, name)):
            raise AttributeError(f"{self.kind.__name__!r} object has no attribute {name!r}")
        _refuse(f"{self.kind.__name__}.{name}", "Write it with @, multiply, sums and data, or with A.toarray()")

    def __getitem__(self, index: Any) -> Any:
        return moved(lambda matrix: matrix[index], self, f"this index into a {self.kind.__name__}")

    def __setitem__(self, index: Any, value: Any) -> None:
        def put(parts: list[Any]) -> Any:
            matrix = parts[0].tolil()
            matrix[index] = parts[1]
            return matrix.asformat(self.format)

        made = moved(put, [self, value], f"this write into a {self.kind.__name__}")
        self.entries, self.row, self.col, self.is_ordered = made.entries, made.row, made.col, False

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        _refuse(f"a {self.kind.__name__} as an array", "Write A.toarray()")

    def __pow__(self, other: Any) -> NoReturn:
        _refuse(f"a power of a {self.kind.__name__}", "Write A @ (A @ x), or powers of A.toarray()")

    def __rtruediv__(self, other: Any) -> NoReturn:
        _refuse(f"a quotient by a {self.kind.__name__}", "Write x / A.toarray()")

    def __len__(self) -> NoReturn:
        raise ArgumentTypeError.here("sparse matrix length is ambiguous; use A.shape[0] or A.nnz")

    def __repr__(self) -> str:
        return f"SparseTracer({self.kind.__name__}, shape={self.shape}, entries={self.row.shape[0]})"


DEFERRED.add(SparseTracer)


#: what instances of scipy's classes hold beside their entries
_PLACES = ("indptr", "indices", "coords", "offsets", "blocksize", "rows")


def _refuse(what: str, instead: str) -> NoReturn:
    raise UnsupportedOperation.here(
        f"{what} has no derivative rule in symgrad. {instead}, or compute it outside the differentiated function "
        "and pass it in."
    )


def _added(values: Any, place: Any, size: int) -> Tracer:
    """Zeros of ``size`` along the first axis, with the values added at their places."""
    return Tracer(emit(SCATTER, (as_node(values), as_node(place)), (0, size)))


def _dense(value: Any) -> Tracer:
    return value if type(value) is Tracer else Tracer(running().constant(np.asarray(value)))


def is_sparse(value: Any) -> bool:
    return type(value) is SparseTracer or scipy_sparse().issparse(value)


# as constants

_stand_ins: WeakKeyDictionary[Any, dict[int, tuple[Any, ...]]] = WeakKeyDictionary()


def stand_in(matrix: Any) -> SparseTracer:
    """What stands for a matrix of scipy in the running trace: the same one as long as nothing is written to it."""
    if type(matrix) is SparseTracer:
        return matrix
    known = _stand_ins.setdefault(running(), {})
    data, row, col = entries_of(matrix)
    found = known.get(id(matrix))
    if found is not None and all(map(np.array_equal, found[1], (data, row, col))):
        return found[2]
    kept = data, row, col = np.array(data), np.array(row), np.array(col)
    for array in kept:
        array.flags.writeable = False
    made = SparseTracer(type(matrix), data, row, col, matrix.shape)
    known[id(matrix)] = matrix, kept, made
    return made


def moved(make: Callable[[Any], Any], given: Any, what: str) -> Any:
    """What ``make``, which only moves elements, makes of a matrix, an array or a number, or of lists of them.

    It is done to the numbers of the elements, twice, and what comes of that says where each goes.
    """
    flat: list[Any] = []
    end = 1.0

    def numbered(part: Any) -> Callable[[float], Any]:
        nonlocal end
        matrix = stand_in(part).summed() if is_sparse(part) else None
        entries = np.ravel(Tracer(as_node(array_of(part if matrix is None else matrix.entries))))
        flat.append(entries)
        numbers = np.arange(end, end + entries.size)
        end += entries.size
        if matrix is None:
            return lambda by: numbers.reshape(np.shape(part)) + by
        row, col = map(np.asarray, (matrix.row, matrix.col))
        return lambda by: matrix_of(matrix.kind, numbers + by, row, col, matrix.shape)

    parts = _each(numbered, given)
    whole = np.concatenate(flat)
    made, again = (make(_each(lambda show, by=by: show(by), parts)) for by in (0.0, float(whole.size)))
    if scipy_sparse().issparse(made):
        if made.ndim != 2:
            _refuse(f"{what}, of one dim,", "Write A[[i], :], which has two")
        (numbers, row, col), (further, *places) = entries_of(made), entries_of(again)
        if np.all(further - numbers == whole.size) and all(map(np.array_equal, (row, col), places)):
            return SparseTracer(type(made), whole[numbers.astype(int) - 1], row, col, made.shape, False)
    elif type(made) is not np.matrix:
        is_entry = np.equal(np.subtract(again, made), whole.size)
        return np.where(is_entry, whole[np.where(is_entry, made, 1).astype(int) - 1], 0)
    _refuse(what, "Take it of A.toarray()")


def _each(give: Callable[[Any], Any], value: Any) -> Any:
    """What ``give`` makes of each part of nested lists; None stays, an empty block."""
    if isinstance(value, (list, tuple)):
        return [_each(give, v) for v in value]
    return None if value is None else give(value)
