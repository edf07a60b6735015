"""Products with constants leave a loop: those of all steps are one.

``# scan(step(c, x @ U)) over xs -> scan(step(c, y)) over xs @ U``
``# ys of scan(step(c, x), h @ V) -> (hs of scan(step(c, x), h)) @ V``

The sums may go in another order: for kernels whose values are NumPy's to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import NamedTuple

from ..primitives.contraction import EINSUM
from ..primitives.loop import Loop, Piece, flow_input
from ..primitives.scan import PART, SCAN
from ..program.dims import is_concrete
from ..program.node import Graph, Node, emit
from ..program.program import Program
from .rewrite import Rule, rewrite

#: multiplications of a product for each element that it reads of a step, or makes, from which it leaves
_WORTH = 8
#: bytes that the values of all steps may take
_MAX_BYTES = 1 << 27


def gathered_products(program: Program) -> Program:
    """``program`` with the products that loops may leave to what is before and after them.

    New nodes are of Graphs of their own, since kernels are planned beside the thread that derives in the program's.
    """
    return _after(_before(program))


def _rewritten(program: Program, rule: Rule) -> Program:
    graph = Graph()
    graph.sizes = program.graph.sizes
    return rewrite(Program(program.inputs, program.outputs, program.names, graph), rule)


def _is_gathered(node: Node, loop: Loop, along: Collection[Node]) -> bool:
    """True for a product of values ``along`` the steps with constants that is worth an array of all of them."""
    if node.primitive is not EINSUM or node.dtype.kind != "f" or not is_concrete((*node.params[2], loop.length)):
        return False
    labels, out, sizes, _ = node.params
    constants = set(loop.inputs[loop.carries + loop.elements :])
    read = [o for o in node.operands if o in along]
    given = all(o in along or o in constants or o.is_literal for o in node.operands)
    if not (read and given and any(o in constants and o.shape for o in node.operands)) or len(set(out)) < len(out):
        return False
    work = math.prod(sizes[i] for i in {i for own in labels for i in own})
    elements = [math.prod(o.shape) for o in (node, *read)]
    return work >= _WORTH * sum(elements) and loop.length * max(elements) * node.dtype.itemsize <= _MAX_BYTES


def _of_all(node: Node, values: Mapping[Node, Node], along: Collection[Node], loop: Loop) -> Node:
    """A product of every step; ``values`` are operands outside of the loop."""
    labels, out, sizes, _ = node.params
    step = len(sizes)
    own = tuple([(step, *ls) if o in along else ls for o, ls in zip(node.operands, labels, strict=True)])
    operands = tuple([values.get(o, o) for o in node.operands])
    return emit(EINSUM, operands, (own, (step, *out), (*sizes, loop.length), ""))


# before the loop


def _before(program: Program) -> Program:
    """Products of elements are computed before, and are elements themselves."""
    leaving = {n: found for n in program.nodes if n.primitive is SCAN and (found := _of_elements(n.params[0]))}
    if not leaving:
        return program
    return _rewritten(program, lambda node, old: _given(node, leaving[old]) if old in leaving else None)


def _elements(loop: Loop) -> tuple[Node, ...]:
    return loop.inputs[loop.carries : loop.carries + loop.elements]


def _of_elements(loop: Loop) -> list[Node]:
    elements = set(_elements(loop))
    return [n for n in loop.body.bindings if _is_gathered(n, loop, elements)]


def _given(scan: Node, leaving: list[Node]) -> Node:
    """A loop that is given what ``leaving`` compute."""
    loop, operands = scan.params[0], scan.operands
    first = loop.carries + loop.elements
    given = {n: flow_input(f"product_{k}", n.shape, n) for k, n in enumerate(leaving)}
    body = _rewritten(loop.body, lambda _, old: given.get(old))
    inputs = [*body.inputs[:first], *given.values(), *body.inputs[first:]]
    values = dict(zip(loop.inputs, operands, strict=True))
    products = [_of_all(node, values, _elements(loop), loop) for node in leaving]
    made = loop.like(_body(inputs, body), elements=loop.elements + len(given))
    return _pruned(made, (*operands[:first], *products, *operands[first:]))


def _body(inputs: Collection[Node], body: Program) -> Program:
    return Program(list(inputs), body.outputs, [n.params[0] for n in inputs], body.graph)


def _pruned(loop: Loop, operands: tuple[Node, ...]) -> Node:
    """A loop with the inputs that it reads."""
    own, taken = loop.giving(tuple(range(len(loop.pieces))))
    return emit(SCAN, tuple([operands[k] for k in taken]), (own,))


# after the loop


class Kept(NamedTuple):
    """A loop that keeps what products are made of; for each piece of the other its own, and the product to be made."""

    loop: Loop
    pieces: list[tuple[int, Node | None]]


def _after(program: Program) -> Program:
    """Products that are only kept are computed after, of what is kept instead."""
    scans = [n for n in program.nodes if n.primitive is SCAN]
    whole = {o for n in program.nodes if n.primitive is not PART for o in n.operands}.union(program.outputs)
    changed = {n: found for n in scans if n not in whole and (found := _keeping(n.params[0]))}
    if not changed:
        return program

    def rule(node: Node, old: Node) -> Node | None:
        if node.primitive is not PART or old.operands[0] not in changed:
            return None
        loop, scan = old.operands[0].params[0], node.operands[0]
        kept = changed[old.operands[0]]
        number, product = kept.pieces[loop.pieces.index(Piece(*node.params))]
        part = emit(PART, (_pruned(kept.loop, scan.operands),), tuple(kept.loop.pieces[number]))
        if product is None:
            return part
        (value,) = _varying(product, loop)
        return _of_all(product, dict(zip(loop.inputs, scan.operands, strict=True)) | {value: part}, {value}, loop)

    return _rewritten(program, rule)


def _varying(product: Node, loop: Loop) -> set[Node]:
    """The operands of a product that are others at each step."""
    constants = loop.inputs[loop.carries + loop.elements :]
    return {o for o in product.operands if o not in constants and not o.is_literal}


def _keeping(loop: Loop) -> Kept | None:
    """The loop that keeps what the products are made of that it keeps; None where there are none."""
    uses = loop.body.uses
    factors: dict[Node, Node] = {}
    for node in loop.kept:
        varying = _varying(node, loop)
        if uses[node] == 1 and len(varying) == 1 and _is_gathered(node, loop, varying):
            (factors[node],) = varying
    if not factors:
        return None
    kept = list(dict.fromkeys(factors.get(n, n) for n in loop.kept))
    count = len(loop.finals)
    pieces: list[tuple[int, Node | None]] = [(k, None) for k in range(count)]
    pieces += [(count + kept.index(factors.get(n, n)), n if n in factors else None) for n in loop.kept]
    return Kept(loop.like(loop.body.with_outputs([*loop.body.outputs[: loop.carries], *kept])), pieces)
