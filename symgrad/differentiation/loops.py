"""Derivatives of loops, which are loops: tangents go along with the steps, cotangents against them (``loop_back``).

A loop that computes more than another, on the same operands, has it for its base: one of the two is computed in the end
(``passes.loops``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple, TypeVar

from ..primitives.casting import CAST, flow_as
from ..primitives.contraction import contract, transpose
from ..primitives.external import zeros_of
from ..primitives.functions import add
from ..primitives.identity import MARK
from ..primitives.loop import Base, Flows, Loop, flow_input
from ..primitives.primitive import literal
from ..primitives.scan import results_of
from ..primitives.selection import Structural
from ..program.dims import Shape
from ..program.node import Node, active_graph
from ..program.program import Program
from ..tracing.trace import current
from .forward import forward_sweep
from .loop_back import Back, Backward, Factor
from .reverse import reverse_sweep


class Forward(NamedTuple):
    """The loop of tangents: the operands whose tangents it takes, and of each piece of the base that of its tangent."""

    loop: Loop
    taken: list[int]
    tangents: list[int | None]


class DifferentiableLoop(Loop):
    """A loop with its derivatives, each derived once."""

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        self._forward: dict[Any, Forward] = {}
        self._backward: dict[Any, Backward] = {}

    # forward

    def tangents(self, operands: Sequence[Node], flows: Flows, batch: int) -> list[Node | None]:
        lead = next(iter(flows.values())).shape[:batch]
        active, bits = set(flows), self.reads
        while True:
            mask = sum(1 << k for k in active)
            more = {k for k in range(self.carries) if bits[k] & mask} - active
            if not more:
                break
            active |= more
        masked = frozenset(k for k, flow in flows.items() if flow.masked)
        key = (frozenset(active), lead, masked)
        made = self._forward.get(key)
        if made is None:
            made = self._forward[key] = self._tangent_loop(sorted(active), lead, set(masked))
        taken: list[Node] = []
        for k in made.taken:
            flow = flows.get(k)
            if flow is None:
                flow = zeros_of((*lead, *operands[k].shape), operands[k].dtype)
            elif self.is_element(k):
                flow = transpose(flow, (batch, *range(batch), *range(batch + 1, flow.ndim)))
            taken.append(flow_as(flow, operands[k].dtype))
        given = interleaved(self, operands, made.taken, taken)
        results = results_of(made.loop, given)
        found = [None if k is None else results[k] for k in made.tangents]
        count = len(self.finals)
        return [t if t is None or k < count else _behind(t, batch) for k, t in enumerate(found)]

    def _tangent_loop(self, active: Sequence[int], lead: Shape, masked: set[int]) -> Forward:
        batch = len(lead)
        with self.body.graph:
            while True:
                flows = {
                    k: flow_input(
                        f"d_{self.body.names[k]}", (*lead, *self.inputs[k].shape), self.inputs[k], k in masked
                    )
                    for k in active
                }
                made = forward_sweep(self.body.outputs, {self.inputs[k]: flow for k, flow in flows.items()}, batch)
                carried = [k for k in active if k < self.carries]
                nexts = [_or_zeros(made[k], lead, self.body.outputs[k]) for k in carried]
                more = {k for k, n in zip(carried, nexts, strict=True) if n.masked} - masked
                if not more:
                    break
                masked |= more
        kept = [(k, t) for k, t in enumerate(made[self.carries :]) if t is not None]
        inputs = interleaved(self, self.inputs, active, [flows[k] for k in active])
        names = interleaved(self, self.body.names, active, [f"d_{self.body.names[k]}" for k in active])
        outputs = [*self.body.outputs[: self.carries], *nexts, *self.kept, *(t for _, t in kept)]
        place = {k: self.carries + i for i, k in enumerate(carried)}
        finals = [*self.finals, *(place[k] for k in self.finals if k in place)]
        count = len(self.finals)
        after = {k: count + i for i, k in enumerate([k for k in self.finals if k in place])}
        first = len(finals)
        pieces = (*range(count), *range(first, first + len(self.kept)))
        loop = self.like(
            Program(inputs, outputs, names, self.body.graph),
            carries=self.carries + len(carried),
            elements=self.elements + sum(map(self.is_element, active)),
            finals=finals,
            base=Base(self, tuple([inputs.index(n) for n in self.inputs]), pieces),
        )
        tangents: list[int | None] = [after.get(k) for k in self.finals]
        of_kept = {k: first + len(self.kept) + i for i, (k, _) in enumerate(kept)}
        tangents += [of_kept.get(k) for k in range(len(self.kept))]
        return Forward(loop, list(active), tangents)

    # reverse

    def cotangents(
        self, operands: Sequence[Node], flows: Sequence[Node | None], wanted: Sequence[int], batch: int
    ) -> dict[int, Node | None]:
        none: dict[int, Node | None] = dict.fromkeys(wanted)
        given = {k for k, flow in enumerate(flows) if flow is not None}
        if not given:
            return none
        lead = next(flow for flow in flows if flow is not None).shape[:batch]
        masked = frozenset(k for k, flow in enumerate(flows) if flow is not None and flow.masked)
        # what the cotangents of these are multiplied by is nothing that could be infinite
        last = frozenset(k for k in wanted if _is_argument(operands[k]))
        key = (frozenset(given), tuple(wanted), lead, masked, last)
        made = self._backward.get(key)
        if made is None:
            made = self._backward[key] = self._cotangent_loop(given, list(wanted), lead, masked, last)
        if made.loop is None:
            return none
        needed = [*made.given, *(f for own in made.products.values() for p in own for f in p.factors)]
        stored = results_of(made.stored, operands) if any(f.kind == "stored" for f in needed) else []
        count = len(self.finals)
        results: list[Node] = []

        def found(factor: Factor) -> Node:
            kind, k, _ = factor
            if kind == "final":
                return flow_as(flows[k], self.pieces[k].dtype)
            if kind == "kept":
                flow = flow_as(flows[count + k], self.pieces[count + k].dtype)
                return transpose(flow, (batch, *range(batch), *range(batch + 1, flow.ndim)))
            if kind == "zero":
                return zeros_of((*lead, *operands[k].shape), operands[k].dtype)
            if kind == "literal":
                return literal(k)
            return {"stored": stored, "operand": operands, "piece": results}[kind][k]

        results += results_of(made.loop, [found(f) for f in made.given])
        flowed = dict(none)
        for k, number in made.pieces.items():
            flowed[k] = _behind(results[number], batch) if self.is_element(k) else results[number]
        for k, products in made.products.items():
            for product in products:
                part = contract([found(f) for f in product.factors], product.labels, product.out, product.sizes)
                own = flowed[k]
                flowed[k] = (
                    flow_as(part, operands[k].dtype) if own is None else add(own, flow_as(part, operands[k].dtype))
                )
        return flowed

    def _cotangent_loop(
        self, given: set[int], wanted: list[int], lead: Shape, masked: Iterable[int], last: frozenset[int]
    ) -> Backward:
        count, bits = len(self.finals), self.reads
        kept = sorted(k - count for k in given if k >= count)
        carried = {self.finals[k] for k in given if k < count}
        hides = {self.finals[k] for k in masked if k < count}
        hidden = {k - count for k in masked if k >= count}
        while True:
            mask = reduce(int.__or__, [bits[k] for k in carried] + [bits[self.carries + k] for k in kept], 0)
            more = {k for k in range(self.carries) if mask >> k & 1 and self.inputs[k].differentiable} - carried
            if not more:
                break
            carried |= more
        flowing = sorted(carried)
        wrt = [k for k in wanted if k >= self.carries and mask >> k & 1]
        with self.body.graph:
            while True:
                by_carry = {
                    k: flow_input(f"λ_{self.body.names[k]}", (*lead, *o.shape), o, k in hides)
                    for k, o in ((k, self.body.outputs[k]) for k in flowing)
                }
                by_kept = {
                    k: flow_input(f"ct_{k}", (*lead, *o.shape), o, k in hidden)
                    for k, o in ((k, self.kept[k]) for k in kept)
                }
                outputs = [self.body.outputs[k] for k in flowing] + [self.kept[k] for k in kept]
                sources = [self.inputs[k] for k in (*flowing, *wrt)]
                found = reverse_sweep(outputs, [*by_carry.values(), *by_kept.values()], sources, len(lead))
                nexts = [_or_zeros(f, lead, self.inputs[k]) for k, f in zip(flowing, found)]
                more = {k for k, n in zip(flowing, nexts, strict=True) if n.masked} - hides
                if not more:
                    break
                hides |= more
            back = Back(self, by_carry, by_kept, given, last)
            return back.written(
                dict(zip(flowing, nexts, strict=True)), dict(zip(wrt, found[len(flowing) :], strict=True)), wanted
            )


def _is_argument(node: Node) -> bool:
    """True for an input of what is traced and for a part of it; an input of a body is computed somewhere outside."""
    trace = current()
    if trace is None or trace.graph is not active_graph():
        return False
    pending, seen = [node], set()
    while pending:
        n = pending.pop()
        if n in seen or n.is_leaf:
            continue
        seen.add(n)
        if not (n.primitive in (MARK, CAST) or isinstance(n.primitive, Structural)):
            return False
        pending += n.operands
    return True


def _or_zeros(flow: Node | None, lead: Shape, like: Node) -> Node:
    shape = (*lead, *like.shape)
    return zeros_of(shape, like.dtype) if flow is None else flow_as(flow, like.dtype)


def _behind(stacked: Node, batch: int) -> Node:
    """Leading axes before the steps, which come first in what a loop keeps."""
    return transpose(stacked, (*range(1, batch + 1), 0, *range(batch + 1, stacked.ndim)))


T = TypeVar("T")


def interleaved(loop: Loop, own: Sequence[T], numbers: Sequence[int], flows: Sequence[T]) -> list[T]:
    """Operands of a loop and the flows of some, as those of a loop that takes both."""
    made: list[T] = []
    first = loop.carries + loop.elements
    for start, stop in ((0, loop.carries), (loop.carries, first), (first, len(own))):
        made += own[start:stop]
        made += [flow for k, flow in zip(numbers, flows, strict=True) if start <= k < stop]
    return made
