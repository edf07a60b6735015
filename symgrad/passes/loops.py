"""Loops before they run: of two that compute the same one is left, and what nothing reads is not computed.

``# part(scan(loop), k) -> part(scan(what keeps more), k)``
``# part(scan(loop), k) -> part(scan(less of loop), j)``
"""

from __future__ import annotations

from collections.abc import Callable

from ..primitives.loop import Loop, Piece
from ..primitives.scan import PART, SCAN
from ..program.kept import kept
from ..program.node import Node, emit
from ..program.program import Program
from .rewrite import rewrite


def pruned_loops(program: Program) -> Program:
    """``program`` with each loop once, which gives what is read."""
    if SCAN not in program.primitives:
        return program
    program = _merged(program)
    while True:
        made = _pruned(program)
        if made is program:
            return made
        program = made


def with_bodies(program: Program, change: Callable[[Program], Program], tidies: bool = False) -> Program:
    """``program`` with ``change`` made to the bodies of its loops.

    Where it only ``tidies`` them, they are still read as they were written.
    """
    if SCAN not in program.primitives:
        return program
    made: dict[Program, Program] = {}

    def rule(node: Node, _: Node) -> Node | None:
        loop = node.params[0]
        if loop.body not in made:
            made[loop.body] = change(loop.body)
        body = made[loop.body]
        if body is loop.body:
            return None
        known = _changed(loop)
        if body not in known:
            known[body] = loop.like(body, written=loop.written) if tidies else loop.like(body)
        return emit(SCAN, node.operands, (known[body],))

    return rewrite(program, rule, of=(SCAN,))


@kept
def _changed(loop: Loop) -> dict[Program, Loop]:
    """The loop with other bodies."""
    return {}


def _merged(program: Program) -> Program:
    """Each loop as that which keeps most of its steps on the same operands."""
    widest: dict[tuple[Loop, tuple[Node, ...]], Loop] = {}
    for node in program.nodes:
        if node.primitive is not SCAN:
            continue
        loop: Loop = node.params[0]
        while loop.base is not None and len(loop.base.operands) == len(loop.inputs):
            key = (loop.base.loop, node.operands)
            if key not in widest or len(widest[key].pieces) < len(node.params[0].pieces):
                widest[key] = node.params[0]
            loop = loop.base.loop
    if not widest:
        return program

    def rule(node: Node, old: Node) -> Node | None:
        if node.primitive is not PART or old.operands[0].primitive is not SCAN:
            return None
        scan = old.operands[0]
        loop = scan.params[0]
        wide = widest.get((loop, scan.operands))
        if wide is None:
            return None
        number = loop.pieces.index(Piece(*node.params))
        return emit(PART, (emit(SCAN, node.operands[0].operands, (wide,)),), tuple(wide.pieces[number]))

    return rewrite(program, rule)


def _pruned(program: Program) -> Program:
    """Each loop without what nothing reads."""
    read: dict[Node, set[Piece]] = {}
    whole = {o for o in program.outputs if o.primitive is SCAN}
    for node in program.nodes:
        for o in node.operands:
            if o.primitive is SCAN:
                if node.primitive is PART:
                    read.setdefault(o, set()).add(Piece(*node.params))
                else:
                    whole.add(o)
    needed: dict[Node, tuple[int, ...]] = {}
    for scan, parts in read.items():
        loop = scan.params[0]
        if scan not in whole:
            pieces = tuple([k for k, p in enumerate(loop.pieces) if p in parts])
            _, taken = loop.giving(pieces)
            if len(pieces) < len(loop.pieces) or len(taken) < len(scan.operands):
                needed[scan] = pieces
    if not needed:
        return program

    def rule(node: Node, old: Node) -> Node | None:
        if node.primitive is not PART or old.operands[0] not in needed:
            return None
        scan = node.operands[0]
        loop, pieces = scan.params[0], needed[old.operands[0]]
        own, taken = loop.giving(pieces)
        number = pieces.index(loop.pieces.index(Piece(*node.params)))
        row = emit(SCAN, tuple([scan.operands[k] for k in taken]), (own,))
        return emit(PART, (row,), tuple(own.pieces[number]))

    return rewrite(program, rule)
