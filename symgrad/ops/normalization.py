"""Normalizations: means and variances over some axes taken off and divided by, as MindSpore has them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError, mistakes
from ..primitives.external import Call, External
from ..primitives.primitive import dim_value
from ..program.dims import is_named
from ..program.node import emit
from ..tensor import Parameter
from ..tracing.trace import as_node
from ..tracing.tracer import Tracer
from ..transforms.products import stop_gradient

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm"]


def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """``(x - mean) / √(variance + eps)`` over the last axes, of shape ``normalized_shape``, times weight plus bias.

    Source: Ba, Kiros and Hinton, Layer normalization (2016). Another shape is a ShapeError.

    >>> layer_norm(np.array([[1.0, 3.0]]), (2,), eps=0.0)
    array([[-1.,  1.]])
    """
    with mistakes("layer_norm"):
        shape = (normalized_shape,) if isinstance(normalized_shape, (int, np.integer)) else tuple(normalized_shape)
        if not shape or np.shape(input)[-len(shape) :] != shape:
            raise ShapeError.here(f"layer_norm: the last axes of {np.shape(input)} are not {shape}.")
        return _affine(_standard(input, tuple(range(-len(shape), 0)), eps), weight, bias, None)


def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """The same over groups of channels (axis 1) and all axes behind; weight and bias are one number a channel.

    Source: Wu and He, Group normalization (2018). Channels that are no multiple of the groups are a ShapeError.

    >>> group_norm(np.array([[1.0, 3.0, 5.0, 9.0]]), 2, eps=0.0)
    array([[-1.,  1., -1.,  1.]])
    """
    with mistakes("group_norm"):
        n, channels, *others = _channels("group_norm", input)
        if not isinstance(num_groups, (int, np.integer)) or num_groups < 1 or channels % num_groups:
            raise ShapeError.here(f"group_norm: {channels} channels are not {num_groups!r} groups.")
        apart = np.reshape(input, (n, num_groups, channels // num_groups, *others))
        made = _standard(apart, tuple(range(2, np.ndim(apart))), eps)
        return _affine(np.reshape(made, (n, channels, *others)), weight, bias, channels)


def instance_norm(input: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """The same over the axes behind the channels.

    Source: Ulyanov, Vedaldi and Lempitsky, Instance normalization (2016).

    >>> instance_norm(np.array([[[1.0, 3.0]]]), eps=0.0)
    array([[[-1.,  1.]]])
    """
    with mistakes("instance_norm"):
        channels = _channels("instance_norm", input)[1]
        return _affine(_standard(input, tuple(range(2, np.ndim(input))), eps), weight, bias, channels)


def batch_norm(
    input_x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any,
    bias: Any,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """The same over the batch and the axes behind the channels (axis 1), times weight plus bias, a number a channel.

    Out of training the running mean and variance take the place of those of the batch. In training those of the batch
    move them, ``running += momentum · (own - running)``, where they are Parameters: in place, each time that the value
    is computed, by a kernel too; the variance that moves them is the unbiased one. They carry no derivative then.
    Source: Ioffe and Szegedy, Batch normalization (2015).

    >>> batch_norm(np.array([[1.0], [3.0]]), np.zeros(1), np.ones(1), np.ones(1), np.zeros(1), training=True, eps=0.0)
    array([[-1.],
           [ 1.]])
    """
    with mistakes("batch_norm"):
        channels = _channels("batch_norm", input_x)[1]
        if not training:
            centered = np.subtract(input_x, _along_channels(input_x, running_mean))
            root = np.sqrt(np.add(running_var, eps))
            return _affine(np.divide(centered, _along_channels(input_x, root)), weight, bias, channels)
        axes = (0, *range(2, np.ndim(input_x)))
        mean = np.mean(input_x, axis=axes)
        centered = np.subtract(input_x, _along_channels(input_x, mean))
        variance = np.mean(np.square(centered), axis=axes)
        size = math.prod([np.shape(input_x)[k] for k in axes])
        moved = _moved(stop_gradient(mean), stop_gradient(variance), size, running_mean, running_var, momentum)
        root = np.sqrt(np.add(np.add(variance, moved), eps))
        return _affine(np.divide(centered, _along_channels(input_x, root)), weight, bias, channels)


def _channels(caller: str, x: Any) -> tuple:
    if np.ndim(x) < 2:
        raise ShapeError.here(f"{caller} takes arrays of shape (n, channels, …), got {np.shape(x)}.")
    return np.shape(x)


def _standard(x: Any, axes: Sequence[int], eps: float) -> Any:
    centered = np.subtract(x, np.mean(x, axis=axes, keepdims=True))
    variance = np.mean(np.square(centered), axis=axes, keepdims=True)
    return np.divide(centered, np.sqrt(np.add(variance, eps)))


def _along_channels(x: Any, each: Any) -> Any:
    return np.reshape(each, (-1, *[1] * (np.ndim(x) - 2)))


def _affine(x: Any, weight: Any, bias: Any, channels: Any) -> Any:
    """``weight · x + bias``, of the last axes, or a number a channel where there are some."""
    for name, own, operation in (("weight", weight, np.multiply), ("bias", bias, np.add)):
        if own is None:
            continue
        if channels is not None and np.shape(own) != (channels,):
            raise ShapeError.here(f"{name} has shape {np.shape(own)}, and there are {channels} channels.")
        x = operation(x, own if channels is None else _along_channels(x, own))
    return x


def _moved(mean: Any, variance: Any, size: Any, running_mean: Any, running_var: Any, momentum: float) -> Any:
    """Zero; what computes it moves the running statistics."""
    if not isinstance(running_mean, Parameter) or not isinstance(running_var, Parameter):
        return 0
    if not 0 <= momentum <= 1:
        raise ArgumentError.here(f"batch_norm: momentum must be from 0 to 1, got {momentum!r}.")

    def run(values: Sequence[Any]) -> list[np.ndarray]:
        of_batch, biased, count = values
        unbiased = biased * (count / max(count - 1, 1))
        for running, own in ((running_mean, of_batch), (running_var, unbiased)):
            data = running.asnumpy()
            data += (momentum * (own - data)).astype(data.dtype)
        return [np.zeros((), np.result_type(of_batch))]

    if not isinstance(mean, Tracer):
        return run([np.asarray(mean), np.asarray(variance), size])[0]
    nodes = as_node(mean), as_node(variance), dim_value(size) if is_named(size) else as_node(float(size))
    key = ("running statistics", id(running_mean), id(running_var), momentum)
    call = Call("running statistics", run, key, [nodes[0].dtype], "running statistics have no derivative.")
    params = (call, ((),), tuple([n.shape for n in nodes]), ())
    return stop_gradient(Tracer(emit(External("batch_norm's running statistics"), nodes, params)))
