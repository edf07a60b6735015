"""Recurrences computed line by line, as they are written: a check of what they say."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from ...program.interpret import interpreted
from ...program.node import Node
from ...program.program import Program
from ..derivation.lines import inputs_of
from .equations import Equation, Range
from .lines import Recurrences

Values = dict[Node, Any]


def evaluated(found: Recurrences, arrays: Sequence[Any]) -> list[np.ndarray]:
    """The results of a program with loops at these arrays, from its lines; sizes are those of the program."""
    run = _Run(found, dict(zip(found.unfolding.program.inputs, map(np.asarray, arrays), strict=True)))
    run.lines(found.equations, 0, ())
    return [np.asarray(run.results[k]) for k in range(len(found.unfolding.program.outputs))]


def values(found: Recurrences, arrays: Sequence[Any]) -> dict[str, np.ndarray]:
    """What has a name, at these arrays; values of steps in the order of these, along a first axis for each loop."""
    run = _Run(found, dict(zip(found.unfolding.program.inputs, map(np.asarray, arrays), strict=True)))
    run.lines(found.equations, 0, ())
    made = {}
    for e in found.equations:
        if isinstance(e.target, Node):
            made[str(found.unfolding.names[e.target])] = run.stacked(e)
    return made


class _Run:
    def __init__(self, found: Recurrences, values: Values) -> None:
        self._unfolding = found.unfolding
        #: values by what they are called, and by the steps that they are of
        self._values: dict[tuple[Node, tuple[int, ...]], Any] = {(n, ()): v for n, v in values.items()}
        self.results: dict[int, Any] = {}
        carries = found.unfolding.carries
        self._before = {c.before: c for c in carries}
        self._ends = {c.end: c for c in carries}
        self._row_of = {whole: row for row, (whole, offset) in found.unfolding.steps.rows.items() if not offset}
        self._counters = set(found.unfolding.steps.counters.values())

    def lines(self, equations: Sequence[Equation], depth: int, at: tuple[int, ...]) -> None:
        """Compute lines that stand in so many loops, at these steps of them."""
        for steps, group in groupby(equations, lambda e: _range_at(e.steps, depth)):
            own = list(group)
            if steps is None:
                for equation in own:
                    self._line(equation, at)
                continue
            every = range(int(steps.length))
            for t in reversed(every) if steps.reverse else every:
                self.lines(own, depth + 1, (*at, t))

    def _line(self, equation: Equation, at: tuple[int, ...]) -> None:
        rest, over, summand = equation.value
        made = 0 if rest is None else self._value(rest, at)
        if summand is not None and over is not None:
            made = made + sum(self._value(summand, (*at, t)) for t in range(int(over.length)))
        if isinstance(equation.target, Node):
            self._values[equation.target, at] = made
        elif equation.steps is not None:
            rows = self.results.setdefault(equation.target, [])
            rows.insert(0 if equation.steps.reverse else len(rows), made)
        else:
            self.results[equation.target] = made

    def stacked(self, equation: Equation) -> np.ndarray:
        """The values of a line at all steps."""
        chain = [] if equation.steps is None else equation.steps.chain()
        lengths = [int(s.length) for s in chain]
        target = equation.target
        assert isinstance(target, Node)
        rows = [self._values[target, at] for at in np.ndindex(*lengths)]
        return np.reshape(rows, (*lengths, *target.shape))

    def _value(self, root: Node, at: tuple[int, ...]) -> Any:
        inputs = inputs_of(root)
        program = Program(inputs, [root], ["value"] * len(inputs), self._unfolding.graph)
        return interpreted(program, [self._read(n, at) for n in inputs])[0]

    def _read(self, node: Node, at: tuple[int, ...]) -> Any:
        """What has a name, at these steps."""
        steps = self._unfolding.ranges.get(node)
        place = at[: 0 if steps is None else steps.depth + 1]
        if node in self._counters:
            return place[-1]
        if node in self._unfolding.steps.picked:
            whole, k = self._unfolding.steps.picked[node]
            return self._whole(whole, ())[k]
        if node in self._unfolding.histories.places:
            whole, k = self._unfolding.histories.places[node]
            return self._whole(whole, ())[k]
        if node in self._unfolding.steps.after:
            after, step = self._unfolding.steps.after[node]
            return self._values[after, (*place, step)]
        if node in self._unfolding.steps.rows and (node, place) not in self._values:
            whole, offset = self._unfolding.steps.rows[node]
            return np.take(
                self._whole(whole, place[:-1]), place[-1] + offset, axis=0, mode="clip"
            )  # beyond what counts
        if node in self._before:
            carry = self._before[node]
            before = place[-1] + (1 if carry.steps.reverse else -1)
            if not 0 <= before < carry.steps.length:
                return self._read(carry.begins, at)
            return self._values[carry.after, (*place[:-1], before)]
        if node in self._ends:
            carry = self._ends[node]
            last = 0 if carry.steps.reverse else carry.steps.length - 1
            return (
                self._values[carry.after, (*at[: carry.steps.depth], last)]
                if carry.steps.length
                else self._read(carry.begins, at)
            )
        if (node, place) not in self._values:
            return self._whole(node, place)
        return self._values[node, place]

    def _whole(self, node: Node, at: tuple[int, ...]) -> Any:
        """An array of which the lines have rows."""
        if node.primitive.name == "constant":
            return node.params[0].value
        if (node, at) in self._values:
            return self._values[node, at]
        if node in self._unfolding.histories.carries:
            carry = self._unfolding.histories.carries[node]
            after = [self._values[carry.after, (t,)] for t in range(int(carry.steps.length))]
            return np.stack([self._read(carry.begins, ()), *after])
        row = self._row_of[node]
        return np.stack([self._values[row, (*at, t)] for t in range(int(node.shape[0]))])


def _range_at(steps: Range | None, depth: int) -> Range | None:
    """The loop that stands in so many others, of those that a line stands in."""
    while steps is not None and steps.depth > depth:
        steps = steps.outer
    return steps if steps is not None and steps.depth == depth else None
