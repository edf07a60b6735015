"""Sparse matrices that a traced function makes of traced values: of entries, diagonals, blocks and products."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .dispatch import answers_for
from .local_array import unwrapped
from .making import array_of
from .sparse_matrices import SparseTracer, is_sparse, moved, of_arrays, stand_in
from .sparse_places import scipy_sparse
from .trace import as_node
from .tracer import Tracer

_FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


def _making(name: str) -> Callable[..., SparseTracer]:
    def answer(
        arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False, *, maxprint: Any = None
    ) -> SparseTracer:
        made = _made(getattr(scipy_sparse(), name), arg1, unwrapped(shape))
        made = made if dtype is None else made.astype(dtype, copy=False)
        return made.copy() if copy else made

    return answer


def _made(kind: type, given: Any, shape: Any) -> SparseTracer:
    if is_sparse(given):
        return stand_in(given).as_kind(kind)
    name, size = kind.__name__, {} if shape is None else {"shape": shape}
    if not isinstance(given, tuple):
        return moved(lambda values: kind(values, **size), given, f"scipy.sparse.{name} of this")
    values = array_of(given[0]) if isinstance(given[0], (list, tuple)) else given[0]
    places = [unwrapped(part) for part in given[1:]]
    if len(places) > 1 or name[:3] == "dia":
        return of_arrays(kind, values, places, size)
    coo = scipy_sparse().coo_array if issubclass(kind, scipy_sparse().sparray) else scipy_sparse().coo_matrix
    return of_arrays(coo, values, [tuple(map(np.asarray, places[0]))], size).as_kind(kind)


for _format in _FORMATS:
    for _kind in ("array", "matrix"):
        answers_for(f"scipy.sparse.{_format}_{_kind}")(_making(f"{_format}_{_kind}"))


def _moving(name: str) -> Callable[..., Any]:
    """A function that puts the elements of its first argument elsewhere."""

    def answer(*args: Any, dtype: Any = None, **named: Any) -> Any:
        function = getattr(scipy_sparse(), name)
        given = inspect.signature(function).bind(*args, **named)
        first = next(iter(given.arguments))
        others = {k: unwrapped(v) for k, v in given.arguments.items() if k != first}
        made = moved(lambda values: function(values, **others), given.arguments[first], f"scipy.sparse.{name} of this")
        return made if dtype is None else made.astype(dtype)

    return answer


for _name in (
    "block_array",
    "block_diag",
    "bmat",
    "diags",
    "diags_array",
    "hstack",
    "spdiags",
    "tril",
    "triu",
    "vstack",
):
    answers_for(f"scipy.sparse.{_name}")(_moving(_name))


@answers_for("scipy.sparse.kron")
def _kron(A: Any, B: Any, format: Any = None) -> SparseTracer:
    is_array = any(is_sparse(m) and stand_in(m)._is_array for m in (A, B))
    kind = scipy_sparse().coo_array if is_array else scipy_sparse().coo_matrix
    first, second = (stand_in(m if is_sparse(m) else _made(kind, m, None)) for m in (A, B))
    (rows, columns), (mine, own) = second.shape, [Tracer(as_node(m.entries)) for m in (first, second)]
    row, col = (
        np.add.outer(np.asarray(outer) * size, np.asarray(inner)).ravel()
        for outer, inner, size in ((first.row, second.row, rows), (first.col, second.col, columns))
    )
    shape = (first.shape[0] * rows, first.shape[1] * columns)
    return SparseTracer(kind, np.ravel(mine[:, None] * own), row, col, shape, False).asformat(format)


@answers_for("scipy.sparse.kronsum")
def _kronsum(A: Any, B: Any, format: Any = None) -> SparseTracer:
    one, other = (scipy_sparse().eye_array(np.shape(m)[0]) for m in (A, B))
    return (_kron(other, A) + _kron(B, one)).asformat(format)
