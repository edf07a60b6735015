"""Changes of dtype."""

from __future__ import annotations

import numpy as np

from ..program.node import Node, emit
from .primitive import Primitive


class Cast(Primitive):
    """A change of dtype; linear between floats."""

    name = "cast"

    def infer(self, operands, params):
        return operands[0].shape, params[0], False

    def masks(self, operands, params):
        return operands[0].masked

    def dependencies(self, node):
        return super().dependencies(node) if node.dtype.kind == "f" else ()

    def jvp(self, node, source, key, tangent, batch):
        return cast(tangent, node.dtype)

    def vjp(self, node, source, key, ct, batch):
        return cast(ct, source.dtype)

    def vmap(self, node, operands, batched, over):
        return cast(operands[0], node.dtype)

    def evaluate(self, params, *values):
        return np.asarray(values[0]).astype(params[0])

    def spell(self, node):
        return f"cast[{node.dtype}]"


CAST = Cast()


def cast(node: Node, dtype: np.dtype) -> Node:
    """``node`` as ``dtype``; the node itself where it already is, or is a Python scalar."""
    if (node.dtype == dtype and not node.weak) or node.is_literal:
        return node
    return emit(CAST, (node,), (np.dtype(dtype),))
