"""Products of elements with constants leave a loop: those of all steps are one.

``# scan(step(c, x @ U)) over xs -> scan(step(c, y)) over xs @ U``. The sums may go in another order: for kernels whose
values are NumPy's to rounding.
"""

from __future__ import annotations

import math

from ..primitives.contraction import EINSUM
from ..primitives.loop import Loop, flow_input
from ..primitives.scan import SCAN
from ..program.dims import is_concrete
from ..program.node import Graph, Node, emit
from ..program.program import Program
from .rewrite import rewrite

#: multiplications of a product for each element that it reads of a step, or makes, from which it leaves
_WORTH = 8
#: bytes that the products of all steps may take
_MAX_BYTES = 1 << 27


def gathered_products(program: Program) -> Program:
    """``program`` with what its loops multiply elements by taken out of them.

    New nodes are of Graphs of their own, since kernels are planned beside the thread that derives in the program's.
    """
    leaving = {n: found for n in program.nodes if n.primitive is SCAN and (found := _leaving(n.params[0]))}
    if not leaving:
        return program
    graph = Graph()
    graph.sizes = program.graph.sizes
    own = Program(program.inputs, program.outputs, program.names, graph)
    return rewrite(own, lambda node, old: _without(node, leaving[old]) if old in leaving else None)


def _leaving(loop: Loop) -> list[Node]:
    """The products in a body that read elements and constants alone."""
    first = loop.carries + loop.elements
    elements, constants = set(loop.inputs[loop.carries : first]), set(loop.inputs[first:])
    found = []
    for node in loop.body.bindings:
        if node.primitive is not EINSUM or node.dtype.kind != "f" or not is_concrete((*node.params[2], loop.length)):
            continue
        read = [o for o in node.operands if o in elements]
        factors = [o for o in node.operands if o in constants and o.shape]
        given = all(o in elements or o in constants or o.is_literal for o in node.operands)
        if not (read and factors and given) or len(set(node.params[1])) < len(node.params[1]):
            continue
        labels, _, sizes, _ = node.params
        work = math.prod(sizes[i] for i in {i for own in labels for i in own})
        moved = math.prod(node.shape) + sum(math.prod(o.shape) for o in read)
        if work >= _WORTH * moved and loop.length * math.prod(node.shape) * node.dtype.itemsize <= _MAX_BYTES:
            found.append(node)
    return found


def _without(scan: Node, leaving: list[Node]) -> Node:
    """A loop that is given what ``leaving`` compute."""
    loop, operands = scan.params[0], scan.operands
    first = loop.carries + loop.elements
    given = {n: flow_input(f"product_{k}", n.shape, n) for k, n in enumerate(leaving)}
    body = loop.body
    made = rewrite(Program(body.inputs, body.outputs, body.names, Graph()), lambda _, old: given.get(old))
    products = [_of_all(node, dict(zip(loop.inputs, operands, strict=True)), loop) for node in leaving]
    pairs = list(zip(body.inputs, operands, strict=True))
    pairs[first:first] = zip(given.values(), products, strict=True)
    read = {*body.inputs[: loop.carries], *made.nodes}
    taken = [(n, o) for n, o in pairs if n in read]
    inputs = [n for n, _ in taken]
    elements = sum(n in read for n, _ in pairs[loop.carries : first + len(given)])
    changed = loop.like(Program(inputs, made.outputs, [n.params[0] for n in inputs], made.graph), elements=elements)
    return emit(SCAN, tuple([o for _, o in taken]), (changed,))


def _of_all(node: Node, outside: dict[Node, Node], loop: Loop) -> Node:
    """A product of every step."""
    labels, out, sizes, _ = node.params
    step = len(sizes)
    along = set(loop.inputs[loop.carries : loop.carries + loop.elements])
    own = tuple([(step, *ls) if o in along else ls for o, ls in zip(node.operands, labels, strict=True)])
    operands = tuple([outside.get(o, o) for o in node.operands])
    return emit(EINSUM, operands, (own, (step, *out), (*sizes, loop.length), ""))
