"""Program: inputs, a straight line of bindings, outputs; with a readable text form and a picture."""

from __future__ import annotations

import html
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UnsupportedOperation
from .dims import Shape
from .facts import spelled_fact
from .forks import cached_property
from .node import Graph, Node, ancestors

if TYPE_CHECKING:
    from ..primitives.primitive import Primitive

#: seconds that Graphviz may take, whose time grows much faster than the program
_MAX_SECONDS = 30
#: arrows beyond which Graphviz needs to hurry
_MANY_ARROWS = 200


class Program:
    """Outputs as let-bound expressions of inputs.

    ``inputs`` and ``outputs`` are tuples of nodes, ``names`` the users' labels of the inputs (only ever
    shown, never emitted as code), ``graph`` the table that further derivations intern in. Programs are
    immutable; every transformation makes a new one.

    >>> import numpy as np, symgrad
    >>> print(symgrad.trace(lambda x: np.sin(x) * x, 1.0))
    program(x: float64[]) {
      v0 = sin(x)
      v1 = multiply(v0, x)
    } -> v1
    """

    def __init__(self, inputs: Sequence[Node], outputs: Sequence[Node], names: Sequence[str], graph: Graph) -> None:
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.names = tuple(names)
        self.graph = graph

    def __deepcopy__(self, memo: Any) -> Program:
        return self

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node the outputs are made of, operands first."""
        return tuple(ancestors(self.outputs))

    @cached_property
    def every_node(self) -> tuple[Node, ...]:
        """The nodes, and those of the programs that they run within themselves, as loops do."""
        within = dict.fromkeys(body for n in self.nodes for body in n.primitive.bodies(n.params))
        return (*self.nodes, *(n for body in within for n in body.every_node))

    @cached_property
    def bindings(self) -> tuple[Node, ...]:
        """The nodes that compute something, in order."""
        return tuple([n for n in self.nodes if n.operands or not n.is_leaf])

    @cached_property
    def primitives(self) -> frozenset[Primitive]:
        """Those that its nodes are of."""
        return frozenset(n.primitive for n in self.nodes)

    @cached_property
    def types(self) -> frozenset[tuple[Shape, np.dtype]]:
        """The shapes and dtypes that its inputs and its values have."""
        return frozenset((n.shape, n.dtype) for n in chain(self.inputs, self.nodes))

    @cached_property
    def uses(self) -> Counter[Node]:
        """How often each node is an operand or an output."""
        uses = Counter([o for n in self.nodes for o in n.operands])
        uses.update(self.outputs)
        return uses

    def with_outputs(self, outputs: Sequence[Node]) -> Program:
        """The same inputs with other outputs."""
        return Program(self.inputs, outputs, self.names, self.graph)

    def operation_counts(self) -> Counter[str]:
        """How often each primitive occurs."""
        return Counter(n.primitive.name for n in self.bindings)

    @cached_property
    def labels(self) -> dict[Node, str]:
        """What each node is called in the text form: inputs by the user's names, bindings v0, v1, …"""
        labels = dict(zip(self.inputs, self.names, strict=True))
        constants = [n for n in self.nodes if n.primitive.name == "constant"]
        labels |= {n: f"{self._letter('cCk')}{k}" for k, n in enumerate(constants)}
        labels |= {n: n.primitive.spell(n) for n in self.nodes if n.primitive.name == "literal"}
        labels |= {n: str(n.params[0]) for n in self.nodes if n.primitive.name == "dim"}
        labels |= {n: f"{self._letter('vwu')}{k}" for k, n in enumerate(self.bindings)}
        return labels

    def _letter(self, letters: str) -> str:
        """The first of some letters, doubled where it must be, that no input is called by with a number."""
        taken = {name.rstrip("0123456789") for name in self.names}
        return next(letter * k for k in count(1) for letter in letters if letter * k not in taken)

    def __str__(self) -> str:
        facts = " and ".join(spelled_fact(*fact) for fact in self.graph.sizes.facts)
        return "\n".join(self._lines("program")) + (f" where {facts}" if facts else "")

    def _lines(self, called: str) -> list[str]:
        """The lines of the text form; the bodies of loops stand below them."""
        label = self.labels
        head = ", ".join(f"{label[n]}: {n.dtype}{_dims(n)}" for n in self.inputs)
        lines = [f"{called}({head}) {{"]
        for n in self.nodes:
            if n.primitive.name == "constant":
                lines.append(f"  {label[n]} = constant: {n.dtype}{_dims(n)}")
        for n in self.bindings:
            shown = "" if not n.shape else f"  # {n.dtype}{_dims(n)}"
            lines.append(f"  {label[n]} = {_call(n, label)}{shown}")
            for body in n.primitive.bodies(n.params):
                lines += [f"    {line}" for line in body._lines("step")]
        outputs = ", ".join(label[n] for n in self.outputs)
        return [*lines, f"}} -> {outputs}"]

    __repr__ = __str__

    def dot(self) -> str:
        """The program as a Graphviz graph, in which the body of each loop is a frame."""
        rows = ["digraph program {", "  node [shape=box, fontname=monospace];", *self._drawn("n")]
        return "\n".join([*rows, "}"])

    def _drawn(self, called: str) -> list[str]:
        """The boxes and arrows, of which the boxes are ``called`` so with a number."""
        label, lines = self.labels, []
        number = {n: f"{called}{k}" for k, n in enumerate(self.nodes)}
        for n, name in number.items():
            if n.primitive.name == "literal":
                continue
            leaf = n.is_leaf
            text = f"{label[n]}: {_dims(n)}" if leaf else f"{label[n]} = {n.primitive.spell(n)} {_dims(n)}"
            style = ", style=filled, fillcolor=lightblue" if leaf else ""
            style += ", penwidth=2" if n in self.outputs else ""
            lines.append(f'  {name} [label="{_quote(text)}"{style}];')
            lines += [f"  {number[o]} -> {name};" for o in n.operands if o.primitive.name != "literal"]
            for k, body in enumerate(n.primitive.bodies(n.params)):
                title = _quote(f"the step of {label[n]}")
                lines += [f"  subgraph cluster_{name}_{k} {{", f'    label="{title}"; fontname=monospace;']
                lines += [*[f"  {line}" for line in body._drawn(f"{name}_{k}_")], "  }"]
        return lines

    def _hurry(self) -> list[str]:
        """Graphviz's options for a large graph: fewer rounds in search of the best places, and straight lines."""
        arrows = sum(len(n.operands) for n in self.every_node)
        options = ["-Gnslimit=0.1", "-Gnslimit1=0.1", "-Gmclimit=0.1", "-Gsplines=line"]
        return options if arrows > _MANY_ARROWS else []

    def svg(self) -> str:
        """The picture of ``dot()``; where Graphviz is not installed, the text form in an SVG.

        Raises UnsupportedOperation where Graphviz finds no place for so many nodes in half a minute.
        """
        engine = shutil.which("dot")
        if engine:
            call: Any = {"input": self.dot(), "capture_output": True, "text": True, "check": True}
            try:
                made = subprocess.run([engine, "-Tsvg", *self._hurry()], timeout=_MAX_SECONDS, **call)
            except subprocess.TimeoutExpired:
                raise UnsupportedOperation(
                    f"Graphviz draws no picture of {len(self.nodes)} nodes in {_MAX_SECONDS} s; export dot, and draw "
                    "it with another engine such as sfdp, or take the text."
                ) from None
            return made.stdout[made.stdout.index("<svg") :]
        lines = str(self).splitlines()
        width = 9 * max(map(len, lines)) + 20
        rows = "".join(
            f'<text x="10" y="{20 * (k + 1)}" xml:space="preserve">{html.escape(line)}</text>'
            for k, line in enumerate(lines)
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{20 * len(lines) + 20}" '
            f'font-family="monospace" font-size="14">{rows}</svg>'
        )


def _dims(node: Node) -> str:
    return "[" + ",".join(map(str, node.shape)) + "]"


def _call(node: Node, label: dict[Node, str]) -> str:
    return f"{node.primitive.spell(node)}({', '.join(label[o] for o in node.operands)})"


def _quote(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
