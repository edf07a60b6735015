"""Which nodes the kernel computes together in one loop."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from symgrad.emit.loops.regions import Region as CompiledRegion
from symgrad.kernels.block_backend import BLOCKS_FROM, BlockWriter
from symgrad.kernels.native.schedule import Schedule
from symgrad.kernels.regions import Region as BlockRegion
from symgrad.passes.constants import fold_constants
from symgrad.program.dims import is_concrete
from symgrad.program.node import Node
from symgrad.program.program import Program


@dataclass(frozen=True)
class Loops:
    """``number`` says in which loop, counted from 1, a node is computed; ``told`` what a loop is.

    ``serves`` is True where the kernel that serves now runs them, False where the compiled one would.
    """

    told: str
    number: dict[Node, int] = field(default_factory=dict)
    serves: bool = True


def loops_of(program: Program, backend: str, wanted: str) -> Loops:
    """The loops that a kernel on ``backend`` runs for ``program``, where ``wanted`` was asked for.

    A loop is what runs over the elements once for several nodes: values between them are never arrays.
    """
    if wanted == "numpy":
        return Loops(_NONE)
    if backend == "numexpr":
        return Loops("numexpr evaluates whole expressions; they are not boxed")
    if not all(is_concrete(n.shape) for n in program.nodes):
        return Loops("which operations share a loop is known once there are sizes")
    ready = fold_constants(program.with_outputs(program.nodes))
    image = dict(zip(program.nodes, ready.outputs, strict=True))
    runs = ready.with_outputs([image[o] for o in program.outputs])
    planned = _numbered(program, image, _compiled(runs))
    if backend == "native":
        return Loops("one loop of compiled C" if planned else "no two operations share a loop", planned)
    blocks = _numbered(program, image, _by_blocks(runs))
    if blocks:
        return Loops("one pass over blocks of the arrays (NumPy)", blocks)
    if not planned:
        return Loops(_NONE)
    told = "one loop once the kernel is compiled; now NumPy is called for each operation"
    return Loops(told, planned, serves=False)


_NONE = "the kernel calls NumPy for each operation"


def _compiled(program: Program) -> Iterable[list[Node]]:
    for step in Schedule(program).steps:
        if isinstance(step, CompiledRegion):
            yield [item.node for item in step.items]


def _by_blocks(program: Program) -> Iterable[list[Node]]:
    if all(math.prod(n.shape) < BLOCKS_FROM for n in program.bindings):
        return
    writer = BlockWriter(program)
    writer.write()
    for step in writer.steps:
        if isinstance(step, BlockRegion):
            yield step.members


def _numbered(program: Program, image: dict[Node, Node], loops: Iterable[list[Node]]) -> dict[Node, int]:
    """The nodes of ``program`` in loops of two and more."""
    home: dict[Node, int] = {}
    for k, members in enumerate(loops):
        for node in members:
            home.setdefault(node, k)
    groups: dict[int, list[Node]] = {}
    for node in program.bindings:
        if image[node] in home:
            groups.setdefault(home[image[node]], []).append(node)
    shared = [members for _, members in sorted(groups.items()) if len(members) > 1]
    return {node: k + 1 for k, members in enumerate(shared) for node in members}
