"""What a value depends on by comparisons alone: a bisection, or a result that was kept from an earlier call."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence

from ..errors import DependsByComparing, at_user_line
from ..primitives import functions as f
from ..primitives.primitive import literal_value
from ..program.node import Node, ancestors
from ..tracing.trace import Trace

#: comparisons with a value from which on it is searched for; fewer are cases of a definition
_SEARCH = 8


def warn_of_comparing(
    name: str, trace: Trace, arguments: Sequence[tuple[str, Collection[Node]]], outputs: Sequence[Node]
) -> None:
    """Warn of each argument that ``outputs`` depend on by comparisons alone, where that looks like no case of a rule.

    That is many comparisons, or one that says that the argument is just this number, as the key of a dict does.
    """
    read = set(ancestors(outputs))
    for argument, nodes in arguments:
        if read.isdisjoint(nodes) and any(n.dtype.kind in "fc" for n in nodes):
            found = [*_compared(trace, set(nodes))]
            if len(found) >= _SEARCH or any(found):
                told = (
                    f"{name}: the value depends on {argument} by comparisons alone, so the derivative by it is 0. What "
                    "is found by comparing (bisection) has a derivative by scipy.optimize.brentq and its kin; what was "
                    "kept from an earlier call, or read from text, is a constant: compute it anew."
                )
                warnings.warn(at_user_line(told), DependsByComparing, stacklevel=2)


def _compared(trace: Trace, sources: set[Node]) -> Iterator[bool]:
    """For each branch on one of ``sources``: whether it says what number that is."""
    reached, told = set(sources), set(trace.keys)
    for node in ancestors([n for n, _ in trace.branches]):
        if not reached.isdisjoint(node.operands):
            reached.add(node)
            is_named = node.primitive is f.equal and not sources.isdisjoint(node.operands)
            is_named = is_named and not any(o.is_literal and not literal_value(o) for o in node.operands)
            if is_named or not told.isdisjoint(node.operands):
                told.add(node)
    for node, value in trace.branches:
        if node in reached and not node.shape:
            yield node in told and (node.dtype.kind != "b" or bool(value))
