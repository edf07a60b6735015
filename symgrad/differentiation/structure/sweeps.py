"""Forward and reverse sweeps of terms: one δ seed, one pass, sums of terms at the end."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...primitives.selection import SCATTER, concatenate
from ...primitives.shaping import reshape
from ...program.dims import Shape, is_concrete
from ...program.node import Node, emit
from ..reverse import active_nodes
from .index_maps import Label, Lookup, index_array, positions
from .rules import pulled, pushed
from .terms import Term, collected, dense, dense_term, product, seed_term

#: terms that a flow may have, and single entries among them; more are gathered into one
MOST_TERMS, MOST_SINGLES = 32, 2
#: an array replaces terms that fill more than one in so many of its entries
WORTH = 4


def forward_terms(outputs: Sequence[Node], source: Node) -> list[list[Term]]:
    """The Jacobian of each output by ``source``: terms whose ``seed`` is the output and whose ``at`` the source."""
    flow: dict[Node, list[Term]] = {source: [seed_term(source.shape, forward=True)]}
    for node in active_nodes(outputs, [source]):
        if node is source:
            continue
        parts: list[Term] = []
        for operand, key in node.primitive.dependencies(node):
            for term in flow.get(operand, ()):
                parts += pushed(node, operand, key, term, source.shape)
        flow[node] = _bounded(collected(parts), node.shape, source.shape)
    return [[t.transposed for t in flow.get(o, ())] for o in outputs]


def reverse_terms(output: Node, wrt: Sequence[Node]) -> list[list[Term]]:
    """The Jacobian of ``output`` by each of ``wrt``: terms whose ``seed`` is the output and whose ``at`` the source."""
    order = active_nodes([output], wrt)
    active, sources = set(order), set(wrt)
    arrived: dict[Node, list[Term]] = {output: [seed_term(output.shape, forward=False)]}
    for node in reversed(order):
        terms = arrived.get(node)
        if not terms:
            continue
        arrived[node] = terms = _bounded(collected(terms), node.shape, output.shape)
        if node in sources:
            continue
        for operand, key in node.primitive.dependencies(node):
            if operand in active:
                for term in terms:
                    arrived.setdefault(operand, []).extend(pulled(node, operand, key, term, output.shape))
    return [arrived.get(w, []) for w in wrt]


def _bounded(terms: list[Term], shape: Shape, seed_shape: Shape) -> list[Term]:
    """``terms``, or fewer in their place where keeping them apart does not pay."""
    if len(terms) < 2 or not is_concrete((*shape, *seed_shape)):
        return terms
    whole = math.prod((*shape, *seed_shape))
    entries = {t: math.prod(k.size for k in t.counters) for t in terms}
    joined = [t for t, own in entries.items() if own == 1]
    if whole in entries.values():
        joined = [t for t, own in entries.items() if WORTH * own >= whole]
    elif len(terms) > MOST_TERMS:
        joined = terms
    elif len(joined) <= MOST_SINGLES:
        return terms
    if len(joined) < 2:
        return terms
    apart = [t for t in terms if t not in joined]
    if all(t.is_static for t in joined) and WORTH * sum(entries[t] for t in joined) < whole:
        return [*apart, _listed(joined)]
    made = dense(joined, (*seed_shape, *shape))
    return apart if made is None else [*apart, dense_term(made, len(seed_shape), terms[0].forward)]


def _listed(terms: Sequence[Term]) -> Term:
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
    places, inverse = np.unique(np.concatenate(rows, axis=1), axis=1, return_inverse=True)
    new = Label(places.shape[1])
    if new.size < len(inverse):
        values = emit(SCATTER, (values, index_array(inverse)), (0, new.size))
    maps = [Lookup(index_array(row), (new,)) for row in places]
    rank = len(terms[0].at)
    return Term(values, (new,), tuple(maps[:rank]), tuple(maps[rank:]), terms[0].forward)
