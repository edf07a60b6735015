"""Batching: a program for one example becomes the program for all of them.

Nodes that depend on an example are rebuilt, operands first, with the examples along a leading axis, each by the
``vmap`` that its primitive declares. Nodes that depend on none are shared. What comes out are ordinary nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ProgramError
from ..program.dims import Dim
from ..program.node import Node, originating
from .contraction import expand
from .indexed_examples import gather_of_examples, scatter_of_examples
from .primitive import EXAMPLE


class Batching:
    """The examples of one mapping, ``size`` of them."""

    def __init__(self, size: Dim) -> None:
        self.size = size
        #: node of one example -> node of all of them
        self._images: dict[Node, Node] = {}
        self._first: int | None = None
        self._seen: set[Node] = set()

    def example(self, every: Node, label: str) -> Node:
        """A stand-in for one example of ``every``, which holds them all along axis 0."""
        node = Node(EXAMPLE, (), (label, every), every.shape[1:], every.dtype, False, every.masked)
        if self._first is None:
            self._first = node.serial
        self._seen.add(node)
        self._images[node] = every
        return node

    def lifted(self, node: Node) -> Node | None:
        """``node`` for all examples, along axis 0; None where it is the same for all."""
        images, seen = self._images, self._seen
        found: list[Node] = []
        pending = [node]
        while pending:
            n = pending.pop()
            if n not in seen and self._first is not None and n.serial > self._first:
                seen.add(n)
                found.append(n)
                pending += n.operands
        for n in originating(sorted(found, key=lambda n: n.serial), orders=0):
            batched = tuple([o in images for o in n.operands])
            if any(batched):
                made = n.primitive.vmap(n, tuple([images.get(o, o) for o in n.operands]), batched, self)
                if made.shape != (self.size, *n.shape) or made.dtype != n.dtype:
                    raise ProgramError(f"{n} was lifted to {made}, over {self.size} examples")
                images[n] = made
        return images.get(node)

    def whole(self, node: Node) -> Node:
        """``node`` for all examples; repeated where it is the same for all."""
        made = self.lifted(node)
        return self.repeated(node) if made is None else made

    def repeated(self, node: Node) -> Node:
        """``node`` once for each example."""
        return expand(node, (self.size, *node.shape))

    def gathered(self, x: Node, index: Node, batched: bool, axis: int) -> Node:
        """The gather along ``axis`` of each example of ``x``, by indices of its own."""
        return gather_of_examples(x, index, batched, axis, self.size)

    def scattered(self, y: Node, index: Node, axis: int, dim: Dim) -> Node:
        """The scatter along ``axis`` of each example of ``y``, by indices of its own."""
        return scatter_of_examples(y, index, axis, dim, self.size)

    def complete(self, operands: Sequence[Node], batched: Sequence[bool]) -> list[Node]:
        """Operands of which those that are the same for all examples are repeated."""
        return [o if own else self.repeated(o) for o, own in zip(operands, batched, strict=True)]
