"""Local linear maps as programs of their own, for primitives that have no rule for terms.

The map is built once on a stand-in for the flow, out of contractions, and terms go through these: a stack of
inverses keeps its blocks apart, a declared rule its diagonal.
"""

from __future__ import annotations

from typing import Any

from ...primitives.casting import cast
from ...primitives.contraction import expand
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
from ...primitives.primitive import literal
from ...program.node import Node
from .index_maps import plain_label
from .structured_tangents import StructuredTangent

_CONTRACTED = (INVERSE, SOLVE, DETERMINANT, LOG_DETERMINANT, CHOLESKY)


def is_contracted(node: Node) -> bool:
    """True where both maps of ``node`` are contractions, or can be."""
    return node.primitive in _CONTRACTED or (node.primitive is COFACTOR and len(node.operands) == 2)


def has_structure(term: StructuredTangent) -> bool:
    """False for an array: every axis a label of its own that the value has."""
    labels = [plain_label(m) for m in (*term.at, *term.seed)]
    return None in labels or len(set(labels)) < len(labels) or not set(labels).issubset(term.labels)


def pushforward_of(node: Node, source: Node, key: Any) -> tuple[Node, Node]:
    """A stand-in for the tangent of ``source``, and the tangent of ``node`` as an expression in it."""
    stand_in = _stand_in(source)
    if node.primitive is COFACTOR:
        return stand_in, by_minors(node, stand_in)
    if node.primitive is not SOLVE:
        return stand_in, _some(node.primitive.jvp(node, source, key, stand_in, 0))
    tangent = stand_in
    if key == 0:
        columns = columns_of(node)
        tangent = product(lead_of(source, 2), [(stand_in, "ik"), (node, "k" + columns)], "i" + columns, -1)
    return stand_in, _by_inverse(node, tangent, "ik")


def pullback_of(node: Node, source: Node, key: Any) -> tuple[Node, Node]:
    """A stand-in for the cotangent of ``node``, and that of ``source`` as an expression in it."""
    stand_in = _stand_in(node)
    if node.primitive is COFACTOR:
        return stand_in, by_minors(node, stand_in, transposed=True)
    if node.primitive is not SOLVE:
        return stand_in, _some(node.primitive.vjp(node, source, key, stand_in, 0))
    by_b = _by_inverse(node, stand_in, "ki")
    if key == 1:
        return stand_in, by_b
    columns = columns_of(node)
    return stand_in, product(lead_of(source, 2), [(by_b, "i" + columns), (node, "j" + columns)], "ij", -1)


def _stand_in(like: Node) -> Node:
    return mark(expand(cast(literal(0.0), like.dtype), like.shape))


def _by_inverse(node: Node, flow: Node, turned: str) -> Node:
    """``A⁻¹ flow``, or ``A⁻ᵀ flow``, as a contraction: an identity in the flow stays one."""
    columns = columns_of(node)
    factors = [(inverse(node.operands[0]), turned), (flow, "k" + columns)]
    return product(lead_of(flow, 1 + len(columns)), factors, "i" + columns)


def _some(flow: Node | None) -> Node:
    assert flow is not None
    return flow
