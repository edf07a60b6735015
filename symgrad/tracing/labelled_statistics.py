"""What adds up along labels: reductions, sums on the way, windows, groups, and other linear maps. NaN is left out.

A map that is linear whatever the values are (an exponential mean, a mean of each month) is done to an identity.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..errors import ArgumentError
from .labelled_places import OTHERWISE, aligned, missing_of, moved_around_nan, moving, values_of
from .labels import Labels, refuse
from .local_array import holds_traced
from .reductions import normalized_axes

if TYPE_CHECKING:
    from .labelled import LabelledTracer

STATISTICS = ("sum", "mean", "std", "var", "min", "max", "prod", "median")
BY_DEFAULT: Any = object()
#: elements along a linear map
MAX_LINEAR = 2_000


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
    """NumPy's statistic, that without NaN where some elements are, or may be."""
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
        self = self._of_numbers(numeric_only)
        axes = axes_of(self, axis if dim is BY_DEFAULT else dim)
        named = options(name, named, 1 if self._labels.dims is None else 0)
        along = axes if len(axes) != 1 else axes[0]
        missing = np.False_ if skipna is False else missing_of(self._array)
        if missing is not None and np.any(missing) and name in ("sum", "mean"):
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
    of: Callable = np.sum if name == "count" else getattr(np, name)

    def counted(self: LabelledTracer, axis: Any = BY_DEFAULT, *, dim: Any = BY_DEFAULT) -> Any:
        self = self._of_numbers()
        axes = axes_of(self, axis if dim is BY_DEFAULT else dim)
        made = of(~np.isnan(self._array) if name == "count" else self._array, axis=axes if len(axes) != 1 else axes[0])
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


def mapped_by(weights: np.ndarray, x: Any, axis: int) -> Any:
    """The linear map whose rows are ``weights`` of the elements along an axis; rows with NaN give NaN."""
    nothing: Any = np.any(np.isnan(weights), axis=-1)
    found = np.tensordot(np.where(nothing[..., None], 0.0, weights), x, (-1, axis))
    if np.any(nothing):
        found = np.where(nothing.reshape(nothing.shape + (1,) * (found.ndim - nothing.ndim)), np.nan, found)
    return found


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


#: statistics on the way through each group
_IN_GROUPS = frozenset(("cumsum", "cumprod", "cummax", "cummin"))


class _Groups:
    """``x.groupby(by)`` of a Series or a DataFrame, whose keys are known; ``whole`` has the column of keys too."""

    def __init__(self, value: LabelledTracer, by: dict[str, Any], whole: LabelledTracer, as_index: bool = True) -> None:
        self._value = value
        self._by = by
        self._whole = whole
        self._as_index = as_index

    def __getitem__(self, key: Any) -> _Groups:
        return _Groups(self._value[key], self._by, self._value[key], self._as_index)

    def _with_keys(self, made: Any) -> Any:
        """A row for each group, with the keys as its index, or as columns."""
        return made if self._as_index else moving(made, "reset_index")

    def _indexed(self) -> _Groups:
        return _Groups(self._value, self._by, self._whole)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Each key with its group."""
        for (key, _), places in zip(self._groups(), self._places(), strict=True):
            yield key, self._whole.iloc[places]

    def _places(self) -> list[np.ndarray]:
        """Where the rows of each group are."""
        grouped = self._groups()
        groups = grouped.ngroup().to_numpy()
        order = np.argsort(groups, kind="stable")
        ends = np.searchsorted(groups[order], np.arange(grouped.ngroups + 1))
        return [order[start:end] for start, end in itertools.pairwise(ends)]

    def __getattr__(self, name: str) -> Any:
        if name in STATISTICS:
            return functools.partial(self._reduced, name)
        if name in _IN_GROUPS:
            return lambda: self._rows(cumulative(name))
        if not name.startswith("_") and self._value.ndim == 2 and name in self._value:
            return self[name]
        return no_method(self, name)

    def agg(self, func: Any = None, **named: Any) -> Any:
        """A statistic of each group, by its name or as a function; one of all these columns, or a column each."""
        if not self._as_index:
            return self._with_keys(self._indexed().agg(func, **named))
        if named and func is None and all(isinstance(v, tuple) and len(v) == 2 for v in named.values()):
            return self._beside({name: self[column].agg(of) for name, (column, of) in named.items()})
        if named:
            refuse("agg of groups with these arguments", "Name one statistic, as in agg('mean')")
        if isinstance(func, list) and self._value.ndim == 1:
            return self._beside({getattr(name, "__name__", name): self.agg(name) for name in func})
        if callable(func) and self._value.ndim == 2:
            return self._beside({column: self[column].agg(func) for column in self._value.columns})
        if callable(func):
            return self.apply(func)
        if isinstance(func, dict) and len(set(map(str, func.values()))) == 1:
            return self[list(func)].agg(next(iter(func.values())))
        if not isinstance(func, str) or func not in STATISTICS:
            refuse(f"agg of groups by {func!r}", "Name one statistic, as in agg('mean')")
        return self._reduced(func)

    def _beside(self, columns: dict[str, Any]) -> Any:
        """Results of one number a group as the columns of a DataFrame."""
        first = next(iter(columns.values()))
        frame = first._labels.without_values().to_frame()
        made = type(frame)(np.zeros((len(first), len(columns))), index=frame.index, columns=list(columns))
        return type(first)(np.stack([c._array for c in columns.values()], axis=1), Labels(made))

    def apply(self, func: Callable[..., Any], *args: Any, include_groups: bool = False, **kwargs: Any) -> Any:
        """What ``func`` makes of each group without its keys, a number."""
        if not self._as_index:
            refuse("apply of groups with as_index=False", "Write groupby(…).apply(…).reset_index(name=…)")
        if include_groups:
            refuse("apply of groups with include_groups=True", "Leave it out: the keys are known")
        rows = [func(self._value.iloc[places], *args, **kwargs) for places in self._places()]
        if any(np.ndim(row) or hasattr(row, "_labels") for row in rows):
            refuse("apply or agg of groups by a function that gives no number", "Give a number for each group")
        floats = self._groups().size().astype(float)
        return type(self._value)(np.stack([np.multiply(row, 1.0) for row in rows]), Labels(floats))

    def _rows(self, func: Callable[[Any], Any]) -> Any:
        """What ``func`` makes of each group, row by row, where the rows were; NaN where there is no key."""
        own, places = self._value._of_numbers(), self._places()
        made = np.concatenate([func(own.iloc[k])._array for k in places] + [np.full((1, *own.shape[1:]), np.nan)])
        order = np.full(len(own), -1)
        order[np.concatenate(places)] = np.arange(len(made) - 1)
        return own._with(made[order])

    def shift(self, periods: int = 1) -> Any:
        return self._rows(lambda part: moving(part, "shift", periods))

    def diff(self, periods: int = 1) -> Any:
        return self._rows(lambda part: part - moving(part, "shift", periods))

    def pct_change(self, periods: int = 1) -> Any:
        return self._rows(lambda part: part / moving(part, "shift", periods) - 1)

    def first(self) -> Any:
        return self._picked("first")

    def last(self) -> Any:
        return self._picked("last")

    def _picked(self, name: str) -> Any:
        own = self._value._of_numbers()
        return self._with_keys(moved_around_nan(own, lambda v: getattr(v.groupby(**self._by), name)(), name))

    def size(self) -> Any:
        """The number of rows in each group."""
        made = self._groups().size()
        return made if self._as_index else made.reset_index(name="size")

    def transform(self, func: Any) -> Any:
        """A statistic of its group for each row, or what a function gives of each group of a Series."""
        if callable(func) and self._value.ndim == 1:
            return self._rows(lambda part: func(part) + part._with(np.zeros(part.shape)))
        if isinstance(func, str) and func in _IN_GROUPS:
            return getattr(self, func)()
        if not isinstance(func, str) or func not in STATISTICS:
            refuse(f"transform of groups by {func!r}", "Name a statistic, as in transform('mean')")
        groups = self._groups().ngroup().to_numpy()
        if not np.all(groups >= 0):
            refuse("transform of groups where keys are missing", "Drop these rows")
        return self._value._of_numbers()._with(self._indexed()._reduced(func)._array[groups])

    def _groups(self) -> Any:
        return self._value._of_numbers()._labels.without_values().groupby(**self._by)

    def _reduced(self, name: str, **named: Any) -> Any:
        x, grouped = self._value._of_numbers()._array, self._groups()
        made = Labels(grouped.sum())
        named, function = options(name, named, 1), statistic(name, missing_of(x))
        least = named.get("ddof", 0)
        groups = [x[places] for places in self._places()]
        rows = [function(g, axis=0, **named) if len(g) > least else np.full(g.shape[1:], np.nan) for g in groups]
        return self._with_keys(type(self._value)(np.stack(rows), made))


def _known(keys: Any) -> Any:
    """A column of keys as a Series of pandas."""
    return keys._labels.put_on(values_of(keys._array)) if hasattr(keys, "_labels") else keys


def groupby(self: LabelledTracer, by: Any = None, as_index: bool = True, **named: Any) -> Any:
    if self._labels.dims is not None or holds_traced((by, named)) or named.keys() - {"level", "sort"}:
        refuse(f"{self._name}.groupby with these arguments", OTHERWISE)
    whole = self
    keys = by if isinstance(by, list) else [by]
    if self.ndim == 2 and all(isinstance(key, str) and key in self for key in keys):
        found = [_known(self[key]) for key in keys]
        self, by = moving(self, "drop", columns=keys), found if isinstance(by, list) else found[0]
    return _Groups(self, {"by": by} | named, whole, as_index)


class _Averages:
    """``x.ewm(…)``, ``x.resample(…)`` and kin, whose means and sums are linear."""

    def __init__(self, value: LabelledTracer, make: Callable[[Any], Any]) -> None:
        self._value = value
        self._make = make

    def __getattr__(self, name: str) -> Any:
        if name in ("first", "last"):
            return lambda: moved_around_nan(self._value, lambda v: getattr(self._make(v), name)(), name)
        if name in ("sum", "mean"):
            return lambda: _mapped(self._value, lambda v: getattr(self._make(v), name)(), name)
        return no_method(self, name)


def linear(name: str) -> Callable:
    """A method that gives a ``_Averages``."""

    def made(self: LabelledTracer, *args: Any, **kwargs: Any) -> Any:
        if self._labels.dims is not None or holds_traced((args, kwargs)):
            refuse(f"{self._name}.{name} with these arguments", OTHERWISE)
        return _Averages(self, operator.methodcaller(name, *args, **kwargs))

    return made


def _mapped(value: LabelledTracer, make: Callable[[Any], Any], what: str) -> Any:
    """What ``make``, which is linear along the first axis where no value is NaN, makes of a Series or a DataFrame."""
    labels, x = value._of_numbers()._labels, value._array
    missing, count = missing_of(x), len(x)
    if count > MAX_LINEAR or missing is None or np.any(missing):
        refuse(f"{value._name} with NaN, or of more than {MAX_LINEAR} rows: its {what} here", OTHERWISE)
    like = labels.without_values()
    frame = type(like.to_frame() if like.ndim == 1 else like)
    weights = np.asarray(make(frame(np.eye(count), index=like.index)))
    return type(value)(mapped_by(weights, x, 0), Labels(make(like)))


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


def quantile(self: LabelledTracer, q: float = 0.5) -> Any:
    """``x.quantile(q)`` for one q."""
    if not isinstance(q, float) or self._labels.dims is not None:
        refuse(f"{self._name}.quantile of these", OTHERWISE)
    self = self._of_numbers()
    made = statistic("quantile", missing_of(self._array))(self._array, q, axis=0)
    return made if self.ndim == 1 else type(self)(made, Labels(self._labels.without_values().quantile(q)))
