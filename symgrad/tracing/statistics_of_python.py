"""Python's module ``statistics`` on traced values: NumPy's functions of the same names, with its errors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ShapeError
from .declare import Case
from .dispatch import answers_for
from .local_array import unwrapped
from .trace import is_traced

_ONE = [Case((5,), domain=(0.5, 3.0))]
_TWO = [Case((5,), (5,))]


def _elements(data: Any, least: int, name: str) -> Any:
    """The elements as a vector; a ShapeError for fewer than ``least``."""
    x: Any = data if is_traced(data) else np.stack([unwrapped(v, traced=True) for v in data])
    if x.ndim != 1 or x.shape[0] < least:
        raise ShapeError.here(f"statistics.{name} takes a list of {least} numbers or more, not shape {x.shape}")
    return x


def _floats(data: Any, least: int, name: str) -> Any:
    """``_elements`` as Python's floats."""
    return _elements(data, least, name).astype(float)


def _as_given(rule: Callable) -> Callable:
    """``rule``, whose result has the dtype of the elements: the module adds up without rounding and converts back."""

    @functools.wraps(rule)
    def of_elements(data: Any, *args: Any, **kwargs: Any) -> Any:
        x = _elements(data, 1, rule.__name__.strip("_"))
        made = rule(x, *args, **kwargs)
        return made.astype(x.dtype) if x.dtype.kind == "f" else made

    return of_elements


def _pair(x: Any, y: Any, name: str) -> tuple[Any, Any]:
    x, y = _floats(x, 2, name), _floats(y, 2, name)
    if x.shape != y.shape:
        raise ShapeError.here(f"statistics.{name} takes as many numbers twice, not {x.shape[0]} and {y.shape[0]}")
    return x, y


def _products(x: Any, y: Any) -> Any:
    """The sum of the products of what both are apart from their means."""
    return np.sum((x - np.mean(x)) * (y - np.mean(y)))


@answers_for("statistics.mean", cases=_ONE)
@_as_given
def _mean(data):
    return np.mean(_floats(data, 1, "mean"))


@answers_for("statistics.fmean", cases=[*_ONE, Case((4,), (4,), domain=(0.5, 3.0))])
def _fmean(data, weights=None):
    return np.average(_floats(data, 1, "fmean"), weights=None if weights is None else _floats(weights, 1, "fmean"))


@answers_for("statistics.geometric_mean", cases=_ONE)
def _geometric_mean(data):
    return np.exp(np.mean(np.log(_floats(data, 1, "geometric_mean"))))


@answers_for("statistics.harmonic_mean", cases=[*_ONE, Case((4,), (4,), domain=(0.5, 3.0))])
@_as_given
def _harmonic_mean(data, weights=None):
    return 1 / _fmean(1 / _floats(data, 1, "harmonic_mean"), weights)


def _spread(name: str, ddof: int, root: bool) -> Callable:
    def about(data: Any, center: Any) -> Any:
        x = _floats(data, 1 + ddof, name)
        apart = x - (np.mean(x) if center is None else center)
        made = np.sum(apart * apart) / (x.shape[0] - ddof)
        return np.sqrt(made) if root else made

    def of_all(data: Any, mu: Any = None) -> Any:
        return about(data, mu)

    def of_some(data: Any, xbar: Any = None) -> Any:
        return about(data, xbar)

    rule = of_some if ddof else of_all
    rule.__name__ = name
    return rule if root else _as_given(rule)


for _name, _ddof, _root in (("pvariance", 0, False), ("variance", 1, False), ("pstdev", 0, True), ("stdev", 1, True)):
    answers_for(f"statistics.{_name}", cases=_ONE)(_spread(_name, _ddof, _root))


@answers_for("statistics.covariance", cases=_TWO)
def _covariance(x, y, /):
    x, y = _pair(x, y, "covariance")
    return _products(x, y) / (x.shape[0] - 1)


@answers_for("statistics.correlation", cases=_TWO)
def _correlation(x, y, /):
    x, y = _pair(x, y, "correlation")
    return _products(x, y) / np.sqrt(_products(x, x) * _products(y, y))


@answers_for("statistics.linear_regression", cases=_TWO)
def _linear_regression(x, y, /):
    from statistics import LinearRegression

    x, y = _pair(x, y, "linear_regression")
    slope = _products(x, y) / _products(x, x)
    return LinearRegression(slope, np.mean(y) - slope * np.mean(x))
