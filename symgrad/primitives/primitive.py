"""Primitive: what an operation on whole arrays declares, and the leaves of every program.

A primitive declares its value, its shape and dtype, and its local linear map from each operand. The
map is stated once: ``jvp`` applies it to a tangent (forward mode), ``vjp`` applies its transpose to
a cotangent (reverse mode). Both accept ``batch`` leading axes, so a seed may be a whole identity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UnsupportedOperation
from ..program.dims import Dim, Shape
from ..program.node import Node, active_graph, emit

if TYPE_CHECKING:
    from ..program.program import Program
    from .batching import Batching

#: what an operation is told beside its operands
Params = tuple[Any, ...]


class Primitive:
    """Base class; one instance a primitive."""

    name: str = ""
    #: whether the value follows from operands and parameters alone, so that it may be computed once
    foldable: bool = True
    #: whether the flows of several operands go through at once, by ``jvp_of_all`` and ``vjp_of_all``
    flows_together: bool = False
    #: whether structural zeros of any operand are zeros of the result, or meet what is not chosen alone
    keeps_zeros: bool = False
    #: how the parameters are spelled behind the name
    parameters: str = ""

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        """Shape, dtype and weakness of the result."""
        raise NotImplementedError

    def masks(self, operands: tuple[Node, ...], params: Params) -> bool:
        """Whether the result holds structural zeros (see ``Node.masked``)."""
        return self.keeps_zeros and any(o.masked for o in operands)

    def dependencies(self, node: Node) -> Sequence[tuple[Node, Any]]:
        """``(source, key)`` pairs: what the value depends on smoothly; ``key`` names the linear map."""
        return [(o, k) for k, o in enumerate(node.operands) if o.differentiable] if node.differentiable else []

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        """The tangent of ``node`` from the tangent of one source; None where it is zero."""
        raise NotImplementedError

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        """The cotangent of one source from that of ``node``; None where it is zero."""
        raise NotImplementedError

    def jvp_of_all(self, node: Node, tangents: Mapping[Any, Node], batch: int) -> Node | None:
        """The tangent of ``node`` along those of several sources, by their keys; None where it is zero."""
        raise NotImplementedError

    def vjp_of_all(self, node: Node, keys: Sequence[Any], ct: Node, batch: int) -> Mapping[Any, Node | None]:
        """The cotangents of several sources, by their keys."""
        raise NotImplementedError

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        """``node`` for ``over.size`` examples at once, along a leading axis; the rule of ``vmap``.

        ``operands`` are those of ``node``, lifted where ``batched`` says so: there the examples lead.
        """
        raise UnsupportedOperation.here(
            f"vmap has no rule for {self.name}; compute it for one example at a time, in a loop."
        )

    def evaluate(self, params: Params, *values: Any) -> Any:
        """The value on NumPy arrays."""
        raise NotImplementedError

    def spell(self, node: Node) -> str:
        """The name with its parameters, for ``str(program)``."""
        return self.name + self.parameters.format(*node.params)

    def bodies(self, params: Params) -> Sequence[Program]:
        """The programs that it runs within itself, as a loop does."""
        return ()


class Leaf(Primitive):
    """A node without operands; nothing flows through it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        raise NotImplementedError("leaves are built with their shape")


class Constant(Leaf):
    """An array that a trace found outside."""

    def evaluate(self, params: Params, *values: Any) -> Any:
        return params[0].value


class Literal(Leaf):
    """A Python scalar; weakly typed, as in NumPy."""

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return (), _LITERAL_DTYPES[params[2]], True

    def evaluate(self, params: Params, *values: Any) -> Any:
        return params[0]

    def spell(self, node: Node) -> str:
        return node.params[1]


_LITERAL_DTYPES = {
    bool: np.dtype(bool),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}

INPUT = Leaf("input")
#: stands for one example of what ``vmap`` maps over (its last parameter), an input that is gone once it is lifted
EXAMPLE = Leaf("input")
CONSTANT = Constant("constant")
DIM = Leaf("dim")
LITERAL = Literal("literal")


class CapturedArray:
    """A NumPy array that a trace found outside, or derivations made under a key; compared by identity.

    ``label`` is what the user's code calls it, if anything.
    """

    __slots__ = ("key", "label", "value")

    def __init__(self, value: np.ndarray, key: tuple[Any, ...] | None = None, label: str = "") -> None:
        self.value = value
        self.key = key
        self.label = label

    def __repr__(self) -> str:
        return f"array{list(self.value.shape)}"


def input_node(label: str, shape: Shape, dtype: np.dtype, weak: bool = False) -> Node:
    """A fresh input; never interned, so two inputs are never the same."""
    return Node(INPUT, (), (label,), tuple(shape), np.dtype(dtype), weak)


def constant(captured: CapturedArray) -> Node:
    """The node for a captured array."""
    value = captured.value
    return _leaf(CONSTANT, (captured,), value.shape, value.dtype)


def made_constant(key: tuple[Any, ...], make: Callable[[], np.ndarray]) -> Node:
    """The node for the array that ``make`` gives, one in a graph for each key, of texts, numbers and tuples of them."""
    table = active_graph().table
    if key not in table:
        table[key] = constant(CapturedArray(make(), key))
    return table[key]


def dim_value(dim: Dim) -> Node:
    """A dim as a scalar value: a literal for an int, a leaf for a named one."""
    return literal(dim) if isinstance(dim, int) else _leaf(DIM, (dim,), (), np.dtype(np.int64), True)


def _leaf(primitive: Leaf, params: Params, shape: Shape, dtype: np.dtype, weak: bool = False) -> Node:
    table = active_graph().table
    key = (primitive, (), params)
    node = table.get(key)
    if node is None:
        node = table[key] = Node(primitive, (), params, shape, dtype, weak)
    return node


def literal(value: complex) -> Node:
    """A weakly typed scalar."""
    return emit(LITERAL, (), (value, repr(value), type(value)))


def literal_value(node: Node) -> Any:
    """The Python scalar of a literal node."""
    return node.params[0]


def known_value(node: Node) -> np.ndarray | None:
    """What a constant or a literal holds, as an array; None for what is computed."""
    if node.primitive not in (CONSTANT, LITERAL):
        return None
    return np.asarray(node.params[0].value if node.primitive is CONSTANT else node.params[0])


#: the reverse sweep, by which a tangent map is transposed; ``differentiation`` puts it here
SWEEP: list[Callable[..., Any]] = []


class Stacked(Primitive):
    """An operation on the last axes, before which any others are examples."""

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        return emit(self, operands, node.params)


class ByTangent(Stacked):
    """An operation whose rule is its ``jvp``: the cotangent is what the transpose of that gives."""

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        direction = input_node("tangent", source.shape, source.dtype)
        return SWEEP[0]([self.jvp(node, source, key, direction, 0)], [ct], [direction], batch)[0]
