"""Layers of normalization; those of batches hold running statistics."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .. import ops
from ..dtype import float32
from ..errors import ArgumentError, ShapeError
from ..tensor import Parameter
from .cell import Cell
from .initializers import initial

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
]


class _BatchNorm(Cell):
    """``ops.batch_norm`` with weights ``gamma`` and ``beta`` and running statistics of its own."""

    axes: ClassVar[tuple[int, ...]]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        _check(self, num_features, momentum)
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.use_batch_statistics = use_batch_statistics
        shape = (num_features,)
        self.moving_mean = Parameter(initial(moving_mean_init, shape, dtype), requires_grad=False)
        self.moving_variance = Parameter(initial(moving_var_init, shape, dtype), requires_grad=False)
        self.gamma = Parameter(initial(gamma_init, shape, dtype), requires_grad=affine)
        self.beta = Parameter(initial(beta_init, shape, dtype), requires_grad=affine)

    def construct(self, x):
        _check_input(self, x, self.axes, self.num_features)
        own = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        options = own, 1 - self.momentum, self.eps
        return ops.batch_norm(x, self.moving_mean, self.moving_variance, self.gamma, self.beta, *options)

    def extend_repr(self) -> str:
        return f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}"


class BatchNorm1d(_BatchNorm):
    """``BatchNorm2d`` for arrays of shape ``(n, channels)`` or ``(n, channels, length)``.

    >>> BatchNorm1d(2, eps=0.0)(np.array([[1.0, 2.0]], np.float32)).asnumpy()
    array([[1., 2.]], dtype=float32)
    """

    axes = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Each channel of ``(n, channels, height, width)``, less its mean, over the root of its variance plus ``eps``.

    ``gamma`` multiplies and ``beta`` is added. In training (``set_train()``) mean and variance are those of the batch,
    which also move ``moving_mean`` and ``moving_variance``: to ``momentum`` of what they are and the rest of the
    batch's (its unbiased variance), each time that the cell or a derivative of it is computed. Elsewhere these take the
    place of the batch's. ``use_batch_statistics`` says True or False in place of that.

    >>> net = BatchNorm2d(1).set_train()
    >>> bool(abs(net(np.arange(4.0, dtype=np.float32).reshape(1, 1, 2, 2)).mean()) < 1e-6)
    True
    >>> net.moving_mean.asnumpy().round(3)
    array([0.15], dtype=float32)
    """

    axes = (4,)


class BatchNorm3d(_BatchNorm):
    """``BatchNorm2d`` for arrays of shape ``(n, channels, depth, height, width)``.

    >>> BatchNorm3d(1)(np.zeros((1, 1, 2, 2, 2), np.float32)).shape
    (1, 1, 2, 2, 2)
    """

    axes = (5,)


class LayerNorm(Cell):
    """``ops.layer_norm`` of the axes from ``begin_norm_axis`` on, with weights ``gamma`` and ``beta``.

    ``normalized_shape`` is the shape of the weights, which stand on the axes from ``begin_params_axis`` on.

    >>> LayerNorm((2,), epsilon=0.0)(np.array([[1.0, 3.0]], np.float32)).asnumpy()
    array([[-1.,  1.]], dtype=float32)
    """

    def __init__(
        self,
        normalized_shape: Any,
        begin_norm_axis: int = -1,
        begin_params_axis: int = -1,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        epsilon: float = 1e-7,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        if not isinstance(normalized_shape, (tuple, list)):
            raise ArgumentError(f"LayerNorm: normalized_shape is a tuple of ints, got {normalized_shape!r}.")
        self.normalized_shape = tuple(normalized_shape)
        self.begin_norm_axis, self.begin_params_axis = begin_norm_axis, begin_params_axis
        self.epsilon = epsilon
        self.gamma = Parameter(initial(gamma_init, self.normalized_shape, dtype))
        self.beta = Parameter(initial(beta_init, self.normalized_shape, dtype))

    def construct(self, x):
        shape = np.shape(x)
        own = shape[self.begin_params_axis :] if self.begin_params_axis else shape
        if own != self.normalized_shape:
            raise ShapeError(f"LayerNorm: weights of shape {self.normalized_shape} do not fit an array of {shape}.")
        made = ops.layer_norm(x, shape[self.begin_norm_axis :] if self.begin_norm_axis else shape, eps=self.epsilon)
        return made * self.gamma + self.beta

    def extend_repr(self) -> str:
        return f"normalized_shape={self.normalized_shape}, epsilon={self.epsilon}"


class GroupNorm(Cell):
    """``ops.group_norm`` with weights ``gamma`` and ``beta``, a number a channel.

    >>> GroupNorm(1, 2, eps=0.0)(np.array([[[[1.0]], [[3.0]]]], np.float32)).asnumpy().ravel()
    array([-1.,  1.], dtype=float32)
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        _check(self, num_channels, 0.0)
        if not isinstance(num_groups, int) or num_groups < 1 or num_channels % num_groups:
            raise ArgumentError(f"GroupNorm: {num_channels} channels are not {num_groups!r} groups.")
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.gamma = Parameter(initial(gamma_init, (num_channels,), dtype), requires_grad=affine)
        self.beta = Parameter(initial(beta_init, (num_channels,), dtype), requires_grad=affine)

    def construct(self, x):
        return ops.group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)

    def extend_repr(self) -> str:
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"


class _InstanceNorm(Cell):
    """``ops.instance_norm`` with weights ``gamma`` and ``beta``, a number a channel."""

    axes: ClassVar[tuple[int, ...]]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        _check(self, num_features, momentum)
        self.num_features, self.eps = num_features, eps
        self.gamma = Parameter(initial(gamma_init, (num_features,), dtype), requires_grad=affine)
        self.beta = Parameter(initial(beta_init, (num_features,), dtype), requires_grad=affine)

    def construct(self, x):
        _check_input(self, x, self.axes, self.num_features)
        return ops.instance_norm(x, self.gamma, self.beta, self.eps)

    def extend_repr(self) -> str:
        return f"num_features={self.num_features}, eps={self.eps}"


class InstanceNorm1d(_InstanceNorm):
    """``ops.instance_norm`` of ``(n, channels, length)``, with weights ``gamma`` and ``beta``.

    >>> InstanceNorm1d(1, eps=0.0)(np.array([[[1.0, 3.0]]], np.float32)).asnumpy()
    array([[[-1.,  1.]]], dtype=float32)
    """

    axes = (3,)


class InstanceNorm2d(_InstanceNorm):
    """``ops.instance_norm`` of ``(n, channels, height, width)``, with weights ``gamma`` and ``beta``.

    >>> InstanceNorm2d(2)(np.zeros((1, 2, 3, 3), np.float32)).shape
    (1, 2, 3, 3)
    """

    axes = (4,)


class InstanceNorm3d(_InstanceNorm):
    """``ops.instance_norm`` of ``(n, channels, depth, height, width)``, with weights ``gamma`` and ``beta``.

    >>> InstanceNorm3d(2)(np.zeros((1, 2, 3, 3, 1), np.float32)).shape
    (1, 2, 3, 3, 1)
    """

    axes = (5,)


def _check(layer: Cell, channels: int, momentum: float) -> None:
    if isinstance(channels, bool) or not isinstance(channels, (int, np.integer)) or channels < 1:
        raise ArgumentError(f"{type(layer).__name__}: the number of channels must be a positive int, got {channels!r}.")
    if not isinstance(momentum, (int, float)) or not 0 <= momentum <= 1:
        raise ArgumentError(f"{type(layer).__name__}: momentum must be from 0 to 1, got {momentum!r}.")


def _check_input(layer: Cell, x: Any, axes: tuple[int, ...], channels: int) -> None:
    if np.ndim(x) not in axes or np.shape(x)[1] != channels:
        wanted = " or ".join(map(str, axes))
        raise ShapeError(
            f"{type(layer).__name__} takes arrays of {wanted} axes, {channels} channels on axis 1, got {np.shape(x)}."
        )
