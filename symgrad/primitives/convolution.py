"""Convolution of two vectors; bilinear, and its derivative by either is a Toeplitz matrix of the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..program.dims import Shape
from ..program.node import Node, emit
from .batching import Batching
from .contraction import contract
from .primitive import Params, Primitive, made_constant
from .selection import assemble, full, gather, take_slice


class Convolve(Primitive):
    """``np.convolve(a, v)`` in full."""

    name = "convolve"
    keeps_zeros = True

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        a, v = operands
        return (a.shape[0] + v.shape[0] - 1,), np.result_type(a.dtype, v.dtype), False

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        other = node.operands[1 - key]
        if not batch:
            return emit(CONVOLVE, (tangent, other))
        return _contracted(toeplitz(other, source.shape[0]), tangent, "forward")

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        other = node.operands[1 - key]
        n, m = source.shape[0], other.shape[0]
        if not batch:
            return take_slice(emit(CONVOLVE, (ct, take_slice(other, ((m - 1, m, -1),)))), ((m - 1, n, 1),))
        return _contracted(toeplitz(other, n), ct, "reverse")

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        pairs = sorted(zip(node.operands, operands, batched, strict=True), key=lambda p: p[0].shape[0])
        (_, short, short_batched), (_, long, long_batched) = pairs
        near = windows(long, short.shape[-1])
        lead = near.ndim - 2
        labels = [(*(0,) * long_batched, 1, 2), (*(0,) * short_batched, 2)]
        return contract([near, short], labels, (0, 1), (over.size, *near.shape[lead:]))

    def evaluate(self, params: Params, *values: Any) -> Any:
        return np.convolve(*values)


CONVOLVE = Convolve()


def toeplitz(v: Node, columns: int) -> Node:
    """The matrix of the convolution with ``v``: its entry ``[i, j]`` is ``v[i - j]``, and 0 where there is none."""
    m = v.shape[0]

    def places() -> np.ndarray:
        lag = np.arange(m + columns - 1)[:, None] - np.arange(columns)
        return np.where((lag >= 0) & (lag < m), lag, m)

    index = made_constant(("toeplitz", m, columns), places)
    return gather(assemble([v], (m + 1,), [((0, m, 1),)]), index, 0)


def windows(x: Node, width: int) -> Node:
    """Along a last axis, for each place of the convolution with ``width`` others the entries of ``x`` that count.

    The first is the one that counts with the first of the others.
    """
    n = x.shape[-1]
    last = np.arange(n + width - 1) + width - 1
    index = made_constant(("windows", n, width), lambda: last[:, None] - np.arange(width))
    lead = full(x.shape[:-1])
    padded = assemble([x], (*x.shape[:-1], n + 2 * (width - 1)), [(*lead, (width - 1, n, 1))])
    return gather(padded, index, x.ndim - 1)


def _contracted(matrix: Node, flow: Node, mode: str) -> Node:
    lead = tuple(range(2, flow.ndim + 1))
    own, out = (1, 0) if mode == "forward" else (0, 1)
    return contract([matrix, flow], [(0, 1), (*lead, own)], (*lead, out), (*matrix.shape, *flow.shape[:-1]))
