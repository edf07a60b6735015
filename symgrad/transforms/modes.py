"""Which way a Jacobian is derived: forward, reverse or cross-country, chosen by predicted cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..differentiation.jacobian import Table, jacobian_terms
from ..kernels.memory import human_bytes
from ..passes.association import associated
from ..passes.cost import Cost, cost
from ..passes.products import absorb_products
from ..primitives.order import extent
from ..program.dims import size
from ..program.node import Node, active_graph, ancestors
from ..program.program import Program

MODES = ("auto", "forward", "reverse", "cross")
#: longer programs are derived one way only, the way that the number of elements suggests
_MAX_NODES = 4000
#: how much cheaper cross-country has to be predicted before the plain sweep is left
_WORTH = 0.9
#: predicted seconds of a call that computes nothing
_CALL = 1e-6


@dataclass(frozen=True)
class Candidate:
    """One way, what it gives and what that costs."""

    mode: str
    table: Table
    cost: Cost


@dataclass(frozen=True)
class Choice:
    """What was derived, and what else could have been.

    Printed, it is a table: for each mode the operations, the memory written and the predicted time relative
    to the best, and why one was chosen.
    """

    mode: str
    candidates: tuple[Candidate, ...]
    reason: str

    @property
    def table(self) -> Table:
        """The terms of the chosen way."""
        return next(c.table for c in self.candidates if c.mode == self.mode)

    def __str__(self) -> str:
        best = min(c.cost.seconds for c in self.candidates)
        lines = [f"{'mode':<10}{'operations':>14}{'memory':>12}{'predicted':>11}"]
        for c in self.candidates:
            mark = "  ← chosen" if c.mode == self.mode else ""
            ratio = f"{_relative(c.cost.seconds, best):.2f} ×"
            lines.append(
                f"{c.mode:<10}{_counted(c.cost.operations):>14}{human_bytes(c.cost.memory):>12}{ratio:>11}{mark}"
            )
        return "\n".join([*lines, self.reason])

    __repr__ = __str__


def _relative(seconds: float, best: float) -> float:
    """How many times as long, the call itself included; what moves elements alone is free."""
    return (seconds + _CALL) / (best + _CALL)


def _counted(count: float) -> str:
    for unit, many in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= many:
            return f"{count / many:.3g} {unit}"
    return f"{count:.0f}"


def chosen(
    outputs: Sequence[Node], wrt: Sequence[Node], mode: str, symmetric: bool = False, every: bool = False
) -> Choice:
    """The Jacobian derived the way that ``mode`` names; ``every`` derives the other ways too, to compare.

    ``symmetric`` promises that the table is its own transpose: blocks below the diagonal are those above.
    """
    counts = [sum(extent(n.shape) for n in nodes) for nodes in (wrt, outputs)]
    fewer = "forward" if counts[0] <= counts[1] else "reverse"
    named = mode in ("forward", "reverse")
    if (named and not every) or len(ancestors(outputs)) > _MAX_NODES:
        way = mode if named else fewer
        asked = f"mode={mode!r} was asked for."
        why = f"The program is long, so only {way} was derived: it goes by the smaller number of elements."
        return Choice(way, (_candidate(outputs, wrt, way, symmetric),), asked if named else why)
    ways = [_candidate(outputs, wrt, way, symmetric) for way in ("forward", "reverse")]
    crossed = min((_crossed(way) for way in ways), key=lambda c: c.cost.seconds)
    everything = (*ways, crossed)
    if mode != "auto":
        return Choice(mode, everything, f"mode={mode!r} was asked for.")
    best = min(ways, key=lambda c: (c.cost.seconds, c.mode != fewer))
    if crossed.cost.seconds < _WORTH * best.cost.seconds:
        why = (
            "cross-country: the chain of local Jacobians is multiplied in the order that costs least, "
            f"{_ratio(best, crossed)} cheaper than {best.mode} mode."
        )
        return Choice("cross", everything, why)
    listed = [sum(size(n.shape) for n in nodes) for nodes in (wrt, outputs)]
    return Choice(best.mode, everything, _why(best, ways, listed))


def _why(best: Candidate, ways: Sequence[Candidate], counts: Sequence[Any]) -> str:
    other = next(c for c in ways if c is not best)
    sizes = f"{counts[0]} element{'s' * (counts[0] != 1)} in, {counts[1]} out"
    if other.cost.seconds <= best.cost.seconds * 1.02:
        return f"{best.mode}: both ways cost the same here ({sizes})."
    return f"{best.mode}: {_ratio(other, best)} cheaper than {other.mode} mode ({sizes})."


def _ratio(dear: Candidate, cheap: Candidate) -> str:
    return f"{_relative(dear.cost.seconds, cheap.cost.seconds):.3g} times"


def _candidate(outputs: Sequence[Node], wrt: Sequence[Node], mode: str, symmetric: bool) -> Candidate:
    table = jacobian_terms(outputs, wrt, mode, symmetric)
    return Candidate(mode, table, _cost(_values(table)))


def _crossed(way: Candidate) -> Candidate:
    """The terms of ``way`` with their chains of contractions associated anew."""
    values = associated(absorb_products(_values(way.table)))
    ordered = iter(values.outputs)
    table = [[[t.having(value=next(ordered)) for t in terms] for terms in row] for row in way.table]
    return Candidate("cross", table, _cost(values))


def _values(table: Table) -> Program:
    """The values of all terms as a Program without inputs of its own."""
    return Program((), [t.value for row in table for terms in row for t in terms], (), active_graph())


def _cost(values: Program) -> Cost:
    return cost(absorb_products(values).nodes)
