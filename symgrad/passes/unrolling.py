"""Loops written out step by step, for what has no loops of its own.

``# part(scan(loop, x, a), k) -> step(… step(step(x, a[0]), a[1]) …, a[n-1])``
``# row(x, y) -> assemble(x, y)``
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import UnsupportedOperation
from ..primitives.casting import cast
from ..primitives.loop import Loop, Piece
from ..primitives.primitive import CONSTANT, DIM, INPUT, LITERAL, CapturedArray, Primitive, constant, dim_value, literal
from ..primitives.scan import PART, ROW, SCAN
from ..primitives.selection import assemble, concatenate, full, take_slice
from ..primitives.shaping import reshape
from ..program.dims import Dim, Shape, is_named, size
from ..program.interpret import rebuilt, walk
from ..program.kept import kept
from ..program.node import Node, emit, originating
from ..program.program import Program
from .loops import with_bodies

#: operations that a program with its loops written out may have
MAX_OPERATIONS = 100_000
_OF_LOOPS = (SCAN, PART, ROW)


def has_loops(program: Program) -> bool:
    """True where a program has loops, or rows of their results."""
    return any(n.primitive in _OF_LOOPS for n in program.nodes)


def unrolled(program: Program, most: int = MAX_OPERATIONS) -> Program:
    """``program`` with the steps of its loops one after the other, in as many operations as they are.

    Raises UnsupportedOperation where these are more than ``most``, or nobody knows how many.

    >>> import numpy as np, symgrad
    >>> from symgrad.transforms.loops import fori_loop
    >>> program = symgrad.trace(lambda x: fori_loop(0, 2, lambda i, c: np.sin(c), x), 1.0)
    >>> print(unrolled(program))
    program(x: float64[]) {
      v0 = cast[float64](x)
      v1 = sin(v0)
      v2 = sin(v1)
    } -> v2
    """
    if not has_loops(program):
        return program
    count = steps_in(program)
    if count > most:
        raise UnsupportedOperation(
            f"written out step by step the loops of this program are {count} operations, and at most {most} are; run "
            "fewer steps, or take what writes loops as loops, such as export('python')."
        )
    return _unrolled(program)


def steps_in(program: Program) -> int:
    """The operations of ``program`` with its loops written out; an UnsupportedOperation where nobody knows them."""
    total = 0
    for node in program.bindings:
        total += 1
        if node.primitive is SCAN:
            loop: Loop = node.params[0]
            if is_named(loop.length):
                raise UnsupportedOperation(
                    f"a loop of {loop.length} steps is written out only where that is a number; pass example arrays "
                    "in place of shapes with names."
                )
            total += loop.length * steps_in(loop.body)
    return total


@kept
def _unrolled(program: Program) -> Program:
    return _read_by_pieces(program, _steps) if has_loops(program) else program


@kept
def parted(program: Program) -> Program:
    """``program`` with loops of which nothing but their results is read: rows are put together as other arrays are.

    ``# part(row(x, y), 0) -> reshape(assemble(x, y)[:n])``
    """
    return _read_by_pieces(with_bodies(program, parted), _pieces) if has_loops(program) else program


def _pieces(loop: Loop, operands: Sequence[Node]) -> list[Node]:
    if not is_named(loop.length) and loop.length < 2:  # no loop
        return _steps(loop, operands)
    row = emit(SCAN, tuple(operands), (loop,))
    return [emit(PART, (row,), tuple(piece)) for piece in loop.pieces]


def _read_by_pieces(program: Program, pieces_of: Callable[[Loop, Sequence[Node]], list[Node]]) -> Program:
    """``program`` with the pieces of loops as ``pieces_of`` makes them, and without rows."""
    whole = {o for n in program.nodes if n.primitive is not PART for o in n.operands}.union(program.outputs)
    pieces: dict[Node, list[Node]] = {}
    image: dict[Node, Node] = {}
    with program.graph:
        for node in originating(program.nodes, orders=0):
            if node.primitive is SCAN:
                loop = node.params[0]
                pieces[node] = made = pieces_of(loop, [image[o] for o in node.operands])
                if node in whole:
                    row = [cast(m, node.dtype) for m in made]
                    image[node] = _row(row, [p.start for p in loop.pieces], node.shape, 0)
            elif node.primitive is PART:
                image[node] = _part(node, image, pieces)
            elif node.primitive is ROW:
                starts, _, batch = node.params
                image[node] = _row([image[o] for o in node.operands], starts, node.shape, batch)
            else:
                image[node] = rebuilt(node, [image[o] for o in node.operands])
    return program.with_outputs([image[o] for o in program.outputs])


def _steps(loop: Loop, operands: Sequence[Node]) -> list[Node]:
    """The pieces of a loop, in the active graph."""
    body = _unrolled(loop.body)
    leaves = {n: _LEAVES[n.primitive](n.params[0]) for n in body.nodes if n.primitive in _LEAVES}
    arrays = operands[loop.carries : loop.carries + loop.elements]
    constants = operands[loop.carries + loop.elements :]
    carried = list(operands[: loop.carries])
    kept: list[list[Node]] = []
    for t in reversed(range(loop.length)) if loop.reverse else range(loop.length):
        items = [take_slice(a, (t, *full(a.shape[1:]))) for a in arrays]
        given = [_strong(n, i) for n, i in zip((*carried, *items, *constants), body.inputs, strict=True)]
        image = walk(body.nodes, {**leaves, **dict(zip(body.inputs, given, strict=True))}, rebuilt)
        results = [image[o] for o in body.outputs]
        carried = results[: loop.carries]
        kept.append([_strong(r, o) for r, o in zip(results, body.outputs, strict=True)][loop.carries :])
    if loop.reverse:
        kept.reverse()
    finals = [_strong(carried[k], loop.body.outputs[k]) for k in loop.finals]
    columns = zip(*kept, strict=True) if kept else [()] * len(loop.kept)
    stacked = [_stacked(c, n) for c, n in zip(columns, loop.kept, strict=True)]
    return [*finals, *stacked]


def _strong(node: Node, like: Node) -> Node:
    """A value that a step is given or gives: no Python scalar, unless it is to be one."""
    if not node.weak or (like.weak and like.primitive is INPUT):
        return node
    if node.is_literal:
        return constant(CapturedArray(np.asarray(node.params[0], like.dtype)))
    return cast(node, like.dtype)


def _stacked(column: Sequence[Node], like: Node) -> Node:
    """What the steps keep as one array, in their order."""
    if not column:
        return constant(CapturedArray(np.zeros((0, *like.shape), like.dtype)))
    return concatenate([reshape(n, (1, *n.shape)) for n in column], 0)


def _part(node: Node, image: dict[Node, Node], pieces: dict[Node, list[Node]]) -> Node:
    (row,) = node.operands
    start, shape, dtype = node.params
    if row in pieces:
        return pieces[row][row.params[0].pieces.index(Piece(*node.params))]
    return cast(reshape(take_slice(image[row], ((start, size(shape), 1),)), shape), dtype)


def _row(parts: Sequence[Node], starts: Sequence[Dim], shape: Shape, batch: int) -> Node:
    lead = shape[:batch]
    counts = [size(p.shape[batch:]) for p in parts]
    flat = [reshape(p, (*lead, count)) for p, count in zip(parts, counts, strict=True)]
    return assemble(flat, shape, [(*full(lead), (s, count, 1)) for s, count in zip(starts, counts, strict=True)])


_LEAVES: dict[Primitive, Callable[[Any], Node]] = {CONSTANT: constant, DIM: dim_value, LITERAL: literal}
