"""A program cut into lines as a person would write them: a named value each, made of the values named before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...primitives.elementwise import Elementwise
from ...primitives.index_arrays import counted_index
from ...primitives.primitive import INPUT
from ...program.dims import Shape
from ...program.interpret import rebuilt
from ...program.node import Node, ancestors

#: what a line may cost: one function, or two steps of arithmetic
_LINE = 2
#: and how many operations it may have, those that cost nothing among them
_LONGEST = 12
_ARITHMETIC = {"add", "subtract", "multiply", "divide", "square", "reciprocal", "power", "gate", "sqrt", "assemble"}
_FREE = {"cast", "mark", "stop_gradient", "slice", "reshape", "negative", "positive", "conjugate"}


@dataclass(frozen=True)
class Line:
    """A value of the function: ``node`` in its program, ``stand_in`` in further lines, ``root`` made of stand-ins."""

    node: Node
    stand_in: Node
    root: Node

    @property
    def sources(self) -> list[Node]:
        """The stand-ins and inputs that it is made of, in the order in which they were named."""
        return inputs_of(self.root)


def inputs_of(*nodes: Node) -> list[Node]:
    """The inputs that ``nodes`` are made of."""
    return [n for n in ancestors(nodes) if n.primitive is INPUT]


def spelled_shape(shape: Shape) -> str:
    """A shape as people write it."""
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def cut(outputs: Sequence[Node], named: Iterable[Node], alive: Iterable[Node]) -> list[Line]:
    """The lines of ``outputs``; nodes in ``named`` have one each. To be called in their graph.

    What is used more than once has a line of its own, so each node is in one line, but for moves and signs, which cost
    nothing and stand where they are used. ``alive`` carry derivatives: a line breaks at them sooner than elsewhere.
    """
    nodes = ancestors(outputs)
    alive = set(alive)
    breaks = _breaks(nodes, {n for n in (*named, *outputs) if not n.is_leaf}, alive)
    image: dict[Node, Node] = {}
    lines = []
    for node in nodes:
        local = rebuilt(node, [image[o] for o in node.operands])
        image[node] = local
        if node in breaks:
            stand_in = _stand_in(node)
            image[node] = stand_in
            lines.append(Line(node, stand_in, local))
    return lines


def _stand_in(node: Node) -> Node:
    return Node(INPUT, (), ("value",), node.shape, node.dtype, False, node.masked)


def _breaks(nodes: Sequence[Node], breaks: set[Node], alive: set[Node]) -> set[Node]:
    """The nodes that end a line."""
    uses = Counter(o for n in nodes for o in dict.fromkeys(n.operands))
    kept = set(breaks)
    cost: dict[Node, int] = {}
    length: dict[Node, int] = {}
    for node in nodes:
        if node.is_leaf:
            cost[node] = length[node] = 0
            continue
        counted = counted_index(node)
        fused = _fused(node, uses, kept) if counted is None else (counted[:1], set())
        operands, inside = (node.operands, set()) if fused is None else fused
        breaks -= inside  # a composition with a rule of its own stays together
        parts = [o for o in dict.fromkeys(operands) if o not in breaks]
        total = reading_cost(node) + sum(cost[o] for o in parts)
        count = 1 + sum(length[o] for o in parts)
        for o in sorted(parts, key=lambda o: (o in alive, cost[o], length[o]), reverse=True):
            if (total <= _LINE or not cost[o]) and count <= _LONGEST:
                break
            if not o.is_leaf:
                *above, value = _beneath(o, breaks)
                breaks.add(value)
                total, count = total - cost[o], count - length[o] + len(above)
                for k, n in enumerate(reversed(above)):
                    cost[n], length[n] = 0, k + 1
        cost[node], length[node] = total, count
        if uses[node] > 1 and total:
            breaks.add(node)
    return breaks


def _beneath(node: Node, breaks: set[Node]) -> list[Node]:
    """``node``, then what it is made of beneath signs and moves, which are better left to where they are used."""
    chain = [node]
    while reading_cost(chain[-1]) == 0:
        below = [o for o in dict.fromkeys(chain[-1].operands) if not o.is_leaf]
        if len(below) != 1 or below[0] in breaks:
            break
        chain.append(below[0])
    return chain


def _fused(node: Node, uses: Mapping[Node, int], kept: set[Node]) -> tuple[Sequence[Node], set[Node]] | None:
    """What ``node`` is a function of by one rule, and what lies between; None where it has no such rule."""
    if not isinstance(node.primitive, Elementwise) or node.primitive.stable is None or node.dtype.kind != "f":
        return None
    found = node.primitive.stable(node)
    if found is None:
        return None
    sources = dict.fromkeys(source for source, _ in found)
    inside: set[Node] = set()
    pending = [o for o in node.operands if o not in sources and not o.is_leaf]
    while pending:
        n = pending.pop()
        if uses[n] > 1 or n in kept:
            return None
        inside.add(n)
        pending += [o for o in n.operands if o not in sources and not o.is_leaf]
    return list(sources), inside


def reading_cost(node: Node) -> int:
    """0 for what is read in passing, indices and conditions too, 1 for arithmetic, 2 for a function, worth a line."""
    name = node.primitive.name
    if name in _FREE or not node.differentiable:
        return 0
    if name == "einsum":
        labels, out, _, _ = node.params
        wide = sum(map(bool, labels))
        if wide > 1:
            return 2
        return 1 if any(i not in out for ls in labels for i in ls) else 0
    if isinstance(node.primitive, Elementwise) and name in _ARITHMETIC:
        scaled = name in ("multiply", "divide") and node.operands[name == "divide"].is_literal
        return 0 if scaled else 1
    return 2
