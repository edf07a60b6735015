"""Layers that pad, and that change the size of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from .. import ops
from ..errors import ArgumentError
from .cell import Cell
from .cell_of import cell_of

__all__ = [
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Pad",
    "PixelShuffle",
    "PixelUnshuffle",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "Upsample",
    "ZeroPad2d",
]


class Pad(Cell):
    """``x`` padded by ``paddings``, a pair of ints for each axis; ``mode``: "CONSTANT" (0), "REFLECT" or "SYMMETRIC".

    >>> Pad(((0, 0), (1, 0)))(np.ones((1, 2)))
    array([[0., 1., 1.]])
    """

    def __init__(self, paddings: Sequence[tuple[int, int]], mode: str = "CONSTANT") -> None:
        super().__init__()
        if mode not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
            raise ArgumentError(f"Pad: mode is 'CONSTANT', 'REFLECT' or 'SYMMETRIC', got {mode!r}.")
        self.paddings, self.mode = tuple(map(tuple, paddings)), mode

    def construct(self, x):
        return np.pad(x, self.paddings, mode=self.mode.lower())  # type: ignore[call-overload]


class _Padding(Cell):
    mode: ClassVar[str] = "constant"
    axes: ClassVar[int]

    def __init__(self, padding: Any, value: Any = None) -> None:
        super().__init__()
        flat = (padding,) * (2 * self.axes) if isinstance(padding, int) else tuple(padding)
        if len(flat) != 2 * self.axes or any(not isinstance(p, int) or p < 0 for p in flat):
            wanted = 2 * self.axes
            raise ArgumentError(f"{type(self).__name__}: padding is an int of at least 0 or {wanted}, got {padding!r}.")
        self.padding, self.value = flat, value

    def construct(self, x):
        return ops.pad(x, self.padding, self.mode, self.value)

    def extend_repr(self) -> str:
        return f"padding={self.padding}"


def _padding(name: str, axes: int, mode: str, told: str) -> Any:
    doc = f"{told}, along the last {axes} axes; ``padding`` is an int, or one for each side, from the last axis on."
    return type(name, (_Padding,), {"axes": axes, "mode": mode, "__doc__": doc, "__module__": __name__})


ConstantPad1d, ConstantPad2d, ConstantPad3d = (
    _padding(f"ConstantPad{n}d", n, "constant", "Pads with ``value``") for n in (1, 2, 3)
)
ZeroPad2d = _padding("ZeroPad2d", 2, "constant", "Pads with zeros")
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = (
    _padding(f"ReflectionPad{n}d", n, "reflect", "Pads with what is reflected at the edge") for n in (1, 2, 3)
)
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = (
    _padding(f"ReplicationPad{n}d", n, "replicate", "Pads with the elements at the edge") for n in (1, 2, 3)
)

Upsample = cell_of("Upsample", ops.interpolate)
PixelShuffle = cell_of("PixelShuffle", ops.pixel_shuffle)
PixelUnshuffle = cell_of("PixelUnshuffle", ops.pixel_unshuffle)
