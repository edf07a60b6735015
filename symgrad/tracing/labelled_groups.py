"""Groups of rows with the same keys, which are known, or in the same stretch of time."""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .labelled_linear import interpolate
from .labelled_places import OTHERWISE, in_this_run, missing_of, moved, moved_around_nan, moving
from .labelled_statistics import STATISTICS, cumulative, no_method, options, statistic
from .labels import Labels, is_number, refuse
from .local_array import holds_traced

if TYPE_CHECKING:
    from .labelled import LabelledTracer

#: statistics on the way through each group
_IN_GROUPS = frozenset(("cumsum", "cumprod", "cummax", "cummin"))


class _Groups:
    """``x.groupby(by)`` of a Series or a DataFrame, whose keys are known; ``whole`` has the column of keys too."""

    def __init__(self, value: LabelledTracer, by: dict[str, Any], whole: LabelledTracer, as_index: bool = True) -> None:
        self._value = value
        self._by = by
        self._whole = whole
        self._as_index = as_index

    def __getitem__(self, key: Any) -> Any:
        part = self._value[key]
        if type(part) is not type(self._value):  # a known column
            if not is_number(part.dtype):
                return part.groupby(**self._by)
            part = type(self._value)(part.to_numpy(), Labels(part))
        return type(self)(part, self._by, part, self._as_index)

    def _with_keys(self, made: Any) -> Any:
        """A row for each group, with the keys as its index, or as columns."""
        return made if self._as_index else moving(made, "reset_index")

    def _indexed(self) -> _Groups:
        return _Groups(self._value, self._by, self._whole)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Each key with its group."""
        for key, places in self._line():
            yield key, self._whole.iloc[places.to_numpy()]

    def parts(self) -> list[Any]:
        """The rows of each group, numbers alone."""
        own = self._value._of_numbers()
        return [own.iloc[places]._of_numbers() for places in self._places()]

    def _places(self) -> list[np.ndarray]:
        """Where the rows of each group are, as pandas has the groups in a result: those without rows too."""
        found = self._line().agg(list)
        return [np.asarray(places if isinstance(places, list) else [], int) for places in found]

    def _line(self) -> Any:
        """The numbers of the rows, in groups."""
        index = self._whole.index
        return sys.modules["pandas"].Series(np.arange(len(index)), index=index).groupby(**self._by)

    def __getattr__(self, name: str) -> Any:
        if name in STATISTICS or name == "count":
            return functools.partial(self._reduced, name)
        if name in ("rolling", "expanding", "ewm"):
            return lambda *args, **named: _WindowsOfGroups(self, operator.methodcaller(name, *args, **named))
        if name in ("head", "tail"):
            return lambda n=5: moved(self._whole, lambda v: getattr(v.groupby(**self._by), name)(n), name)
        if name in ("cumcount", "ngroup"):
            return getattr(self._groups(), name)
        if name in ("idxmax", "idxmin", "nunique", "rank"):
            return getattr(in_this_run(self._value).groupby(**self._by), name)
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
            return self._beside({_called(of): self.agg(of) for of in func})
        if self._value.ndim == 2 and (callable(func) or isinstance(func, list)):
            func = dict.fromkeys(self._value.columns, func)
        if isinstance(func, dict) and any(isinstance(of, list) for of in func.values()):
            pairs = [(column, of) for column, of in func.items() for of in (of if isinstance(of, list) else [of])]
            return self._beside({(column, _called(of)): self[column].agg(of) for column, of in pairs})
        if isinstance(func, dict):
            return self._beside({column: self[column].agg(of) for column, of in func.items()})
        if callable(func):
            return self.apply(func)
        if not isinstance(func, str) or func not in (*STATISTICS, "count", "first", "last", "size"):
            refuse(f"agg of groups by {func!r}", "Name one statistic, as in agg('mean')")
        return getattr(self, func)()

    def _beside(self, columns: dict[Any, Any]) -> Any:
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
        own = self._value._of_numbers()
        rows = [func(part)._of_numbers()._array for part in self.parts()]
        made = np.concatenate([*rows, np.full((1, *own.shape[1:]), np.nan)])
        order = np.full(len(own), -1)
        order[np.concatenate(self._places())] = np.arange(len(made) - 1)
        return own._with(made[order])

    def shift(self, periods: int = 1, **named: Any) -> Any:
        return self._rows(lambda part: moving(part, "shift", periods, **named))

    def diff(self, periods: int = 1) -> Any:
        return self._rows(lambda part: part - moving(part, "shift", periods))

    def pct_change(self, periods: int = 1) -> Any:
        return self._rows(lambda part: part / moving(part, "shift", periods) - 1)

    def filter(self, func: Callable[[Any], Any]) -> Any:
        """The rows of the groups for which ``func`` is true."""
        kept = [places for places in self._places() if places.size and func(self._whole.iloc[places])]
        return self._whole.iloc[np.sort(np.concatenate([np.arange(0), *kept]))]

    def get_group(self, name: Any) -> Any:
        return self._whole.iloc[self._line().get_group(name).to_numpy()]

    def first(self) -> Any:
        return self._picked("first")

    def last(self) -> Any:
        return self._picked("last")

    def _picked(self, name: str) -> Any:
        own = self._value._of_numbers()
        return self._with_keys(moved_around_nan(own, lambda v: getattr(v.groupby(**self._by), name)(), name))

    def ohlc(self) -> Any:
        """The first, the largest, the smallest and the last element of each group of a Series."""
        names = {"open": "first", "high": "max", "low": "min", "close": "last"}
        return self._beside({name: getattr(self, of)() for name, of in names.items()})

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
        if not isinstance(func, str) or func not in (*STATISTICS, "count", "first", "last"):
            refuse(f"transform of groups by {func!r}", "Name a statistic, as in transform('mean')")
        groups = np.full(len(self._value), -1)
        for k, places in enumerate(self._places()):
            groups[places] = k
        if not np.all(groups >= 0):
            refuse("transform of groups where keys are missing", "Drop these rows")
        return self._value._of_numbers()._with(getattr(self._indexed(), func)()._of_numbers()._array[groups])

    def _groups(self) -> Any:
        return self._value._of_numbers(only=True)._labels.without_values().groupby(**self._by)

    def _reduced(self, name: str, **named: Any) -> Any:
        x, grouped = self._value._of_numbers()._array, self._groups()
        made = Labels(grouped.sum())
        named, function = options(name, named, 1), statistic(name, missing_of(x))
        least = -1 if name in ("sum", "prod", "count") else named.get("ddof", 0)
        groups = [x[places] for places in self._places()]
        rows = [function(g, axis=0, **named) if len(g) > least else np.full(g.shape[1:], np.nan) for g in groups]
        return self._with_keys(type(self._value)(np.stack(rows) if rows else x[:0], made))


def _called(statistic: Any) -> Any:
    """What the column of a statistic is called."""
    return getattr(statistic, "__name__", statistic)


class _WindowsOfGroups:
    """``x.groupby(by).rolling(…)`` and kin, one group after the other; ``make`` makes the windows."""

    def __init__(self, groups: _Groups, make: Callable[[Any], Any]) -> None:
        self._groups = groups
        self._make = make

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)

        def taken(*args: Any, **named: Any) -> Any:
            made = [getattr(self._make(part), name)(*args, **named) for part in self._groups.parts() if len(part)]
            labels = Labels(getattr(self._make(self._groups._groups()), name)(*args, **named))
            return type(made[0])(np.concatenate([part._array for part in made]), labels)

        return taken


def _known(keys: Any) -> Any:
    """A column of keys as a Series of pandas."""
    return in_this_run(keys) if hasattr(keys, "_labels") else keys


#: what groups are asked for by beside their keys
_SETTINGS = {"level", "sort", "observed", "dropna", "group_keys"}


def groupby(self: LabelledTracer, by: Any = None, as_index: bool = True, **named: Any) -> Any:
    if self._labels.dims is not None or holds_traced((by, named)) or named.keys() - _SETTINGS:
        refuse(f"{self._name}.groupby with these arguments", OTHERWISE)
    whole = self
    by = [_known(key) for key in by] if isinstance(by, list) else _known(by)
    keys = by if isinstance(by, list) else [by]
    if self.ndim == 2 and all(isinstance(key, str) and key in self for key in keys):
        found = [_known(self[key]) for key in keys]
        self, by = moving(self, "drop", columns=keys), found if isinstance(by, list) else found[0]
    return _Groups(self, {"by": by} | named, whole, as_index)


class _Resampled(_Groups):
    """``x.resample(rule)``: groups by time, and what fills the times between."""

    def __getattr__(self, name: str) -> Any:
        if name in ("ffill", "bfill", "nearest", "asfreq"):
            return lambda: moved_around_nan(self._value, lambda v: getattr(self._at_times(v), name)(), name)
        if name == "interpolate":
            return lambda *how, **named: interpolate(self.asfreq(), *how, **named)
        return super().__getattr__(name)

    def _at_times(self, value: Any) -> Any:
        grouper = self._by["by"]
        return value.resample(grouper.freq, closed=grouper.closed, label=grouper.label)


def resample(self: LabelledTracer, rule: Any, **named: Any) -> Any:
    if self._labels.dims is not None or named.keys() - {"closed", "label", "origin", "offset"}:
        refuse(f"{self._name}.resample with these arguments", OTHERWISE)
    return _Resampled(self, {"by": sys.modules["pandas"].Grouper(freq=rule, **named)}, self)
