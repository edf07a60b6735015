"""Reshape: the same elements under another shape; linear, its transpose is the reshape back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..program.dims import Shape
from ..program.node import Node, emit
from .casting import CAST
from .contraction import EINSUM, contract, is_identity
from .identity import MARK
from .primitive import Params
from .selection import Selection, Structural

if TYPE_CHECKING:
    from .batching import Batching


class Reshaped(NamedTuple):
    """The part is the whole under another shape."""

    shape: Shape

    def take(self, whole: Node, batch: int) -> Node:
        return reshape(whole, whole.shape[:batch] + self.shape)

    def put(self, part: Node, shape: Shape, batch: int) -> Node:
        return reshape(part, part.shape[:batch] + shape)

    def taken(self, whole: np.ndarray, read: Callable[[Node], np.ndarray]) -> np.ndarray:
        return np.reshape(whole, self.shape)


class Reshape(Structural):
    """``params = (shape,)``; C order."""

    name = "reshape"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return params[0], operands[0].dtype, False

    def masks(self, operands: tuple[Node, ...], params: Params) -> bool:
        return operands[0].masked or is_identity(operands[0])

    def selection(self, node: Node, key: int) -> tuple[Selection, bool]:
        return Reshaped(node.shape), True

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        return reshape(operands[0], (over.size, *node.shape))

    def evaluate(self, params: Params, *values: Any) -> Any:
        return np.reshape(values[0], params[0])

    def spell(self, node: Node) -> str:
        return "reshape" + str(list(node.shape)).replace(" ", "")


RESHAPE = Reshape()


def reshape(x: Node, shape: Shape) -> Node:
    """``x`` as ``shape``, which holds as many elements (the caller has checked)."""
    if x.shape == shape:
        return x
    if [d for d in x.shape if d != 1] == [d for d in shape if d != 1]:
        return _with_unit_axes(x, tuple(shape))
    if x.primitive is RESHAPE:
        return reshape(x.operands[0], shape)
    return emit(RESHAPE, (x,), (tuple(shape),))


def _with_unit_axes(x: Node, shape: Shape) -> Node:
    """A reshape that only puts in or takes out axes of one: labels, which contractions absorb."""
    sizes = list(x.shape)
    wide = iter([k for k, d in enumerate(x.shape) if d != 1])
    out = []
    for d in shape:
        if d != 1:
            out.append(next(wide))
        else:
            out.append(len(sizes))
            sizes.append(1)
    return contract([x], [tuple(range(x.ndim))], tuple(out), sizes)


def moves_elements(node: Node) -> bool:
    """True for what moves elements, and computes none."""
    if node.primitive is EINSUM:
        labels, out, sizes, _ = node.params
        return len(labels) == 1 and all(i in out or sizes[i] == 1 for i in labels[0])
    return isinstance(node.primitive, Structural) or node.primitive in (CAST, MARK)
