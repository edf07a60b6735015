"""What adds up along labels: reductions, sums on the way, windows, groups, and other linear maps. NaN is left out.

A map that is linear whatever the values are (an exponential mean, an interpolation) is done to an identity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..errors import ArgumentError
from .labelled_places import OTHERWISE, aligned, missing_of, values_of
from .labels import Labels, refuse
from .local_array import holds_traced
from .reductions import normalized_axes

if TYPE_CHECKING:
    from .labelled import LabelledTracer

STATISTICS = ("sum", "mean", "std", "var", "min", "max", "prod", "median")
BY_DEFAULT: Any = object()


def axes_of(value: LabelledTracer, along: Any) -> tuple[int, ...]:
    """The axes that an argument called axis or dim names."""
    dims = value._labels.dims
    if along is BY_DEFAULT and dims is None:
        return (0,)
    if along is None or along is BY_DEFAULT or along is ...:
        return tuple(range(value.ndim))
    names: dict[Any, Any] = (
        {"index": 0, "rows": 0, "columns": 1} if dims is None else {d: k for k, d in enumerate(dims)}
    )
    given = along if isinstance(along, (tuple, list)) else [along]
    unknown = [a for a in given if isinstance(a, str) and a not in names]
    if unknown:
        raise ArgumentError.here(
            f"a {value._name} with axes {', '.join(map(str, names))} has none called {unknown[0]!r}."
        )
    return normalized_axes(tuple([names.get(a, a) for a in given]), value.ndim)


def options(name: str, named: dict[str, Any], ddof: int) -> dict[str, Any]:
    """What a statistic is called with beside the axis: the degrees of freedom of a deviation, as the library has it."""
    if named.keys() - {"ddof"}:
        refuse(f"{name} with {', '.join(named)}", OTHERWISE)
    return {"ddof": ddof} | named if name in ("std", "var") else named


def statistic(name: str, missing: Any) -> Callable:
    """NumPy's statistic, that without NaN where some elements are, or may be; ``count`` of those that are none."""
    if name == "count":
        return lambda x, axis: np.sum(~np.isnan(x), axis=axis)
    return getattr(np, f"nan{name}" if missing is None or np.any(missing) else name)


def reduction(name: str) -> Callable:
    def reduced(
        self: LabelledTracer,
        axis: Any = BY_DEFAULT,
        skipna: bool | None = True,
        numeric_only: bool = False,
        *,
        dim: Any = BY_DEFAULT,
        **named: Any,
    ) -> Any:
        self = self._of_numbers(numeric_only, also_truths=numeric_only)
        axes = axes_of(self, axis if dim is BY_DEFAULT else dim)
        named = options(name, named, 1 if self._labels.dims is None else 0)
        along = axes if len(axes) != 1 else axes[0]
        missing = np.False_ if skipna is False else missing_of(self._array)
        is_empty = self._labels.dims is None and not all(self.shape[a] for a in axes)
        if is_empty and name not in ("sum", "prod"):
            made = np.full([d for a, d in enumerate(self.shape) if a not in axes], np.nan)[()]
        elif missing is not None and np.any(missing) and name in ("sum", "mean"):
            made = np.sum(np.where(missing, 0.0, self._array), axis=along)
            count = np.sum(~missing, axis=along)
            made = made if name == "sum" else made / np.where(count == 0, np.nan, count)
        else:
            made = statistic(name, missing)(self._array, axis=along, **named)
        is_number = len(axes) == self.ndim and self._labels.dims is None
        return made if is_number else type(self)(made, self._without(axes))

    return reduced


def counting(name: str) -> Callable:
    """``any``, ``all`` or ``count``: of what is so, and of what is no NaN."""
    of: Callable = statistic(name, False)

    def counted(self: LabelledTracer, axis: Any = BY_DEFAULT, *, dim: Any = BY_DEFAULT) -> Any:
        self = self._of_numbers()
        axes = axes_of(self, axis if dim is BY_DEFAULT else dim)
        made = of(self._array, axis=axes if len(axes) != 1 else axes[0])
        is_number = len(axes) == self.ndim and self._labels.dims is None
        return made if is_number else type(self)(made, self._without(axes))

    return counted


def with_enough(x: Any, axes: int | tuple[int, ...], least: int) -> tuple[Any, np.ndarray]:
    """``x`` with zeros where fewer than ``least`` elements along the axes are no NaN, and where there are enough."""
    missing = missing_of(x)
    if missing is None:
        refuse("windows of values whose NaN differ between examples", OTHERWISE)
    enough = np.sum(~missing, axis=axes, keepdims=True) >= least
    return np.where(enough, x, 0.0), np.squeeze(enough, axes)


def cumulative(name: str) -> Callable:
    def summed(self: LabelledTracer, axis: Any = BY_DEFAULT, *, dim: Any = BY_DEFAULT) -> Any:
        axes = axes_of(self, axis if dim is BY_DEFAULT else dim)
        if len(axes) != 1:
            refuse(f"{self._name}.{name} along several axes", OTHERWISE)
        if name in ("cummax", "cummin"):
            missing = missing_of(self._array)
            if missing is None or np.any(missing):
                refuse(f"{self._name}.{name} with NaN", OTHERWISE)
            return self._with((np.maximum if name == "cummax" else np.minimum).accumulate(self._array, axis=axes[0]))
        made = getattr(np, f"nan{name}")(self._array, axis=axes[0])
        return self._with(np.where(np.isnan(self._array), np.nan, made) if self._labels.dims is None else made)

    return summed


def no_method(of: Any, name: str) -> NoReturn:
    """What has no rule is refused; what nothing has is not there."""
    if name.startswith("_"):
        raise AttributeError(name)
    refuse(f"{name} of {type(of).__name__.lower().strip('_')}", OTHERWISE)


def _complete(x: Any, name: str) -> Any:
    """The rows without NaN, where a row has it everywhere or nowhere."""
    missing = missing_of(x)
    if missing is None or not np.array_equal(np.all(missing, axis=-1), np.any(missing, axis=-1)):
        refuse(f"{name} of columns that are NaN in different rows", "Drop them: x.dropna()")
    return x[~np.all(missing, axis=-1)] if np.any(missing) else x


def covariance(name: str) -> Callable:
    """``cov`` or ``corr``: of the columns of a DataFrame, or of a Series with another."""
    of = np.cov if name == "cov" else np.corrcoef

    def made(self: LabelledTracer, other: Any = None) -> Any:
        if self._name == "DataFrame" and other is None:
            self = self._of_numbers()
            return type(self)(
                of(_complete(self._array, name), rowvar=False), Labels(getattr(self._labels.without_values(), name)())
            )
        if self._name != "Series" or other is None:
            refuse(f"{self._name}.{name}", OTHERWISE)
        pair = np.stack([v._array for v in aligned(self, self._lifted(other))], axis=1)
        either = values_of(np.any(np.isnan(pair), axis=1))
        return of(pair[~either], rowvar=False)[0, 1]

    return made


def quantile(self: LabelledTracer, q: Any = 0.5) -> Any:
    """``x.quantile(q)`` for one q, or several."""
    if self._labels.dims is not None or holds_traced(q):
        refuse(f"{self._name}.quantile of these", OTHERWISE)
    self = self._of_numbers()
    made = statistic("quantile", missing_of(self._array))(self._array, q, axis=0)
    is_number = self.ndim == 1 and np.ndim(q) == 0
    return made if is_number else type(self)(made, Labels(self._labels.without_values().quantile(q)))
