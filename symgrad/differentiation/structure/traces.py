"""The trace of a Jacobian of terms: its diagonal alone is looked at, where its places are known."""

from __future__ import annotations

from collections.abc import Sequence

from ...primitives.contraction import contract
from ...primitives.primitive import dim_value
from ...program.node import Node
from ..reverse import accumulate
from .index_maps import Unsolved
from .solving import equated
from .terms import Term, dense, product


def trace_of(terms: Sequence[Term], shape: tuple) -> Node | None:
    """The sum of the entries of a Jacobian of ``shape`` by ``shape`` on its diagonal; None where it is zero."""
    parts: list[Node] = []
    for term in terms:
        try:
            part = _of_term(term, shape)
        except Unsolved:
            labels = tuple(range(len(shape)))
            whole = dense([term], shape + shape)
            assert whole is not None
            part = contract([whole], [labels + labels], (), shape)
        if part is not None:
            parts.append(part)
    return accumulate(parts) if parts else None


def _of_term(term: Term, shape: tuple) -> Node | None:
    for axis, dim in enumerate(shape):
        found = equated(term, term.at[axis], term.seed[axis], dim)
        if found is None:
            return None
        term, _ = found
    counts = [(dim_value(k.size), ()) for k in term.counters if k not in term.labels]
    return product([(term.value, term.labels), *counts], ())
