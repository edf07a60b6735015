"""Rotations: pieces of an array that stand in another order, as ``np.roll`` leaves them, read as one array again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..primitives.selection import SLICE, Spec, full
from ..program.dims import Shape, normal
from ..program.node import Node

#: a part of an array, and where it stands
Piece = tuple[Node, Spec]


class Rotation(NamedTuple):
    """The array whose element ``i + shift`` along an axis, counted around, stands at ``i``."""

    source: Node
    axis: int
    shift: Any


def rotations(pieces: Sequence[Piece], shape: Shape) -> tuple[list[Rotation], list[Piece]]:
    """The rotations that pieces of an array of ``shape`` make up, and the other pieces."""
    if 0 in shape:
        return [], list(pieces)
    groups: dict[tuple[Node, int], list[tuple[Any, Any, Any, Piece]]] = {}
    others: list[Piece] = []
    for piece in pieces:
        found = _part(piece, shape)
        if found is None:
            others.append(piece)
        else:
            source, axis, begin, length, shift = found
            groups.setdefault((source, axis), []).append((begin, length, shift, piece))
    turns = []
    for (source, axis), parts in groups.items():
        around = shape[axis]
        while parts:
            shift = parts[0][2]
            alike = [p for p in parts if normal(p[2] - shift) in (0, around, normal(-around))]
            parts = [p for p in parts if p not in alike]
            if _fills([(begin, length) for begin, length, _, _ in alike], around):
                turns.append(Rotation(source, axis, min((p[2] for p in alike), key=_away)))
            else:
                others += [piece for _, _, _, piece in alike]
    return turns, others


def _part(piece: Piece, shape: Shape) -> tuple[Node, int, Any, Any, Any] | None:
    """Of which array of ``shape`` a piece is a range of one axis, where that begins here, its length, and its shift."""
    node, spec = piece
    moved = [k for k, (e, whole) in enumerate(zip(spec, full(shape), strict=True)) if e != whole]
    if node.primitive is not SLICE or node.operands[0].shape != shape or len(moved) != 1:
        return None
    (axis,), taken = moved, node.params[0]
    here, there = spec[axis], taken[axis]
    ranges = isinstance(here, tuple) and isinstance(there, tuple) and here[2] == there[2] == 1
    rest = (*taken[:axis], *taken[axis + 1 :])
    if not ranges or rest != (*full(shape[:axis]), *full(shape[axis + 1 :])):
        return None
    return node.operands[0], axis, here[0], here[1], normal(there[0] - here[0])


def _fills(ranges: list[tuple[Any, Any]], size: Any) -> bool:
    """Whether ranges stand one behind the other from 0 up to ``size``."""
    at: Any = 0
    while ranges:
        following = [r for r in ranges if r[0] == at]
        if len(following) != 1:
            return False
        ranges.remove(following[0])
        at = normal(at + following[0][1])
    return at == size


def _away(shift: Any) -> tuple[bool, Any]:
    """A number before a name, a small one before a large one."""
    return (False, abs(shift)) if isinstance(shift, int) else (True, 0)
