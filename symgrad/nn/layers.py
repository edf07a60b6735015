"""Layers: Dense, Flatten, Dropout."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import ops
from ..dtype import float32
from ..errors import ArgumentError, ArgumentTypeError
from ..tensor import Parameter
from .activations import get_activation
from .cell import Cell
from .initializers import initial

__all__ = ["Dense", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "Flatten"]


class Dense(Cell):
    """``activation(x @ weight.T + bias)``: ``(…, in_channels)`` to ``(…, out_channels)``.

    ``weight`` has shape ``(out_channels, in_channels)`` and ``bias`` ``(out_channels,)``; both start uniform
    within ±1/√in_channels, or as ``weight_init`` and ``bias_init`` say: an initializer's name, a number, an
    array or a callable on the shape. ``activation`` is a name such as ``"relu"`` or a function or Cell.
    Sizes that are not positive ints are an ArgumentError.

    >>> layer = Dense(2, 1, weight_init=1.0, bias_init="zeros")
    >>> layer(np.array([[1.0, 2.0]], np.float32))
    Tensor(shape=[1, 1], dtype=Float32, value=
    [[ 3.00000000e+00]])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        activation: Any = None,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        for name, size in (("in_channels", in_channels), ("out_channels", out_channels)):
            if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or not 1 <= size < 2**31:
                raise ArgumentError(f"Dense: {name} must be a positive int, got {size!r}.")
        if not isinstance(has_bias, bool):
            raise ArgumentTypeError(f"Dense: has_bias must be True or False, got {has_bias!r}.")
        if activation is not None and not isinstance(activation, str) and not callable(activation):
            raise ArgumentTypeError(f"Dense: activation must be a name, a function or a Cell, got {activation!r}.")
        self.in_channels = int(in_channels)
        self.out_channels = int(out_channels)
        self.has_bias = has_bias
        bound = 1 / math.sqrt(in_channels)
        self.weight = Parameter(initial(weight_init, (self.out_channels, self.in_channels), dtype, bound))
        if has_bias:
            self.bias = Parameter(initial(bias_init, (self.out_channels,), dtype, bound))
        self.activation = get_activation(activation) if isinstance(activation, str) else activation

    def construct(self, x):
        y = np.matmul(x, self.weight.T)
        if self.has_bias:
            y = y + self.bias
        return y if self.activation is None else self.activation(y)

    def extend_repr(self) -> str:
        return f"in_channels={self.in_channels}, out_channels={self.out_channels}, has_bias={self.has_bias}"


class Flatten(Cell):
    """All axes but the first as one.

    >>> Flatten()(np.ones((2, 3, 4))).shape
    (2, 12)
    """

    def construct(self, x):
        return ops.flatten(x)


class Dropout(Cell):
    """In training, each element is 0 with probability ``p`` and ``1/(1 - p)`` times itself otherwise.

    Out of training (``set_train(False)``, the default) ``x`` itself. The mask is drawn from ``np.random`` at
    every call, so a call in training is traced anew each time: a cached trace would repeat its mask. A ``p``
    outside ``[0, 1)`` is an ArgumentError.

    >>> Dropout(0.5)(np.ones(3))
    array([1., 1., 1.])
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if isinstance(p, bool) or not isinstance(p, (int, float)) or not 0 <= p < 1:
            raise ArgumentError(f"Dropout: p must be at least 0 and less than 1, got {p!r}.")
        self.p = float(p)

    def construct(self, x):
        if not self.training or self.p == 0:
            return x
        return ops.dropout(x, self.p)

    def extend_repr(self) -> str:
        return f"p={self.p}"


class _ChannelDropout(Dropout):
    """``Dropout`` of whole channels: those on axis 1 of ``(n, c, …)``."""

    def construct(self, x):
        if not self.training or self.p == 0:
            return x
        mask = ops.dropout(np.ones(np.shape(x)[:2]), self.p).astype(x.dtype)
        return np.multiply(x, np.reshape(mask, (*np.shape(mask), *[1] * (np.ndim(x) - 2))))


class Dropout1d(_ChannelDropout):
    """``Dropout`` of whole channels of ``(n, c, length)``.

    >>> Dropout1d(0.5)(np.ones((1, 2, 3))).shape
    (1, 2, 3)
    """


class Dropout2d(_ChannelDropout):
    """``Dropout`` of whole channels of ``(n, c, height, width)``.

    >>> Dropout2d(0.5)(np.ones((1, 2, 3, 3))).shape
    (1, 2, 3, 3)
    """


class Dropout3d(_ChannelDropout):
    """``Dropout`` of whole channels of ``(n, c, depth, height, width)``.

    >>> Dropout3d(0.5)(np.ones((1, 2, 3, 3, 1))).shape
    (1, 2, 3, 3, 1)
    """
