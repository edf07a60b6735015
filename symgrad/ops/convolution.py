"""Convolutions along one, two and three axes, and their transposes, as MindSpore has them.

They are cross-correlations, ``y[n,o,i] = b[o] + Σ w[o,c,k] x[n,c,s·i + d·k]``, as networks call convolutions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError, mistakes
from .windows import Pads, added_up, counts, each_axis, padded, pads_of, sizes_of, windows

__all__ = ["conv1d", "conv2d", "conv3d"]

#: letters of the axes that windows go along, and of the elements of each window
_ALONG, _WITHIN = "xyz", "pqr"


def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The convolution of ``(n, c, size)`` with ``(o, c / groups, width)``: ``(n, o, windows)``; see ``conv2d``.

    >>> conv1d(np.array([[[1.0, 2.0, 4.0]]]), np.array([[[-1.0, 1.0]]]))
    array([[[1., 2.]]])
    """
    return convolved("conv1d", 1, input, weight, bias, stride, pad_mode, padding, dilation, groups)


def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The convolution of ``(n, c, height, width)`` with ``(o, c / groups, rows, columns)``.

    ``bias`` has shape ``(o,)``. ``pad_mode``: ``"valid"`` takes the windows that fit, ``"same"`` pads zeros for
    ``ceil(size / stride)`` of them, one more behind than before where the number is odd, and ``"pad"`` pads
    ``padding``: an int, one for each axis, or one for each side. ``stride`` and ``dilation`` are an int or one for
    each axis: how far windows are apart, and the elements of each. With ``groups``, that many parts of the channels
    each have their own weights.

    Shapes that do not fit are a ShapeError, other arguments out of range an ArgumentError.

    >>> conv2d(np.ones((1, 1, 3, 3)), np.ones((1, 1, 2, 2)), stride=1, pad_mode="same")
    array([[[[4., 4., 2.],
             [4., 4., 2.],
             [2., 2., 1.]]]])
    """
    return convolved("conv2d", 2, input, weight, bias, stride, pad_mode, padding, dilation, groups)


def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The convolution of ``(n, c, depth, height, width)`` with ``(o, c / groups, …)`` along three axes; see ``conv2d``.

    >>> conv3d(np.ones((1, 1, 2, 2, 2)), np.ones((1, 1, 2, 2, 2)))
    array([[[[[8.]]]]])
    """
    return convolved("conv3d", 3, input, weight, bias, stride, pad_mode, padding, dilation, groups)


def convolved(
    caller: str,
    rank: int,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    pad_mode: str,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Any:
    """The convolution along ``rank`` axes that ``caller`` is."""
    with mistakes(caller):
        shape, own = _checked(caller, rank, x, weight, groups, 1)
        strides = each_axis(f"{caller}: stride", stride, rank)
        dilations = each_axis(f"{caller}: dilation", dilation, rank)
        sizes, widths = sizes_of(caller, x, rank), sizes_of(caller, weight, rank)
        pads = pads_of(caller, pad_mode, padding, sizes, widths, strides, dilations)
        whole = padded(x, pads)
        count = counts(caller, sizes_of(caller, whole, rank), widths, strides, dilations)
        if groups > 1:
            whole = np.reshape(whole, (shape[0], groups, shape[1] // groups, *np.shape(whole)[2:]))
            weight = np.reshape(weight, (groups, own[0] // groups, *own[1:]))
        near = windows(whole, count, widths, strides, dilations)
        g, along, within = "g" * (groups > 1), _ALONG[:rank], _WITHIN[:rank]
        each = "".join(a + b for a, b in zip(along, within, strict=True))
        y = np.einsum(f"n{g}c{each},{g}oc{within}->n{g}o{along}", near, weight, optimize=True)
        return _with_bias(caller, np.reshape(y, (shape[0], own[0], *count)) if groups > 1 else y, bias)


def transposed(
    caller: str,
    rank: int,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Sequence[int],
    pads: Pads,
    beyond: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Any:
    """The transpose of the convolution that pads ``pads``: ``weight`` has shape ``(c, o / groups, …)``.

    ``beyond`` is what the result has more at the end of each axis than windows reach.
    """
    with mistakes(caller):
        shape, own = _checked(caller, rank, x, weight, groups, 0)
        count, widths = sizes_of(caller, x, rank), sizes_of(caller, weight, rank)
        if groups > 1:
            x = np.reshape(x, (shape[0], groups, shape[1] // groups, *count))
            weight = np.reshape(weight, (groups, own[0] // groups, *own[1:]))
        g, along, within = "g" * (groups > 1), _ALONG[:rank], _WITHIN[:rank]
        each = "".join(a + b for a, b in zip(along, within, strict=True))
        near = np.einsum(f"n{g}c{along},{g}co{within}->n{g}o{each}", x, weight, optimize=True)
        ends = [(n - 1) * s + d * (k - 1) + 1 for n, s, d, k in zip(count, stride, dilation, widths, strict=True)]
        sizes = [max(end, end - after + more) for end, (_, after), more in zip(ends, pads, beyond, strict=True)]
        y = added_up(near, sizes, stride, dilation)
        kept = [slice(b, end - a + more) for end, (b, a), more in zip(ends, pads, beyond, strict=True)]
        y = np.reshape(y, (shape[0], groups * own[1], *sizes)) if groups > 1 else y
        return _with_bias(caller, y[(slice(None), slice(None), *kept)], bias)


def _checked(caller: str, rank: int, x: Any, weight: Any, groups: int, channels: int) -> tuple[tuple, tuple]:
    """The shapes of the array and of its weights, whose axis ``channels`` is that of the channels of the array."""
    shape, own = np.shape(x), np.shape(weight)
    if isinstance(groups, bool) or not isinstance(groups, (int, np.integer)) or groups < 1:
        raise ArgumentError.here(f"{caller}: groups is an int of at least 1, got {groups!r}.")
    if len(shape) != rank + 2 or len(own) != rank + 2:
        raise ShapeError.here(f"{caller} takes arrays of {rank + 2} axes, of shapes (n, c, …), got {shape} and {own}.")
    parts = own[1] * groups if channels else own[0]
    if shape[1] != parts or own[0] % groups or shape[1] % groups:
        raise ShapeError.here(
            f"{caller}: weights of shape {own} in {groups} groups do not fit {shape[1]} channels of {shape}."
        )
    return shape, own


def _with_bias(caller: str, y: Any, bias: Any) -> Any:
    if bias is None:
        return y
    if np.shape(bias) != np.shape(y)[1:2]:
        raise ShapeError.here(
            f"{caller}: bias has shape {np.shape(bias)}, it must be one number for each of {np.shape(y)[1]}."
        )
    return np.add(y, np.reshape(bias, (-1, *[1] * (np.ndim(y) - 2))))
