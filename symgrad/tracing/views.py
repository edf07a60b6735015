"""Views: what a rule makes of an array without moving an element, and what a write into it makes of the array.

A view is a function from the node of its base to its own, built of slices, reshapes, einsums of one operand that
permute, repeat or drop axes, gathers at known places, and parts of complex numbers. These are the links of its chain,
the last one first. Each can be undone, so a view can be written through, and followed again after its base was written
to, whichever function made it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

from ..primitives.contraction import EINSUM, contract
from ..primitives.functions import add, imag, multiply, real
from ..primitives.primitive import input_node, literal
from ..primitives.selection import GATHER, SLICE
from ..primitives.shaping import RESHAPE, reshape
from ..program.node import Node, emit_again
from .assignment import put, put_element, put_slice
from .dispatch import refuse
from .trace import running

Along = Callable[[Node], Node]
#: whether NumPy surely gives a view; None where the links say it, or what says so where that is asked
Certain = bool | Callable[[], bool | None] | None

_DEPENDS = (
    "depends on the memory layout (reshape, ravel, np.ascontiguousarray), or on whether a value without axes is a "
    "scalar"
)
MAYBE_COPY = (
    f"whether NumPy gives a view or a copy here {_DEPENDS}, so a write into the result is not followed. Write into the "
    "array itself, or a copy()."
)
MAYBE_WRITTEN = (
    f"what may look into this array was written to. Whether the array sees the write {_DEPENDS}. Write into a copy() "
    "of it."
)
STALE = (
    f"this array was taken from one that was written to since. Whether it sees the write {_DEPENDS}. Take it again "
    "after the write, or take a copy() before it."
)


class ReadOnly:
    """What gives an array that is not written to, and not read after its base was."""

    def __init__(self, why: str) -> None:
        self._why = why

    def __call__(self, node: Node) -> Node:
        return node

    def write(self, _: Node) -> NoReturn:
        """Refuse the write."""
        refuse(self._why)


def links(along: Along, base: Node) -> list[Node]:
    """The links of a view of an array like ``base``."""
    start = input_node("base", base.shape, base.dtype, base.weak)  # of a known array ``along`` may make something else
    chain: list[Node] = []
    node = along(start)
    while node is not start:
        assert node.primitive in (SLICE, RESHAPE, EINSUM, GATHER, real, imag), node
        chain.append(node)
        node = node.operands[0]
    return chain


def is_always_view(chain: Sequence[Node]) -> bool:
    """True where NumPy copies nothing, whatever the memory layout of the base."""
    return all(link.primitive is not RESHAPE or _splits(link.operands[0].shape, link.shape) for link in chain)


def _splits(old: Sequence, new: Sequence) -> bool:
    """True where each axis of the result is a part of one axis, so that strides can express it.

    >>> _splits((6, 4), (2, 3, 4)), _splits((1, 6), (3, 2)), _splits((2, 3), (6,)), _splits((2, 6), (4, 3))
    (True, True, False, False)
    """
    wanted = [d for d in new if d != 1]
    for d in [d for d in old if d != 1]:
        part = 1
        while part != d:
            if not wanted or not isinstance(d, int) or d % part:
                return bool(wanted) and part == 1 and wanted.pop(0) == d
            part *= wanted.pop(0)
    return not wanted


def is_writable(chain: Sequence[Node]) -> bool:
    """True where NumPy lets a view be written to: no element stands in it twice, and it is no diagonal."""
    return all(link.primitive is not EINSUM or _permutes(link) for link in chain)


def _permutes(link: Node) -> bool:
    ((labels,), out, sizes, _) = link.params
    changed = set(labels) ^ set(out)
    return len(set(labels)) == len(labels) and len(set(out)) == len(out) and all(sizes[i] == 1 for i in changed)


def written_through(chain: Sequence[Node], base: Node, part: Node) -> Node:
    """The base after its writable view has become ``part``."""
    bases = [base]
    for link in reversed(chain[1:]):
        bases.append(emit_again(link, (bases[-1], *link.operands[1:])))
    for link in chain:
        outer = bases.pop()
        if link.primitive is SLICE:
            part = put_slice(outer, link.params[0], part)
        elif link.primitive is RESHAPE:
            part = reshape(part, outer.shape)
        elif link.primitive is GATHER and link.operands[1].shape:
            places = running().guard(link.operands[1])
            part = put(outer, (slice(None),) * link.params[0] + (places,), part)
        elif link.primitive is GATHER:
            part = put_element(outer, link.operands[1], link.params[0], part)
        elif link.primitive is real:
            part = add(part, multiply(literal(1j), imag(outer)))
        elif link.primitive is imag:
            part = add(real(outer), multiply(literal(1j), part))
        else:
            ((labels,), out, sizes, _) = link.params
            part = contract([part], [out], labels, sizes)
    return part
