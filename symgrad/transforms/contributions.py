"""Contributions: through which lines of the user's code an entry of a Jacobian flows.

The entry is ⟨ct, part⟩ summed over the edges of any cut through the program, where ``part`` is what the tangent of the
input contributes to a node's tangent along the edge and ``ct`` the cotangent that the output sends to the node: the
chain rule, read edge by edge (Bauer 1974, "Computational graphs and rounding error").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..differentiation.cotangents import cotangents_of
from ..differentiation.edges import active_edges
from ..errors import ArgumentError
from ..primitives.casting import flow_as
from ..primitives.contraction import contract
from ..primitives.functions import absolute, add
from ..primitives.primitive import input_node, literal
from ..program.interpret import interpreted
from ..program.node import Node
from ..program.program import Program
from ..tracing.provenance import SourceLine
from .shown import checked_index

if TYPE_CHECKING:
    from .jacobian import JacobianFunction
    from .linearised import Linearised

_MAX_PATHS = 8
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


def contributions(
    derived: JacobianFunction, index: int | tuple[int, ...], *args: Any, output: int = 0, **kwargs: Any
) -> Contributions:
    """Which lines of the function the entry at ``index`` flows through, for these arguments.

    ``index`` and ``output`` name an entry as in ``entry``. Each line has the part of the entry that leaves it
    towards other lines (``flow``), and the sum of the magnitudes that make it up (``size``), which is not zero
    where parts cancel; ``paths`` are the chains of lines along which most of it flows. It depends on the values: a
    factor that is zero lets nothing through.

    >>> import numpy as np, symgrad
    >>> def f(x):
    ...     a = np.sin(x)
    ...     b = 3 * x
    ...     return a * x + b
    >>> found = symgrad.jacobian(f).contributions((1, 1), np.zeros(2))
    >>> found.value, {share.line.number: share.flow for share in found.lines}
    (3.0, {3: 3.0, 4: 3.0})
    """
    derived._needs_examples(args, kwargs)
    derived._check(args, kwargs)
    entry, leaves = derived._function_alone.recorded(*args, **kwargs)
    arrays = entry.arguments(leaves)
    with entry.reopened(arrays):
        flow = _flow(entry.trace.derivation, output)
    place = checked_index(index, flow.output.shape + flow.source.shape)
    split = flow.output.ndim
    seeds = _one_hot(flow.source.shape, place[split:]), _one_hot(flow.output.shape, place[:split])
    inputs = [*entry.program.inputs, flow.tangent, flow.cotangent]
    outputs = [flow.value, *(n for e in flow.edges for n in (e.flow, e.size))]
    program = Program(inputs, outputs, [*entry.program.names, "tangent", "cotangent"], entry.program.graph)
    value, *rest = interpreted(program, [*arrays, *seeds])
    flows = {e: (float(f), float(s)) for e, f, s in zip(flow.edges, rest[::2], rest[1::2], strict=True)}
    line = {n: entry.ledger.line(n) for e in flow.edges for n in (e.source, e.target)}
    labels: dict[Node, dict[str, None]] = {}
    for bound in entry.trace.bindings:
        labels.setdefault(bound.node, {})[bound.name] = None
    return Contributions(
        float(value), _shares(flows, line, flow.output, labels), _paths(flows, line, flow.source, flow.output)
    )


def _one_hot(shape: tuple, place: tuple[int, ...]) -> np.ndarray:
    seed = np.zeros(shape)
    seed[place] = 1.0
    return seed


@dataclass(frozen=True)
class Flow:
    """A block as nodes: its ends with their seeds, its edges, and the entry itself."""

    output: Node
    source: Node
    tangent: Node
    cotangent: Node
    edges: list[_Edge]
    value: Node


def _flow(found: Linearised, block: int) -> Flow:
    """What flows through a block, counted row by row, for seeds that are inputs; found once a trace."""
    count = len(found.outputs) * len(found.wrt)
    if not 0 <= block < count:
        raise ArgumentError(f"contributions: output={block}, and the Jacobian has {count} blocks.")
    if block not in found.flows:
        output, source = found.outputs[block // len(found.wrt)], found.wrt[block % len(found.wrt)]
        tangent, cotangent = [input_node("seed", n.shape, np.dtype(np.float64)) for n in (source, output)]
        edges, value = _edges(output, source, flow_as(tangent, source.dtype), flow_as(cotangent, output.dtype))
        found.flows[block] = Flow(output, source, tangent, cotangent, edges, value)
    return found.flows[block]


def _edges(output: Node, source: Node, tangent: Node, cotangent: Node) -> tuple[list[_Edge], Node]:
    """Every dependency that the derivative flows along, operands first, and the entry."""
    active = active_edges([output], [source])
    cotangents = cotangents_of(active, [output], [cotangent])
    tangents = {source: tangent}
    edges = []
    for node, leading in active.items():
        total: Node | None = None
        for operand, key in leading:
            if operand not in tangents:
                continue
            part = node.primitive.jvp(node, operand, key, tangents[operand], 0)
            if part is None:
                continue
            part = flow_as(part, node.dtype)
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


_Flows = Mapping[_Edge, tuple[float, float]]
_Lines = Mapping[Node, "SourceLine | None"]


def _shares(flows: _Flows, line: _Lines, output: Node, labels: Mapping[Node, Mapping[str, None]]) -> list[LineShare]:
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
        if end is not None and e.target is output:
            flow[end] += signed  # type: ignore[assignment]
            size[end] += magnitude  # type: ignore[assignment]
        for n, own in ((e.source, start), (e.target, end)):
            if own is not None and magnitude:
                place[own] = min(place.get(own, n.serial), n.serial)
                names.setdefault(own, {}).update(labels.get(n, {}))
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
    for _ in range(2 * _MAX_PATHS):
        chain = _widest(left, source, output)
        width = min((left[e] for e in chain), default=0.0)
        if not width > least or len(found) == _MAX_PATHS:
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
