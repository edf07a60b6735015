"""``scipy.interpolate`` of traced values and points: what its Python code leaves to C.

Splines are made by scipy's own code, which is traced; here are the polynomials of their pieces at points, the
B-splines, and the linear systems of their coefficients.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from ..errors import UnsupportedOperation
from .dispatch import answers_for
from .given_arrays import array
from .local_array import holds_traced
from .tracer import Tracer

_PACKAGE = "scipy.interpolate"


def _pieces(knots: Tracer, at: Tracer) -> Any:
    """The piece in which each point lies; those outside are in the first and the last."""
    return np.clip(np.searchsorted(knots, at, side="right") - 1, 0, knots.shape[0] - 2)


def _beyond(at: Any, low: Any, high: Any, values: Any, extrapolate: Any) -> Any:
    """NaN for points that are not between the ends, where nothing is extrapolated."""
    if extrapolate:
        return values
    inside = (at >= low) & (at <= high)
    return np.where(inside[..., None] if at.ndim else inside, values, np.nan)


@answers_for("scipy.interpolate.evaluate")
def _of_pieces(c, x, xp, nu, extrapolate, out):
    at, knots, c = array(xp), array(x), array(c)
    piece = _pieces(knots, at)
    apart = (at - knots[piece])[:, None]
    degree = c.shape[0] - 1
    made: Any = np.zeros((at.shape[0], c.shape[2]))
    for k in range(degree - nu + 1):  # from the highest power
        power = degree - k
        factor = math.factorial(power) / math.factorial(power - nu)
        made = made * apart + factor * c[k][piece]
    out[...] = _beyond(at, knots[0], knots[-1], made, extrapolate)


@answers_for("scipy.interpolate.integrate")
def _integral(c, x, a, b, extrapolate, out):
    knots, c = array(x), array(c)
    order, pieces = c.shape[0], c.shape[1]
    coefficients = c / np.arange(order, 0, -1)[:, None, None]

    def from_first(at: Any) -> Any:
        """The integral from the first knot: over the pieces before, and within the one where ``at`` lies."""
        made: Any = 0.0
        for k in range(pieces):
            end = at if k == pieces - 1 else np.minimum(at, knots[k + 1])
            width = (end if k == 0 else np.maximum(end, knots[k])) - knots[k]
            value: Any = 0.0
            for power in range(order):
                value = (value + coefficients[power, k]) * width
            made = made + value
        return made

    low, high = array(a), array(b)
    made = from_first(high) - from_first(low)
    for end in (low, high):
        made = _beyond(end, knots[0], knots[-1], made, extrapolate)
    out[...] = made


@answers_for("scipy.interpolate.fix_continuity")
def _made_continuous(c, x, order):
    """Write into ``c`` what makes each piece go on from the one before it, with so many derivatives."""
    knots = array(x)
    for k in range(1, c.shape[1]):
        width = knots[k] - knots[k - 1]
        for nu in range(order, -1, -1):
            value: Any = 0.0
            for row in range(c.shape[0] - nu):
                value = value * width + math.comb(c.shape[0] - 1 - row, nu) * c[row, k - 1]
            c[c.shape[0] - nu - 1, k] = value


@answers_for("scipy.interpolate.evaluate_spline")
def _of_b_splines(t, c, k, xp, nu, extrapolate, out=None):
    at, knots, c = array(xp), array(t), array(c)
    made = _beyond(at, knots[k], knots[knots.shape[0] - k - 1], _b_spline(at, knots, c, k, nu), extrapolate)
    if out is None:
        return made
    out[...] = made
    return out


def _b_spline(at: Any, t: Any, c: Any, k: int, nu: int) -> Any:
    """``Σ c_i B_i(x)`` by de Boor's recursion, or its ``nu``-th derivative, a spline of differences of ``c``."""
    n = t.shape[0] - k - 1
    c = c[:n]
    for _ in range(nu):
        if k == 0:
            return np.zeros((at.shape[0], c.shape[1]))
        width = t[k + 1 : k + n] - t[1:n]
        flat = width == 0
        c = np.where(flat[:, None], 0.0, k * (c[1:] - c[:-1]) / np.where(flat, 1.0, width)[:, None])
        t, k, n = t[1:-1], k - 1, n - 1
    piece = np.clip(np.searchsorted(t, at, side="right") - 1, k, n - 1)
    d = [c[piece - k + j] for j in range(k + 1)]
    for r in range(1, k + 1):
        for j in range(k, r - 1, -1):
            left, right = t[piece - k + j], t[piece + 1 + j - r]
            share = ((at - left) / (right - left))[:, None]
            d[j] = (1.0 - share) * d[j - 1] + share * d[j]
    return d[k]


@answers_for("scipy.interpolate.make_interp_spline")
def make_interp_spline(x, y, k=3, t=None, bc_type=None, axis=0, check_finite=True):
    """The coefficients are linear in the values: those of the values' unit vectors, which are constants."""
    if holds_traced((x, t, bc_type)) or bc_type not in (None, "natural", "clamped", "periodic", "not-a-knot"):
        raise UnsupportedOperation.here(
            f"{_PACKAGE}.make_interp_spline has no derivative rule in symgrad by the places x, the knots t and the "
            "conditions at the ends. Take CubicSpline, which has one by the places too."
        )
    library = sys.modules[_PACKAGE]
    values = np.moveaxis(array(y).astype(float), axis, 0)
    n = values.shape[0]
    units = np.eye(n)
    if bc_type == "periodic":  # the first value and the last are one
        units[-1] = units[0]
    spline = library.make_interp_spline(x, units, k, t, bc_type, 0, check_finite)
    c = np.tensordot(spline.c, values, 1)
    made = object.__new__(library.BSpline)
    vars(made).update({**vars(spline), "_c" if "_c" in vars(spline) else "c": c, "axis": axis})
    return made


@answers_for("scipy.linalg.solve_banded")
def _solve_banded(l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    """By the whole matrix: splines have few knots."""
    below, above = l_and_u
    bands, right = array(ab), array(b)
    n = bands.shape[1]
    row, column = np.indices((n, n))
    band = above + row - column
    is_in = (band >= 0) & (band <= above + below)
    dense = np.where(is_in, bands[np.clip(band, 0, above + below), column], 0.0)
    return np.linalg.solve(dense, right)


@answers_for("scipy.interpolate._ndim_coords_from_arrays")
def _coordinates(points, ndim=None):
    if isinstance(points, tuple):
        return np.stack(np.broadcast_arrays(*map(array, points)), axis=-1)
    made = array(points)
    return made if made.ndim != 1 else made.reshape((-1, 1 if ndim is None else ndim))


@answers_for("scipy.interpolate.find_indices")
def _find_indices(grid, xi):
    """The cell of a grid in which each point lies, and how far along it."""
    cells, shares = [], []
    for places, at in zip(grid, xi, strict=True):
        knots, x = array(places), array(at)
        if knots.shape[0] == 1:
            cells.append(np.zeros(x.shape, int))
            shares.append(np.zeros(x.shape))
            continue
        cell = _pieces(knots, x)
        cells.append(cell)
        shares.append((x - knots[cell]) / (knots[cell + 1] - knots[cell]))
    return np.stack(cells), np.stack(shares)


@answers_for("scipy.interpolate.evaluate_linear_2d")
def _evaluate_linear_2d(values, indices, norm_distances, grid, out):
    z = array(values)
    (i, j), (a, b) = indices, norm_distances
    made = (1 - a) * (1 - b) * z[i, j] + (1 - a) * b * z[i, j + 1] + a * (1 - b) * z[i + 1, j] + a * b * z[i + 1, j + 1]
    out[...] = made
    return out


@answers_for(
    "scipy.interpolate.barycentric_interpolate",
    "scipy.interpolate.BarycentricInterpolator.__init__",
    "scipy.interpolate.BarycentricInterpolator.__call__",
)
def _barycentric(*_: Any, **__: Any):
    raise UnsupportedOperation.here(
        f"{_PACKAGE}: barycentric interpolation has no derivative rule in symgrad, since its formula has none at "
        "the nodes. Take KroghInterpolator, which is the same polynomial, or CubicSpline."
    )
