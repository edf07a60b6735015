"""Long programs as tapes: each kind of operation is a function, each step one of them and where its operands are.

Python takes far longer to compile a line than to run it, so a program of thousands of lines runs from a list, and its
source is written where it is asked for. What the kinds do is written by the writer of whole sources, so the values are
the same to the bit. Each value has a place of its own: no step overwrites what another one made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from ..primitives.scan import SCAN
from ..primitives.selection import SLICE, as_index
from ..program.dims import is_concrete
from ..program.forks import cached_property
from ..program.node import Node
from ..program.program import Program
from .base import Kernel, quiet
from .explanation import Step
from .numpy_backend import Writer
from .source import compiled

#: bindings from which a program is long
_LONG = 200
#: calls after which the source serves, which is a bit faster: they took several times as long as it takes to compile
_CALLS = 1000
#: bindings up to which it ever does: Python's compiler takes kilobytes for each
_LONGEST = 50_000
#: in place of a second operand: there is none, or the first is the list of all
_NONE, _MANY = -1, -2
#: a line that is nothing but a call
_CALL = re.compile(r"v\d+ = ([a-z]\w*)((?:\.\w+)*)\((v\d+(?:, v\d+)*)\)")


class TapeKernel(Kernel):
    """A kernel that runs a tape, and writes its source where that is asked for."""

    def __init__(self, program: Program, function: Callable[..., tuple], write: Callable[[], Kernel]) -> None:
        super().__init__(program, "numpy", "", function, self._told)
        self._write = write
        self._calls = 0
        self._quiet = quiet(function)
        self.call = self._counted

    @cached_property
    def _written(self) -> Kernel:
        return self._write()

    def _counted(self, *arrays: Any) -> tuple:
        self._calls += 1
        if self._calls >= _CALLS:
            self.call = self._written.call if len(self.program.bindings) <= _LONGEST else self._quiet
        return self._quiet(*arrays)

    @property
    def source(self) -> str:
        return self._written.source

    def _told(self) -> Sequence[Step]:
        return self._written.explain().steps


class Kind(NamedTuple):
    """How operations of one kind are computed: by a function, or by the one of this name.

    It ``takes`` these operands, None for all in order. A result is ``fresh`` where it looks into no operand; results
    of one ``sort`` are alike to what reads them.
    """

    function: Callable[..., Any] | str
    takes: tuple[int, ...] | None
    fresh: bool
    sort: int


def tape_of(program: Program) -> Callable[..., tuple] | None:
    """The function that runs a program step by step; None where it is to be compiled as it is.

    That is a short one, and one of which the source uses memory twice, or computes several nodes at once.
    """
    if len(program.bindings) < _LONG:
        return None
    writer = _TapeWriter(program)
    if SCAN in program.primitives or writer.delayed:
        return None
    if any(not is_concrete(shape) or writer.is_let_go(shape) for shape, _ in program.types):
        return None
    return writer.tape()


class _TapeWriter(Writer):
    """Writes the functions that a tape calls."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._kinds: dict[tuple, Kind] = {}
        self._sorts: dict[tuple, int] = {}
        self._functions: list[str] = []

    def tape(self) -> Callable[..., tuple]:
        """The function that runs the program step by step."""
        program = self.program
        leaves = [n for n in program.nodes if n.is_leaf and n.primitive.name != "input"]
        places: dict[Node, int] = {n: k for k, n in enumerate((*program.inputs, *leaves))}
        sorts = [self._sort(n) for n in places]
        kinds: list[Kind] = []
        firsts: list[Any] = []
        seconds: list[int] = []
        for node in program.bindings:
            at = [places[o] for o in node.operands]
            kind = self._kind(node, at, sorts)
            if kind.takes is not None:
                at = [at[k] for k in kind.takes]
            count = len(at)
            firsts.append(at[0] if 0 < count < 3 else at)
            seconds.append(_NONE if count == 1 else at[1] if count == 2 else _MANY)
            kinds.append(kind)
            places[node] = len(sorts)
            sorts.append(kind.sort)
        outputs = [places[o] for o in dict.fromkeys(program.outputs)]
        first = len(sorts) - len(kinds)
        self.fresh = {n for n in program.outputs if places[n] >= first and kinds[places[n] - first].fresh}
        finish = compiled(self._source(), self.namespace)
        functions = [k.function if callable(k.function) else self.namespace[k.function] for k in kinds]
        held = [n.params[0] if n.is_literal else n.params[0].value[()] for n in leaves]
        return _running(held, functions, firsts, seconds, outputs, finish)

    def _sort(self, node: Node) -> int:
        """The same number for values that their readers take alike; a contraction writes -1.0 as a sign."""
        signs = node.is_literal and _is_sign(node)
        return self._sorts.setdefault((node.shape, node.dtype, node.weak, signs), len(self._sorts))

    def _kind(self, node: Node, at: list[int], sorts: list[int]) -> Kind:
        alike = tuple(map(at.index, at)) if len(set(at)) < len(at) else None
        key = (node.primitive, node.params, tuple([sorts[k] for k in at]), alike)
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = self._new_kind(node)
        return kind

    def _new_kind(self, node: Node) -> Kind:
        if node.primitive is SLICE:
            return Kind(itemgetter(as_index(node.params[0])), None, False, self._sort(node))
        written = len(self.lines)
        taken: dict[str, int] = {}
        for k, o in enumerate(node.operands):
            if o.is_literal and _is_sign(o):
                self.names[o] = self.number(o.params[0])
            elif o not in node.operands[:k]:
                self.names[o] = self.new_name()
                taken[self.names[o]] = k
        self.fresh.discard(node)
        self.compute(node)
        fresh, sort, lines = node in self.fresh, self._sort(node), self.lines[written:]
        call = _CALL.fullmatch(lines[0]) if len(lines) == 1 else None
        if call and call[1] in self.namespace:
            function = self.namespace[call[1]]
            function = attrgetter(call[2][1:])(function) if call[2] else function
            return Kind(function, _unless_all([taken[name] for name in call[3].split(", ")], node), fresh, sort)
        name = f"step{len(self._functions)}"
        body = "".join([f"    {line}\n" for line in lines])
        self._functions.append(f"def {name}({', '.join(taken)}):\n{body}    return {self.names[node]}\n")
        return Kind(name, _unless_all(taken.values(), node), fresh, sort)

    def _source(self) -> str:
        """The functions of the kinds, and ``kernel``, which makes results of the outputs' values."""
        self.names = {n: self.new_name() for n in self.program.outputs}
        self.lines = []
        return "\n".join([*self._functions, self._function_of(", ".join(self.names.values()))])


def _running(
    held: list[Any],
    functions: list[Callable],
    firsts: list[Any],
    seconds: list[int],
    outputs: list[int],
    finish: Callable[..., tuple],
) -> Callable[..., tuple]:
    """What runs a tape: the values are those of the call, those ``held``, and what each step makes."""

    def run(*arrays: Any) -> tuple:
        values = [*arrays, *held]
        append = values.append
        for function, first, second in zip(functions, firsts, seconds, strict=True):
            if second >= 0:
                append(function(values[first], values[second]))
            elif second == _NONE:
                append(function(values[first]))
            else:
                append(function(*[values[k] for k in first]))
        return finish(*[values[k] for k in outputs])

    return run


def _unless_all(taken: Iterable[int], node: Node) -> tuple[int, ...] | None:
    """Which operands are taken, None for all of them in order."""
    takes = tuple(taken)
    return None if takes == tuple(range(len(node.operands))) else takes


def _is_sign(literal: Node) -> bool:
    """Whether contractions write this number as a sign."""
    value = literal.params[0]
    return type(value) is float and value == -1.0
