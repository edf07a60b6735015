"""What depends on no input is computed once, when the kernel is made.

``# f(constant, literal) -> constant``, for small arrays only: a large identity stays structure.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ..primitives.casting import cast
from ..primitives.contraction import GATE, expand
from ..primitives.functions import logical_not, where
from ..primitives.loop import Loop
from ..primitives.primitive import CapturedArray, Primitive, constant, known_value
from ..primitives.scan import SCAN
from ..program.dims import is_concrete, is_named, size
from ..program.node import Node
from ..program.program import Program
from .rewrite import rewrite

_LARGEST = 4096
_KNOWN = ("constant", "literal")
_BOTH, _EITHER = frozenset(("bitwise_and", "logical_and")), frozenset(("bitwise_or", "logical_or"))


def fold_constants(program: Program, kept: Collection[Primitive] = ()) -> Program:
    """``program`` with small values that depend on no input as constants, but for what is ``kept``."""
    program = without_known_choices(program)
    if not any(_depends_on_none(n) for n in program.bindings):
        return program
    return rewrite(program, lambda node, original: None if node.primitive in kept else _folded(node))


def without_known_choices(program: Program) -> Program:
    """``program`` with what is taken in place of choices whose conditions are known."""
    return rewrite(program, lambda node, _: _taken(node), (where, GATE))


def without_known_truths(program: Program) -> Program:
    """``program`` without single truth values that depend on no input, nor choices by them."""

    def rule(node: Node, original: Node) -> Node | None:
        return (_folded(node) or _decided(node)) if node.dtype.kind == "b" and not node.shape else None

    return without_known_choices(rewrite(program, rule))


def _decided(node: Node) -> Node | None:
    """What stands beside a truth value that is known, where both hold, or one of them."""
    if node.primitive.name not in _BOTH | _EITHER or any(o.dtype.kind != "b" for o in node.operands):
        return None
    for known, other in (node.operands, node.operands[::-1]):
        truth = _truth(known)
        if truth is not None:
            return other if truth is (node.primitive.name in _BOTH) else known
    return None


def _depends_on_none(node: Node) -> bool:
    for o in node.operands:
        if o.operands or o.primitive.name not in _KNOWN:
            return False
    if not node.operands or node.weak or not node.primitive.foldable:
        return False
    return node.primitive is not SCAN or _is_short(node.params[0])


def _taken(node: Node) -> Node | None:
    """What a choice takes everywhere whose condition is known; None for others, and where that is no operand."""
    condition, first, *others = node.operands
    known = None if node.weak else _truth(condition)
    if known is None or (not known and not others):
        return None
    return cast(expand(first if known else others[0], node.shape), node.dtype)


def _truth(node: Node) -> bool | None:
    """Whether a condition holds everywhere, or nowhere; None where neither is known."""
    if node.primitive is logical_not:
        known = _truth(node.operands[0])
        return None if known is None else not known
    values = known_value(node)
    if values is None or values.dtype.kind != "b" or not values.size or (values != values.flat[0]).any():
        return None
    return bool(values.flat[0])


def _is_short(loop: Loop) -> bool:
    """True for a loop that may be computed without a kernel."""
    return not is_named(loop.length) and loop.length * len(loop.body.every_node) <= _LARGEST


def _folded(node: Node) -> Node | None:
    if not _depends_on_none(node) or not is_concrete(node.shape) or size(node.shape) > _LARGEST:
        return None
    values = [o.params[0].value if o.primitive.name == "constant" else o.params[0] for o in node.operands]
    with np.errstate(all="ignore"):
        value = node.primitive.evaluate(node.params, *values)
    return constant(CapturedArray(np.array(value, dtype=node.dtype)))
