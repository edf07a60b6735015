"""What a picture is of: a derived program with where its nodes came from, what they hold, which loops run them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.findings import Finding, findings
from symgrad.named_dims import is_shapes
from symgrad.passes.sizes import at_sizes
from symgrad.program.dims import is_concrete
from symgrad.program.forks import cached_property
from symgrad.program.node import Node
from symgrad.program.program import Program
from symgrad.signature import called_name
from symgrad.trace_entry import TraceEntry
from symgrad.tracing.provenance import SourceLine
from symgrad.transforms.derived import DerivedFunction

from ..structure import result_names
from .loops import Loops, loops_of
from .spelling import Name, formula, names

_LEAVES = ("input", "constant", "dim")


@dataclass(frozen=True)
class Subject:
    """``side`` of a node is 0 where the function itself computes it, 1 for what its derivative adds, 2 for the next."""

    title: str
    function: str
    program: Program
    results: list[tuple[str, Node]]
    side: dict[Node, int]
    line: dict[Node, SourceLine]
    findings: dict[Node, Finding]
    loops: Loops
    backend: str

    @cached_property
    def name(self) -> Name:
        """What nodes are called in formulas."""
        return names(self.program.labels)

    @cached_property
    def shown(self) -> list[Node]:
        """The nodes that a picture has boxes for: all but literals, which stand in formulas."""
        return [n for n in self.program.nodes if not n.is_literal]

    @cached_property
    def number(self) -> dict[Node, int]:
        """The place of each node in the program."""
        return {n: k for k, n in enumerate(self.program.nodes)}

    @cached_property
    def label(self) -> dict[Node, str]:
        return self.program.labels

    def formula(self, node: Node) -> str:
        """The operation of a node on what its operands are called."""
        return formula(node, self.name)

    def heading(self, side: int) -> str:
        """What stands on a side."""
        return f"the function {self.function}" if side == 0 else _ORDERS.get(side, f"its derivative {side}")

    def place(self, node: Node) -> str:
        """The user's line that a node came from, with its number; empty where that is not known."""
        line = self.line.get(node)
        return "" if line is None else told_line(line)


_ORDERS = {1: "its derivative", 2: "its second derivative", 3: "its third derivative"}


def told_line(line: SourceLine) -> str:
    """A line with where it stands: ``line 3: y = np.sin(x)``."""
    file = os.path.basename(line.file)
    where = f"line {line.number}" if line.file.startswith("<") or "ipykernel" in line.file else f"{file}:{line.number}"
    return f"{where}: {line.text}" if line.text else where


def is_leaf(node: Node) -> bool:
    """True for inputs, constants and sizes."""
    return node.primitive.name in _LEAVES


def subject_of(derived: DerivedFunction, args: tuple, kwargs: dict[str, Any]) -> Subject:
    """All that a picture of ``derived`` shows, for these arguments."""
    if is_shapes(args, kwargs) or not (args or kwargs):
        raise ArgumentError(f"{derived.__name__}: pass example arrays; a picture shows what they make of each node.")
    readable = derived._readable()
    entry, arrays = readable._recorded(args, kwargs)
    assert arrays is not None
    told, program = entry.ledger, entry.readable
    sized, image = _at_sizes_of(program, readable._compiled.sizes(args, kwargs))
    backend = readable.kernel(*args, **kwargs).backend if readable is derived else "numpy"
    loops = loops_of(sized, backend, derived.backend)
    held = findings(sized, arrays)
    shown = [n for n in program.nodes if not n.is_literal]
    return Subject(
        title=derived.__name__.replace("<lambda>", "f"),
        function=called_name(derived.underlying),
        program=program,
        results=list(zip(result_names(derived, entry, args), program.outputs, strict=True)),
        side=_sides(program, {n: told.order(n) for n in shown}, _sensitivities(derived, entry, args, kwargs)),
        line={n: line for n in shown if (line := told.line(n)) is not None},
        findings={n: held[image[n]] for n in shown if image[n] in held},
        loops=Loops(loops.told, {n: k for n in shown if (k := loops.number.get(image[n]))}, loops.serves),
        backend=backend,
    )


def _at_sizes_of(program: Program, sizes: Mapping[Any, int]) -> tuple[Program, dict[Node, Node]]:
    """The program at these sizes of its named dims, and what became of each node."""
    if all(is_concrete(n.shape) for n in (*program.inputs, *program.nodes)):
        return program, {n: n for n in program.nodes}
    every = at_sizes(program.with_outputs(program.nodes), sizes)
    image = dict(zip(program.nodes, every.outputs, strict=True))
    return every.with_outputs([image[o] for o in program.outputs]), image


def _sensitivities(derived: DerivedFunction, entry: TraceEntry, args: tuple, kwargs: dict[str, Any]) -> range:
    """Which inputs are no arguments of the function, but the sens of its gradient."""
    if not getattr(derived, "takes_sens", False):
        return range(0)
    place = len(args) + list(kwargs).index("sens") if "sens" in kwargs else len(args) - 1
    first = sum(map(len, entry.argument_names[:place]))
    return range(first, first + len(entry.argument_names[place]))


def _sides(program: Program, order: dict[Node, int], sensitivities: range) -> dict[Node, int]:
    """The side of each node: how often it has been derived, and no less than what it is made of.

    Inputs belong to the function, other leaves stand where they are first read.
    """
    side = {n: int(k in sensitivities) for k, n in enumerate(program.inputs) if n in order}
    for node in program.bindings:
        side[node] = max(order[node], *(side.get(o, 0) for o in node.operands))
    for node in reversed(program.nodes):
        for o in node.operands:
            if o in order and o not in program.inputs and is_leaf(o):
                side[o] = min(side.get(o, side[node]), side[node])
    return {n: side.get(n, 0) for n in order}
