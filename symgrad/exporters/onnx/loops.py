"""A loop as the operator ``Scan``, whose graph is one step; what does not change from step to step it reads outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...primitives.loop import Loop
from ...program.node import Node
from .graph import Graph
from .steps import INT, Inner, Value, needed, xp


def repeated(
    g: Graph, node: Node, operands: Sequence[Value], compute: Callable[[Sequence[Node], dict[Node, Value]], None]
) -> dict[tuple, Value]:
    """The results of a loop, by the parameters of its parts; ``compute`` gives nodes their values."""
    loop: Loop = node.params[0]
    first = loop.carries + loop.elements
    arrays = list(operands[loop.carries : first])
    if not arrays:  # an operator without any has no length
        arrays.append(g.constant(np.arange(loop.length), INT))
    outer = len(g.conditions)
    with g.inside() as steps:
        given = [g.fresh(n.dtype, n.shape) for n in loop.inputs[:first]]
        known = dict(zip(loop.inputs, [*given, *operands[first:]], strict=True))
        given += [] if loop.elements else [g.fresh(INT, ())]
        compute(loop.body.nodes, known)
        made = [g.copy(known[o]) for o in loop.body.outputs]
        holding, g.conditions[outer:] = g.conditions[outer:], []
        for k, holds in enumerate(holding):
            holding[0] = holds if k == 0 else holding[0] & holds
        made += [g.copy(holding[0])] if holding else []
    shapes = [v.shape if k < loop.carries else (loop.length, *v.shape) for k, v in enumerate(made)]
    kept = len(made) - loop.carries
    ways = {"scan_input_directions": [1] * len(arrays), "scan_output_directions": [1] * kept} if loop.reverse else {}
    results = g.several(
        "Scan",
        [*operands[: loop.carries], *arrays],
        [(v.dtype, shape) for v, shape in zip(made, shapes, strict=True)],
        body=Inner(tuple(given), tuple(made), tuple(needed(steps, [v.name for v in made]))),
        num_scan_inputs=len(arrays),
        **{name: way for name, way in ways.items() if way},
    )
    if holding:
        g.conditions.append(xp.logical_not(g.any(xp.logical_not(results.pop()), [0])))
    pieces = [results[k] for k in loop.finals] + results[loop.carries :]
    return {tuple(p): v for p, v in zip(loop.pieces, pieces, strict=True)}
