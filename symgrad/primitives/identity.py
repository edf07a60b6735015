"""Identities with a say in differentiation: marks, stop_gradient and custom rules."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DtypeError
from ..program.dims import Shape
from ..program.node import Node, emit
from .primitive import Params, Primitive

if TYPE_CHECKING:
    from .batching import Batching

_marks = itertools.count()
#: operations whose value is that of their first operand; the last three are in ``equal_values``
IDENTITIES = ("mark", "stop_gradient", "custom", "apart", "unknown", "rare")


class Mark(Primitive):
    """The value itself under a new name: what a derivative inside a trace is taken by."""

    name = "mark"
    keeps_zeros = True

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        (x,) = operands
        return x.shape, x.dtype, x.weak

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        return tangent

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        return ct

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        return operands[0]  # what is derived by one example's mark is derived

    def evaluate(self, params: Params, *values: Any) -> Any:
        return values[0]


class Stop(Mark):
    """The value itself, as a constant."""

    name = "stop_gradient"

    def dependencies(self, node: Node) -> Sequence[tuple[Node, Any]]:
        return ()

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        return stop_gradient(operands[0])


class Custom(Primitive):
    """Operand 0's value with a declared derivative by the other operands.

    ``params = (rule,)``: ``rule.vjp(node, key, ct, batch)`` gives the cotangent of operand ``key``, or None, and
    ``rule.jvp`` the tangent along its own. ``rule.lifted(node, batched, over)`` is the rule for many examples at once,
    of ``rule.count`` operands.
    """

    name = "custom"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return operands[0].shape, operands[0].dtype, False

    def dependencies(self, node: Node) -> Sequence[tuple[Node, Any]]:
        return [(o, k) for k, o in enumerate(node.operands) if k and o.differentiable]

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        return node.params[0].vjp(node, key, ct, batch)

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        return node.params[0].jvp(node, key, tangent, batch)

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        value = operands[0] if batched[0] else over.repeated(operands[0])
        rule = node.params[0].lifted(node, batched[1:], over)
        return custom(value, operands[1 : 1 + rule.count], rule)

    def evaluate(self, params: Params, *values: Any) -> Any:
        return np.array(values[0])


MARK, STOP, CUSTOM = Mark(), Stop(), Custom()


def mark(node: Node) -> Node:
    """``node`` under a name that nothing else has."""
    return emit(MARK, (node,), (next(_marks),))


def stop_gradient(node: Node) -> Node:
    """``node`` without its derivative."""
    return emit(STOP, (node,))


def custom(value: Node, sources: Sequence[Node], rule: Any) -> Node:
    """``value``, whose derivative by ``sources`` is what ``rule`` says."""
    if any(n.is_complex for n in (value, *sources)):
        raise DtypeError.here("a declared rule (bprop) is of real numbers, and these are complex; pass their parts.")
    return emit(CUSTOM, (value, *sources), (rule,))
