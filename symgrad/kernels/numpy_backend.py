"""The NumPy kernel: calls that write into buffers, which are reused where an operand dies.

Emitted names are only ``v0, v1, …``; nothing of the user's reaches the source.
"""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import sympy

from ..emit.arrays.contraction import Contraction, product_sizes
from ..emit.arrays.dialect import NUMPY
from ..emit.arrays.writer import ArrayWriter
from ..errors import BackendError
from ..primitives.elementwise import Elementwise
from ..primitives.external import External
from ..primitives.functions import add, power, reciprocal, square
from ..primitives.loop import Loop
from ..primitives.order import NAMED
from ..primitives.scan import PART, SCAN
from ..primitives.selection import ASSEMBLE
from ..primitives.spelling import shared_axes
from ..program.dims import Expected, dim_source, value_of
from ..program.forks import cached_property
from ..program.node import Node
from ..program.program import Program
from . import blas
from .numpy_statements import FUNCTIONS, KERNEL_STATEMENTS, is_diagonal, places_read
from .source import compiled

_PYTHON = {"f": "float", "i": "int", "b": "bool", "c": "complex"}
#: what is written with ``**``, for which NumPy has another loop where it is of its scalars
_OF_SCALARS = {power: "{} ** {}", square: "{} ** 2", reciprocal: "{} ** -1"}
#: below this many elements neither a buffer is reused nor a dead one freed: the call costs more
SMALL = 2048
#: elements from which memory is used again
REUSED_FROM = 1 << 17
#: NumPy as kernels call it: without what stands around the ufuncs, and with functions of ``runtime``
_KERNEL = replace(
    NUMPY,
    own={
        "cast": "np.asarray({0}, {dtype})",
        "diagonal": 'embed_diagonal({0}, {shape}, "{letters}")',
        "from_end": "from_end(np.{name}, {0}, {axis})",
        "gate": "gate({0}, {1})",
        "gate_truth": "gate({0}, {1})",
        "max": "np.maximum.reduce({0}, axis={axes})",
        "min": "np.minimum.reduce({0}, axis={axes})",
        "prod": "np.multiply.reduce({0}, axis={axes})",
        "reshape": "np.reshape({0}, {shape})",
        "scalar": "np.asarray({0}, {dtype})",
        "scatter": "scatter({0}, {1}, {axis}, {size})",
        "sum": "np.add.reduce({0}, axis={axes})",
        "transpose": "{0}.transpose({axes})",
    },
    readable=False,
    letters=string.ascii_letters,
)


class Writer(ArrayWriter):
    """Writes a Program as the body of one Python function; ``exact`` where values are NumPy's to the bit."""

    exact = True
    dialect = _KERNEL
    statements = KERNEL_STATEMENTS

    def __init__(self, program: Program, sizes: Mapping[sympy.Symbol, int] | None = None) -> None:
        """``sizes`` is what named dims may be expected to be; the source is right for every size."""
        super().__init__(program)
        #: what is computed, in order, and which of it is at hand
        self.steps: Sequence[Any] = program.nodes
        self.step = 0
        self.sizes = sizes or {}
        self.namespace: dict[str, Any] = {"np": np, "blas": blas, **{f.__name__: f for f in FUNCTIONS}}
        #: the named dims that the function is given, those of a body of what stands around it
        self.taken: Sequence[sympy.Symbol] = ()
        self._viewed: set[Node] = set()
        #: the names of the results of a loop, by the params of its parts
        self._pieces: dict[Node, dict[Any, str]] = {}
        self._kept = frozenset(program.outputs)
        #: whether Python scalars have to stay such: they give way to smaller floats, which NumPy's own do not
        self._mixes = any(dtype.kind == "f" and dtype.itemsize < 8 for _, dtype in program.types)
        self._last_use: dict[Node, int] = {}
        self.uses = program.uses
        self._expected: dict[sympy.Expr, Expected] = {}
        self._counts: dict[tuple, int] = {}

    @cached_property
    def delayed(self) -> dict[Node, Node]:
        """Identities times an array, each with the one node that reads it, into whose result it is written."""
        if not any(map(is_diagonal, self.program.nodes)):
            return {}
        return {o: n for n in self.program.nodes for o in self._written_into(n)}

    @cached_property
    def places_read(self) -> dict[Node, set[int]]:
        """What of each result of argsort is read, where that is little."""
        return places_read(self.program)

    def dim(self, d: Any) -> str:
        """The source of a dim; named ones are read off the inputs' shapes."""
        return dim_source(d.dim if isinstance(d, Expected) else d, self.dims)

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

    def is_let_go(self, shape: Sequence[Any]) -> bool:
        return self.count(shape) >= SMALL

    def refused(self, name: str) -> Exception:
        return BackendError(f"the numpy backend has no spelling for {name}")

    def write(self) -> str:
        """The whole function."""
        arguments = self._arguments()
        self._read_dims()
        self._plan()
        for k, step in enumerate(self.steps):
            self.step = k
            self.statement(step)
        return self._function_of(arguments)

    def _arguments(self) -> str:
        for node in self.program.inputs:
            self.names[node] = self.new_name()
        self.dims |= {d: self.new_name() for d in self.taken}
        return ", ".join([*(self.names[n] for n in self.program.inputs), *(self.dims[d] for d in self.taken)])

    def _function_of(self, arguments: str) -> str:
        results = self._results()
        self.free(results)
        body = "\n".join(f"    {line}" for line in self.lines)
        return f"def kernel({arguments}):\n{body}\n    return ({''.join(r + ', ' for r in results)})\n"

    @property
    def backend(self) -> str:
        """What the function runs on, once it is written."""
        return "numpy"

    def place(self, node: Node) -> tuple[str, str]:
        """What a node runs on, and how."""
        if isinstance(node.primitive, External):
            return "python", "a function that runs as it is"
        return "numpy", "a loop in Python over NumPy's calls" if node.primitive is SCAN else "a call of NumPy"

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
        _, out, _, _ = diagonal.params
        unique = tuple(dict.fromkeys(out))
        term = Contraction(self, diagonal).write(unique)
        where = f'diagonal({target}, "{self.letters(out)}->{self.letters(unique)}")'
        self.lines.append(f"{where}[...] {operator} {term.code}")

    def _read_dims(self) -> None:
        for node in self.program.inputs:
            for axis, d in enumerate(node.shape):
                if isinstance(d, sympy.Symbol) and d not in self.dims:
                    self.dims[d] = self.assign(f"{self.names[node]}.shape[{axis}]")

    def statement(self, node: Any) -> None:
        if node in self.delayed:
            return
        super().statement(node)
        if node not in self.fresh:
            self._viewed.update(node.operands)

    def captured(self, node: Node) -> str:
        name = self.new_name()
        self.namespace[name] = node.params[0].value[()]
        return name

    def compute(self, node: Node) -> None:
        primitive = node.primitive
        fresh = True
        if primitive is add and any(o in self.delayed for o in node.operands):
            self.names[node] = self._add_diagonal(node)
        elif isinstance(primitive, Elementwise) and primitive.name not in self.statements:
            self.names[node] = self._elementwise(node, primitive)
        elif isinstance(primitive, External):
            self.names[node] = self._external(node, primitive)
        elif primitive is SCAN:
            self._loop(node)
        elif primitive is PART and node.operands[0] in self._pieces:
            self.names[node] = self._pieces[node.operands[0]][node.params]
        else:
            statement = self.statements.get(primitive.name)
            if statement is None:
                raise self.refused(primitive.name)
            code, fresh = statement(self, node)
            self.names[node] = code if code.isidentifier() else self.assign(code, node)
        if fresh:
            self.fresh.add(node)

    def _external(self, node: Node, primitive: External) -> str:
        """A call of a function that runs as it is."""
        name = f"external_{len(self.lines)}"
        self.namespace[name] = partial(primitive.evaluate, node.params)
        return self.assign(f"{name}({', '.join([self.names[o] for o in node.operands])})", node)

    def _loop(self, node: Node) -> None:
        """A loop in Python over the function of its body; each result has a name."""
        loop = node.params[0]
        name = f"loop_{len(self.lines)}"
        self.namespace[name] = self.loop(loop)
        made = [self.new_name() for _ in loop.pieces]
        given = ", ".join([*(self.names[o] for o in node.operands), *(self.dims[d] for d in self._dims_of(loop))])
        self.lines.append(f"{', '.join(made)}{',' * (len(made) == 1)} = {name}({given})")
        self._large.update([n for n, p in zip(made, loop.pieces, strict=True) if self.is_let_go(p.shape)])
        self._pieces[node] = {tuple(p): n for n, p in zip(made, loop.pieces, strict=True)}
        if node in self._kept or any(node in n.operands and n.primitive is not PART for n in self.program.nodes):
            self.names[node] = self.assign(f"row(({', '.join(made)},), np.{node.dtype.name})", node)

    def loop(self, loop: Loop) -> Callable[..., Sequence[Any]]:
        """What computes the pieces of a loop; the named dims that it holds come after its operands."""
        dims = self._dims_of(loop)
        body = type(self)(loop.body, sizes=self.sizes)
        body.taken = dims
        step = compiled(body.write(), body.namespace)
        if not dims:
            return lambda *values: loop.run(values, step)

        def run(*values: Any) -> Sequence[Any]:
            sizes = dict(zip(dims, values[len(values) - len(dims) :], strict=True))
            return loop.run(values, step, lambda dim: value_of(dim, sizes))

        return run

    def _dims_of(self, loop: Loop) -> list[sympy.Symbol]:
        """The named dims that a loop is given."""
        return [d for d in self.dims if d in loop.symbols]

    def _add_diagonal(self, node: Node) -> str:
        """A sum of which one side stands on diagonals alone: added into the other."""
        (diagonal,) = [o for o in node.operands if o in self.delayed]
        (other,) = [o for o in node.operands if o is not diagonal]
        name = self._dying_buffer(node, [other]) or self.assign(f"np.array({self.names[other]})", node)
        self.put(diagonal, name, "+=")
        self._large.update([name] if self.is_large(node) else [])
        return name

    def _elementwise(self, node: Node, template: Elementwise) -> str:
        operands = [self.names[o] for o in node.operands]
        is_numpys = not (node.shape or node.weak or all(o.weak for o in node.operands))  # no float of Python's
        operator = _OF_SCALARS.get(template) if is_numpys and node.dtype.kind == "f" else None
        if operator is not None:
            name = self.assign(operator.format(*operands))
        else:
            buffer = self.buffer(node) if isinstance(template.ufunc, np.ufunc) else None
            others = [self.names[o] for o in node.operands if o.shape == node.shape and self.names[o] != buffer]
            if buffer is not None and others and self.exact and node.ndim > 1:
                buffer = f"in_order({', '.join([buffer, *others])})"
            name = self._call(self.function(template), operands, buffer, node)
        if node.weak and self._mixes:
            name = self.assign(f"{_PYTHON[node.dtype.kind]}({name})")
        return name

    def function(self, template: Elementwise) -> str:
        """The source of a template's function: NumPy's, or one of another library under the template's name."""
        name = getattr(template.ufunc, "__name__", "")
        if getattr(np, name, None) is template.ufunc:
            return f"np.{name}"
        self.namespace[f"special_{template.name}"] = template.ufunc
        return f"special_{template.name}"

    def _call(self, function: str, operands: Iterable[str], buffer: str | None, node: Node) -> str:
        return self.assign(f"{function}({', '.join(operands)}" + (f", out={buffer})" if buffer else ")"), node)

    def buffer(self, node: Node) -> str | None:
        """Where a result goes: into an operand that dies, else, where bits may differ, into memory used before.

        NumPy's own choice of layout for a new array is part of its values: sums go through memory in its order.
        """
        count = Counter(node.operands)  # two are read by the first call, which writes into one of them
        dying = self._dying_buffer(node, [o for o in node.operands if count[o] <= 2])
        if dying is None and not self.exact and self.is_large(node, REUSED_FROM):
            return self.assign(f"empty({self.shape(node.shape)}, np.{node.dtype.name})")
        return dying

    def _dying_buffer(self, node: Node, read: Iterable[Node]) -> str | None:
        """A fresh value among those read, of the result's shape and dtype, that nothing reads after this."""
        if not node.shape or not self.is_large(node):
            return None
        for o in read:
            reusable = o in self.fresh and o not in self._viewed and self._last_use[o] == self.step
            if reusable and o not in self._kept and o.shape == node.shape and o.dtype == node.dtype:
                self.fresh.discard(o)
                return self.names[o]
        return None

    def contraction(self, node: Node) -> tuple[str, bool]:
        labels, out, sizes, spelling = node.params
        if not spelling or (spelling == "einsum" and not self.exact):
            return super().contraction(node)
        library = "np"
        if len(labels) == 2:
            _, *own = product_sizes(labels[0], labels[1], out, [self.expected(d) for d in sizes])
            library = self.library(node.dtype, *own)
        code = self._spelled(spelling, [self.names[o] for o in node.operands], labels, out, library)
        return code, spelling != "einsum" or len(labels) > 1

    def _spelled(self, spelling: str, operands: list[str], labels: tuple, out: tuple, library: str) -> str:
        """The NumPy call that a primal contraction came from; ``library`` says whose products it takes."""
        arguments = ", ".join(operands)
        if spelling == "sum":
            axes = tuple(k for k, i in enumerate(labels[0]) if i not in out)
            return self.reduced("sum", arguments, axes if out else None)
        if spelling == "einsum":
            letters = ",".join(map(self.letters, labels)) + "->" + self.letters(out)
            return self.call("einsum", *operands, letters=letters)
        if spelling == "tensordot":
            return f"{library}.tensordot({arguments}, axes={shared_axes(labels)})"
        if spelling == "self_dot":
            return f"{'' if library == 'np' else library + '.'}self_dot({operands[0]})"
        return f"{library}.{spelling}({arguments})"

    def library(self, dtype: np.dtype, rows: float, columns: float, summed: float) -> str:
        """Whose functions multiply matrices of these sizes: NumPy's, or those that choose the threads."""
        threaded = not self.exact and dtype.char in "fd" and blas.uses_threads(rows, columns, summed)
        return "blas" if threaded else "np"

    def linalg(self, matrix: Node) -> str:
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
