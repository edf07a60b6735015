"""Zeros that are known before anything runs: those that captured constants bring into a value."""

from __future__ import annotations

import numpy as np

from ..primitives.casting import CAST
from ..primitives.contraction import EINSUM, GATE
from ..primitives.elementwise import TEMPLATES, Template
from ..primitives.primitive import CONSTANT
from ..primitives.reduction import CUMPROD, CUMSUM
from ..primitives.selection import ASSEMBLE, CONCATENATE, GATHER, SCATTER, SLICE
from ..primitives.shaping import RESHAPE
from ..program.dims import is_concrete, size
from ..program.node import Node, ancestors

#: larger arrays, and contractions over more, are taken to have no zeros
_LARGEST = 1 << 24
_MULTIPLY, _ADD, _SUBTRACT = TEMPLATES["multiply"], TEMPLATES["add"], TEMPLATES["subtract"]
_NEGATIVE, _DIVIDE, _WHERE = TEMPLATES["negative"], TEMPLATES["divide"], TEMPLATES["where"]


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
    if not isinstance(node.primitive, Template) or not all(o in fixed for o in node.operands):
        return None
    if not is_concrete(node.shape) or size(node.shape) > _LARGEST:
        return None
    with np.errstate(all="ignore"):
        return np.asarray(node.primitive.evaluate(node.params, *[fixed[o] for o in node.operands]))


def _nonzero(node: Node, masks: list[np.ndarray | None], fixed: dict[Node, np.ndarray]) -> np.ndarray | None:
    if node.dtype.kind not in "fb" or not is_concrete(node.shape) or size(node.shape) > _LARGEST:
        return None
    primitive = node.primitive
    if primitive is ASSEMBLE:  # a sum of truth values is true where one is
        ones = [np.ones(o.shape, bool) if m is None else m for o, m in zip(node.operands, masks, strict=True)]
        return ASSEMBLE.evaluate(node.params, *ones)
    if primitive is SCATTER and node.operands[1].primitive is CONSTANT:
        ones = np.ones(node.operands[0].shape, bool) if masks[0] is None else masks[0]
        return SCATTER.evaluate(node.params, ones, node.operands[1].params[0].value)
    if all(m is None for m in masks):
        return None
    if primitive in (_MULTIPLY, GATE):
        wide = [np.broadcast_to(m, node.shape) for m in masks if m is not None]
        return np.logical_and.reduce(wide)
    if primitive is EINSUM:
        return _contracted(node, masks)
    if primitive is _WHERE and node.operands[0] in fixed:
        taken = fixed[node.operands[0]] != 0
        sides = [np.ones(o.shape, bool) if m is None else m for o, m in zip(node.operands[1:], masks[1:], strict=True)]
        return np.array(np.broadcast_to(np.where(taken, *sides), node.shape))
    if primitive in (_NEGATIVE, CAST, _DIVIDE):
        return None if masks[0] is None else np.array(np.broadcast_to(masks[0], node.shape))
    if primitive in (_ADD, _SUBTRACT, CONCATENATE):
        if primitive is not CONCATENATE and any(m is None for m in masks):
            return None
        ones = [np.ones(o.shape, bool) if m is None else m for o, m in zip(node.operands, masks, strict=True)]
        if primitive is CONCATENATE:
            return CONCATENATE.evaluate(node.params, *ones)
        return np.logical_or(*np.broadcast_arrays(*ones))
    if primitive in (SLICE, RESHAPE):
        return primitive.evaluate(node.params, masks[0])
    if primitive in (CUMSUM, CUMPROD):
        return None if masks[0] is None else primitive.evaluate(node.params, masks[0]) != 0
    if primitive is GATHER and node.operands[1].primitive is CONSTANT and masks[0] is not None:
        return GATHER.evaluate(node.params, masks[0], node.operands[1].params[0].value)
    return None


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
