"""Matrices of ``scipy.sparse`` as operands of traced values in followed code, and as arguments and results."""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np

from . import containers
from .labelled import lifted
from .sparse_matrices import MatrixShape, SparseTracer, entries_of, scipy_sparse, stand_in
from .tracer import Tracer


def as_operand(value: Any) -> Any:
    """What stands beside a traced value for a matrix of ``scipy.sparse``, or for data with labels; others as is."""
    return stand_in(value) if "scipy.sparse" in sys.modules and type(value) in _classes() else lifted(value)


@functools.cache
def _classes() -> list[type]:
    bases = scipy_sparse().spmatrix, scipy_sparse().sparray
    return [kind for kind in vars(scipy_sparse()).values() if isinstance(kind, type) and issubclass(kind, bases)]


# as arguments


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
    name = kind.__name__[:3]
    outer, inner = (row, col) if name == "csr" else (col, row)
    if name not in ("csr", "csc") or (np.diff(outer) < 0).any():
        coo = getattr(scipy_sparse(), f"coo_{kind.__name__.partition('_')[2]}")
        return coo((data, (row, col)), shape=size).asformat(name)
    lengths = np.bincount(outer, minlength=size[0] if name == "csr" else size[1])
    return kind((data, inner, np.concatenate([[0], np.cumsum(lengths)])), shape=size)


containers.families.append(_container)
