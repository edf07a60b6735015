"""The NumPy backend: one line of generated source a binding, buffers reused where an operand dies.

Emitted names are only ``v0, v1, …``; nothing of the user's reaches the source.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import sympy

from ..errors import BackendError
from ..primitives.contraction import EINSUM
from ..primitives.elementwise import Template
from ..primitives.functions import add, power, reciprocal, square
from ..primitives.linalg import cofactors
from ..primitives.order import NAMED
from ..primitives.selection import ASSEMBLE
from ..primitives.spelling import self_dot, shared_axes
from ..program.dims import dim_source, value_of
from ..program.node import Node
from ..program.program import Program
from . import blas, runtime
from .contraction import Contraction, product_sizes, subscripts
from .reuse import empty

_PYTHON = {"f": "float", "i": "int", "b": "bool"}
#: what is written with ``**``, for which NumPy has another loop where it is of its scalars
_OF_SCALARS = {power: "{} ** {}", square: "{} ** 2", reciprocal: "{} ** -1"}
#: below this many elements neither a buffer is reused nor a dead one freed: the call costs more
SMALL = 2048
#: elements from which memory is used again
REUSED_FROM = 1 << 17
#: reads from which a column of a large array is worth a copy
_USES_WORTH_COPY = 3


class Expected(int):
    """The size that a named dim may be expected to have; what holds for 0 and 1 alone is never expected."""

    dim: Any

    def __new__(cls, size: int, dim: Any) -> Expected:
        made = super().__new__(cls, max(size, 2))
        made.dim = dim
        return made


class Writer:
    """Writes a Program as the body of one Python function; ``exact`` where values are NumPy's to the bit."""

    exact = True

    def __init__(self, program: Program, sizes: Mapping[sympy.Symbol, int] | None = None) -> None:
        """``sizes`` is what named dims may be expected to be; the source is right for every size."""
        self.program = program
        #: what is computed, in order
        self.steps: Sequence[Any] = program.nodes
        self.sizes = sizes or {}
        self.lines: list[str] = []
        self.names: dict[Node, str] = {}
        self.fresh: set[Node] = set()
        self._viewed: set[Node] = set()
        self.namespace: dict[str, Any] = {
            "np": np,
            "blas": blas,
            "inf": float("inf"),
            "nan": float("nan"),
            "empty": empty,
            "gate": runtime.gate,
            "cofactors": cofactors,
            "in_order": runtime.in_order,
            "gram": runtime.gram,
            "self_dot": self_dot,
            "scatter": runtime.scatter,
            "from_end": runtime.from_end,
            "diagonal": runtime.diagonal,
            "embed_diagonal": runtime.embed_diagonal,
            "search": runtime.search,
        }
        self._kept = frozenset(program.outputs)
        #: whether Python scalars have to stay such: they give way to smaller floats, which NumPy's own do not
        self._mixes = any(n.dtype.kind == "f" and n.dtype.itemsize < 8 for n in program.nodes)
        self._count = 0
        self._last_use: dict[Node, int] = {}
        self.uses = Counter(o for n in program.nodes for o in n.operands)
        self.uses.update(program.outputs)
        #: identities times an array, each written into the result of the one node that reads it
        self.delayed = {o: n for n in program.nodes for o in self._written_into(n)}
        self._dims: dict[sympy.Symbol, str] = {}
        self._expected: dict[sympy.Expr, Expected] = {}
        self._counts: dict[tuple, int] = {}

    def new_name(self) -> str:
        """The next ``v…``."""
        self._count += 1
        return f"v{self._count - 1}"

    def assign(self, code: str) -> str:
        """Bind ``code`` to a new name."""
        name = self.new_name()
        self.lines.append(f"{name} = {code}")
        return name

    def dim(self, d: Any) -> str:
        """The source of a dim; named ones are read off the inputs' shapes."""
        return dim_source(d.dim if isinstance(d, Expected) else d, self._dims)

    def expected(self, dim: Any) -> int:
        """The size of a dim, as far as is known before the kernel runs."""
        if isinstance(dim, int):
            return dim
        found = self._expected.get(dim)
        if found is None:
            sizes = {s: self.sizes.get(s, NAMED) for s in dim.free_symbols}
            found = self._expected[dim] = Expected(value_of(dim, sizes), dim)
        return found

    def is_large(self, node: Node, elements: int | None = None) -> bool:
        """True where an array has that many elements, as far as is known before the kernel runs."""
        return self.count(node.shape) >= (SMALL if elements is None else elements)

    def count(self, shape: Sequence[Any]) -> int:
        """The elements of an array, as far as is known before the kernel runs."""
        shape = tuple(shape)
        found = self._counts.get(shape)
        if found is None:
            found = self._counts[shape] = math.prod([self.expected(d) for d in shape])
        return found

    def shape(self, shape: Sequence[Any]) -> str:
        """The source of a shape tuple."""
        return "(" + "".join(self.dim(d) + ", " for d in shape) + ")"

    def write(self) -> str:
        """The whole function."""
        program = self.program
        for node in program.inputs:
            self.names[node] = self.new_name()
        arguments = ", ".join(self.names[n] for n in program.inputs)
        self._read_dims()
        self._plan()
        for k, step in enumerate(self.steps):
            self._statement(step, k)
        results = self._results()
        body = "\n".join(f"    {line}" for line in self.lines)
        return f"def kernel({arguments}):\n{body}\n    return ({''.join(r + ', ' for r in results)})\n"

    @property
    def backend(self) -> str:
        """What the function runs on, once it is written."""
        return "numpy"

    def place(self, node: Node) -> tuple[str, str]:
        """What a node runs on, and how."""
        return "numpy", "a call of NumPy"

    def _plan(self) -> None:
        """Where each value is read for the last time."""
        place = self._places()
        place.update({o: place[n] for o, n in self.delayed.items()})
        for node in self.program.nodes:
            for o in node.operands:
                self._last_use[o] = max(self._last_use.get(o, 0), place[node])

    def _places(self) -> dict[Node, int]:
        """At which step each node is computed."""
        return {n: k for k, n in enumerate(self.program.nodes)}

    def _written_into(self, node: Node) -> list[Node]:
        """The operands of ``node`` that need no array of their own: it holds them on its diagonals."""
        if node.primitive is not add and node.primitive is not ASSEMBLE:
            return []
        own = Counter(node.operands)
        diagonals = [o for o in own if is_diagonal(o) and self.uses[o] == own[o] and o.dtype == node.dtype]
        if node.primitive is ASSEMBLE:
            return diagonals
        if any(o.shape != node.shape or o.dtype != node.dtype for o in node.operands):
            return []
        return diagonals[:1] if len(own) > 1 else []

    def put(self, diagonal: Node, target: str, operator: str) -> None:
        """Write a diagonal into an array."""
        labels, out, _, _ = diagonal.params
        unique = tuple(dict.fromkeys(out))
        names = [self.names[o] for o in diagonal.operands]
        term = self._contraction(diagonal).write(names, labels, unique)
        where = f"diagonal({target}, {subscripts(out)!r}, {subscripts(unique)!r})"
        self.lines.append(f"{where}[...] {operator} {term.code}")

    def _read_dims(self) -> None:
        for node in self.program.inputs:
            for axis, d in enumerate(node.shape):
                if isinstance(d, sympy.Symbol) and d not in self._dims:
                    self._dims[d] = self.assign(f"{self.names[node]}.shape[{axis}]")

    def _statement(self, node: Any, k: int) -> None:
        name = node.primitive.name
        if name == "input" or node in self.delayed:
            return
        if name == "literal":
            value = node.params[1]
            self.names[node] = f"({value})" if value.startswith("-") else value
        elif name == "dim":
            self.names[node] = f"({self.dim(node.params[0])})"
        elif name == "constant":
            self.names[node] = self.new_name()
            self.namespace[self.names[node]] = node.params[0].value[()]
        else:
            self._compute(node, k)
            if node not in self.fresh:
                self._viewed.update(node.operands)
            self._free([*node.operands, *(x for o in node.operands if o in self.delayed for x in o.operands)], k)

    def _compute(self, node: Node, k: int) -> None:
        operands = [self.names.get(o, "") for o in node.operands]
        if node.primitive is add and any(o in self.delayed for o in node.operands):
            self._add_diagonal(node, k)
        elif isinstance(node.primitive, Template):
            self._elementwise(node, node.primitive, operands, k)
        elif node.primitive.name == "einsum":
            if is_product(node):
                self._product(node, operands, k)
            else:
                self._einsum(node, operands)
        else:
            writer = _STATEMENTS.get(node.primitive.name)
            if writer is None:
                raise BackendError(f"the numpy backend has no spelling for {node.primitive.name}")
            code, fresh = writer(self, node, *operands)
            self.names[node] = self.assign(code)
            if fresh:
                self.fresh.add(node)

    def _add_diagonal(self, node: Node, k: int) -> None:
        """A sum of which one side stands on diagonals alone: added into the other."""
        (diagonal,) = [o for o in node.operands if o in self.delayed]
        (other,) = [o for o in node.operands if o is not diagonal]
        name = self._dying_buffer(node, k, [other]) or self.assign(f"np.array({self.names[other]})")
        self.put(diagonal, name, "+=")
        self.names[node] = name
        self.fresh.add(node)

    def _elementwise(self, node: Node, template: Template, operands: list[str], k: int) -> None:
        operator = None if node.shape or node.weak or node.dtype.kind != "f" else _OF_SCALARS.get(template)
        if operator is not None:
            name = self.assign(operator.format(*operands))
        else:
            buffer = self._buffer(node, k) if isinstance(template.ufunc, np.ufunc) else None
            others = [self.names[o] for o in node.operands if o.shape == node.shape and self.names[o] != buffer]
            if buffer is not None and others and self.exact and node.ndim > 1:
                buffer = f"in_order({', '.join([buffer, *others])})"
            name = self._call(self._function(template), operands, buffer)
        if node.weak and self._mixes:
            name = self.assign(f"{_PYTHON[node.dtype.kind]}({name})")
        self.names[node] = name
        self.fresh.add(node)

    def _function(self, template: Template) -> str:
        """The source of a template's function: NumPy's, or one of another library under the template's name."""
        name = template.ufunc.__name__
        if getattr(np, name, None) is template.ufunc:
            return f"np.{name}"
        self.namespace[f"special_{template.name}"] = template.ufunc
        return f"special_{template.name}"

    def _call(self, function: str, operands: Iterable[str], buffer: str | None) -> str:
        return self.assign(f"{function}({', '.join(operands)}" + (f", out={buffer})" if buffer else ")"))

    def _buffer(self, node: Node, k: int) -> str | None:
        """Where a result goes: into an operand that dies, else, where bits may differ, into memory used before.

        NumPy's own choice of layout for a new array is part of its values: sums go through memory in its order.
        """
        dying = self._dying_buffer(node, k, node.operands)
        if dying is None and not self.exact and self.is_large(node, REUSED_FROM):
            return self.assign(f"empty({self.shape(node.shape)}, np.{node.dtype.name})")
        return dying

    def _dying_buffer(self, node: Node, k: int, read: Iterable[Node]) -> str | None:
        """A fresh value among those read, of the result's shape and dtype, that nothing reads after this."""
        if not node.shape or not self.is_large(node):
            return None
        for o in read:
            reusable = o in self.fresh and o not in self._viewed and self._last_use[o] == k and o not in self._kept
            if reusable and o.shape == node.shape and o.dtype == node.dtype:
                self.fresh.discard(o)
                return self.names[o]
        return None

    def _free(self, read: Iterable[Node], k: int) -> None:
        dead = [
            o
            for o in dict.fromkeys(read)
            if self._last_use[o] == k and o in self.fresh and self.is_large(o) and o not in self._kept
        ]
        if dead:
            self.fresh.difference_update(dead)
            self.lines.append("del " + ", ".join(self.names[o] for o in dead))

    def _product(self, node: Node, operands: list[str], k: int) -> None:
        """An einsum that only multiplies, as ufunc calls into a buffer that dies or is new."""
        buffer = self._buffer(node, k)
        labels, out = node.params[:2]
        scalars = [name for name, ls in zip(operands, labels, strict=True) if not ls]
        arrays = [(name, ls) for name, ls in zip(operands, labels, strict=True) if ls]
        if scalars == ["(-1.0)"] and len(arrays) == 1:
            name = self._call("np.negative", (arrays[0][0],), buffer)
        else:  # a reused buffer is read before it is written, so it goes first; then what has the full shape
            arrays.sort(key=lambda p: (p[0] != buffer, p[1] != out))
            name = arrays[0][0]
            for factor in [n for n, _ in arrays[1:]] + self._folded(scalars):
                name = self._call("np.multiply", (name, factor), buffer)
                buffer = name if self.is_large(node) and buffer is None else buffer
        self.names[node] = name
        self.fresh.add(node)

    def _folded(self, scalars: list[str]) -> list[str]:
        """The scalars as at most one."""
        while len(scalars) > 1:
            scalars = [self._call("np.multiply", scalars[:2], None), *scalars[2:]]
        return scalars

    def _einsum(self, node: Node, operands: list[str]) -> None:
        labels, out, sizes, spelling = node.params
        if spelling and (self.exact or spelling != "einsum"):
            library = "np"
            if len(labels) == 2:
                _, *own = product_sizes(labels[0], labels[1], out, [self.expected(d) for d in sizes])
                library = self.library(node.dtype, *own)
            self.names[node] = self.assign(_spelled(spelling, operands, labels, out, library))
            if spelling != "einsum" or len(operands) > 1:
                self.fresh.add(node)
            return
        term = self._contraction(node).write(operands, labels, out)
        self.names[node] = term.code if term.code.isidentifier() else self.assign(term.code)
        if term.fresh:
            self.fresh.add(node)

    def _contraction(self, node: Node) -> Contraction:
        sizes = tuple(map(self.expected, node.params[2]))
        return Contraction(sizes, self.assign, self.dim, partial(self.library, node.dtype))

    def library(self, dtype: np.dtype, rows: float, columns: float, summed: float) -> str:
        """Whose functions multiply matrices of these sizes: NumPy's, or those that choose the threads."""
        threaded = not self.exact and dtype.char in "fd" and blas.uses_threads(rows, columns, summed)
        return "blas" if threaded else "np"

    def factorisation_library(self, matrix: Node) -> str:
        """The same for what works on square matrices."""
        n = self.expected(matrix.shape[-1])
        return "blas" if self.library(matrix.dtype, n, n, n) == "blas" else "np.linalg"

    def _results(self) -> list[str]:
        """The outputs, each an array of its own: no views of inputs, constants or one another; scalars as such."""
        results: list[str] = []
        for node in self.program.outputs:
            name = self.names[node]
            owned = node in self.fresh and name not in results
            if node.is_literal or node.primitive.name == "dim" or (node.weak and self._mixes and node.operands):
                name = f"np.{node.dtype.name}({name})"
            elif not owned and not node.weak:
                name = self.assign(f"np.array({name})") if node.shape else self.assign(f"np.array({name})[()]")
            elif not node.shape and not node.weak:  # np.where and its kin give arrays of no axes
                name = f"{name}[()]"
            results.append(name)
        return results


def is_product(node: Node) -> bool:
    """True for an einsum that NumPy's broadcasting alone computes, nothing summed or moved."""
    labels, out, _, spelling = node.params
    wide = [ls for ls in labels if ls == out]
    aligned = all(ls == out[len(out) - len(ls) :] for ls in labels)
    return len(labels) > 1 and bool(wide) and aligned and not spelling and len(set(out)) == len(out) and bool(out)


def is_diagonal(node: Node) -> bool:
    """True for an einsum that stands on diagonals of its result alone."""
    return node.primitive is EINSUM and not node.params[3] and len(set(node.params[1])) < len(node.params[1])


def _spelled(spelling: str, operands: list[str], labels: tuple, out: tuple, library: str) -> str:
    """The NumPy call that a primal contraction came from; ``library`` says whose products it takes."""
    arguments = ", ".join(operands)
    if spelling == "sum":
        axes = tuple(k for k, i in enumerate(labels[0]) if i not in out)
        return f"np.add.reduce({arguments}, axis={'None' if not out else axes})"
    if spelling == "einsum":
        spelled = ",".join(map(subscripts, labels)) + "->" + subscripts(out)
        return f"np.einsum({spelled!r}, {arguments})"
    if spelling == "tensordot":
        return f"{library}.tensordot({arguments}, axes={shared_axes(labels)})"
    if spelling == "self_dot":
        return f"{'' if library == 'np' else library + '.'}self_dot({operands[0]})"
    return f"{library}.{spelling}({arguments})"


def _slice(w: Writer, node: Node, x: str) -> tuple[str, bool]:
    code = f"{x}[{_index(w, node.params[0])}]"
    is_column = w.is_large(node) and not isinstance(node.params[0][-1], tuple)
    if is_column and w.uses[node] >= _USES_WORTH_COPY and not w.exact:
        return f"{code}.copy()", True  # its elements side by side, for which NumPy and BLAS have other loops
    return code, False


def _index(w: Writer, spec: tuple) -> str:
    entries = []
    for e in spec:
        if not isinstance(e, tuple):
            entries.append(w.dim(e))
            continue
        start, length, step = e
        if start == 0 and step == 1 and not isinstance(length, int):
            entries.append(f":{w.dim(length)}")
        elif isinstance(length, int) and length == 0:
            entries.append("0:0")
        else:
            stop = start + length * step
            ends = w.dim(stop)
            if step < 0:  # a stop below 0 would count from the end
                ends = ("" if stop < 0 else ends) if isinstance(stop, int) else f"{ends} if {ends} >= 0 else None"
            entries.append(f"{w.dim(start)}:{ends}" + (f":{step}" if step != 1 else ""))
    return ", ".join(entries) or "()"


def _assemble(w: Writer, node: Node, *pieces: str) -> tuple[str, bool]:
    shape, specs = node.params
    name = w.assign(f"np.zeros({w.shape(shape)}, np.{node.dtype.name})")
    for k, (o, piece, spec) in enumerate(zip(node.operands, pieces, specs, strict=True)):
        target, operator = f"{name}[{_index(w, spec)}]", "=" if k == 0 else "+="
        if o in w.delayed:
            w.put(o, target, operator)
        else:
            w.lines.append(f"{target} {operator} {piece}")
    return name, True


def _gather(w: Writer, node: Node, x: str, index: str) -> tuple[str, bool]:
    return f"np.take({x}, {index}, axis={node.params[0]})", True


def _scatter(w: Writer, node: Node, y: str, index: str) -> tuple[str, bool]:
    axis, dim = node.params
    return f"scatter({y}, {index}, {axis}, {w.dim(dim)})", True


def _concatenate(w: Writer, node: Node, *parts: str) -> tuple[str, bool]:
    return f"np.concatenate(({', '.join(parts)}, ), axis={node.params[0]})", True


def _extremum(w: Writer, node: Node, x: str) -> tuple[str, bool]:
    axis = "None" if not node.shape else str(node.params[0])
    return f"np.{node.primitive.name}imum.reduce({x}, axis={axis})", True


def _prod(w: Writer, node: Node, x: str) -> tuple[str, bool]:
    axis = "None" if not node.shape else str(node.params[0])
    return f"np.multiply.reduce({x}, axis={axis})", True


def _accumulation(w: Writer, node: Node, x: str) -> tuple[str, bool]:
    (axis, reverse), function = node.params, f"np.{node.primitive.name}"
    return (f"from_end({function}, {x}, {axis})", False) if reverse else (f"{function}({x}, {axis})", True)


def _solve(w: Writer, node: Node, a: str, b: str) -> tuple[str, bool]:
    behind = ""
    if 1 < node.ndim < node.operands[0].ndim:  # NumPy takes a stack of vectors for a matrix
        b, behind = f"{b}[..., None]", "[..., 0]"
    return f"{w.factorisation_library(node.operands[0])}.solve({a}, {b}){behind}", True


def _cholesky(w: Writer, node: Node, x: str) -> tuple[str, bool]:
    upper = ", upper=True" if node.params[0] else ""
    return f"{w.factorisation_library(node)}.cholesky({x}{upper})", True


def _factored(function: str, part: str = "") -> Callable:
    def write(w: Writer, node: Node, x: str) -> tuple[str, bool]:
        return f"{w.factorisation_library(node.operands[0])}.{function}({x}){part}", True

    return write


_STATEMENTS = {
    "slice": _slice,
    "assemble": _assemble,
    "gather": _gather,
    "scatter": _scatter,
    "concatenate": _concatenate,
    "max": _extremum,
    "min": _extremum,
    "prod": _prod,
    "cumsum": _accumulation,
    "cumprod": _accumulation,
    "convolve": lambda w, n, a, v: (f"np.convolve({a}, {v})", True),
    "searchsorted": lambda w, n, x, v: (f"np.searchsorted({x}, {v}, side={n.params[0]!r})", True),
    "inverse": _factored("inv"),
    "solve": _solve,
    "determinant": _factored("det"),
    "cofactor": lambda w, n, x, d: (f"cofactors({x}, {d})", True),
    "log_determinant": _factored("slogdet", "[1]"),
    "determinant_sign": _factored("slogdet", "[0]"),
    "cholesky": _cholesky,
    "reshape": lambda w, n, x: (f"np.reshape({x}, {w.shape(n.params[0])})", False),
    "cast": lambda w, n, x: (f"np.asarray({x}, np.{n.dtype.name})", False),
    "gate": lambda w, n, m, t: (f"gate({m}, {t})", True),
    "mark": lambda w, n, x: (x, False),
    "stop_gradient": lambda w, n, x: (x, False),
    "custom": lambda w, n, x, *_: (x, False),
    "argmax": lambda w, n, x: (f"search('argmax', {x}, {n.params[0]})", True),
    "argmin": lambda w, n, x: (f"search('argmin', {x}, {n.params[0]})", True),
    "argsort": lambda w, n, x: (f"search('argsort', {x}, {n.params[0]})", True),
}
