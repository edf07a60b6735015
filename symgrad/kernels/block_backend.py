"""NumPy block by block: regions of large arrays as functions of one block, everything else as in the NumPy backend.

A region pays where it saves temporaries of full size, or where its work is enough for several threads.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy

from ..primitives.contraction import GATE
from ..primitives.elementwise import SIMPLE, Elementwise
from ..program.dims import Shape
from ..program.node import Node
from ..program.program import Program
from . import runtime
from .block_function import BlockFunction, kept_by, whole_exponent
from .blocks import Blocks
from .numpy_backend import Writer
from .regions import Region, find_regions, in_order

#: elements from which an array may be cut into blocks
BLOCKS_FROM = 1 << 14
#: elements from which a few additions pay too
LONG = 1 << 18
#: nanoseconds that a region takes on one thread, below which its start-up does not pay
_WORTH = 200_000.0
#: nanoseconds that an element of a product with a mask takes
_GATE = 2.0
#: what makes a function on its own worth several threads
_COSTLY = 2.0
#: elements that a sum over blocks may keep of each
_MAX_KEPT = 2048


class BlockWriter(Writer):
    """Writes regions of large arrays as functions of blocks, and everything else as the NumPy backend does."""

    exact = False

    def __init__(self, program: Program, sizes: Mapping[sympy.Symbol, int] | None = None) -> None:
        super().__init__(program, sizes)
        self.regions = 0
        self._functions: list[str] = []
        self.namespace |= {
            "Blocks": Blocks,
            "copied": runtime.copied,
            "masked": runtime.masked,
            "select": runtime.select,
        }

    def _plan(self) -> None:
        found = find_regions(self.program, self._joins, self._pays)
        self.steps = in_order(self.program, found) if found else self.steps
        super()._plan()

    def _joins(self, node: Node, shape: Shape) -> bool:
        if node in self.delayed or any(o in self.delayed for o in node.operands):
            return False
        one_a_block = shape != node.shape and node.shape and 0 not in kept_by(node)
        if one_a_block and self.count(node.shape) > _MAX_KEPT:
            return False
        return self.count(shape) >= BLOCKS_FROM

    def _pays(self, region: Region) -> bool:
        cost = sum(map(cost_of, region.members))
        return (len(region.members) > 1 or cost > _COSTLY) and self.count(region.shape) * cost >= _WORTH

    def write(self) -> str:
        return "\n".join([super().write(), *self._functions])

    def _places(self) -> dict[Node, int]:
        place: dict[Node, int] = {}
        for k, step in enumerate(self.steps):
            place.update((n, k) for n in (step.members if isinstance(step, Region) else [step]))
        return place

    def statement(self, node: Node | Region) -> None:
        if isinstance(node, Region):
            self._region(node)
        else:
            super().statement(node)

    def _region(self, region: Region) -> None:
        function = f"block{self.regions}"
        written = BlockFunction(self, region, function, sum(map(cost_of, region.members)))
        self.regions += 1
        self._functions.append(written.source())
        for node in region.outputs:
            self.names[node] = self.new_name()
            self.fresh.add(node)
            if self.is_large(node):
                self._large.add(self.names[node])
        results = "".join(f"{self.names[n]}, " for n in region.outputs)
        operands = "".join(f"{code}, " for code in written.operands)
        self.lines.append(f"{results.strip()} = {function}_of(({operands}), {self.shape(region.shape)})")


def cost_of(node: Node) -> float:
    """What a node costs an element, in nanoseconds."""
    if whole_exponent(node):
        return 2 * SIMPLE[0]
    if isinstance(node.primitive, Elementwise):
        return node.primitive.costs[0]
    return _GATE if node.primitive is GATE else SIMPLE[0] * max(len(node.operands) - 1, 1)
