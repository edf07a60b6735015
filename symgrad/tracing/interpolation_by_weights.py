"""Interpolation of ``scipy.interpolate`` that is linear in the data, of traced data.

SciPy interpolates an identity, whose columns are the weights of the data at the points; splines through all the data
are those of ``make_interp_spline``.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..errors import UnsupportedOperation
from .dispatch import answers_for
from .given_arrays import array
from .labelled_linear import MAX_LINEAR
from .local_array import holds_traced
from .splines import make_interp_spline
from .trace import as_followed

_PACKAGE = "scipy.interpolate"


def _library() -> Any:
    return sys.modules[_PACKAGE]


def _refuse(what: str, instead: str) -> UnsupportedOperation:
    return UnsupportedOperation.here(f"{_PACKAGE}.{what} has no derivative rule in symgrad. {instead}")


def _units(name: str, data: Any, *known: Any) -> np.ndarray:
    """An identity in place of the data, where the places and all else are known."""
    count = data.shape[0]
    if holds_traced(known) or count > MAX_LINEAR:
        raise _refuse(f"{name} by its places, or of more than {MAX_LINEAR} data", "Take points that are known.")
    return np.eye(count)


class _Interpolated:
    """An interpolator of traced data at places that are known."""

    def __init__(self, name: str, places: Any, data: Any, given: dict[str, Any]) -> None:
        self._name = name
        self._data = array(data)
        self._units = getattr(_library(), name)(places, _units(name, self._data, places, given), **given)

    def __call__(self, *at: Any) -> Any:
        if holds_traced(at):
            raise _refuse(f"{self._name} by the points", "Take RegularGridInterpolator, or points that are known.")
        return np.tensordot(self._units(*at), self._data, 1)


def _declare(name: str) -> None:
    @answers_for(f"{_PACKAGE}.{name}")
    def rule(places, data, *args, **kwargs):
        if args or kwargs.get("rescale") or kwargs.keys() & {"neighbors", "fill_value"}:
            raise _refuse(f"{name} with these arguments", "Name them, without neighbors, fill_value and rescale.")
        return _Interpolated(name, places, data, kwargs)


for _name in ("RBFInterpolator", "LinearNDInterpolator", "NearestNDInterpolator"):
    _declare(_name)


@answers_for(f"{_PACKAGE}.griddata")
def _griddata(points, values, xi, method="linear", fill_value=np.nan, rescale=False):
    if method == "cubic" or rescale or not np.isnan(fill_value):
        raise _refuse("griddata so", "Take the methods 'linear' and 'nearest'.")
    data = array(values)
    return np.tensordot(_library().griddata(points, _units("griddata", data, points, xi), xi, method), data, 1)


class Spline:
    """``UnivariateSpline`` through all the data, and ``InterpolatedUnivariateSpline``."""

    def __init__(self, spline: Any, beyond: Any) -> None:
        self._spline = spline
        self._beyond = beyond

    def __call__(self, x: Any, nu: int = 0, ext: Any = None) -> Any:
        if (self._beyond if ext is None else ext) not in (0, "extrapolate"):
            raise _refuse("UnivariateSpline with ext", "Let it extrapolate, and choose with np.where.")
        return as_followed(self._spline)(x, nu)

    def derivative(self, n: int = 1) -> Spline:
        return Spline(as_followed(self._spline.derivative)(n), self._beyond)

    def antiderivative(self, n: int = 1) -> Spline:
        return Spline(as_followed(self._spline.antiderivative)(n), self._beyond)

    def integral(self, a: Any, b: Any) -> Any:
        return as_followed(self._spline.integrate)(a, b)

    def derivatives(self, x: Any) -> Any:
        return np.stack([as_followed(self._spline)(x, nu) for nu in range(self._spline.k + 1)])


def _through(x: Any, y: Any, w: Any, bbox: Any, k: Any, s: Any, name: str) -> Any:
    """The B-spline through all the data, whose knots are those of FITPACK where the degree is odd."""
    if w is not None or any(b is not None for b in bbox) or s != 0 or k % 2 == 0:
        raise _refuse(f"{name} that smooths, or of these arguments", "Take s=0 and an odd k, or make_smoothing_spline.")
    return make_interp_spline(x, y, k)


@answers_for(f"{_PACKAGE}.UnivariateSpline")
def _univariate_spline(x, y, w=None, bbox=(None, None), k=3, s=None, ext=0, check_finite=False):
    return Spline(_through(x, y, w, bbox, k, s, "UnivariateSpline"), ext)


@answers_for(f"{_PACKAGE}.InterpolatedUnivariateSpline")
def _interpolated_univariate_spline(x, y, w=None, bbox=(None, None), k=3, ext=0, check_finite=False):
    return Spline(_through(x, y, w, bbox, k, 0, "InterpolatedUnivariateSpline"), ext)


@answers_for(f"{_PACKAGE}.splrep")
def _splrep(x, y, w=None, xb=None, xe=None, k=3, task=0, s=None, t=None, full_output=0, per=0, quiet=1):
    if task or t is not None or full_output or per:
        raise _refuse("splrep with these arguments", "Take make_interp_spline.")
    spline = _through(x, y, w, (xb, xe), k, s or 0, "splrep")
    held = vars(spline)
    return spline.t, np.concatenate([held.get("_c", held.get("c")), np.zeros(k + 1)]), k


def _of_tck(tck: Any) -> Any:
    t, c, k = tck
    return as_followed(_library().BSpline)(t, c[: len(t) - k - 1], k)


@answers_for(f"{_PACKAGE}.splev")
def _splev(x, tck, der=0, ext=0):
    spline = _of_tck(tck) if isinstance(tck, (tuple, list)) else tck
    return Spline(spline, ext)(x, der)


@answers_for(f"{_PACKAGE}.splint")
def _splint(a, b, tck, full_output=0):
    return as_followed(_of_tck(tck).integrate)(a, b)
