"""Contributions: through which lines of the user's code an entry of a Jacobian flows.

The entry is ⟨ct, part⟩ summed over the edges of any cut through the program, where ``part`` is what the tangent of the
input contributes to a node's tangent along the edge and ``ct`` the cotangent that the output sends to the node: the
chain rule, read edge by edge (Bauer 1974, "Computational graphs and rounding error").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compiled import CompiledFunction, Recorded
from ..differentiation.reverse import active_nodes, cotangents_of
from ..primitives.casting import cast
from ..primitives.contraction import contract
from ..primitives.functions import absolute, add
from ..primitives.primitive import literal
from ..program.node import Node
from ..program.program import Program
from ..tracing.local_names import watching
from ..tracing.provenance import SourceLine
from ..tracing.trace import as_node
from ..tracing.tracer import Tracer

_MOST_PATHS = 8
#: parts of the entry below this are rounding, and no path
_LEAST = 1e-9


@dataclass(frozen=True)
class LineShare:
    """What flows through one line: the part of the entry, and the sum of the magnitudes of what makes it up."""

    line: SourceLine
    flow: float
    size: float
    labels: list[str]


@dataclass(frozen=True)
class Contributions:
    """How one entry comes about: its ``value``, a share for each line in program order, and the largest paths."""

    value: float
    lines: list[LineShare]
    paths: list[tuple[SourceLine, ...]]

    def __str__(self) -> str:
        rows = [f"{self.value:.6g}"]
        rows += [f"  line {s.line.number}: {s.flow:.6g} of it  {s.line.text}" for s in self.lines]
        rows += ["  by " + " → ".join(f"line {line.number}" for line in path) for path in self.paths]
        return "\n".join(rows)

    __repr__ = __str__


@dataclass(frozen=True)
class _Edge:
    """A dependency, with what flows along it: the nodes of its signed flow and of its magnitude."""

    source: Node
    target: Node
    flow: Node
    size: Node


class Block:
    """One block of a Jacobian, traced so that what flows along each edge can be evaluated for any entry."""

    def __init__(self, pair: Callable[..., tuple[Node, Node]], fn: Callable) -> None:
        """``pair(*args)`` runs ``fn`` and gives the output and the input that it is differentiated by."""
        self._pair = pair
        self._fn = fn
        self._compiled = CompiledFunction(self._body, fn, "numpy", cache=False)
        self._recorded: Recorded | None = None
        self._traced: _Traced | None = None
        self._latest: _Traced | None = None

    def _body(self, *args: Any, **kwargs: Any) -> Any:
        *own, tangent, cotangent = args
        labels: dict[Node, dict[str, None]] = {}

        def bound(name: str, line: SourceLine, value: Tracer) -> None:
            labels.setdefault(value._symgrad_node, {})[name] = None

        with watching(self._fn, bound):
            output, source = self._pair(*own, **kwargs)
        seeds = cast(as_node(tangent), source.dtype), cast(as_node(cotangent), output.dtype)
        edges, value = _edges(output, source, *seeds)
        self._latest = _Traced(edges, output, source, value, labels)
        return tangent, cotangent  # given back, so that both are inputs whatever flows

    def contributions(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], tangent: np.ndarray, cotangent: np.ndarray
    ) -> Contributions:
        """What contributes to the entry that two seeds choose, one-hot arrays of the input's and the output's shape."""
        recorded = self._compiled.recorded([*args, tangent, cotangent], kwargs, self._recorded)
        if self._recorded is None or recorded.entry is not self._recorded.entry:
            self._traced = self._latest
        self._recorded, traced = recorded, self._traced
        assert traced is not None
        outputs = [traced.value, *(n for e in traced.edges for n in (e.flow, e.size))]
        values = _evaluated(recorded.entry.program.with_outputs(outputs), recorded.entry.arguments(recorded.leaves))
        flows = {e: (float(values[e.flow]), float(values[e.size])) for e in traced.edges}
        line = {n: recorded.ledger.line(n) for e in traced.edges for n in (e.source, e.target)}
        return Contributions(
            float(values[traced.value]), _shares(flows, line, traced), _paths(flows, line, traced.source, traced.output)
        )


@dataclass(frozen=True)
class _Traced:
    """A block as nodes: its edges, its ends, the entry itself, and the local names of its nodes."""

    edges: list[_Edge]
    output: Node
    source: Node
    value: Node
    labels: Mapping[Node, Mapping[str, None]]


def _edges(output: Node, source: Node, tangent: Node, cotangent: Node) -> tuple[list[_Edge], Node]:
    """Every dependency that the derivative flows along, operands first, and the entry."""
    order = active_nodes([output], [source])
    cotangents = cotangents_of(order, [output], [cotangent], [source])
    tangents = {source: tangent}
    edges = []
    for node in order:
        total: Node | None = None
        for operand, key in () if node is source else node.primitive.dependencies(node):
            if operand not in tangents:
                continue
            part = node.primitive.push(node, operand, key, tangents[operand], 0)
            if part is None:
                continue
            part = cast(part, node.dtype)
            total = part if total is None else add(total, part)
            if node in cotangents:
                axes = tuple(range(node.ndim))
                product = contract([part, cotangents[node]], [axes, axes], axes, node.shape)
                flow, size = (contract([p], [axes], (), node.shape) for p in (product, absolute(product)))
                edges.append(_Edge(operand, node, flow, size))
        if total is not None:
            tangents[node] = total
    reached = tangents.get(output)
    axes = tuple(range(output.ndim))
    value = literal(0.0) if reached is None else contract([reached, cotangent], [axes, axes], (), output.shape)
    return edges, value


def _evaluated(program: Program, arrays: Sequence[Any]) -> dict[Node, Any]:
    """The outputs of ``program``, node by node: compiling it would take longer than a few entries do."""
    left = Counter(program.uses)
    values: dict[Node, Any] = dict(zip(program.inputs, arrays, strict=True))
    with np.errstate(all="ignore"):
        for node in program.nodes:
            if node.primitive.name == "constant":
                values[node] = node.params[0].value
            elif node not in values:
                values[node] = node.primitive.evaluate(node.params, *[values[o] for o in node.operands])
            for o in node.operands:
                left[o] -= 1
                if not left[o]:
                    del values[o]
    return values


_Flows = Mapping[_Edge, tuple[float, float]]
_Lines = Mapping[Node, "SourceLine | None"]


def _shares(flows: _Flows, line: _Lines, traced: _Traced) -> list[LineShare]:
    """What leaves each line: along the edges to other lines, or as the output."""
    flow: Counter[SourceLine] = Counter()
    size: Counter[SourceLine] = Counter()
    names: dict[SourceLine, dict[str, None]] = {}
    place: dict[SourceLine, int] = {}
    for e, (signed, magnitude) in flows.items():
        start, end = line[e.source], line[e.target]
        if start is not None and end != start:
            flow[start] += signed  # type: ignore[assignment]
            size[start] += magnitude  # type: ignore[assignment]
        if end is not None and e.target is traced.output:
            flow[end] += signed  # type: ignore[assignment]
            size[end] += magnitude  # type: ignore[assignment]
        for n, own in ((e.source, start), (e.target, end)):
            if own is not None and magnitude:
                place[own] = min(place.get(own, n.serial), n.serial)
                names.setdefault(own, {}).update(traced.labels.get(n, {}))
    return [
        LineShare(s, float(flow[s]), float(size[s]), list(names[s]))
        for s in sorted(place, key=place.__getitem__)
        if size[s]
    ]


def _paths(flows: _Flows, line: _Lines, source: Node, output: Node) -> list[tuple[SourceLine, ...]]:
    """The widest chains of lines, each taken out of what flows before the next is looked for."""
    left = {e: size for e, (_, size) in flows.items()}
    least = _LEAST * max(left.values(), default=0.0)
    found: dict[tuple[SourceLine, ...], None] = {}
    for _ in range(2 * _MOST_PATHS):
        chain = _widest(left, source, output)
        width = min((left[e] for e in chain), default=0.0)
        if not width > least or len(found) == _MOST_PATHS:
            break
        for e in chain:
            left[e] -= width
        lines: list[SourceLine] = []
        for e in chain:
            own = line[e.target]
            if own is not None and own not in lines[-1:]:
                lines.append(own)
        found[tuple(lines)] = None
    return list(found)


def _widest(sizes: Mapping[_Edge, float], source: Node, output: Node) -> list[_Edge]:
    """The chain of edges from ``source`` to ``output`` whose narrowest is widest; edges come operands first."""
    width = {source: np.inf}
    into: dict[Node, _Edge] = {}
    for e, size in sizes.items():
        reached = min(width.get(e.source, 0.0), size)
        if reached > width.get(e.target, 0.0):
            width[e.target] = reached
            into[e.target] = e
    chain: list[_Edge] = []
    at = output
    while at is not source:
        if at not in into:
            return []
        chain.append(into[at])
        at = into[at].source
    return chain[::-1]
