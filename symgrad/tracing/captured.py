"""The constants of a trace: arrays that come from outside of it, or that its function makes of plain numbers."""

from __future__ import annotations

import numpy as np

from ..primitives.primitive import CapturedArray, constant
from ..program.node import Node
from .plain_arrays import checked_dtype, is_same_array, plain_array
from .provenance import array_name

#: elements up to which arrays that hold the same are one constant
_FEW = 64


class Constants:
    """The node of each array: the same array has the same while it holds the same, and so have the same few numbers.

    So steps that make the same numbers anew are alike. What can only be read may be a view of what is written to.
    """

    def __init__(self) -> None:
        self._nodes: dict[int, tuple[np.ndarray, Node]] = {}  # which holds the arrays, so that no id is used again
        self._few: dict[tuple, Node] = {}

    def of(self, array: np.ndarray) -> Node:
        """The node of ``array``."""
        found = self._nodes.get(id(array))
        if found is None or not is_same_array(found[1].params[0].value, array):
            found = self._nodes[id(array)] = (array, self._made(array))
        return found[1]

    def arrays(self) -> list[np.ndarray]:
        """Those that came from outside, and those that the function has made."""
        return [array for array, _ in self._nodes.values()]

    def _made(self, array: np.ndarray) -> Node:
        plain, name = plain_array(array, "a captured array"), array_name(array)
        checked_dtype(plain.dtype, "a captured array")
        captured = CapturedArray(np.array(plain), label=name)
        if plain.size > _FEW:
            return constant(captured)
        key = (name, plain.dtype, plain.shape, plain.tobytes())
        if key not in self._few:
            self._few[key] = constant(captured)
        return self._few[key]
