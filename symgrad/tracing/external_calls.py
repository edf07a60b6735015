"""Calls of code that is run as it is: its arguments as it would get them without a trace, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError, TracingError
from ..primitives.loop import STEP
from ..primitives.primitive import EXAMPLE
from ..program.interpret import evaluated
from ..program.node import Node, ancestors
from .trace import Trace, outside_of_traces


class Operand(NamedTuple):
    """Stands among the leaves of arguments for a value that the program computes; ``weak``: for a Python scalar."""

    place: int
    weak: bool


def called(name: str, function: Callable[..., Any], leaves: Sequence[Any], values: Sequence[Any]) -> Any:
    """``function`` of a list of leaves, with these values in place of operands; no trace is on.

    It has copies of its own of arrays, so that it may keep them, and C, which takes no notice of flags, may write where
    it likes; what is written is an ArgumentError.
    """
    own = [_own(v) for v in values]
    filled = [_given(own[leaf.place], leaf.weak) if type(leaf) is Operand else leaf for leaf in leaves]
    with outside_of_traces():
        try:
            made = function(filled)
        except TracingError as error:
            raise TracingError(
                f"{name} runs as it is, on plain arrays, and it met a traced value that it was not given: pass as an "
                f"argument what it reads of the traced function around it ({error})"
            ) from error
    for k, (array, value) in enumerate(zip(own, values, strict=True)):
        if array.ndim and not np.array_equal(array, value, equal_nan=array.dtype.kind == "f"):
            raise ArgumentError(
                f"{name} wrote into its array argument {k}, which belongs to its caller; let it write into a copy."
            )
    return made


def _own(value: Any) -> np.ndarray:
    return np.array(value, order="C")


def _given(array: np.ndarray, weak: bool) -> Any:
    """A value as functions get it: a Python scalar, NumPy's scalar, or an array."""
    return array.item() if weak and not array.ndim else array[()]


def known_values(trace: Trace, nodes: Sequence[Node]) -> list[Any] | None:
    """What these nodes hold in this run, for the first example or step where they differ; None where nobody knows."""
    try:
        return [_value(trace, n) for n in nodes]
    except _Unknown:
        return None


class _Unknown(Exception):
    """A value that depends on an input of which only the shape is known."""


def _value(trace: Trace, node: Node) -> Any:
    if trace.has_value(node):
        return trace.value_of(node)
    known: dict[Node, Any] = {}
    with np.errstate(all="ignore"):
        for n in ancestors([node]):
            known[n] = trace.values[n] if n in trace.values else _computed(trace, n, known)
    return known[node]


def _computed(trace: Trace, node: Node, known: dict[Node, Any]) -> Any:
    if node.primitive is EXAMPLE or node.primitive is STEP:
        whole = _value(trace, node.params[1])
        if node.primitive is STEP and not node.params[2]:
            return whole
        if not len(whole):
            raise _Unknown
        return whole[0]
    if node.primitive.name in ("input", "dim"):
        raise _Unknown
    return evaluated(node, [known[o] for o in node.operands])
