"""Step: one line of a derivation; what it says, and what it computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...passes.sizes import at_sizes
from ...primitives.selection import as_index, spell_slice
from ...program.dims import Shape, value_of
from ...program.node import Graph, Node
from ...program.program import Program
from ..typeset import element
from .formula import Formula, formula, rows_formula
from .lines import inputs_of
from .naming import Name, Names


@dataclass(frozen=True)
class Place:
    """Where in an array a step adds: at a slice (``spec``), or at rows of ``axis`` that an index array names."""

    spec: tuple[Any, ...] = ()
    axis: int = 0
    rows: Node | None = None


class Step:
    """One line of a derivation: ``name = formula``, and ``why``.

    ``kind`` is ``value`` for a line of the function itself, ``cotangent`` or ``tangent``. Where ``adds`` is true, the
    formula is added to what the name stands for.
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
        place: Place | None = None,
    ) -> None:
        """``root`` is made of nodes that ``names`` has; None where the value is anybody's."""
        self.kind = kind
        self.target = target
        self.root = root
        self.why = why
        self.adds = adds
        self.place = place
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
        rows = None if self.place is None else self.place.rows
        outputs = [self.root] if rows is None else [self.root, rows]
        inputs = inputs_of(*outputs)
        return Program(inputs, outputs, [self._names[n] for n in inputs], self._graph)

    @cached_property
    def _formula(self) -> Formula | None:
        program = self.program
        return None if program is None else formula(program, self._names)

    @property
    def text(self) -> str:
        """The line as text."""
        if self._formula is None:
            return f"{self.name} = any array of shape {spelled_shape(self.target.shape)}"
        name = self.name + (f"[{self._place.text}]" if self.place else "")
        name += f"[{', '.join(self._formula.index)}]" if self._formula.index else ""
        return f"{name} {'+=' if self.adds else '='} {self._formula.text}"

    @property
    def latex(self) -> str:
        """The line as LaTeX, its equals sign marked by ``&``."""
        if self._formula is None:
            return rf"{self.name.latex} &\in \mathbb{{R}}^{{{_dims_latex(self.target.shape)}}} \text{{ arbitrary}}"
        name = self.name.latex
        if self.place is not None:
            name = f"{name}_{{[{self._place.latex}]}}"
            name = rf"\left({name}\right)" if self._formula.index else name
        name = element(name, self._formula.index) if self._formula.index else name
        sign = r"&\mathrel{+}=" if self.adds else "&="
        return f"{name} {sign} {self._formula.latex}"

    @property
    def _place(self) -> Formula:
        """The index of what the formula is added to."""
        assert self.place is not None
        if self.place.rows is None:
            index = spell_slice(self.place.spec, self.target.shape)[1:-1]
            return Formula(index, index)
        assert self.program is not None
        before, rows = ":," * self.place.axis, rows_formula(self.place.rows, self.program, self._names)
        return Formula(before + rows.text, before + rows.latex)

    def run(self, values: dict[Node, Any], sizes: Mapping[Any, int]) -> None:
        """Compute the step from the values of what it is made of, and put its own beside them."""
        if self.program is None:
            return
        program = at_sizes(self.program, sizes) if sizes else self.program
        known = dict(zip(program.inputs, [values[n] for n in self.program.inputs], strict=True))
        with np.errstate(all="ignore"):
            for n in program.nodes:
                if n.primitive.name == "constant":
                    known[n] = n.params[0].value
                elif n not in known:
                    known[n] = n.primitive.evaluate(n.params, *[known[o] for o in n.operands])
        made = known[program.outputs[0]]
        shape = tuple([value_of(d, sizes) for d in self.target.shape])
        if not self.adds:
            values[self.target] = np.array(np.broadcast_to(made, shape), self.target.dtype)
        elif self.place is None:
            values[self.target] = values[self.target] + made
        elif self.place.rows is not None:
            index: Any = (slice(None),) * self.place.axis + (known[program.outputs[1]],)
            np.add.at(values[self.target], index, made)
        else:
            spec = [_sized(e, sizes) for e in self.place.spec]
            values[self.target][as_index(tuple(spec))] += made

    def __repr__(self) -> str:
        return f"{self.text}    # {self.why}"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex.replace('&', '', 1)}$"


def _sized(entry: Any, sizes: Mapping[Any, int]) -> Any:
    return tuple([value_of(d, sizes) for d in entry]) if isinstance(entry, tuple) else value_of(entry, sizes)


def spelled_shape(shape: Shape) -> str:
    """A shape as people write it."""
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def _dims_latex(shape: Shape) -> str:
    return r" \times ".join(map(str, shape)) or "1"
