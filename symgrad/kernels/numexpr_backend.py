"""The numexpr backend: elementwise regions as fused strings, everything else as in the NumPy backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from ..emit.arrays.numexpr import StringWriter, Text
from ..program.node import Node
from ..program.program import Program
from .numpy_backend import Writer


class NumexprWriter(StringWriter, Writer):
    """Writes elementwise regions of every size through numexpr."""

    exact = False

    def __init__(self, program: Program, sizes: Mapping[sympy.Symbol, int] | None = None) -> None:
        Writer.__init__(self, program, sizes)
        self.regions = 0
        self.namespace["evaluate"] = evaluate
        self.find_inlined()

    def _places(self) -> dict[Node, int]:
        place = super()._places()
        for node in reversed(self.program.nodes):
            if node in self._inlined:
                place[node] = place[self._inlined[node]]
        return place

    @property
    def backend(self) -> str:
        return "numexpr" if self.regions else "numpy"

    def place(self, node: Node) -> tuple[str, str]:
        return ("numexpr", "part of a numexpr string") if self.fuses(node) else super().place(node)

    def fuses(self, node: Node) -> bool:
        return not any(o in self.delayed for o in node.operands) and super().fuses(node)

    def variable(self, value: Any, dtype: np.dtype) -> str:
        name = self.new_name()
        self.namespace[name] = dtype.type(value)
        return name

    def evaluated(self, node: Node, text: Text, made_of: Sequence[Node]) -> str:
        self.regions += 1
        reads = ", ".join(f"{name!r}: {source}" for name, (source, _) in text.reads.items())
        buffer = self._dying_buffer(node, made_of)
        return f"evaluate({text.code!r}, {{{reads}}}{f', out={buffer}' if buffer else ''})"


def evaluate(code: str, values: dict[str, Any], out: Any = None) -> np.ndarray:
    """``numexpr.evaluate`` of symgrad's own string; imported at the first use, since some systems have no build."""
    import numexpr

    return numexpr.evaluate(code, values, {}, out=out, sanitize=False)
