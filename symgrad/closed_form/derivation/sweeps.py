"""The chain rule through the lines of a function: cotangents from the last to the first, tangents the other way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ...differentiation.cotangents import accumulate, cotangents_of
from ...differentiation.edges import active_edges
from ...differentiation.forward import forward_sweep
from ...primitives.contraction import expand
from ...primitives.elementwise import Elementwise
from ...primitives.functions import terms_of
from ...primitives.primitive import input_node, literal
from ...primitives.selection import ASSEMBLE, SCATTER, assemble, full
from ...program.interpret import rebuilt, walk
from ...program.node import Graph, Node, ancestors
from . import reasons
from .lines import Line, spelled_shape
from .naming import Names
from .step import Step

#: contributions that are added in one line
_MAX_TOGETHER = 3


class Sweep:
    """Steps over one graph, and the names of all values in them."""

    def __init__(self, graph: Graph, names: Names) -> None:
        self.graph = graph
        self.names = names

    def step(self, kind: str, target: Node, root: Node | None, why: str, **more) -> Step:
        """A step over these names."""
        return Step(kind, target, root, self.names, self.graph, why, **more)

    def marked(self, node: Node, mark: str) -> Node:
        """The stand-in of the cotangent (``bar``) or the tangent (``dot``) of ``node``."""
        made = input_node(mark, node.shape, node.dtype)
        self.names[made] = self.names[node].marked(mark)
        return made

    def values(self, lines: Iterable[Line]) -> list[Step]:
        """The function's own lines."""
        shapes = [line.root.shape for line in lines]
        said = [f"shape {spelled_shape(shape)}" if shape else "" for shape in shapes]
        return [self.step("value", line.stand_in, line.root, why) for line, why in zip(lines, said, strict=True)]

    def reverse(
        self, lines: Sequence[Line], seeds: Sequence[tuple[Node, Node | None, str]], wrt: Sequence[Node]
    ) -> tuple[list[Step], dict[Node, Node]]:
        """The cotangents, and the stand-in of each; ``seeds`` are (output, its cotangent or None for any, why)."""
        bars: dict[Node, Node] = {}
        arrived: dict[Node, list[tuple[Node, Node, str]]] = {}
        steps: list[Step] = []
        for target, root, why in seeds:
            if target.primitive.name == "constant":  # of which nothing is a derivative
                continue
            again = target in bars
            if not again:
                bars[target] = self.marked(target, "bar")
            steps.append(self.step("cotangent", bars[target], root, why, adds=again))
        started = set(bars)
        active = set(wrt)
        for line in lines:
            if not active.isdisjoint(line.sources):
                active.add(line.stand_in)
        for line in reversed(lines):
            target = line.stand_in
            if target not in active or not (target in arrived or target in started):
                continue
            bar = self._accumulated(target, bars, arrived.pop(target, []), target in started, steps)
            sources = [s for s in line.sources if s in active]
            found = cotangents_of(active_edges([line.root], sources), [line.root], [bar])
            for source in sources:
                part = found.get(source)
                if part is not None:
                    part = _with_value(part, line.root, target)
                    arrived.setdefault(source, []).append(
                        (target, part, reasons.rule(line.root, source, True, self.names[source]))
                    )
        for target in wrt:
            if target in arrived or target in started:
                self._accumulated(target, bars, arrived.pop(target, []), target in started, steps)
            else:
                bars[target] = self.marked(target, "bar")
                zero = expand(literal(0.0), target.shape)
                steps.append(self.step("cotangent", bars[target], zero, "the output does not depend on it"))
        return steps, bars

    def _accumulated(
        self,
        target: Node,
        bars: dict[Node, Node],
        parts: Sequence[tuple[Node, Node, str]],
        started: bool,
        steps: list[Step],
    ) -> Node:
        """The cotangent of ``target``: the sum of what its uses contribute."""
        if target not in bars:
            bars[target] = self.marked(target, "bar")
        bar = bars[target]
        whole: list[tuple[Node, Node, str]] = []
        placed: list[tuple[Node, str]] = []
        for user, part, why in parts:
            for term in _summands(part):
                pieces = list(_pieces(term))
                placed += [(piece, why) for piece in pieces]
                if not pieces:
                    whole.append((user, term, why))
        if not whole and not started:
            zero = expand(literal(0.0), target.shape)
            steps.append(self.step("cotangent", bar, zero, "to which its elements add what they contribute"))
        rest = iter(whole)
        adds = started
        while together := list(islice(rest, _MAX_TOGETHER)):
            why = reasons.together([self.names[u] for u, _, _ in whole], [w for _, _, w in together])
            root = accumulate([node for _, node, _ in together])
            steps.append(self.step("cotangent", bar, root, why, adds=adds))
            adds = True
        steps += [self.step("cotangent", bar, piece, why, adds=True) for piece, why in placed]
        return bar

    def forward(
        self, steps: Iterable[Step], seeds: Sequence[tuple[Node, Node | None, str]]
    ) -> tuple[list[Step], dict[Node, Node]]:
        """The tangents of what ``steps`` compute; ``seeds`` are (input, its tangent or None for any, why)."""
        dots: dict[Node, Node] = {}
        made: list[Step] = []
        for target, root, why in seeds:
            dots[target] = self.marked(target, "dot")
            made.append(self.step("tangent", dots[target], root, why))
        for step in list(steps):
            if step.root is None or step.program is None:
                continue
            tangents = {s: dots[s] for s in step.program.inputs if s in dots}
            if not tangents:
                continue
            (flow,) = forward_sweep([step.root], tangents)
            if flow is None:
                continue
            new = step.target not in dots
            if new:
                dots[step.target] = self.marked(step.target, "dot")
            dot = dots[step.target]
            if new and step.place is not None:
                zero = expand(literal(0.0), dot.shape)
                made.append(self.step("tangent", dot, zero, "to which its elements add their tangents"))
            users = [s for s in step.program.inputs if s in dots and s is not step.target]
            why = "; ".join(
                dict.fromkeys(reasons.rule(step.shown or step.root, s, False, self.names[s]) for s in users)
            )
            adds = step.adds and (not new or step.place is not None)
            if not step.adds:
                flow = _with_value(flow, step.root, step.target)
            made.append(self.step("tangent", dot, flow, why, adds=adds))
        return made, dots


def _with_value(derivative: Node, root: Node, value: Node) -> Node:
    """``derivative`` in terms of ``value`` where it computes that, ``root``, once more: d exp(u) = exp(u) du."""
    if isinstance(root.primitive, Elementwise) and root.primitive.stable is not None and root.primitive.stable(root):
        return derivative  # reads better in terms of what goes in: σ(u)(1 − σ(u))
    return walk(ancestors([derivative]), {root: value}, rebuilt)[derivative]


def needed(steps: Sequence[Step], targets: Iterable[Node]) -> list[Step]:
    """Those of ``steps`` that the values of ``targets`` are made of."""
    wanted = set(targets)
    kept = []
    for step in reversed(steps):
        if step.target in wanted:
            kept.append(step)
            if step.program is not None:
                wanted.update(step.program.inputs)
    return kept[::-1]


def _summands(node: Node) -> list[Node]:
    """The terms of a sum of which some are placed into zeros; the sum itself where none is."""
    found = terms_of(node)
    return found if any(n.primitive in (ASSEMBLE, SCATTER) for n in found) else [node]


def _pieces(node: Node) -> Iterator[Node]:
    """The pieces of ``node``, where it is pieces among zeros, each among zeros of its own."""
    if node.primitive is ASSEMBLE:
        shape, specs = node.params
        if full(shape) not in specs:
            yield from (assemble([piece], shape, [spec]) for piece, spec in zip(node.operands, specs, strict=True))
    elif node.primitive is SCATTER:
        yield node
