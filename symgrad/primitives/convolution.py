"""Convolution of two vectors; bilinear, and its derivative by either is a Toeplitz matrix of the other."""

from __future__ import annotations

import numpy as np

from ..program.node import Node, active_graph, emit
from .contraction import contract
from .primitive import Captured, Primitive, constant
from .selection import assemble, gather, take_slice


class Convolve(Primitive):
    """``np.convolve(a, v)`` in full."""

    name = "convolve"

    def infer(self, operands, params):
        a, v = operands
        return (a.shape[0] + v.shape[0] - 1,), np.result_type(a.dtype, v.dtype), False

    def push(self, node, source, key, tangent, batch):
        other = node.operands[1 - key]
        if not batch:
            return emit(CONVOLVE, (tangent, other))
        return _contracted(toeplitz(other, source.shape[0]), tangent, "forward")

    def pull(self, node, source, key, ct, batch):
        other = node.operands[1 - key]
        n, m = source.shape[0], other.shape[0]
        if not batch:
            return take_slice(emit(CONVOLVE, (ct, take_slice(other, ((m - 1, m, -1),)))), ((m - 1, n, 1),))
        return _contracted(toeplitz(other, n), ct, "reverse")

    def evaluate(self, params, *values):
        return np.convolve(*values)


CONVOLVE = Convolve()


def toeplitz(v: Node, columns: int) -> Node:
    """The matrix of the convolution with ``v``: its entry ``[i, j]`` is ``v[i - j]``, and 0 where there is none."""
    m = v.shape[0]
    table, key = active_graph().table, ("toeplitz", m, columns)
    if key not in table:
        lag = np.arange(m + columns - 1)[:, None] - np.arange(columns)
        table[key] = constant(Captured(np.where((lag >= 0) & (lag < m), lag, m)))
    return gather(assemble([v], (m + 1,), [((0, m, 1),)]), table[key], 0)


def _contracted(matrix: Node, flow: Node, mode: str) -> Node:
    lead = tuple(range(2, flow.ndim + 1))
    own, out = (1, 0) if mode == "forward" else (0, 1)
    return contract([matrix, flow], [(0, 1), (*lead, own)], (*lead, out), (*matrix.shape, *flow.shape[:-1]))
