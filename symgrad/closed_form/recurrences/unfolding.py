"""From a Program to equations: each loop opened, its steps in terms of the values of the step before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from ...kernels.kernel import optimized
from ...primitives.functions import add, terms_of
from ...primitives.loop import Loop
from ...primitives.primitive import CONSTANT, DIM, LITERAL, CapturedArray, constant, dim_value, input_node, literal
from ...primitives.scan import PART, ROW, SCAN
from ...program.dims import Dim
from ...program.interpret import rebuilt
from ...program.node import Graph, Node, ancestors
from ...program.program import Program
from ..derivation.constants import is_told
from ..derivation.lines import inputs_of
from ..derivation.naming import Name, Names, spellings, user_name
from .equations import Equation, Range, Total
from .histories import Histories
from .naming import Bases, at_end, at_step
from .steps import Steps


class NoRecurrence(Exception):
    """A program whose loops cannot be told line by line; the caller falls back."""


class Carry(NamedTuple):
    """What stands for a carry before the first step, before and after one, and after all of them.

    It is ``given`` this to begin with.
    """

    given: Node
    begins: Node
    before: Node
    after: Node
    end: Node
    steps: Range
    base: str


class Unfolding:
    """The equations of a program, and the names of the values in them."""

    def __init__(self, program: Program, reserved: Collection[str] = ()) -> None:
        self.program = program
        self.graph = Graph()
        self.graph.sizes = program.graph.sizes
        self.names = Names()
        for node, label in zip(program.inputs, program.names, strict=True):
            self.names[node] = self.names.fresh(spellings(label))
        self.inputs = list(self.names.values())
        self.bases = Bases(program, self.names, reserved)
        self.steps = Steps(self)
        self.histories = Histories(self)
        self.equations: list[Equation] = []
        #: the steps that a value belongs to, and what flows back
        self.ranges: dict[Node, Range] = {}
        self.back: set[Node] = set()
        self.carries: list[Carry] = []
        #: what the user calls values of a step
        self.called: dict[Node, str] = {}
        self._after: dict[Node, Node] = {}
        self._roots: dict[Node, Node] = {}
        with self.graph:
            image: dict[Node, Any] = {n: n for n in program.inputs}
            for k, o in enumerate(program.outputs):
                self._walk(ancestors([o]), image, None)
                self._output(k, image[o])
            self.definitions = self._defined()
            self.equations = [self._told(e) for e in self.equations]
            self.definitions = {n: self._told(e) for n, e in self.definitions.items()}
        #: arrays that the function has found outside, by their names
        self.constants: dict[Name, np.ndarray] = {}
        self._name_constants()

    def named(self, base: Name, shape: Sequence[Dim], dtype: np.dtype, steps: Range | None = None) -> Node:
        """A value of this name."""
        node = input_node("value", tuple(shape), dtype)
        self.names[node] = base
        if steps is not None:
            self.ranges[node] = steps
        return node

    # nodes

    def _walk(self, nodes: Iterable[Node], image: dict[Node, Any], outer: Range | None) -> None:
        for node in nodes:
            if node in image:
                continue
            given = [image[o] for o in node.operands]
            if node.primitive is SCAN:
                image[node] = self._loop(node.params[0], given, outer)
            elif node.primitive is PART and isinstance(given[0], list):
                loop: Loop = node.operands[0].params[0]
                image[node] = given[0][[(p.start, p.shape) for p in loop.pieces].index(node.params[:2])]
            elif node.primitive in (PART, ROW) or any(isinstance(g, list) for g in given):
                raise NoRecurrence  # rows that are read as a whole
            elif node.primitive in _LEAVES:
                image[node] = _LEAVES[node.primitive](node.params[0])
            else:
                image[node] = self.steps.made(node, given)

    # loops

    def _loop(self, loop: Loop, operands: Sequence[Node], outer: Range | None) -> list[Node]:
        """The pieces of a loop, whose equations are written down."""
        if loop.length == 0:
            empty = [constant(CapturedArray(np.zeros((0, *n.shape), n.dtype))) for n in loop.kept]
            return [*(operands[k] for k in loop.finals), *empty]
        letter = self.bases.letter(0 if outer is None else outer.depth + 1)
        steps = Range(letter, loop.length, loop.reverse, outer)
        body, called = _readable(loop)
        count = loop.carries
        sums = _sums(loop, body)
        flowing = [k for k in range(count) if k not in sums and body.outputs[k] is not body.inputs[k]]
        back = sum(body.names[k].startswith("λ") for k in flowing)
        alike = [k for k in flowing if any(c.given is operands[k] and c.steps.runs_as(steps) for c in self.carries)]
        carries = {k: self._carry(body.names[k], operands[k], steps, back < 2) for k in flowing if not alike}
        image = self._given(loop, body, operands, steps)
        known = self._known_carries(alike, body, image, operands, steps)
        carries |= known
        for k in flowing:
            if k not in carries:
                carries[k] = self._carry(body.names[k], operands[k], steps, back < 2)
            image[body.inputs[k]] = carries[k].before
        self._walk(_needed(body, sums), image, steps)
        for node, name in called.items():
            if node in image and not image[node].is_leaf:
                self.called.setdefault(image[node], name)
        ends = dict(enumerate(operands[:count]))
        for k in flowing:
            carry = carries[k]
            ends[k] = carry.end
            if k not in known:
                root = self._roots[carry.after] = image[body.outputs[k]]
                self.equations.append(Equation(carry.after, self.steps.total(root, steps), steps))
                if not root.is_leaf:
                    self._after.setdefault(root, carry.after)
        for k, terms in sums.items():
            ends[k] = self.steps.sum(reduce(add, [image[n] for n in terms]), steps, operands[k])
        kept = [self.steps.stack(image[n], steps) for n in body.outputs[count:]]
        return [*(ends[k] for k in loop.finals), *kept]

    def _given(self, loop: Loop, body: Program, operands: Sequence[Node], steps: Range) -> dict[Node, Any]:
        """What stands for the inputs of a body, but for carries that change."""
        image: dict[Node, Any] = {}
        for k, (node, name, operand) in enumerate(zip(body.inputs, body.names, operands, strict=True)):
            if loop.is_element(k):
                image[node] = self.steps.row(operand, steps, name)
            elif k >= loop.carries or body.outputs[k] is node:
                image[node] = operand
        return image

    def _known_carries(
        self, alike: Sequence[int], body: Program, image: dict[Node, Any], operands: Sequence[Node], steps: Range
    ) -> dict[int, Carry]:
        """Those of the carries ``alike`` that another loop computes too: which begin and go on as there."""
        found = {k: c for k in alike for c in self.carries if c.given is operands[k] and c.steps.runs_as(steps)}
        others = [n for n in body.inputs if n not in image]
        while found and not any(n.primitive is SCAN for n in body.nodes):
            made = dict(image)
            made |= {n: input_node("other", n.shape, n.dtype) for n in others}
            made |= {body.inputs[k]: c.before for k, c in found.items()}
            self._walk(body.nodes, made, steps)
            same = {k: c for k, c in found.items() if made[body.outputs[k]] is self._roots[c.after]}
            if len(same) == len(found):
                return same
            found = same
        return {}

    def _carry(self, label: str, begins: Node, steps: Range, alone: bool) -> Carry:
        base = self.bases.carry(label, begins, alone, steps.reverse)
        first, last = (steps.length, 0) if steps.reverse else (0, steps.length)
        made = [
            self.named(name, begins.shape, begins.dtype, own)
            for name, own in (
                (at_step(base, steps, int(steps.reverse)), steps),
                (at_step(base, steps, int(not steps.reverse)), steps),
                (at_end(base, steps, last), steps.outer),
            )
        ]
        if label.startswith("λ"):
            self.back.update(made)
        name = at_end(base, steps, first)
        start = begins
        if begins in self.names and self.names[begins].latex == name.latex:
            self.names[begins] = name  # u0 is u₀
        else:
            start = self.named(name, begins.shape, begins.dtype, steps.outer)
            self.equations.append(Equation(start, self.steps.total(begins, steps.outer), steps.outer))
            if steps.outer is None and not begins.is_leaf and inputs_of(begins):
                self._after.setdefault(begins, start)
        before, after, end = made
        self.carries.append(Carry(begins, start, before, after, end, steps, base))
        return self.carries[-1]

    def carry_after(self, row: Node, steps: Range) -> Carry | None:
        """The carry that is ``row`` after each of these steps."""
        return next((c for c in self.carries if c.steps is steps and self._roots.get(c.after) is row), None)

    # results

    def _output(self, k: int, node: Node) -> None:
        over = self.steps.over(node) if node.ndim else None
        row = None if over is None or node.shape[0] != over.length else self.steps.known_row(node, over)
        if row is not None:
            self.equations.append(Equation(k, self.steps.total(row, over), over))
        else:
            self.equations.append(Equation(k, self.steps.total(node, None)))

    def _defined(self) -> dict[Node, Equation]:
        """Lines for sums and stacks that are not told where they are read."""
        found: dict[Node, Equation] = {}
        pending = [n for e in self.equations for n in e.value.roots]
        while pending:
            new = [n for n in ancestors(pending) if self.steps.is_undefined(n) and n not in found]
            found |= {n: self.steps.defined(n) for n in new}
            pending = [root for n in new for root in found[n].value.roots]
        return found

    def _name_constants(self) -> None:
        roots = [n for e in (*self.equations, *self.definitions.values()) for n in e.value.roots]
        alike: dict[tuple, Name] = {}
        for node in ancestors(roots):
            if node.primitive is CONSTANT and is_told(value := node.params[0].value):
                key = (value.dtype.str, value.shape, value.tobytes(), node.params[0].label)
                if key not in alike:
                    alike[key] = user_name(self.bases.row(node.params[0].label or "c", node))
                self.names[node] = alike[key]
                self.constants[alike[key]] = value
        for node, base in self.steps.constant_rows():
            self.constants[user_name(base)] = node.params[0].value

    def _told(self, equation: Equation) -> Equation:
        """An equation in terms of what carries are after a step."""
        known = {root: n for root, n in self._after.items() if n is not equation.target}
        image: dict[Node, Node] = {}
        for node in ancestors(equation.value.roots):
            image[node] = known.get(node) or rebuilt(node, [image[o] for o in node.operands])
        rest, over, summand = equation.value
        return equation._replace(value=Total(rest and image[rest], over, summand and image[summand]))


def _readable(loop: Loop) -> tuple[Program, dict[Node, str]]:
    """The body as it is read, and what values in it are called."""
    written = loop.written
    own = {n: name for n, name in loop.called.items() if not n.is_leaf}
    if own.keys().isdisjoint(written.nodes):
        return loop.body, {}
    held = [n for n in written.nodes if n in own]
    made = optimized(written.with_outputs([*written.outputs, *held]))
    count = len(written.outputs)
    called = {image: own[n] for n, image in zip(held, made.outputs[count:], strict=True)}
    return made.with_outputs(made.outputs[:count]), called


def _sums(loop: Loop, body: Program) -> dict[int, list[Node]]:
    """The carries that only add up, with what they add in a step."""
    found = {}
    outputs = body.outputs
    for k in range(loop.carries):
        own, terms = body.inputs[k], terms_of(outputs[k])
        rest = [t for t in terms if t is not own]
        others = [o for i, o in enumerate(outputs) if i != k]
        if outputs[k].operands[:1] == (own,) and len(rest) > 1:
            rest = [outputs[k].operands[1]]
        if terms.count(own) == 1 and rest and k in loop.finals and own not in ancestors([*rest, *others]):
            found[k] = rest
    return found


def _needed(body: Program, sums: dict[int, list[Node]]) -> list[Node]:
    """The nodes of the body without those that only add up."""
    outputs = [o for k, o in enumerate(body.outputs) if k not in sums]
    return ancestors([*outputs, *(n for terms in sums.values() for n in terms)])


_LEAVES = {CONSTANT: constant, DIM: dim_value, LITERAL: literal}
