"""Node and Graph: the hash-consed expression DAG.

A Node is one binding, ``primitive(operands, params)``, with its shape and dtype. Nodes are interned
in the Graph that is active, so the same expression is the same object, and ``serial`` numbers grow
from operands to results: sorting by it is a topological order, without recursion.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
import threading
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import without_trace
from ..pickling import OfOneProcess
from .dims import Shape
from .facts import SizeFacts

if TYPE_CHECKING:
    from ..primitives.primitive import Primitive

_serials = itertools.count()
_NEVER = sys.maxsize
_LEAVES = ("input", "constant", "literal", "dim")


class Node(OfOneProcess):
    """One let-bound value.

    ``weak`` marks a Python scalar, whose dtype gives way to its partners' (NEP 50). ``masked`` marks
    a tangent or cotangent with structural zeros, which must win against an infinite partial.
    """

    __slots__ = ("dtype", "masked", "operands", "params", "primitive", "serial", "shape", "weak")

    def __init__(
        self,
        primitive: Primitive,
        operands: tuple[Node, ...],
        params: tuple[Any, ...],
        shape: Shape,
        dtype: np.dtype,
        weak: bool = False,
        masked: bool = False,
    ) -> None:
        self.primitive = primitive
        self.operands = operands
        self.params = params
        self.shape = shape
        self.dtype = dtype
        self.weak = weak
        self.masked = masked
        self.serial = next(_serials)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_leaf(self) -> bool:
        """True for what a program begins with: an input, a captured array, a Python scalar, a named dim."""
        return self.primitive.name in _LEAVES

    @property
    def is_literal(self) -> bool:
        return self.primitive.name == "literal"

    @property
    def differentiable(self) -> bool:
        """True for floating point, real or complex: only such values carry tangents."""
        return self.dtype.kind in "fc"

    @property
    def is_complex(self) -> bool:
        return self.dtype.kind == "c"

    def __repr__(self) -> str:
        return f"<{self.primitive.spell(self)}: {self.dtype}{list(self.shape)}>"


class Graph(OfOneProcess):
    """The table in which nodes are interned, one a trace; derivations of the trace grow it.

    ``sizes`` holds what they take for granted about named dims, ``origin`` what is being derived or rewritten: a node,
    and how many orders further what is made from it is.
    """

    __slots__ = ("_ask", "_outer", "asks_at", "origin", "sizes", "table", "unrolled")

    def __init__(self) -> None:
        self.table: dict[tuple[Any, ...], Node] = {}
        self.origin: tuple[Node, int] | None = None
        self.sizes = SizeFacts()
        self.unrolled: list[str] = []  # what repeats in it and is no loop, and why
        self._outer: list[Graph | None] = []
        self.asks_at = _NEVER
        self._ask: Callable[[], None] | None = None

    def ask_at(self, serial: int, ask: Callable[[], None]) -> None:
        """Have ``ask`` called at a new node with this serial number, or a higher one."""
        self.asks_at, self._ask = serial, ask

    def ask(self) -> None:
        """Call what was to be called."""
        ask = self._ask
        self.ask_no_more()
        if ask is not None:
            ask()

    def ask_no_more(self) -> None:
        """Have nothing called."""
        self.asks_at, self._ask = _NEVER, None

    @property
    def is_recorded(self) -> bool:
        """True where the table keeps account of what each node came from."""
        return type(self.table) is not dict

    def __enter__(self) -> Graph:
        self._outer.append(_state.graph)
        _state.graph = self
        return self

    def __exit__(self, *exc: Any) -> None:
        _state.graph = self._outer.pop()


class _Thread(threading.local):
    """What is active in this thread."""

    graph: Graph | None = None


_state = _Thread()


def active_graph() -> Graph:
    """The Graph that new nodes are interned in."""
    graph = _state.graph
    if graph is None:
        raise without_trace()
    return graph


@contextlib.contextmanager
def no_graph() -> Generator[None]:
    """Inside, no Graph is active in this thread."""
    graph, _state.graph = _state.graph, None
    try:
        yield
    finally:
        _state.graph = graph


def deactivate() -> None:
    """No Graph is active in this thread."""
    _state.graph = None


def next_serial() -> int:
    """A serial number between those of the nodes that were there and those that come."""
    return next(_serials)


def emit(primitive: Primitive, operands: tuple[Node, ...], params: tuple[Any, ...] = ()) -> Node:
    """The node ``primitive(operands, params)``, interned; its shape and dtype are inferred."""
    graph = active_graph()
    table = graph.table
    key = (primitive, operands, params)
    node = table.get(key)
    if node is None:
        shape, dtype, weak = primitive.infer(operands, params)
        masked = primitive.masks(operands, params)
        node = table[key] = Node(primitive, operands, params, shape, dtype, weak, masked)
        if node.serial >= graph.asks_at:
            graph.ask()
    return node


def emit_again(node: Node, operands: tuple[Node, ...]) -> Node:
    """``emit`` of what a node is, on other operands; where these are alike, so is what is inferred."""
    for o, before in zip(operands, node.operands, strict=True):
        if o.shape != before.shape or o.dtype != before.dtype or o.weak != before.weak:
            return emit(node.primitive, operands, node.params)
    table = active_graph().table
    key = (node.primitive, operands, node.params)
    made = table.get(key)
    if made is None:
        masked = node.primitive.masks(operands, node.params)
        made = Node(node.primitive, operands, node.params, node.shape, node.dtype, node.weak, masked)
        table[key] = made
    return made


def originating(nodes: Iterable[Node], orders: int = 1) -> Iterator[Node]:
    """``nodes``, one after the other: what is made meanwhile in the active graph comes from the one at hand.

    ``orders`` is 1 where it is a derivative, 0 where it stands for the node itself.
    """
    graph = active_graph()
    return _originating(graph, nodes, orders) if graph.is_recorded else iter(nodes)


def _originating(graph: Graph, nodes: Iterable[Node], orders: int) -> Iterator[Node]:
    outer = graph.origin
    try:
        for node in nodes:
            graph.origin = (node, orders)
            yield node
    finally:
        graph.origin = outer


def ancestors(outputs: Iterable[Node], known: Collection[Node] = ()) -> list[Node]:
    """Every node that ``outputs`` are made of, operands first, down to those that are ``known``, without these."""
    seen = {o for o in outputs if o not in known}
    found = list(seen)
    pending = list(seen)
    while pending:
        for node in pending.pop().operands:
            if node not in seen and node not in known:
                seen.add(node)
                found.append(node)
                if node.operands:
                    pending.append(node)
    found.sort(key=_SERIAL)
    return found


_SERIAL = attrgetter("serial")
