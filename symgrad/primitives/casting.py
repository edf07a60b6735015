"""Changes of dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DtypeError
from ..program.dims import Shape
from ..program.node import Node, emit
from .primitive import Params, Primitive

if TYPE_CHECKING:
    from .batching import Batching


class Cast(Primitive):
    """A change of dtype; linear between floats, and the embedding of real numbers in complex ones."""

    name = "cast"
    keeps_zeros = True
    parameters = "[{}]"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return operands[0].shape, params[0], False

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        return flow_as(tangent, node.dtype)

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        return flow_as(ct, source.dtype)

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        return cast(operands[0], node.dtype)

    def evaluate(self, params: Params, *values: Any) -> Any:
        return np.asarray(values[0]).astype(params[0])


CAST = Cast()
#: the operation that takes the real part of complex numbers, which lose the other one where they become real
REAL_PART: list[Callable[[Node], Node]] = []


def cast(node: Node, dtype: np.dtype) -> Node:
    """``node`` as ``dtype``; the node itself where it already is, or is a Python scalar.

    Complex numbers become no real ones: a DtypeError.
    """
    if node.dtype.kind == "c" and dtype.kind not in "cb":
        raise DtypeError.here(
            "real numbers are needed here, and these are complex; take np.real, np.imag or np.abs of them."
        )
    if (node.dtype == dtype and not node.weak) or node.is_literal:
        return node
    return emit(CAST, (node,), (np.dtype(dtype),))


def flow_as(flow: Node, dtype: np.dtype) -> Node:
    """A tangent or cotangent as ``dtype``: of complex numbers the real part where ``dtype`` is real, which is the
    transpose of the embedding of real numbers."""
    return cast(REAL_PART[0](flow) if flow.is_complex and dtype.kind != "c" else flow, dtype)
