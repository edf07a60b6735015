"""What a carry is before each step and after the last one, which code joins from its pieces to one array."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...primitives.casting import CAST
from ...primitives.contraction import EINSUM
from ...primitives.functions import add
from ...primitives.primitive import CONSTANT, CapturedArray, constant
from ...primitives.selection import CONCATENATE, SLICE, Spec, concatenate, take_slice
from ...primitives.shaping import RESHAPE, reshape
from ...program.interpret import rebuilt
from ...program.node import Node, ancestors
from ..derivation.naming import user_name
from .naming import at_end

if TYPE_CHECKING:
    from .equations import Range
    from .unfolding import Carry, Unfolding


#: rows that may be one expression
_FEWEST = 3


class Histories:
    """The arrays of all that carries are: element ``t`` of such a one is what the carry is before step ``t``."""

    def __init__(self, unfolding: Unfolding) -> None:
        self._unfolding = unfolding
        self._made: dict[Node, Node] = {}
        #: the carries that arrays are of
        self.carries: dict[Node, Carry] = {}
        #: what a carry is after a step, with its array and the place; then all elements of arrays, and what they are
        self.places: dict[Node, tuple[Node, int]] = {}
        self._elements: dict[tuple[Node, int], Node] = {}
        self._reads: dict[Node, bool] = {}
        self._places: dict[Node, tuple[Node, int]] = {}

    def of(self, carry: Carry) -> Node:
        """The array of all that a carry is."""
        if carry.after not in self._made:
            shape = (carry.steps.length + 1, *carry.after.shape)
            made = self._unfolding.named(user_name(carry.base), shape, carry.after.dtype)
            self._made[carry.after] = made
            self.carries[made] = carry
        return self._made[carry.after]

    def are_in(self, node: Node) -> bool:
        """Whether ``node`` reads such an array; each node is looked at once."""
        for n in ancestors([node], self._reads):
            self._reads[n] = n in self.carries or any(self._reads[o] for o in n.operands)
        return self._reads[node]

    def element(self, whole: Node, place: int) -> Node:
        """One element of such an array, or of any other."""
        key = (whole, place)
        if key not in self._elements:
            self._elements[key] = self._element(whole, place)
            self._places.setdefault(self._elements[key], key)
        return self._elements[key]

    def _element(self, whole: Node, place: int) -> Node:
        if whole.primitive is CONSTANT:
            return constant(CapturedArray(whole.params[0].value[place]))
        if whole not in self.carries:
            return take_slice(whole, (place, *[(0, d, 1) for d in whole.shape[1:]]))
        carry = self.carries[whole]
        if place in (0, carry.steps.length):
            return carry.end if place else carry.begins
        name = at_end(carry.base, carry.steps, place)
        made = self._unfolding.named(name, carry.after.shape, carry.after.dtype)
        self.places[made] = whole, place
        return made

    def in_step(self, whole: Node, steps: Range, offset: int) -> Node | None:
        """What such an array holds ``offset`` steps on, where that is what the carry is before or after a step."""
        carry = self.carries.get(whole)
        if carry is None or not carry.steps.agrees(steps) or offset not in (0, 1):
            return None
        return carry.after if offset else carry.before

    def row_of(self, pieces: Sequence[Node], steps: Range, offset: int) -> Node | None:
        """What is in a step of ``pieces`` that are rows, of which the first is that of step ``-offset``.

        Each is made of elements one further on than those of the one before it; None where they are not.
        """
        if len(pieces) < _FEWEST:
            return None
        first, *others = pieces
        found = {n: place for n in ancestors([first]) if (place := self._places.get(n)) is not None}
        if not found or any(p + len(others) >= whole.shape[0] for whole, p in found.values()):
            return None
        for k, other in enumerate(others, 1):
            if _substituted(first, {n: self.element(whole, p + k) for n, (whole, p) in found.items()}) is not other:
                return None
        rows = {n: self._unfolding.steps.known_row(whole, steps, "", p + offset) for n, (whole, p) in found.items()}
        return _substituted(first, {n: row for n, row in rows.items() if row is not None})

    def joined(self, node: Node, operands: Sequence[Node]) -> Node | None:
        """What such an array, or a column of it, is, where ``node`` joins it of its pieces.

        These are the first value, those of some steps, and the last one.
        """
        if node.primitive is not CONCATENATE or node.params != (0,):
            return None
        pieces = [self._piece(o) for o in operands]
        carry = next((c for piece, *_ in pieces if (c := self._carry_of(piece)) is not None), None)
        if carry is None or carry.steps.reverse or carry.steps.outer is not None:
            return None
        start, count, (_, _, rest) = 0, 0, pieces[0]
        for operand, (piece, first, own) in zip(operands, pieces, strict=True):
            place = self._place_of(piece, carry)
            if own != rest or place is None or (count and place + first != start + count):
                return None
            start = start if count else place + first
            count += operand.shape[0]
        whole = self.of(carry)
        made = take_slice(whole, ((start, count, 1), *(rest or [(0, d, 1) for d in whole.shape[1:]])))
        return made if made.shape == node.shape else None

    def _piece(self, node: Node) -> tuple[Node, int, Spec]:
        """As ``_piece``; of an array of one entry of each row that entry is the part."""
        piece, first, rest = _piece(node)
        kept = self._unfolding.steps.kept(piece)
        return piece, first, rest if kept is None or rest else _entry(kept[1])[1]

    def _carry_of(self, piece: Node) -> Carry | None:
        """The carry that ``piece`` has of some steps."""
        kept = self._unfolding.steps.kept(piece)
        if kept is not None:
            steps, (row, _) = kept[0], _entry(kept[1])
            before = (c for c in self._unfolding.carries if c.steps is steps and c.before is row)
            return next(before, None) or self._unfolding.carry_after(row, steps)
        after = self._unfolding.steps.after.get(piece)
        return next((c for c in self._unfolding.carries if after and c.after is after[0]), None)

    def _place_of(self, piece: Node, carry: Carry) -> int | None:
        """Where in the history of a carry a piece of it begins."""
        kept = self._unfolding.steps.kept(piece)
        if kept is not None:
            return None if self._carry_of(piece) is not carry else 0 if _entry(kept[1])[0] is carry.before else 1
        if piece in self._unfolding.steps.after:
            after, place = self._unfolding.steps.after[piece]
            return place + 1 if after is carry.after else None
        given = _bare(carry.given)
        if piece.primitive is CONSTANT and given.primitive is CONSTANT:
            mine, begins = (np.squeeze(n.params[0].value) for n in (piece, given))
            return 0 if np.array_equal(mine, begins) else None
        if piece is carry.end:
            return int(carry.steps.length)
        return 0 if piece in (given, carry.given, carry.begins) else None


def _substituted(root: Node, image: Mapping[Node, Node]) -> Node:
    """``root`` with other nodes in place of some."""
    made = dict(image)
    for n in ancestors([root], made):
        made[n] = rebuilt(n, [made[o] for o in n.operands])
    return made[root]


def by_rows(node: Node, operand: Node) -> Node | None:
    """A join, or a slice, of the rows that ``operand`` has one after another; None where these are cut.

    It has the elements of ``node``, perhaps in another shape.
    """
    if node.primitive is RESHAPE and operand.primitive is RESHAPE:
        return operand.operands[0]
    if node.primitive is RESHAPE and operand.primitive is CONCATENATE and operand.ndim == 1:
        row = node.shape[1:]
        if len(node.shape) > 1 and all(p.shape[0] % math.prod(row) == 0 for p in operand.operands):
            return concatenate([reshape(p, (p.shape[0] // math.prod(row), *row)) for p in operand.operands], 0)
    is_range = node.primitive is SLICE and isinstance(node.params[0][0], tuple)
    if is_range and operand.primitive is RESHAPE and operand.ndim == 1:
        (rows,), (first, count, step) = operand.operands, node.params[0][0]
        wide = math.prod(rows.shape[1:])
        if rows.ndim > 1 and step == 1 and first % wide == count % wide == 0:
            spec = ((first // wide, count // wide, 1), *[(0, d, 1) for d in rows.shape[1:]])
            return take_slice(rows, spec)
    return None


def _piece(node: Node) -> tuple[Node, int, Spec]:
    """The rows of which ``node`` is a part, the number of the first one, and which part of each; () for all of it."""
    node = _bare(node)
    if node.primitive is not SLICE:
        return node, 0, ()
    (whole,), (spec,) = node.operands, node.params
    entries = tuple([e[0] if isinstance(e, tuple) and e[1] == 1 else e for e in spec])
    if whole.ndim == 1 and not isinstance(entries[0], tuple) and node.shape in ((), (1,)):
        return _bare(whole), 0, entries  # an element of one row
    first, *rest = spec
    if not isinstance(first, tuple) or first[2] != 1:
        return node, 0, ()
    return whole, first[0], () if rest == [(0, d, 1) for d in whole.shape[1:]] else tuple(rest)


def _entry(row: Node) -> tuple[Node, Spec]:
    """The vector that a number is an entry of, and which; another value itself."""
    whole, _, rest = _piece(row)
    return (whole, rest) if rest and not row.shape else (row, ())


def _bare(node: Node) -> Node:
    """``node`` without what makes an array of one row of it, or a number of this machine's."""
    while True:
        is_zero_added = node.primitive is add and is_zero(node.operands[1])
        if not (_is_one_row(node) or is_zero_added or (node.primitive is CAST and node.dtype.kind == "f")):
            return node
        node = node.operands[0]


def _is_one_row(node: Node) -> bool:
    """Whether it has the elements of its operand in their order, with axes of one element more or less."""
    if node.primitive is RESHAPE:
        return node.shape == (1, *node.operands[0].shape)
    if node.primitive is not EINSUM or len(node.operands) != 1:
        return False
    (own,), out, sizes, _ = node.params
    wide = [i for i in own if sizes[i] != 1]
    return len(set(wide)) == len(wide) and wide == [i for i in out if sizes[i] != 1]


def is_zero(node: Node) -> bool:
    """Whether it is the number 0, or an array of zeros."""
    while node.primitive in (EINSUM, CAST) and len(node.operands) == 1:
        (node,) = node.operands
    if node.primitive is CONSTANT:
        return not np.any(node.params[0].value)
    return node.is_literal and node.params[0] == 0
