"""A module of numexpr strings: elementwise work fused into expressions, and NumPy lines around them.

A value that one elementwise line alone reads is written inside that line's string. Strings stay below numexpr's limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..kernels.numexpr_backend import is_spelled
from ..primitives.elementwise import Template
from ..primitives.functions import where
from ..program.node import Node
from ..program.program import Program
from . import array_module, python_source
from .array_module import Module, Signature
from .array_source import OPERATORS
from .numpy_source import HELPERS, NumpyWriter
from .python import ENTRANCES, QUIET, entered
from .subject import Subject

#: numexpr refuses 64 names and 200 parentheses, and compiles long strings slowly
_MOST_READS, _MOST_DEPTH, _MOST_OPERATIONS = 40, 60, 48
#: integers up to here are exact in float32
_EXACT = 1 << 24


@dataclass
class Text:
    """An expression that is not yet evaluated: its string, what it reads by name, and how large it is."""

    code: str
    reads: dict[str, str] = field(default_factory=dict)
    depth: int = 0
    operations: int = 0

    @property
    def too_large(self) -> bool:
        """True for more than numexpr takes."""
        return len(self.reads) > _MOST_READS or self.depth > _MOST_DEPTH or self.operations > _MOST_OPERATIONS


class NumexprModuleWriter(NumpyWriter):
    """NumPy lines, and numexpr strings for what is elementwise."""

    target = "numexpr"

    def __init__(self, program: Program, names: Any, dims: Any) -> None:
        super().__init__(program, names, dims)
        #: the strings by name, with what is said of each
        self.expressions: dict[str, tuple[str, str]] = {}
        #: fractions that float32 strings read, by their source
        self.fractions: dict[str, str] = {}
        self._texts: dict[Node, Text] = {}
        self._inlined = self._read_once()

    def _read_once(self) -> set[Node]:
        """Values that go into the string of the only line that reads them."""
        kept = set(self.program.outputs)
        users: dict[Node, list[Node]] = {}
        for node in self.program.nodes:
            for o in node.operands:
                users.setdefault(o, []).append(node)
        return {
            n
            for n, readers in users.items()
            if len(readers) == 1 and n not in kept and readers[0].shape == n.shape and fuses(n) and fuses(readers[0])
        }

    def _compute(self, node: Node) -> None:
        if not fuses(node):
            super()._compute(node)
            return
        text = self._text(node)
        if node in self._inlined:
            self._texts[node] = text
        elif text.operations < 2 and _is_plain(node) and not any(o in self._inlined for o in node.operands):
            super()._compute(node)
        else:
            self._evaluate(node, text)

    def _text(self, node: Node) -> Text:
        parts = [self._operand(o, node) for o in node.operands]
        combined = _combined(node, parts)
        while combined.too_large and any(p.operations for p in parts):  # the largest part is computed on its own
            largest = max(range(len(parts)), key=lambda k: parts[k].operations)
            self._evaluate(node.operands[largest], parts[largest])
            parts = [self._operand(o, node) for o in node.operands]
            combined = _combined(node, parts)
        return combined

    def _operand(self, o: Node, reader: Node) -> Text:
        if o in self._texts:
            return self._texts[o]
        dtype = _float_of(reader)
        if o.is_literal:
            return self._scalar(o.params[0], dtype)
        if o.primitive.name == "dim":
            size = self.read(o)
            name = size if size.isidentifier() else self.assign(size)
            return Text(name, {name: f"{self.dtype(dtype)}({name})"})
        name = self.read(o)
        return Text(name, {name: f"{self.dtype(dtype)}({name})" if o.weak else name})

    def _scalar(self, value: Any, dtype: np.dtype) -> Text:
        """A number; a written fraction would make float32 float64, so there it is a variable."""
        whole = np.isfinite(value) and float(value).is_integer() and abs(value) < _EXACT
        spelled = str(int(value)) if whole else repr(float(value))
        if np.isfinite(value) and not (whole and value == 0 and np.signbit(value)) and (dtype == np.float64 or whole):
            return Text(f"({spelled})" if value < 0 else spelled)
        source = f"{self.dtype(dtype)}({python_source.number(value)})"
        name = next((k for k, v in self.fractions.items() if v == source), f"_S{len(self.fractions)}")
        self.fractions[name] = source
        return Text(name, {name: name})

    def _evaluate(self, node: Node, text: Text) -> None:
        self._texts.pop(node, None)
        name = f"_E{len(self.expressions)}"
        self.expressions[name] = (text.code, self._said(node).strip())
        reads = ", ".join(f'"{name}": {value}' for name, value in text.reads.items())
        self.names[node] = self.assign(f"numexpr.evaluate({name}, {{{reads}}})", node)
        self.owned.add(node)


def fuses(node: Node) -> bool:
    """True for what can stand in a numexpr string: floats of one dtype and truth values, element by element."""
    if not node.shape or any(d == 0 for d in node.shape if isinstance(d, int)):
        return False
    # numexpr makes integers of truth values and whole numbers
    reads_floats = any(o.dtype.kind == "f" and not o.is_literal for o in node.operands)
    return reads_floats and is_spelled(node)


def _is_plain(node: Node) -> bool:
    """A single operation that NumPy does as well."""
    return node.primitive.name in OPERATORS or node.primitive.name in ("einsum", "square", "where", "conjugate")


def _float_of(node: Node) -> np.dtype:
    kinds = [n.dtype for n in (node, *node.operands) if n.dtype.kind == "f" and not n.weak]
    return kinds[0] if kinds else np.dtype(np.float64)


def _combined(node: Node, parts: Sequence[Text]) -> Text:
    codes = [p.code for p in parts]
    operations = 1
    if node.primitive is where and node.operands[0].dtype.kind != "b":
        codes[0] = f"({codes[0]} != 0)"
    if isinstance(node.primitive, Template):
        spelled = str(node.primitive.numexpr)
        code = spelled.format(*codes if spelled.startswith(("(", "{")) else map(_stripped, codes))
        operations += parts[0].operations if node.primitive.name == "square" else 0  # written twice
    elif node.primitive.name == "gate":
        m, t = codes
        boolean = node.operands[0].dtype.kind == "b"
        code = f"where({_stripped(m)}, {_stripped(t)}, 0)" if boolean else f"where({m} != 0, {m} * {t}, 0)"
        operations = 3 + (0 if boolean else parts[0].operations)
    else:
        code = "(" + "*".join(codes) + ")"
        operations = len(parts) - 1
    reads: dict[str, str] = {}
    for part in parts:
        reads |= part.reads
    return Text(code, reads, 1 + max(p.depth for p in parts), operations + sum(p.operations for p in parts))


def module(subject: Subject) -> str:
    """The derivative as numexpr strings and a function that evaluates them, in a module of its own."""
    from numexpr.expressions import functions

    subject = subject.as_sparse() if subject.as_sparse else subject
    signature = Signature.of(subject, ["numexpr", *functions], ascii=True)
    writer = NumexprModuleWriter(signature.program, signature.arguments, signature.dims)
    results = writer.write(signature.outputs, array_module.refusal(signature))
    special = "special" in writer.helpers
    strings: list[str] = []
    for name, (code, said) in writer.expressions.items():
        strings += [*([said] if said else []), f'{name} = "{_stripped(code)}"']
    fractions = [f"{name} = {source}" for name, source in writer.fractions.items()]
    return Module(
        subject,
        signature,
        f"it needs NumPy{', SciPy' if special or subject.assembled else ''} and numexpr.",
        ["import sys", "", "import numexpr", "import numpy as np"] + (["from scipy import special"] if special else []),
        ("np.ndarray", "np.generic"),
        decorators=[QUIET],
        helpers=[HELPERS[name] for name in writer.helpers if name in HELPERS],
        constants=[*array_module.constant_lines(writer), *fractions, *strings],
        check=array_module.checked(signature),
        entrances=ENTRANCES,
    ).text(lambda leaves: entered(signature, leaves), writer, results)


def _stripped(code: str) -> str:
    """A string without parentheses around all of it."""
    if not (code.startswith("(") and code.endswith(")")):
        return code
    depth = 0
    for k, c in enumerate(code):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return code[1:-1] if k == len(code) - 1 else code
    return code
