"""The numexpr backend: elementwise regions as fused strings, everything else as in the NumPy backend.

A value that one elementwise node alone reads is written inside that node's string. Strings stay below
numexpr's limits (63 inputs, 200 parentheses) and below the length at which its compiler gets slow.
Fractions reach float32 strings as float32 variables, since a written one would make them float64.
Reductions stay with NumPy: numexpr's float32 sum loses digits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from ..primitives.elementwise import Template
from ..primitives.functions import power
from ..program.node import Node
from ..program.program import Program
from .numpy_backend import Writer, is_product

_MOST_INPUTS = 40
_MOST_DEPTH = 60
_MOST_OPERATIONS = 48


@dataclass
class Text:
    """An expression not yet evaluated: its string, the nodes it reads, and how large it is."""

    code: str
    reads: dict[str, Node | Any]
    depth: int = 0
    operations: int = 0


class NumexprWriter(Writer):
    """Writes elementwise regions of every size through numexpr."""

    exact = False

    def __init__(self, program: Program, sizes: Mapping[sympy.Symbol, int] | None = None) -> None:
        super().__init__(program, sizes)
        self._texts: dict[Node, Text] = {}
        self._inlined: set[Node] = set()
        self._read: list[Node] = []
        self.regions = 0
        self.namespace["evaluate"] = evaluate

    def _plan(self) -> None:
        nodes = self.program.nodes
        users: dict[Node, list[Node]] = {}
        for node in nodes:
            for o in node.operands:
                users.setdefault(o, []).append(node)
        count = Counter(self.program.outputs)
        for node in nodes:
            readers = users.get(node, [])
            alone = len(readers) == 1 and not count[node] and readers[0].shape == node.shape
            if alone and self._fuses(node) and self._fuses(readers[0]):
                self._inlined.add(node)
        place: dict[Node, int] = {}
        for k in range(len(nodes) - 1, -1, -1):
            node = nodes[k]
            place[node] = place[users[node][0]] if node in self._inlined or node in self.delayed else k
            for o in node.operands:
                self._last_use[o] = max(self._last_use.get(o, 0), place[node])

    @property
    def backend(self) -> str:
        return "numexpr" if self.regions else "numpy"

    def place(self, node: Node) -> tuple[str, str]:
        return ("numexpr", "part of a numexpr string") if self._fuses(node) else super().place(node)

    def _fuses(self, node: Node) -> bool:
        if any(o in self.delayed for o in node.operands):
            return False
        if not node.shape or not self.is_large(node, 1):
            return False
        return is_spelled(node)

    def _compute(self, node: Node, k: int) -> None:
        if not self._fuses(node):
            super()._compute(node, k)
            return
        text = self._text(node, k)
        if node in self._inlined:
            self._texts[node] = text
            self.fresh.add(node)
        else:
            self._evaluate(node, text, k, self._dying_buffer(node, k, [n for n in text.reads.values() if n]))

    def _text(self, node: Node, k: int) -> Text:
        parts = [self._operand(o, node) for o in node.operands]
        combined = _combined(node, parts)
        while _too_large(combined):  # the largest part is computed on its own
            largest = max(range(len(parts)), key=lambda i: parts[i].operations)
            if not parts[largest].operations:
                break
            operand = node.operands[largest]
            self._evaluate(operand, parts[largest], k, None)  # the other parts may read what it reads
            parts[largest] = self._operand(operand, node)
            combined = _combined(node, parts)
        return combined

    def _operand(self, o: Node, reader: Node) -> Text:
        if o in self._texts:
            return self._texts[o]
        name = self.names[o]
        if o.is_literal:
            return self._scalar(o.params[0], reader)
        if o.weak:
            name = self.assign(f"np.{_float_of(reader).name}({name})")
        return Text(name, {name: o})

    def _scalar(self, value: Any, reader: Node) -> Text:
        dtype = _float_of(reader)
        # a whole number takes the dtype of a float beside it; beside truth values it would stay whole
        beside_float = any(o.dtype.kind == "f" and not o.weak for o in reader.operands)
        is_whole = beside_float and float(value).is_integer() and abs(value) < 2**24
        spelled = str(int(value)) if is_whole else repr(float(value))
        # of written halves numexpr makes square roots, as NumPy does of 0.5 alone: they differ at -0.0 and -inf
        is_half = reader.primitive is power and not is_whole and value != 0.5
        if np.isfinite(value) and not is_half and (dtype == np.float64 or spelled.lstrip("-").isdigit()):
            return Text(f"({spelled})" if value < 0 else spelled, {})
        name = self.new_name()
        self.namespace[name] = dtype.type(value)
        return Text(name, {name: None})

    def _evaluate(self, node: Node, text: Text, k: int, buffer: str | None) -> None:
        reads = ", ".join(f"{name!r}: {name}" for name in text.reads)
        self._texts.pop(node, None)
        out = f", out={buffer}" if buffer else ""
        self.names[node] = self.assign(f"evaluate({text.code!r}, {{{reads}}}{out})")
        self.fresh.add(node)
        self.regions += 1
        self._read += [n for n in text.reads.values() if n is not None]

    def _free(self, read: Iterable[Node], k: int) -> None:
        super()._free((n for n in (*read, *self._read) if n not in self._texts), k)
        self._read = []


_FLOATS = {np.dtype(np.float32), np.dtype(np.float64)}


def is_spelled(node: Node) -> bool:
    """True for what numexpr has: an elementwise operation on floats of one dtype and truth values."""
    if isinstance(node.primitive, Template):
        spelled = node.primitive.numexpr is not None
    else:
        spelled = node.primitive.name == "gate" or (node.primitive.name == "einsum" and is_product(node))
    kinds = {o.dtype for o in node.operands if not o.weak and o.dtype.kind != "b"}
    if node.dtype.kind == "f":
        kinds.add(node.dtype)
    return spelled and len(kinds) == 1 and kinds <= _FLOATS and node.dtype.kind in "fb"


def _float_of(node: Node) -> np.dtype:
    kinds = [n.dtype for n in (node, *node.operands) if n.dtype.kind == "f" and not n.weak]
    return kinds[0] if kinds else np.dtype(np.float64)


def _combined(node: Node, parts: list[Text]) -> Text:
    reads: dict[str, Any] = {}
    for part in parts:
        reads |= part.reads
    codes = [p.code for p in parts]
    if isinstance(node.primitive, Template):
        code = str(node.primitive.numexpr).format(*codes)
        operations = 1 + (parts[0].operations if node.primitive.name == "square" else 0)  # written twice
    elif node.primitive.name == "gate":
        m, t = codes
        boolean = node.operands[0].dtype.kind == "b"
        code = f"where({m}, {t}, 0)" if boolean else f"where({m} != 0, {m} * {t}, 0)"
        operations = 3 + (0 if boolean else parts[0].operations)
    else:
        code = "(" + "*".join(codes) + ")"
        operations = len(parts) - 1
    return Text(
        code,
        reads,
        1 + max(p.depth for p in parts),
        operations + sum(p.operations for p in parts),
    )


def _too_large(text: Text) -> bool:
    return len(text.reads) > _MOST_INPUTS or text.depth > _MOST_DEPTH or text.operations > _MOST_OPERATIONS


def evaluate(code: str, values: dict[str, Any], out: Any = None) -> np.ndarray:
    """``numexpr.evaluate`` of symgrad's own string; imported at the first use, since some systems have no build."""
    import numexpr

    return numexpr.evaluate(code, values, {}, out=out, sanitize=False)
