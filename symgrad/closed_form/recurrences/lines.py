"""Recurrences: a program with loops as lines of text and of LaTeX."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...errors import ClosedFormTooLarge
from ...program.forks import cached_property
from ...program.node import Node, ancestors
from ...program.program import Program
from ..derivation.constants import description
from ..derivation.formula import Formula
from ..derivation.naming import Name
from ..labels import label_text
from ..latex import aligned
from ..letters import name_latex
from ..typeset import element
from .equations import Equation, Range
from .naming import entry_of, lowered
from .sharing import shared
from .unfolding import NoRecurrence, Unfolding
from .writing import added, in_brackets, of_steps, summed, written


class _Line(NamedTuple):
    """A line without what stands on its left: that is the name of a value, or the number of an output."""

    target: str | int
    index: tuple[str, ...]
    text: str
    latex: str
    by_row: str | None = None


class Recurrences:
    """The lines of a program with loops: ``h₀ = …``, ``hₜ₊₁ = …``, then those of the results.

    A loop is what one of its steps computes, with the range of its index behind the last of its lines.

    >>> import numpy as np, symgrad
    >>> program = symgrad.trace(lambda x: symgrad.fori_loop(0, 9, lambda i, v: np.sin(v), x), np.ones(3))
    >>> print("\\n".join(recurrences(program).text_rows(["f"])))
    v₀ = x
    vₜ₊₁ = sin(vₜ)   (t = 0, …, 8)
    f = v₉
    """

    def __init__(self, unfolding: Unfolding, equations: Sequence[Equation], labels: Sequence[str] = ()) -> None:
        """``labels`` are those of the results, in LaTeX."""
        self.equations = list(equations)
        self.unfolding = unfolding
        count = len(unfolding.program.outputs)
        self._labels = list(labels) or (["f"] if count == 1 else [f"f_{{{k}}}" for k in range(1, count + 1)])

    def labelled(self, labels: Sequence[str]) -> Recurrences:
        """The same lines, with these labels of the results."""
        return Recurrences(self.unfolding, self.equations, labels)

    @property
    def text(self) -> str:
        """All lines as text."""
        return "\n".join(self.rows[0])

    @property
    def latex(self) -> str:
        """All lines as LaTeX, under one another."""
        return aligned(self.rows[1])

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex}$"

    @property
    def operations(self) -> int:
        """Operations in all lines."""
        return sum(1 for n in ancestors([n for e in self.equations for n in e.value.roots]) if not n.is_leaf)

    def __len__(self) -> int:
        return len(self.lines)

    @cached_property
    def lines(self) -> list[tuple[Equation, _Line]]:
        """Each line, with the equation that it belongs to."""
        with self.unfolding.graph:
            return [(e, line) for e in self.equations for line in self._written(e)]

    @property
    def rows(self) -> tuple[list[str], list[str]]:
        """The lines as text and as LaTeX."""
        called = {name.latex: str(name) for name in self.unfolding.inputs}
        names = [label_text(label, called) for label in self._labels]
        return self.text_rows(names), self.latex_rows(self._labels)

    @cached_property
    def constants(self) -> list[tuple[Name, np.ndarray]]:
        """The arrays that the lines read and the function has found outside, by their names."""
        told = "\n".join(line.latex for _, line in self.lines)  # in which names stand apart, as c s does not in text
        held = self.unfolding.constants.items()
        return [(n, v) for n, v in held if re.search(rf"(?<![A-Za-z\\]){re.escape(n.latex)}(?![A-Za-z0-9])", told)]

    def text_rows(self, names: Sequence[str]) -> list[str]:
        """The lines as text; ``names`` are those of the outputs."""
        rows = []
        told = [s for e, _ in self.lines if e.steps is not None for s in e.steps.chain()]
        for (equation, line), own in zip(self.lines, self._ends, strict=True):
            over = equation.value.over
            ends = own if over is None or any(over.agrees(s) for s in told) else [*own, replace(over, reverse=False)]
            left = line.target if isinstance(line.target, str) else names[line.target]
            if line.by_row is not None:
                left = f"({left}){lowered(line.by_row)}" if "/" in left else left + lowered(line.by_row)
            place = f"[{', '.join(line.index)}]" if line.index else ""
            said = f"   ({', '.join(of_steps(s).text for s in ends)})" if ends else ""
            rows.append(f"{left}{place} = {line.text}{said}")
        return rows + [description(name, value)[0] for name, value in self.constants]

    def latex_rows(self, labels: Sequence[str]) -> list[str]:
        """The lines as LaTeX, their equals signs marked by ``&``; ``labels`` are those of the outputs."""
        rows = []
        for (_, line), ends in zip(self.lines, self._ends, strict=True):
            left = name_latex(line.target) if isinstance(line.target, str) else labels[line.target]
            if line.by_row is not None:
                left = (rf"\left({left}\right)" if "_" in left or "frac" in left else left) + f"_{{{line.by_row}}}"
            left = element(left, line.index) if line.index else left
            said = rf" \qquad {', '.join(of_steps(s).latex for s in ends)}" if ends else ""
            rows.append(f"{left} &= {line.latex}{said}")
        return rows + [description(name, value)[1] for name, value in self.constants]

    @property
    def _ends(self) -> list[list[Range]]:
        """The loops that end with each line, the inner ones first."""
        chains = [[] if e.steps is None else e.steps.chain() for e, _ in self.lines]
        after = [*chains[1:], []]
        return [
            [s for k, s in enumerate(own) if k >= len(others) or s is not others[k]][::-1]
            for own, others in zip(chains, after, strict=True)
        ]

    def _written(self, equation: Equation) -> Iterator[_Line]:
        target, (rest, over, summand), steps = equation
        name = self.unfolding.names[target] if isinstance(target, Node) else target
        before = None if rest is None else written(rest, self.unfolding)
        if before is not None and summand is None and before.by_entry and isinstance(name, str):
            for k, part in enumerate(before.parts):
                yield _Line(entry_of(name, k, self.unfolding.names.values()), (), part.text, part.latex)
            return
        parts: list[Formula] = [] if before is None else [in_brackets(before)]
        if summand is not None and over is not None:
            parts.append(summed(over, in_brackets(written(summand, self.unfolding))))
        made = added(parts)
        by_row = steps.letter if steps is not None and isinstance(target, int) else None
        yield _Line(name, made.index, made.text, made.latex, by_row)


def recurrences(program: Program, reserved: Collection[str] = ()) -> Recurrences | None:
    """The recurrences of a program with loops; None where its loops cannot be told line by line.

    No value that has no name in the user's code is called as one of ``reserved``.
    """
    try:
        unfolding = Unfolding(program, reserved)
        return Recurrences(unfolding, shared(unfolding))
    except (ClosedFormTooLarge, NoRecurrence):
        return None
