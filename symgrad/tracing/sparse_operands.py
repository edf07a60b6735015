"""Matrices of ``scipy.sparse`` as operands of traced values, and as arguments and results.

While a function is traced with its calls followed, the methods of scipy's classes ask whether the other operand is
traced; for all others they do what they always do.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from . import containers
from .dispatch import DEFERRED
from .sparse_matrices import MatrixShape, SparseTracer, entries_of, scipy_sparse, stand_in
from .trace import current
from .tracer import Tracer

#: the operators and methods that take another operand
_METHODS = (
    *("__matmul__", "__rmatmul__", "__mul__", "__rmul__", "__add__", "__radd__", "__sub__", "__rsub__"),
    *("__truediv__", "__rtruediv__", "__pow__", "dot", "multiply", "maximum", "minimum"),
)


def _asking(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    """A method of scipy's that leaves traced operands to the stand-in of its matrix."""

    @functools.wraps(plain)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if args and type(args[0]) in (Tracer, SparseTracer) and current() is not None:
            return getattr(stand_in(self), name)(args[0])
        return plain(self, *args, **kwargs)

    return method


class Watch:
    """While it is on, the classes of scipy.sparse know traced operands; off they are as scipy has made them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._on = 0
        self._replaced: list[tuple[type, str, Any]] = []

    def __enter__(self) -> None:
        with self._lock:
            self._on += 1
            if self._on == 1 and "scipy.sparse" in sys.modules:
                self._replace()

    def __exit__(self, *_: Any) -> None:
        with self._lock:
            self._on -= 1
            if not self._on:
                for kind, name, plain in self._replaced:
                    setattr(kind, name, plain)
                self._replaced = []

    def _replace(self) -> None:
        classes = _classes()
        DEFERRED.update(classes)
        owners = {c for kind in classes for c in kind.__mro__ if c.__module__.startswith("scipy.sparse")}
        for owner in owners:
            for name in _METHODS:
                plain = vars(owner).get(name)
                if plain is not None:
                    self._replaced.append((owner, name, plain))
                    setattr(owner, name, _asking(name, plain))


def _classes() -> list[type]:
    bases = scipy_sparse().spmatrix, scipy_sparse().sparray
    return [kind for kind in vars(scipy_sparse()).values() if isinstance(kind, type) and issubclass(kind, bases)]


WATCH = Watch()


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
