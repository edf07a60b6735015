"""How contractions are written: by labels, and primal ones by the NumPy calls that some lifted ones have too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..program.node import Node


def letters(labels: Sequence[int]) -> str:
    """Labels as text: ``i j k …``, then ``i1 j1 …``.

    >>> letters((0, 1))
    'ij'
    """
    alphabet = "ijklmnopqrstuvwxyzabcdefgh"
    return "".join(alphabet[i % 26] + (str(i // 26) if i >= 26 else "") for i in labels)


def spells_lifted(spelling: str, operands: Sequence[Node], batched: tuple[bool, ...]) -> bool:
    """Whether the call computes the contraction of ``operands`` too where the ``batched`` ones have a leading axis."""
    if spelling == "sum":
        return True
    if spelling in ("dot", "inner", "tensordot"):  # what stays of the first operand leads
        return batched == (True, False) and all(x.ndim for x in operands)
    if spelling not in ("matmul", "vecdot"):
        return False
    own = 2 if spelling == "matmul" else 1
    stacked = [x.ndim - own for x in operands]
    if all(batched):  # stacked axes align from the right
        return min(stacked) >= 0 and stacked[0] == stacked[1]
    lifted, other = stacked if batched[0] else stacked[::-1]
    if lifted >= 0:
        return other <= lifted
    return batched[0] and other <= 0  # a vector on the left becomes the rows of a matrix


def shared_axes(labels: Sequence[tuple[int, ...]]) -> tuple[list[int], list[int]]:
    """The axes of two operands that are contracted with one another, as ``np.tensordot`` takes them."""
    first, second = labels
    pairs = [(k, second.index(i)) for k, i in enumerate(first) if i in second]
    return [i for i, _ in pairs], [j for _, j in pairs]


def spelled_value(
    spelling: str, labels: Sequence[tuple[int, ...]], out: tuple[int, ...], values: tuple[Any, ...]
) -> Any:
    """What the NumPy call computes that a primal contraction came from."""
    if spelling == "sum":
        return np.add.reduce(values[0], axis=tuple(k for k, i in enumerate(labels[0]) if i not in out))
    if spelling == "einsum":
        return np.einsum(*[x for pair in zip(values, map(list, labels), strict=True) for x in pair], list(out))
    if spelling == "tensordot":
        return np.tensordot(*values, axes=shared_axes(labels))
    if spelling == "self_dot":
        return self_dot(values[0])
    return getattr(np, spelling)(*values)


def self_dot(x: np.ndarray) -> Any:
    """The sum of squares of all elements in memory order, as ``np.linalg.norm`` takes it."""
    flat = np.ravel(x, order="K")
    return flat.dot(flat)


def diagonal_embed(wide: np.ndarray, unique: Sequence[int], out: Sequence[int]) -> np.ndarray:
    """Zeros of the output's shape with ``wide`` on the diagonal where output labels repeat."""
    extent = dict(zip(unique, wide.shape, strict=True))
    result = np.zeros(tuple(extent[i] for i in out), wide.dtype)
    np.einsum(result, list(out), list(unique))[...] = wide
    return result
