"""What moves the elements of a Series, a DataFrame or a DataArray: selections, shifts, and the alignment of labels.

It is done to an object of the same labels that holds the numbers of the elements, and what comes of that says where
each goes.
"""

from __future__ import annotations

import itertools
import math
import operator
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .elements import KNOWN, Elements, taken
from .labelled_rows import rows
from .labels import Labels, constant_columns, is_dataset_of_xarray, is_xarray, labels_of, numbers_of, refuse
from .local_array import holds_traced, value_in_run
from .trace import as_followed, as_node, running
from .tracer import Tracer, traced, view

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
    """As ``moved``, of several, and of Datasets too; what looks into a value of xarray is a view of it."""
    pieces = [array for v in values for array in _arrays(v)]
    ends = np.cumsum([0, *[np.size(array) for array in pieces]])
    counts = np.cumsum([0, *[math.prod(v._labels.shape) for v in values]])
    further = float(ends[-1] + 1)

    def shown(by: float) -> tuple[list[Any], Any]:
        numbers = [np.arange(float(a), float(b)) for a, b in itertools.pairwise(counts)]
        shaped = [np.reshape(own, v._labels.shape) for own, v in zip(numbers, values, strict=True)]
        given = [v._labels.put_on(np.where(missing, np.nan, own) + by) for v, own in zip(values, shaped, strict=True)]
        return given, make(given)

    (given, made), (_, other) = shown(0.0), shown(further)
    memories = [memory for g, v in zip(given, values, strict=True) for memory in _memories(g, v)]

    called = f"{getattr(values[0], '_name', '')}.{what}"

    def found(part: Any, again: Any, known: Collection[int] = ()) -> Any:
        """The elements that were put where their numbers are; None where there are constants alone."""
        held, is_place = _places(part, again, further, called, known)
        used = np.unique(np.searchsorted(ends[1:], held[is_place], "right")).tolist()
        if not used:
            return None
        places = np.where(is_place, held, 0).astype(int)
        if np.all(is_place) and len(used) == 1 and _looks_into(part, memories[used[0]], given):
            return view(pieces[used[0]], lambda node: taken(node, places - ends[used[0]]), certain=True)
        dtype, elements = np.result_type(*[pieces[k].dtype for k in used]), Elements()
        own = [as_node(piece.astype(dtype) if k in used else piece) for k, piece in enumerate(pieces)]
        numbers = np.concatenate([elements.numbers(node).ravel() for node in own])[places]
        constants = np.where(is_place, 0, held).astype(dtype)
        return Tracer(elements.assembled(np.where(is_place, numbers, KNOWN), constants))

    if is_dataset_of_xarray(type(made)):
        names = [n for n in made if made[n].dtype.kind == "f"]
        for n in names:
            _labels_of_both(made[n], other[n], called)
        parts = {n: found(made[n], other[n]) for n in names}
        return Labels.traced_dataset(made, {n: part for n, part in parts.items() if part is not None})
    if not labels_of(type(made)):
        own = found(made, other)
        return np.asarray(made) if own is None else own
    known = constant_columns(made, other)
    labels = _labels_of_both(made, other, called, known)
    own = found(made, other, known)
    return Labels.traced(np.asarray(numbers_of(made, known)) if own is None else own, labels)


def _arrays(value: Any) -> list[Any]:
    """The arrays of a value; that of a DataArray, which views look into, is a traced one from then on."""
    several = getattr(value, "_arrays", None)
    if several is not None:
        return list(several.values())
    if getattr(value._labels, "dims", None) is not None:
        value._array = traced(value._array)
    return [value._array]


def _memories(given: Any, value: Any) -> list[Any]:
    """Where an object has the numbers of each array, if parts of it may be views."""
    if is_dataset_of_xarray(type(given)):
        return [given.variables[name].values for name in value._arrays]
    return [given.values if is_xarray(type(given)) else None]


def _looks_into(part: Any, memory: Any, given: list[Any]) -> bool:
    """Whether what was made of the objects that were ``given`` is another, and has its elements in their memory."""
    is_other = memory is not None and is_xarray(type(part)) and not any(part is g for g in given)
    return is_other and np.may_share_memory(part.values, memory)


def _labels_of_both(made: Any, other: Any, what: str, known: Collection[int] = ()) -> Labels:
    """The labels of what was made of either numbers; an error where they are made of these."""
    labels = Labels(made, known)
    if labels != Labels(other, known):
        refuse(f"{what} so", OTHERWISE)
    return labels


def _places(
    made: Any, other: Any, further: float, what: str, known: Collection[int] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """The numbers in what was made, and which of them are places: in ``other`` these are ``further``."""
    held, again = (np.asarray(numbers_of(v, known) if labels_of(type(v)) else v) for v in (made, other))
    if not held.size and not again.size:
        return held.astype(float), np.zeros(held.shape, bool)
    if not held.dtype.kind == again.dtype.kind == "f" or held.shape != again.shape:
        refuse(f"{what} so", OTHERWISE)
    is_place = again - held == further
    if not np.all(is_place | (held == again) | (np.isnan(held) & np.isnan(again))):
        refuse(f"{what} so", OTHERWISE)
    return held, is_place


def computed(func: Callable, values: Iterable[Any], kwargs: Any = None, **named: Any) -> Any:
    """``xarray.apply_ufunc``: xarray arranges the numbers of the elements, and ``func`` gets the elements.

    What it gives is labelled as xarray labels zeros of its shape.
    """
    if named.get("dask", "forbidden") != "forbidden":
        refuse("xarray.apply_ufunc with dask", "Call it with a function of arrays")
    values, results = list(values), []
    if named.pop("vectorize", False):
        func = _each(func, [len(dims) for dims in named.get("input_core_dims") or [()] * len(values)])

    def of_numbers(*numbered: Any) -> Any:
        made = func(*map(_elements, values, numbered), **(kwargs or {}))
        results.extend(made if isinstance(made, tuple) else [made])
        zeros = tuple(np.zeros(np.shape(r)) for r in results)
        return zeros if isinstance(made, tuple) else zeros[0]

    made = sys.modules["xarray"].apply_ufunc(of_numbers, *map(_numbered, values), **named)
    parts = made if isinstance(made, tuple) else (made,)
    found = [Labels.traced(r, Labels(p)) if labels_of(type(p)) else r for r, p in zip(results, parts, strict=True)]
    return tuple(found) if isinstance(made, tuple) else found[0]


def _each(func: Callable, counts: list[int]) -> Callable:
    """A function of the last axes of each array, as many as counted, done at each place of the others."""

    def done(*arrays: Any, **named: Any) -> Any:
        shapes = [(s[: len(s) - n], s[len(s) - n :]) for s, n in zip(map(np.shape, arrays), counts, strict=True)]
        lead = np.broadcast_shapes(*[outer for outer, _ in shapes])
        wide = [np.broadcast_to(a, (*lead, *core)) for a, (_, core) in zip(arrays, shapes, strict=True)]
        made = [as_followed(func)(*[a[at] for a in wide], **named) for at in np.ndindex(*lead)]
        if not isinstance(made[0], tuple):
            return np.reshape(np.stack(made), (*lead, *np.shape(made[0])))
        return tuple([np.reshape(np.stack(part), (*lead, *np.shape(part[0]))) for part in zip(*made, strict=True)])

    return done


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
    return Tracer(taken(as_node(array), np.asarray(numbers, int) - 1))


def moved_around_nan(value: LabelledTracer, make: Callable[[Any], Any], what: str) -> Any:
    """As ``moved``, where ``make`` leaves out elements that are NaN."""
    missing = missing_of(value._array)
    if missing is None:
        refuse(f"{value._name}.{what} of values that differ between examples", OTHERWISE)
    return moved(value, make, what, missing)


def holds_traced_labels(values: Iterable[Any]) -> bool:
    """Whether one of the values is traced, with labels or without."""
    values = list(values)
    return holds_traced(values) or any(isinstance(getattr(v, "_labels", None), Labels) for v in values)


def moving(value: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    """What a method gives that moves elements."""
    if name.endswith("_like"):  # which asks for labels alone
        args = tuple(v._labels.without_values() if hasattr(v, "_labels") else v for v in args)
    if holds_traced_labels((*args, *kwargs.values())):
        refuse(f"{value._name}.{name} by traced values", OTHERWISE)
    return moved(value, operator.methodcaller(name, *args, **kwargs), name)


def item(value: LabelledTracer, key: Any) -> Any:
    """``value[key]``."""
    names = value._labels.names
    if isinstance(key, (str, int, tuple)):
        for column in value._labels.others.values():
            if column.name == key:
                return column.copy()
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
        if self._name in ("iloc", "loc") and self._value._labels.others and np.isscalar(place):
            where = place if self._name == "iloc" else self._value.index.get_loc(place)
            if isinstance(where, (int, np.integer)):
                return next(rows(self._value, [int(where)]))[1]
        return moved(self._value, lambda v: getattr(v, self._name)[place], self._name)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._value._put(self._name, self.known(key), value)


def known(key: Any) -> Any:
    """A key with the truth values and whole numbers that its traced parts have, guarded."""
    if type(key) is tuple:
        return tuple(map(known, key))
    labels = getattr(key, "_labels", None)
    if isinstance(labels, Labels):
        return labels.put_on(known(key._array))
    return values_of(key) if type(key) is Tracer and key.dtype.kind in "biu" else key


def aligned(left: LabelledTracer, right: LabelledTracer, **axis: Any) -> tuple[LabelledTracer, LabelledTracer]:
    """Both as arithmetic puts them side by side; ``axis`` is where a Series is put along a DataFrame."""
    none, nothing = left._labels.without_values(), right._labels.without_values()

    def added(a: Any, b: Any) -> Any:
        return a.add(b, **axis) if axis else a + b

    sides = moved(left, lambda v: added(v, nothing), "add"), moved(right, lambda v: added(none, v), "add")
    return sides[0]._of_numbers(), sides[1]._of_numbers()


def missing_of(array: Any) -> Any:
    """Where NaN is in this run, guarded; None where nobody knows."""
    return value_in_run(np.isnan(array)) if array.dtype.kind == "f" else np.zeros(array.shape, bool)


def values_of(array: Any) -> Any:
    """The values in this run, guarded."""
    return running().guard(array._symgrad_node) if type(array) is Tracer else array


def in_this_run(value: LabelledTracer, columns: Any = None) -> Any:
    """What has labels with the values of this run, guarded; known ``columns`` of a DataFrame alone need no guard."""
    asked = [columns] if isinstance(columns, str) else columns
    if asked is not None and set(value._labels.known_names).issuperset(asked):
        return value._labels.without_values()
    return value._labels.put_on(values_of(value._array))


def without_nan(self: LabelledTracer, what: str) -> LabelledTracer:
    if missing_of(self._array) is None or np.any(missing_of(self._array)):
        refuse(f"{self._name}.{what} with NaN", OTHERWISE)
    return self
