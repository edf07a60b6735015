"""Loop: one body, computed step after step, each of which gives what it carries to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import sympy

from ..program.dims import Dim, Shape, is_named, normal, size
from ..program.forks import cached_property
from ..program.interpret import rebuilt, walk
from ..program.node import Node, ancestors
from ..program.program import Program
from .batching import Batching
from .primitive import INPUT, Leaf

#: stands for what a step is given while its body is traced
STEP = Leaf("input")

Flows = Mapping[int, Node]


class Piece(NamedTuple):
    """One result of a loop: where it begins in the row, its shape and its dtype."""

    start: Dim
    shape: Shape
    dtype: np.dtype

    @property
    def size(self) -> Dim:
        return size(self.shape)


class Base(NamedTuple):
    """The loop that another one computes too: which of its operands and which of its pieces are those of the base."""

    loop: Loop
    operands: tuple[int, ...]
    pieces: tuple[int, ...]


class Loop:
    """What a ``scan`` computes: ``body`` for each of ``length`` steps.

    The inputs of ``body`` are what is carried, an element of each array, and constants; its outputs what is carried on,
    and what is kept of each step. The results are the last values of the carries in ``finals``, then an array of what
    each step keeps. ``reverse``: the last elements come first. ``stores``: its derivative may read what the steps
    computed; else it has what they carry, and computes the rest again.
    """

    def __init__(
        self,
        body: Program,
        carries: int,
        elements: int,
        length: Dim,
        finals: Sequence[int],
        reverse: bool = False,
        stores: bool = True,
        base: Base | None = None,
        called: Mapping[Node, str] | None = None,
        written: Program | None = None,
    ) -> None:
        """``called`` are names that the user has for values of the body, as it was ``written`` before the passes."""
        self.body = body
        self.carries = carries
        self.elements = elements
        self.length = length
        self.finals = tuple(finals)
        self.reverse = reverse
        self.stores = stores
        self.base = base
        self.called = called or {}
        self.written = written or body
        self._pruned: dict[tuple[int, ...], tuple[Loop, tuple[int, ...]]] = {}
        self._lifted: dict[Any, tuple[Loop, list[bool]]] = {}

    def like(self, body: Program, **changes: Any) -> Loop:
        """A loop with another body, alike in all that is not named."""
        given = {
            name: getattr(self, name)
            for name in ("carries", "elements", "length", "finals", "reverse", "stores", "called")
        }
        return type(self)(body, **(given | changes))

    # derivatives: see ``differentiation.loops``

    def tangents(self, operands: Sequence[Node], flows: Flows, batch: int) -> list[Node | None]:
        """The tangent of each piece."""
        raise NotImplementedError

    def cotangents(
        self, operands: Sequence[Node], flows: Sequence[Node | None], wanted: Sequence[int], batch: int
    ) -> dict[int, Node | None]:
        """The cotangents of the operands ``wanted``, from those of the pieces."""
        raise NotImplementedError

    # parts

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.body.inputs

    @property
    def kept(self) -> tuple[Node, ...]:
        """What of each step is kept."""
        return self.body.outputs[self.carries :]

    @cached_property
    def pieces(self) -> list[Piece]:
        """The results, one after another in the row."""
        given = [(self.body.outputs[k].shape, self.body.outputs[k].dtype) for k in self.finals]
        given += [((self.length, *n.shape), n.dtype) for n in self.kept]
        made, start = [], 0
        for shape, dtype in given:
            made.append(Piece(start, tuple(shape), dtype))
            start = normal(start + made[-1].size)
        return made

    @cached_property
    def masked(self) -> dict[Piece, bool]:
        """Whether a piece holds structural zeros (see ``Node.masked``)."""
        nodes = [*(self.body.outputs[k] for k in self.finals), *self.kept]
        return {p: n.masked for p, n in zip(self.pieces, nodes, strict=True)}

    @property
    def size(self) -> Dim:
        """The elements of the row."""
        return normal(self.pieces[-1].start + self.pieces[-1].size) if self.pieces else 0

    def is_element(self, k: int) -> bool:
        """True where operand ``k`` is an array of which each step is given an element."""
        return self.carries <= k < self.carries + self.elements

    @cached_property
    def reads(self) -> list[int]:
        """For each output of the body the inputs that it depends on smoothly, as bits."""
        bits = {n: 1 << k for k, n in enumerate(self.inputs)}

        def joined(node: Node, _: list[int]) -> int:
            own = [bits.get(source, 0) for source, _ in node.primitive.dependencies(node)]
            return reduce(int.__or__, own, 0)

        walk(self.body.nodes, bits, joined)
        return [bits[o] if o.differentiable else 0 for o in self.body.outputs]

    @cached_property
    def symbols(self) -> frozenset[sympy.Symbol]:
        """The named dims that the loop and its steps hold."""
        nodes = (*self.inputs, *self.body.nodes)
        return frozenset().union(*map(_symbols_in, (self.length, *(p for n in nodes for p in (n.shape, n.params)))))

    def giving(self, pieces: tuple[int, ...]) -> tuple[Loop, tuple[int, ...]]:
        """The loop that computes no more than these pieces, and which of the operands it takes."""
        found = self._pruned.get(pieces)
        if found is None:
            found = self._pruned[pieces] = self._giving(pieces)
        return found

    def _giving(self, pieces: Sequence[int]) -> tuple[Loop, tuple[int, ...]]:
        count = len(self.finals)
        finals = [self.finals[k] for k in pieces if k < count]
        kept = [self.body.outputs[self.carries + k - count] for k in pieces if k >= count]
        carried = set(finals)
        while True:
            read = set(ancestors([*kept, *(self.body.outputs[k] for k in carried)]))
            more = {k for k in range(self.carries) if self.inputs[k] in read} - carried
            if not more:
                break
            carried |= more
        carries = sorted(carried)
        places = range(self.carries, self.carries + self.elements)
        elements = [k for k in places if self.inputs[k] in read] or [*places[: is_named(self.length)]]
        constants = [k for k in range(places.stop, len(self.inputs)) if self.inputs[k] in read]
        taken = (*carries, *elements, *constants)
        numbers = [*carries, *(self.carries + k - count for k in pieces if k >= count)]
        body, written = (_part_of(p, taken, numbers) for p in (self.body, self.written))
        own = {k: place for place, k in enumerate(carries)}
        finals = [own[k] for k in finals]
        loop = self.like(body, carries=len(carries), elements=len(elements), finals=finals)
        if {n for n in written.nodes if n.primitive is INPUT} <= set(written.inputs):  # which may read more
            loop.written = written
        return loop, taken

    # values

    def run(
        self,
        values: Sequence[Any],
        step: Callable[..., Sequence[Any]],
        size_of: Callable[[Dim], int] | None = None,
    ) -> list[Any]:
        """The pieces, where ``step`` computes the body; ``size_of`` says what named dims are."""
        carried = list(values[: self.carries])
        arrays = values[self.carries : self.carries + self.elements]
        constants = values[self.carries + self.elements :]
        length = len(arrays[0]) if is_named(self.length) else self.length
        kept = [] if length else [np.empty((0, *_sizes(n.shape, size_of)), n.dtype) for n in self.kept]
        for t in reversed(range(length)) if self.reverse else range(length):
            results = step(*carried, *[a[t] for a in arrays], *constants)
            carried = list(results[: self.carries])
            if not kept:
                kept = [np.empty((length, *np.shape(r)), n.dtype) for r, n in zip(results[self.carries :], self.kept)]
            for array, value in zip(kept, results[self.carries :]):
                array[t] = value
        return [np.array(carried[k]) if not length else carried[k] for k in self.finals] + kept

    def lifted(self, batched: Sequence[bool], over: Batching) -> tuple[Loop, list[bool]]:
        """The loop for all examples of ``over``, and which carries there is one for each example of."""
        key = (tuple(batched), over.size)
        if key not in self._lifted:
            self._lifted[key] = self._for_examples(list(batched), over.size)
        return self._lifted[key]

    def _for_examples(self, batched: list[bool], examples: Dim) -> tuple[Loop, list[bool]]:
        with self.body.graph:
            while True:
                over = Batching(examples)
                pairs = list(zip(self.inputs, self.body.names, batched, strict=True))
                every = [flow_input(name, (examples, *n.shape), n) if own else n for n, name, own in pairs]
                known = {n: over.example(e, name) if own else n for e, (n, name, own) in zip(every, pairs, strict=True)}
                walk(self.body.nodes, known, rebuilt)
                lifted = [over.lifted(known[o]) for o in self.body.outputs]
                more = [k for k in range(self.carries) if lifted[k] is not None and not batched[k]]
                if not more:
                    break
                for k in more:
                    batched[k] = True
            whole = [
                o
                if o is not None and (k >= self.carries or batched[k])
                else over.repeated(known[n])
                if k >= self.carries or batched[k]
                else known[n]
                for k, (o, n) in enumerate(zip(lifted, self.body.outputs, strict=True))
            ]
        body = Program(every, whole, self.body.names, self.body.graph)
        return self.like(body), batched[: self.carries]

    def __repr__(self) -> str:
        return f"loop×{self.length}"


def _part_of(body: Program, inputs: Sequence[int], outputs: Sequence[int]) -> Program:
    """Some of the outputs of a body, of some of its inputs."""
    taken, names = [body.inputs[k] for k in inputs], [body.names[k] for k in inputs]
    return Program(taken, [body.outputs[k] for k in outputs], names, body.graph)


def flow_input(label: str, shape: Shape, like: Node, masked: bool = False, weak: bool = False) -> Node:
    """A fresh input of a body, of the dtype of ``like``; structural zeros stay such in it."""
    return Node(INPUT, (), (label,), tuple(shape), like.dtype, weak, masked or like.masked)


def _sizes(shape: Shape, size_of: Callable[[Dim], int] | None) -> Shape:
    return shape if size_of is None else tuple(map(size_of, shape))


def _symbols_in(param: Any) -> frozenset[sympy.Symbol]:
    """The named dims that a parameter of an operation holds."""
    if isinstance(param, tuple):
        return frozenset().union(*map(_symbols_in, param))
    if isinstance(param, Loop):
        return param.symbols
    return frozenset(param.atoms(sympy.Symbol)) if isinstance(param, sympy.Basic) else frozenset()
