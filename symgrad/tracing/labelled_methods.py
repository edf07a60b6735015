"""Methods of Series, DataFrames and DataArrays that have a rule, by name."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import labelled_dims
from .labelled_columns import BY_COLUMN
from .labelled_groups import resample
from .labelled_linear import ewm, interpolate
from .labelled_places import (
    OTHERWISE,
    Indexer,
    aligned,
    known,
    moved,
    moving,
    values_of,
    without_nan,
)
from .labelled_statistics import BY_DEFAULT, STATISTICS, counting, covariance, cumulative, quantile, reduction
from .labelled_values import moment, of_values, replace, unique
from .labelled_windows import expanding, rolling
from .labels import refuse
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
        *("sortby", "pad", "to_series", "to_pandas", "drop_attrs", "assign_attrs", "drop_indexes", "to_dataset"),
        *("reset_coords", "select_dtypes"),
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
    if value._labels.others and name not in BY_COLUMN:
        value = value._with_known()
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


def _clip(self: LabelledTracer, lower: Any = None, upper: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = (self._plain(v) for v in (min if lower is None else lower, max if upper is None else upper))
    if self._labels.dims is None and None not in (low, high) and not (np.ndim(low) or np.ndim(high)):
        low, high = np.minimum(low, high), np.maximum(low, high)  # as pandas takes them
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
    def operated(self: LabelledTracer, other: Any, axis: Any = BY_DEFAULT, fill_value: Any = None) -> Any:
        if axis is BY_DEFAULT and fill_value is None:
            return operate(self, other)
        if fill_value is None:
            return operate(*aligned(self, self._lifted(other), axis=axis))
        if axis is not BY_DEFAULT:
            refuse("arithmetic with an axis and fill_value", OTHERWISE)
        right = self._lifted(other)
        none, nothing = self._labels.without_values(), right._labels.without_values()
        left = moved(self, lambda v: v.align(nothing)[0], "align")._of_numbers()
        right = moved(right, lambda v: none.align(v)[1], "align")._of_numbers()
        gaps = np.isnan(left._array), np.isnan(right._array)
        left = left._with(np.where(gaps[0] & ~gaps[1], fill_value, left._array))
        return operate(left, right._with(np.where(gaps[1] & ~gaps[0], fill_value, right._array)))

    return operated


def _round(self: LabelledTracer, decimals: int = 0) -> Any:
    return self._with(np.round(self._array, decimals))


def _autocorr(self: LabelledTracer, lag: int = 1) -> Any:
    return self.corr(moving(self, "shift", lag))


def _between(self: LabelledTracer, left: Any, right: Any, inclusive: str = "both") -> Any:
    low = operator.ge if inclusive in ("both", "left") else operator.gt
    high = operator.le if inclusive in ("both", "right") else operator.lt
    return low(self, left) & high(self, right)


def _extreme(place: Callable) -> Callable:
    """Where a Series has its largest or smallest element, in this run, guarded."""

    name = f"idx{place.__name__.removeprefix('arg')}"

    def label(self: LabelledTracer) -> Any:
        if self._name != "Series":
            refuse(f"{self._name}.{name}", OTHERWISE)
        return self.index[int(values_of(place(without_nan(self, name)._array)))]

    return label


def _copy(self: LabelledTracer, deep: bool = True, data: Any = None) -> Any:
    if data is not None:
        return self._with(np.broadcast_to(data, self.shape))
    return self._with(Tracer(as_node(self._array))) if deep else moving(self, "copy", False)


def _item(self: LabelledTracer, *place: Any) -> Any:
    return self._array.item(*place)


def _named(names: Sequence[str], make: Callable[[str], Callable]) -> dict[str, Callable]:
    return {name: make(name) for name in names}


_RULES: dict[str, Callable] = {
    **BY_COLUMN,
    **_named(STATISTICS, reduction),
    **_named(("any", "all", "count"), counting),
    **_named(("cumsum", "cumprod", "cummax", "cummin"), cumulative),
    **_named(("add", "sub", "mul", "pow"), lambda name: _operation(getattr(operator, name))),
    **dict.fromkeys(("div", "truediv", "divide"), _operation(operator.truediv)),
    "subtract": _operation(operator.sub),
    "multiply": _operation(operator.mul),
    "ewm": ewm,
    "resample": resample,
    "interpolate": interpolate,
    **_named(("sem", "skew", "kurt", "kurtosis"), moment),
    "replace": replace,
    **_named(("cov", "corr"), covariance),
    **_named(("isin", "value_counts", "nunique", "duplicated", "rank"), of_values),
    "unique": unique,
    "abs": abs,
    "autocorr": _autocorr,
    "between": _between,
    "clip": _clip,
    "diff": _diff,
    "expanding": expanding,
    "mask": _choosing(own_where=False),
    "pct_change": _pct_change,
    "quantile": quantile,
    **dict.fromkeys(("isna", "isnull"), lambda self: self._with(np.isnan(self._array))),
    **dict.fromkeys(("notna", "notnull"), lambda self: self._with(~np.isnan(self._array))),
    **dict.fromkeys(("tolist", "to_list"), lambda self: list(self._array)),
    "idxmax": _extreme(np.argmax),
    "idxmin": _extreme(np.argmin),
    "rolling": rolling,
    "round": _round,
    "where": _choosing(own_where=True),
}
#: those of DataArrays that are others, or go by the names of dims
_OF_DIMS: dict[str, Callable] = {
    **_named(("drop_duplicates", "set_index"), lambda name: lambda self, *a, **named: moving(self, name, *a, **named)),
    **_named(("argmax", "argmin", "idxmax", "idxmin"), labelled_dims.extreme),
    **_named(("integrate", "cumulative_integrate", "differentiate"), labelled_dims.along_coordinate),
    "copy": _copy,
    "pipe": lambda self, func, *args, **kwargs: func(self, *args, **kwargs),
    "coarsen": labelled_dims.coarsen,
    **_named(("groupby", "groupby_bins"), labelled_dims.groupby),
    "interp": labelled_dims.interp,
    "interpolate_na": labelled_dims.interpolate_na,
    "item": _item,
    **dict.fromkeys(("load", "compute", "persist"), lambda self: self),
    "polyfit": labelled_dims.polyfit,
    "quantile": labelled_dims.quantile,
    "resample": labelled_dims.resample,
    "rolling": labelled_dims.rolling,
    "weighted": labelled_dims.Weighted,
}
