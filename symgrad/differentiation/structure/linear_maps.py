"""Local linear maps as programs of their own, for primitives that have no rule for terms.

The map is built once on a stand-in for the flow, out of contractions, and terms go through these: a stack of
inverses keeps its blocks apart, a declared rule its diagonal.
"""

from __future__ import annotations

from typing import Any

from ...primitives.external import zeros_of
from ...primitives.identity import mark
from ...primitives.linalg import (
    CHOLESKY,
    COFACTOR,
    DETERMINANT,
    INVERSE,
    LOG_DETERMINANT,
    SOLVE,
    by_minors,
    columns_of,
    inverse,
    lead_of,
    product,
)
from ...primitives.reduction import MAX, MIN, PROD
from ...program.node import Node
from .index_maps import plain_label
from .structured_tangents import StructuredTangent

_CONTRACTED = (INVERSE, SOLVE, DETERMINANT, LOG_DETERMINANT, CHOLESKY, MAX, MIN, PROD)


def is_contracted(node: Node) -> bool:
    """True where both maps of ``node`` are contractions, or can be."""
    return node.primitive in _CONTRACTED or (node.primitive is COFACTOR and len(node.operands) == 2)


def has_structure(term: StructuredTangent) -> bool:
    """False for an array: every axis a label of its own that the value has."""
    labels = [plain_label(m) for m in (*term.at, *term.seed)]
    return None in labels or len(set(labels)) < len(labels) or not set(labels).issubset(term.labels)


def map_of(node: Node, source: Node, key: Any, forward: bool) -> tuple[Node, Node]:
    """A stand-in for the tangent of ``source``, and that of ``node`` as an expression in it; backwards, cotangents."""
    start = source if forward else node
    stand_in = mark(zeros_of(start.shape, start.dtype))
    if node.primitive is COFACTOR:
        return stand_in, by_minors(node, stand_in, transposed=not forward)
    if node.primitive is not SOLVE:
        apply = node.primitive.jvp if forward else node.primitive.vjp
        made = apply(node, source, key, stand_in, 0)
        assert made is not None
        return stand_in, made
    columns = columns_of(node)
    flow = stand_in
    if forward and key == 0:
        flow = product(lead_of(source, 2), [(flow, "ik"), (node, "k" + columns)], "i" + columns, -1)
    flow = _by_inverse(node, flow, "ik" if forward else "ki")
    if not forward and key == 0:
        flow = product(lead_of(source, 2), [(flow, "i" + columns), (node, "j" + columns)], "ij", -1)
    return stand_in, flow


def _by_inverse(node: Node, flow: Node, turned: str) -> Node:
    """``A⁻¹ flow``, or ``A⁻ᵀ flow``, as a contraction: an identity in the flow stays one."""
    columns = columns_of(node)
    factors = [(inverse(node.operands[0]), turned), (flow, "k" + columns)]
    return product(lead_of(flow, 1 + len(columns)), factors, "i" + columns)
