"""Methods of Series, DataFrames and DataArrays that have a rule, by name."""

from __future__ import annotations

import collections
import functools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import labelled_dims
from .labelled_places import (
    OTHERWISE,
    Indexer,
    aligned,
    known,
    missing_of,
    moved,
    moved_around_nan,
    moved_together,
    moving,
    values_of,
)
from .labelled_rows import rows
from .labelled_statistics import (
    BY_DEFAULT,
    STATISTICS,
    counting,
    covariance,
    cumulative,
    groupby,
    linear,
    quantile,
    reduction,
)
from .labelled_windows import expanding, rolling
from .labels import Labels, numbers_of, refuse
from .trace import as_node
from .tracer import Tracer

if TYPE_CHECKING:
    from .labelled import LabelledTracer

#: methods that move elements, and put constants or nothing where there are none
_MOVING = frozenset(
    (
        *("head", "tail", "take", "xs", "truncate", "filter", "drop", "between_time", "at_time", "asfreq", "squeeze"),
        *("shift", "transpose", "reindex", "reindex_like", "sort_index", "stack", "unstack", "swaplevel", "copy"),
        *("droplevel", "reorder_levels", "set_axis", "rename", "rename_axis", "add_prefix", "add_suffix", "to_frame"),
        *("sel", "isel", "thin", "roll", "expand_dims", "swap_dims", "broadcast_like", "drop_vars", "drop_sel"),
        *("drop_isel", "assign_coords", "tz_localize", "tz_convert", "set_index", "reset_index", "melt", "pivot"),
        *("sortby", "pad", "drop_duplicates", "to_series", "to_pandas", "drop_attrs", "assign_attrs", "drop_indexes"),
        *("to_dataset", "reset_coords"),
    )
)
#: those that a Dataset has
DATASETS_MOVE = frozenset((*_MOVING, "to_array", "to_dataarray", "rename_vars", "rename_dims")) - {"copy"}
_INDEXERS = frozenset(("iloc", "loc", "iat", "at"))
#: what labels say, whatever the values are
_OF_LABELS = frozenset(("index", "columns", "name", "dims", "sizes", "coords", "indexes", "axes", "empty", "keys"))


def attribute(value: LabelledTracer, name: str) -> Any:
    """What ``value.name`` is where it is known what it does; else None."""
    if name in _OF_LABELS:
        return getattr(value._labels.without_values(), name)
    if name in _INDEXERS:
        return Indexer(value, name)
    if name == "T" and value._name == "Series":
        return value
    if name == "T":
        return moved(value, operator.attrgetter("T"), "T")
    rule = (_OF_DIMS.get(name) if value._labels.dims is not None else None) or _RULES.get(name)
    if rule is None and name in _MOVING:
        return functools.partial(moving, value, name)
    return rule and functools.partial(rule, value)


def _diff(self: LabelledTracer, periods: Any = 1, *, axis: Any = 0, n: int = 1, **named: Any) -> Any:
    if self._labels.dims is None and n == 1 and not named:
        return self - moving(self, "shift", periods, axis=axis)
    dim = named.pop("dim", periods)
    if named or self._labels.dims is None:
        refuse(f"{self._name}.diff with these arguments", OTHERWISE)
    for _ in range(n):
        later, earlier = (moving(self, "isel", {dim: s}) for s in (slice(1, None), slice(None, -1)))
        self = later._with(later._array - earlier._array)
    return self


def _pct_change(self: LabelledTracer, periods: int = 1) -> Any:
    return self / moving(self, "shift", periods) - 1


def _fillna(self: LabelledTracer, value: Any) -> Any:
    if not np.ndim(value) and not any(column.isna().any() for column in self._labels.others.values()):
        return type(self)(np.where(np.isnan(self._array), value, self._array), self._labels)
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


def _clip(self: LabelledTracer, lower: Any = None, upper: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = (self._plain(v) for v in (min if lower is None else lower, max if upper is None else upper))
    return self._with(np.clip(self._array, low, high))


def _choosing(own_where: bool) -> Callable:
    """``where`` and ``mask``: the elements are kept where a condition is so, and others put where it is not."""

    def choose(self: LabelledTracer, cond: Any, other: Any = np.nan, drop: bool = False) -> Any:
        cond, other = (v(self) if callable(v) else v for v in (cond, other))
        if drop:
            return moved(self, lambda v: v.where(known(cond), drop=True), "where")
        if self._labels.dims is not None:
            return self._computed(np.where, cond, *((self, other) if own_where else (other, self)))
        cond, other = map(self._plain, (cond, other))
        return self._with(np.where(cond, *((self._array, other) if own_where else (other, self._array))))

    return choose


def _operation(operate: Callable[[Any, Any], Any]) -> Callable:
    def operated(self: LabelledTracer, other: Any, axis: Any = BY_DEFAULT) -> Any:
        if axis is BY_DEFAULT:
            return operate(self, other)
        left, right = aligned(self, self._lifted(other), axis=axis)
        return operate(left, right)

    return operated


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
    if not callable(func) or self.ndim != 1:
        refuse(f"{self._name}.map so", OTHERWISE)
    return _apply(self, func)


def _joining(name: str) -> Callable:
    """``merge`` or ``join`` by columns of text, or by the index: numbers are what is moved, and join nothing."""

    def joined(self: LabelledTracer, right: Any, *args: Any, **named: Any) -> Any:
        other = right if type(right) is type(self) else type(self)(numbers_of(right).to_numpy(float), Labels(right))
        named |= dict(zip(("how", "on") if name == "merge" else ("on", "how"), args, strict=False))
        on = named.get("on")
        keys = {on} if isinstance(on, str) else set(on or ())
        keyed = [self] if name == "join" else [self, other]  # the index of the other has the keys of a join
        by_text = all(keys <= {c.name for c in side._labels.others.values()} for side in keyed)
        if not by_text or not (keys or name == "join" or named.get("left_index", False)):
            refuse(f"DataFrame.{name} by columns of numbers", "Join by the index: x.set_index(…)")
        if {"left_on", "right_on"} & named.keys() or len(args) > 2:
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


def _astype(self: LabelledTracer, dtype: Any, copy: bool | None = None, **_: Any) -> Any:
    return self._with(self._array.astype(np.dtype(dtype)))


def _round(self: LabelledTracer, decimals: int = 0) -> Any:
    return self._with(np.round(self._array, decimals))


def _autocorr(self: LabelledTracer, lag: int = 1) -> Any:
    return self.corr(moving(self, "shift", lag))


def _between(self: LabelledTracer, left: Any, right: Any, inclusive: str = "both") -> Any:
    low = operator.ge if inclusive in ("both", "left") else operator.gt
    high = operator.le if inclusive in ("both", "right") else operator.lt
    return low(self, left) & high(self, right)


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
        lifted = self._labelled(column)
        if lifted is not None:
            together = self._labels.go_along(0, lifted._labels)
            column = (lifted if together else moving(lifted, "reindex", self.index))._array
        arrays = {n: self._array[:, k] for k, n in enumerate(self._labels.names)}
        arrays[name] = np.ones(len(self)) * column if np.ndim(column) == 0 else column
        known = self._labels.without_values()
        known[name] = 0.0
        made = Labels(known)
        self = type(self)(np.stack([arrays[n] for n in made.names], axis=1), made)
    return self


def _sort_values(self: LabelledTracer, by: Any = None, *, ascending: bool = True, ignore_index: bool = False) -> Any:
    """In the order that the values have in this run, guarded; equal ones as they stood."""
    if self._labels.dims is not None or (self.ndim == 2) is not isinstance(by, str):
        refuse(f"{self._name}.sort_values with these arguments", OTHERWISE)
    key = self[by] if self.ndim == 2 else self
    known = not isinstance(key, type(self))  # a column of no numbers
    values = key if known else without_nan(key, "sort_values")._array
    order = np.argsort(values, kind="stable") if known else values_of(np.argsort(values if ascending else -values))
    made = self.iloc[order[::-1] if known and not ascending else order]
    return made.set_axis(range(len(made)), axis=0) if ignore_index else made


def without_nan(self: LabelledTracer, what: str) -> LabelledTracer:
    if missing_of(self._array) is None or np.any(missing_of(self._array)):
        refuse(f"{self._name}.{what} with NaN", OTHERWISE)
    return self


def _extreme(place: Callable) -> Callable:
    """Where a Series has its largest or smallest element, in this run, guarded."""

    name = f"idx{place.__name__.removeprefix('arg')}"

    def label(self: LabelledTracer) -> Any:
        if self._name != "Series":
            refuse(f"{self._name}.{name}", OTHERWISE)
        return self.index[int(values_of(place(without_nan(self, name)._array)))]

    return label


def _first(ascending: bool) -> Callable:
    return lambda self, n=5, columns=None: _sort_values(self, columns, ascending=ascending).head(n)


def _copy(self: LabelledTracer, deep: bool = True, data: Any = None) -> Any:
    if data is not None:
        return self._with(np.broadcast_to(data, self.shape))
    return self._with(Tracer(as_node(self._array))) if deep else moving(self, "copy", False)


def _item(self: LabelledTracer, *place: Any) -> Any:
    return self._array.item(*place)


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
    return {n: dict(_columns(c)) if orient == "dict" else list(c) for n, c in columns.items()}


def _named(names: Sequence[str], make: Callable[[str], Callable]) -> dict[str, Callable]:
    return {name: make(name) for name in names}


_RULES: dict[str, Callable] = {
    **_named(STATISTICS, reduction),
    **_named(("any", "all", "count"), counting),
    **_named(("cumsum", "cumprod", "cummax", "cummin"), cumulative),
    **_named(("add", "sub", "mul", "pow"), lambda name: _operation(getattr(operator, name))),
    **dict.fromkeys(("div", "truediv", "divide"), _operation(operator.truediv)),
    "subtract": _operation(operator.sub),
    "multiply": _operation(operator.mul),
    **_named(("ewm", "resample"), linear),
    **_named(("cov", "corr"), covariance),
    "abs": abs,
    **dict.fromkeys(("agg", "aggregate", "apply"), _apply),
    "assign": _assign,
    "astype": _astype,
    "autocorr": _autocorr,
    "between": _between,
    "clip": _clip,
    "diff": _diff,
    "dropna": _dropna,
    "expanding": expanding,
    **_named(("ffill", "bfill"), _filled),
    "fillna": _fillna,
    "get": _get,
    "groupby": groupby,
    "items": _columns,
    "iterrows": rows,
    "itertuples": _tuples,
    "map": _map,
    "mask": _choosing(own_where=False),
    **_named(("merge", "join"), _joining),
    "pct_change": _pct_change,
    "pipe": lambda self, func, *args, **kwargs: func(type(self)(self._array, self._labels), *args, **kwargs),
    "quantile": quantile,
    **dict.fromkeys(("isna", "isnull"), lambda self: self._with(np.isnan(self._array))),
    **dict.fromkeys(("notna", "notnull"), lambda self: self._with(~np.isnan(self._array))),
    **dict.fromkeys(("tolist", "to_list"), lambda self: list(self._array)),
    "to_dict": _to_dict,
    "idxmax": _extreme(np.argmax),
    "idxmin": _extreme(np.argmin),
    "nlargest": _first(False),
    "nsmallest": _first(True),
    "rolling": rolling,
    "round": _round,
    "sort_values": _sort_values,
    "where": _choosing(own_where=True),
}
#: those of DataArrays that are others, or go by the names of dims
_OF_DIMS: dict[str, Callable] = {
    **_named(("argmax", "argmin", "idxmax", "idxmin"), labelled_dims.extreme),
    **_named(("integrate", "cumulative_integrate", "differentiate"), labelled_dims.along_coordinate),
    "copy": _copy,
    "pipe": lambda self, func, *args, **kwargs: func(self, *args, **kwargs),
    "coarsen": labelled_dims.coarsen,
    "groupby": labelled_dims.groupby,
    "interp": labelled_dims.interp,
    "item": _item,
    **dict.fromkeys(("load", "compute", "persist"), lambda self: self),
    "polyfit": labelled_dims.polyfit,
    "quantile": labelled_dims.quantile,
    "resample": labelled_dims.resample,
    "rolling": labelled_dims.rolling,
    "weighted": labelled_dims.Weighted,
}
