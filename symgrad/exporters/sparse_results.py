"""Sparse results of an exported module: its values go where the structure of the derivative has them.

The places of the values of a term are affine in its counters, or looked up in an integer array; they are written as
such, and worked out when the module is first called.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..differentiation.structure.index_maps import Label, Lookup, Map, is_static, positions
from ..errors import ArgumentError
from ..kernels.sparse import Piece
from ..program.node import Node
from . import python_source
from .subject import SparseOutcome, Subject

#: modules that sparse results take
MODULES = ("sparse", "functools")
#: functions of a module that sparse results take, by name
HELPERS = {
    "_grid": '''
def _grid(shape, start, *strides):
    """Places that run evenly along each axis."""
    places = np.full(shape, start)
    for axis, stride in enumerate(strides):
        places += stride * np.arange(shape[axis]).reshape([-1 if k == axis else 1 for k in range(len(shape))])
    return places
''',
    "_within": '''
def _within(index, size):
    """An array of indices; an IndexError where one is out of bounds."""
    if np.any((index < 0) | (index >= size)):
        raise IndexError(f"an index array has entries out of bounds for an axis of size {size}")
    return index
''',
    "_pattern": '''
def _pattern(shape, *pieces):
    """The columns and row starts of a csr_array; and for each piece its grid, what is kept, and where that goes."""
    keys = [(rows * shape[1] + columns).ravel() for rows, columns, _ in pieces]
    keys = [key if kept is None else key[kept] for key, (_, _, kept) in zip(keys, pieces)]
    entries, places = np.unique(np.concatenate([np.zeros(0, np.int64), *keys]), return_inverse=True)
    kind = np.int32 if max(len(entries), shape[1]) < 2**31 - 1 else np.int64
    counts = np.bincount(entries // max(shape[1], 1), minlength=shape[0])
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(kind)
    own = np.split(places, np.cumsum([len(key) for key in keys])[:-1])
    made = [(rows.shape, kept, at) for (rows, _, kept), at in zip(pieces, own)]
    return (entries % max(shape[1], 1)).astype(kind), starts, made
''',
    "_csr": '''
def _csr(shape, pattern, dtype, *values):
    """The csr_array of the values."""
    columns, starts, pieces = pattern
    data = np.zeros(len(columns), dtype)
    for value, (grid, kept, at) in zip(values, pieces):
        flat = np.broadcast_to(value, grid).ravel()
        np.add.at(data, at, flat if kept is None else flat[kept])
    made = sparse.csr_array((data, columns.copy(), starts.copy()), shape=shape)
    made.has_sorted_indices = made.has_canonical_format = True
    return made
''',
}


def assembled(subject: Subject, results: Sequence[str]) -> tuple[list[str], list[str]]:
    """The source of each outcome, made of that of the ``results``; and the functions of the module that it takes."""
    made: list[str] = []
    helpers: list[str] = []
    for outcome in subject.outcomes:
        if isinstance(outcome, int):
            made.append(results[outcome])
            continue
        name = f"_pattern_{len(helpers)}"
        own = results[outcome.own]
        block, count = outcome.block, len(outcome.block.pieces)
        indices = dict(zip(block.index_nodes, own[count:], strict=True))
        values = [_value(code, piece) for code, piece in zip(own[:count], block.pieces, strict=True)]
        kind = python_source.numpy_dtype(block.dtype)
        found = f"{name}({', '.join(indices.values())})"
        made.append(f"_csr({', '.join([str(block.shape), found, kind, *values])})")
        helpers.append(_pattern(name, outcome, list(indices)))
    return made, [*helpers, *HELPERS.values()] if helpers else []


def described(outcome: SparseOutcome) -> str:
    """What an outcome is, in words."""
    return f"{outcome.block.dtype.name} csr_array of shape {outcome.block.shape}"


def _value(code: str, piece: Piece) -> str:
    """The values of a piece, so that they broadcast over its grid."""
    first = next((k for k, s in enumerate(piece.slots) if s is not None), len(piece.slots))
    if None not in piece.slots[first:]:
        return code
    return f"{code}[{', '.join(':' if s is not None else 'None' for s in piece.slots[first:])}]"


def _pattern(name: str, outcome: SparseOutcome, indices: Sequence[Node]) -> str:
    """The function that gives the places of a block, of the index arrays that they depend on."""
    block = outcome.block
    names = {node: f"index{k}" for k, node in enumerate(indices)}
    rows = [
        *([] if indices else ["@functools.cache"]),
        f"def {name}({', '.join(names.values())}):",
        '    """Where the entries of a result are."""',
        "    return _pattern(",
        f"        {block.shape},",
    ]
    for piece in block.pieces:
        (rows_at, columns_at) = [_places(maps, shape, piece, names) for maps, shape in piece.maps]
        rows += [f"        {row}" for row in [f"({rows_at}, {columns_at}, {_kept(piece)}),"]]
    return "\n".join([*rows, "    )"])


def _places(maps: Sequence[Map], shape: Sequence[int], piece: Piece, names: Mapping[Node, str]) -> str:
    """The flat places over the grid of a piece, row by row in ``shape``."""
    start, strides = 0, dict.fromkeys(piece.labels, 0)
    looked_up: list[str] = []
    stride = math.prod(shape)
    for m, size in zip(maps, shape, strict=True):
        stride //= max(size, 1)
        if isinstance(m, Lookup):
            looked_up.append(f" + {stride} * {_looked_up(m, size, piece.labels, names)}")
            continue
        start += stride * m.start
        for label, step in m.steps:
            strides[label] += stride * step
    return f"_grid({', '.join(map(str, [piece.grid, start, *strides.values()]))}){''.join(looked_up)}"


def _looked_up(m: Lookup, size: int, labels: Sequence[Label], names: Mapping[Node, str]) -> str:
    if is_static(m):
        own = [k for k in labels if k in m.labels]
        found = _written(positions(m, own))
        return f"{found}[{_axes(m, labels)}]" if own else found
    order = tuple(m.labels.index(k) for k in labels if k in m.labels)
    return f"np.transpose(_within({names[m.index]}, {size}), {order})[{_axes(m, labels)}]"


def _axes(m: Lookup, labels: Sequence[Label]) -> str:
    return ", ".join(":" if k in m.labels else "None" for k in labels) or "()"


def _kept(piece: Piece) -> str:
    """The flat places on the grid that may hold something other than zero; None for all of them."""
    if piece.nonzero is None:
        return "None"
    return _written(np.flatnonzero(np.broadcast_to(piece.nonzero[piece.slots], piece.grid)))


def _written(places: np.ndarray) -> str:
    if places.size > python_source.MAX_CAPTURED:
        raise ArgumentError(
            f"the pattern of the result has {places.size} places that follow no rule, too many to write into source; "
            "export the derivative without sparse=True, or as json."
        )
    return python_source.array(places)
