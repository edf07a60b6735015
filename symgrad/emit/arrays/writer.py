"""A Program as lines of an array library: one line a binding.

``ArrayWriter`` knows which lines there are, its dialect how they are spelled. Where a library has other rules of
promotion than NumPy, every dtype is written down: operands are cast to the dtypes of NumPy's loops. A Python scalar
stays one where an array of that dtype stands beside it; weak arguments are arrays of their dtype, and are cast to what
they would have given way to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count
from types import MappingProxyType
from typing import Any

import numpy as np
import sympy

from ...errors import UnsupportedOperation
from ...primitives.elementwise import Elementwise
from ...primitives.functions import where
from ...primitives.order import extent
from ...primitives.scan import PART, SCAN
from ...program.dims import dim_source
from ...program.node import Node
from ...program.program import Program
from .contraction import Contraction
from .dialect import NUMPY, OPERATORS, Dialect
from .loops import write_loop
from .numbers import number, shape_text
from .statements import STATEMENTS, Statement

_NAME = re.compile(r"\bv\d+\b")
_PYTHON = {"f": "float", "i": "int", "u": "int", "b": "bool", "c": "complex"}


class ArrayWriter:
    """Writes the body of a function; ``names`` are those of the inputs, ``dims`` those of the named dims."""

    dialect: Dialect = NUMPY
    statements: Mapping[str, Statement] = STATEMENTS

    def __init__(
        self,
        program: Program,
        names: Mapping[Node, str] = MappingProxyType({}),
        dims: Mapping[sympy.Symbol, str] = MappingProxyType({}),
        dialect: Dialect | None = None,
    ) -> None:
        self.program = program
        self.dialect = dialect or self.dialect
        self.names = dict(names)
        self.dims = dict(dims)
        self.lines: list[str] = []
        #: captured arrays by name
        self.constants: dict[str, Node] = {}
        #: values in memory that no argument and no other value has
        self.fresh: set[Node] = set()
        self._count = 0
        #: the writer of the whole function, where this one writes the body of a loop
        self._outer: ArrayWriter | None = None
        #: what may not be the name of a step: arguments, and the steps around
        self._taken = {*self.names.values(), *self.dims.values()}
        #: the results of loops, by the parameters of their parts
        self._pieces: dict[Node, dict[Any, str]] = {}
        self._large: set[str] = set()
        self._calls: dict[tuple, str | None] = {}

    # sources of parts

    def dim(self, d: Any) -> str:
        """The source of a dim."""
        return dim_source(d, self.dims)

    def expected(self, dim: Any) -> Any:
        """The size of a dim, as far as is known before the source runs."""
        return dim

    def shape(self, shape: Sequence[Any]) -> str:
        """The source of a shape."""
        return "(" + ", ".join(map(self.dim, shape)) + ("," if len(shape) == 1 else "") + ")"

    def dtype(self, dtype: np.dtype) -> str:
        """The name of a dtype; UnsupportedOperation where the library has none."""
        name = self.dialect.dtypes.get(dtype.name)
        if name is None:
            raise self.refused(dtype.name)
        return name

    def number(self, value: Any) -> str:
        """A Python scalar, in parentheses where it begins with a sign."""
        text = number(value).replace("np.", f"{self.dialect.library}.")
        return f"({text})" if text.startswith("-") else text

    def call(self, name: str, /, *codes: str, **parts: Any) -> str:
        """A call of the library."""
        template = self.dialect.calls.get(name)
        if template is None:
            raise self.refused(name)
        return template.format(*codes, np=self.dialect.library, all=", ".join(codes), **parts)

    def letters(self, labels: Sequence[int]) -> str:
        """Labels of axes as einsum has them."""
        return "".join([self.dialect.letters[i] for i in labels])

    def library(self, dtype: np.dtype, rows: float, columns: float, summed: float) -> str:
        """Whose functions multiply matrices of so many rows, columns and summed elements."""
        return self.dialect.library

    def linalg(self, matrix: Node) -> str:
        """Where the library has its functions of matrices."""
        return f"{self.dialect.library}.linalg"

    def refused(self, name: str) -> Exception:
        """What to raise for an operation that the library has not."""
        return UnsupportedOperation(self.dialect.refusal.format(name=name, target=self.dialect.target))

    # operands

    def read(self, node: Node) -> str:
        """A value as it is."""
        return self.names[node]

    def is_number(self, node: Node) -> bool:
        """True for what is a Python number in the source."""
        return node.primitive.name in ("literal", "dim") or (node.weak and self.dialect.promotes)

    def typed(self, node: Node, dtype: np.dtype) -> str:
        """A value as an array of ``dtype``, where the library does not promote it by itself."""
        if self.dialect.promotes or (node.dtype == dtype and not self.is_number(node)):
            return self.read(node)
        return self.converted(node, dtype)

    def converted(self, node: Node, dtype: np.dtype) -> str:
        """A value cast to ``dtype``."""
        return self.call("scalar" if self.is_number(node) else "cast", self.read(node), dtype=self.dtype(dtype))

    def own(self, node: Node, key: int = 0) -> str:
        """An operand in the dtype of the result."""
        return self.typed(node.operands[key], node.dtype)

    def truth(self, node: Node) -> str:
        """A value as a condition."""
        if self.dialect.promotes:
            return self.read(node)
        if self.is_number(node):
            return self.call("scalar", str(bool(node.params[0])), dtype=self.dtype(np.dtype(bool)))
        return self.read(node) if node.dtype.kind == "b" else f"{self.read(node)} != 0"

    # lines

    def new_name(self) -> str:
        """The next ``v…``."""
        counts = self._outer or self
        counts._count += 1
        return f"v{counts._count - 1}"

    def new_step(self, called: str = "t") -> str:
        """A name for the step of a loop: ``t``, or ``t1``, … where that is taken."""
        name = next(n for n in chain([called], map(f"{called}{{}}".format, count(1))) if n not in self._taken)
        self._taken.add(name)
        return name

    def within(self, body: Program, names: Sequence[str], step: str) -> ArrayWriter:
        """A writer for the body of a loop, whose inputs have these names."""
        inner = type(self)(body, dict(zip(body.inputs, names, strict=True)), self.dims, self.dialect)
        inner.constants, inner._calls = self.constants, self._calls
        inner._taken = self._taken
        inner._outer = self._outer or self
        return inner

    def written(self) -> list[str]:
        """Write the lines of a body; the names of its outputs."""
        for node in self.program.nodes:
            self.statement(node)
        self.lines = [row for line in self.lines for row in line.split("\n")]
        return [self.names[o] for o in self.program.outputs]

    def assign(self, code: str, node: Node | None = None, shape: Sequence[Any] = ()) -> str:
        """Bind ``code`` to a new name; ``shape`` is that of what is no node."""
        name = self.new_name()
        said = "" if node is None or not self.dialect.readable else self.said(node)
        self.lines.append(f"{name} = {code}{said}")
        if self.is_let_go(shape if node is None else node.shape):
            self._large.add(name)
        return name

    def is_let_go(self, shape: Sequence[Any]) -> bool:
        """True for an array that is large enough to be let go of after its last use."""
        return extent(shape) >= self.dialect.freed_from

    def free(self, results: Sequence[str]) -> None:
        """Let go of large arrays after the last line that reads them: their memory is then there for the next."""
        if not self._large:
            return
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

    def said(self, node: Node) -> str:
        """The comment that says what an array is."""
        kind = "" if node.dtype.kind == "f" else f"{node.dtype.name} "
        return f"  # {kind}{shape_text([self.dim(d) for d in node.shape])}" if node.shape else ""

    def write_body(self, count: int, refuse: Callable[[Node, str], Sequence[str]]) -> list[str]:
        """Write the lines; the sources of the first ``count`` outputs, of which the others are conditions.

        ``refuse`` makes the lines that follow that of a condition.
        """
        conditions = set(self.program.outputs[count:])
        for node in self.program.nodes:
            self.statement(node)
            if node in conditions and node.primitive.name not in ("literal", "constant"):
                self.lines += refuse(node, self.names[node])
        results: list[str] = []
        taken: set[str] = set()
        for node in self.program.outputs[:count]:
            name = self.names[node]
            results.append(self._result(node, name, node not in self.fresh or name in taken))
            taken.add(name)
        self.free(results)
        self.lines = [row for line in self.lines for row in line.split("\n")]  # a loop is one line until then
        return results

    def _result(self, node: Node, name: str, shared: bool) -> str:
        """An output; ``shared`` where it may look into an argument or another output."""
        if self.is_number(node):
            return name if node.primitive.name == "input" else self.converted(node, node.dtype)
        if not shared or (self.dialect.functional and name not in self.constants):
            return name
        copied = self.call("copy", name)
        return copied if node.shape or not self.dialect.promotes else f"{copied}[()]"

    def statement(self, node: Node) -> None:
        """Write the lines of a node."""
        kind = node.primitive.name
        if kind == "input":
            return
        if kind == "literal":
            self.names[node] = self.number(node.params[0])
        elif kind == "dim":
            self.names[node] = self.dim(node.params[0])
        elif kind == "constant":
            self.names[node] = self.captured(node)
        else:
            self.compute(node)

    def captured(self, node: Node) -> str:
        """A captured array as it is read."""
        name = f"_C{len(self.constants)}"
        self.constants[name] = node
        return self.dialect.constant.format(name)

    def compute(self, node: Node) -> None:
        """Write what computes a node."""
        if node.primitive is SCAN:
            parts = map(tuple, node.params[0].pieces)
            self._pieces[node] = dict(zip(parts, write_loop(self, node), strict=True))
            return
        if node.primitive is PART:
            self.names[node] = self._pieces[node.operands[0]][node.params]
            return
        if isinstance(node.primitive, Elementwise) and node.primitive.name not in self.statements:
            code, fresh = self.elementwise(node, node.primitive), True
        else:
            statement = self.statements.get(node.primitive.name)
            if statement is None:
                raise self.refused(node.primitive.name)
            code, fresh = statement(self, node)
        self.names[node] = code if code.isidentifier() else self.assign(code, node)
        if fresh or not node.shape:
            self.fresh.add(node)

    # elementwise functions

    def elementwise(self, node: Node, template: Elementwise) -> str:
        """An elementwise call: an operator or a function."""
        promotes = self.dialect.promotes
        *loops, made = template.loop_dtypes(node.operands)
        # of Python's numbers its own operator would raise where NumPy gives an infinity
        of_numbers = promotes and all(o.weak for o in node.operands)
        key = (template, loops[0].kind, not of_numbers)
        if key not in self._calls:
            self._calls[key] = self.dialect.function(*key)
        spelled = self._calls[key]
        if spelled is None:
            raise self.refused(template.name)
        if promotes:
            names_all = all(f"{{{k}}}" in spelled for k in range(template.arity))  # else the result is not promoted
            code = spelled.format(
                *[
                    self.read(o) if names_all or o.dtype == d else self.converted(o, d)
                    for o, d in zip(node.operands, loops, strict=True)
                ]
            )
            return f"{_PYTHON[node.dtype.kind]}({code})" if node.weak else code
        code = spelled.format(*self._operands(node, template, loops))
        return code if made == node.dtype else self.call("cast", f"({code})", dtype=self.dtype(node.dtype))

    def _operands(self, node: Node, template: Elementwise, loops: Sequence[np.dtype]) -> list[str]:
        if template is where:
            condition, first, second = node.operands
            keeps = self.is_number(second) or not self.is_number(first)  # one of them is an array
            return [
                self.truth(condition),
                self.typed(first, node.dtype) if keeps else self.read(first),
                self.read(second) if self.is_number(second) else self.typed(second, node.dtype),
            ]
        arrays = {d for o, d in zip(node.operands, loops, strict=True) if not self.is_number(o)}
        takes = self.dialect.takes_numbers or template.name in OPERATORS
        return [
            self.read(o) if self.is_number(o) and takes and dtype in arrays else self.typed(o, dtype)
            for o, dtype in zip(node.operands, loops, strict=True)
        ]

    # parts of statements

    def folded(self, scalars: list[str], operands: Sequence[Node]) -> list[str]:
        """Factors of a product of ``operands``, as at most one where calls multiply them.

        Python multiplies its own numbers: a call would give one of NumPy's, whose dtype does not give way.
        """
        own = {self.read(o) for o in operands if self.is_number(o)}
        numbers = [s for s in scalars if s in own]
        if len(numbers) > 1 and not self.dialect.readable:
            scalars = [self.assign(" * ".join(numbers)), *[s for s in scalars if s not in own]]
        while len(scalars) > 1 and not self.dialect.readable:
            scalars = [self.assign(f"np.multiply({scalars[0]}, {scalars[1]})"), *scalars[2:]]
        return scalars

    def buffer(self, node: Node) -> str | None:
        """Memory that a result may take; None for new memory."""
        return None

    def reduced(self, name: str, code: str, axes: Sequence[int] | None) -> str:
        """A reduction of ``code`` over ``axes``, over all of them where None."""
        if axes is not None and len(axes) > 1 and name in self.dialect.one_axis:
            for axis in sorted(axes, reverse=True):
                code = self.reduced(name, code, (axis,))
            return code
        spelled = None if axes is None else str(axes[0]) if len(axes) == 1 else str(tuple(axes))
        over = "" if axes is None else f", {self.dialect.axis}={spelled}"
        return self.call(name, code, axes=spelled, over=over)

    def turned(self, code: str, axes: Sequence[int]) -> str:
        """The axes backwards."""
        return self.call("flip", code, axes=tuple(axes)) if axes else code

    def index(self, spec: Sequence[Any], shape: Sequence[Any]) -> tuple[str, list[int]]:
        """A slice as an index, and the axes of the result that are to be turned around."""
        entries, turned, axis = [], [], 0
        for e, d in zip(spec, shape, strict=True):
            if not isinstance(e, tuple):
                entries.append(self.dim(e))
                continue
            start, length, step = e
            if step < 0 and not self.dialect.steps_back:
                start, step = start + (length - 1) * step, -step
                turned.append(axis)
            whole = {(0, d, 1): ":", (d - 1, d, -1): "::-1"}.get((start, length, step))
            entries.append(self._range(start, length, step) if whole is None else whole)
            axis += 1
        return ", ".join(entries) or "()", turned

    def _range(self, start: Any, length: Any, step: int) -> str:
        if isinstance(length, int) and length == 0:
            return "0:0"
        by = f":{step}" if step != 1 else ""
        if step < 0:  # a stop below 0 would count from the end
            stop = start + length * step
            ends = self.dim(stop)
            ends = ("" if stop < 0 else ends) if isinstance(stop, int) else f"{ends} if {ends} >= 0 else None"
            return f"{self.dim(start)}:{ends}{by}"
        first = "" if isinstance(start, int) and start == 0 else self.dim(start)
        # where the last element stands, and one: a step beyond it may be beyond the array too
        stop = self.dim(start + (length - 1) * step + 1 if isinstance(length, int) else start + length * step)
        return f"{first}:{stop}{by}"

    def contraction(self, node: Node) -> tuple[str, bool]:
        """An einsum node."""
        made = Contraction(self, node).write()
        return made.code, made.fresh
