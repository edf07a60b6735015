"""Layers of convolutions along one, two and three axes, and their transposes."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ..dtype import float32
from ..errors import ArgumentError, UnsupportedOperation
from ..ops.convolution import convolved, transposed
from ..ops.windows import each_axis, each_side
from ..tensor import Parameter
from .cell import Cell
from .initializers import initial

__all__ = ["Conv1d", "Conv1dTranspose", "Conv2d", "Conv2dTranspose", "Conv3d", "Conv3dTranspose"]


class _Convolution(Cell):
    """``ops.conv…d`` with weights of its own, which start uniform within ±1/√(inputs of an output)."""

    rank: ClassVar[int]
    #: whether the channels of the input come first in the shape of the weights
    transposes: ClassVar[bool] = False
    formats: ClassVar[tuple[str, ...]] = ("NCW", "NCHW", "NCDHW")

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        data_format: str | None = None,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        name, rank = type(self).__name__, self.rank
        if data_format not in (None, self.formats[rank - 1]):
            raise UnsupportedOperation(
                f"{name}: data_format={data_format!r} is not supported; put channels on axis 1, as "
                f"{self.formats[rank - 1]!r} has them, by np.moveaxis."
            )
        for what, size in (("in_channels", in_channels), ("out_channels", out_channels), ("group", group)):
            if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
                raise ArgumentError(f"{name}: {what} must be a positive int, got {size!r}.")
        if in_channels % group or out_channels % group:
            raise ArgumentError(f"{name}: {in_channels} and {out_channels} channels are not {group} groups.")
        if pad_mode not in ("same", "valid", "pad"):
            raise ArgumentError(f"{name}: pad_mode is 'same', 'valid' or 'pad', got {pad_mode!r}.")
        self.in_channels, self.out_channels, self.group = int(in_channels), int(out_channels), int(group)
        self.kernel_size = each_axis(f"{name}: kernel_size", kernel_size, rank)
        self.stride = each_axis(f"{name}: stride", stride, rank)
        self.dilation = each_axis(f"{name}: dilation", dilation, rank)
        self.pad_mode = pad_mode
        self.padding = padding
        self.has_bias = has_bias
        pads = each_side(f"{name}: padding", padding, rank)
        if pad_mode != "pad" and any(p for pair in pads for p in pair):
            raise ArgumentError(f"{name}: padding belongs to pad_mode='pad', got pad_mode={pad_mode!r}.")
        first, second = (in_channels, out_channels) if self.transposes else (out_channels, in_channels)
        shape = (first, second // group, *self.kernel_size)
        bound = 1 / math.sqrt(math.prod(shape[1:]))
        self.weight = Parameter(initial(weight_init, shape, dtype, bound))
        if has_bias:
            self.bias = Parameter(initial(bias_init, (self.out_channels,), dtype, bound))

    def construct(self, x):
        bias = self.bias if self.has_bias else None
        options = self.stride, self.pad_mode, self.padding, self.dilation, self.group
        return convolved(type(self).__name__, self.rank, x, self.weight, bias, *options)

    def extend_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, pad_mode={self.pad_mode}, padding={self.padding}, dilation={self.dilation}, "
            f"group={self.group}, has_bias={self.has_bias}"
        )


class Conv1d(_Convolution):
    """``ops.conv1d`` with weights of its own, of shape ``(out_channels, in_channels / group, kernel_size)``.

    The options are those of ``Conv2d``.

    >>> Conv1d(3, 2, 5)(np.ones((1, 3, 8), np.float32)).shape
    (1, 2, 8)
    """

    rank = 1


class Conv2d(_Convolution):
    """``ops.conv2d`` with weights of its own, of shape ``(out_channels, in_channels / group, *kernel_size)``.

    ``pad_mode`` is "same" by default, and there is no bias. Weights and bias start uniform within ±1/√n, n the
    inputs of an output, or as ``weight_init`` and ``bias_init`` say. Channels stand on axis 1 (``data_format="NCHW"``).
    Arguments out of range are an ArgumentError.

    >>> Conv2d(3, 2, 3, stride=2)(np.ones((1, 3, 8, 8), np.float32)).shape
    (1, 2, 4, 4)
    """

    rank = 2


class Conv3d(_Convolution):
    """``ops.conv3d`` with weights of its own, of shape ``(out_channels, in_channels / group, *kernel_size)``.

    The options are those of ``Conv2d``.

    >>> Conv3d(1, 2, 3, pad_mode="valid")(np.ones((1, 1, 4, 4, 4), np.float32)).shape
    (1, 2, 2, 2, 2)
    """

    rank = 3


class _Transposed(_Convolution):
    """The transpose of a convolution, whose weights have the shape ``(in_channels, out_channels / group, …)``."""

    transposes = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        data_format: str | None = None,
        dtype: Any = float32,
    ) -> None:
        options = (stride, pad_mode, padding, dilation, group, has_bias, weight_init, bias_init, data_format, dtype)
        super().__init__(in_channels, out_channels, kernel_size, *options)
        name = type(self).__name__
        self.output_padding = each_axis(f"{name}: output_padding", output_padding, self.rank, 0)
        if any(self.output_padding) and pad_mode != "pad":
            raise ArgumentError(f"{name}: output_padding belongs to pad_mode='pad', got pad_mode={pad_mode!r}.")

    def construct(self, x):
        bias = self.bias if self.has_bias else None
        extents = [d * (k - 1) + 1 for d, k in zip(self.dilation, self.kernel_size, strict=True)]
        pads, beyond = each_side("padding", self.padding, self.rank), list(self.output_padding)
        if self.pad_mode != "pad":  # the size is that of the axis times the stride, or more where windows overlap
            beyond = [max(s - e, 0) for s, e in zip(self.stride, extents, strict=True)]
        if self.pad_mode == "same":
            cut = [max(e - s, 0) for s, e in zip(self.stride, extents, strict=True)]
            pads = [(c // 2, c - c // 2) for c in cut]
        options = self.stride, pads, beyond, self.dilation, self.group
        return transposed(type(self).__name__, self.rank, x, self.weight, bias, *options)


class Conv1dTranspose(_Transposed):
    """The transpose of ``Conv1d``; the options are those of ``Conv2dTranspose``.

    >>> Conv1dTranspose(3, 2, 4, stride=2)(np.ones((1, 3, 8), np.float32)).shape
    (1, 2, 16)
    """

    rank = 1


class Conv2dTranspose(_Transposed):
    """The transpose of ``Conv2d`` as a map of images: weights have shape ``(in_channels, out_channels / group, …)``.

    ``pad_mode``: with "same" an axis of the result is ``stride`` times as long; with "valid" nothing is cut off; with
    "pad" ``padding`` is cut off each side, and ``output_padding`` more is kept at the end of each axis.

    >>> Conv2dTranspose(3, 2, 3, stride=2)(np.ones((1, 3, 4, 4), np.float32)).shape
    (1, 2, 8, 8)
    """

    rank = 2


class Conv3dTranspose(_Transposed):
    """The transpose of ``Conv3d``; the options are those of ``Conv2dTranspose``.

    >>> Conv3dTranspose(1, 2, 2, stride=2)(np.ones((1, 1, 2, 2, 2), np.float32)).shape
    (1, 2, 4, 4, 4)
    """

    rank = 3
