"""How terms go through each primitive, in both modes; a primitive that is not here sees the term as an array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...primitives.casting import CAST, flow_as
from ...primitives.contraction import EINSUM, GATE, float_operands, gate
from ...primitives.elementwise import Elementwise, gate_of_both, is_float_gate, partial_factor
from ...primitives.identity import MARK
from ...primitives.primitive import made_constant
from ...primitives.reduction import CUMSUM
from ...primitives.selection import Structural
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
from .structured_tangents import Labels, StructuredTangent, dense_term, gated, joined, node_flow, product, scaled

#: running sums along longer axes stay sums
_MAX_TRIANGLE = 256
#: steps down to a gate
_MAX_GATES = 8

Rule = Callable[[Node, Node, Any, StructuredTangent, bool], "list[StructuredTangent] | None"]


def through(
    node: Node, source: Node, key: Any, term: StructuredTangent, seed_shape: Shape, forward: bool
) -> list[StructuredTangent]:
    """What the tangent ``term`` of ``source`` gives to that of ``node``; backwards, what a cotangent of ``node`` gives.

    ``source`` is the operand of ``node`` that ``key`` names.
    """
    start, end = (source, node) if forward else (node, source)
    if 0 in (*seed_shape, *start.shape, *end.shape):
        return []
    rule = _RULES.get(next((c for c in (Elementwise, Structural) if isinstance(node.primitive, c)), node.primitive))
    made = None
    if rule is not None:
        try:
            made = rule(node, source, key, term, forward)
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
    if term.value.masked and is_float_gate(factor):
        return [_gated_by_both(term, value, labels).moved(after)]
    if factor.dtype.kind == "b" or (factor.masked and not term.value.is_literal):
        return [gated(term, value, labels, strong=True).moved(after)]
    if term.value.masked and not factor.is_literal:
        return [gated(term, value, labels, strong=False).moved(after)]
    return [scaled(term, [(value, labels)], after)]


def _gated_by_both(term: StructuredTangent, factor: Node, labels: Labels) -> StructuredTangent:
    """A term times a factor in which zeros of both win, where those of the term may be met by what is infinite."""
    return joined(term, factor, labels, gate_of_both if _holds_float_gate(term.value) else gate)


def _holds_float_gate(x: Node) -> bool:
    """Whether its zeros may be those of a float gate, which is not a number where its factor is none."""
    for _ in range(_MAX_GATES):
        if is_float_gate(x):
            return True
        inner = [o for o in x.operands if o.masked]
        if not inner:
            return False
        x = inner[-1]
    return True


def _over(
    node: Node, source: Node, term: StructuredTangent, forward: bool
) -> tuple[StructuredTangent, tuple[Map, ...]]:
    """The term at places in ``node``, over which factors broadcast, and the places that it goes to from there."""
    if not forward:
        return term, _narrowed_at(term.at, node.shape, source.shape)
    at = _broadcast_at(term.at, source.shape, node.shape)
    return term.moved(at), at


def _elementwise(
    node: Node, source: Node, key: Any, term: StructuredTangent, forward: bool
) -> list[StructuredTangent] | None:
    if type(key) is tuple:  # of a flow and its conjugate
        return None
    factor = partial_factor(node, key)
    if factor is None:
        return []
    term, after = _over(node, source, term, forward)
    return _times(term, factor, node.shape, after)


def _gate(node: Node, source: Node, key: int, term: StructuredTangent, forward: bool) -> list[StructuredTangent]:
    term, after = _over(node, source, term, forward)
    factor = node.operands[1 - key]
    value, labels = at_maps(factor, _narrowed_at(term.at, node.shape, factor.shape))
    if key == 0 and term.value.is_literal:
        return [scaled(term, [(value, labels)], after)]
    if key == 1 and term.value.masked and factor.dtype.kind != "b":
        return [_gated_by_both(term, value, labels).moved(after)]
    return [gated(term, value, labels, strong=key == 1).moved(after)]


# contraction


def _einsum(node: Node, source: Node, key: int, term: StructuredTangent, forward: bool) -> list[StructuredTangent]:
    labels, out, _, _ = node.params
    before, after, shape = (labels[key], out, source.shape) if forward else (out, labels[key], node.shape)
    found = _one_place_a_label(term, before, shape)
    if found is None:
        return []
    term, place = found
    return _contracted(node, key, term, place, after)


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
    at = tuple([place[i] for i in after])
    if term.value.masked:
        term, factors = _gated_by(term, factors)
        moved = term.having(at=at)
        if set(moved.counters).issuperset(term.counters):
            term, factors = _gated_by(moved, factors)
    return [scaled(term, factors, at)]


def _gated_by(
    term: StructuredTangent, factors: list[tuple[Node, Labels]]
) -> tuple[StructuredTangent, list[tuple[Node, Labels]]]:
    """``term``, whose zeros win, times the factors over its own labels; and the other ones."""
    held = set(term.counters)
    within = [f for f in factors if held.issuperset(f[1]) and not f[0].is_literal]
    if not within:
        return term, factors
    known = {k for _, labels in within for k in labels}
    own = tuple([k for k in term.counters if k in known])
    others = [f for f in factors if not any(f is w for w in within)]
    return gated(term, product(within, own), own, strong=False), others


# selections: places move, values stay


def _structural(node: Node, source: Node, key: Any, term: StructuredTangent, forward: bool) -> list[StructuredTangent]:
    assert isinstance(node.primitive, Structural)
    selection, is_part = node.primitive.selection(node, key)
    start, end = (source, node) if forward else (node, source)
    return taken(term, selection, start.shape) if is_part == forward else put(term, selection, end.shape)


# reductions


def _running(node: Node, source: Node, key: Any, term: StructuredTangent, forward: bool) -> list[StructuredTangent]:
    """Running sums of an identity: a triangle of ones; a sum that runs over values stays one."""
    axis, backwards = node.params
    d = node.shape[axis]
    m = term.at[axis]
    held = {k for own in term.seed for k in own.labels}
    if not isinstance(d, int) or d > _MAX_TRIANGLE or not held.issuperset([k for k in m.labels if k.size != 1]):
        raise Unsolved
    new = plain(Label(d))
    value, labels = at_maps(triangle(d, upper=backwards == forward), [new, m])
    return [scaled(term, [(value, labels)], (*term.at[:axis], new, *term.at[axis + 1 :]))]


def triangle(size: int, upper: bool) -> Node:
    """Ones on and below the diagonal, or on and above it; one node each."""
    key = ("triangle", size, upper)
    return made_constant(key, lambda: np.ascontiguousarray(np.tri(size).T if upper else np.tri(size)))


def _same(node: Node, source: Node, key: Any, term: StructuredTangent, forward: bool) -> list[StructuredTangent]:
    return [term]


_RULES: dict[Any, Rule] = {
    Elementwise: _elementwise,
    EINSUM: _einsum,
    GATE: _gate,
    Structural: _structural,
    CUMSUM: _running,
    CAST: _same,
    MARK: _same,
}
