"""Sparse results: the pattern of a Jacobian block from its terms, and the block as ``scipy.sparse``.

The pattern follows from the places of the terms alone; it is worked out once and kept while the integer
arrays that it depends on stay the same. A call then computes the terms' values and puts each where it goes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..differentiation.structure.index_maps import Lookup, is_static, positions
from ..differentiation.structure.structured_tangents import StructuredTangent, product
from ..errors import ArgumentError, BackendError, ResultTooLarge
from ..primitives.casting import cast
from ..program.dims import is_concrete, size
from ..program.node import Node
from .memory import memory_limit
from .sparsity import Sparsity
from .zeros import may_be_nonzero

#: bytes that an entry takes while its place is worked out
_BYTES = 48


class SparseBlock:
    """One block of a Jacobian, assembled from what a kernel computes.

    ``nodes`` are what the kernel has to give: the values of each term, then ``index_nodes``, the integer
    arrays that places depend on. ``assemble`` makes a ``scipy.sparse.csr_array`` of them, of shape (elements
    of the output, elements of the input), both counted row by row.
    """

    def __init__(self, terms: Sequence[StructuredTangent], out_shape: tuple, in_shape: tuple, dtype: np.dtype) -> None:
        if not is_concrete((*out_shape, *in_shape)):
            raise ArgumentError("sparse=True needs sizes; call it with arrays, not with named dims.")
        self.shape = (int(size(out_shape)), int(size(in_shape)))
        self.dtype = dtype
        entries = sum(math.prod(k.size for k in t.counters) for t in terms)
        if entries * _BYTES > memory_limit():
            raise ResultTooLarge(
                f"the sparse result of shape {self.shape[0]} × {self.shape[1]} would have {entries:.2g} entries: it is "
                "dense by structure. Ask for its products: jvp(f, (x,), (v,)), vjp(f, x)[1](v), and hvp(f, (x,), (v,)) "
                "for a Hessian."
            )
        self.pieces = [Piece(t, out_shape, in_shape) for t in terms]
        #: integer arrays that places depend on and that are known at a call only
        self.index_nodes = list(dict.fromkeys(n for p in self.pieces for n in p.index_nodes))
        self.nodes: list[Node] = [*[cast(p.value, dtype) for p in self.pieces], *self.index_nodes]
        self._places: _Places | None = None

    def assemble(self, values: Sequence[Any]) -> Any:
        """The block as a ``csr_array`` with sorted indices; the caller may change it."""
        sparse = scipy_sparse()
        places = self._found(values[len(self.pieces) :])
        data = np.zeros(places.nnz, self.dtype)
        for piece, place, value in zip(self.pieces, places.pieces, values, strict=False):
            place.add(data, piece.on_grid(value))
        made = sparse.csr_array((data, places.indices.copy(), places.indptr.copy()), shape=self.shape)
        made.has_sorted_indices = made.has_canonical_format = True
        return made

    def pattern(self, values: Sequence[Any]) -> Sparsity:
        """The places that may hold something other than zero, whatever the values of the float inputs."""
        places = self._found(values)
        rows = np.repeat(np.arange(self.shape[0]), np.diff(places.indptr))
        return Sparsity(self.shape, rows, places.indices.astype(np.intp))

    def _found(self, indices: Sequence[Any]) -> _Places:
        known = self._places
        if known is None or not all(map(np.array_equal, known.read, indices)):
            read = [np.array(i) for i in indices]
            self._places = known = _Places(self.pieces, dict(zip(self.index_nodes, read, strict=True)), self.shape)
        return known


class Piece:
    """One term of a block."""

    def __init__(self, term: StructuredTangent, out_shape: tuple, in_shape: tuple) -> None:
        self.labels = term.counters
        order = tuple([k for k in self.labels if k in term.labels])
        self.value = product([(term.value, term.labels)], order)
        self.slots = tuple([slice(None) if k in order else None for k in self.labels])
        self.grid = tuple([k.size for k in self.labels])
        self.nonzero = may_be_nonzero(self.value)
        self.maps = ((term.seed, out_shape), (term.at, in_shape))
        lookups = [m for maps, _ in self.maps for m in maps if isinstance(m, Lookup)]
        self.index_nodes = [m.index for m in lookups if not is_static(m)]

    def places(self, read: dict[Node, np.ndarray]) -> list[np.ndarray]:
        """Rows and columns over the grid, as far as the value may be other than zero there."""
        made = []
        for maps, shape in self.maps:
            flat = np.zeros(self.grid, np.int64)
            stride = math.prod(shape)
            for m, d in zip(maps, shape, strict=True):
                stride //= max(d, 1)
                at = positions(m, self.labels, read)
                if not is_static(m) and at.size and (at.min() < 0 or at.max() >= d):
                    raise IndexError(f"an index array has entries out of bounds for an axis of size {d}")
                flat += stride * at
            made.append(flat)
        if self.nonzero is not None:
            kept = np.broadcast_to(self.nonzero[self.slots], self.grid)
            made = [m[kept] for m in made]
        return made

    def on_grid(self, value: Any) -> np.ndarray:
        """The values where ``places`` are."""
        wide = np.asarray(value)[self.slots]
        if self.nonzero is None:
            return wide
        return np.broadcast_to(wide, self.grid)[np.broadcast_to(self.nonzero[self.slots], self.grid)]


class _Places:
    """Where every value of a block goes in the data of the sparse array."""

    def __init__(self, pieces: Sequence[Piece], read: dict[Node, np.ndarray], shape: tuple[int, int]) -> None:
        self.read = list(read.values())
        rows, columns = shape
        found = [p.places(read) for p in pieces]
        keys = [(r * columns + c).ravel() for r, c in found]
        every = np.concatenate(keys) if keys else np.zeros(0, np.int64)
        distinct, inverse = _distinct(every)
        kind = np.int32 if max(len(distinct), columns) < 2**31 - 1 else np.int64
        self.nnz = len(distinct)
        self.indices = (distinct % max(columns, 1)).astype(kind)
        counts = np.bincount(distinct // max(columns, 1), minlength=rows)
        self.indptr = np.concatenate([[0], np.cumsum(counts)]).astype(kind)
        ends = np.cumsum([0, *map(len, keys)])
        self.pieces = [
            _Place(inverse[a:b].reshape(r.shape)) for a, b, (r, _) in zip(ends[:-1], ends[1:], found, strict=True)
        ]


def _distinct(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct keys in order, and for each key its place among them; fast where keys come in sorted runs."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    is_new = np.ones(len(keys), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    inverse = np.empty(len(keys), np.intp)
    inverse[order] = np.cumsum(is_new) - 1
    return ordered[is_new], inverse


class _Place:
    """Where the values of one piece go: a strided run of the data, an index each, or an index with repeats."""

    def __init__(self, at: np.ndarray) -> None:
        self.shape = at.shape
        self.at: np.ndarray = at
        self.start, self.strides = _run(at)
        self.is_unique = self.strides is not None or len(np.unique(at)) == at.size

    def add(self, data: np.ndarray, values: np.ndarray) -> None:
        """Add the values into ``data``."""
        if not math.prod(self.shape):
            return
        if self.strides is not None:
            steps = tuple(s * data.itemsize for s in self.strides)
            view = np.lib.stride_tricks.as_strided(data[self.start :], self.shape, steps)
            np.add(view, values, out=view)
        elif self.is_unique:
            data[self.at] += values
        else:
            np.add.at(data, self.at, np.broadcast_to(values, self.shape))


def _run(at: np.ndarray) -> tuple[int, tuple[int, ...] | None]:
    """Start and strides where positions run evenly along each axis and no two are the same; else None."""
    if not at.size:
        return 0, None
    start = int(at.flat[0])
    strides = []
    for axis, d in enumerate(at.shape):
        second = int(at[tuple(1 if a == axis else 0 for a in range(at.ndim))]) if d > 1 else start
        strides.append(second - start)
    run = np.full((1,) * at.ndim, start)
    reach = 0
    for axis in sorted(range(at.ndim), key=lambda a: strides[a]):
        if at.shape[axis] > 1 and strides[axis] <= reach:
            return start, None
        reach += strides[axis] * (at.shape[axis] - 1)
        counted = np.arange(at.shape[axis]) * strides[axis]
        run = run + counted.reshape([-1 if a == axis else 1 for a in range(at.ndim)])
    return start, tuple(strides) if np.array_equal(run, at) else None


def scipy_sparse() -> Any:
    """``scipy.sparse``, which only sparse results need."""
    try:
        import scipy.sparse
    except ImportError:
        raise BackendError(
            "sparse=True needs SciPy: pip install 'symgrad[sparse]'. The pattern alone (.sparsity) does not."
        ) from None
    return scipy.sparse
