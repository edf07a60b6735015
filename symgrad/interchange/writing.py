"""A Program as the members of a document: inputs, nodes, outputs, conditions and facts on sizes, all plain JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnsupportedOperation
from ..primitives.primitive import CONSTANT, DIM, INPUT, LITERAL, literal_value
from ..program.node import Node
from ..program.program import Program
from .arrays import written_dtype, written_elements, written_scalar
from .dims import written_dim
from .limits import LONGEST_NAME, MOST_INPUTS, MOST_NODES
from .operations import written_operation


def written_program(program: Program, conditions: int = 0) -> dict[str, Any]:
    """The members of a document that are the Program, whose last outputs are so many ``conditions``.

    Values are numbered: the inputs from 0, then the nodes, operands first. Raises UnsupportedOperation for what has no
    place in JSON.

    >>> import symgrad
    >>> written_program(symgrad.trace(lambda x: x * 2, 1.0))["nodes"][1]["operands"]
    [0, 1]
    """
    nodes = [n for n in program.nodes if n.primitive is not INPUT]
    if len(nodes) > MOST_NODES or len(program.inputs) > MOST_INPUTS:
        raise UnsupportedOperation(
            f"the JSON form has at most {MOST_INPUTS} inputs and {MOST_NODES} nodes, and this program has "
            f"{len(program.inputs)} and {len(nodes)}; export it as source, or write its loops as array operations."
        )
    number = {n: k for k, n in enumerate((*program.inputs, *nodes))}
    at = [number[n] for n in program.outputs]
    last = len(at) - conditions
    return {
        "inputs": [_input(n, label, number[n]) for n, label in zip(program.inputs, program.names, strict=True)],
        "nodes": [_node(n, number) for n in nodes],
        "outputs": at[:last],
        "conditions": at[last:],
        "sizes": [{"size": written_dim(d), "is": sign} for d, sign in program.graph.sizes.facts],
    }


def _input(node: Node, label: str, number: int) -> dict[str, Any]:
    shown = label.encode("utf-8", "replace").decode("utf-8")[:LONGEST_NAME]
    return {"number": number, "label": shown, **_kind(node)}


def _kind(node: Node) -> dict[str, Any]:
    made: dict[str, Any] = {"shape": [written_dim(d) for d in node.shape], "dtype": written_dtype(node.dtype)}
    return made | ({"weak": True} if node.weak else {})


def _node(node: Node, number: dict[Node, int]) -> dict[str, Any]:
    kind = _kind(node)
    if node.primitive is CONSTANT:
        return {"number": number[node], "op": "constant", **kind, **written_elements(np.asarray(node.params[0].value))}
    if node.primitive is LITERAL:
        return {"number": number[node], "op": "literal", "value": written_scalar(literal_value(node)), **kind}
    if node.primitive is DIM:
        return {"number": number[node], "op": "dim", "size": written_dim(node.params[0]), **kind}
    operation = written_operation(node)
    return {
        "number": number[node],
        "op": operation.pop("op"),
        "operands": [number[o] for o in node.operands],
        **operation,
        **kind,
    }
