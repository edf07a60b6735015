"""``scipy.sparse`` in traced functions: matrices as constants and as arguments, whose entries are differentiated by.

A matrix is its entries, with the row and the column of each: products gather by column, multiply, and add by row, so
they cost what the entries cost, and the zeros of Jacobians are known.
"""

from __future__ import annotations

import abc
import functools
import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..errors import ArgumentTypeError, ShapeError
from ..primitives.selection import SCATTER, gather
from ..primitives.shaping import reshape
from ..program.node import emit
from .dispatch import DEFERRED
from .local_array import LocalArray, looking_into
from .making import array_of
from .sparse_formats import IN_ORDER, SparseEntries, refuse
from .sparse_places import arrays_of_places, entries_of, matrix_of, meeting, scipy_sparse
from .trace import as_node, running
from .tracer import Tracer, traced, view


class SparseTracer(SparseEntries):
    """A sparse matrix in a traced function."""

    __array_ufunc__ = None  # NumPy leaves the operators to this class

    def summed(self) -> SparseTracer:
        """The same matrix, of entries that do not meet."""
        places, own = np.unique(self._places(), return_inverse=True)
        if places.size == own.size:
            return self
        row, col = np.divmod(places, self.shape[1])
        return SparseTracer(self.kind, _added(self.entries, own, places.size), row, col, self.shape, False)

    def _in_order(self) -> None:
        by_row = self.format == "csr"
        outer, inner = map(np.asarray, (self.row, self.col) if by_row else (self.col, self.row))
        size = self.shape[1] if by_row else self.shape[0]
        places, own = np.unique(outer * size + inner, return_inverse=True)
        self.entries = _added(self.entries, own, places.size)
        outer, inner = np.divmod(places, size)
        self.row, self.col = (outer, inner) if by_row else (inner, outer)
        self.is_ordered, self.is_made_of_coo = True, False

    def _places(self) -> np.ndarray:
        """Where the entries are in the dense array, row by row; guarded where the matrix is an argument."""
        return np.asarray(self.row) * self.shape[1] + np.asarray(self.col)

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
        return self._joined(other, "matmul", pairs, row, col, (self.shape[0], other.shape[1]))

    def _joined(
        self, other: SparseTracer, of: str, pairs: Any, row: Any, col: Any, shape: tuple[int, int]
    ) -> SparseTracer:
        """The products of these pairs of entries of both, each at its row and column."""
        mine, theirs = (Tracer(as_node(m.entries))[k] for m, k in zip((self, other), pairs, strict=True))
        return SparseTracer(kind_of(of, self.kind, other.kind), mine * theirs, row, col, shape, False).summed()

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
        row, col = np.asarray(self.row)[first], np.asarray(self.col)[first]
        return self._joined(other, "multiply", pairs, row, col, self.shape)

    def __imul__(self, other: Any) -> SparseTracer:
        if np.ndim(other) or is_sparse(other):
            return self * other
        if type(self.entries) is Tracer and self.entries._root is not None and not self.is_ordered:
            refuse(f"{self.kind.__name__} *= x where it looks into an array", "Write A = A * x")
        self.entries *= other
        return self

    def __itruediv__(self, other: Any) -> SparseTracer:
        return self / other if np.ndim(other) or is_sparse(other) else self.__imul__(1 / other)

    def __truediv__(self, other: Any) -> SparseTracer:
        if is_sparse(other):
            refuse("a quotient of sparse matrices", "Divide dense arrays (toarray())")
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
            return SparseTracer(kind_of("add", self.kind, right.kind), data, row, col, self.shape, False)
        x = _dense(other)
        if x.ndim == 0:
            refuse("a number added to a sparse matrix", "Add it to A.toarray()")
        self._needs_array("+ with a dense array", "A.toarray() + x")
        return self.toarray() + x

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + (-stand_in(other) if is_sparse(other) else -_dense(other))

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    # the rest

    def _needs_fit(self, other: SparseTracer, fits: bool) -> None:
        if not fits:
            raise ShapeError.here(f"sparse matrices of shapes {self.shape} and {other.shape} do not fit")

    def _needs_array(self, what: str, instead: str) -> None:
        """Refuse what a sparse matrix gives as an ``np.matrix``, and a sparse array as an array."""
        if not self._is_array:
            refuse(
                f"{self.kind.__name__}: {what}, which gives an np.matrix,", f"Write {instead}, or use a sparse array"
            )

    def __abs__(self) -> SparseTracer:
        return self._mapped(np.abs)

    def power(self, n: Any, dtype: Any = None) -> SparseTracer:
        return self._mapped(lambda entries: entries**n)

    def _mapped(self, function: Callable[[Any], Any]) -> SparseTracer:
        """A function of each element, which keeps zeros."""
        matrix = self.summed()
        return matrix._with(function(Tracer(as_node(matrix.entries))))

    def __getattr__(self, name: str) -> Any:
        if name in _ELEMENTWISE:
            is_same = name.startswith("conj") and self.dtype.kind != "c"
            return lambda copy=True: self if is_same and not copy else self._mapped(getattr(np, name))
        is_scipys = name in _OWN or (not name.startswith("_") and hasattr(self.kind, name))
        if not is_scipys:
            raise AttributeError(f"{self.kind.__name__!r} object has no attribute {name!r}")
        refuse(f"{self.kind.__name__}.{name}", "Write it with @, multiply, sums and data, or with A.toarray()")

    def __getitem__(self, index: Any) -> Any:
        return moved(lambda matrix: matrix[index], self, f"this index into a {self.kind.__name__}")

    def __copy__(self) -> SparseTracer:
        return self._with(self.entries)  # which Python copies as any object, attribute by attribute

    def __deepcopy__(self, memo: Any) -> SparseTracer:
        return self.copy()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._write(lambda matrix, part: operator.setitem(matrix, index, part), value)

    def setdiag(self, values: Any, k: int = 0) -> None:
        self._write(lambda matrix, part: matrix.setdiag(part, k), values)

    def _write(self, write: Callable[[Any, Any], None], value: Any) -> None:
        def put(parts: list[Any]) -> Any:
            matrix = parts[0].tolil()
            write(matrix, parts[1])
            return matrix.asformat(self.format)

        made = moved(put, [self, value], f"this write into a {self.kind.__name__}")
        before, after = self._places(), made._places()
        if self.format in ("csr", "csc") and np.array_equal(np.sort(before), np.sort(after)):
            self.entries = traced(self.entries)
            self.entries[np.argsort(before)] = made.entries[np.argsort(after)]  # in the array that others look into
        else:
            self.entries, self.row, self.col = made.entries, made.row, made.col
            self.is_ordered = self.is_made_of_coo = False

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        refuse(f"a {self.kind.__name__} as an array", "Write A.toarray()")

    def __pow__(self, other: Any) -> SparseTracer:
        if self._is_array:
            return self.power(other)
        if type(other) is not int or other < 1:
            refuse(f"this power of a {self.kind.__name__}", "Write powers of A.toarray()")
        return functools.reduce(operator.matmul, [self] * other)

    def __rtruediv__(self, other: Any) -> NoReturn:
        refuse(f"a quotient by a {self.kind.__name__}", "Write x / A.toarray()")

    def __len__(self) -> NoReturn:
        raise ArgumentTypeError.here("sparse matrix length is ambiguous; use A.shape[0] or A.nnz")

    def __repr__(self) -> str:
        return f"SparseTracer({self.kind.__name__}, shape={self.shape}, entries={self.row.shape[0]})"


class SparseArrayTracer(abc.ABC, SparseTracer):
    """What a sparse array of scipy becomes, under all its names, when a traced value is written into it."""


@functools.cache
def kind_of(operation: str, left: type, right: type) -> type:
    """The class that an operation of scipy gives of matrices of two classes."""
    one, other = (kind(np.ones((1, 1))) for kind in (left, right))
    made = one.multiply(other) if operation == "multiply" else getattr(operator, operation)(one, other)
    return type(made)


_STAND_INS = frozenset((SparseTracer, SparseArrayTracer))
DEFERRED.update(_STAND_INS)


def is_stand_in(value: Any) -> bool:
    """Whether it is a sparse matrix in a traced function."""
    return type(value) in _STAND_INS


#: methods that are the function of NumPy of each element
_ELEMENTWISE = frozenset(
    (
        *("arcsin", "arcsinh", "arctan", "arctanh", "ceil", "conj", "conjugate", "deg2rad", "expm1", "floor", "log1p"),
        *("rad2deg", "rint", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
    )
)
#: what scipy's own code takes of a matrix, beside its public methods
_OWN = ("coords", "offsets", "blocksize", "rows", "_shape", "_asfptype")


def _added(values: Any, place: Any, size: int) -> Tracer:
    """Zeros of ``size`` along the first axis, with the values added at their places."""
    return Tracer(emit(SCATTER, (as_node(values), as_node(place)), (0, size)))


def _dense(value: Any) -> Tracer:
    return value if type(value) is Tracer else Tracer(running().constant(np.asarray(value)))


def is_sparse(value: Any) -> bool:
    return is_stand_in(value) or scipy_sparse().issparse(value)


# as constants


def stand_in(matrix: Any) -> SparseTracer:
    """What stands for a matrix of scipy in the running trace: the same one as long as nothing is written to it."""
    if is_stand_in(matrix):
        return matrix
    known = running().sparse
    array, local = getattr(matrix, "data", None), running().locals
    if local is not None and type(array) is np.ndarray and local.knows(array) and LocalArray.of(array).is_traced:
        return of_arrays(type(matrix), LocalArray.of(array), arrays_of_places(matrix), {"shape": matrix.shape})
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


def of_arrays(kind: type, values: Any, places: list[Any], size: dict[str, Any]) -> SparseTracer:
    """What a class of scipy makes of an array of entries and of arrays of places: it looks into the entries."""
    numbers = np.arange(np.size(values), dtype=float).reshape(np.shape(values)) + 1
    made = kind((numbers, *places), **size)
    found, row, col = entries_of(made)
    is_ordered, entries = kind.__name__[:3] in IN_ORDER and np.array_equal(found, numbers), looking_into(values)
    if not is_ordered:
        chosen = running().constant(found.astype(int) - 1)
        entries = view(entries, lambda node: gather(reshape(node, (numbers.size,)), chosen, 0), certain=True)
    return SparseTracer(kind, entries, row, col, made.shape, is_ordered)


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
            refuse(f"{what}, of one dim,", "Write A[[i], :], which has two")
        (numbers, row, col), (further, *places) = entries_of(made), entries_of(again)
        if np.all(further - numbers == whole.size) and all(map(np.array_equal, (row, col), places)):
            return SparseTracer(type(made), whole[numbers.astype(int) - 1], row, col, made.shape, False)
    elif type(made) is not np.matrix:
        is_entry = np.equal(np.subtract(again, made), whole.size)
        return np.where(is_entry, whole[np.where(is_entry, made, 1).astype(int) - 1], 0)
    refuse(what, "Take it of A.toarray()")


def _each(give: Callable[[Any], Any], value: Any) -> Any:
    """What ``give`` makes of each part of nested lists; None stays, an empty block."""
    if isinstance(value, (list, tuple)):
        return [_each(give, v) for v in value]
    return None if value is None else give(value)
