"""DataFrames by their columns, of which some are known: new ones, joins, rows one after the other.

Columns of numbers that are known stay so, as columns of text do: they are keys, and pandas itself computes with them.
"""

from __future__ import annotations

import collections
import copy
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .labelled_groups import groupby
from .labelled_places import OTHERWISE, in_this_run, moved_around_nan, moved_together, moving, values_of, without_nan
from .labelled_rows import rows
from .labelled_values import describe, drop_duplicates, pivot_table, query
from .labels import Labels, refuse
from .local_array import holds_traced, unwrapped
from .making import array_of
from .trace import as_node, running

if TYPE_CHECKING:
    from .labelled import LabelledTracer


def _set_index(self: LabelledTracer, keys: Any, *args: Any, **kwargs: Any) -> Any:
    """Columns as the index, with their values of this run, guarded."""
    names = [k for k in (keys if isinstance(keys, list) else [keys]) if isinstance(k, str)]
    seen = {name: in_this_run(column) for name in names if type(column := self[name]) is type(self)}
    return moving(with_columns(self, seen), "set_index", keys, *args, **kwargs)


def _astype(self: LabelledTracer, dtype: Any, copy: bool | None = None, **_: Any) -> Any:
    if isinstance(dtype, dict):
        return with_columns(self, {name: self[name].astype(of) for name, of in dtype.items()})
    own = self._with_known()
    return own._with(own._array.astype(np.dtype(dtype)))


def _fillna(self: LabelledTracer, value: Any) -> Any:
    if self._name == "DataFrame" and (isinstance(value, dict) or not np.ndim(value)):
        filling = value if isinstance(value, dict) else dict.fromkeys(self, value)
        return with_columns(self, {name: self[name].fillna(v) for name, v in filling.items() if name in self})
    return self._with(np.where(np.isnan(self._array), self._plain(value), self._array))


def _get(self: LabelledTracer, key: Any, default: Any = None) -> Any:
    try:
        return self[key]
    except KeyError:
        return default


def _dropna(self: LabelledTracer, *args: Any, **kwargs: Any) -> Any:
    return moved_around_nan(self, operator.methodcaller("dropna", *args, **kwargs), "dropna")


def _filled(name: str) -> Callable:
    def filled(self: LabelledTracer, *args: Any, **kwargs: Any) -> Any:
        return moved_around_nan(self, operator.methodcaller(name, *args, **kwargs), name)

    return filled


def _apply(self: LabelledTracer, func: Any, axis: Any = 0) -> Any:
    if isinstance(func, str):
        return getattr(self, func)()
    if isinstance(func, (list, dict)):
        return _statistics(self, func)
    if self._labels.dims is not None:
        refuse(f"{self._name}.apply", OTHERWISE)
    if self.ndim == 1:
        return func(self) if isinstance(func, np.ufunc) else self._with(np.stack([func(x) for x in self._array]))
    along = 1 if axis in (1, "columns") else 0
    parts = [part for _, part in (rows if along else _columns)(self)]
    made = [func(part) for part in parts]
    if any(np.ndim(v) for v in made):
        refuse("DataFrame.apply of what gives no numbers", OTHERWISE)
    return type(self)(np.stack(made), self._of_numbers(bool(along))._without((along,)))


def _map(self: LabelledTracer, func: Any) -> Any:
    if self.ndim != 1:
        refuse(f"{self._name}.map so", OTHERWISE)
    return _apply(self, func) if callable(func) else in_this_run(self).map(func)


def _joining(name: str) -> Callable:
    """``merge`` or ``join`` by columns that are known, or by the index."""

    def joined(self: LabelledTracer, right: Any, *args: Any, **named: Any) -> Any:
        other = Labels.lifted(right.to_frame() if right.ndim == 1 else right)
        named |= dict(zip(("how", "on") if name == "merge" else ("on", "how"), args, strict=False))
        on = named.get("on")
        if on is None:
            by_index = name == "join" or named.get("left_index", False)
            on = [] if by_index or named.get("left_on") is not None else [c for c in self if c in other]
        keys = {on} if isinstance(on, str) else set(on)
        keyed = [self] if name == "join" else [self, other]  # the index of the other has the keys of a join
        for side, part in zip(keyed, ("left_on", "right_on"), strict=False):
            own = named.get(part) or ()
            if (keys | ({own} if isinstance(own, str) else set(own))) & set(side._labels.names):
                refuse(f"DataFrame.{name} by columns of traced numbers", "Join by columns that are known")
        if len(args) > 2:
            refuse(f"DataFrame.{name} with these arguments", "Join by the index, or by on=")
        return moved_together([self, other], lambda v: getattr(v[0], name)(v[1], **named), name)

    return joined


def _statistics(self: LabelledTracer, names: list[str] | dict[str, str]) -> Any:
    """Several statistics of a Series, or one of each of these columns, by their names."""
    if isinstance(names, dict) is not (self.ndim == 2) or not all(isinstance(n, str) for n in names):
        refuse(f"{self._name}.agg so", OTHERWISE)
    pairs = names.items() if isinstance(names, dict) else [(n, n) for n in names]
    made = [getattr(self[column] if self.ndim == 2 else self, name)() for column, name in pairs]
    return type(self)(np.stack(made), Labels(self._labels.without_values().agg(names)))


def _columns(self: LabelledTracer) -> Iterator[tuple[Any, Any]]:
    """The columns of a DataFrame with their names, the elements of a Series with their labels."""
    return zip(self.index, self._array, strict=True) if self.ndim == 1 else ((name, self[name]) for name in self)


def _tuples(self: LabelledTracer, index: bool = True, name: str | None = "Pandas") -> Iterator[Any]:
    columns = [self[c]._array if isinstance(self[c], type(self)) else self[c] for c in self]
    rows = zip(*([self.index] if index else []), *columns, strict=True)
    if name is None:
        return rows
    kind = collections.namedtuple(name, ["Index"] * index + [str(c) for c in self], rename=True)
    return (kind(*row) for row in rows)


def _assign(self: LabelledTracer, **columns: Any) -> Any:
    return with_columns(self, columns)


def with_columns(self: LabelledTracer, columns: Mapping[Any, Any]) -> Any:
    """A DataFrame with these columns, each put where its labels say."""
    for name, given in columns.items():
        column: Any = given(self) if callable(given) else given
        arrays = {n: self._array[:, k] for k, n in enumerate(self._labels.names)}
        shown = self._labels.without_values()
        if type(column) is type(self):
            together = self._labels.go_along(0, column._labels)
            column = (column if together else moving(column, "reindex", self.index))._array
        if holds_traced(column):
            shown[name] = 0.0
            column = array_of(column) if isinstance(column, (list, tuple)) else column
            arrays[name] = np.ones(len(self)) * column if np.ndim(column) == 0 else column
        else:
            shown[name] = copy.copy(unwrapped(column))
            arrays.pop(name, None)
        made = Labels(shown, [k for k, n in enumerate(shown) if n not in arrays])
        self = type(self)(_beside([arrays[n] for n in made.names], len(self)), made)
    return self


def _beside(columns: list[Any], count: int) -> Any:
    return np.stack(columns, axis=1) if columns else np.zeros((count, 0))


def _sort_values(self: LabelledTracer, by: Any = None, *, ascending: Any = True, ignore_index: bool = False) -> Any:
    """In the order that pandas finds in this run, guarded."""
    if isinstance(by, list):
        rows = in_this_run(self, by).reset_index(drop=True).sort_values(by, ascending=ascending, kind="stable")
        made = self.iloc[rows.index.to_numpy()]
        return made.set_axis(range(len(made)), axis=0) if ignore_index else made
    if self._labels.dims is not None or (self.ndim == 2) is not isinstance(by, str):
        refuse(f"{self._name}.sort_values with these arguments", OTHERWISE)
    key = self[by] if self.ndim == 2 else self
    if type(key) is not type(self):  # a column that is known
        return moving(self, "sort_values", by, ascending=ascending, ignore_index=ignore_index)
    values = without_nan(key, "sort_values")._array
    seen = np.asarray(running().value_of(as_node(values)))
    order = np.argsort(seen) if ascending else (len(seen) - 1 - np.argsort(seen[::-1]))[::-1]
    values_of(np.sign(np.diff(values[order])))  # for which it is an order
    made = self.iloc[order]
    return made.set_axis(range(len(made)), axis=0) if ignore_index else made


def _first(name: str) -> Callable:
    """The largest, or the smallest, by what is seen in this run; the first of equal ones."""

    def chosen(self: LabelledTracer, n: int = 5, *columns: Any, **named: Any) -> Any:
        if self.ndim == 2 and not columns:
            columns = (named.pop("columns"),)
        seen = in_this_run(self, *columns)
        seen.index = range(len(seen))
        return self.iloc[getattr(seen, name)(n, *columns, **named).index.to_numpy()]

    return chosen


def _to_dict(self: LabelledTracer, orient: str = "dict") -> Any:
    if self.ndim == 1:
        return dict(_columns(self))
    if orient == "records":
        return [dict(zip(self, row[1:], strict=True)) for row in _tuples(self)]
    if orient not in ("dict", "list", "series"):
        refuse(f"DataFrame.to_dict({orient!r})", OTHERWISE)
    columns = dict(_columns(self))
    if orient == "series":
        return columns
    return {n: dict(c.items()) if orient == "dict" else list(c) for n, c in columns.items()}


#: the methods that take known columns as they are
BY_COLUMN: dict[str, Callable] = {
    **dict.fromkeys(("agg", "aggregate", "apply"), _apply),
    "assign": _assign,
    "astype": _astype,
    "bfill": _filled("bfill"),
    "describe": describe,
    "drop_duplicates": drop_duplicates,
    "dropna": _dropna,
    "ffill": _filled("ffill"),
    "fillna": _fillna,
    "get": _get,
    "groupby": groupby,
    "items": _columns,
    "iterrows": rows,
    "itertuples": _tuples,
    "join": _joining("join"),
    "map": _map,
    "merge": _joining("merge"),
    "nlargest": _first("nlargest"),
    "nsmallest": _first("nsmallest"),
    "pipe": lambda self, func, *args, **kwargs: func(type(self)(self._array, self._labels), *args, **kwargs),
    "pivot_table": pivot_table,
    "query": query,
    "set_index": _set_index,
    "sort_values": _sort_values,
    "to_dict": _to_dict,
}
