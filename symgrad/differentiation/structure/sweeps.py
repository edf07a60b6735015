"""Forward and reverse sweeps of terms: one δ seed, one pass, sums of terms at the end."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...primitives.casting import flow_as
from ...primitives.identity import CUSTOM
from ...primitives.selection import SCATTER, concatenate
from ...primitives.shaping import reshape
from ...program.dims import Shape, is_concrete
from ...program.node import Node, emit, originating
from ..cotangents import accumulate
from ..edges import active_edges
from .index_maps import Label, Lookup, index_array, positions
from .linear_maps import has_structure, is_contracted, map_of
from .rules import through
from .structured_tangents import StructuredTangent, collected, dense, dense_term, node_flow, product, seed_term

#: terms that a flow may have, also such as have as many entries as the array, and single entries; more are gathered
MAX_TERMS, MAX_BLOCKS, MAX_SINGLES = 32, 4, 2
#: an array replaces terms that fill more than one in so many of its entries
WORTH = 4


def forward_terms(outputs: Sequence[Node], source: Node) -> list[list[StructuredTangent]]:
    """The Jacobian of each output by ``source``: terms whose ``seed`` is the output and whose ``at`` the source."""
    pushed = swept_forward(outputs, source, [seed_term(source.shape, forward=True)], source.shape)
    return [[t.transposed for t in terms] for terms in pushed]


def reverse_terms(output: Node, wrt: Sequence[Node]) -> list[list[StructuredTangent]]:
    """The Jacobian of ``output`` by each of ``wrt``: terms whose ``seed`` is the output and whose ``at`` the source."""
    return swept_reverse(output, [seed_term(output.shape, forward=False)], wrt, output.shape)


def swept_forward(
    outputs: Sequence[Node], source: Node, terms: list[StructuredTangent], seed_shape: Shape
) -> list[list[StructuredTangent]]:
    """The tangent of each output, where that of ``source`` is ``terms``."""
    flow: dict[Node, list[StructuredTangent]] = {source: terms}
    edges = active_edges(outputs, [source])
    for node in originating(edges):
        if node is source:
            continue
        parts: list[StructuredTangent] = []
        if node.primitive.flows_together:
            arrived = {key: flow[o] for o, key in edges[node] if flow.get(o)}
            flow[node] = _all_forward(node, arrived, seed_shape)
            continue
        for operand, key in edges[node]:
            for term in flow.get(operand, ()):
                parts += _across(node, operand, key, term, seed_shape, forward=True)
        flow[node] = _bounded(collected(parts), node.shape, seed_shape)
    return [flow.get(o, []) for o in outputs]


def swept_reverse(
    output: Node, terms: list[StructuredTangent], wrt: Sequence[Node], seed_shape: Shape
) -> list[list[StructuredTangent]]:
    """The cotangent of each of ``wrt``, where that of ``output`` is ``terms``."""
    edges = active_edges([output], wrt)
    arrived: dict[Node, list[StructuredTangent]] = {output: terms}
    for node in originating(reversed(edges)):
        own = arrived.get(node)
        if not own:
            continue
        arrived[node] = own = _bounded(collected(own), node.shape, seed_shape)
        if node.primitive.flows_together:
            for operand, one in _all_backward(node, edges[node], own, seed_shape):
                arrived.setdefault(operand, []).append(one)
            continue
        for operand, key in edges[node]:
            for term in own:
                made = _across(node, operand, key, term, seed_shape, forward=False)
                arrived.setdefault(operand, []).extend(made)
    return [arrived.get(w, []) for w in wrt]


def _across(
    node: Node, operand: Node, key: Any, term: StructuredTangent, seed_shape: Shape, forward: bool
) -> list[StructuredTangent]:
    """What a tangent of one operand gives to that of ``node``; backwards, what a cotangent of ``node`` gives."""
    if node.primitive is CUSTOM and not node.params[0].is_entered:
        return _by_rule(node, key, term, seed_shape, forward)
    if is_contracted(node) and has_structure(term):
        stand_in, result = map_of(node, operand, key, forward)
        return swept_forward([result], stand_in, [term], seed_shape)[0]
    return through(node, operand, key, term, seed_shape, forward)


def _all_forward(
    node: Node, arrived: Mapping[Any, list[StructuredTangent]], seed_shape: Shape
) -> list[StructuredTangent]:
    """What the tangents of several operands give to that of a node that takes them as arrays."""
    flows = {key: _as_array(terms, node.operands[key], seed_shape) for key, terms in arrived.items()}
    made = node.primitive.jvp_of_all(node, flows, len(seed_shape)) if flows else None
    return [] if made is None else [dense_term(made, len(seed_shape), True)]


def _all_backward(
    node: Node, reached: Sequence[tuple[Node, Any]], terms: list[StructuredTangent], seed_shape: Shape
) -> Iterator[tuple[Node, StructuredTangent]]:
    """What a cotangent gives to those of several operands of a node that takes it as an array."""
    flow = _as_array(terms, node, seed_shape)
    made = node.primitive.vjp_of_all(node, [key for _, key in reached], flow, len(seed_shape))
    for operand, key in reached:
        found = made[key]
        if found is not None:
            yield operand, dense_term(flow_as(found, operand.dtype), len(seed_shape), False)


def _as_array(terms: Sequence[StructuredTangent], node: Node, seed_shape: Shape) -> Node:
    return accumulate([node_flow(t, node.shape, seed_shape, node.dtype) for t in terms])


def _by_rule(
    node: Node, key: int, term: StructuredTangent, seed_shape: Shape, forward: bool
) -> list[StructuredTangent]:
    """What goes through a declared rule; against its way where it is declared for the other mode."""
    rule = node.params[0]
    stand_in, result, of_tangent = rule.linear(node, key, forward)
    if result is None:
        return []
    with rule.entered():
        if of_tangent == forward:
            (made,) = swept_forward([result], stand_in, [term], seed_shape)
        else:
            (made,) = swept_reverse(result, [term], [stand_in], seed_shape)
    return [t.having(value=rule.free(t.value)) for t in made]


def _bounded(terms: list[StructuredTangent], shape: Shape, seed_shape: Shape) -> list[StructuredTangent]:
    """``terms``, or fewer in their place where keeping them apart does not pay."""
    if not terms or not is_concrete((*shape, *seed_shape)):
        return terms
    whole = math.prod((*shape, *seed_shape))
    entries = {t: math.prod(k.size for k in t.counters) for t in terms}
    joined = [t for t, own in entries.items() if own == 1]
    most = max(entries.values())
    if most >= whole:
        joined = [t for t, own in entries.items() if WORTH * own >= whole]
    elif len(terms) > MAX_TERMS or (len(terms) > MAX_BLOCKS and sum(entries.values()) >= whole):
        joined = terms
    elif len(joined) <= MAX_SINGLES:
        return terms
    if len(joined) < 2 and most <= whole:  # else many entries have one place
        return terms
    apart = [t for t in terms if t not in joined]
    if all(t.is_static for t in joined) and WORTH * sum(entries[t] for t in joined) < whole:
        return [*apart, _listed(joined)]
    made = dense(joined, (*seed_shape, *shape))
    return apart if made is None else [*apart, dense_term(made, len(seed_shape), terms[0].forward)]


def _listed(terms: Sequence[StructuredTangent]) -> StructuredTangent:
    """All entries of all terms along one label, their places looked up; those of one place added."""
    counters = [t.counters for t in terms]
    values = concatenate(
        [
            reshape(product([(t.value, t.labels)], own), (math.prod(k.size for k in own),))
            for t, own in zip(terms, counters, strict=True)
        ],
        0,
    )
    rows = [
        np.stack([positions(m, own).ravel() for m in (*t.at, *t.seed)]) for t, own in zip(terms, counters, strict=True)
    ]
    places = np.concatenate(rows, axis=1)
    distinct, inverse = np.unique(places, axis=1, return_inverse=True)
    new = Label(distinct.shape[1])
    if new.size < len(inverse):  # else the values stay in the order of ``places``
        values, places = emit(SCATTER, (values, index_array(inverse)), (0, new.size)), distinct
    maps = [Lookup(index_array(row), (new,)) for row in places]
    rank = len(terms[0].at)
    return StructuredTangent(values, (new,), tuple(maps[:rank]), tuple(maps[rank:]), terms[0].forward)
