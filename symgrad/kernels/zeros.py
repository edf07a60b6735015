"""Zeros that are known before anything runs: those that captured constants bring into a value."""

from __future__ import annotations

import numpy as np

from ..primitives.casting import CAST
from ..primitives.contraction import EINSUM, GATE
from ..primitives.elementwise import ELEMENTWISE, Elementwise
from ..primitives.primitive import CONSTANT
from ..primitives.reduction import CUMPROD, CUMSUM
from ..primitives.selection import ASSEMBLE, GATHER, SCATTER, Structural
from ..program.dims import is_concrete, size
from ..program.node import Node, ancestors

#: larger arrays, and contractions over more, are taken to have no zeros
_LARGEST = 1 << 24
_MULTIPLY, _ADD, _SUBTRACT = ELEMENTWISE["multiply"], ELEMENTWISE["add"], ELEMENTWISE["subtract"]
_NEGATIVE, _DIVIDE, _WHERE = ELEMENTWISE["negative"], ELEMENTWISE["divide"], ELEMENTWISE["where"]


def may_be_nonzero(value: Node) -> np.ndarray | None:
    """Where ``value`` may be other than zero, from constants and placed zeros alone; None for everywhere."""
    known: dict[Node, np.ndarray | None] = {}
    fixed: dict[Node, np.ndarray] = {}
    nodes = ancestors([value])
    if not any(n.primitive in (CONSTANT, ASSEMBLE) for n in nodes):
        return None
    for node in nodes:
        own = _fixed(node, fixed)
        if own is not None:
            fixed[node] = own
            known[node] = None if own.all() else own != 0
        else:
            known[node] = _nonzero(node, [known[o] for o in node.operands], fixed)
    mask = known[value]
    return None if mask is None or mask.all() else mask


def _fixed(node: Node, fixed: dict[Node, np.ndarray]) -> np.ndarray | None:
    """The value of a constant, and of an elementwise function of constants."""
    if node.primitive is CONSTANT:
        return np.asarray(node.params[0].value)
    if node.is_literal:
        return np.asarray(node.params[0])
    if not isinstance(node.primitive, Elementwise) or not all(o in fixed for o in node.operands):
        return None
    if not is_concrete(node.shape) or size(node.shape) > _LARGEST:
        return None
    with np.errstate(all="ignore"):
        return np.asarray(node.primitive.evaluate(node.params, *[fixed[o] for o in node.operands]))


def _nonzero(node: Node, masks: list[np.ndarray | None], fixed: dict[Node, np.ndarray]) -> np.ndarray | None:
    if node.dtype.kind not in "fb" or not is_concrete(node.shape) or size(node.shape) > _LARGEST:
        return None
    primitive = node.primitive
    if all(m is None for m in masks) and primitive not in (ASSEMBLE, SCATTER):
        return None
    if isinstance(primitive, Structural):  # a sum of truth values is true where one is
        return _moved(node, masks, fixed)
    if primitive in (_MULTIPLY, GATE):
        wide = [np.broadcast_to(m, node.shape) for m in masks if m is not None]
        return np.logical_and.reduce(wide)
    if primitive is EINSUM:
        return _contracted(node, masks)
    if primitive is _WHERE and node.operands[0] in fixed:
        taken = fixed[node.operands[0]] != 0
        return np.array(np.broadcast_to(np.where(taken, *_filled(node, masks)[1:]), node.shape))
    if primitive in (_NEGATIVE, CAST, _DIVIDE):
        return None if masks[0] is None else np.array(np.broadcast_to(masks[0], node.shape))
    if primitive in (_ADD, _SUBTRACT):
        return None if any(m is None for m in masks) else np.logical_or(*np.broadcast_arrays(*_filled(node, masks)))
    if primitive in (CUMSUM, CUMPROD):
        return None if masks[0] is None else primitive.evaluate(node.params, masks[0]) != 0
    return None


def _filled(node: Node, masks: list[np.ndarray | None]) -> list[np.ndarray]:
    return [np.ones(o.shape, bool) if m is None else m for o, m in zip(node.operands, masks, strict=True)]


def _moved(node: Node, masks: list[np.ndarray | None], fixed: dict[Node, np.ndarray]) -> np.ndarray | None:
    """The zeros of a structural operation; None where an index is not known."""
    if node.primitive not in (GATHER, SCATTER):
        return node.primitive.evaluate(node.params, *_filled(node, masks))
    index = fixed.get(node.operands[1])
    if index is None or node.operands[1].primitive is not CONSTANT:
        return None
    return node.primitive.evaluate(node.params, _filled(node, masks)[0], index)


def _contracted(node: Node, masks: list[np.ndarray | None]) -> np.ndarray | None:
    labels, out, sizes, _ = node.params
    total = 1
    for d in sizes:
        total *= d
    if total > _LARGEST:
        return None
    ones = [
        np.ones(o.shape, np.float32) if m is None else np.asarray(m, np.float32)
        for o, m in zip(node.operands, masks, strict=True)
    ]
    return EINSUM.evaluate((labels, out, sizes, ""), *ones) != 0
