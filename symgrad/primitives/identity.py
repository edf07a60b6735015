"""Identities with a say in differentiation: marks, stop_gradient and custom rules."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import DtypeError, at_user_line
from ..program.node import Node, emit
from .primitive import Primitive

_marks = itertools.count()


class Mark(Primitive):
    """The value itself under a new name: what a derivative inside a trace is taken by."""

    name = "mark"

    def infer(self, operands, params):
        (x,) = operands
        return x.shape, x.dtype, x.weak

    def masks(self, operands, params):
        return operands[0].masked

    def jvp(self, node, source, key, tangent, batch):
        return tangent

    def vjp(self, node, source, key, ct, batch):
        return ct

    def vmap(self, node, operands, batched, over):
        return operands[0]  # what is derived by one example's mark is derived

    def evaluate(self, params, *values):
        return values[0]


class Stop(Mark):
    """The value itself, as a constant."""

    name = "stop_gradient"

    def dependencies(self, node):
        return ()

    def vmap(self, node, operands, batched, over):
        return stop_gradient(operands[0])


class Custom(Primitive):
    """Operand 0's value with a declared derivative by the other operands.

    ``params = (rule,)``: ``rule.vjp(node, key, ct, batch)`` gives the cotangent of operand ``key``, or None, and
    ``rule.jvp`` the tangent along its own. ``rule.lifted(node, batched, over)`` is the rule for many examples at once,
    of ``rule.count`` operands.
    """

    name = "custom"

    def infer(self, operands, params):
        return operands[0].shape, operands[0].dtype, False

    def dependencies(self, node):
        return [(o, k) for k, o in enumerate(node.operands) if k and o.differentiable]

    def vjp(self, node, source, key, ct, batch):
        return node.params[0].vjp(node, key, ct, batch)

    def jvp(self, node, source, key, tangent, batch):
        return node.params[0].jvp(node, key, tangent, batch)

    def vmap(self, node, operands, batched, over):
        value = operands[0] if batched[0] else over.repeated(operands[0])
        rule = node.params[0].lifted(node, batched[1:], over)
        return custom(value, operands[1 : 1 + rule.count], rule)

    def evaluate(self, params, *values):
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
        raise DtypeError(
            at_user_line("a declared rule (bprop) is of real numbers, and these are complex; pass their parts.")
        )
    return emit(CUSTOM, (value, *sources), (rule,))
