"""How terms go through each primitive, in both modes; a primitive that is not here sees the term as an array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...primitives.casting import CAST, flow_as
from ...primitives.contraction import EINSUM, GATE, float_operands
from ...primitives.elementwise import Elementwise, partial_factor
from ...primitives.identity import MARK
from ...primitives.primitive import made_constant
from ...primitives.reduction import CUMSUM, MAX, MIN, PROD, Extremum
from ...primitives.selection import Selection, Structural
from ...program.dims import Shape
from ...program.node import Node
from .index_maps import (
    Affine,
    Label,
    Map,
    Unsolved,
    at_maps,
    plain,
)
from .selections import put, taken
from .solving import equated
from .structured_tangents import StructuredTangent, dense_term, gated, node_flow, scaled

#: running sums along longer axes stay sums
_MAX_TRIANGLE = 256

Rule = Callable[[Node, Node, Any, StructuredTangent], "list[StructuredTangent] | None"]


def pushed(node: Node, source: Node, key: Any, term: StructuredTangent, seed_shape: Shape) -> list[StructuredTangent]:
    """What the tangent ``term`` of ``source`` gives to the tangent of ``node``."""
    return _through(_FORWARD, node, source, key, term, seed_shape)


def pulled(node: Node, source: Node, key: Any, term: StructuredTangent, seed_shape: Shape) -> list[StructuredTangent]:
    """What the cotangent ``term`` of ``node`` gives to the cotangent of ``source``."""
    return _through(_REVERSE, node, source, key, term, seed_shape)


def _through(
    rules: dict[Any, Rule], node: Node, source: Node, key: Any, term: StructuredTangent, seed_shape: Shape
) -> list[StructuredTangent]:
    forward = rules is _FORWARD
    start, end = (source, node) if forward else (node, source)
    if 0 in (*seed_shape, *start.shape, *end.shape):
        return []
    rule = rules.get(next((c for c in (Elementwise, Structural) if isinstance(node.primitive, c)), node.primitive))
    made = None
    if rule is not None:
        try:
            made = rule(node, source, key, term)
        except Unsolved:
            made = None
    if made is None:
        flow = node_flow(term, start.shape, seed_shape, start.dtype)
        apply = node.primitive.jvp if forward else node.primitive.vjp
        found = apply(node, source, key, flow, len(seed_shape))
        made = [] if found is None else [dense_term(found, len(seed_shape), term.forward)]
    return [t.having(value=flow_as(t.value, end.dtype)) for t in made]


# elementwise functions: the partial derivative at the term's places


def _broadcast_at(at: Sequence[Map], shape: Shape, wide: Shape) -> tuple[Map, ...]:
    """Places in an array of ``shape`` as places in what it is broadcast to."""
    lead = [plain(Label(d)) for d in wide[: len(wide) - len(shape)]]
    own = wide[len(lead) :]
    return (*lead, *[m if d == e else plain(Label(e)) for m, d, e in zip(at, shape, own, strict=True)])


def _narrowed_at(at: Sequence[Map], wide: Shape, shape: Shape) -> tuple[Map, ...]:
    """Places in a broadcast array as places in what was broadcast."""
    own = wide[len(wide) - len(shape) :]
    kept = at[len(wide) - len(shape) :]
    return tuple([m if d == e else Affine(0) for m, d, e in zip(kept, shape, own, strict=True)])


def _times(term: StructuredTangent, factor: Node, shape: Shape, after: Sequence[Map]) -> list[StructuredTangent]:
    """``term`` in an array of ``shape``, times a factor that broadcasts over it, moved to ``after``."""
    value, labels = at_maps(factor, _narrowed_at(term.at, shape, factor.shape))
    if factor.dtype.kind == "b" or (factor.masked and not term.value.is_literal):
        return [gated(term, value, labels, strong=True).moved(after)]
    if term.value.masked and not factor.is_literal:
        return [gated(term, value, labels, strong=False).moved(after)]
    return [scaled(term, [(value, labels)], after)]


def _push_elementwise(node: Node, source: Node, key: Any, term: StructuredTangent) -> list[StructuredTangent] | None:
    if type(key) is tuple:  # of a flow and its conjugate
        return None
    factor = partial_factor(node, key)
    if factor is None:
        return []
    at = _broadcast_at(term.at, source.shape, node.shape)
    return _times(term.moved(at), factor, node.shape, at)


def _pull_elementwise(node: Node, source: Node, key: Any, term: StructuredTangent) -> list[StructuredTangent] | None:
    if type(key) is tuple:
        return None
    factor = partial_factor(node, key)
    if factor is None:
        return []
    return _times(term, factor, node.shape, _narrowed_at(term.at, node.shape, source.shape))


def _push_gate(node: Node, source: Node, key: int, term: StructuredTangent) -> list[StructuredTangent]:
    at = _broadcast_at(term.at, source.shape, node.shape)
    return _gate(node, key, term.moved(at), at)


def _pull_gate(node: Node, source: Node, key: int, term: StructuredTangent) -> list[StructuredTangent]:
    return _gate(node, key, term, _narrowed_at(term.at, node.shape, source.shape))


def _gate(node: Node, key: int, term: StructuredTangent, after: Sequence[Map]) -> list[StructuredTangent]:
    factor = node.operands[1 - key]
    value, labels = at_maps(factor, _narrowed_at(term.at, node.shape, factor.shape))
    if key == 0 and term.value.is_literal:
        return [scaled(term, [(value, labels)], after)]
    return [gated(term, value, labels, strong=key == 1).moved(after)]


# contraction


def _push_einsum(node: Node, source: Node, key: int, term: StructuredTangent) -> list[StructuredTangent]:
    labels, out, _, _ = node.params
    found = _one_place_a_label(term, labels[key], source.shape)
    if found is None:
        return []
    term, place = found
    return _contracted(node, key, term, place, out)


def _pull_einsum(node: Node, source: Node, key: int, term: StructuredTangent) -> list[StructuredTangent]:
    labels, out, _, _ = node.params
    found = _one_place_a_label(term, out, node.shape)
    if found is None:
        return []
    term, place = found
    return _contracted(node, key, term, place, labels[key])


def _one_place_a_label(
    term: StructuredTangent, labels: Sequence[int], shape: Shape
) -> tuple[StructuredTangent, dict[int, Map]] | None:
    """Axes of one label hold the same place; None where they never do."""
    first: dict[int, int] = {}
    for axis, i in enumerate(labels):
        if i in first:
            found = equated(term, term.at[first[i]], term.at[axis], shape[axis])
            if found is None:
                return None
            term = found[0]
        first.setdefault(i, axis)
    return term, {i: term.at[axis] for i, axis in first.items()}


def _contracted(
    node: Node, key: int, term: StructuredTangent, place: dict[int, Map], after: Sequence[int]
) -> list[StructuredTangent]:
    """``term`` times the other operands, at the axes that ``after`` labels."""
    labels, _, sizes, _ = node.params
    for k, own in enumerate(labels):
        for i in own if k != key else ():
            if i not in place:
                place[i] = plain(Label(sizes[i]))
    for i in after:
        if i not in place:
            place[i] = plain(Label(sizes[i]))
    factors = [
        at_maps(o, [place[i] for i in own])
        for k, (o, own) in enumerate(zip(float_operands(node), labels, strict=True))
        if k != key
    ]
    return [scaled(term, factors, [place[i] for i in after])]


# selections: places move, values stay


def _selection(node: Node, key: int) -> tuple[Selection, bool]:
    assert isinstance(node.primitive, Structural)
    return node.primitive.selection(node, key)


def _push_structural(node: Node, source: Node, key: Any, term: StructuredTangent) -> list[StructuredTangent]:
    selection, is_part = _selection(node, key)
    return taken(term, selection, source.shape) if is_part else put(term, selection, node.shape)


def _pull_structural(node: Node, source: Node, key: Any, term: StructuredTangent) -> list[StructuredTangent]:
    selection, is_part = _selection(node, key)
    return put(term, selection, source.shape) if is_part else taken(term, selection, node.shape)


# reductions


def _reduced_at(node: Node, at: Sequence[Map]) -> list[Map]:
    return [m for a, m in enumerate(at) if a not in node.params[0]]


def _spread_at(node: Node, at: Sequence[Map]) -> list[Map]:
    rest = iter(at)
    shape = node.operands[0].shape
    return [plain(Label(d)) if a in node.params[0] else next(rest) for a, d in enumerate(shape)]


def _extremum(node: Node) -> Extremum:
    return MAX if node.primitive is MAX else MIN


def _push_extremum(node: Node, source: Node, key: Any, term: StructuredTangent) -> list[StructuredTangent]:
    hit, share = _extremum(node).mask(node)
    (made,) = _times(term, hit, source.shape, _reduced_at(node, term.at))
    return _times(made, share, node.shape, made.at)


def _pull_extremum(node: Node, source: Node, key: Any, term: StructuredTangent) -> list[StructuredTangent]:
    hit, share = _extremum(node).mask(node)
    (made,) = _times(term, share, node.shape, term.at)
    at = tuple(_spread_at(node, made.at))
    return _times(made.having(at=at), hit, source.shape, at)


def _push_product(node: Node, source: Node, key: Any, term: StructuredTangent) -> list[StructuredTangent]:
    return _times(term, PROD.others(node), source.shape, _reduced_at(node, term.at))


def _pull_product(node: Node, source: Node, key: Any, term: StructuredTangent) -> list[StructuredTangent]:
    at = tuple(_spread_at(node, term.at))
    return _times(term.having(at=at), PROD.others(node), source.shape, at)


def _running(node: Node, term: StructuredTangent, backwards: bool) -> list[StructuredTangent]:
    """Running sums of an identity: a triangle of ones; a sum that runs over values stays one."""
    axis, _ = node.params
    d = node.shape[axis]
    m = term.at[axis]
    held = {k for own in term.seed for k in own.labels}
    if not isinstance(d, int) or d > _MAX_TRIANGLE or not held.issuperset([k for k in m.labels if k.size != 1]):
        raise Unsolved
    new = plain(Label(d))
    value, labels = at_maps(triangle(d, backwards), [new, m])
    return [scaled(term, [(value, labels)], (*term.at[:axis], new, *term.at[axis + 1 :]))]


def triangle(size: int, upper: bool) -> Node:
    """Ones on and below the diagonal, or on and above it; one node each."""
    key = ("triangle", size, upper)
    return made_constant(key, lambda: np.ascontiguousarray(np.tri(size).T if upper else np.tri(size)))


def _same(node: Node, source: Node, key: Any, term: StructuredTangent) -> list[StructuredTangent]:
    return [term]


_FORWARD: dict[Any, Rule] = {
    Elementwise: _push_elementwise,
    EINSUM: _push_einsum,
    GATE: _push_gate,
    Structural: _push_structural,
    MAX: _push_extremum,
    MIN: _push_extremum,
    PROD: _push_product,
    CUMSUM: lambda node, source, key, term: _running(node, term, node.params[1]),
    CAST: _same,
    MARK: _same,
}
_REVERSE: dict[Any, Rule] = {
    Elementwise: _pull_elementwise,
    EINSUM: _pull_einsum,
    GATE: _pull_gate,
    Structural: _pull_structural,
    MAX: _pull_extremum,
    MIN: _pull_extremum,
    PROD: _pull_product,
    CUMSUM: lambda node, source, key, term: _running(node, term, not node.params[1]),
    CAST: _same,
    MARK: _same,
}
