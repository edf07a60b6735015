"""Elementwise nodes: their operands in the dtypes that NumPy computes in, by operators or formulas."""

from __future__ import annotations

import numpy as np

from ...errors import UnsupportedOperation
from ...primitives.elementwise import Elementwise
from ...program.node import Node
from .graph import Graph
from .steps import Value, supported, xp


def elementwise(g: Graph, node: Node, operands: list[Value]) -> Value:
    """The value of an elementwise node."""
    template = node.primitive
    if not isinstance(template, Elementwise):
        raise UnsupportedOperation(f"onnx: {template.name} is not written; export the format python.")
    loop = [supported(np.dtype(d)) for d in template.loop_dtypes(node.operands)[: template.arity]]
    xs = [x.astype(d) for x, d in zip(operands, loop, strict=True)]
    if template.name == "power" and not xs[0].is_float:
        made = _power(g, *xs)
    elif template.name == "where":
        made = xp.where(xs[0].astype(bool), *xs[1:])
    else:
        made = g.operation(template.name, *xs)
    return g.expand(made.astype(node.dtype), node.shape)


def _power(g: Graph, a: Value, b: Value) -> Value:
    """Of whole numbers by repeated squares: onnxruntime takes it through floats, which do not hold all of them."""
    exponent = g.initializers.get(b.name)
    if exponent is None or exponent.size != 1 or exponent.item() < 0:
        raise UnsupportedOperation(
            "onnx: a power of whole numbers is written for a constant exponent alone; cast the base to float."
        )
    left, square, made = exponent.item(), a, g.expand(g.like(1, a), a.shape)
    while left:
        if left & 1:
            made = made * square
        left >>= 1
        square = square * square if left else square
    return made
