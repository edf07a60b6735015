"""Windows of Series and DataFrames: ``rolling`` by rows or by time, and ``expanding``."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .labelled_linear import MAX_LINEAR
from .labelled_places import OTHERWISE, aligned, missing_of
from .labelled_statistics import STATISTICS, no_method, options, statistic, with_enough
from .labels import refuse

if TYPE_CHECKING:
    from .labelled import LabelledTracer


class _Windows:
    """The rows at ``places`` for each row, -1 where a window has none; too few that are not NaN give NaN."""

    def __init__(self, value: LabelledTracer, places: np.ndarray, least: int) -> None:
        self._value = value
        self._places = places
        self._least = least

    def __getattr__(self, name: str) -> Any:
        return functools.partial(self._reduced, name) if name in STATISTICS else no_method(self, name)

    def _filled(self, x: Any) -> tuple[Any, Any]:
        """The windows of rows, zeros in those with too few, and which have enough."""
        padded = np.concatenate([x.astype(np.float64), np.full((1, *x.shape[1:]), np.nan)])
        return with_enough(padded[self._places], 1, max(self._least, 1))

    def _reduced(self, name: str, **named: Any) -> Any:
        windows, enough = self._filled(self._value._array)
        named = options(name, named, 1)
        made = statistic(name, missing_of(windows))(windows, axis=1, **named)
        return self._value._with(np.where(enough, made, np.nan))

    def cov(self, other: Any = None, ddof: int = 1) -> Any:
        """The covariance with the windows of another Series."""
        return self._moments(other, lambda xy, xx, yy, n: xy / (n - ddof))

    def corr(self, other: Any = None) -> Any:
        """The correlation with the windows of another Series."""
        return self._moments(other, lambda xy, xx, yy, n: xy / np.sqrt(xx * yy))

    def _moments(self, other: Any, of: Callable) -> Any:
        if self._value._name != "Series" or getattr(other, "ndim", 0) != 1:
            refuse("cov and corr of windows of a DataFrame", "Take them of its columns")
        left, right = aligned(self._value, self._value._lifted(other))
        gaps = np.isnan(left._array * right._array)  # a pair counts where both are there
        (x, enough), (y, _) = (self._filled(np.where(gaps, np.nan, v._array)) for v in (left, right))
        there = ~np.isnan(x)
        counts = np.sum(there, axis=1)
        x, y = (np.where(there, v, 0.0) for v in (x, y))
        x, y = (np.where(there, v - (np.sum(v, axis=1) / counts)[:, None], 0.0) for v in (x, y))
        made = of(np.sum(x * y, axis=1), np.sum(x**2, axis=1), np.sum(y**2, axis=1), counts)
        return left._with(np.where(enough & (counts > 1), made, np.nan))

    def apply(self, func: Callable, raw: bool = False) -> Any:
        """What ``func`` gives of each window of a Series; ``raw``: of its values."""
        x = self._value._array
        if x.ndim != 1:
            refuse("apply of windows of a DataFrame", "Take it of its columns")
        _, enough = self._filled(x)
        windows = x if raw else self._value.iloc
        rows = [places[places >= 0] for places in self._places]
        made = [func(windows[own]) if there else np.nan for own, there in zip(rows, enough, strict=True)]
        return self._value._with(np.stack(made) if np.any(enough) else np.full(len(x), np.nan))


def rolling(
    self: LabelledTracer, window: Any = None, min_periods: int | None = None, center: bool = False, **named: Any
) -> Any:
    rows = np.arange(len(self))
    if named or self._labels.dims is not None:
        refuse(f"{self._name}.rolling with these arguments", OTHERWISE)
    if type(window) is int and window > 0:
        last = rows + ((window - 1) // 2 if center else 0)
        places = last[:, None] - np.arange(window)[::-1]
        places[places >= len(self)] = -1
        return _Windows(self, np.maximum(places, -1), window if min_periods is None else min_periods)
    times = self._labels.axes[0]
    if center or not isinstance(window, str) or not hasattr(times, "asi8"):
        refuse(f"{self._name}.rolling with these arguments", OTHERWISE)
    first = np.searchsorted(times, times - sys.modules["pandas"].Timedelta(window), "right")
    places = rows[:, None] - np.arange(int(np.max(rows - first, initial=0)) + 1)[::-1]
    return _Windows(self, np.where(places >= first[:, None], places, -1), min_periods or 1)


def expanding(self: LabelledTracer, min_periods: int = 1) -> Any:
    rows = np.arange(len(self))
    if self._labels.dims is not None or rows.size > MAX_LINEAR:
        refuse(f"{self._name}.expanding of more than {MAX_LINEAR} rows", OTHERWISE)
    return _Windows(self, np.where(rows <= rows[:, None], rows, -1), min_periods)
