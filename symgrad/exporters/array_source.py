"""A Program as lines of an array library: one functional line a binding, spelled by tables of the target.

``ArrayWriter`` knows which lines there are; a target says how they are spelled. NumPy's spelling is the base, others
override it. What the targets share is NumPy's meaning: indices, broadcasting, dtypes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from ..errors import UnsupportedOperation
from ..primitives.elementwise import Template
from ..primitives.order import NAMED
from ..program.dims import dim_source
from ..program.node import Node
from ..program.program import Program
from . import python_source
from .array_contraction import ArrayContraction

#: elementwise functions that Python has signs for
OPERATORS = {
    "add": "{0} + {1}",
    "subtract": "{0} - {1}",
    "multiply": "{0} * {1}",
    "divide": "{0} / {1}",
    "negative": "-{0}",
    "greater": "{0} > {1}",
    "greater_equal": "{0} >= {1}",
    "less": "{0} < {1}",
    "less_equal": "{0} <= {1}",
    "equal": "{0} == {1}",
    "not_equal": "{0} != {1}",
}
_NAME = re.compile(r"\bv\d+\b")
#: what stays where it is: the same value under another name
_SAME = ("mark", "custom")


class ArrayWriter:
    """Writes the body of a function; ``names`` are those of the inputs, ``dims`` those of the named dims."""

    #: elements from which an array is let go of where nothing reads it any more
    freed_from: float = math.inf
    #: what the format is called in messages
    target = ""
    #: how the library is called in the source
    library = ""

    def __init__(self, program: Program, names: Mapping[Node, str], dims: Mapping[sympy.Symbol, str]) -> None:
        self.program = program
        self.names = dict(names)
        self.dims = dims
        self.lines: list[str] = []
        #: functions of the module itself that the lines call
        self.helpers: dict[str, None] = {}
        #: captured arrays by name
        self.constants: dict[str, Node] = {}
        #: values in memory that no argument and no other value has
        self.owned: set[Node] = set()
        self._count = 0
        self._large: set[str] = set()

    # what a target says

    def elementwise(self, node: Node, template: Template) -> str:
        """An elementwise call."""
        raise NotImplementedError

    def typed(self, node: Node, dtype: np.dtype) -> str:
        """A value as an array of ``dtype``."""
        raise NotImplementedError

    def dtype(self, dtype: np.dtype) -> str:
        """The name of a dtype; UnsupportedOperation where the target has none."""
        raise NotImplementedError

    def sum(self, code: str, axes: Sequence[int] | None) -> str:
        """The sum over axes, over all of them where None."""
        raise NotImplementedError

    def permuted(self, code: str, axes: Sequence[int]) -> str:
        """The axes in another order."""
        raise NotImplementedError

    def einsum(self, spelled: str, *codes: str) -> str:
        """A contraction that is spelled by letters."""
        raise NotImplementedError

    def pair(self, term: ArrayContraction, left: Any, right: Any, groups: tuple) -> tuple[str, tuple]:
        """A contraction of two that is no plain matrix product: its source and the labels of its axes."""
        both, rows, _, columns = groups
        order = (*both, *rows, *columns)
        return self.einsum(term.spelled([left.labels, right.labels], order), left.code, right.code), order

    def filled(self, shape: Sequence[Any], code: str, node: Node) -> str:
        """An array of ``shape`` that holds the scalar ``code`` everywhere, of the dtype of ``node``."""
        raise NotImplementedError

    def broadcast(self, code: str, shape: Sequence[Any]) -> str:
        """An array broadcast to ``shape``."""
        raise NotImplementedError

    def cast(self, node: Node) -> str:
        """A change of dtype."""
        raise NotImplementedError

    def result(self, node: Node, name: str, shared: bool) -> str:
        """An output; ``shared`` where it may look into an argument or another output."""
        raise NotImplementedError

    # sources of parts

    def dim(self, d: Any) -> str:
        """The source of a dim."""
        return dim_source(d, self.dims)

    def shape(self, shape: Sequence[Any]) -> str:
        """The source of a shape."""
        return "(" + ", ".join(map(self.dim, shape)) + ("," if len(shape) == 1 else "") + ")"

    def number(self, value: Any) -> str:
        """A Python scalar, in parentheses where it begins with a sign."""
        text = python_source.number(value).replace("np.", f"{self.library}.")
        return f"({text})" if text.startswith("-") else text

    def read(self, node: Node) -> str:
        """A value as it is."""
        return self.names[node]

    def call(self, helper: str, *arguments: str) -> str:
        """A call of one of the module's own functions."""
        self.helpers[helper] = None
        return f"{helper}({', '.join(arguments)})"

    def assign(self, code: str, node: Node | None = None, shape: Sequence[Any] = ()) -> str:
        """Bind ``code`` to a new name; ``shape`` is that of what is no node."""
        name = f"v{self._count}"
        self._count += 1
        said = "" if node is None else self._said(node)
        self.lines.append(f"{name} = {code}{said}")
        count = math.prod(d if isinstance(d, int) else NAMED for d in (node.shape if node is not None else shape))
        if count >= self.freed_from:
            self._large.add(name)
        return name

    def free(self, results: Sequence[str]) -> None:
        """Let go of large arrays after the last line that reads them: their memory is then there for the next."""
        last = {name: k for k, line in enumerate(self.lines) for name in _NAME.findall(line) if name in self._large}
        kept = {name for result in results for name in _NAME.findall(result)}
        dead: dict[int, list[str]] = {}
        for name, k in last.items():
            if name not in kept:
                dead.setdefault(k, []).append(name)
        self.lines = [
            row
            for k, line in enumerate(self.lines)
            for row in (line, *([f"del {', '.join(dead[k])}"] if k in dead else []))
        ]

    def _said(self, node: Node) -> str:
        kind = "" if node.dtype.kind == "f" else f"{node.dtype.name} "
        if not node.shape:
            return ""
        return f"  # {kind}{python_source.shape_text([self.dim(d) for d in node.shape])}"

    # the lines

    def write(self, count: int, refuse: Callable[[Node, str], Sequence[str]]) -> list[str]:
        """Write the lines; the sources of the first ``count`` outputs, of which the others are conditions.

        ``refuse`` makes the lines that follow that of a condition.
        """
        conditions = set(self.program.outputs[count:])
        for node in self.program.nodes:
            if node.primitive.name != "input":
                self._statement(node)
            if node in conditions and node.primitive.name not in ("literal", "constant"):
                self.lines += refuse(node, self.names[node])
        results: list[str] = []
        taken: set[str] = set()
        for node in self.program.outputs[:count]:
            name = self.names[node]
            results.append(self.result(node, name, node not in self.owned or name in taken))
            taken.add(name)
        self.free(results)
        return results

    def _statement(self, node: Node) -> None:
        kind = node.primitive.name
        if kind == "literal":
            self.names[node] = self.number(node.params[0])
        elif kind == "dim":
            self.names[node] = self.dim(node.params[0])
        elif kind == "constant":
            self.names[node] = f"_C{len(self.constants)}"
            self.constants[self.names[node]] = node
        elif kind in _SAME:
            self.names[node] = self.names[node.operands[0]]
            if node.operands[0] in self.owned:
                self.owned.add(node)
        else:
            self._compute(node)

    def _compute(self, node: Node) -> None:
        if isinstance(node.primitive, Template):
            code, fresh = self.elementwise(node, node.primitive), True
        else:
            writer = STATEMENTS.get(node.primitive.name)
            if writer is None:
                raise self.refused(node.primitive.name)
            code, fresh = writer(self, node)
        self.names[node] = code if code.isidentifier() else self.assign(code, node)
        if fresh or not node.shape:
            self.owned.add(node)

    def refused(self, name: str) -> UnsupportedOperation:
        """What to raise for an operation that the target has not."""
        return UnsupportedOperation(
            f"{name} cannot be written for {self.target}; export the format python, or write it with other operations."
        )

    def indexed(self, code: str, spec: Sequence[Any], shape: Sequence[Any]) -> str:
        """``code`` of ``shape`` at a slice; steps backwards are taken forwards and turned around."""
        index, turned = self.index(spec, shape)
        made = code if set(index) <= set(":, ") else f"{code}[{index}]"
        return self.turned(made, turned) if turned else made

    def index(self, spec: Sequence[Any], shape: Sequence[Any]) -> tuple[str, list[int]]:
        """A slice forwards as an index, and the axes of the result that are to be turned around."""
        entries, turned, axis = [], [], 0
        for e, d in zip(spec, shape, strict=True):
            if not isinstance(e, tuple):
                entries.append(self.dim(e))
                continue
            start, length, step = e
            if step < 0:
                start, step = start + (length - 1) * step, -step
                turned.append(axis)
            entries.append(":" if (start, length, step) == (0, d, 1) else self._range(start, length, step))
            axis += 1
        return ", ".join(entries) or "()", turned

    def _range(self, start: Any, length: Any, step: int) -> str:
        if isinstance(length, int) and length == 0:
            return "0:0"
        first = "" if isinstance(start, int) and start == 0 else self.dim(start)
        # where the last element stands, and one: a step beyond it may be beyond the array too
        stop = self.dim(start + (length - 1) * step + 1 if isinstance(length, int) else start + length * step)
        return f"{first}:{stop}" + (f":{step}" if step != 1 else "")

    def turned(self, code: str, axes: Sequence[int]) -> str:
        """The axes backwards."""
        return f"{self.library}.flip({code}, {tuple(axes)})"

    def contraction(self, node: Node) -> tuple[str, bool]:
        """An einsum node."""
        return ArrayContraction(self, node).write()


#: primitive -> its source, and whether that is memory of its own
STATEMENTS: dict[str, Callable[[Any, Node], tuple[str, bool]]] = {
    "einsum": lambda w, n: w.contraction(n),
    "cast": lambda w, n: (w.cast(n), True),
    "slice": lambda w, n: (w.indexed(w.read(n.operands[0]), n.params[0], n.operands[0].shape), False),
    "reshape": lambda w, n: (w.reshaped(n), False),
    "stop_gradient": lambda w, n: (w.stopped(n), False),
    "assemble": lambda w, n: (w.assembled(n), True),
    "gate": lambda w, n: (w.gate(n), True),
    "gather": lambda w, n: (w.gather(n), True),
    "scatter": lambda w, n: (w.scatter(n), True),
    "concatenate": lambda w, n: (w.concatenated(n), True),
    "max": lambda w, n: (w.extremum(n), True),
    "min": lambda w, n: (w.extremum(n), True),
    "prod": lambda w, n: (w.prod(n), True),
    **dict.fromkeys(("cumsum", "cumprod"), lambda w, n: (w.accumulation(n), True)),
    "convolve": lambda w, n: (w.convolve(n), True),
    "searchsorted": lambda w, n: (w.searchsorted(n), True),
    "argmax": lambda w, n: (w.search(n), True),
    "argmin": lambda w, n: (w.search(n), True),
    "argsort": lambda w, n: (w.search(n), True),
    "inverse": lambda w, n: (w.inverse(n), True),
    "solve": lambda w, n: (w.solve(n), True),
    "determinant": lambda w, n: (w.determinant(n), True),
    "log_determinant": lambda w, n: (w.log_determinant(n), True),
    "determinant_sign": lambda w, n: (w.determinant_sign(n), True),
    "cholesky": lambda w, n: (w.cholesky(n), True),
}
