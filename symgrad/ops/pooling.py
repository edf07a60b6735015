"""Pooling along the last axes: the largest or the mean of each window, or of as many parts as asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError, UnsupportedOperation, mistakes
from .windows import Pads, counts, each_axis, padded, pads_of, sizes_of, windows

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "max_pool2d",
    "max_pool3d",
]


def max_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
) -> Any:
    """The largest element of each window of the last two axes; where several are, they share the derivative.

    ``stride`` is that of ``kernel_size`` where it is None. What is padded is less than everything.

    >>> max_pool2d(np.arange(16.0).reshape(1, 1, 4, 4), 2)
    array([[[[ 5.,  7.],
             [13., 15.]]]])
    """
    return max_pool("max_pool2d", 2, x, kernel_size, stride, "pad", padding, dilation, return_indices, ceil_mode)


def max_pool3d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
) -> Any:
    """As ``max_pool2d``, of the last three axes.

    >>> max_pool3d(np.arange(8.0).reshape(1, 1, 2, 2, 2), 2)
    array([[[[[7.]]]]])
    """
    return max_pool("max_pool3d", 3, x, kernel_size, stride, "pad", padding, dilation, return_indices, ceil_mode)


def avg_pool1d(
    input_x: Any,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """The mean of each window of the last axis; see ``avg_pool2d``.

    >>> avg_pool1d(np.array([[[1.0, 3.0, 5.0]]]), 2)
    array([[[2., 4.]]])
    """
    options = (ceil_mode, count_include_pad, None)
    return avg_pool("avg_pool1d", 1, input_x, kernel_size, stride, "pad", padding, *options)


def avg_pool2d(
    input_x: Any,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
) -> Any:
    """The mean of each window of the last two axes.

    ``count_include_pad`` says whether padded zeros count; ``divisor_override`` is divided by in place of how many
    elements there are. With ``ceil_mode`` windows may reach beyond the end, where nothing counts.

    >>> avg_pool2d(np.arange(4.0).reshape(1, 1, 2, 2), 2)
    array([[[[1.5]]]])
    """
    options = (ceil_mode, count_include_pad, divisor_override)
    return avg_pool("avg_pool2d", 2, input_x, kernel_size, stride, "pad", padding, *options)


def avg_pool3d(
    input_x: Any,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
) -> Any:
    """As ``avg_pool2d``, of the last three axes.

    >>> avg_pool3d(np.arange(8.0).reshape(1, 1, 2, 2, 2), 2)
    array([[[[[3.5]]]]])
    """
    options = (ceil_mode, count_include_pad, divisor_override)
    return avg_pool("avg_pool3d", 3, input_x, kernel_size, stride, "pad", padding, *options)


def adaptive_avg_pool1d(input: Any, output_size: Any) -> Any:
    """The means of ``output_size`` parts of the last axis, of as equal sizes as can be; they may overlap by one.

    >>> adaptive_avg_pool1d(np.array([[1.0, 2.0, 4.0]]), 2)
    array([[1.5, 3. ]])
    """
    return _adaptive("adaptive_avg_pool1d", 1, input, output_size, _means)


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """The means of parts of the last two axes; None in ``output_size`` leaves an axis as it is.

    >>> adaptive_avg_pool2d(np.arange(4.0).reshape(1, 2, 2), 1)
    array([[[1.5]]])
    """
    return _adaptive("adaptive_avg_pool2d", 2, input, output_size, _means)


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Any:
    """The means of parts of the last three axes.

    >>> adaptive_avg_pool3d(np.arange(8.0).reshape(1, 2, 2, 2), 1)
    array([[[[3.5]]]])
    """
    return _adaptive("adaptive_avg_pool3d", 3, input, output_size, _means)


def adaptive_max_pool1d(input: Any, output_size: Any) -> Any:
    """The largest elements of ``output_size`` parts of the last axis.

    >>> adaptive_max_pool1d(np.array([[1.0, 2.0, 4.0]]), 2)
    array([[2., 4.]])
    """
    return _adaptive("adaptive_max_pool1d", 1, input, output_size, _largest)


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of parts of the last two axes.

    >>> adaptive_max_pool2d(np.arange(4.0).reshape(1, 2, 2), 1)
    array([[[3.]]])
    """
    _no_indices("adaptive_max_pool2d", return_indices)
    return _adaptive("adaptive_max_pool2d", 2, input, output_size, _largest)


def max_pool(
    caller: str,
    rank: int,
    x: Any,
    kernel_size: Any,
    stride: Any,
    pad_mode: str,
    padding: Any,
    dilation: Any,
    return_indices: bool,
    ceil_mode: bool,
) -> Any:
    """Pooling by the largest, along the last ``rank`` axes, that ``caller`` is."""
    _no_indices(caller, return_indices)
    with mistakes(caller):
        pads, beyond, near = _pooled(caller, rank, x, kernel_size, stride, pad_mode, padding, dilation, ceil_mode)
        whole = padded(x, [(b, a + more) for (b, a), more in zip(pads, beyond, strict=True)], -np.inf)
        return np.max(near(whole), axis=_within(np.ndim(x), rank))


def avg_pool(
    caller: str,
    rank: int,
    x: Any,
    kernel_size: Any,
    stride: Any,
    pad_mode: str,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Any:
    """Pooling by the mean, along the last ``rank`` axes, that ``caller`` is."""
    with mistakes(caller):
        pads, beyond, near = _pooled(caller, rank, x, kernel_size, stride, pad_mode, padding, 1, ceil_mode)
        ends = [(0, more) for more in beyond]
        total = np.sum(near(padded(padded(x, pads), ends)), axis=_within(np.ndim(x), rank))
        if divisor_override:
            return np.divide(total, divisor_override)
        includes = count_include_pad and pad_mode == "pad"
        ones = padded(padded(np.ones(sizes_of(caller, x, rank)), pads, float(includes)), ends)
        number = np.sum(near(ones), axis=_within(rank, rank))
        return np.divide(total, number.astype(x.dtype if x.dtype.kind == "f" else np.float64))


def _pooled(
    caller: str,
    rank: int,
    x: Any,
    kernel_size: Any,
    stride: Any,
    pad_mode: str,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> tuple[Pads, Sequence[int], Callable[[Any], Any]]:
    """How much is padded, how much further windows reach, and what takes the windows of what is padded by both."""
    if np.ndim(x) < rank + 1:
        raise ShapeError.here(f"{caller} takes arrays of shape (n, c, …), got {np.shape(x)}.")
    widths = each_axis(f"{caller}: kernel_size", kernel_size, rank)
    strides = widths if stride is None else each_axis(f"{caller}: stride", stride, rank)
    dilations = each_axis(f"{caller}: dilation", dilation, rank)
    sizes = sizes_of(caller, x, rank)
    pads = pads_of(caller, pad_mode, padding, sizes, widths, strides, dilations)
    if pad_mode == "pad" and any(2 * max(pair) > width for pair, width in zip(pads, widths, strict=True)):
        raise ArgumentError.here(f"{caller}: padding is at most half of kernel_size, got {padding!r}.")
    full = [size + sum(pair) for size, pair in zip(sizes, pads, strict=True)]
    count = counts(caller, full, widths, strides, dilations, ceil_mode)
    if ceil_mode:  # a window that begins in the padding behind the end counts for nothing
        count = [
            n - ((n - 1) * s >= size + before)
            for n, s, size, (before, _) in zip(count, strides, sizes, pads, strict=True)
        ]
    ends = [(n - 1) * s + d * (k - 1) + 1 for n, s, d, k in zip(count, strides, dilations, widths, strict=True)]
    beyond = [max(end - size, 0) for end, size in zip(ends, full, strict=True)]
    return pads, beyond, lambda y: windows(y, count, widths, strides, dilations)


def _within(ndim: int, rank: int) -> tuple[int, ...]:
    """The axes of the elements of windows, where an array of ``ndim`` axes was taken apart along ``rank``."""
    return tuple([ndim - rank + 2 * k + 1 for k in range(rank)])


def _adaptive(caller: str, rank: int, x: Any, output_size: Any, pool: Callable[[Any, int, int, int], Any]) -> Any:
    with mistakes(caller):
        wanted = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * rank
        sizes = sizes_of(caller, x, rank)
        if np.ndim(x) < rank + 1:
            raise ShapeError.here(f"{caller} takes arrays of shape (n, c, …), got {np.shape(x)}.")
        given = [sizes[k % rank] if n is None else n for k, n in enumerate(wanted)]
        parts = each_axis(f"{caller}: output_size", given, rank)
        for k, (size, n) in enumerate(zip(sizes, parts, strict=True)):
            x = pool(x, np.ndim(x) - rank + k, size, n)
        return x


def _means(x: Any, axis: int, size: int, parts: int) -> Any:
    if parts == size:
        return x
    return along_axis(x, axis, shares(size, parts))


def along_axis(x: Any, axis: int, matrix: np.ndarray) -> Any:
    """``x`` multiplied by a matrix along an axis."""
    own = matrix.astype(x.dtype if x.dtype.kind == "f" else np.float64)
    return np.moveaxis(np.matmul(np.moveaxis(x, axis, -1), own), -1, axis)


def shares(size: int, parts: int) -> np.ndarray:
    """The matrix of the means of parts of an axis, as equal as can be.

    >>> shares(3, 2)
    array([[0.5, 0. ],
           [0.5, 0.5],
           [0. , 0.5]])
    """
    made = np.zeros((size, parts))
    for k, (start, stop) in enumerate(_parts(size, parts)):
        made[start:stop, k] = 1 / (stop - start)
    return made


def _largest(x: Any, axis: int, size: int, parts: int) -> Any:
    if parts == size:
        return x
    lead = (slice(None),) * axis
    return np.stack([np.max(x[(*lead, slice(*part))], axis=axis) for part in _parts(size, parts)], axis=axis)


def _parts(size: int, parts: int) -> list[tuple[int, int]]:
    """
    >>> _parts(3, 2)
    [(0, 2), (1, 3)]
    """
    return [(k * size // parts, -(-(k + 1) * size // parts)) for k in range(parts)]


def _no_indices(caller: str, return_indices: bool) -> None:
    if return_indices:
        raise UnsupportedOperation.here(
            f"{caller}: return_indices=True is not supported; take np.argmax of the windows."
        )
