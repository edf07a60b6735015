"""A program at given sizes: names of dims replaced by ints, everywhere that they stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy

from ..primitives.primitive import constant, dim_value, input_node, literal
from ..program.dims import value_of
from ..program.node import Graph, Node, emit
from ..program.program import Program


def at_sizes(program: Program, sizes: Mapping[sympy.Symbol, int]) -> Program:
    """``program`` with ints for its named dims, in a graph of its own."""

    def sized(param: Any) -> Any:
        if isinstance(param, tuple):
            return tuple([sized(p) for p in param])
        return value_of(param, sizes) if isinstance(param, sympy.Basic) else param

    image: dict[Node, Node] = {}
    graph = Graph()
    with graph:
        for node, name in zip(program.inputs, program.names, strict=True):
            image[node] = input_node(name, sized(node.shape), node.dtype, node.weak)
        for node in program.nodes:
            kind = node.primitive.name
            if kind == "input":
                continue
            if kind == "constant":
                image[node] = constant(node.params[0])
            elif kind == "dim":
                image[node] = dim_value(sized(node.params[0]))
            elif kind == "literal":
                image[node] = literal(node.params[0])
            else:
                image[node] = emit(node.primitive, tuple([image[o] for o in node.operands]), sized(node.params))
    inputs = [image[n] for n in program.inputs]
    return Program(inputs, [image[n] for n in program.outputs], program.names, graph)
