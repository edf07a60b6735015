"""The slope of ``|x|`` times itself is 1: a smooth function of ``|x|`` keeps its second derivative at 0.

``sign(x)²`` is 0 at 0, where both sides of ``|x|²`` or ``exp(-|x|)`` have one second derivative. So products drop the
slope where it stands twice in them. It is a function of its own, for the square of a sign that a user wrote is 0 at 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..program.node import Node
from .casting import cast
from .contraction import EINSUM, GATE, PAIRED, SLOPE, Labels, contract, gate, ones
from .functions import add, negative

#: nodes that are looked at for a second slope
_MAX_VISITED = 64


@dataclass
class _Search:
    """Looks for ``slope`` among the factors of a value, in no more than ``left`` nodes."""

    slope: Node
    left: int = _MAX_VISITED

    def split(self, node: Node, axes: Labels) -> tuple[Node | None, Node | None]:
        """``q`` and ``r`` of ``node = slope · q + r``, None for zeros; ``axes`` of it are the slope's, in its order."""
        if node is self.slope and axes == tuple(range(node.ndim)):
            return ones(node.shape), None
        self.left -= 1
        if self.left < 0:
            return None, node
        if node.primitive in (add, negative) and all(o.shape == node.shape for o in node.operands):
            return self._of_sum(node, axes)
        if node.primitive is GATE:
            return self._of_gate(node, axes)
        return self._of_product(node, axes) if node.primitive is EINSUM else (None, node)

    def _of_gate(self, node: Node, axes: Labels) -> tuple[Node | None, Node | None]:
        for k, o in enumerate(node.operands):
            lead = node.ndim - o.ndim
            if o.dtype.kind != "b" and o.shape == node.shape[lead:] and all(a >= lead for a in axes):
                other = node.operands[1 - k]
                q, r = self.split(o, tuple([a - lead for a in axes]))
                if q:
                    made = [x and (_gated(x, other) if k == 0 else _gated(other, x)) for x in (q, r)]
                    return made[0], made[1]
        return None, node

    def _of_sum(self, node: Node, axes: Labels) -> tuple[Node | None, Node | None]:
        parts = [self.split(o, axes) for o in node.operands]
        if not any(q for q, _ in parts):
            return None, node
        sign = negative if node.primitive is negative else lambda x: x
        both = [[part for part in side if part] for side in zip(*parts, strict=True)]
        q, r = [sign(add(*side)) if len(side) > 1 else sign(side[0]) if side else None for side in both]
        return q, r

    def _of_product(self, node: Node, axes: Labels) -> tuple[Node | None, Node | None]:
        labels, out, sizes, _ = node.params
        wanted = tuple([out[a] for a in axes])
        for k, (o, own) in enumerate(zip(node.operands, labels, strict=True)):
            if not set(wanted) <= set(own):
                continue
            q, r = self.split(o, tuple([own.index(i) for i in wanted]))
            if q:
                made = [
                    x and contract([*node.operands[:k], x, *node.operands[k + 1 :]], labels, out, sizes) for x in (q, r)
                ]
                return made[0], made[1]
        return None, node


def _gated(m: Node, t: Node) -> Node:
    """Their product in which zeros of ``m`` win, of which one may be nothing but ones."""
    if t is ones(t.shape) and m.dtype.kind != "b" and m.ndim >= t.ndim:
        return m
    return t if m is ones(m.shape) and t.ndim >= m.ndim else gate(m, t)


def without_pairs(node: Node) -> Node:
    """``node``, a product, without slopes that stand twice in it."""
    made = _of_gate(node) if node.primitive is GATE else _of_einsum(node) if node.primitive is EINSUM else None
    return node if made is None else cast(made, node.dtype)


def _of_einsum(node: Node) -> Node | None:
    labels, out, sizes, _ = node.params
    for k, (slope, wanted) in enumerate(zip(node.operands, labels, strict=True)):
        if slope.primitive.name != SLOPE:
            continue
        for j, (o, own) in enumerate(zip(node.operands, labels, strict=True)):
            if j == k or not set(wanted) <= set(own):
                continue
            q, r = _Search(slope).split(o, tuple([own.index(i) for i in wanted]))
            if q:
                operands = [*node.operands]
                operands[k], operands[j] = ones(slope.shape), q
                made = contract(operands, labels, out, sizes)
                operands[k], operands[j] = slope, r or slope
                return add(made, contract(operands, labels, out, sizes)) if r else made
    return None


def _of_gate(node: Node) -> Node | None:
    m, t = node.operands
    lead = m.ndim - t.ndim
    if m.dtype.kind == "b" or lead < 0 or m.shape[lead:] != t.shape:
        return None
    for slope in (t, *t.operands):
        if slope.primitive.name == SLOPE and slope.shape == t.shape:
            over, rest = _Search(slope).split(t, tuple(range(t.ndim)))
            q, r = _Search(slope).split(m, tuple(range(lead, m.ndim))) if over and not rest else (None, None)
            if over and q:
                return add(_gated(q, over), gate(r, t)) if r else _gated(q, over)
    return None


PAIRED.append(without_pairs)
