"""Labels: what a Series, a DataFrame or a DataArray is beside its values."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Collection
from typing import Any, NoReturn

import numpy as np

from ..errors import UnsupportedOperation


class Labels:
    """What a Series, a DataFrame or a DataArray is beside its values: two are equal where these would go together."""

    #: what stands for data of an array with labels, for known data, and for a Dataset of zeros and arrays; set by those
    #: who define it
    traced: Callable[[Any, Labels], Any]
    lifted: Callable[[Any], Any]
    traced_dataset: Callable[[Any, dict[str, Any]], Any]

    def __init__(self, value: Any, known: Collection[int] = ()) -> None:
        """``known`` are the places of the columns of a DataFrame that are what they are in ``value``."""
        self.axes: tuple[Any, ...]
        #: the names of the axes of a DataArray; None of pandas
        self.dims: tuple[Any, ...] | None
        #: columns of a DataFrame that are known, or no numbers, with their places
        self.others: dict[int, Any] = {}
        self.kind = type(value)
        numbers = numbers_of(value, known)
        self.shape = tuple(numbers.shape)
        if is_xarray(self.kind):
            self.names = (value.name, tuple(map(str, value.dims)))
            self.axes = (value.coords.to_dataset().copy(deep=True),)
            self.dims = value.dims
        else:
            self.dims = None
            self.names = tuple(numbers.columns) if value.ndim == 2 else (value.name,)
            self.axes = tuple(numbers.axes)
            if numbers is not value:
                places = [k for k, d in enumerate(value.dtypes) if k in known or not is_number(d)]
                self.others = {k: value.iloc[:, k].copy() for k in places}

    def _guarded(self) -> dict[str, Any]:
        return {}  # nothing of it is changed

    def __hash__(self) -> int:
        return hash((self.kind, self.shape))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Labels) or (self.kind, self.shape) != (other.kind, other.shape):
            return False
        if self.names != other.names or self.others.keys() != other.others.keys():
            return False
        if not all(map(_is_equal, self.others.values(), other.others.values())):
            return False
        if is_xarray(self.kind):
            return self.go_together(other)
        return all(map(_is_identical, self.axes, other.axes))

    def go_together(self, other: Labels) -> bool:
        """Whether arithmetic takes the elements of both in their order."""
        if self.kind is not other.kind or self.shape != other.shape:
            return False
        if is_xarray(self.kind):
            return self.dims == other.dims and self.axes[0].identical(other.axes[0])
        return all(map(_is_equal, self.axes, other.axes))

    def go_along(self, axis: int, other: Labels) -> bool:
        """Whether this axis goes with the only one of a Series."""
        return other.kind.__name__ == "Series" and _is_equal(self.axes[axis], other.axes[0])

    def beside(self, other: Labels) -> Labels:
        """The labels of what both together make, which has a name where it is the same."""
        if self.names[0] == other.names[0] or self.kind.__name__ == "DataFrame":
            return self
        made = copy.copy(self)
        made.names = (None, *self.names[1:])
        return made

    def put_on(self, values: Any) -> Any:
        """``values`` with these labels."""
        if is_xarray(self.kind):
            return self.kind(values, coords=self.axes[0].coords, dims=self.dims, name=self.names[0])
        if len(self.shape) == 2:
            made = self.kind(values, index=self.axes[0], columns=self.axes[1])
            for k, column in self.others.items():
                made.insert(k, column.name, column.array, allow_duplicates=True)
            return made
        return self.kind(values, index=self.axes[0], name=self.names[0])

    @property
    def known_names(self) -> list[Any]:
        """What the columns beside the values are called."""
        return [column.name for column in self.others.values()]

    def keeping(self, others: dict[int, Any]) -> Labels:
        """These labels with these of the columns beside the values."""
        made = copy.copy(self)
        made.others = others
        return made

    def without_values(self) -> Any:
        """What has these labels, and holds zeros."""
        return self.put_on(np.zeros(self.shape))


def numbers_of(value: Any, known: Collection[int] = ()) -> Any:
    """A Series or a DataArray; of a DataFrame the columns that are numbers, or all where they are truth values.

    Those at ``known`` places are left out.
    """
    if value.ndim != 2 or is_xarray(type(value)):
        return value
    if not known and (all(map(is_number, value.dtypes)) or is_of_truth(value)):
        return value
    return value.iloc[:, [k for k, d in enumerate(value.dtypes) if is_number(d) and k not in known]]


def constant_columns(one: Any, other: Any) -> list[int]:
    """The places of the columns of numbers that are the same in two DataFrames of the same labels."""
    if one.ndim != 2 or is_xarray(type(one)) or one.shape != other.shape:
        return []
    numbers = [k for k, d in enumerate(one.dtypes) if is_number(d)]
    first, second = (np.asarray(v.iloc[:, numbers]) for v in (one, other))
    is_same = np.all((first == second) | ((first != first) & (second != second)), axis=0)
    return [k for k, same in zip(numbers, is_same.tolist(), strict=True) if same]


def is_of_truth(frame: Any) -> bool:
    """Whether every column of a DataFrame is of truth values."""
    return set(frame.dtypes) == {np.dtype(bool)}


def is_number(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "iufc"


def _is_identical(left: Any, right: Any) -> bool:
    return left is right or bool(left.identical(right))


def _is_equal(left: Any, right: Any) -> bool:
    return left is right or bool(left.equals(right))


def is_xarray(kind: type) -> bool:
    return kind.__name__ == "DataArray"


def refuse(what: str, instead: str) -> NoReturn:
    raise UnsupportedOperation.here(
        f"{what} has no derivative rule in symgrad: labels align, and NaN are left out. {instead}, or compute it "
        "outside the differentiated function and pass it in."
    )


def names_of(index: Any) -> tuple:
    """What an index of pandas is called, which may change."""
    return tuple(index.names)


@functools.lru_cache(maxsize=1024)
def is_index(kind: type) -> bool:
    """Whether it is a class of pandas for labels along an axis, whose elements never change."""
    return any(c.__name__ == "Index" and c.__module__.partition(".")[0] == "pandas" for c in kind.__mro__)


def is_indexer(value: Any) -> bool:
    """Whether it is ``x.loc`` of a Series or a DataFrame, or kin."""
    return type(value).__module__ == "pandas.core.indexing"


@functools.lru_cache(maxsize=1024)  # as below
def is_dataset_of_xarray(kind: type) -> bool:
    return kind.__name__ == "Dataset" and kind.__module__.partition(".")[0] == "xarray"


@functools.lru_cache(maxsize=1024)  # it is asked of every argument of a library's function
def labels_of(kind: type) -> bool:
    """Whether the values of this class have labels that are given back."""
    top = kind.__module__.partition(".")[0]
    return (top == "pandas" and kind.__name__ in ("Series", "DataFrame")) or (top == "xarray" and is_xarray(kind))
