"""The derivation of a function with loops: its own lines, then those of its adjoint or its tangents, a loop a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...program.node import Node
from ..derivation.constants import description
from ..derivation.lines import spelled_shape
from ..derivation.naming import Name, composed
from ..derivation.steps import Steps
from .equations import Equation
from .evaluation import values
from .lines import Recurrences


class LoopLine:
    """One line of a derivation with loops: ``text``, ``latex``, and ``why``; see ``Step``."""

    def __init__(self, kind: str, text: str, latex: str, why: str) -> None:
        self.kind = kind
        self.text = text
        self.latex = latex
        self.why = why

    def __repr__(self) -> str:
        return f"{self.text}    # {self.why}"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex.replace('&', '', 1)}$"


class LoopSteps(Steps):
    """A derivation whose lines are those of recurrences."""

    def __init__(
        self,
        title: str,
        found: Recurrences,
        own: int,
        inputs: Sequence[tuple[Node, Name, Any]],
        budget: int,
        notes: Sequence[str],
    ) -> None:
        """The first ``own`` results are those of the function, the others the derivatives."""
        told, result = _told(found, own)
        constants = [(name, *description(name, value)) for name, value in found.constants]
        super().__init__(title, told, result, inputs, budget, notes, constants)  # type: ignore[arg-type]
        self._found = found

    def values(self, given: Mapping[str, Any] | None = None) -> dict[str, np.ndarray]:
        """Every value by its name, those of steps along a first axis; see ``Steps.values``."""
        given = {composed(name): value for name, value in (given or {}).items()}
        arrays: dict[str, Any] = {}
        for node, name, array in self._inputs:
            held = given.pop(name, array)
            if held is None:
                raise ArgumentError(f"values: pass {name}, an array of shape {spelled_shape(node.shape)}.")
            arrays[name.text] = np.asarray(held, node.dtype)
        if given:
            raise ArgumentError(f"values: there is no argument called {', '.join(map(repr, given))}.")
        return arrays | values(self._found, list(arrays.values()))


def _told(found: Recurrences, own: int) -> tuple[list[LoopLine], list[tuple[str, str, str]]]:
    """The lines of the function and of what is derived, and the derivatives put together."""
    texts, latex = found.rows
    last = max((i for i, (e, _) in enumerate(found.lines) if isinstance(e.target, int) and e.target < own), default=-1)
    back = any(isinstance(e.target, Node) and e.target in found.unfolding.back for e, _ in found.lines)
    told, result = [], []
    for i, ((equation, _), text, row) in enumerate(zip(found.lines, texts, latex, strict=False)):
        if i > last and isinstance(equation.target, int):
            result.append((text, row, ""))
        else:
            kind = "value" if i <= last else "cotangent" if back else "tangent"
            told.append(LoopLine(kind, text, row, _why(equation, found, kind)))
    return told, result


def _why(equation: Equation, found: Recurrences, kind: str) -> str:
    """What a line is."""
    target, steps = equation.target, equation.steps
    if isinstance(target, int):
        return ""
    times = "" if steps is None else f", × {' × '.join(str(s.length) for s in steps.chain())}"
    if any(c.after is target for c in found.unfolding.carries):
        return _STEPS[kind] + times
    if any(c.begins is target for c in found.unfolding.carries):
        return _BEGINS[kind]
    return f"shape {spelled_shape(target.shape)}{times}" if target.shape else times.removeprefix(", ")


_STEPS = {"value": "a step of the loop", "cotangent": "the adjoint of the loop", "tangent": "the tangent of the loop"}
_BEGINS = {"value": "what it begins with", "cotangent": "what flows into it", "tangent": "what it begins with"}
