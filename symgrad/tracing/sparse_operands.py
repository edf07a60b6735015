"""Matrices of ``scipy.sparse`` as operands of traced values in followed code, and as arguments and results."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import containers
from .dispatch import refuse
from .labelled import lifted
from .labels import labels_of
from .sparse_matrices import SparseTracer, stand_in
from .sparse_places import entries_of, matrix_of, scipy_sparse
from .tracer import Tracer


def as_operand(value: Any) -> Any:
    """What stands beside a traced value for a matrix of ``scipy.sparse``, or for data with labels; others as is."""
    return stand_in(value) if _is_matrix(value) else lifted(value)


def is_operand(value: Any) -> bool:
    """Whether something else stands for it beside a traced value."""
    return _is_matrix(value) or labels_of(type(value))


def _is_matrix(value: Any) -> bool:
    return "scipy.sparse" in sys.modules and type(value) in _classes()


def become_traced(value: Any) -> None:
    """Have a known matrix, Series or DataFrame be, under all its names, what stands for it."""
    made = as_operand(value)
    try:
        value.__class__ = type(made)
    except TypeError:  # Python lays out sparse arrays and dicts otherwise
        kind = type(value).__name__
        refuse(
            f"a traced value is written into a {kind}. Write into a lil_matrix, or make the matrix of arrays: "
            "coo_array((entries, (rows, columns)))."
        )
    vars(value).clear()
    vars(value).update(vars(made))


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
    if kind is SparseTracer:  # its structure is that of the class that it stands for
        return containers.Container(_parts, dict, _FIXED)
    if not kind.__module__.startswith("scipy.sparse") or kind not in _classes():
        return None
    return containers.Container(_parts, functools.partial(_of_parts, kind), _FIXED)


#: parts that say where the entries are
_FIXED = frozenset(("row", "col", "shape"))


def _parts(matrix: Any) -> dict[str, Any]:
    if type(matrix) is SparseTracer:
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
