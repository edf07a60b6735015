"""Padding, windows as columns, dropout, and images of another size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError, mistakes
from .pooling import along_axis, shares
from .windows import added_up, counts, each_axis, padded, sizes_of, windows

__all__ = ["dropout", "fold", "interpolate", "pad", "pixel_shuffle", "pixel_unshuffle", "unfold", "upsample"]

#: what MindSpore calls the modes -> what NumPy does
_MODES: dict[str, Any] = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
#: an interpolation -> the axes that it is of
_LINEAR = {"linear": 1, "bilinear": 2, "trilinear": 3}


def pad(input_x: Any, padding: Sequence[int], mode: str = "constant", value: Any = None) -> Any:
    """``input_x`` padded: ``padding`` holds how much before and after the last axis, then the one before it, …

    ``mode`` is "constant" (``value``, 0 by default), "reflect", "replicate" or "circular". Another mode, or numbers
    that are not pairs of ints of at least 0, are an ArgumentError.

    >>> pad(np.array([[1.0, 2.0]]), (1, 0))
    array([[0., 1., 2.]])
    >>> pad(np.array([1.0, 2.0, 3.0]), (2, 1), "reflect")
    array([3., 2., 1., 2., 3., 2.])
    """
    with mistakes("pad"):
        if mode not in _MODES:
            raise ArgumentError.here(f"pad: mode is one of {', '.join(_MODES)}, got {mode!r}.")
        if len(padding) % 2 or len(padding) > 2 * np.ndim(input_x):
            raise ArgumentError.here(f"pad: padding is two ints for each axis, from the last on, got {padding!r}.")
        flat = each_axis("pad: padding", tuple(padding), len(padding), 0) if padding else ()
        pairs = list(zip(flat[::2], flat[1::2], strict=True))[::-1]
        pairs = [(0, 0)] * (np.ndim(input_x) - len(pairs)) + pairs
        if mode == "constant":
            return np.pad(input_x, pairs, constant_values=0 if value is None else value)
        return np.pad(input_x, pairs, mode=_MODES[mode])


def dropout(input: Any, p: float = 0.5, training: bool = True, seed: int | None = None) -> Any:
    """In training each element is 0 with probability ``p``, and ``1/(1 - p)`` times itself otherwise.

    With a ``seed`` the same elements of a shape are kept at every call, and a trace serves again. Without one the mask
    is drawn from ``np.random``, and what calls this is traced anew each time. A ``p`` outside [0, 1] is an
    ArgumentError.

    >>> dropout(np.ones(5), 0.5, seed=1)
    array([2., 2., 0., 2., 0.])
    """
    with mistakes("dropout"):
        if isinstance(p, bool) or not isinstance(p, (int, float)) or not 0 <= p <= 1:
            raise ArgumentError.here(f"dropout: p must be from 0 to 1, got {p!r}.")
        if not training or p == 0:
            return input
        kept = drawn(np.shape(input), p, seed)
        return np.multiply(input, (kept / (1 - p) if p < 1 else np.zeros(kept.shape)).astype(input.dtype))


def drawn(shape: tuple[int, ...], p: float, seed: int | None) -> np.ndarray:
    """Where elements are kept, each with probability ``1 - p``."""
    draws = np.random.uniform(size=shape) if seed is None else np.random.default_rng(seed).uniform(size=shape)
    return draws >= p


def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """The windows of ``(n, c, height, width)`` as columns: ``(n, c · elements, windows)``.

    >>> unfold(np.arange(9.0).reshape(1, 1, 3, 3), 2)[0, :, 0]
    array([0., 1., 3., 4.])
    """
    with mistakes("unfold"):
        widths, strides, dilations, pads = _windows_of("unfold", kernel_size, dilation, padding, stride)
        if np.ndim(input) != 4:
            raise ShapeError.here(f"unfold takes arrays of 4 axes, got {np.shape(input)}.")
        whole = padded(input, pads)
        count = counts("unfold", sizes_of("unfold", whole, 2), widths, strides, dilations)
        near = np.transpose(windows(whole, count, widths, strides, dilations), (0, 1, 3, 5, 2, 4))
        n, c = np.shape(input)[:2]
        return np.reshape(near, (n, c * math.prod(widths), math.prod(count)))


def fold(input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """The transpose of ``unfold``: columns added up where their windows lie in an image of ``output_size``.

    >>> fold(np.ones((1, 4, 4)), (3, 3), 2)[0, 0]
    array([[1., 2., 1.],
           [2., 4., 2.],
           [1., 2., 1.]])
    """
    with mistakes("fold"):
        widths, strides, dilations, pads = _windows_of("fold", kernel_size, dilation, padding, stride)
        sizes = [d + sum(pair) for d, pair in zip(each_axis("fold: output_size", output_size, 2), pads, strict=True)]
        count = counts("fold", sizes, widths, strides, dilations)
        elements = math.prod(widths)
        if np.ndim(input) != 3 or np.shape(input)[1] % elements or np.shape(input)[2] != math.prod(count):
            wanted = f"(n, c · {elements}, {math.prod(count)})"
            raise ShapeError.here(f"fold takes arrays of shape {wanted}, got {np.shape(input)}.")
        n, c = np.shape(input)[0], np.shape(input)[1] // elements
        near = np.transpose(np.reshape(input, (n, c, *widths, *count)), (0, 1, 4, 2, 5, 3))
        image = added_up(near, sizes, strides, dilations)
        return image[(..., *[slice(b, d - a) for d, (b, a) in zip(sizes, pads, strict=True)])]


def _windows_of(caller: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> tuple:
    pads = [(p, p) for p in each_axis(f"{caller}: padding", padding, 2, 0)]
    named = (("kernel_size", kernel_size), ("stride", stride), ("dilation", dilation))
    return (*[each_axis(f"{caller}: {name}", value, 2) for name, value in named], pads)


def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """``(…, c·r², h, w)`` as ``(…, c, h·r, w·r)``: channels become pixels between those there are.

    >>> pixel_shuffle(np.arange(4.0).reshape(1, 4, 1, 1), 2)[0, 0]
    array([[0., 1.],
           [2., 3.]])
    """
    with mistakes("pixel_shuffle"):
        *lead, c, h, w = np.shape(input)
        r = each_axis("pixel_shuffle: upscale_factor", upscale_factor, 1)[0]
        if c % (r * r):
            raise ShapeError.here(f"pixel_shuffle: {c} channels are no multiple of {r * r}.")
        k = len(lead)
        apart = np.reshape(input, (*lead, c // (r * r), r, r, h, w))
        order = (*range(k), k, k + 3, k + 1, k + 4, k + 2)
        return np.reshape(np.transpose(apart, order), (*lead, c // (r * r), h * r, w * r))


def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """The inverse of ``pixel_shuffle``.

    >>> pixel_unshuffle(np.arange(4.0).reshape(1, 1, 2, 2), 2).ravel()
    array([0., 1., 2., 3.])
    """
    with mistakes("pixel_unshuffle"):
        *lead, c, h, w = np.shape(input)
        r = each_axis("pixel_unshuffle: downscale_factor", downscale_factor, 1)[0]
        if h % r or w % r:
            raise ShapeError.here(f"pixel_unshuffle: an image of {h} times {w} is not made of squares of {r}.")
        k = len(lead)
        apart = np.reshape(input, (*lead, c, h // r, r, w // r, r))
        order = (*range(k), k, k + 2, k + 4, k + 1, k + 3)
        return np.reshape(np.transpose(apart, order), (*lead, c * r * r, h // r, w // r))


def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Any:
    """``(n, c, …)`` with axes of other lengths: ``size``, or ``scale_factor`` times as long.

    ``mode`` is "nearest", "area" (means, as adaptive pooling), or "linear", "bilinear", "trilinear" for one, two, three
    axes, which is a product with a matrix along each axis. ``align_corners=True`` keeps the first and the last element
    where they are; elsewhere elements are as wide as the share of the axis that they are. Places are taken from the
    sizes, not from a scale that is no ratio of them (``recompute_scale_factor``). Another mode is an ArgumentError.

    >>> interpolate(np.array([[[1.0, 3.0]]]), 4)
    array([[[1., 1., 3., 3.]]])
    >>> interpolate(np.array([[[1.0, 3.0]]]), 3, mode="linear", align_corners=True)
    array([[[1., 2., 3.]]])
    """
    with mistakes("interpolate"):
        rank = np.ndim(input) - 2
        if rank < 1 or (mode not in ("nearest", "area") and _LINEAR.get(mode) != rank):
            raise ArgumentError.here(
                f"interpolate: mode is 'nearest', 'area' or, for one to three axes behind channels, "
                f"{', '.join(map(repr, _LINEAR))}; got {mode!r} for an array of shape {np.shape(input)}."
            )
        if (size is None) == (scale_factor is None):
            raise ArgumentError.here("interpolate: give size or scale_factor, one of them.")
        sizes = sizes_of("interpolate", input, rank)
        if size is not None:
            wanted = each_axis("interpolate: size", size, rank)
        else:
            scales = scale_factor if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * rank
            wanted = tuple([math.floor(d * s) for d, s in zip(sizes, scales, strict=True)])
        for k, (before, after) in enumerate(zip(sizes, wanted, strict=True)):
            axis = k + 2
            if before == after:
                continue
            if mode == "nearest":
                input = np.take(input, np.arange(after) * before // after, axis=axis)
            else:
                matrix = shares(before, after) if mode == "area" else _between(before, after, bool(align_corners))
                input = along_axis(input, axis, matrix)
        return input


upsample = interpolate


def _between(before: int, after: int, align_corners: bool) -> np.ndarray:
    """The matrix of linear interpolation between the two nearest elements."""
    if align_corners:
        at = np.arange(after) * ((before - 1) / max(after - 1, 1))
    else:
        at = np.maximum((np.arange(after) + 0.5) * (before / after) - 0.5, 0)
    low = np.minimum(at.astype(int), before - 1)
    high = np.minimum(low + 1, before - 1)
    made = np.zeros((before, after))
    for k, (i, j) in enumerate(zip(low, high, strict=True)):
        made[i, k] += 1 - (at[k] - i)
        made[j, k] += at[k] - i
    return made
