"""The operations of loops.

``scan(carries, arrays, constants)``, with ``params = (loop,)``, gives the values after the last step, and of what each
step keeps an array. Several results are one node, a row of all their elements; ``part`` is one of them, and ``row`` its
transpose: tangents and cotangents of a loop are rows too, of which each part is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from ..program.dims import Dim, Shape, size
from ..program.interpret import interpreted
from ..program.node import Node, emit
from ..program.program import Program
from .batching import Batching
from .casting import CAST, flow_as
from .contraction import transpose
from .functions import add
from .loop import Flows, Loop, Piece
from .primitive import Params, Primitive
from .selection import Selection, Structural, full, take_slice
from .shaping import reshape

#: integers of so many bytes are not all floats: a loop that gives both is two
_WIDE = 8


class Scan(Primitive):
    """A loop; ``params = (loop,)``, operands are what it begins with, arrays, constants."""

    name = "scan"
    flows_together = True

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        (loop,) = params
        return (loop.size,), np.result_type(*[p.dtype for p in loop.pieces]), False

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        return self.jvp_of_all(node, {key: tangent}, batch)

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        return self.vjp_of_all(node, [key], ct, batch)[key]

    def jvp_of_all(self, node: Node, tangents: Flows, batch: int) -> Node | None:
        """The tangent along those of several operands at once."""
        loop = node.params[0]
        made = loop.tangents(node.operands, tangents, batch)
        found = [(p.start, flow_as(t, node.dtype)) for p, t in zip(loop.pieces, made, strict=True) if t is not None]
        return row_of([t for _, t in found], [start for start, _ in found], loop.size, batch) if found else None

    def vjp_of_all(self, node: Node, keys: Sequence[int], ct: Node, batch: int) -> dict[int, Node | None]:
        """The cotangents of several operands at once."""
        loop = node.params[0]
        flows = [part_of(ct, p, batch) if p.dtype.kind in "fc" else None for p in loop.pieces]
        return loop.cotangents(node.operands, flows, keys, batch)

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        loop = node.params[0]
        lifted, carries = loop.lifted(batched, over)
        given = list(operands)
        for k, own in enumerate(carries):
            if own and not batched[k]:
                given[k] = over.repeated(given[k])
        for k in range(loop.carries, loop.carries + loop.elements):
            if batched[k]:
                given[k] = transpose(given[k], (1, 0, *range(2, given[k].ndim)))
        made = results_of(lifted, given)
        parts = []
        for k, part in enumerate(made):
            if k < len(loop.finals):
                parts.append(part if carries[loop.finals[k]] else over.repeated(part))
            else:
                parts.append(transpose(part, (1, 0, *range(2, part.ndim))))
        return row_of([flow_as(p, node.dtype) for p in parts], [p.start for p in loop.pieces], loop.size, 1)

    def evaluate(self, params: Params, *values: Any) -> Any:
        (loop,) = params
        pieces = loop.run(values, lambda *given: interpreted(loop.body, given))
        dtype = np.result_type(*[p.dtype for p in loop.pieces])
        return np.concatenate([np.ravel(p).astype(dtype) for p in pieces])

    def bodies(self, params: Params) -> Sequence[Program]:
        return (params[0].body,)

    def spell(self, node: Node) -> str:
        loop = node.params[0]
        return f"scan[{loop.length}{', reverse' if loop.reverse else ''}]"


class Parted(NamedTuple):
    """The part is a stretch of a row under its own shape, behind axes that both have."""

    start: Dim
    shape: Shape
    common: int = 0

    def take(self, whole: Node, batch: int) -> Node:
        lead = whole.shape[: batch + self.common]
        made = take_slice(whole, (*full(lead), (self.start, size(self.shape), 1)))
        return reshape(made, (*lead, *self.shape))

    def put(self, part: Node, shape: Shape, batch: int) -> Node:
        return row_of([part], [self.start], shape[-1], batch + self.common)

    def taken(self, whole: np.ndarray, read: Callable[[Node], np.ndarray]) -> np.ndarray:
        lead = whole.shape[: self.common]
        return whole[..., self.start : self.start + size(self.shape)].reshape(*lead, *self.shape)


class Part(Structural):
    """One result of a loop; ``params = (start, shape, dtype)``."""

    name = "part"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return params[1], params[2], False

    def masks(self, operands: tuple[Node, ...], params: Params) -> bool:
        (whole,) = operands
        return whole.params[0].masked[Piece(*params)] if whole.primitive is SCAN else whole.masked

    def selection(self, node: Node, key: int) -> tuple[Selection, bool]:
        return Parted(*node.params[:2]), True

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        made = part_of(tangent, Piece(*node.params), batch)
        return None if made is None else flow_as(made, node.dtype)

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        return super().vjp(node, source, key, flow_as(ct, source.dtype), batch)

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        made = part_of(operands[0], Piece(*node.params), 1)
        assert made is not None
        return flow_as(made, node.dtype)

    def evaluate(self, params: Params, *values: Any) -> Any:
        start, shape, dtype = params
        own = values[0][start : start + size(shape)].reshape(shape)
        return (own if dtype.kind == "c" else own.real).astype(dtype)[()]

    def spell(self, node: Node) -> str:
        loop = node.operands[0].params[0] if node.operands[0].primitive is SCAN else None
        which = node.params[0] if loop is None else loop.pieces.index(Piece(*node.params))
        return f"part[{which}]"


class Row(Structural):
    """A row of zeros with the elements of each operand added where it begins; ``params = (starts, size, batch)``.

    The operands have ``batch`` leading axes, and so has the row.
    """

    name = "row"
    keeps_zeros = True

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        _, count, batch = params
        return (*operands[0].shape[:batch], count), np.result_type(*[o.dtype for o in operands]), False

    def selection(self, node: Node, key: int) -> tuple[Selection, bool]:
        starts, _, batch = node.params
        return Parted(starts[key], node.operands[key].shape[batch:], batch), False

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        return self._through(node, source, key, ct, batch, False)

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        return self._through(node, source, key, tangent, batch, True)

    def _through(self, node: Node, source: Node, key: int, flow: Node, batch: int, forward: bool) -> Node | None:
        starts, count, own = node.params
        if forward:
            return row_of([flow_as(flow, node.dtype)], [starts[key]], count, batch + own)
        return part_of(flow, Piece(starts[key], source.shape[own:], source.dtype), batch + own)

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        starts, count, batch = node.params
        return row_of(over.complete(operands, batched), starts, count, batch + 1)

    def evaluate(self, params: Params, *values: Any) -> Any:
        starts, count, batch = params
        lead = np.shape(values[0])[:batch]
        result = np.zeros((*lead, count), np.result_type(*[np.asarray(v).dtype for v in values]))
        for start, value in zip(starts, values, strict=True):
            flat = np.reshape(value, (*lead, -1))
            result[..., start : start + flat.shape[-1]] += flat
        return result

    def spell(self, node: Node) -> str:
        return f"row[{','.join(map(str, node.params[0]))}]"


SCAN, PART, ROW = Scan(), Part(), Row()


def row_of(parts: Sequence[Node], starts: Sequence[Dim], count: Dim, batch: int) -> Node:
    """A row, of zeros where no part is."""
    return emit(ROW, tuple(parts), (tuple(starts), count, batch))


def rows_added(rows: Sequence[Node]) -> Node:
    """The sum of rows."""
    _, count, batch = rows[0].params
    return row_of([o for r in rows for o in r.operands], [s for r in rows for s in r.params[0]], count, batch)


def part_of(row: Node, piece: Piece, batch: int) -> Node | None:
    """A piece of a row with ``batch`` leading axes; None where it is zero."""
    if row.primitive is ROW and row.params[2] == batch:
        own = [o for o, start in zip(row.operands, row.params[0], strict=True) if start == piece.start]
        own = [o for o in own if o.shape[batch:] == piece.shape]
        return reduce(add, own) if own else None
    return Parted(piece.start, piece.shape).take(row, batch)


def results_of(loop: Loop, operands: Sequence[Node]) -> list[Node]:
    """The pieces of a loop. Wide integers are computed apart from the rest: a row has one dtype."""
    groups: dict[Any, list[int]] = {}
    for k, piece in enumerate(loop.pieces):
        wide = piece.dtype.kind in "iu" and piece.dtype.itemsize >= _WIDE
        groups.setdefault(piece.dtype if wide else None, []).append(k)
    made: dict[int, Node] = {}
    for numbers in groups.values():
        own, taken = (loop, range(len(operands))) if len(groups) == 1 else loop.giving(tuple(numbers))
        row = emit(SCAN, tuple([_strong(operands[k], n) for k, n in zip(taken, own.inputs, strict=True)]), (own,))
        made |= {k: emit(PART, (row,), tuple(p)) for k, p in zip(numbers, own.pieces, strict=True)}
    return [made[k] for k in range(len(loop.pieces))]


def _strong(operand: Node, given: Node) -> Node:
    """What a loop is given for an input: an array, unless the input is a Python scalar."""
    return emit(CAST, (operand,), (given.dtype,)) if operand.weak and not given.weak else operand
