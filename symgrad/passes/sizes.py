"""A program at given sizes: names of dims replaced everywhere that they stand, in the bodies of loops too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import sympy

from ..primitives.loop import Loop
from ..primitives.primitive import INPUT, constant, dim_value, literal
from ..program.dims import Dim, is_named, value_of
from ..program.interpret import walk
from ..program.node import Graph, Node, emit
from ..program.program import Program


def at_sizes(program: Program, sizes: Mapping[sympy.Symbol, int]) -> Program:
    """``program`` with ints for its named dims, in a graph of its own."""
    return resized(program, lambda dim: value_of(dim, sizes))


def resized(program: Program, new: Callable[[Dim], Dim]) -> Program:
    """``program`` with ``new`` dims for those that are expressions in names, in a graph of its own."""
    loops: dict[Loop, Loop] = {}

    def sized(param: Any) -> Any:
        if isinstance(param, Loop):
            if param not in loops:
                loops[param] = resized_loop(param, new)
            return loops[param]
        if isinstance(param, tuple):
            return like(param, map(sized, param))
        return new(param) if isinstance(param, sympy.Basic) else param

    def at_size(node: Node, operands: list[Node]) -> Node:
        return made_again(node, operands, sized(node.params))

    graph = Graph()
    with graph:
        pairs = zip(program.inputs, program.names, strict=True)
        image = {n: Node(INPUT, (), (name,), sized(n.shape), n.dtype, n.weak, n.masked) for n, name in pairs}
        walk(program.nodes, image, at_size)
    inputs = [image[n] for n in program.inputs]
    return Program(inputs, [image[n] for n in program.outputs], program.names, graph)


def resized_loop(loop: Loop, new: Callable[[Dim], Dim]) -> Loop:
    """The loop with ``new`` dims for those that are expressions in names; itself where it has none."""
    nodes = (*loop.inputs, *loop.body.every_node)
    if not is_named(loop.length) and not any(is_named(d) for n in nodes for d in n.shape):
        return loop
    return loop.like(resized(loop.body, new), length=new(loop.length) if is_named(loop.length) else loop.length)


def like(param: Any, items: Iterable[Any]) -> Any:
    """A tuple of the class of ``param``, which may have names for its items."""
    return param._make(items) if hasattr(param, "_make") else tuple(items)


def made_again(node: Node, operands: Sequence[Node], params: tuple[Any, ...]) -> Node:
    """The node on other operands and with other parameters, in the active graph; a leaf, but for an input, too."""
    make = _LEAVES.get(node.primitive.name)
    return make(params[0]) if make else emit(node.primitive, tuple(operands), params)


_LEAVES: dict[str, Callable[[Any], Node]] = {"constant": constant, "dim": dim_value, "literal": literal}
