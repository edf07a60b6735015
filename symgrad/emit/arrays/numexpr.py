"""Elementwise work as numexpr strings, and the lines of NumPy around them.

A value that one elementwise node alone reads is written inside that node's string. Strings stay below numexpr's limits
(63 inputs, 200 parentheses) and below the length at which its compiler gets slow. Fractions reach float32 strings as
float32 variables, since a written one would make them float64. Reductions stay with NumPy: numexpr's float32 sum loses
digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...primitives.elementwise import COMPARISONS, SIGNS, Elementwise
from ...primitives.functions import power, square, where
from ...program.node import Node
from .contraction import is_product
from .dialect import OPERATORS
from .writer import ArrayWriter

_MAX_READS, _MAX_DEPTH, _MAX_OPERATIONS = 40, 60, 48
#: integers up to here are exact in float32
_EXACT = 1 << 24
#: what NumPy does as well
_PLAIN = {*OPERATORS, "einsum", "square", "where", "conjugate"}
#: functions of NumPy that numexpr has under the same name
_FUNCTIONS = frozenset(
    ("sqrt", "exp", "expm1", "log", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2")
    + ("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "floor", "ceil", "fmod", "where")
)
_SPELLED = {name: f"({{0}}{sign}{{1}})" for name, sign in (SIGNS | COMPARISONS | {"power": "**"}).items()}
_SPELLED |= {"negative": "(-{0})", "square": "({0}*{0})", "reciprocal": "(1/{0})"}
_SPELLED |= dict.fromkeys(("absolute", "fabs"), "abs({0})") | dict.fromkeys(("conjugate", "positive"), "{0}")
_FLOATS = {np.dtype(np.float32), np.dtype(np.float64)}


@dataclass
class Text:
    """An expression that is not yet evaluated: its string, how large it is, and what it reads.

    ``reads`` are for each name in the string the source of its value, and the node where that is one.
    """

    code: str
    reads: dict[str, tuple[str, Node | None]] = field(default_factory=dict)
    depth: int = 0
    operations: int = 0

    @property
    def too_large(self) -> bool:
        """True for more than numexpr takes."""
        return len(self.reads) > _MAX_READS or self.depth > _MAX_DEPTH or self.operations > _MAX_OPERATIONS


class StringWriter(ArrayWriter):
    """Writes what is elementwise as strings; how they are evaluated, and where their numbers are, is left open."""

    _texts: dict[Node, Text]
    _fused: set[Node]
    #: values that go into the string of the only node that reads them, with that node
    _inlined: dict[Node, Node]

    def variable(self, value: Any, dtype: np.dtype) -> str:
        """The name of a number of a dtype."""
        raise NotImplementedError

    def evaluated(self, node: Node, text: Text, made_of: Sequence[Node]) -> str:
        """The source of the value of a string, which may take the memory of a value in ``made_of`` that dies."""
        raise NotImplementedError

    def fuses(self, node: Node) -> bool:
        """True for what can stand in a string: floats of one dtype and truth values, element by element."""
        if not node.shape or any(d == 0 for d in node.shape if isinstance(d, int)):
            return False
        # numexpr makes integers of truth values and whole numbers
        reads_floats = any(o.dtype.kind == "f" and not o.is_literal for o in node.operands)
        return reads_floats and _is_spelled(node)

    def find_inlined(self) -> None:
        """Find the values that never have lines of their own."""
        users: dict[Node, list[Node]] = {}
        for node in self.program.nodes:
            for o in node.operands:
                users.setdefault(o, []).append(node)
        kept = set(self.program.outputs)
        self._texts = {}
        self._fused = {n for n in self.program.nodes if self.fuses(n)}
        self._inlined = {
            n: readers[0]
            for n, readers in users.items()
            if len(readers) == 1 and n not in kept and readers[0].shape == n.shape
            if n in self._fused and readers[0] in self._fused
        }

    def compute(self, node: Node) -> None:
        if node not in self._fused:
            super().compute(node)
            return
        text = self._text(node)
        if node in self._inlined:
            self._texts[node] = text
            self.fresh.add(node)
        elif self._stays(node, text):
            super().compute(node)
        else:
            self._evaluate(node, text, [n for _, n in text.reads.values() if n is not None])

    def _stays(self, node: Node, text: Text) -> bool:
        """True for a single operation that NumPy does as well, where it is for readers."""
        if not self.dialect.readable or text.operations > 1 or any(o in self._inlined for o in node.operands):
            return False
        return node.primitive.name in _PLAIN

    def _evaluate(self, node: Node, text: Text, made_of: Sequence[Node]) -> None:
        self._texts.pop(node, None)
        self.names[node] = self.assign(self.evaluated(node, text, made_of), node)
        self.fresh.add(node)

    def _text(self, node: Node) -> Text:
        parts = [self._operand(o, node) for o in node.operands]
        combined = _combined(node, parts)
        while combined.too_large and any(p.operations for p in parts):  # the largest part is computed on its own
            largest = max(range(len(parts)), key=lambda k: parts[k].operations)
            self._evaluate(node.operands[largest], parts[largest], ())  # the other parts may read what it reads
            parts[largest] = self._operand(node.operands[largest], node)
            combined = _combined(node, parts)
        return combined

    def _operand(self, o: Node, reader: Node) -> Text:
        if o in self._texts:
            return self._texts[o]
        if o.is_literal:
            return self._number(o.params[0], reader)
        read = self.read(o)
        name = read if read.isidentifier() else self.assign(read)
        code = self.call("scalar", name, dtype=self.dtype(_float_of(reader))) if o.weak else name
        return Text(name, {name: (code, o)})

    def _number(self, value: Any, reader: Node) -> Text:
        """A number; one that would change its dtype or its sign when it is written is a variable."""
        dtype = _float_of(reader)
        # a whole number takes the dtype of a float beside it; beside truth values it would stay whole
        beside_float = any(o.dtype.kind == "f" and not o.weak for o in reader.operands)
        whole = beside_float and np.isfinite(value) and float(value).is_integer() and abs(value) < _EXACT
        # of written halves numexpr makes square roots, as NumPy does of 0.5 alone: they differ at -0.0 and -inf
        is_half = reader.primitive is power and not whole and value != 0.5
        is_zero = value == 0 and bool(np.signbit(value))
        if np.isfinite(value) and not is_half and not is_zero and (whole or dtype == np.float64):
            spelled = str(int(value)) if whole else repr(float(value))
            return Text(f"({spelled})" if value < 0 else spelled)
        name = self.variable(value, dtype)
        return Text(name, {name: (name, None)})


def _spelled(operation: Elementwise) -> str | None:
    """How numexpr writes an operation over ``{0} {1} {2}``; None for what it has not."""
    called = getattr(operation.ufunc, "__name__", "")
    if called in _FUNCTIONS and getattr(np, called) is operation.ufunc:
        return f"{called}({','.join(f'{{{k}}}' for k in range(operation.arity))})"
    return _SPELLED.get(operation.name)


def _is_spelled(node: Node) -> bool:
    """True for what numexpr has: an elementwise operation on floats of one dtype and truth values."""
    if isinstance(node.primitive, Elementwise):
        spelled = _spelled(node.primitive) is not None
    else:
        spelled = node.primitive.name == "gate" or (node.primitive.name == "einsum" and is_product(node))
    kinds = {o.dtype for o in node.operands if not o.weak and o.dtype.kind != "b"}
    if node.dtype.kind == "f":
        kinds.add(node.dtype)
    return spelled and len(kinds) == 1 and kinds <= _FLOATS and node.dtype.kind in "fb"


def _float_of(node: Node) -> np.dtype:
    kinds = [n.dtype for n in (node, *node.operands) if n.dtype.kind == "f" and not n.weak]
    return kinds[0] if kinds else np.dtype(np.float64)


def _combined(node: Node, parts: Sequence[Text]) -> Text:
    codes = [p.code for p in parts]
    operations = 1
    if node.primitive is where and node.operands[0].dtype.kind != "b":
        codes[0] = f"({codes[0]} != 0)"
    if isinstance(node.primitive, Elementwise):
        spelled = str(_spelled(node.primitive))
        code = spelled.format(*codes if spelled.startswith(("(", "{")) else map(stripped, codes))
        operations += parts[0].operations if node.primitive is square else 0  # written twice
    elif node.primitive.name == "gate":
        m, t = codes
        boolean = node.operands[0].dtype.kind == "b"
        code = f"where({stripped(m)}, {stripped(t)}, 0)" if boolean else f"where({m} != 0, {m} * {t}, 0)"
        operations = 3 + (0 if boolean else parts[0].operations)
    else:
        code = "(" + "*".join(codes) + ")"
        operations = len(parts) - 1
    reads: dict[str, tuple[str, Node | None]] = {}
    for part in parts:
        reads |= part.reads
    return Text(code, reads, 1 + max(p.depth for p in parts), operations + sum(p.operations for p in parts))


def stripped(code: str) -> str:
    """A string without parentheses around all of it: what begins with one ends with its partner, as every part does.

    >>> stripped("(a+b)"), stripped("exp(a)")
    ('a+b', 'exp(a)')
    """
    return code[1:-1] if code.startswith("(") else code
