"""Diagram: boxes and arrows, before anybody knows where they stand."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from symgrad.program.node import Node

from .spelling import short
from .subject import Subject

_LONGEST_TITLE = 60


@dataclass(frozen=True)
class Box:
    """``kind`` is input, constant, operation, group or result; ``rows`` is what stands in it, ``tip`` what hovers.

    ``warning`` says what went wrong here; ``origin`` where it began here and spoils the result. ``spoiled`` is True
    where the value is not finite.
    """

    key: str
    kind: str
    side: int
    rows: tuple[str, ...]
    tip: str
    loop: int = 0
    warning: str = ""
    origin: bool = False
    spoiled: bool = False
    nodes: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Edge:
    """``count`` values go from ``source`` to ``target``, which are keys; ``crosses`` from one side to another."""

    source: str
    target: str
    count: int
    crosses: bool


@dataclass(frozen=True)
class Diagram:
    """The boxes in the program's order; ``by`` is what they are folded by, ``note`` says how many are."""

    subject: Subject
    boxes: list[Box]
    edges: list[Edge]
    by: str = "operation"
    note: str = ""
    loops_boxed: bool = field(default=True)

    @property
    def sides(self) -> list[int]:
        """The sides that have boxes."""
        return sorted({b.side for b in self.boxes})

    @property
    def told_of_loops(self) -> str:
        """What a loop is; how many there are, where this diagram does not show them."""
        loops = self.subject.loops
        if not loops.number or any(b.loop for b in self.boxes):
            return loops.told
        return f"{max(loops.number.values())} loops are not shown here; folded by loop they are"

    @property
    def title(self) -> str:
        """What the picture is of."""
        return short(self.subject.title, _LONGEST_TITLE)

    @property
    def counts(self) -> str:
        """How many operations, on which side, which kernel."""
        counts = Counter(self.subject.side[n] for n in self.subject.program.bindings)
        total = sum(counts.values())
        own = [f"{counts[0]} of the function", *(f"{counts[k]} of {_whose(k)}" for k in sorted(counts) if k)]
        split = f" ({', '.join(own)})" if set(counts) - {0} else ""
        return f"{total} operation{'s' * (total != 1)}{split}, kernel on {self.subject.backend}"

    @property
    def summary(self) -> str:
        """Both in one line."""
        return f"{self.title}: {self.counts}"


def _whose(side: int) -> str:
    return {1: "its derivative", 2: "its second derivative"}.get(side, f"derivative {side}")


def warned(box: Box) -> list[str]:
    """The row that says what went wrong in a box, where something did."""
    return [f"{'⚠ ' if box.origin else ''}{box.warning}"] if box.warning else []
