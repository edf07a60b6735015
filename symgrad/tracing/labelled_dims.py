"""Methods of DataArrays along their dims: windows, blocks, groups, weights, interpolation and other linear maps.

xarray itself arranges the elements, of objects that hold their numbers; statistics are taken of what comes of that.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .labelled_linear import mapped_by
from .labelled_places import OTHERWISE, holds_traced_labels, in_this_run, missing_of, moved, moved_together, moving
from .labelled_statistics import BY_DEFAULT, STATISTICS, axes_of, no_method, reduction, with_enough
from .labels import Labels, refuse
from .trace import as_followed

if TYPE_CHECKING:
    from .labelled import LabelledTracer

#: kinds of interpolation that are linear in the values
_LINEAR = frozenset(("linear", "nearest", "zero", "slinear", "quadratic", "cubic", "polynomial"))
#: the dim along which an identity is mapped
_PROBE = "symgrad: elements"
_WINDOW = "symgrad: window "


class _Windows:
    """Parts of a DataArray along dims of their own; a part with fewer than ``least`` values that are not NaN has none.

    ``make`` makes xarray's object of windows, and ``own`` names its dims.
    """

    def __init__(self, value: LabelledTracer, make: Callable[[Any], Any], own: dict[Any, Any], least: int) -> None:
        self._value = value
        self._make = make
        self._parts = self.construct(own)
        self._least = least

    def construct(self, *args: Any, **named: Any) -> Any:
        """The parts side by side."""
        return moved(self._value, lambda v: self._make(v).construct(*args, **named), "construct")

    def __getattr__(self, name: str) -> Any:
        return functools.partial(self._reduced, name) if name in STATISTICS else no_method(self, name)

    def _reduced(self, name: str, **named: Any) -> Any:
        return self._by(lambda parts, dims: reduction(name)(parts, dim=dims, **named)._array, name, **named)

    def reduce(self, func: Callable, **named: Any) -> Any:
        """What a function of an array and its axes makes of each part."""

        def of_axes(parts: LabelledTracer, dims: Any) -> Any:
            axes = axes_of(parts, dims)
            return as_followed(func)(parts._array, axis=axes if len(axes) != 1 else axes[0], **named)

        return self._by(of_axes, "sum")

    def _by(self, func: Callable[[Any, Any], Any], name: str, **named: Any) -> Any:
        parts = self._parts
        along = [d for d in parts._labels.dims or () if str(d).startswith(_WINDOW)]
        filled, enough = with_enough(parts._array, axes_of(parts, along), self._least)
        made = Labels(getattr(self._make(self._value._labels.without_values()), name)(**named))
        return type(parts)(np.where(enough, func(parts._with(filled), along), np.nan), made)


def rolling(
    self: LabelledTracer, dim: Any = None, min_periods: int | None = None, center: Any = False, **windows: int
) -> Any:
    sizes = dim or windows
    least = int(np.prod(list(sizes.values()))) if min_periods is None else min_periods
    own = {d: f"{_WINDOW}{d}" for d in sizes}
    return _Windows(self, operator.methodcaller("rolling", sizes, center=center), own, least)


def coarsen(self: LabelledTracer, dim: Any = None, **named: Any) -> Any:
    options = {k: named.pop(k) for k in ("boundary", "side", "coord_func") if k in named}
    sizes = dim or named
    own = {d: (d, f"{_WINDOW}{d}") for d in sizes}
    return _Windows(self, operator.methodcaller("coarsen", sizes, **options), own, 0)


def _arithmetic(operate: Callable[[Any, Any], Any]) -> Callable:
    def between(self: _Groups, other: Any) -> Any:
        """Each group with the part of ``other`` that has its key."""
        right = self._value._labelled(other)
        if right is None:
            refuse("arithmetic of groups with what has no labels", "Give a DataArray with the keys as a coordinate")
        nothing = right._labels.without_values()
        left = moved(self._value, lambda v: self._make(v) + nothing, "groupby")
        return left._with(operate(left._array, moved(right, lambda v: self._make(self._like) + v, "groupby")._array))

    return between


class _Groups:
    """``x.groupby(by)`` and ``x.resample(…)`` of a DataArray along one dim; ``make`` makes the groups of xarray."""

    __add__, __sub__ = _arithmetic(operator.add), _arithmetic(operator.sub)
    __mul__, __truediv__ = _arithmetic(operator.mul), _arithmetic(operator.truediv)

    def __init__(self, value: LabelledTracer, make: Callable[[Any], Any], dim: Any) -> None:
        self._value = value
        self._make = make
        self._dim = dim
        self._like = value._labels.without_values()

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Each key with its group."""
        line = self._like.isel({d: 0 for d in self._like.dims if d != self._dim}, drop=True)
        line = line.copy(data=np.arange(line.size))
        return ((key, moving(self._value, "isel", {self._dim: _index(part, line)})) for key, part in self._make(line))

    def __getattr__(self, name: str) -> Any:
        return functools.partial(self._reduced, name) if name in STATISTICS else no_method(self, name)

    def _reduced(self, name: str, dim: Any = None, **named: Any) -> Any:
        along = self._dim if dim is None else dim
        if self._dim not in (self._like.dims if along is ... else (along,) if isinstance(along, str) else along):
            refuse(f"{name} of groups along another dim than {self._dim!r}", "Take it of the whole first")
        return self.map(lambda part: reduction(name)(part, dim=along, **named))

    def map(self, func: Callable, args: tuple = (), **kwargs: Any) -> Any:
        """What ``func`` gives of each group, put together as xarray does it."""
        made = [func(part, *args, **kwargs) for _, part in self]
        if not all(type(part) is type(self._value) for part in made):
            refuse("a function of groups that gives no DataArray", "Give one for each group")

        def combined(parts: list[Any]) -> Any:
            following = iter(parts)
            return self._make(self._like).map(lambda _: next(following))

        return moved_together(made, combined, "map of groups")

    apply = map


def _index(part: Any, line: Any) -> Any:
    """The places of a group, as a slice where xarray gives a view of them."""
    places = part.values
    if not places.size or not np.may_share_memory(places, line.values):
        return places
    return slice(int(places[0]), int(places[-1]) + 1, int(places[1] - places[0]) if places.size > 1 else 1)


def groupby(name: str) -> Callable:
    """``groupby``, or ``groupby_bins`` with bins behind the coordinate."""
    known = {"bins", "squeeze", "restore_coord_dims", "right", "labels", "precision", "include_lowest"}

    def grouped(self: LabelledTracer, group: Any = None, *bins: Any, **named: Any) -> Any:
        if holds_traced_labels([group, *bins]):
            refuse("groups by traced keys", OTHERWISE)
        like = self._labels.without_values()
        by = group if hasattr(group, "dims") else like[group] if isinstance(group, str) else None
        if by is None or len(by.dims) != 1 or named.keys() - known:
            refuse(f"DataArray.{name} with these arguments", OTHERWISE)
        return _Groups(self, operator.methodcaller(name, group, *bins, **named), by.dims[0])

    return grouped


def resample(self: LabelledTracer, indexer: Mapping[Any, Any] | None = None, **named: Any) -> Any:
    options = {k: v for k, v in named.items() if k in ("closed", "label", "offset", "origin", "skipna")}
    along = indexer or {k: v for k, v in named.items() if k not in options}
    return _Groups(self, operator.methodcaller("resample", along, **options), next(iter(along)))


class Weighted:
    """``x.weighted(w)`` of a DataArray."""

    def __init__(self, value: LabelledTracer, weights: Any) -> None:
        missing = missing_of(value._array)
        if missing is None:
            refuse("weights of values whose NaN differ between examples", OTHERWISE)
        self._value = value._with(np.where(missing, 0.0, value._array)) if np.any(missing) else value
        labelled = value._labelled(weights)
        if labelled is None:
            refuse("weights that are no DataArray", "Give a DataArray with their dims")
        self._weights = labelled
        self._is_there = value._with(np.where(missing, 0.0, 1.0).astype(self._weights.dtype))

    def sum(self, dim: Any = None) -> Any:
        return self._along(self._value, dim)

    def sum_of_weights(self, dim: Any = None) -> Any:
        total = self._along(self._is_there, dim)
        return total._with(np.where(np.equal(total._array, 0), np.nan, total._array))

    def mean(self, dim: Any = None) -> Any:
        return self.sum(dim) / self.sum_of_weights(dim)

    def sum_of_squares(self, dim: Any = None) -> Any:
        return self._along((self._value - self.mean(dim)) ** 2 * self._is_there, dim)

    def var(self, dim: Any = None) -> Any:
        return self.sum_of_squares(dim) / self.sum_of_weights(dim)

    def std(self, dim: Any = None) -> Any:
        return np.sqrt(self.var(dim))

    def __getattr__(self, name: str) -> Any:
        no_method(self, name)

    def _along(self, value: LabelledTracer, dim: Any) -> Any:
        product = value * self._weights
        return reduction("sum")(product, dim=... if dim is None else dim, skipna=False)


def _mapped(self: LabelledTracer, dim: Any, make: Callable[[Any], Any], what: str, fills: bool = False) -> Any:
    """What ``make``, which is linear along a dim and does alike along the others, makes of a DataArray.

    ``fills`` where it sees NaN in one of one dim, and puts others there.
    """
    missing, like = missing_of(self._array), self._labels.without_values()
    if missing is None or (np.any(missing) and not (fills and self.ndim == 1)) or dim not in like.dims:
        refuse(f"DataArray.{what} of NaN, or along what is no dim", OTHERWISE)
    axis = like.dims.index(dim)
    line = like.isel({d: 0 for d in like.dims if d != dim}, drop=True)
    units = np.eye(line.size)
    units[np.any(np.reshape(np.moveaxis(missing, axis, 0), (line.size, -1)), axis=1)] = np.nan
    identity = line.expand_dims({_PROBE: line.size}, axis=-1).copy(data=units)
    weights, made = make(identity).transpose(..., _PROBE), make(like.astype(self.dtype))
    array = np.where(missing, 0.0, self._array) if np.any(missing) else self._array
    found = mapped_by(weights.values.astype(made.dtype), array, axis)
    own = [*weights.dims[:-1], *(d for d in like.dims if d != dim)]
    return type(self)(np.transpose(found, [own.index(d) for d in made.dims]), Labels(made))


def interp(
    self: LabelledTracer, coords: Any = None, method: str = "linear", assume_sorted: bool = False, **named: Any
) -> Any:
    options = {"method": method, "assume_sorted": assume_sorted, "kwargs": named.pop("kwargs", None)}
    if method not in _LINEAR or holds_traced_labels((coords or named).values()):
        refuse("DataArray.interp by this method, or at traced places", OTHERWISE)
    for dim, places in (coords or named).items():
        self = _mapped(self, dim, lambda v, dim=dim, at=places: v.interp({dim: at}, **options), "interp")
    return self


def interpolate_na(self: LabelledTracer, dim: Any = None, **named: Any) -> Any:
    return _mapped(self, dim, operator.methodcaller("interpolate_na", dim, **named), "interpolate_na", fills=True)


def along_coordinate(name: str) -> Callable:
    """A method that is linear along the dim of a coordinate."""

    def made(self: LabelledTracer, coord: Any = None, *args: Any, **kwargs: Any) -> Any:
        for one in [coord] if isinstance(coord, str) else coord:
            (dim,) = self._labels.without_values()[one].dims
            self = _mapped(self, dim, operator.methodcaller(name, one, *args, **kwargs), name)
        return self

    return made


def polyfit(self: LabelledTracer, dim: Any, deg: int, skipna: Any = None, **named: Any) -> Any:
    if named.get("full") or named.get("cov"):
        refuse("DataArray.polyfit with full or cov", "Leave them out")
    name = "polyfit_coefficients"
    made = _mapped(self, dim, lambda v: v.polyfit(dim, deg, **named)[name], "polyfit")
    return Labels.traced_dataset(made._labels.without_values().to_dataset(name=name), {name: made._array})


def quantile(self: LabelledTracer, q: Any, dim: Any = None, *, skipna: bool | None = None) -> Any:
    like = self._labels.without_values().astype(self.dtype).quantile(q, dim)
    missing = missing_of(self._array)
    of = np.nanquantile if missing is None or np.any(missing) else np.quantile
    if of is np.nanquantile and skipna is False:
        refuse("DataArray.quantile that keeps NaN", OTHERWISE)
    found = of(self._array, q, axis=axes_of(self, BY_DEFAULT if dim is None else dim))
    return type(self)(found.astype(like.dtype), Labels(like))


def extreme(name: str) -> Callable:
    """``argmax`` and kin: what xarray says of the values in this run, guarded."""
    return lambda self, *args, **kwargs: getattr(in_this_run(self), name)(*args, **kwargs)
