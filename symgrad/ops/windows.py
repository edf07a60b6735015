"""Windows along the last axes of an array: what convolutions and pooling go over."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..primitives.selection import SCATTER
from ..primitives.windows import Windows, overlap_add
from ..program.node import emit
from ..tracing.trace import as_node
from ..tracing.tracer import Tracer

Pads = Sequence[tuple[int, int]]


@lru_cache(maxsize=1024)
def places(count: int, width: int, stride: int, dilation: int = 1) -> np.ndarray:
    """Where ``count`` windows, ``stride`` apart, have their ``width`` elements, ``dilation`` apart.

    >>> places(3, 2, 2)
    array([[0, 1],
           [2, 3],
           [4, 5]])
    """
    found = stride * np.arange(count)[:, None] + dilation * np.arange(width)
    found.flags.writeable = False
    return found


def each_axis(what: str, value: Any, rank: int, least: int = 1) -> tuple[int, ...]:
    """An int for each of ``rank`` axes, from one int for all of them or a sequence; smaller ones are an ArgumentError.

    >>> each_axis("stride", 2, 3)
    (2, 2, 2)
    """
    given = tuple(value) if isinstance(value, (tuple, list)) else (value,) * rank
    given = given * rank if len(given) == 1 else given
    whole = all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in given)
    if len(given) != rank or not whole or min(given) < least:
        raise ArgumentError.here(f"{what} is an int of at least {least} or {rank} of them, got {value!r}.")
    return tuple(map(int, given))


def each_side(what: str, value: Any, rank: int) -> Pads:
    """How much is padded before and after each axis: from one int, one for each axis, or one for each side.

    >>> each_side("padding", (1, 2), 2)
    ((1, 1), (2, 2))
    """
    if isinstance(value, (tuple, list)) and len(value) == 2 * rank and rank > 0 and len(value) != rank:
        flat = each_axis(what, value, 2 * rank, 0)
        return tuple(zip(flat[::2], flat[1::2], strict=True))
    return tuple([(p, p) for p in each_axis(what, value, rank, 0)])


def sizes_of(caller: str, x: Any, rank: int) -> tuple[int, ...]:
    """The sizes of the last axes of ``x``, which have to be known."""
    sizes = np.shape(x)[-rank:]
    if not all(isinstance(d, (int, np.integer)) for d in sizes):
        shown = ", ".join(map(str, sizes))
        raise ShapeError.here(f"{caller} needs the sizes of the axes that it goes along, got ({shown}).")
    return sizes


def pads_of(
    caller: str,
    pad_mode: str,
    padding: Any,
    sizes: Sequence[int],
    widths: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> Pads:
    """The padding of each axis: ``same`` keeps ``ceil(size / stride)`` windows, ``valid`` adds none."""
    rank = len(sizes)
    if pad_mode not in ("same", "valid", "pad"):
        raise ArgumentError.here(f"{caller}: pad_mode is 'same', 'valid' or 'pad', got {pad_mode!r}.")
    own = each_side(f"{caller}: padding", padding, rank)
    if pad_mode == "pad":
        return own
    if any(p for pair in own for p in pair):
        raise ArgumentError.here(f"{caller}: padding belongs to pad_mode='pad', got pad_mode={pad_mode!r}.")
    if pad_mode == "valid":
        return own
    made = []
    for size, width, stride, dilation in zip(sizes, widths, strides, dilations, strict=True):
        missing = max((-(-size // stride) - 1) * stride + dilation * (width - 1) + 1 - size, 0)
        made.append((missing // 2, missing - missing // 2))
    return tuple(made)


def padded(x: Any, pads: Pads, value: float = 0.0) -> Any:
    """``x`` with its last axes padded."""
    if not any(p for pair in pads for p in pair):
        return x
    lead = ((0, 0),) * (np.ndim(x) - len(pads))
    return np.pad(x, (*lead, *pads), constant_values=value)


def counts(
    caller: str,
    sizes: Sequence[int],
    widths: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    ceil_mode: bool = False,
) -> tuple[int, ...]:
    """How many windows there are along each axis; none is a ShapeError."""
    made = []
    for size, width, stride, dilation in zip(sizes, widths, strides, dilations, strict=True):
        extent = dilation * (width - 1) + 1
        if size < extent:
            raise ShapeError.here(f"{caller}: a window of {extent} elements does not fit an axis of {size}.")
        made.append((-((extent - size) // stride) if ceil_mode else (size - extent) // stride) + 1)
    return tuple(made)


def windows(
    x: Any, count: Sequence[int], widths: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Any:
    """``x`` with each of its last axes as two: the windows, and the elements of each.

    >>> windows(np.arange(4.0), [3], [2], [1], [1])
    array([[0., 1.],
           [1., 2.],
           [2., 3.]])
    """
    lead = np.ndim(x) - len(widths)
    for k, own in enumerate(zip(count, widths, strides, dilations, strict=True)):
        x = np.take(x, places(*own), axis=lead + 2 * k)
    return x


def added_up(y: Any, sizes: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> Any:
    """The transpose of ``windows``: each element added to where it is taken from, in last axes of these sizes.

    >>> added_up(np.ones((3, 2)), [4], [1], [1])
    array([1., 2., 2., 1.])
    """
    lead = np.ndim(y) - 2 * len(sizes)
    for k in reversed(range(len(sizes))):
        axis = lead + 2 * k
        count, width = np.shape(y)[axis : axis + 2]
        index = places(count, width, strides[k], dilations[k])
        if isinstance(y, Tracer):
            y = Tracer(emit(SCATTER, (as_node(y), as_node(index)), (axis, sizes[k])))
        else:
            view = Windows.gathered(np.ndim(y) - 1, axis, sizes[k], index)
            assert view is not None
            y = overlap_add(y, view, [sizes[k] if a == axis else None for a in range(np.ndim(y) - 1)])
    return y
