"""Step: one line of a derivation; what it says, and what it computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...passes.sizes import at_sizes
from ...primitives.selection import ASSEMBLE, SCATTER, spell_slice
from ...program.dims import value_of
from ...program.forks import cached_property
from ...program.interpret import interpreted
from ...program.node import Graph, Node
from ...program.program import Program
from ..typeset import element
from .formula import Formula, formula, rows_formula
from .lines import inputs_of, spelled_shape
from .naming import Name, Names


class Step:
    """One line of a derivation: ``name = formula``, and ``why``.

    ``kind`` is ``value`` for a line of the function itself, ``cotangent`` or ``tangent``. Where ``adds`` is true, the
    formula is added to what the name stands for, where ``root`` places it among zeros to these elements.
    """

    def __init__(
        self,
        kind: str,
        target: Node,
        root: Node | None,
        names: Names,
        graph: Graph,
        why: str,
        adds: bool = False,
    ) -> None:
        """``root`` is made of nodes that ``names`` has; None where the value is anybody's."""
        self.kind = kind
        self.target = target
        self.root = root
        self.why = why
        self.adds = adds
        self._names = names
        self._graph = graph

    @property
    def name(self) -> Name:
        """What the value is called."""
        return self._names[self.target]

    @cached_property
    def program(self) -> Program | None:
        """What the step computes, of the values named before it; None for a seed that may be anything."""
        if self.root is None:
            return None
        inputs = inputs_of(self.root)
        return Program(inputs, [self.root], [self._names[n] for n in inputs], self._graph)

    @cached_property
    def _formula(self) -> Formula | None:
        if self.program is None or self.shown is None:
            return None
        return formula(self.program.with_outputs([self.shown]), self._names)

    @property
    def shown(self) -> Node | None:
        """What the formula is of: of a piece among zeros the piece."""
        return self.root if self.root is None or self.place is None else self.root.operands[0]

    @cached_property
    def place(self) -> Formula | None:
        """The index of the elements that are added to; None for all of them."""
        root = self.root
        if root is None or self.program is None or not self.adds:
            return None
        if root.primitive is ASSEMBLE and len(root.operands) == 1:
            index = spell_slice(root.params[1][0], root.shape)[1:-1]
            return Formula(index, index)
        if root.primitive is SCATTER:
            before, rows = ":," * root.params[0], rows_formula(root.operands[1], self.program, self._names)
            return Formula(before + rows.text, before + rows.latex)
        return None

    @property
    def text(self) -> str:
        """The line as text."""
        if self._formula is None:
            return f"{self.name} = any array of shape {spelled_shape(self.target.shape)}"
        name = self.name + (f"[{self.place.text}]" if self.place else "")
        name += f"[{', '.join(self._formula.index)}]" if self._formula.index else ""
        return f"{name} {'+=' if self.adds else '='} {self._formula.text}"

    @property
    def latex(self) -> str:
        """The line as LaTeX, its equals sign marked by ``&``."""
        if self._formula is None:
            dims = r" \times ".join(map(str, self.target.shape)) or "1"
            return rf"{self.name.latex} &\in \mathbb{{R}}^{{{dims}}} \text{{ arbitrary}}"
        name = self.name.latex
        if self.place is not None:
            name = f"{{{name}}}_{{[{self.place.latex}]}}"
            name = rf"\left({name}\right)" if self._formula.index else name
        name = element(name, self._formula.index) if self._formula.index else name
        sign = r"&\mathrel{+}=" if self.adds else "&="
        return f"{name} {sign} {self._formula.latex}"

    def run(self, values: dict[Node, Any], sizes: Mapping[Any, int]) -> None:
        """Compute the step from the values of what it is made of, and put its own beside them."""
        if self.program is None:
            return
        program = at_sizes(self.program, sizes) if sizes else self.program
        (made,) = interpreted(program, [values[n] for n in self.program.inputs])
        if self.adds:
            values[self.target] = values[self.target] + made
        else:
            shape = tuple([value_of(d, sizes) for d in self.target.shape])
            values[self.target] = np.array(np.broadcast_to(made, shape), self.target.dtype)

    def __repr__(self) -> str:
        return f"{self.text}    # {self.why}"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex.replace('&', '', 1)}$"
