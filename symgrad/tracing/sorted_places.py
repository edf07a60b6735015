"""Parts of sorted arrays: only their places are looked up, so that neither mode touches the other elements.

``# slice(gather(x, argsort(x))) -> gather(x, slice(argsort(x)))``
"""

from __future__ import annotations

from typing import Any

from ..primitives.elementwise import Elementwise
from ..primitives.reduction import ARGSORT
from ..primitives.selection import GATHER, SLICE, Spec, full, gather, take_slice
from ..program.dims import Shape
from ..program.node import Node, emit_again

#: operations between what sorts and the index that it is read by
_MOST_STEPS = 6


def part_of(x: Node, spec: Spec) -> Node:
    """``x`` at a slice, which is looked up by place where ``x`` is sorted."""
    if x.primitive is GATHER:
        values, index = x.operands
        (axis,) = x.params
        own = spec[axis : axis + index.ndim]
        others = spec[:axis] + full(values.shape[axis : axis + 1]) + spec[axis + index.ndim :]
        if own != full(index.shape) and others == full(values.shape) and is_order(index):
            return gather(values, _part(index, own, _MOST_STEPS), axis)
    return take_slice(x, spec)


def some_of(x: Node, index: Node, axis: int) -> Node:
    """``gather``, by place where ``x`` is a sorted vector."""
    if x.primitive is GATHER and x.ndim == 1 and x.operands[1].primitive is ARGSORT:
        values, order = x.operands
        return gather(values, gather(order, index, axis), 0)
    return gather(x, index, axis)


def is_order(index: Node, steps: int = _MOST_STEPS) -> bool:
    """Whether an index is what sorts, or counts with it."""
    if index.primitive is ARGSORT or not steps or index.dtype.kind != "i":
        return index.primitive is ARGSORT
    parts = index.operands if index.primitive is SLICE else _counted(index)
    return any(is_order(o, steps - 1) for o in parts)


def _counted(index: Node) -> tuple[Node, ...]:
    """What an index is computed of, element by element."""
    if isinstance(index.primitive, Elementwise):
        return index.operands
    return index.operands[1:] if index.primitive is GATHER and index.operands[0].ndim == 1 else ()


def _part(index: Node, spec: Spec, steps: int) -> Node:
    """A slice of an index."""
    parts = _counted(index) if steps else ()
    if not parts:
        return take_slice(index, spec) if index.shape else index
    made = tuple([_part(o, _fitting(o, spec, index.shape), steps - 1) for o in parts])
    return emit_again(index, made if len(made) == len(index.operands) else (index.operands[0], *made))


def _fitting(x: Node, spec: Spec, shape: Shape) -> Spec:
    """A slice of a result of ``shape`` as that of an operand, which is broadcast along axes of one element."""
    lead = len(shape) - x.ndim
    own: list[Any] = []
    for e, size, whole in zip(spec[lead:], x.shape, shape[lead:], strict=True):
        own.append(e if size == whole else (0, 1, 1) if isinstance(e, tuple) else 0)
    return tuple(own)
