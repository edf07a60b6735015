"""Matrices of ``scipy.sparse`` as operands of traced values in followed code, and as arguments and results."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import containers, labelled_datasets
from .dispatch import refuse
from .labels import is_dataset_of_xarray, labels_of
from .local_array import LocalArray
from .memory import locals_of
from .sparse_matrices import SparseArrayTracer, SparseTracer, is_stand_in, stand_in
from .sparse_places import entries_of, matrix_of, scipy_sparse
from .trace import running
from .tracer import Tracer


def as_operand(value: Any) -> Any:
    """What stands beside a traced value for a matrix of ``scipy.sparse``, or for data with labels; others as is."""
    return stand_in(value) if is_matrix(value) else labelled_datasets.stand_in(value)


def is_operand(value: Any) -> bool:
    """Whether something else stands for it beside a traced value."""
    return is_matrix(value) or labels_of(type(value)) or is_dataset_of_xarray(type(value))


def is_matrix(value: Any) -> bool:
    """Whether it is a matrix of ``scipy.sparse``."""
    return "scipy.sparse" in sys.modules and type(value) in _classes()


def become_traced(value: Any) -> None:
    """Have a known matrix, Series or DataFrame be, under all its names, what stands for it."""
    made = as_operand(value)
    is_array = is_matrix(value) and isinstance(value, scipy_sparse().sparray)
    try:
        value.__class__ = SparseArrayTracer if is_array else type(made)
    except TypeError:  # Python lays out dicts and DataArrays otherwise
        instead = (
            "Write into a lil_matrix, or make the matrix of arrays: coo_array((entries, (rows, columns)))."
            if is_matrix(value)
            else "Write into xr.zeros_like(x), or make it of an array that is filled before: xr.DataArray(values, …)."
        )
        refuse(f"a traced value is written into a {type(value).__name__} of known values. {instead}")
    vars(value).clear()
    vars(value).update(vars(made))


def note_operand(made: Any) -> None:
    """Remember what a library has made in the function, and that it looks into an array of the function."""
    trace = running()
    trace.operands[id(made)] = made
    if trace.locals is None:
        return
    is_several = is_dataset_of_xarray(type(made))
    parts = [v.values for v in made.variables.values()] if is_several else [_values(made)]
    for array in parts:
        if type(array) is np.ndarray and locals_of(trace).knows(array):
            locals_of(trace).memory(array).holders.append(made)


def _values(made: Any) -> Any:
    """Where a matrix, a Series or a DataArray has its values; a DataFrame has them column by column."""
    if type(made).__name__ == "DataFrame":
        return None
    return getattr(made, "data" if is_matrix(made) else "values", None)


def entries_to_write(matrix: Any) -> Any:
    """The array of entries of a matrix, into which traced values may be written where the function has made it."""
    trace, array = running(), matrix.data
    if type(array) is not np.ndarray or id(matrix) not in trace.operands:
        return array
    if not locals_of(trace).knows(array):
        locals_of(trace).memory(array).holders.append(matrix)
    return LocalArray.of(array)


def _look_anew(holder: Any) -> None:
    """Have what looks into an array of the function become traced, where a traced value was written into that."""
    if is_stand_in(holder):
        return
    if not is_matrix(holder):
        kind = type(holder).__name__
        refuse(
            f"a traced value is written into an array that a {kind} looks into. Make the {kind} after the write, or of "
            "a copy()."
        )
    become_traced(holder)


LocalArray.held = staticmethod(_look_anew)


@functools.cache
def _classes() -> frozenset[type]:
    bases = scipy_sparse().spmatrix, scipy_sparse().sparray
    kinds = vars(scipy_sparse()).values()
    return frozenset(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, bases))


# as arguments


@dataclass(frozen=True)
class MatrixShape:
    """The shape of a sparse matrix, which belongs to the signature."""

    rows: int
    columns: int


def _container(kind: type) -> containers.Container | None:
    if kind in (SparseTracer, SparseArrayTracer):  # its structure is that of the class that it stands for
        return containers.Container(_parts, dict, _FIXED)
    if not kind.__module__.startswith("scipy.sparse") or kind not in _classes():
        return None
    return containers.Container(_parts, functools.partial(_of_parts, kind), _FIXED)


#: parts that say where the entries are
_FIXED = frozenset(("row", "col", "shape"))


def _parts(matrix: Any) -> dict[str, Any]:
    if is_stand_in(matrix):
        data, row, col = matrix.entries, matrix.row, matrix.col
    else:
        data, row, col = entries_of(matrix)
    return {"data": data, "row": row, "col": col, "shape": MatrixShape(*matrix.shape)}


def _of_parts(kind: type, parts: dict[str, Any]) -> Any:
    """A matrix; the entries alone where they are none, as the blocks of a Jacobian."""
    data, row, col, shape = parts["data"], parts["row"], parts["col"], parts["shape"]
    if isinstance(data, np.ndarray) and np.shape(data) != np.shape(row):
        return data
    size = (shape.rows, shape.columns) if isinstance(shape, MatrixShape) else shape
    if not all(isinstance(v, np.ndarray) and type(v) is not Tracer for v in (data, row, col)):
        return SparseTracer(kind, data, row, col, size)
    return matrix_of(kind, data, row, col, size)


containers.families.append(_container)
