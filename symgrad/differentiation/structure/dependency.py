"""Which entries of the output depend on which of the input: index sets carried through a program.

It knows less than terms do (a value is not kept, only that there may be one) and can say it of every
primitive, so it serves where a term was lost into an array. Rows are elements in row order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...primitives.casting import CAST
from ...primitives.contraction import EINSUM, GATE
from ...primitives.elementwise import Elementwise
from ...primitives.identity import CUSTOM, MARK
from ...primitives.reduction import CUMPROD, CUMSUM, MAX, MIN, PROD
from ...primitives.selection import Structural
from ...program.node import Node
from ..reverse import active_nodes
from .index_maps import Unsolved

#: pairs of one step beyond which the pattern is not worth its own cost
_MAX_PAIRS = 1 << 25

Pairs = tuple[np.ndarray, np.ndarray]
Read = Callable[[Node], np.ndarray]


def dependency(output: Node, source: Node, read: Read) -> Any:
    """A boolean ``scipy.sparse.csr_array``: elements of ``output`` by those of ``source``.

    ``read`` gives the value of an integer node that the program indexes with. Unsolved where it would be too large.
    """
    import scipy.sparse as sparse

    def selection(pairs: Pairs, shape: tuple[int, int]) -> Any:
        rows, columns = (np.asarray(p).ravel() for p in pairs)
        if len(rows) > _MAX_PAIRS:
            raise Unsolved
        return sparse.csr_array((np.ones(len(rows), bool), (rows, columns)), shape=shape)

    count = math.prod(source.shape)
    known: dict[Node, Any] = {source: sparse.eye_array(count, dtype=bool, format="csr")}
    for node in active_nodes([output], [source]):
        if node is source:
            continue
        total = sparse.csr_array((math.prod(node.shape), count), dtype=bool)
        for operand, key in node.primitive.dependencies(node):
            if operand not in known:
                continue
            if node.primitive is CUSTOM and not node.params[0].is_entered:
                stand_in, result, of_tangent = node.params[0].linear(node, key, True)
                with node.params[0].entered():
                    local = None if result is None else dependency(result, stand_in, read)
                flow = None if local is None else (local if of_tangent else local.T.tocsr()) @ known[operand]
            else:
                flow = known[operand]
                sizes = [math.prod(operand.shape), math.prod(node.shape)]
                for pairs, size in _steps(node, operand, key, read):
                    if np.diff(flow.indptr)[np.asarray(pairs[1]).ravel()].sum() > _MAX_PAIRS:
                        raise Unsolved
                    flow = selection(pairs, (size or sizes[1], flow.shape[0])) @ flow
            if flow is not None:
                total = (total + flow).astype(bool)
        known[node] = total
    return known.get(output, sparse.csr_array((math.prod(output.shape), count), dtype=bool))


def _steps(node: Node, operand: Node, key: Any, read: Read) -> list[tuple[Pairs, int]]:
    """Pairs (element of the result, element of what it is made of), step by step; 0 stands for the node's size."""
    primitive = node.primitive
    own, out = _numbered(operand.shape), _numbered(node.shape)
    if isinstance(primitive, Elementwise) or primitive in (CAST, GATE, MARK):
        return [((out, np.broadcast_to(own, node.shape)), 0)]
    if primitive is EINSUM:
        slot = next(k for k, o in enumerate(node.operands) if o is operand) if not isinstance(key, int) else key
        return _contraction(node, slot, own, out)
    if isinstance(primitive, Structural):
        selection, is_part = primitive.selection(node, key)
        if is_part:
            return [((out, selection.taken(own, read)), 0)]
        return [((selection.taken(out, read), own), 0)]
    if primitive in (MAX, MIN, PROD):
        kept = np.expand_dims(out, node.params[0])
        return [((np.broadcast_to(kept, operand.shape), own), 0)]
    if primitive in (CUMSUM, CUMPROD):
        axis, backwards = node.params
        d = node.shape[axis]
        if d * own.size > _MAX_PAIRS:
            raise Unsolved
        earlier, later = np.tril_indices(d)[::-1]
        into, origin = (earlier, later) if backwards else (later, earlier)
        return [((np.take(out, into, axis=axis), np.take(own, origin, axis=axis)), 0)]
    return [((np.repeat(out.ravel(), own.size), np.tile(own.ravel(), out.size)), 0)] if _small(own, out) else _refuse()


def _small(own: np.ndarray, out: np.ndarray) -> bool:
    return own.size * out.size <= _MAX_PAIRS


def _refuse() -> Any:
    raise Unsolved


def _numbered(shape: tuple) -> np.ndarray:
    return np.arange(math.prod(shape)).reshape(shape)


def _contraction(node: Node, slot: int, own: np.ndarray, out: np.ndarray) -> list[tuple[Pairs, int]]:
    """First the labels that the result lacks are merged, then what is left is spread over the result."""
    labels, result, sizes, _ = node.params
    mine = tuple(dict.fromkeys(labels[slot]))
    kept = tuple([i for i in dict.fromkeys(result) if i in mine])
    elements = np.einsum(own, list(labels[slot]), list(mine))
    merged = _numbered(tuple([sizes[i] for i in kept]))
    spread = np.broadcast_to(_over(merged, kept, mine), elements.shape)
    unique = tuple(dict.fromkeys(result))
    places = np.einsum(out, list(result), list(unique))
    origin = np.broadcast_to(_over(merged, kept, unique), places.shape)
    return [((spread, elements), merged.size), ((places, origin), 0)]


def _over(x: np.ndarray, labels: tuple, order: tuple) -> np.ndarray:
    """``x``, whose axes are ``labels``, with its axes in ``order`` and unit axes for the others."""
    moved = x.transpose([labels.index(i) for i in order if i in labels])
    return moved[tuple([slice(None) if i in labels else None for i in order])]
