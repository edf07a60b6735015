"""Jacobians as tables of terms: one structured sweep an output or an input."""

from __future__ import annotations

from collections.abc import Sequence

from ..program.node import Node
from .structure.sweeps import forward_terms, reverse_terms
from .structure.terms import Term

#: a Jacobian's terms, a list for each output (row) and input (column)
Table = list[list[list[Term]]]


def jacobian_terms(outputs: Sequence[Node], wrt: Sequence[Node], mode: str) -> Table:
    """``∂output/∂input`` for each pair, as terms whose ``seed`` is the output's place and ``at`` the input's."""
    if mode == "reverse":
        return [reverse_terms(o, wrt) if o.dtype.kind == "f" else [[] for _ in wrt] for o in outputs]
    columns = [forward_terms(outputs, w) for w in wrt]
    return [[column[i] for column in columns] for i in range(len(outputs))]
