"""``scipy.ndimage`` between the pixels: splines through them, at coordinates that may be traced too.

The coefficients of a spline are linear in the values along each axis, so SciPy gives their matrix, for the unit
vectors. M. Unser, A. Aldroubi and M. Eden, IEEE Transactions on Signal Processing 41, 1993.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, UnsupportedOperation
from .dispatch import answers_for
from .given_arrays import floats
from .local_array import holds_traced
from .reductions import normalized_axis
from .windows import written

#: how many elements SciPy puts around an image where the spline is none of a periodic or mirrored one
_PADDED = 12


def _along(x: Any, axis: int, order: int, mode: str) -> Any:
    """The coefficients of the splines along an axis."""
    n = x.shape[axis]
    if order < 2 or n < 2:
        return x
    matrix = sys.modules["scipy.ndimage"].spline_filter1d(np.eye(n), order, axis=0, mode=mode).astype(x.dtype)
    return np.moveaxis(np.tensordot(matrix, x, ([1], [axis])), 0, axis)


def _order(order: Any) -> int:
    if order not in (0, 1, 2, 3):
        raise UnsupportedOperation.here(
            f"scipy.ndimage: splines of order {order!r} have no derivative rule in symgrad; 0 to 3 have."
        )
    return order


@answers_for("scipy.ndimage.spline_filter1d")
def _spline_filter1d(input, order=3, axis=-1, output=float, mode="mirror"):
    x = floats(input)
    return written(output, _along(x.astype(float), normalized_axis(axis, x.ndim), _order(order), mode))


def _weights(share: Any, order: int) -> list[Any]:
    """The B-splines of the places around, where a point lies ``share`` beyond the first of the middle ones."""
    if order == 0:
        return [1.0]
    if order == 1:
        return [1.0 - share, share]
    if order == 2:
        return [0.5 * (0.5 - share) ** 2, 0.75 - share * share, 0.5 * (0.5 + share) ** 2]
    rest = 1.0 - share
    inner = [(4.0 - 3.0 * z * z * (2.0 - z)) / 6.0 for z in (share, rest)]
    return [rest**3 / 6.0, *inner, share**3 / 6.0]


def _inside(at: Any, n: int, mode: str) -> Any:
    """The coordinate inside of an axis of ``n`` elements at which the image is what it is at ``at``."""
    last = n - 1
    if mode in ("constant", "grid-constant"):
        return at
    if mode == "nearest":
        return np.clip(at, 0, last)
    if mode == "grid-wrap":
        return np.where((at < 0) | (at > last), at - n * np.floor(at / n), at)
    if n == 1:
        return at * 0.0
    if mode == "wrap":
        above = np.where(at > last, at - last * np.floor(at / last), at)
        return np.where(at < 0, at + last * (np.floor(-at / last) + 1), above)
    start, period = (0.0, 2.0 * last) if mode == "mirror" else (-0.5, 2.0 * n)
    turned = at - start - period * np.floor((at - start) / period)
    return np.where((at < 0) | (at > last), start + np.minimum(turned, period - turned), at)


def _places(place: Any, n: int, mode: str) -> Any:
    """Which coefficients stand at whole places, some beyond the ends; ``n`` is what fills the image."""
    if mode == "grid-constant":
        return np.where((place < 0) | (place >= n), n, place)
    if mode == "nearest":
        return np.clip(place, 0, n - 1)
    if mode == "grid-wrap":
        return place % n
    if n == 1:
        return place * 0
    if mode in ("reflect", "grid-mirror"):
        turned = place % (2 * n)
        return np.minimum(turned, 2 * n - 1 - turned)
    turned = place % (2 * n - 2)
    return np.minimum(turned, 2 * n - 2 - turned)


def _at(image: Any, coordinates: Sequence[Any], order: int, mode: str, cval: float, prefilter: bool) -> Any:
    """The image between its pixels: one array of coordinates for each axis."""
    mode = "reflect" if mode == "grid-mirror" else mode
    if mode not in ("reflect", "mirror", "nearest", "wrap", "grid-wrap", "constant", "grid-constant"):
        raise ArgumentError.here(f"scipy.ndimage: mode={mode!r} is not known")
    offset = 0
    sizes = image.shape
    if prefilter and _order(order) > 1:
        if mode in ("nearest", "grid-constant"):
            offset = _PADDED
            if mode == "nearest":
                image = np.pad(image, offset, "edge")
            else:
                image = np.pad(image, offset, constant_values=cval)
        for axis in range(image.ndim):
            image = _along(image, axis, order, mode)
    outside, choices = False, []
    for at, n, size in zip(coordinates, sizes, image.shape, strict=True):
        if mode == "constant":
            outside = outside | (at < 0) | (at > n - 1)
        inside = _inside(at + offset, size, mode)
        first = np.floor(inside if order % 2 else inside + 0.5)
        places = first.astype(int) - order // 2
        weights = _weights(inside - first, order)
        choices.append([(_places(places + k, size, mode), w) for k, w in enumerate(weights)])
    if mode == "grid-constant":
        image = np.pad(image, [(0, 1)] * image.ndim, "constant", constant_values=cval)
    total: Any = 0.0
    for chosen in itertools.product(*choices):
        term = image[tuple([place for place, _ in chosen])]
        for _, weight in chosen:
            term = weight * term
        total = total + term
    return np.where(outside, cval, total) if mode == "constant" else total


@answers_for("scipy.ndimage.map_coordinates")
def _map_coordinates(input, coordinates, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    x, at = floats(input), floats(coordinates)
    made = _at(x, [at[k].astype(float) for k in range(x.ndim)], _order(order), mode, cval, prefilter)
    return written(output, made.astype(x.dtype))


@answers_for("scipy.ndimage.shift")
def _shift(input, shift, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    x = floats(input)
    by = floats(shift).astype(float) * np.ones(x.ndim)
    grid = [k - by[axis] for axis, k in enumerate(np.indices(x.shape, float))]
    return written(output, _at(x, grid, _order(order), mode, cval, prefilter).astype(x.dtype))


@answers_for("scipy.ndimage.affine_transform")
def _affine_transform(
    input, matrix, offset=0.0, output_shape=None, output=None, order=3, mode="constant", cval=0.0, prefilter=True
):
    x, m = floats(input), floats(matrix).astype(float)
    if m.ndim == 2 and m.shape[1] == x.ndim + 1:
        offset, m = m[: x.ndim, x.ndim], m[: x.ndim, : x.ndim]
    away: Any = floats(offset).astype(float) * np.ones(x.ndim)
    shape = x.shape if output_shape is None else tuple(output_shape)
    if isinstance(output, np.ndarray):
        shape = output.shape
    grid = np.indices(shape, float)
    if m.ndim == 1:
        places = [m[k] * grid[k] + away[k] for k in range(x.ndim)]
    else:
        places = [np.tensordot(m[k], grid, 1) + away[k] for k in range(x.ndim)]
    return written(output, _at(x, places, _order(order), mode, cval, prefilter).astype(x.dtype))


@answers_for("scipy.ndimage.zoom")
def _zoom(input, zoom, output=None, order=3, mode="constant", cval=0.0, prefilter=True, *, grid_mode=False):
    x = floats(input)
    if holds_traced(zoom):
        raise UnsupportedOperation.here("scipy.ndimage.zoom has no derivative rule by its zoom; take affine_transform.")
    factors = np.asarray(zoom, float) * np.ones(x.ndim)
    shape = [round(n * z) for n, z in zip(x.shape, factors, strict=True)]
    places = []
    for n, wide, k in zip(x.shape, shape, np.indices(shape, float), strict=True):
        if grid_mode:
            places.append((k + 0.5) * (n / wide) - 0.5)
        else:
            places.append(k * ((n - 1) / (wide - 1) if wide > 1 else 1.0))
    return written(output, _at(x, places, _order(order), mode, cval, prefilter).astype(x.dtype))
