"""Sparse results: the pattern of a Jacobian block from its terms, and the block as ``scipy.sparse``.

The pattern follows from the places of the terms alone; it is worked out once and kept while the integer
arrays that it depends on stay the same. A call then computes the terms' values and puts each where it goes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from ..differentiation.structure.index_maps import Affine, Label, Lookup, Map, is_static, positions
from ..differentiation.structure.structured_tangents import Labels, StructuredTangent, product
from ..errors import ArgumentError, BackendError, ResultTooLarge
from ..primitives.casting import cast
from ..program.dims import Shape, is_concrete, size, value_of
from ..program.node import Node
from .memory import memory_limit
from .sparsity import Sparsity
from .zeros import may_be_nonzero

#: bytes that an entry takes while its place is worked out
_BYTES = 48


class Assembly:
    """Puts a ``csr_array`` together from the values of its pieces; one whose keys are numbers pickles.

    Where values go depends on integer arrays: some are ``known``, those of ``keys`` come with the values.
    """

    def __init__(
        self,
        pieces: Sequence[Piece],
        shape: Shape,
        dtype: np.dtype,
        keys: Sequence[Any],
        known: Mapping[Any, np.ndarray] | None = None,
    ) -> None:
        self.pieces = pieces
        self.dtype = dtype
        self._shape = shape
        self._keys, self._known = keys, dict(known or {})
        self._places: _Places | None = None
        if is_concrete(shape):
            _check_memory(pieces, self.shape)

    @property
    def shape(self) -> tuple[int, int]:
        """Elements of the output, and elements of the input."""
        if not is_concrete(self._shape):
            raise ArgumentError("sparse=True needs sizes; call it with arrays, not with named dims.")
        rows, columns = map(int, self._shape)
        return rows, columns

    def assemble(self, values: Sequence[Any]) -> Any:
        """The array with sorted indices, of the values of the pieces and the keys' arrays; the caller may change it."""
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
            found = self._known | dict(zip(self._keys, read, strict=True))
            self._places = known = _Places(self.pieces, found, read, self.shape)
        return known


class SparseBlock(Assembly):
    """One block of a Jacobian, assembled from what a kernel computes.

    ``nodes`` are what the kernel has to give: the values of each term, then ``index_nodes``, the integer
    arrays that places depend on and that are known at a call only. Rows and columns are the elements of the output
    and of the input, both counted row by row; where some sizes are names, those of the block ``at`` these.
    """

    def __init__(self, terms: Sequence[StructuredTangent], out_shape: Shape, in_shape: Shape, dtype: np.dtype) -> None:
        values = [_value_of(t) for t in terms]
        pieces = [Piece.of(t, v, out_shape, in_shape) for t, v in zip(terms, values, strict=True)]
        self.index_nodes: list[Node] = list(dict.fromkeys(n for p in pieces for n in p.read))
        super().__init__(pieces, (size(out_shape), size(in_shape)), dtype, self.index_nodes)
        self.nodes: list[Node] = [*[cast(v, dtype) for v in values], *self.index_nodes]

    def at(self, sizes: Mapping[sympy.Symbol, int]) -> Assembly:
        """The same where the names have these sizes, with numbers for keys."""
        number: dict[Node, int] = {n: k for k, n in enumerate(self.index_nodes)}
        known: dict[int, np.ndarray] = {}
        pieces = []
        for piece in self.pieces:
            for m in piece.lookups:
                if m.index not in number:
                    number[m.index] = len(number)
                    known[number[m.index]] = m.index.params[0].value
            pieces.append(piece.at(sizes, number))
        shape = tuple([value_of(d, sizes) for d in self._shape])
        return Assembly(pieces, shape, self.dtype, range(len(self.index_nodes)), known)


def _check_memory(pieces: Sequence[Piece], shape: tuple[int, int]) -> None:
    entries = sum(math.prod(p.grid) for p in pieces)
    if entries * _BYTES > memory_limit():
        raise ResultTooLarge(
            f"the sparse result of shape {shape[0]} × {shape[1]} would have {entries:.2g} entries: it is "
            "dense by structure. Ask for its products: jvp(f, (x,), (v,)), vjp(f, x)[1](v), and hvp(f, (x,), (v,)) "
            "for a Hessian."
        )


def _value_of(term: StructuredTangent) -> Node:
    """The value of a term, its axes as its counters go."""
    return product([(term.value, term.labels)], tuple([k for k in term.counters if k in term.labels]))


@dataclass(frozen=True, eq=False)
class Piece:
    """Where one term of a block has its values: over a grid of labels, of which ``slots`` says which its value has."""

    labels: Labels
    slots: tuple[slice | None, ...]
    #: for the output and the input, the map along each axis, and the shape
    maps: tuple[tuple[tuple[Map, ...], Shape], tuple[tuple[Map, ...], Shape]]
    nonzero: np.ndarray | None
    #: the keys of integer arrays that come with the values
    read: tuple[Any, ...]

    @classmethod
    def of(cls, term: StructuredTangent, value: Node, out_shape: Shape, in_shape: Shape) -> Piece:
        """That of a term with this value; its keys are nodes."""
        slots = tuple([slice(None) if k in term.labels else None for k in term.counters])
        maps = ((tuple(term.seed), out_shape), (tuple(term.at), in_shape))
        read = tuple([m.index for own, _ in maps for m in own if isinstance(m, Lookup) and not is_static(m)])
        return cls(term.counters, slots, maps, may_be_nonzero(value), read)

    @property
    def grid(self) -> tuple[int, ...]:
        return tuple([k.size for k in self.labels])

    @property
    def lookups(self) -> list[Lookup]:
        return [m for own, _ in self.maps for m in own if isinstance(m, Lookup)]

    def at(self, sizes: Mapping[sympy.Symbol, int], number: Mapping[Any, int]) -> Piece:
        """The same where names have these ``sizes``, and keys these numbers."""
        new = {k: Label(value_of(k.size, sizes)) for k in self.labels}

        def sized(m: Map) -> Map:
            if isinstance(m, Lookup):
                return Lookup(number[m.index], tuple([new[k] for k in m.labels]))  # type: ignore[arg-type]
            return Affine(value_of(m.start, sizes), tuple([(new[k], value_of(s, sizes)) for k, s in m.steps]))

        rows, columns = [
            (tuple(map(sized, own)), tuple([value_of(d, sizes) for d in shape])) for own, shape in self.maps
        ]
        read = tuple([number[key] for key in self.read])
        return Piece(tuple(new.values()), self.slots, (rows, columns), self.nonzero, read)

    def places(self, read: Mapping[Any, np.ndarray]) -> list[np.ndarray]:
        """Rows and columns over the grid, as far as the value may be other than zero there."""
        made = []
        for maps, shape in self.maps:
            flat = np.zeros(self.grid, np.int64)
            stride = math.prod(shape)
            for m, d in zip(maps, shape, strict=True):
                stride //= max(d, 1)
                at = positions(m, self.labels, read)
                is_given = isinstance(m, Lookup) and m.index in self.read
                if is_given and at.size and (at.min() < 0 or at.max() >= d):
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

    def __init__(
        self,
        pieces: Sequence[Piece],
        found: Mapping[Any, np.ndarray],
        read: Sequence[np.ndarray],
        shape: tuple[int, int],
    ) -> None:
        self.read = read
        rows, columns = shape
        found_at = [p.places(found) for p in pieces]
        keys = [(r * columns + c).ravel() for r, c in found_at]
        every = np.concatenate(keys) if keys else np.zeros(0, np.int64)
        distinct, inverse = _distinct(every)
        kind = np.int32 if max(len(distinct), columns) < 2**31 - 1 else np.int64
        self.nnz = len(distinct)
        self.indices = (distinct % max(columns, 1)).astype(kind)
        counts = np.bincount(distinct // max(columns, 1), minlength=rows)
        self.indptr = np.concatenate([[0], np.cumsum(counts)]).astype(kind)
        ends = np.cumsum([0, *map(len, keys)])
        self.pieces = [
            _Place(inverse[a:b].reshape(r.shape)) for a, b, (r, _) in zip(ends[:-1], ends[1:], found_at, strict=True)
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
