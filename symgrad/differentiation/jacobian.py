"""Jacobians as tables of terms: one structured sweep an output or an input."""

from __future__ import annotations

from collections.abc import Sequence

from ..program.node import Node
from .limits import with_limits
from .structure.structured_tangents import StructuredTangent
from .structure.sweeps import forward_terms, reverse_terms

#: a Jacobian's terms, a list for each output (row) and input (column)
Table = list[list[list[StructuredTangent]]]


def jacobian_terms(outputs: Sequence[Node], wrt: Sequence[Node], mode: str, symmetric: bool = False) -> Table:
    """``∂output/∂input`` for each pair, as terms whose ``seed`` is the output's place and ``at`` the input's.

    ``mode`` is forward or reverse. Where the table is ``symmetric``, a Hessian's, only the blocks on and above
    the diagonal are derived.
    """
    outputs, _ = with_limits(outputs, wrt)
    if mode == "reverse":
        rows = []
        for i, o in enumerate(outputs):
            own = wrt[i:] if symmetric else wrt
            rows.append(reverse_terms(o, own) if o.differentiable else [[] for _ in own])
        if not symmetric:
            return rows
        return [
            [rows[i][j - i] if i <= j else _transposed(rows[j][i - j]) for j in range(len(wrt))]
            for i in range(len(outputs))
        ]
    columns = [forward_terms(outputs[: j + 1] if symmetric else outputs, w) for j, w in enumerate(wrt)]
    return [
        [column[i] if i < len(column) else _transposed(columns[i][j]) for j, column in enumerate(columns)]
        for i in range(len(outputs))
    ]


def _transposed(terms: list[StructuredTangent]) -> list[StructuredTangent]:
    return [t.transposed for t in terms]
