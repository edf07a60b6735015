"""Views: where a value stands in the memory of another, as an offset and strides in elements."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from ...primitives.contraction import EINSUM
from ...program.node import Node


@dataclass(frozen=True)
class View:
    """The element ``k`` of a value is at ``offset + Σ strides[a]·k[a]`` of what ``base`` holds."""

    base: Node
    offset: int
    strides: tuple[int, ...]


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a C-contiguous array, in elements."""
    strides: list[int] = []
    step = 1
    for d in reversed(shape):
        strides.append(step)
        step *= d
    return tuple(reversed(strides))


def passes_on(node: Node) -> bool:
    """True for a node that is its first operand under another name."""
    name = node.primitive.name
    return name in ("mark", "stop_gradient", "custom") or (name == "cast" and node.dtype == node.operands[0].dtype)


def view_of(node: Node, source: View) -> View | None:
    """``node`` as a view where its first operand has the view ``source``; None where it is not one."""
    name = node.primitive.name
    if name == "slice":
        return _sliced(node, source)
    if name == "reshape":
        strides = reshaped_strides(node.operands[0].shape, source.strides, node.shape)
        return None if strides is None else View(source.base, source.offset, strides)
    if node.primitive is EINSUM:
        labels, out, _, _ = node.params
        by_label: dict[int, int] = {}
        for i, stride in zip(labels[0], source.strides, strict=True):
            by_label[i] = by_label.get(i, 0) + stride
        return View(source.base, source.offset, tuple([by_label.get(i, 0) for i in out]))
    return source if passes_on(node) else None


def may_be_view(node: Node) -> bool:
    """True for a node that moves no element of its first operand (a reshape: only where the strides allow)."""
    if node.primitive is EINSUM:
        labels, out, sizes, _ = node.params
        if len(labels) != 1 or node.operands[0].is_literal or len(set(out)) < len(out):
            return False
        return node.dtype == node.operands[0].dtype and all(i in out or sizes[i] == 1 for i in labels[0])
    return node.primitive.name in ("slice", "reshape") or passes_on(node)


def _sliced(node: Node, source: View) -> View:
    offset, strides = source.offset, []
    for entry, stride in zip(node.params[0], source.strides, strict=True):
        if isinstance(entry, tuple):
            start, _, step = entry
            strides.append(stride * step)
        else:
            start = entry
        offset += start * stride
    return View(source.base, offset if 0 not in node.shape else 0, tuple(strides))


def reshaped_strides(old: tuple, strides: tuple, new: tuple) -> tuple[int, ...] | None:
    """The strides of a reshape that moves nothing; None where elements must move.

    >>> reshaped_strides((2, 3, 4), (12, 4, 1), (6, 4)), reshaped_strides((2, 3), (1, 2), (6,))
    ((4, 1), None)
    """
    if 0 in old:
        return contiguous(new)
    source = [(d, s) for d, s in zip(old, strides, strict=True) if d != 1]
    made: list[int] = []
    k = 0
    pending: list[int] = []
    for d in new:
        pending.append(d)
        if _product(pending) == 1:
            made.append(0)
            pending = []
            continue
        extent, last = 1, k
        while last < len(source) and extent < _product(pending):
            extent *= source[last][0]
            last += 1
        if extent != _product(pending):
            continue
        group = source[k:last]
        if any(a[1] != b[0] * b[1] for a, b in itertools.pairwise(group)):
            return None
        step = group[-1][1]
        made += [s * step for s in contiguous(tuple(pending))]
        k, pending = last, []
    return tuple(made) if len(made) == len(new) and not any(d != 1 for d in pending) else None


def _product(sizes: list[int]) -> int:
    total = 1
    for s in sizes:
        total *= s
    return total
