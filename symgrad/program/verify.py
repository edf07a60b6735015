"""The verifier: what every Program must satisfy, checked in tests after every pass."""

from __future__ import annotations

from typing import Any

from ..errors import ProgramError
from .node import Node
from .program import Program


def verify(program: Program) -> Program:
    """``program`` itself, or a ProgramError that names the node at fault.

    Checks that operands come before results, that inputs are the only free values, that shapes and
    dtypes are what the primitive infers, and that no node stands twice under one key; so too of the bodies of loops.
    """
    inputs = set(program.inputs)
    for body in dict.fromkeys(body for n in program.nodes for body in n.primitive.bodies(n.params)):
        verify(body)
    if len(inputs) != len(program.inputs) or len(program.names) != len(program.inputs):
        raise ProgramError("an input stands twice, or the names do not match the inputs")
    seen: set[Node] = set()
    keys: set[tuple[Any, ...]] = set()
    for node in program.nodes:
        name = node.primitive.name
        if name == "input" and node not in inputs:
            raise ProgramError(f"{node} is used and is not an input of the program")
        for operand in node.operands:
            if operand not in seen:
                raise ProgramError(f"{node} stands before its operand {operand}")
        if not node.is_leaf:
            shape, dtype, weak = node.primitive.infer(node.operands, node.params)
            if (tuple(shape), dtype, weak) != (node.shape, node.dtype, node.weak):
                raise ProgramError(f"{node} should be {dtype}{list(shape)}")
        key = (node.primitive, node.operands, node.params)
        if name != "input":
            if key in keys:
                raise ProgramError(f"{node} is not shared: its key stands twice")
            keys.add(key)
        seen.add(node)
    return program
