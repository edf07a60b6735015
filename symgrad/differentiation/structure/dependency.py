"""Which entries of the output depend on which of the input: index sets carried through a program.

It knows less than terms do (a value is not kept, only that there may be one) and can say it of every
primitive, so it serves where a term was lost into an array. Rows are elements in row order.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...primitives.casting import CAST
from ...primitives.contraction import EINSUM, GATE, Labels
from ...primitives.elementwise import Elementwise
from ...primitives.identity import CUSTOM, MARK
from ...primitives.loop import Loop
from ...primitives.reduction import CUMPROD, CUMSUM, MAX, MIN, PROD
from ...primitives.scan import SCAN
from ...primitives.selection import Structural
from ...program.dims import Shape, is_concrete
from ...program.interpret import evaluated, walk
from ...program.node import Node, ancestors
from ..edges import Edge, active_edges
from .index_maps import Unsolved

#: pairs of one step beyond which the pattern is not worth its own cost
_MAX_PAIRS = 1 << 25
#: steps of a loop beyond which all of its results are taken to depend on all that it reads
_MAX_STEPS = 10_000

Pairs = tuple[np.ndarray, np.ndarray]
Read = Callable[[Node], np.ndarray]


def dependency(output: Node, source: Node, read: Read) -> Any:
    """A boolean ``scipy.sparse.csr_array``: elements of ``output`` by those of ``source``.

    ``read`` gives the value of an integer node that the program indexes with. Unsolved where it would be too large.
    """
    import scipy.sparse as sparse

    count = math.prod(source.shape)
    (found,) = _flows([output], {source: sparse.eye_array(count, dtype=bool, format="csr")}, count, read)
    return found


def _flows(outputs: Sequence[Node], given: Mapping[Node, Any], count: int, read: Read) -> list[Any]:
    """Which of ``count`` elements the elements of each output depend on, where ``given`` says it of some nodes."""
    import scipy.sparse as sparse

    known = dict(given)
    for node, edges in active_edges(outputs, given).items():
        if node in given:
            continue
        total = sparse.csr_array((math.prod(node.shape), count), dtype=bool)
        for part in _arriving(node, edges, known, count, read):
            total = (total + part).astype(bool)
        known[node] = total
    return [known.get(o, sparse.csr_array((math.prod(o.shape), count), dtype=bool)) for o in outputs]


def _arriving(node: Node, edges: Sequence[Edge], known: Mapping[Node, Any], count: int, read: Read) -> Iterator[Any]:
    """What the elements of a node depend on, by each of its operands, or by all of them at once."""
    if node.primitive is SCAN:
        with contextlib.suppress(Unsolved):
            yield _LoopPattern(node, read).of([known.get(o) for o in node.operands], count)
            return
    for operand, key in edges:
        if node.primitive is CUSTOM and not node.params[0].is_entered:
            stand_in, result, of_tangent = node.params[0].linear(node, key, True)
            with node.params[0].entered():
                local = None if result is None else dependency(result, stand_in, read)
            if local is not None:
                yield (local if of_tangent else local.T.tocsr()) @ known[operand]
            continue
        flow = known[operand]
        sizes = [math.prod(operand.shape), math.prod(node.shape)]
        for pairs, size in _steps(node, operand, key, read):
            if np.diff(flow.indptr)[np.asarray(pairs[1]).ravel()].sum() > _MAX_PAIRS:
                raise Unsolved
            flow = _selection(pairs, (size or sizes[1], flow.shape[0])) @ flow
        yield flow


def _selection(pairs: Pairs, shape: tuple[int, int]) -> Any:
    import scipy.sparse as sparse

    rows, columns = (np.asarray(p).ravel() for p in pairs)
    if len(rows) > _MAX_PAIRS:
        raise Unsolved
    return sparse.csr_array((np.ones(len(rows), bool), (rows, columns)), shape=shape)


class _LoopPattern:
    """What the results of a loop depend on, carried from step to step; Unsolved where nobody can say it of a step."""

    def __init__(self, node: Node, read: Read) -> None:
        self._loop: Loop = node.params[0]
        self._node = node
        self._read = read
        shapes = [n.shape for n in (*self._loop.inputs, *self._loop.body.outputs)]
        if not is_concrete((self._loop.length, *(d for s in shapes for d in s))) or self._loop.length > _MAX_STEPS:
            raise Unsolved
        self._sizes = [math.prod(n.shape) for n in self._loop.inputs]
        self._fixed: Any = None
        self._varies = False

    def of(self, given: Sequence[Any], count: int) -> Any:
        """The row of all results, from what each operand depends on; None for one that depends on nothing."""
        import scipy.sparse as sparse

        loop = self._loop
        first = loop.carries + loop.elements

        def none(k: int) -> Any:
            return sparse.csr_array((self._sizes[k], count), dtype=bool)

        own = [none(k) if f is None else f for k, f in enumerate(given[: loop.carries])]
        constants = [none(k) if f is None else f for k, f in enumerate(given[first:], first)]
        arrays = given[loop.carries : first]
        sizes = [math.prod(o.shape) for o in loop.body.outputs]
        places = np.cumsum([0, *sizes])
        kept: list[list[Any]] = [[] for _ in loop.kept]
        result: Any = None
        after: list[Any] = []
        for t in reversed(range(loop.length)) if loop.reverse else range(loop.length):
            items = [
                none(k) if a is None else a[t * self._sizes[k] : (t + 1) * self._sizes[k]]
                for k, a in enumerate(arrays, loop.carries)
            ]
            flow = sparse.vstack([*own, *items, *constants], format="csr", dtype=bool)
            before, result = result, self._after(t, flow)
            steady = before is not None and not self._varies and all(a is None for a in arrays)
            after = [result[i:j] for i, j in itertools.pairwise(places)]
            for column, value in zip(kept, after[loop.carries :], strict=True):
                column.append(value)
            own = after[: loop.carries]
            if steady and (before != result).nnz == 0:
                for column in kept:  # and so on to the end
                    column += column[-1:] * (loop.length - len(column))
                break
        if loop.reverse:
            kept = [column[::-1] for column in kept]
        parts = [own[k] for k in loop.finals] + [value for column in kept for value in column]
        return sparse.vstack(parts, format="csr", dtype=bool) if parts else sparse.csr_array((0, count), dtype=bool)

    def _after(self, t: int, flow: Any) -> Any:
        """What the outputs of step ``t`` depend on, one below the other, where its inputs do on ``flow``."""
        import scipy.sparse as sparse

        if self._fixed is None or self._varies:
            every: Any = sparse.eye_array(sum(self._sizes), dtype=bool, format="csr")
            places = np.cumsum([0, *self._sizes])
            inputs = {n: every[i:j] for n, i, j in zip(self._loop.inputs, places, places[1:]) if n.differentiable}
            step = _flows(self._loop.body.outputs, inputs, every.shape[0], lambda node: self._value(node, t))
            self._fixed = sparse.vstack(step, format="csr", dtype=bool)
        if np.diff(flow.indptr)[self._fixed.indices].sum() > _MAX_PAIRS:
            raise Unsolved
        return self._fixed @ flow

    def _value(self, node: Node, t: int) -> np.ndarray:
        """The value of an index in step ``t``, which is computed of elements and constants."""
        loop = self._loop
        known: dict[Node, Any] = {}
        below = ancestors([node])
        for k, n in enumerate(loop.inputs):
            if n in below:
                if k < loop.carries or n.differentiable:
                    raise Unsolved
                value = self._read(self._node.operands[k])
                self._varies = self._varies or loop.is_element(k)
                known[n] = value[t] if loop.is_element(k) else value
        return walk(below, known, evaluated)[node]


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


def _numbered(shape: Shape) -> np.ndarray:
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


def _over(x: np.ndarray, labels: Labels, order: Labels) -> np.ndarray:
    """``x``, whose axes are ``labels``, with its axes in ``order`` and unit axes for the others."""
    moved = x.transpose([labels.index(i) for i in order if i in labels])
    return moved[tuple([slice(None) if i in labels else None for i in order])]
