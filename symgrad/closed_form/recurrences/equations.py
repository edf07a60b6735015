"""Equations: what a loop says, line by line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...program.dims import Dim
from ...program.node import Node


@dataclass(frozen=True, eq=False)
class Range:
    """The steps of a loop: the letter that counts them, from 0, how many there are, and which way they go.

    ``outer`` are the steps of the loop that this one stands in.
    """

    letter: str
    length: Dim
    reverse: bool
    outer: Range | None = None

    @property
    def depth(self) -> int:
        """How many loops it stands in."""
        return 0 if self.outer is None else self.outer.depth + 1

    def chain(self) -> list[Range]:
        """The loops that it stands in, from the outermost one on, and itself."""
        return [*([] if self.outer is None else self.outer.chain()), self]

    def agrees(self, other: Range | None) -> bool:
        """True where a step of one is a step of the other."""
        return other is not None and (self.letter, self.length) == (other.letter, other.length)

    def runs_as(self, other: Range) -> bool:
        """True where they are the same steps in the same order."""
        return self.agrees(other) and self.reverse == other.reverse


def depth_of(steps: Range | None) -> int:
    """In how many loops a line for these steps stands."""
    return 0 if steps is None else steps.depth + 1


class Total(NamedTuple):
    """``Σ_t summand + rest``; without a summand the rest alone, and the other way round."""

    rest: Node | None
    over: Range | None = None
    summand: Node | None = None

    @property
    def roots(self) -> list[Node]:
        """What it is made of."""
        return [n for n in (self.rest, self.summand) if n is not None]


class Equation(NamedTuple):
    """``target = value``, for each step of ``steps`` where it has some.

    The target is a value that has a name, or the number of an output, which has ``steps`` where it is given row by row.
    """

    target: Node | int
    value: Total
    steps: Range | None = None
