"""The loop back: what the steps of a loop are differentiated by, from the last to the first.

It reads what the step forward computed. What is not an operation or two away from what a step is given, the loop
forward keeps. A contribution to the cotangent of a constant that is a product is taken out of the loop: all steps are
one product then.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

from ..primitives.casting import CAST
from ..primitives.contraction import EINSUM, GATE, Labels, float_operands
from ..primitives.elementwise import Elementwise
from ..primitives.functions import add, terms_of
from ..primitives.kinks import kinks_of
from ..primitives.loop import Base, Loop, flow_input
from ..primitives.selection import Structural
from ..program.dims import Shape, is_concrete, is_named
from ..program.interpret import rebuilt, walk
from ..program.node import Node, ancestors
from ..program.program import Program

#: what computing a value again may cost, in additions for each of its elements
_CHEAP = 4.0


class Factor(NamedTuple):
    """Where the loop back, and what follows it, finds a value.

    ``kind`` is ``final`` or ``kept`` for the cotangent of a result of the base, ``zero`` for zeros as an operand of the
    base, ``stored`` for a result of the loop forward, ``operand`` for one of the base, ``piece`` for a result of the
    loop back, ``literal`` for a number. ``leads`` says whether steps lead it.
    """

    kind: str
    which: Any
    leads: bool = True


class Product(NamedTuple):
    """A contribution to the cotangent of a constant: a contraction over all steps."""

    factors: list[Factor]
    labels: tuple[Labels, ...]
    out: Labels
    sizes: Shape


class Backward(NamedTuple):
    """The loop back, None where nothing flows, with the loop forward that keeps what it reads.

    ``given`` says what its operands are, ``pieces`` which of its results are cotangents of operands of the base.
    """

    loop: Loop | None
    stored: Loop
    given: list[Factor]
    pieces: dict[int, int]
    products: dict[int, list[Product]]


class Back:
    """Writes the loop back from what a sweep through the body gave."""

    def __init__(
        self,
        loop: Loop,
        by_carry: Mapping[int, Node],
        by_kept: Mapping[int, Node],
        given: Collection[int],
        last: Collection[int],
    ) -> None:
        """``by_carry`` and ``by_kept`` are cotangents of the outputs of the body, ``given`` those of results.

        ``last`` are inputs whose cotangents no derivative is multiplied by.
        """
        self._loop = loop
        self._by_carry = by_carry
        self._by_kept = by_kept
        self._given = given
        self._last = last
        first = loop.carries + loop.elements
        #: where a value of each step is found
        self._places: dict[Node, Factor] = {n: Factor("kept", k) for k, n in by_kept.items()}
        self._places |= {n: Factor("operand", k) for k, n in enumerate(loop.inputs) if loop.is_element(k)}
        self._constants = {n: Factor("operand", k, False) for k, n in enumerate(loop.inputs) if k >= first}

    def written(
        self, nexts: Mapping[int, Node], by_source: Mapping[int, Node | None], wanted: Sequence[int]
    ) -> Backward:
        """``nexts`` are the cotangents of what is carried, before the step; ``by_source`` those of other inputs."""
        loop = self._loop
        flows = {k: f for k, f in by_source.items() if f is not None}
        elements = {k: f for k, f in flows.items() if loop.is_element(k)}
        terms = {k: terms_of(f) for k, f in flows.items() if not loop.is_element(k)}
        apart = {k: [t for t in own if self._leaves(t) and self._may_sum(t, k)] for k, own in terms.items()}
        sums = {k: [t for t in own if t not in apart[k]] for k, own in terms.items()}
        total = {k: reduce(add, own) if apart[k] else flows[k] for k, own in sums.items() if own}
        apart = {k: own for k, own in apart.items() if own}
        begun = [k for k in nexts if k in wanted]
        if not (begun or elements or total or apart):
            return Backward(None, loop, [], {}, {})
        factors = [o for own in apart.values() for t in own for o in float_operands(t) if not o.is_literal]
        stored, image = self._stored([*nexts.values(), *elements.values(), *total.values(), *factors])
        added = {k: flow_input(f"sum_{loop.body.names[k]}", s.shape, s) for k, s in total.items()}
        carried = {**self._by_carry, **{k: added[k] for k in total}}
        after = [image[n] for n in nexts.values()] + [add(added[k], image[s]) for k, s in total.items()]
        finals = [place for place, k in enumerate(carried) if k in begun or k in total]
        pieces = {k: number for number, k in enumerate(k for k in carried if k in begun or k in total)}
        kept: list[Node] = []
        for k, flow in elements.items():
            pieces[k] = len(finals) + len(kept)
            kept.append(image[flow])
        products = {k: [self._product(t, image, kept, len(finals)) for t in own] for k, own in apart.items()}
        read = set(ancestors([*after, *kept]))
        taken = [n for n in self._places if n in read] or [*self._places][
            : is_named(loop.length)
        ]  # that has the length
        fixed = [n for n in self._constants if n in read]
        given = [self._begins(k) for k in carried] + [self._places[n] for n in taken]
        given += [self._constants[n] for n in fixed]
        inputs = [*carried.values(), *taken, *fixed]
        back = loop.like(
            Program(inputs, [*after, *kept], [n.params[0] for n in inputs], loop.body.graph),
            carries=len(carried),
            elements=len(taken),
            finals=finals,
            reverse=not loop.reverse,
        )
        return Backward(back, self._keeping(stored), given, pieces, products)

    def _begins(self, k: int) -> Factor:
        """What the cotangent of carry or constant ``k`` begins with."""
        finals = self._loop.finals
        if k in self._by_carry and k in finals and finals.index(k) in self._given:
            return Factor("final", finals.index(k))
        return Factor("zero", k)

    def _keeping(self, stored: Sequence[Node]) -> Loop:
        """The loop forward that keeps ``stored`` of each step."""
        loop = self._loop
        if not stored:
            return loop
        body = Program(loop.inputs, [*loop.body.outputs, *stored], loop.body.names, loop.body.graph)
        return loop.like(body, base=Base(loop, tuple(range(len(loop.inputs))), tuple(range(len(loop.pieces)))))

    # what is stored

    def _stored(self, whole: Sequence[Node]) -> tuple[list[Node], dict[Node, Node]]:
        """What the loop forward keeps so that ``whole`` can be computed, and the image of each node on that."""
        loop = self._loop
        nodes = ancestors(whole)
        flows = {*self._by_carry.values(), *self._by_kept.values()}
        along: dict[Node, bool] = dict.fromkeys(flows, True)
        walk(nodes, along, lambda _, below: any(below))
        needed = {o for n in nodes if along[n] for o in n.operands if not along[o]}
        needed |= {n for n in whole if not along[n]}
        again = _made_of_sizes([n for n in nodes if not along[n]], needed)
        needed = {o for n in again for o in n.operands} | needed - again
        carries = set(loop.inputs[: loop.carries])
        steps: dict[Node, bool] = {n: k < loop.carries + loop.elements for k, n in enumerate(loop.inputs)}
        walk([n for n in nodes if not along[n]], steps, lambda _, below: any(below))
        near: dict[Node, bool] = {n: n not in carries for n in loop.inputs}
        kept: list[Node] = []
        if not loop.stores:
            kept = [n for n in ancestors(needed) if n in carries]
            near |= dict.fromkeys((n for n in nodes if not along[n]), True)
        near |= dict.fromkeys(again, True)
        for node in nodes:
            if along[node]:
                continue
            if node not in near:
                near[node] = not steps[node] or (_is_cheap(node) and all(near[o] for o in node.operands))
            if node in needed and not near[node]:
                kept.append(node)
                near[node] = True
        image = {n: n for n in (*loop.inputs, *flows)}
        for k, node in enumerate(kept):
            name = loop.body.names[loop.inputs.index(node)] if node in carries else f"kept_{k}"
            image[node] = flow_input(name, node.shape, node)
            self._places[image[node]] = Factor("stored", len(loop.pieces) + k)
        return kept, walk(nodes, image, rebuilt)

    # what leaves the loop

    def _leaves(self, term: Node) -> bool:
        """Whether a contribution to a sum is a product that takes longer to compute than its factors to keep."""
        if (
            not self._loop.stores
            or term.primitive is not EINSUM
            or not is_concrete((*term.params[2], self._loop.length))
        ):
            return False
        labels, out, sizes, _ = term.params
        factors = [o for o in float_operands(term) if not o.is_literal]
        if len(factors) < 2 or len(set(out)) < len(out) or any(o.primitive.name == "constant" for o in factors):
            return False
        if any(len(set(own)) < len(own) for own in labels) or not {i for own in labels for i in own}.issuperset(out):
            return False
        work = math.prod(sizes[i] for i in {i for own in labels for i in own})
        return work > sum(math.prod(o.shape) for o in factors)

    def _may_sum(self, term: Node, k: int) -> bool:
        """Whether the sum over the steps may be a product: there structural zeros are lost."""
        return not term.masked or k in self._last

    def _product(self, term: Node, image: Mapping[Node, Node], kept: list[Node], first: int) -> Product:
        labels, out, sizes, _ = term.params
        step = len(sizes)
        factors = []
        for o in float_operands(term):
            if o.is_literal:
                factors.append(Factor("literal", o.params[0], False))
                continue
            value = image[o]
            place = self._places.get(value) or self._constants.get(value)
            if place is None:
                if value not in kept:
                    kept.append(value)
                place = Factor("piece", first + kept.index(value))
            factors.append(place)
        own = tuple([(step, *ls) if f.leads else ls for ls, f in zip(labels, factors, strict=True)])
        return Product(factors, own, out, (*sizes, self._loop.length))


def _made_of_sizes(nodes: Sequence[Node], needed: set[Node]) -> set[Node]:
    """What is computed again from sizes, so that derivatives of the loop back see how slopes go with these.

    Nothing where the slopes of sizes alone depend on sizes.
    """
    inside = set(nodes)
    kinks = [kink for n in nodes for kink in kinks_of(n) if kink.size in inside]
    later = dict.fromkeys((kink.size for kink in kinks), True)
    walk(nodes, later, lambda _, below: any(below))
    after = {n for n, is_later in later.items() if is_later}.difference(kink.size for kink in kinks)
    slopes = {kink.factor for kink in kinks}
    if needed & after <= slopes:
        return set()
    masks = {s.operands[0] for s in slopes if s.primitive is GATE}
    return (after | slopes | masks).intersection(ancestors(needed))


def _is_cheap(node: Node) -> bool:
    """True for what is computed again rather than kept."""
    if isinstance(node.primitive, Elementwise):
        return node.primitive.costs[0] <= _CHEAP and not node.weak
    return isinstance(node.primitive, Structural) or node.primitive is CAST
