"""What moves the elements of a Series, a DataFrame or a DataArray: selections, shifts, and the alignment of labels.

It is done to an object of the same labels that holds the numbers of the elements, and what comes of that says where
each goes.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..program.node import Node
from .labels import Labels, is_dataset_of_xarray, is_xarray, labels_of, numbers_of, refuse
from .local_array import holds_traced, value_in_run
from .trace import as_node, running
from .tracer import Tracer, view

if TYPE_CHECKING:
    from .labelled import LabelledTracer

#: what to do where there is no rule
OTHERWISE = "Write it with x.to_numpy()"


def moved(value: LabelledTracer, make: Callable[[Any], Any], what: str, missing: Any = False) -> Any:
    """What ``make``, which only moves elements, makes of a Series, a DataFrame or a DataArray.

    It sees NaN where elements are ``missing``.
    """
    return moved_together([value], lambda values: make(*values), what, missing)


def moved_together(values: Sequence[Any], make: Callable[[list[Any]], Any], what: str, missing: Any = False) -> Any:
    """As ``moved``, of several."""
    flat = [np.ravel(v._array) for v in values]
    ends = np.cumsum([f.size for f in flat])
    further = float(ends[-1] + 1)

    def shown(by: float) -> Any:
        places = [np.arange(float(end - f.size), float(end)) for end, f in zip(ends, flat, strict=True)]
        shaped = [np.reshape(p, v._labels.shape) for p, v in zip(places, values, strict=True)]
        given = [v._labels.put_on(np.where(missing, np.nan, p) + by) for v, p in zip(values, shaped, strict=True)]
        return given[0], make(given)

    (first, made), (_, other) = shown(0.0), shown(further)
    name = getattr(values[0], "_name", "Dataset")
    whole, row = (values[0]._array, flat[0]) if len(values) == 1 else (np.concatenate(flat),) * 2

    pieces = [piece for v in values for piece in getattr(v, "_arrays", {"": v._array}).values()]

    def found(made: Any, other: Any) -> Any:
        """The elements that were put where their numbers are; None where there are constants alone."""
        held, is_place = _places(made, other, further, f"{name}.{what}")
        chosen = _chosen(whole, row, held, is_place)
        return chosen.astype(_dtype_of(pieces, held[is_place])) if np.any(is_place) else None

    if is_dataset_of_xarray(type(made)):
        parts = {n: found(made[n], other[n]) for n in made if made[n].dtype.kind == "f"}
        return Labels.traced_dataset(made, {n: part for n, part in parts.items() if part is not None})
    if len(values) == 1 and labels_of(type(made)) and is_view(made, first):
        held, _ = _places(made, other, further, f"{name}.{what}")
        part = type(values[0])(_viewed(values[0], held.astype(int)), Labels(made))
        part._is_argument = values[0]._is_argument
        return part
    taken = found(made, other)
    if taken is None:
        taken = np.asarray(numbers_of(made) if labels_of(type(made)) else made)
    return Labels.traced(taken, Labels(made)) if labels_of(type(made)) else taken


def _dtype_of(pieces: Sequence[Any], numbers: np.ndarray) -> np.dtype:
    """The dtype of the arrays that elements with these numbers are of."""
    ends = np.cumsum([np.size(piece) for piece in pieces])
    used = np.unique(np.searchsorted(ends, numbers, "right")).tolist()
    return np.result_type(*[pieces[k].dtype for k in used])


def _places(made: Any, other: Any, further: float, what: str) -> tuple[np.ndarray, np.ndarray]:
    """The numbers in what was made, and which of them are places: in ``other`` these are ``further``."""
    held, again = (np.asarray(numbers_of(v) if labels_of(type(v)) else v) for v in (made, other))
    if labels_of(type(made)) and Labels(made) != Labels(other):  # which are then made of the values
        refuse(f"{what} so", OTHERWISE)
    if not held.dtype.kind == again.dtype.kind == "f" or held.shape != again.shape:
        refuse(f"{what} so", OTHERWISE)
    is_place = again - held == further
    if not np.all(is_place | (held == again) | (np.isnan(held) & np.isnan(again))):
        refuse(f"{what} so", OTHERWISE)
    return held, is_place


def _chosen(whole: Any, flat: Any, held: np.ndarray, is_place: np.ndarray) -> Any:
    """The elements at places, and constants elsewhere, such as NaN where there is no element."""
    chosen = _taken(whole, flat, np.where(is_place, held, 0).astype(int)) if flat.size else held
    if np.all(is_place):
        return chosen
    return np.where(is_place, chosen, held.astype(chosen.dtype) if chosen.dtype.kind == "f" else held)


def is_view(made: Any, of: Any) -> bool:
    """Whether a DataArray looks into the values of another."""
    is_other = is_xarray(type(made)) and is_xarray(type(of)) and made is not of
    return is_other and np.may_share_memory(made.values, of.values)


def _viewed(value: LabelledTracer, places: np.ndarray) -> Tracer:
    """The elements at these places, seen and written to as parts of ``value``."""
    if type(value._array) is not Tracer:
        value._array = Tracer(as_node(value._array))

    def along(node: Node) -> Node:
        whole = Tracer(node)
        return as_node(_taken(whole, np.ravel(whole), places))

    return view(value._array, along, certain=True)


def computed(func: Callable, values: Iterable[Any], kwargs: Any = None, **named: Any) -> Any:
    """``xarray.apply_ufunc``: xarray arranges the numbers of the elements, and ``func`` gets the elements.

    What it gives is labelled as xarray labels zeros of its shape.
    """
    if named.get("vectorize") or named.get("dask", "forbidden") != "forbidden":
        refuse("xarray.apply_ufunc with vectorize or dask", "Call it with a function of arrays")
    values, results = list(values), []

    def of_numbers(*numbered: Any) -> Any:
        made = func(*map(_elements, values, numbered), **(kwargs or {}))
        results.extend(made if isinstance(made, tuple) else [made])
        zeros = tuple(np.zeros(np.shape(r)) for r in results)
        return zeros if isinstance(made, tuple) else zeros[0]

    made = sys.modules["xarray"].apply_ufunc(of_numbers, *map(_numbered, values), **named)
    parts = made if isinstance(made, tuple) else (made,)
    found = [Labels.traced(r, Labels(p)) if labels_of(type(p)) else r for r, p in zip(results, parts, strict=True)]
    return tuple(found) if isinstance(made, tuple) else found[0]


def _numbered(value: Any) -> Any:
    """An object with the labels of ``value`` that holds the numbers of its elements, from 1 on."""
    numbers = np.arange(float(np.size(value))).reshape(np.shape(value)) + 1
    return value._labels.put_on(numbers) if hasattr(value, "_labels") else numbers


def _elements(value: Any, numbers: np.ndarray) -> Any:
    """The elements with these numbers."""
    array = getattr(value, "_array", value)
    if np.ndim(array) == 0 == numbers.ndim:
        return array
    if np.any(np.isnan(numbers)):
        refuse("xarray.apply_ufunc where labels are missing", "Take what both have: xarray.align(…)")
    return _taken(array, np.ravel(array), np.asarray(numbers, int) - 1)


def moved_around_nan(value: LabelledTracer, make: Callable[[Any], Any], what: str) -> Any:
    """As ``moved``, where ``make`` leaves out elements that are NaN."""
    missing = missing_of(value._array)
    if missing is None:
        refuse(f"{value._name}.{what} of values that differ between examples", OTHERWISE)
    return moved(value, make, what, missing)


def _taken(whole: Any, flat: Any, places: np.ndarray) -> Any:
    """The elements at these places of an array, which is ``flat`` too; those in order as a slice."""
    if places.shape == whole.shape and np.array_equal(places.ravel(), np.arange(places.size)):
        return whole
    steps = np.unique(np.diff(places)).tolist() if places.ndim == 1 else []
    if len(steps) != 1 or steps[0] < 1:
        return flat[places]
    return flat[places[0] : places[-1] + 1 : steps[0]]


def moving(value: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    """What a method gives that moves elements."""
    if name.endswith("_like"):  # which asks for labels alone
        args = tuple(v._labels.without_values() if hasattr(v, "_labels") else v for v in args)
    if holds_traced((args, kwargs)) or any(hasattr(v, "_labels") for v in (*args, *kwargs.values())):
        refuse(f"{value._name}.{name} by traced values", OTHERWISE)
    return moved(value, operator.methodcaller(name, *args, **kwargs), name)


def item(value: LabelledTracer, key: Any) -> Any:
    """``value[key]``."""
    names = value._labels.names
    if isinstance(key, str):
        for column in value._labels.others.values():
            if column.name == key:
                return column
    if value._name == "DataFrame" and isinstance(key, str) and names.count(key) == 1:
        return type(value)(value._array[:, names.index(key)], Labels(value._labels.without_values()[key]))
    return moved(value, operator.itemgetter(known(key)), "[…]")


class Indexer:
    """``x.iloc`` and kin."""

    def __init__(self, value: LabelledTracer, name: str) -> None:
        self._value = value
        self._name = name

    def known(self, key: Any) -> Any:
        """A key with the truth values that its traced parts have, guarded."""
        keys = key if type(key) is tuple else (key,)
        keys = tuple([known(k(self._value) if callable(k) else k) for k in keys])
        return keys if type(key) is tuple else keys[0]

    def __getitem__(self, key: Any) -> Any:
        place = self.known(key)
        return moved(self._value, lambda v: getattr(v, self._name)[place], self._name)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._value._put(self._name, self.known(key), value)


def known(key: Any) -> Any:
    """A key with the truth values that its traced parts have, guarded."""
    if type(key) is tuple:
        return tuple(map(known, key))
    labels = getattr(key, "_labels", None)
    if isinstance(labels, Labels):
        return labels.put_on(known(key._array))
    return values_of(key) if type(key) is Tracer and key.dtype.kind == "b" else key


def aligned(left: LabelledTracer, right: LabelledTracer, **axis: Any) -> tuple[LabelledTracer, LabelledTracer]:
    """Both as arithmetic puts them side by side; ``axis`` is where a Series is put along a DataFrame."""
    none, nothing = left._labels.without_values(), right._labels.without_values()

    def added(a: Any, b: Any) -> Any:
        return a.add(b, **axis) if axis else a + b

    return moved(left, lambda v: added(v, nothing), "add"), moved(right, lambda v: added(none, v), "add")


def missing_of(array: Any) -> Any:
    """Where NaN is in this run, guarded; None where nobody knows."""
    return value_in_run(np.isnan(array)) if array.dtype.kind == "f" else np.zeros(array.shape, bool)


def values_of(array: Any) -> Any:
    """The values in this run, guarded."""
    return running().guard(array._symgrad_node) if type(array) is Tracer else array
