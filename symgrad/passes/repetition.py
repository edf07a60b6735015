"""Operations that repeat, as a loop: what they read of one another, and the loop written down."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..differentiation.loops import DifferentiableLoop
from ..primitives.casting import cast
from ..primitives.contraction import transpose
from ..primitives.elementwise import Elementwise
from ..primitives.identity import MARK
from ..primitives.loop import flow_input
from ..primitives.primitive import CONSTANT, CapturedArray, constant, dim_value, literal
from ..primitives.scan import SCAN, results_of
from ..primitives.selection import SLICE, Spec, as_index, concatenate, full, gather, take_slice
from ..primitives.shaping import reshape
from ..program.dims import size
from ..program.node import Graph, Node, active_graph, ancestors, emit
from ..program.program import Program

#: steps back that a step may read
MAX_BACK = 4
#: elements of an array that is put together of what each step reads
_MAX_GATHERED = 1 << 22


class Unlike(Exception):
    """The operations are no loop; the message says why."""

    def __init__(self, why: str = "each step reads others in its own way") -> None:
        super().__init__(why)


class Carried(NamedTuple):
    """A value of an earlier step: which of its operations, and what stands for it in the first steps."""

    operation: int
    begins: tuple[Node, ...]


class Element(NamedTuple):
    """Another value for each step of these numbers; Python's numbers have the dtype that they are taken in."""

    values: tuple[Node, ...]
    dtype: np.dtype
    numbers: Sequence[int]


class Gap(NamedTuple):
    """The place of the first operation after ``steps`` that were left out."""

    place: int
    steps: int


#: what an operand is in each step: an operation of the step itself, a constant, or one of the above
Operand = Any


class Repetition:
    """``steps`` times ``period`` operations from ``first``; Unlike where they are no loop.

    ``promotes``: Python's numbers have the dtypes of all others here, so they may be carried as arrays. Beside the
    steps there are those of the ``gap``, of which what they slice follows from what is sliced before and after them.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        position: Mapping[Node, int],
        first: int,
        period: int,
        steps: int,
        promotes: bool,
        gap: Gap | None = None,
    ) -> None:
        self._gap = gap
        self.first = first
        self.end = first + period * steps
        self._nodes = nodes
        self._period = period
        self._steps = steps
        self._all_steps = steps + (0 if gap is None else gap.steps)
        self._position = position
        self._promotes = promotes
        if gap is not None and not first + 2 * period <= gap.place <= self.end - period:
            raise Unlike("the steps that were left out are not inside of the loop")
        self._template = nodes[
            first + period : first + 2 * period
        ]  # the first step may read numbers in place of arrays
        for node, like in zip(nodes[first : first + period], self._template, strict=True):
            _check_alike(node, like, promotes)
        self._starts = first + period * np.arange(steps)
        #: what is no operation of the step but an element of an array that all steps share
        self._sliced: dict[int, Element] = {}
        self.carries: dict[Carried, None] = {}
        self._elements: dict[Element, None] = {}
        self._constants: dict[Node, None] = {}
        self._uses: dict[int, set[int]] = {}
        self._operands = [self._operands_of(j) for j in range(period)]
        #: those that are carried further back, of which the others are the first
        self._chains = _chains(self.carries)
        self.carries = dict.fromkeys(self._chains.values())

    def _column(self, j: int) -> Sequence[Node]:
        return self._nodes[self.first + j : self.end : self._period]

    def _numbers(self, j: int) -> Sequence[int]:
        """Which of all steps those are that an operation was traced in."""
        if self._gap is None:
            return range(self._steps)
        before = -((self.first + j - self._gap.place) // self._period)
        return (*range(before), *range(before + self._gap.steps, self._all_steps))

    def _operands_of(self, j: int) -> list[Operand]:
        column = self._column(j)
        node = self._template[j]
        if node.primitive is SLICE and any(n.params != node.params for n in column):
            if any(n.operands[0] is not node.operands[0] for n in column):
                raise Unlike
            self._sliced[j] = self._element(j, column, node.dtype)
            return []
        taken = [o.dtype for o in node.operands]
        if isinstance(node.primitive, Elementwise):
            taken = node.primitive.loop_dtypes(node.operands)
        return [self._operand(j, [n.operands[q] for n in column], taken[q]) for q in range(len(node.operands))]

    def _element(self, j: int, values: Sequence[Node], dtype: np.dtype) -> Element:
        """What an operation reads in each step as the element of an array of all."""
        first, numbers, is_whole = values[0], self._numbers(j), self._gap is None
        if any(v.shape != first.shape or v.dtype != first.dtype for v in values):
            raise Unlike
        source = _sliced_source(values)
        if source is not None:
            if self._is_inside(source):
                raise Unlike
            specs = [v.params[0] for v in values]
            _, stride = _moving(specs, numbers) or (0, None)
            fits = stride is not None or (is_whole and self._steps * size(first.shape) <= _MAX_GATHERED)
        elif all(v.is_literal for v in values):
            fits = is_whole
        else:
            fits = is_whole and not any(v.weak for v in values) and self._steps * size(first.shape) <= _MAX_GATHERED
        if not fits:
            raise Unlike("what the steps read cannot be put together in one array")
        element = Element(tuple(values), dtype if first.is_literal else first.dtype, numbers)
        self._elements[element] = None
        return element

    def _is_inside(self, node: Node) -> bool:
        return self.first <= self._position.get(node, -1) < self.end

    def _operand(self, j: int, read: list[Node], dtype: np.dtype) -> Operand:
        last = read[-1]
        place = self._position.get(last, -1)
        if not self.first <= place < self.end:
            if any(map(self._is_inside, read)):
                raise Unlike
            if all(o is last for o in read):
                self._constants[last] = None
                return last
            return self._element(j, read, dtype)
        back = place - (self.first + (self._steps - 1) * self._period + j)
        offset, operation = divmod(j + back, self._period)
        if -offset > MAX_BACK:
            raise Unlike(f"a step reads one {-offset} steps before it")
        places = np.array([self._position.get(o, -1) for o in read])
        if np.any(places[-offset:] - self._starts[-offset:] != j + back):
            raise Unlike
        if offset == 0:
            return operation
        if self._template[operation].primitive is SCAN:  # a row is read where it is made
            raise Unlike
        begins = tuple(read[:-offset])
        like = self._template[operation]
        if any(self._is_inside(b) for b in begins):
            raise Unlike
        for b in begins:
            is_number = b.is_literal and like.differentiable
            if b.shape != like.shape or (b.dtype != like.dtype and not is_number):
                raise Unlike
            if b.weak != like.weak and not (self._promotes or is_number):
                raise Unlike
        if like.weak and not self._promotes:
            raise Unlike
        carried = Carried(operation, begins)
        self.carries[carried] = None
        return carried

    def read_later(self, outputs: Iterable[Node]) -> None:
        """Note the operations whose values are read after the loop, and of which steps."""
        uses = self._uses
        later = [o for n in self._nodes[self.end :] for o in n.operands]
        for o in (*later, *outputs):
            place = self._position.get(o, -1)
            if self.first <= place < self.end:
                step, operation = divmod(place - self.first, self._period)
                if operation not in self._sliced:
                    uses.setdefault(operation, set()).add(step)
        read = [self._template[k] for k in uses]
        if any(n.primitive is SCAN or (n.weak and not self._promotes) for n in read):
            raise Unlike

    # written down

    def written(
        self, image: Mapping[Node, Node], loops: dict[Any, DifferentiableLoop], called: Mapping[Node, str]
    ) -> dict[Node, Node]:
        """What the values that are read later become; ``image`` is what nodes before them have become.

        ``loops`` are those of the same form that were written before; ``called`` are names of the user's.
        """
        arrays = [_array_of(e, image) for e in self._elements]
        constants = [image.get(c, c) for c in self._constants if not c.is_literal and c.primitive.name != "dim"]
        # values of several steps back are carried on from one to the next
        begins = [
            _begun(image.get(b, b), self._template[c.operation]) for c in self.carries for b in reversed(c.begins)
        ]
        last = self._carried_last()
        kept = [k for k, steps in self._uses.items() if any((k, t) not in last for t in steps)]
        names = {j: name for j in range(self._period) if (name := self._name(j, called))} if called else {}
        loop = self._loop(kept, begins, arrays, constants, loops, names)
        results = results_of(loop, [*begins, *arrays, *constants])
        made: dict[Node, Node] = {}
        for operation, steps in self._uses.items():
            column = self._column(operation)
            for t in steps:
                if (operation, t) in last:
                    made[column[t]] = results[last[operation, t]]
                else:
                    array = results[len(begins) + kept.index(operation)]
                    number = self._numbers(operation)[t]
                    made[column[t]] = take_slice(array, (number, *full(array.shape[1:])))
        return made

    def is_written_as_loop(self, called: Mapping[Node, str]) -> bool:
        """Whether the user has a name for something that is carried, and no step reads a value that is its own alone.

        Layers of a network that are written one after the other have weights of their own.
        """
        own = [e for e in self._elements if _sliced_source(e.values) is None]
        numbers = all(v.is_literal or v.primitive is CONSTANT for e in own for v in e.values)
        return numbers and any(self._name(c.operation, called) for c in self.carries)

    def _name(self, j: int, called: Mapping[Node, str]) -> str | None:
        """What the user calls the value of an operation, the same in each step but perhaps the first."""
        names = {called.get(n) for n in self._column(j)[1:]}
        return names.pop() if len(names) == 1 else None

    def _carried_last(self) -> dict[tuple[int, int], int]:
        """For operations that later steps read, and each of the last steps, which carry has their value at the end."""
        found: dict[tuple[int, int], int] = {}
        count = 0
        for c in self.carries:
            for back in range(len(c.begins)):
                t = self._steps - 1 - back
                if self._numbers(c.operation)[t] == self._all_steps - 1 - back:
                    found.setdefault((c.operation, t), count + back)
            count += len(c.begins)
        return found

    def _loop(
        self,
        kept: Sequence[int],
        begins: Sequence[Node],
        arrays: Sequence[Node],
        constants: Sequence[Node],
        loops: dict[Any, DifferentiableLoop],
        called: Mapping[int, str],
    ) -> DifferentiableLoop:
        graph = Graph()
        graph.sizes = active_graph().sizes
        with graph:
            likes = [self._template[c.operation] for c in self.carries for _ in c.begins]
            pairs = zip(begins, likes, strict=True)
            inputs = [flow_input(f"s{k}", n.shape, n, like.masked) for k, (n, like) in enumerate(pairs)]
            inputs += [flow_input(f"e{k}", n.shape[1:], n) for k, n in enumerate(arrays)]
            inputs += [flow_input(f"c{k}", n.shape, n, weak=n.weak) for k, n in enumerate(constants)]
            rest = iter(inputs)
            known: dict[Any, Node] = {}
            nexts: list[Any] = []
            links: dict[Carried, list[Node]] = {}
            for c in self.carries:
                links[c] = [next(rest) for _ in c.begins]
                nexts += [c.operation, *links[c][:-1]]
            known |= {c: links[chain][len(c.begins) - 1] for c, chain in self._chains.items()}
            known |= {e: next(rest) for e in self._elements}
            for c in self._constants:
                is_value = c.is_literal or c.primitive.name == "dim"
                known[c] = (literal if c.is_literal else dim_value)(c.params[0]) if is_value else next(rest)
            made: list[Node] = []
            for j, node in enumerate(self._template):
                if j in self._sliced:
                    made.append(known[self._sliced[j]])
                    continue
                operands = [made[o] if isinstance(o, int) else known[o] for o in self._operands[j]]
                is_mark = node.primitive is MARK
                new = operands[0] if is_mark else emit(node.primitive, tuple(operands), node.params)
                if new.shape != node.shape or new.dtype != node.dtype or (new.weak != node.weak and not self._promotes):
                    raise Unlike("Python's numbers differ from step to step beside arrays of single precision")
                made.append(new)
            outputs = [made[n] if isinstance(n, int) else n for n in nexts] + [made[k] for k in kept]
            outputs = [cast(o, o.dtype) for o in outputs]
        names = [n.params[0] for n in inputs]
        carried = [called.get(n) if isinstance(n, int) else None for n in nexts]
        names[: len(carried)] = [own or name for own, name in zip(carried, names, strict=False)]
        key = (*_form(inputs, outputs, len(begins), self._all_steps), *names, *called.items())
        if key not in loops:
            body = Program(inputs, outputs, names, graph)
            own = {made[j]: name for j, name in called.items() if not made[j].is_leaf}
            count = len(begins)
            loops[key] = DifferentiableLoop(body, count, len(arrays), self._all_steps, range(count), called=own)
        return loops[key]


def _chains(carries: Collection[Carried]) -> dict[Carried, Carried]:
    """For each what is carried of the same operation furthest back, and is the same as far as it goes itself."""
    own: dict[int, list[Carried]] = {}
    for c in carries:
        own.setdefault(c.operation, []).append(c)
    alike = {c: [o for o in own[c.operation] if o.begins[-len(c.begins) :] == c.begins] for c in carries}
    return {c: max(others, key=lambda o: len(o.begins)) for c, others in alike.items()}


def _check_alike(node: Node, like: Node, promotes: bool) -> None:
    """Unlike where a first step computes something else than those after it."""
    same = node.primitive is like.primitive and node.shape == like.shape and node.dtype == like.dtype
    if not same or (node.weak != like.weak and not promotes) or len(node.operands) != len(like.operands):
        raise Unlike
    if node.params != like.params and node.primitive not in (SLICE, MARK):
        raise Unlike


def _begun(node: Node, like: Node) -> Node:
    """What is carried into the first step, as an array."""
    if node.is_literal:
        return constant(CapturedArray(np.array(node.params[0], like.dtype)))
    return cast(node, node.dtype)


def _moving(specs: Sequence[Spec], numbers: Sequence[int]) -> tuple[int, int | None] | None:
    """The one axis along which slices of one element there differ, and how far each step moves on, of these numbers."""
    moving = [k for k in range(len(specs[0])) if any(s[k] != specs[0][k] for s in specs)]
    if len(moving) != 1 or isinstance(specs[0][moving[0]], tuple):
        return None
    places = [s[moving[0]] for s in specs]
    stride = places[1] - places[0]
    is_even = all(p == places[0] + stride * k for p, k in zip(places, numbers, strict=True))
    return moving[0], stride if is_even else None


def _sliced_source(values: Sequence[Node]) -> Node | None:
    """The array of which all ``values`` are slices, if there is one."""
    sources = {v.operands[0] if v.primitive is SLICE else None for v in values}
    return sources.pop() if len(sources) == 1 else None


def _array_of(element: Element, image: Mapping[Node, Node]) -> Node:
    """The array whose elements the steps read; ``image`` is what some nodes have become."""
    values = element.values
    source = _sliced_source(values)
    if source is not None:
        return _of_slices(image.get(source, source), [v.params[0] for v in values], element.numbers)
    if all(v.is_literal or v.primitive is CONSTANT for v in values):
        arrays = [np.asarray(v.params[0] if v.is_literal else v.params[0].value, element.dtype) for v in values]
        return constant(CapturedArray(np.stack(arrays)))
    return concatenate([reshape(image.get(v, v), (1, *v.shape)) for v in values], 0)


def _of_slices(source: Node, specs: Sequence[Spec], numbers: Sequence[int]) -> Node:
    """The array whose elements are these slices, which the steps of these numbers read."""
    moving = _moving(specs, numbers)
    if moving is None:
        places = np.arange(size(source.shape)).reshape(source.shape)
        index = constant(CapturedArray(np.stack([places[as_index(s)] for s in specs])))
        return gather(reshape(source, (size(source.shape),)), index, 0)
    axis, stride = moving
    spec = list(specs[0])
    if stride is None:
        places = constant(CapturedArray(np.array([s[axis] for s in specs])))
        source, spec[axis] = gather(source, places, axis), (0, len(specs), 1)
    else:
        spec[axis] = (spec[axis], numbers[-1] + 1, stride)
    made = take_slice(source, tuple(spec))
    lead = sum(isinstance(e, tuple) for e in spec[:axis])
    return made if not lead else transpose(made, (lead, *(k for k in range(made.ndim) if k != lead)))


def _form(inputs: Sequence[Node], outputs: Sequence[Node], carries: int, steps: int) -> tuple[Any, ...]:
    """What two bodies share that are the same but for their nodes."""
    number = {n: k for k, n in enumerate(inputs)}
    lines: list[Any] = [(n.shape, n.dtype.char, n.weak, n.masked) for n in inputs]
    for node in ancestors(outputs):
        if node not in number:
            number[node] = len(number)
            lines.append((node.primitive, node.params, tuple([number[o] for o in node.operands])))
    return (carries, steps, tuple(lines), tuple([number[o] for o in outputs]))
