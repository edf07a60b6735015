"""A program at given sizes: names of dims replaced by ints, everywhere that they stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy

from ..primitives.loop import Loop
from ..primitives.primitive import constant, dim_value, input_node, literal
from ..program.dims import value_of
from ..program.interpret import walk
from ..program.node import Graph, Node, emit
from ..program.program import Program


def at_sizes(program: Program, sizes: Mapping[sympy.Symbol, int]) -> Program:
    """``program`` with ints for its named dims, in a graph of its own; so are the bodies of its loops."""
    loops: dict[Loop, Loop] = {}

    def sized(param: Any) -> Any:
        if isinstance(param, tuple):
            return tuple([sized(p) for p in param])
        if isinstance(param, Loop):
            if param not in loops:
                loops[param] = param.like(at_sizes(param.body, sizes), length=sized(param.length))
            return loops[param]
        return value_of(param, sizes) if isinstance(param, sympy.Basic) else param

    def at_size(node: Node, operands: list[Node]) -> Node:
        make = _LEAVES.get(node.primitive.name)
        return make(sized(node.params[0])) if make else emit(node.primitive, tuple(operands), sized(node.params))

    graph = Graph()
    with graph:
        pairs = zip(program.inputs, program.names, strict=True)
        image = {n: input_node(name, sized(n.shape), n.dtype, n.weak) for n, name in pairs}
        walk(program.nodes, image, at_size)
    inputs = [image[n] for n in program.inputs]
    return Program(inputs, [image[n] for n in program.outputs], program.names, graph)


_LEAVES: dict[str, Callable[[Any], Node]] = {"constant": constant, "dim": dim_value, "literal": literal}
