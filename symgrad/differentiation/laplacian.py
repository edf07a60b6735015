"""The forward Laplacian: second derivatives along every direction at once, summed where they arise.

``Δy = Σᵢ ∂²y/∂xᵢ²`` goes forward beside the tangents ``∂y/∂xᵢ``: a node passes the Laplacians of what it is made of on
by its local linear map, one for all directions, and adds its own curvature along their tangents. No Hessian is built,
and what is linear has none to add (Li et al., "A computational framework for neural network-based variational Monte
Carlo with Forward Laplacian", Nature Machine Intelligence 6, 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from ..primitives.batching import Batching
from ..primitives.contraction import EINSUM, contract, identity, ones, scale
from ..primitives.functions import terms_of
from ..program.collector import collector_paused
from ..program.node import Node, ancestors, originating
from .across_equal_values import is_decomposed
from .across_kinks import across_kinks, of_squares
from .cotangents import accumulate
from .edges import active_edges, edges_of, moving
from .forward import forward_sweep
from .structure.structured_tangents import scalar
from .tangents import tangent_of


@collector_paused()
def forward_laplacian(outputs: Sequence[Node], wrt: Sequence[Node]) -> list[Node | None]:
    """The Laplacian of each output by all elements of ``wrt``; None where it is zero."""
    edges = active_edges(outputs, wrt)
    if any(map(is_decomposed, edges)):  # what a node adds is a limit where values are equal
        return [_of_sweeps(o, wrt) for o in outputs]
    outputs, edges = across_kinks(outputs, wrt, edges)
    every = ancestors(outputs)
    still = set(every).difference(moving(every, wrt))
    sweeps = [_Tangents(w, still) for w in wrt]
    found: dict[Node, Node] = {}
    for node in originating(edges):
        if node in wrt:
            continue
        parts = [tangent_of(node, edges[node], found), *(tangents.curvature(node) for tangents in sweeps)]
        own = [p for p in parts if p is not None]
        if own:
            found[node] = accumulate(own)
    return of_squares([found.get(o) for o in outputs], wrt)


def _of_sweeps(output: Node, wrt: Sequence[Node]) -> Node | None:
    """The Laplacian of one output by two sweeps along every element."""
    found: list[Node] = []
    for source in wrt:
        every = [Batching(d) for d in source.shape or (1,)]
        along = {source: _along(_seeds(source), every)}
        made: Node | None = output
        for _ in range(2):
            made = None if made is None else forward_sweep([made], along)[0]
        for over in reversed(every):
            made = None if made is None else _summed(over.lifted(made))
        found += [] if made is None else [made]
    return accumulate(found) if found else None


class _Tangents:
    """The tangents of the nodes of a function by every element of ``source``, whose axes lead; some stand ``still``."""

    def __init__(self, source: Node, still: set[Node]) -> None:
        self._sizes = source.shape or (1,)
        self._still = still
        self._flow: dict[Node, Node] = {source: _seeds(source)}

    def curvature(self, node: Node) -> Node | None:
        """How the local linear map of ``node`` changes along each tangent, applied to it, and summed."""
        tangent = tangent_of(node, edges_of(node), self._flow, len(self._sizes))
        if tangent is None:
            return None
        self._flow[node] = tangent
        every = [Batching(d) for d in self._sizes]
        edges = [edge for edge in edges_of(node) if edge[0] in self._flow]
        moves = {source: _along(self._flow[source], every) for source, _ in edges}
        along = tangent_of(node, edges, moves)
        assert along is not None
        for n in self._below(along, moves, every):
            moved = tangent_of(n, edges_of(n), moves)
            if moved is not None:
                moves[n] = moved
        curved = moves.get(along)
        for over in reversed(every):
            curved = None if curved is None else _summed(over.lifted(curved))
        return curved

    def _below(self, tangent: Node, moves: dict[Node, Node], every: list[Batching]) -> list[Node]:
        """What a tangent is computed by, down to nodes of the function with tangents, which ``moves`` then has."""
        found, pending = {tangent}, [tangent]
        while pending:
            last = pending.pop()
            for node, _ in edges_of(last):
                if node in self._flow:
                    if node not in moves:
                        moves[node] = _along(self._flow[node], every)
                elif node not in found and node not in self._still and node.operands:
                    found.add(node)
                    pending.append(node)
        return sorted(found, key=attrgetter("serial"))


def _seeds(source: Node) -> Node:
    """δ, of the dtype of ``source``: a number is as an array of one."""
    seeds = identity(source.shape) if source.ndim else ones((1,))
    return seeds if seeds.dtype == source.dtype else scale(seeds, scalar(1.0, source.dtype))


def _along(tangents: Node, every: Sequence[Batching]) -> Node:
    """A stand-in for the tangent along one direction."""
    for over in every:
        tangents = over.example(tangents, "tangent")
    return tangents


def _summed(x: Node | None) -> Node | None:
    """The sum along the first axis, each term's of a sum."""
    return None if x is None else accumulate([_sum_of_term(t) for t in terms_of(x)])


def _sum_of_term(x: Node) -> Node:
    if x.primitive is EINSUM and not x.params[3]:
        labels, out, sizes, _ = x.params
        if any(out[0] in own for own in labels):
            return contract(x.operands, labels, out[1:], sizes)
    labels = tuple(range(x.ndim))
    return contract([x], [labels], labels[1:], x.shape)
