"""Layers of pooling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from .. import ops
from ..ops.pooling import avg_pool, max_pool
from .cell import Cell

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
]


class _MaxPool(Cell):
    rank: ClassVar[int]

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.options = (kernel_size, stride, pad_mode, padding, dilation, return_indices, ceil_mode)

    def construct(self, x):
        return max_pool(type(self).__name__, self.rank, x, *self.options)

    def extend_repr(self) -> str:
        return _told(self.options)


class _AvgPool(Cell):
    rank: ClassVar[int]

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.options = (kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad, divisor_override)

    def construct(self, x):
        return avg_pool(type(self).__name__, self.rank, x, *self.options)

    def extend_repr(self) -> str:
        return _told(self.options)


def _told(options: tuple) -> str:
    kernel_size, stride, pad_mode, *_ = options
    return f"kernel_size={kernel_size}, stride={stride}, pad_mode={pad_mode}"


class _Adaptive(Cell):
    function: ClassVar[Callable]

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def construct(self, x):
        return type(self).function(x, self.output_size)

    def extend_repr(self) -> str:
        return f"output_size={self.output_size}"


def _layer(name: str, base: type[Cell], doc: str, **own: Any) -> Any:
    return type(name, (base,), {"__doc__": doc, "__module__": __name__, **own})


_AXES = {1: "the last axis", 2: "the last two axes", 3: "the last three axes"}
_MODES = "``pad_mode`` is 'valid', 'same' or 'pad', which pads ``padding``; windows are ``stride`` apart."
MaxPool1d, MaxPool2d, MaxPool3d = (
    _layer(f"MaxPool{n}d", _MaxPool, f"The largest element of each window of {axes}. {_MODES}", rank=n)
    for n, axes in _AXES.items()
)
AvgPool1d, AvgPool2d, AvgPool3d = (
    _layer(f"AvgPool{n}d", _AvgPool, f"The mean of each window of {axes}. {_MODES}", rank=n)
    for n, axes in _AXES.items()
)
AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AdaptiveMaxPool1d, AdaptiveMaxPool2d = (
    _layer(name, _Adaptive, f"``ops.{function.__name__}`` as a cell.", function=staticmethod(function))
    for name, function in (
        ("AdaptiveAvgPool1d", ops.adaptive_avg_pool1d),
        ("AdaptiveAvgPool2d", ops.adaptive_avg_pool2d),
        ("AdaptiveAvgPool3d", ops.adaptive_avg_pool3d),
        ("AdaptiveMaxPool1d", ops.adaptive_max_pool1d),
        ("AdaptiveMaxPool2d", ops.adaptive_max_pool2d),
    )
)
