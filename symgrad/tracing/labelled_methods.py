"""Methods of Series, DataFrames and DataArrays: what moves elements, and what adds them up along labels.

What a selection, a shift or an alignment does is found on the places of the elements: it is done to an object of the
same labels that holds their numbers, and what comes of that says where each goes. Reductions leave NaN out by default.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .labels import Labels, labels_of, numbers_of, refuse
from .local_array import holds_traced
from .trace import running
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
        *("drop_isel", "assign_coords", "tz_localize", "tz_convert"),
    )
)
_INDEXERS = frozenset(("iloc", "loc", "iat", "at"))
#: what labels say, whatever the values are
_OF_LABELS = frozenset(("index", "columns", "name", "dims", "sizes", "coords", "indexes", "axes", "empty", "keys"))
_STATISTICS = ("sum", "mean", "std", "var", "min", "max", "prod", "median")
_BY_DEFAULT: Any = object()
_OTHERWISE = "Write it with x.to_numpy()"


def attribute(value: LabelledTracer, name: str) -> Any:
    """What ``value.name`` is where it is known what it does; else None."""
    if name in _OF_LABELS:
        return getattr(value._labels.without_values(), name)
    if name in _INDEXERS:
        return _Indexer(value, name)
    if name == "T":
        return _moved(value, operator.attrgetter("T"), "T")
    if name in _MOVING:
        return functools.partial(_moving, value, name)
    rule = _RULES.get(name)
    return rule and functools.partial(rule, value)


# what moves elements


def _moved(value: LabelledTracer, make: Callable[[Any], Any], what: str) -> Any:
    """What ``make``, which only moves elements, makes of a Series, a DataFrame or a DataArray."""
    labels, flat = value._labels, np.ravel(value._array)
    places, further = np.arange(float(flat.size)).reshape(labels.shape), flat.size + 1.0
    made, other = make(labels.put_on(places)), make(labels.put_on(places + further))
    held, again = (np.asarray(numbers_of(v) if labels_of(type(v)) else v) for v in (made, other))
    if not held.dtype.kind == again.dtype.kind == "f" or held.shape != again.shape:
        refuse(f"{value._name}.{what} so", _OTHERWISE)
    is_place = again - held == further
    if not np.all(is_place | (held == again) | (np.isnan(held) & np.isnan(again))):
        refuse(f"{value._name}.{what} so", _OTHERWISE)
    taken = _taken(value._array, flat, np.where(is_place, held, 0).astype(int)) if flat.size else held
    if not np.all(is_place):  # constants, such as NaN where there is no element
        constants = held.astype(taken.dtype) if taken.dtype.kind == "f" else held
        taken = np.where(is_place, taken, constants)
    return type(value)(taken, Labels(made)) if labels_of(type(made)) else taken


def _taken(whole: Any, flat: Any, places: np.ndarray) -> Any:
    """The elements at these places of an array, which is ``flat`` too; those in order as a slice."""
    if places.shape == whole.shape and np.array_equal(places.ravel(), np.arange(places.size)):
        return whole
    steps = np.unique(np.diff(places)).tolist() if places.ndim == 1 else []
    if len(steps) != 1 or steps[0] < 1:
        return flat[places]
    return flat[places[0] : places[-1] + 1 : steps[0]]


def _moving(value: LabelledTracer, name: str, /, *args: Any, **kwargs: Any) -> Any:
    if holds_traced((args, kwargs)):
        refuse(f"{value._name}.{name} by traced values", _OTHERWISE)
    return _moved(value, operator.methodcaller(name, *args, **kwargs), name)


def item(value: LabelledTracer, key: Any) -> Any:
    """``value[key]``."""
    names = value._labels.names
    if isinstance(key, str):
        for column in value._labels.others.values():
            if column.name == key:
                return column
    if value._name == "DataFrame" and isinstance(key, str) and names.count(key) == 1:
        return type(value)(value._array[:, names.index(key)], Labels(value._labels.without_values()[key]))
    return _moved(value, operator.itemgetter(_known(key)), "[…]")


class _Indexer:
    """``x.iloc`` and kin."""

    def __init__(self, value: LabelledTracer, name: str) -> None:
        self._value = value
        self._name = name

    def __getitem__(self, key: Any) -> Any:
        key = _known(key)
        return _moved(self._value, lambda v: getattr(v, self._name)[key], self._name)

    def __setitem__(self, key: Any, value: Any) -> None:
        refuse(f"writing into a {self._value._name}", "Write into a copy of x.to_numpy()")


def _known(key: Any) -> Any:
    """A key with the truth values that its traced parts have, guarded."""
    if type(key) is tuple:
        return tuple(map(_known, key))
    labels = getattr(key, "_labels", None)
    if isinstance(labels, Labels):
        return labels.put_on(_known(key._array))
    return _values_of(key) if type(key) is Tracer and key.dtype.kind == "b" else key


def aligned(left: LabelledTracer, right: LabelledTracer, **axis: Any) -> tuple[LabelledTracer, LabelledTracer]:
    """Both as arithmetic puts them side by side; ``axis`` is where a Series is put along a DataFrame."""
    none, nothing = left._labels.without_values(), right._labels.without_values()

    def added(a: Any, b: Any) -> Any:
        return a.add(b, **axis) if axis else a + b

    return _moved(left, lambda v: added(v, nothing), "add"), _moved(right, lambda v: added(none, v), "add")


# what adds up


def _axes(value: LabelledTracer, along: Any) -> tuple[int, ...]:
    """The axes that an argument called axis or dim names."""
    dims = value._labels.dims
    if along is _BY_DEFAULT and dims is None:
        return (0,)
    if along is None or along is _BY_DEFAULT or along is ...:
        return tuple(range(value.ndim))
    names: dict[Any, Any] = (
        {"index": 0, "rows": 0, "columns": 1} if dims is None else {d: k for k, d in enumerate(dims)}
    )
    given = along if isinstance(along, (tuple, list)) else [along]
    return tuple([operator.index(names.get(a, a)) % value.ndim for a in given])


def _reduction(name: str) -> Callable:
    plain, without_nan = getattr(np, name), getattr(np, f"nan{name}")

    def reduced(
        self: LabelledTracer,
        axis: Any = _BY_DEFAULT,
        skipna: bool | None = True,
        numeric_only: bool = False,
        *,
        dim: Any = _BY_DEFAULT,
        **named: Any,
    ) -> Any:
        self = self._of_numbers(numeric_only)
        axes = _axes(self, axis if dim is _BY_DEFAULT else dim)
        if name in ("std", "var"):
            named.setdefault("ddof", 1 if self._labels.dims is None else 0)
        if named.keys() - {"ddof"}:
            refuse(f"{self._name}.{name} with {', '.join(named)}", _OTHERWISE)
        along = axes if len(axes) != 1 else axes[0]
        missing = np.False_ if skipna is False else _missing(self._array)
        if missing is not None and np.any(missing) and name in ("sum", "mean"):
            made = np.sum(np.where(missing, 0.0, self._array), axis=along)
            count = np.sum(~missing, axis=along)
            made = made if name == "sum" else made / np.where(count == 0, np.nan, count)
        else:
            function = without_nan if missing is None or np.any(missing) else plain
            made = function(self._array, axis=along, **named)
        return made if len(axes) == self.ndim else type(self)(made, self._without(axes))

    return reduced


def _cumulative(name: str) -> Callable:
    without_nan = getattr(np, f"nan{name}")

    def summed(self: LabelledTracer, axis: Any = _BY_DEFAULT, *, dim: Any = _BY_DEFAULT) -> Any:
        axes = _axes(self, axis if dim is _BY_DEFAULT else dim)
        if len(axes) != 1:
            refuse(f"{self._name}.{name} along several axes", _OTHERWISE)
        made = without_nan(self._array, axis=axes[0])
        return self._with(np.where(np.isnan(self._array), np.nan, made) if self._labels.dims is None else made)

    return summed


def _diff(self: LabelledTracer, periods: Any = 1, *, axis: Any = 0, n: int = 1, **named: Any) -> Any:
    if self._labels.dims is None and n == 1 and not named:
        return self - _moving(self, "shift", periods, axis=axis)
    dim = named.pop("dim", periods)
    if named or self._labels.dims is None:
        refuse(f"{self._name}.diff with these arguments", _OTHERWISE)
    for _ in range(n):
        later, earlier = (_moving(self, "isel", {dim: s}) for s in (slice(1, None), slice(None, -1)))
        self = later._with(later._array - earlier._array)
    return self


def _pct_change(self: LabelledTracer, periods: int = 1) -> Any:
    return self / _moving(self, "shift", periods) - 1


def _fillna(self: LabelledTracer, value: Any) -> Any:
    return self._with(np.where(np.isnan(self._array), self._plain(value), self._array))


def _dropna(self: LabelledTracer, *args: Any, **kwargs: Any) -> Any:
    missing = _missing(self._array)
    if missing is None:
        refuse(f"{self._name}.dropna of values that differ between examples", _OTHERWISE)

    def dropped(v: Any) -> Any:
        return (v + self._labels.put_on(np.where(missing, np.nan, 0.0))).dropna(*args, **kwargs)

    return _moved(self, dropped, "dropna")


def _clip(self: LabelledTracer, lower: Any = None, upper: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = (self._plain(v) for v in (min if lower is None else lower, max if upper is None else upper))
    return self._with(np.clip(self._array, low, high))


def _where(self: LabelledTracer, cond: Any, other: Any = np.nan) -> Any:
    return self._with(np.where(self._plain(cond), self._array, self._plain(other)))


def _mask(self: LabelledTracer, cond: Any, other: Any = np.nan) -> Any:
    return self._with(np.where(self._plain(cond), self._plain(other), self._array))


def _operation(operate: Callable[[Any, Any], Any]) -> Callable:
    def operated(self: LabelledTracer, other: Any, axis: Any = _BY_DEFAULT) -> Any:
        if axis is _BY_DEFAULT:
            return operate(self, other)
        left, right = aligned(self, self._lifted(other), axis=axis)
        return operate(left, right)

    return operated


def _apply(self: LabelledTracer, func: Callable, *args: Any, **kwargs: Any) -> Any:
    if self._name != "Series" or isinstance(func, str):
        refuse(f"{self._name}.apply", _OTHERWISE)
    if isinstance(func, np.ufunc):
        return func(self, *args, **kwargs)
    return self._with(np.stack([func(x, *args, **kwargs) for x in self._array]))


class _Windows:
    """``x.rolling(n)`` of a Series or a DataFrame: NaN for the first elements, which have no whole window."""

    def __init__(self, value: LabelledTracer, window: int) -> None:
        self._value = value
        self._count = operator.index(window)

    def __getattr__(self, name: str) -> Any:
        if name not in _STATISTICS:
            raise AttributeError(name)
        return functools.partial(self._reduced, name)

    def _reduced(self, name: str, **named: Any) -> Any:
        x, count = self._value._array.astype(np.float64), self._count
        before = np.full((min(count - 1, len(x)), *x.shape[1:]), np.nan)
        if len(x) < count:
            return self._value._with(before)
        windows = x[np.arange(len(x) - count + 1)[:, None] + np.arange(count)]
        if name in ("std", "var"):
            named.setdefault("ddof", 1)
        return self._value._with(np.concatenate([before, getattr(np, name)(windows, axis=1, **named)]))


def _rolling(self: LabelledTracer, window: Any = None, **named: Any) -> Any:
    if named or type(window) is not int or window < 1 or self._labels.dims is not None:
        refuse(f"{self._name}.rolling with these arguments", _OTHERWISE)
    return _Windows(self, window)


class _Groups:
    """``x.groupby(by)`` of a Series or a DataFrame, whose keys are known."""

    def __init__(self, value: LabelledTracer, by: dict[str, Any]) -> None:
        self._value = value
        self._by = by

    def __getitem__(self, key: Any) -> _Groups:
        return _Groups(self._value[key], self._by)

    def __getattr__(self, name: str) -> Any:
        if name not in _STATISTICS:
            raise AttributeError(name)
        return functools.partial(self._reduced, name)

    def _reduced(self, name: str, **named: Any) -> Any:
        value = self._value._of_numbers()
        x, grouped = value._array, value._labels.without_values().groupby(**self._by)
        made = Labels(grouped.sum())
        if name in ("std", "var"):
            named.setdefault("ddof", 1)
        if named.keys() - {"ddof"}:
            refuse(f"{name} of groups with {', '.join(named)}", _OTHERWISE)
        missing = _missing(x)
        function = getattr(np, f"nan{name}" if missing is None or np.any(missing) else name)
        least = named.get("ddof", 0)
        groups = [x[grouped.indices[key]] for key in made.axes[0]]
        rows = [function(g, axis=0, **named) if len(g) > least else np.full(g.shape[1:], np.nan) for g in groups]
        return type(self._value)(np.stack(rows), made)


def _groupby(self: LabelledTracer, by: Any = None, **named: Any) -> Any:
    if self._labels.dims is not None or holds_traced((by, named)) or named.keys() - {"level", "sort"}:
        refuse(f"{self._name}.groupby with these arguments", _OTHERWISE)
    if self.ndim == 2 and isinstance(by, str) and by in self:
        keys: Any = self[by]
        known = keys._labels.put_on(_values_of(keys._array)) if isinstance(keys, type(self)) else keys
        self, by = _moving(self, "drop", columns=by), known
    return _Groups(self, {"by": by} | named)


def _missing(array: Any) -> Any:
    """Where NaN is in this run, guarded; None where nobody knows."""
    missing = np.isnan(array) if array.dtype.kind == "f" else np.False_
    if type(missing) is Tracer and not running().has_value(missing._symgrad_node):
        return None
    return _values_of(missing)


def _values_of(array: Any) -> Any:
    """The values in this run, guarded."""
    return running().guard(array._symgrad_node) if type(array) is Tracer else array


def _assign(self: LabelledTracer, **columns: Any) -> Any:
    for name, given in columns.items():
        column: Any = given(self) if callable(given) else given
        if isinstance(column, type(self)) or labels_of(type(column)):
            lifted = self._lifted(column)
            together = self._labels.goes_down(lifted._labels)
            column = (lifted if together else _moving(lifted, "reindex", self.index))._array
        names, first = self._labels.names, self._array[:, 0]
        arrays = {n: self._array[:, k] for k, n in enumerate(names)}
        arrays[name] = first * 0 + column if np.ndim(column) == 0 else column
        made = Labels(self._labels.without_values().assign(**{name: 0.0}))
        self = type(self)(np.stack(list(arrays.values()), axis=1), made)
    return self


def _named(names: Sequence[str], make: Callable[[str], Callable]) -> dict[str, Callable]:
    return {name: make(name) for name in names}


_RULES: dict[str, Callable] = {
    **_named(_STATISTICS, _reduction),
    **_named(("cumsum", "cumprod"), _cumulative),
    **_named(("add", "sub", "mul", "pow"), lambda name: _operation(getattr(operator, name))),
    **dict.fromkeys(("div", "truediv", "divide"), _operation(operator.truediv)),
    "subtract": _operation(operator.sub),
    "multiply": _operation(operator.mul),
    "abs": abs,
    "apply": _apply,
    "assign": _assign,
    "clip": _clip,
    "diff": _diff,
    "dropna": _dropna,
    "fillna": _fillna,
    "groupby": _groupby,
    "mask": _mask,
    "pct_change": _pct_change,
    "pipe": lambda self, func, *args, **kwargs: func(self, *args, **kwargs),
    "rolling": _rolling,
    "where": _where,
}
