"""Provenance: which of the user's source lines each node of a Program came from.

Recording takes microseconds a node, so it is on only where it is asked for: then the table in which a trace
interns its nodes is a ``ProvenanceTable``.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from ..errors import is_own, source_line, user_frame
from ..pickling import OfOneProcess
from ..program.node import Graph, Node
from ..program.program import Program

#: frames of the user's code that are recorded, the innermost ones
_DEEPEST = 40


class SourceLine(NamedTuple):
    """A line of the user's source, counted from 1."""

    file: str
    number: int

    @property
    def text(self) -> str:
        """The line itself, stripped; empty where the source is not to be had."""
        return source_line(self.file, self.number)


Stack = tuple[SourceLine, ...]


class _Origin(NamedTuple):
    """The lines that were running when a node was made, innermost first, and how often it has been derived."""

    stack: Stack
    order: int


_NOWHERE = _Origin((), 0)


class ProvenanceTable(dict):
    """The table of a graph, which also records which lines asked for each node.

    A node of the function itself belongs to the line that computed it; a node that a sweep made belongs to the line
    of the node that was differentiated, one order further; one that a pass made to that of the node it replaces.
    """

    def __init__(self, graph: Graph, boundary: CodeType) -> None:
        """``boundary`` is the code of symgrad that called the user's function: lines outside of it do not count."""
        super().__init__()
        self._graph = graph
        self._boundary = boundary
        self._made: dict[Node, _Origin] = {}
        self._asked: dict[Node, Counter[tuple[SourceLine, int]]] = {}

    def get(self, key: Any, default: Any = None) -> Any:
        node = super().get(key, default)
        derived = self._graph.origin
        if node is not None and (derived is None or derived[1]):  # a pass asks for nobody
            self._ask(node, self._origin())
        return node

    def __setitem__(self, key: Any, node: Node) -> None:
        super().__setitem__(key, node)
        origin = self._origin()
        # what adds up contributions is derived as often as they are, whatever it was made for
        order = max([origin.order, *[self.order(o) for o in node.operands]])
        self._made[node] = _Origin(origin.stack, order)
        self._ask(node, origin)

    def _origin(self) -> _Origin:
        derived = self._graph.origin
        if derived is None:
            return _Origin(self._running(), 0)
        node, orders = derived
        stack, order = self._made.get(node, _NOWHERE)
        return _Origin(stack, order + orders)

    def _running(self) -> Stack:
        """The user's lines that are running, innermost first."""
        stack: list[SourceLine] = []
        frame = sys._getframe(3)
        while frame is not None and len(stack) < _DEEPEST:
            if frame.f_code is self._boundary:
                return tuple(stack)
            if not is_own(frame.f_code.co_filename):
                stack.append(SourceLine(frame.f_code.co_filename, frame.f_lineno))
            frame = frame.f_back
        return tuple(stack) if frame is not None else ()

    def _ask(self, node: Node, origin: _Origin) -> None:
        if origin.stack:
            self._asked.setdefault(node, Counter())[origin.stack[0], origin.order] += 1

    def stack(self, node: Node) -> Stack:
        """The user's lines that were running when ``node`` was made, innermost first; empty where there were none."""
        return self._made.get(node, _NOWHERE).stack

    def line(self, node: Node) -> SourceLine | None:
        """The innermost of them."""
        return next(iter(self.stack(node)), None)

    def order(self, node: Node) -> int:
        """0 for what the function itself computes, 1 for what its derivative adds, 2 for the second's …"""
        return self._made.get(node, _NOWHERE).order

    def requests(self, node: Node) -> Counter[tuple[SourceLine, int]]:
        """How often each line, at each order, asked for ``node``; every one after the first was spared."""
        return self._asked.get(node, Counter())


@dataclass(frozen=True)
class Provenance(OfOneProcess):
    """A Program as it was derived, before the passes, and where its nodes came from.

    >>> import numpy as np, symgrad
    >>> def f(x):
    ...     y = np.sin(x)
    ...     return y * x
    >>> found = symgrad.grad(f).provenance(1.0)
    >>> for n in found.program.bindings:
    ...     print(n.primitive.name, [line.number for line in found.stack(n)], found.order(n))
    sin [2] 0
    cos [2] 1
    einsum [2] 1
    add [] 1
    """

    program: Program
    ledger: ProvenanceTable

    def stack(self, node: Node) -> Stack:
        """The user's lines that ``node`` came from, innermost first."""
        return self.ledger.stack(node)

    def line(self, node: Node) -> SourceLine | None:
        """The innermost of them."""
        return self.ledger.line(node)

    def order(self, node: Node) -> int:
        """How often ``node`` has been derived: 0 for the function's own."""
        return self.ledger.order(node)

    def requests(self, node: Node) -> Counter[tuple[SourceLine, int]]:
        """How often each line, at each order, asked for ``node``."""
        return self.ledger.requests(node)


def array_name(array: np.ndarray) -> str:
    """What the user's line that runs calls an array of its own: a local, a variable around it, or a global one."""
    frame = user_frame() if array.ndim else None
    if frame is None:
        return ""
    known = [*frame.f_locals.items(), *((n, frame.f_globals.get(n)) for n in frame.f_code.co_names)]
    return next((name for name, value in known if value is array), "")
