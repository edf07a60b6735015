"""Taylor mode: the derivatives of nodes along a curve, up to an order, in one pass.

Along a curve ``x(t)`` each node has a series ``y, y', y'', …``. Products go by Leibniz' rule. Any other operation goes
by its tangent ``y' = T``: its local linear map applied to the velocities of what it is made of, an expression that is
needed to one order less. So the recurrences of ``exp`` (``T = y·u'``), of ``sin`` and ``cos`` or of ``tanh`` follow
from partial derivatives, and no rule is stated twice. The work is quadratic in the order where partials lead back to
the operation, cubic where they do not (Griewank and Walther, "Evaluating Derivatives", 2008, chapter 13).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from math import comb, factorial, prod
from typing import Any

from ..primitives.batching import EXAMPLE
from ..primitives.contraction import EINSUM, broadcast_product, contract, expand, scale
from ..primitives.functions import add, divide, negative, subtract
from ..primitives.primitive import literal
from ..program.collector import collector_paused
from ..program.interpret import rebuilt
from ..program.node import Node, ancestors
from .across_kinks import across_kinks, of_squares
from .cotangents import accumulate
from .edges import active_edges, edges_of, moving
from .tangents import tangent_of

#: a node and the order of a derivative of it
Place = tuple[Node, int]
#: what makes a derivative: it asks for others, is given them, and returns the node, or None for zero
Making = Generator[Place, "Node | None", "Node | None"]


@collector_paused()
def derivatives_along(
    outputs: Sequence[Node], curve: Mapping[Node, Sequence[Node | None]], order: int
) -> list[list[Node | None]]:
    """The first to the ``order``-th derivative of each output, where inputs have those of ``curve``; None for zero.

    The result is built in the active graph; its size is linear in the number of nodes.
    """
    outputs, _ = across_kinks(outputs, curve, active_edges(outputs, curve))
    series = _Series(outputs, curve)
    found = [[series.derivative(o, k) for k in range(1, order + 1)] for o in outputs]
    return [[*own[:1], *of_squares(own[1:], curve)] for own in found]


class _Series:
    """The derivatives of nodes along a curve, each made where it is asked for."""

    def __init__(self, outputs: Sequence[Node], curve: Mapping[Node, Sequence[Node | None]]) -> None:
        self._curve = curve
        self._found: dict[Place, Node | None] = {}
        every = ancestors(outputs)
        self._seen = set(every)
        self._moving = moving(every, curve)
        #: node -> a stand-in for its velocity, and back
        self._velocity: dict[Node, Node] = {}
        self._position: dict[Node, Node] = {}
        #: nodes that are made of velocities
        self._along: set[Node] = set()
        self._tangents: dict[Node, Node | None] = {}

    def derivative(self, node: Node, order: int) -> Node | None:
        """The derivative of ``node`` of this order; what it takes is made first, without recursion."""
        pending = [((node, order), self._making(node, order))]
        given: Node | None = None
        while pending:
            place, making = pending[-1]
            try:
                wanted = making.send(given)
            except StopIteration as made:
                self._found[place] = given = made.value
                pending.pop()
                continue
            given = self._found.get(wanted)
            if given is None and wanted not in self._found:
                pending.append((wanted, self._making(*wanted)))
        return self._found[node, order]

    def _making(self, node: Node, order: int) -> Making:
        if node in self._curve and order:
            own = self._curve[node]
            return own[order - 1] if order <= len(own) else None
        if node in self._position:
            return (yield self._position[node], order + 1)
        if not order:
            return (yield from self._value(node)) if node in self._along else node
        if node not in self._moving:
            return None
        rule = _RULES.get(node.primitive.name)
        if rule is not None and _is_of_operands(node) and not any(o.masked for o in node.operands):
            return (yield from rule(self, node, order))
        tangent = self._tangent(node)
        return None if tangent is None else (yield tangent, order - 1)

    def _value(self, node: Node) -> Making:
        """A node that is made of velocities, of their values."""
        operands = []
        for o in node.operands:
            operands.append((yield o, 0))
        if node.primitive is EINSUM:
            labels, out, sizes, _ = node.params
            return None if None in operands else contract(operands, labels, out, sizes)
        if node.primitive is add and None in operands:
            return next((o for o in operands if o is not None), None)
        if all(o is None for o in operands):
            return None
        zeros = [expand(literal(0.0), o.shape) for o in node.operands]
        return rebuilt(node, [zero if o is None else o for o, zero in zip(operands, zeros, strict=True)])

    def _tangent(self, node: Node) -> Node | None:
        """The velocity of ``node`` from those of what it is made of."""
        if node not in self._tangents:
            edges = [edge for edge in edges_of(node) if edge[0] in self._moving]
            made = tangent_of(node, edges, {source: self._velocity_of(source) for source, _ in edges})
            self._tangents[node] = made
            if made is not None:
                self._meet(made)
        return self._tangents[node]

    def _velocity_of(self, node: Node) -> Node:
        if node not in self._velocity:
            made = Node(EXAMPLE, (), ("velocity", node), node.shape, node.dtype, False, node.masked)
            self._velocity[node], self._position[made] = made, node
            self._seen.add(made)
            self._moving.add(made)
        return self._velocity[node]

    def _meet(self, tangent: Node) -> None:
        """Note which of the nodes that a tangent brings move, and which are made of velocities."""
        for node in ancestors([tangent], self._seen):
            self._seen.add(node)
            if any(o in self._along or o in self._position for o in node.operands):
                self._along.add(node)
            if any(source in self._moving for source, _ in edges_of(node)):
                self._moving.add(node)

    # rules of operations that go by themselves

    def _product_of(self, factors: Sequence[Node], order: int, build: Callable[[list[Any]], Node]) -> Making:
        """Leibniz' rule."""
        moving = [k for k, f in enumerate(factors) if f in self._moving]
        terms: list[Node] = []
        for orders in _splits(order, len(moving)):
            own: list[Node | None] = list(factors)
            for k, part in zip(moving, orders, strict=True):
                own[k] = yield factors[k], part
            if None not in own:
                count = factorial(order) // prod(map(factorial, orders))
                terms.append(scale(build(own), literal(count)))
        return accumulate(terms) if terms else None

    def einsum(self, node: Node, order: int) -> Making:
        labels, out, sizes, _ = node.params
        return (yield from self._product_of(node.operands, order, lambda own: contract(own, labels, out, sizes)))

    def multiply(self, node: Node, order: int) -> Making:
        def build(own: list[Node]) -> Node:
            return broadcast_product(own[0], own[1], 0, node.shape, node.shape)

        return (yield from self._product_of(node.operands, order, build))

    def square(self, node: Node, order: int) -> Making:
        """Twice each product of two derivatives, and once that of one with itself."""
        (x,) = node.operands
        terms: list[Node] = []
        for k in range(order // 2 + 1):
            a, b = (yield x, k), (yield x, order - k)
            if a is not None and b is not None:
                product = broadcast_product(a, b, 0, node.shape, node.shape)
                terms.append(scale(product, literal(comb(order, k) * (1 if 2 * k == order else 2))))
        return accumulate(terms) if terms else None

    def divide(self, node: Node, order: int) -> Making:
        """``q·b = a`` by Leibniz' rule, solved for the last derivative of ``q``."""
        a, b = node.operands
        total = yield a, order
        for k in range(1, order + 1):
            other, own = (yield b, k), (yield node, order - k)
            if other is not None and own is not None:
                part = scale(broadcast_product(own, other, 0, node.shape, node.shape), literal(comb(order, k)))
                total = negative(part) if total is None else subtract(total, part)
        if total is None:
            return None
        return divide(total, (yield b, 0) or b)

    def sum(self, node: Node, order: int) -> Making:
        operands = []
        for o in node.operands:
            found = yield o, order
            operands.append(found and expand(found, node.shape))
        own = [o for o in operands if o is not None]
        if len(own) == len(operands):
            return rebuilt(node, own)
        if not own:
            return None
        return negative(own[0]) if node.primitive is subtract and operands[0] is None else own[0]


def _is_of_operands(node: Node) -> bool:
    """Whether the edges to ``node`` are those from its operands, one each."""
    return [source for source, _ in edges_of(node)] == list(node.operands)


def _splits(order: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Every way to write ``order`` as a sum of so many numbers."""
    for bars in combinations(range(order + parts - 1), parts - 1):
        edges = (-1, *bars, order + parts - 1)
        yield tuple([b - a - 1 for a, b in pairwise(edges)])


_RULES: dict[str, Callable[[_Series, Node, int], Making]] = {
    "einsum": _Series.einsum,
    "multiply": _Series.multiply,
    "square": _Series.square,
    "divide": _Series.divide,
    "add": _Series.sum,
    "subtract": _Series.sum,
    "negative": _Series.sum,
}
