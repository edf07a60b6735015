"""Series and DataFrames of pandas and DataArrays of xarray as arguments: arrays with labels.

In a traced function a stand-in has the values, and does what is the same with labels as without: arithmetic with
numbers, with arrays, and with what has the same labels. All else is refused: it aligns by rules of its own.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..errors import ShapeError, UnsupportedOperation
from . import containers
from .dispatch import DEFERRED
from .plain_arrays import plain_array
from .trace import as_node
from .tracer import Tracer


class Labels:
    """What a Series, a DataFrame or a DataArray is beside its values: two are equal where these would go together."""

    def __init__(self, value: Any) -> None:
        self.axes: tuple[Any, ...]
        self.kind = type(value)
        self.shape = tuple(value.shape)
        if _is_xarray(self.kind):
            self.names = (value.name, tuple(map(str, value.dims)))
            self.axes = (value.coords.to_dataset().copy(deep=True),)
            self._dims = value.dims
        else:
            self.names = tuple(value.columns) if value.ndim == 2 else (value.name,)
            self.axes = tuple(value.axes)

    def _guarded(self) -> dict[str, Any]:
        return {}  # nothing of it is changed

    def __hash__(self) -> int:
        return hash((self.kind, self.shape))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Labels) or (self.kind, self.shape) != (other.kind, other.shape):
            return False
        if self.names != other.names:
            return False
        if _is_xarray(self.kind):
            return self.go_together(other)
        return all(map(_is_identical, self.axes, other.axes))

    def go_together(self, other: Labels) -> bool:
        """Whether arithmetic takes the elements of both in their order."""
        if self.kind is not other.kind or self.shape != other.shape:
            return False
        if _is_xarray(self.kind):
            return self._dims == other._dims and self.axes[0].identical(other.axes[0])
        return all(map(_is_equal, self.axes, other.axes))

    def put_on(self, values: Any) -> Any:
        """``values`` with these labels."""
        if _is_xarray(self.kind):
            return self.kind(values, coords=self.axes[0].coords, dims=self._dims, name=self.names[0])
        if len(self.shape) == 2:
            return self.kind(values, index=self.axes[0], columns=self.axes[1])
        return self.kind(values, index=self.axes[0], name=self.names[0])

    def of_rows(self, name: Any) -> Labels:
        """The labels of a column of a DataFrame."""
        made = object.__new__(Labels)
        made.kind = sys.modules["pandas"].Series
        made.shape, made.names, made.axes = self.shape[:1], (name,), self.axes[:1]
        return made


def _is_identical(left: Any, right: Any) -> bool:
    return left is right or bool(left.identical(right))


def _is_equal(left: Any, right: Any) -> bool:
    return left is right or bool(left.equals(right))


def _is_xarray(kind: type) -> bool:
    return kind.__name__ == "DataArray"


def _arithmetic(operate: Callable[[Any, Any], Any]) -> tuple[Callable, Callable]:
    """The operator, and the one for an operand on its left."""

    def left(self: Any, other: Any) -> Any:
        return self._with(operate(self._array, self._plain(other)))

    def right(self: Any, other: Any) -> Any:
        return self._with(operate(self._plain(other), self._array))

    return left, right


def _unary(operate: Callable[[Any], Any]) -> Callable:
    return lambda self: self._with(operate(self._array))


class LabelledTracer:
    """What stands for a Series, a DataFrame or a DataArray in a traced function."""

    __pandas_priority__ = 10_000  # pandas leaves the operators to this class
    __array_priority__ = 10_000
    __hash__ = None  # type: ignore[assignment]

    __add__, __radd__ = _arithmetic(operator.add)
    __sub__, __rsub__ = _arithmetic(operator.sub)
    __mul__, __rmul__ = _arithmetic(operator.mul)
    __truediv__, __rtruediv__ = _arithmetic(operator.truediv)
    __pow__, __rpow__ = _arithmetic(operator.pow)
    __neg__, __pos__, __abs__ = map(_unary, (operator.neg, operator.pos, operator.abs))
    __lt__, __gt__ = _arithmetic(operator.lt)[0], _arithmetic(operator.gt)[0]
    __le__, __ge__ = _arithmetic(operator.le)[0], _arithmetic(operator.ge)[0]
    __eq__, __ne__ = _arithmetic(operator.eq)[0], _arithmetic(operator.ne)[0]

    def __init__(self, array: Any, labels: Labels) -> None:
        self._array = array
        self._labels = labels

    @property
    def _stands_for(self) -> type:
        return self._labels.kind

    @property
    def values(self) -> Any:
        """The traced array."""
        return self._array

    def to_numpy(self, dtype: Any = None, copy: bool = False) -> Any:
        return self._array if dtype is None else self._array.astype(dtype)

    @property
    def shape(self) -> tuple:
        return self._labels.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return self._array.size

    @property
    def dtype(self) -> np.dtype:
        return self._array.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        columns = self._labels.names
        if self.ndim != 2 or _is_xarray(self._labels.kind) or not isinstance(key, str) or columns.count(key) != 1:
            _refuse(f"{self._name} by {key!r}", "Index x.to_numpy()")
        return LabelledTracer(self._array[:, columns.index(key)], self._labels.of_rows(key))

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        _refuse(f"writing into a {self._name}", "Write into a copy of x.to_numpy()")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc.nout != 1:
            _refuse(f"np.{ufunc.__name__}.{method} of a {self._name}", "Write it with x.to_numpy()")
        if ufunc is np.matmul:
            left, right = inputs
            return left @ right if left is self else right.__rmatmul__(left)
        return self._with(ufunc(*[self._plain(v) for v in inputs]))

    def __array_function__(self, func: Callable, types: Any, args: Any, kwargs: Any) -> Any:
        if func in (np.sum, np.mean) and len(args) == 1 and not kwargs and self._name != "DataFrame":
            return self.sum() if func is np.sum else self.mean()
        _refuse(f"np.{func.__name__} of a {self._name}", f"Write np.{func.__name__} of x.to_numpy()")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self._array, dtype)

    def __matmul__(self, other: Any) -> Any:
        x = other._array if type(other) is LabelledTracer else other
        if _is_xarray(self._labels.kind) or np.ndim(x) != 1 or self._may_align(other):
            _refuse(f"this product of a {self._name}", "Write it with x.to_numpy()")
        made = self._array @ x
        return LabelledTracer(made, self._labels.of_rows(None)) if self.ndim == 2 else made

    dot = __matmul__

    def __rmatmul__(self, other: Any) -> Any:
        _refuse(f"a product with a {self._name} behind", "Write it with x.to_numpy()")

    def sum(self) -> Any:
        """The sum of all elements but NaN."""
        self._is_series("sum")
        return np.sum(np.where(np.isnan(self._array), 0, self._array))

    def mean(self) -> Any:
        """The mean of all elements but NaN."""
        self._is_series("mean")
        return self.sum() / np.sum(~np.isnan(self._array))

    def __getattr__(self, name: str) -> Any:
        labels = self.__dict__.get("_labels")
        if name.startswith("_") or labels is None or not hasattr(labels.kind, name):
            if labels is not None and self.ndim == 2 and name in labels.names:  # a column of a DataFrame
                return self[name]
            raise AttributeError(f"{self._name} has no attribute {name!r}")
        _refuse(f"{self._name}.{name}", "Write it with x.to_numpy()")

    @property
    def _name(self) -> str:
        return self._labels.kind.__name__

    def _is_series(self, what: str) -> None:
        if self._labels.kind.__name__ == "DataFrame":
            _refuse(f"DataFrame.{what}", f"Write np.{what}(x.to_numpy(), axis=0)")

    def _with(self, array: Any) -> LabelledTracer:
        if array.shape != self.shape:
            raise ShapeError.here(f"a {self._name} of shape {self.shape} and shape {array.shape} do not fit")
        return LabelledTracer(array, self._labels)

    def _may_align(self, other: Any) -> bool:
        if type(other) is LabelledTracer:
            return self.ndim != 1 or not self._labels.go_together(other._labels)
        return not isinstance(other, (np.ndarray, list))

    def _plain(self, other: Any) -> Any:
        """The values of an operand that needs no alignment."""
        if type(other) is LabelledTracer:
            if not self._labels.go_together(other._labels):
                _refuse(f"arithmetic that aligns a {self._name} with a {other._name}", "Write it with x.to_numpy()")
            return other._array
        if labels_of(type(other)):
            if not self._labels.go_together(Labels(other)):
                _refuse(f"arithmetic that aligns a {self._name} with a {type(other).__name__}", "Take their values")
            return other.to_numpy() if hasattr(other, "to_numpy") else other.values
        if not isinstance(other, (np.ndarray, np.generic, int, float, bool, list)):
            _refuse(f"arithmetic of a {self._name} with a {type(other).__name__}", "Write it with x.to_numpy()")
        return other

    def __repr__(self) -> str:
        return f"LabelledTracer({self._name}, shape={list(self.shape)})"


DEFERRED.add(LabelledTracer)


def _refuse(what: str, instead: str) -> NoReturn:
    raise UnsupportedOperation.here(
        f"{what} has no derivative rule in symgrad: labels align, and NaN are left out. {instead}, or compute it "
        "outside the differentiated function and pass it in."
    )


def labels_of(kind: type) -> bool:
    """Whether the values of this class have labels that are given back."""
    top = kind.__module__.partition(".")[0]
    return (top == "pandas" and kind.__name__ in ("Series", "DataFrame")) or (top == "xarray" and _is_xarray(kind))


def _container(kind: type) -> containers.Container | None:
    if kind is not LabelledTracer and not labels_of(kind):
        return None
    return containers.Container(_parts, _of_parts, frozenset(("labels",)))


def _parts(value: Any) -> dict[str, Any]:
    if type(value) is LabelledTracer:
        return {"values": value._array, "labels": value._labels}
    return {"values": plain_array(value, f"a {type(value).__name__}"), "labels": Labels(value)}


def _of_parts(parts: dict[str, Any]) -> Any:
    """The values with their labels; the values alone where the labels do not fit, as the blocks of a Jacobian."""
    values, labels = parts["values"], parts["labels"]
    if not isinstance(labels, Labels):
        return values
    if isinstance(values, np.ndarray) and type(values) is not Tracer:
        return labels.put_on(values) if values.shape == labels.shape else values
    if type(values) is Tracer and as_node(values).shape != labels.shape:
        return values
    return LabelledTracer(values, labels)


containers.families.append(_container)
