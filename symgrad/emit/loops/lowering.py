"""Program -> Routine: the loops that compute it, in any target."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import sympy

from ...errors import ArgumentError
from ...passes.elementary import in_elementary
from ...program.dims import is_named
from ...program.node import Node
from ...program.program import Program
from .blocks import block
from .flat import FlatValues, accesses, flat_index, merged
from .language import COUNTERS, OF_FLOATS, Allocate, Array, Fill, Free, Literal, Name, Size, Statement
from .nests import Nest, Values, is_started, start_of
from .normal import in_order, normal_form
from .placement import Placement
from .pruning import pruned
from .reading import Routine
from .regions import Block, Reduction, Region, Step
from .repeats import repeated
from .scalars import checked
from .schedule import Schedule
from .sinking import sink
from .sizes import demands

#: elements of a captured array that is still written into source
_MAX_CAPTURED = 10_000


def named_dims(program: Program) -> list[sympy.Symbol]:
    """The named dims of a program, in the order in which its inputs mention them."""
    found: dict[sympy.Symbol, None] = {}
    for node in (*program.inputs, *program.nodes):
        for d in node.shape:
            if is_named(d):
                found.update(dict.fromkeys(sorted(d.free_symbols, key=str)))
        if node.primitive.name == "dim":
            found.update(dict.fromkeys(sorted(node.params[0].free_symbols, key=str)))
    return list(found)


def lower(
    program: Program,
    inputs: Sequence[str],
    outputs: Sequence[str],
    dims: Mapping[sympy.Symbol, str],
    *,
    row_major: bool = True,
    flat: bool = False,
    taken: Collection[str] = (),
) -> Routine:
    """The loops of a program.

    ``outputs`` names its outputs; the outputs after these are conditions: where one is not true, the routine ends with
    the status "branch". ``inputs`` names the inputs, ``dims`` what ``named_dims`` gives. ``row_major`` says along
    which axis the innermost loops should run; with ``flat``, elements are had by one index each, as they lie in memory.
    Loops count with names that are not in ``taken``, nor arguments.

    >>> import numpy as np, symgrad
    >>> routine = lower(symgrad.trace(lambda x: np.sum(np.sin(x)), np.ones(3)), ["x"], ["out"], {})
    >>> [type(s).__name__ for s in routine.body]
    ['Variable', 'Loop', 'Assign']
    """
    program = in_elementary(program, OF_FLOATS - {"tanh"})
    shared = _Shared(row_major, flat, {*taken, *inputs, *outputs, *dims.values()}, program)
    values = shared.values()
    given = tuple([_input(n, name, values) for n, name in zip(program.inputs, inputs, strict=True)])
    results = program.outputs[: len(outputs)]
    made = tuple([Array(name, n.shape, checked(n).dtype, "output") for n, name in zip(results, outputs, strict=True)])
    lowered = _Lowering(shared, program, values, made)
    body = [*demands((*lowered.nodes, *_within(program)), program.graph.sizes), *lowered.statements]
    return Routine(dict(dims), given, made, tuple(shared.constants), pruned(body))


def _within(program: Program) -> Sequence[Node]:
    """The nodes of the bodies of loops."""
    return program.every_node[len(program.nodes) :]


def _input(node: Node, name: str, values: Values) -> Name | Array:
    checked(node)
    if not node.shape:
        values.numbers[node] = Name(name, node.dtype)
        return Name(name, node.dtype)
    array = values.arrays[node] = Array(name, node.shape, node.dtype, "input")
    return array


class _Shared:
    """What a program and the bodies of its loops have in common: names, and arrays that are written out."""

    def __init__(self, row_major: bool, flat: bool, taken: set[str], program: Program) -> None:
        self.row_major = row_major
        self.flat = flat
        self.constants: list[tuple[Array, np.ndarray]] = []
        self.counters = counters_without(max([n.ndim for n in program.every_node], default=0) * 2 + 2, taken)
        self._steps = (name for name in _names_of_steps() if name not in taken)
        count = itertools.count()
        self._fresh = lambda: f"v{next(count)}"

    def values(self) -> Values:
        """Where values will be."""
        return (FlatValues if self.flat else Values)(self._fresh)

    def step(self) -> str:
        """What another loop of the program counts its steps with."""
        return next(self._steps)


def _names_of_steps() -> Iterator[str]:
    return itertools.chain(["t"], map("t{}".format, itertools.count(1)))


class _Lowering:
    """The statements that compute the outputs of a program, or of the body of a loop, whose inputs have values."""

    def __init__(self, shared: _Shared, program: Program, values: Values, outputs: Sequence[Array]) -> None:
        """``outputs`` are the arrays of its first outputs; the others are conditions."""
        self.shared = shared
        self.flat = shared.flat
        self.values = values
        self.counters = shared.counters
        self.outputs = outputs
        image = normal_form(program.nodes)
        self.first = [image[n] for n in program.outputs[len(outputs) :]]
        self.results = [image[n] for n in program.outputs[: len(outputs)]]
        self.nodes = in_order(self.first, self.results)
        self.schedule = self._scheduled(self.nodes, shared.row_major)
        for node in self.nodes:
            if node.is_leaf and node.primitive.name != "input":
                self._leaf(node)
        self.statements = self._body()

    def _scheduled(self, nodes: Sequence[Node], row_major: bool) -> Schedule:
        """All nodes, the conditions and what they are made of first."""
        schedule = Placement(row_major)
        pending = dict.fromkeys(self.first)
        for node in nodes:
            schedule.place(node)
            if node in pending and not node.is_leaf:
                del pending[node]
                schedule.require(node)
        for node in pending:
            schedule.require(node)
        for k, node in enumerate(self.results):
            schedule.output(node, k)
        sink(schedule)
        return schedule

    def _leaf(self, node: Node) -> None:
        """A number is written where it is read, an array once."""
        if node.primitive.name == "literal":
            self.values.numbers[node] = Literal(node.params[0], node.dtype)
        elif node.primitive.name == "dim":
            self.values.numbers[node] = Size(node.params[0], node.dtype)
        else:
            value = np.asarray(node.params[0].value)
            flat = value.ravel()
            if value.size > _MAX_CAPTURED and not _is_uniform(flat):
                raise ArgumentError(
                    f"the function reads an array of shape {node.shape} from outside, too large to write into "
                    "source; make it an argument of the function."
                )
            if not node.shape or (_is_uniform(flat) and node not in self.schedule.boxed):
                self.values.numbers[node] = Literal(flat[0].item() if flat.size else 0, node.dtype)
            else:
                array = Array(self.values.fresh(), node.shape, node.dtype, "constant")
                self.values.arrays[node] = array
                self.shared.constants.append((array, value))

    def _body(self) -> list[Statement]:
        schedule, values = self.schedule, self.values
        plans = [
            merged(s, [flat_index(r) for r in accesses(s, self._in_memory)])
            if self.flat and isinstance(s, Region)
            else (s, {})
            for s in schedule.steps
        ]
        starts = self._filled(plans)
        born: dict[int, list[Node]] = {}
        dying: dict[int, list[Node]] = {}
        for node, step in schedule.born.items():
            if step >= 0 and schedule.is_array(node):
                born.setdefault(step, []).append(node)
                if node not in schedule.claimed:
                    last = max(schedule.last.get(node, -1), schedule.made[node])
                    dying.setdefault(last, []).append(node)
        body: list[Statement] = []
        for k, (step, into) in enumerate(plans):
            for node in born.get(k, ()):
                number = schedule.claimed.get(node)
                if number is not None:
                    values.arrays[node] = self.outputs[number]
                else:
                    values.arrays[node] = Array(values.fresh(), node.shape, node.dtype, "local")
                    if node not in schedule.backing:
                        body.append(Allocate(values.arrays[node]))
                if node in starts:
                    body.append(Fill(values.arrays[node], starts[node]))
            if isinstance(step, Block) and step.kind == "repeat":
                body += self._repeated(step)
            elif isinstance(step, Block):
                body += block(step, values, self.counters)
            elif step.items:
                body += Nest(step, values, self.counters, schedule.is_array, into).statements
            body += [Free(values.arrays[node]) for node in dying.get(k, ())]
        return body

    def _repeated(self, step: Block) -> list[Statement]:
        """The statements of a loop."""

        def lowered(body: Program, values: Values, outputs: Sequence[Array]) -> Sequence[Statement]:
            return _Lowering(self.shared, body, values, outputs).statements

        return repeated(step, self.values, self.schedule.kept[step.node], self.shared.step(), self.counters, lowered)

    def _filled(self, plans: Sequence[tuple[Step, Mapping[int, int]]]) -> dict[Node, Literal]:
        """What is set to a value before anything is added to it."""
        found = {n: start_of("add", n.dtype) for n in self.schedule.zeroed}
        for step, into in plans:
            if isinstance(step, Region):
                for item in step.items:
                    if isinstance(item, Reduction) and is_started(item, step, into, self.values.rows):
                        found[item.node] = start_of(item.operation, item.node.dtype)
        return found

    def _in_memory(self, node: Node) -> bool:
        return node not in self.values.numbers and self.schedule.is_array(node)


def _is_uniform(flat: np.ndarray) -> bool:
    """True for an array that holds one number everywhere, to the bit."""
    if flat.dtype.kind == "f" and not np.all(np.signbit(flat) == np.signbit(flat[:1])):
        return False
    return bool(np.all(flat == flat[:1]))


def counters_without(count: int, taken: Collection[str] = ()) -> list[str]:
    """So many names to count with."""
    made = [c for c in (*COUNTERS, *(f"i{k}" for k in range(1, count + len(taken) + 1))) if c not in taken]
    return made[:count]
