"""Bodies of loops, cut out of the program that they stand in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..primitives.identity import CUSTOM, custom
from ..primitives.primitive import dim_value, input_node, literal
from ..program.interpret import rebuilt, walk
from ..program.node import Graph, Node, active_graph, ancestors
from ..program.program import Program
from .loops import DifferentiableLoop
from .step_rules import in_a_step


def cut_out(
    carries: Sequence[Node], elements: Sequence[Node], outputs: Sequence[Node], names: Sequence[str]
) -> tuple[Program, list[Node], dict[Node, Node]]:
    """``outputs`` as a program of its own, what it takes of what stands around it, and the image of each node.

    What it takes are the constants of the loop. ``carries`` and ``elements`` are what a step is given, ``names`` what
    they are called. What does not depend on them is computed once, outside.
    """
    given = (*carries, *elements)
    along: dict[Node, bool] = dict.fromkeys(given, True)
    nodes = ancestors([*outputs, *given])
    walk(nodes, along, lambda _, below: any(below))
    rules = {n: in_a_step(n.params[0]) for n in nodes if n.primitive is CUSTOM and along[n]}
    values = [v for rule in rules.values() for v in rule.values]
    if values:
        nodes = ancestors([*nodes, *values])
        walk(nodes, along, lambda _, below: any(below))
    read = [o for n in nodes if along[n] and n not in given for o in n.operands] + [*outputs, *values]
    constants = [o for o in dict.fromkeys(read) if not along[o] and o.primitive.name not in _OWN]
    graph = Graph()
    graph.sizes = active_graph().sizes
    with graph:
        inputs = [input_node(name, n.shape, n.dtype) for name, n in zip(names, given, strict=True)]
        inputs += [input_node(f"c{k}", n.shape, n.dtype, n.weak) for k, n in enumerate(constants)]
        image = dict(zip((*given, *constants), inputs, strict=True))
        image |= {n: _OWN[n.primitive.name](n.params[0]) for n in read if n.primitive.name in _OWN}

        def copied(node: Node, operands: Sequence[Node]) -> Node:
            rule = rules.get(node)
            if rule is None:
                return rebuilt(node, operands)
            return custom(operands[0], [*operands[1:], *(image[v] for v in rule.values)], rule)

        walk([n for n in nodes if along[n]], image, copied)
    made = [image[o] for o in outputs]
    return Program(inputs, made, [*names, *(f"c{k}" for k in range(len(constants)))], graph), constants, image


_OWN = {"literal": literal, "dim": dim_value}


def loop_of(
    carries: Sequence[Node],
    elements: Sequence[Node],
    outputs: Sequence[Node],
    names: Sequence[str],
    length: object,
    reverse: bool = False,
    stores: bool = True,
    called: Mapping[Node, str] | None = None,
) -> tuple[DifferentiableLoop, list[Node]]:
    """The loop of which ``outputs`` is a step, and its constants; all carries are results.

    ``called`` are names of values that a step computes.
    """
    body, constants, image = cut_out(carries, elements, outputs, names)
    count = len(carries)
    own = {image[n]: name for n, name in (called or {}).items() if n in image}
    made = DifferentiableLoop(
        body, count, len(elements), length, range(count), reverse=reverse, stores=stores, called=own
    )
    return made, constants
