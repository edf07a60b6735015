"""Series and DataFrames of pandas and DataArrays of xarray as arguments: arrays with labels.

In a traced function a stand-in has the values, and does what they do that is known (``labelled_methods``): arithmetic
with alignment, selections, reductions along labels. All else is refused.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError
from . import containers, labelled_writing
from .dispatch import DEFERRED
from .labelled_methods import attribute
from .labelled_places import aligned, computed, item
from .labels import Labels, is_number, is_of_truth, is_xarray, labels_of, numbers_of, refuse
from .plain_arrays import plain_array
from .trace import as_node
from .tracer import Tracer


def _arithmetic(operate: Callable[[Any, Any], Any]) -> tuple[Callable, Callable]:
    """The operator, and the one for an operand on its left."""

    def left(self: Any, other: Any) -> Any:
        own, values = self._beside(other, aligned)
        return own._with(operate(own._array, values))

    def right(self: Any, other: Any) -> Any:
        own, values = self._beside(other, lambda a, b: aligned(b, a)[::-1])
        return own._with(operate(values, own._array))

    return left, right


def _comparison(compare: Callable[[Any, Any], Any]) -> Callable:
    def compared(self: LabelledTracer, other: Any) -> Any:
        if self._labels.dims is not None:
            return self._computed(compare, self, other)
        return self._with(compare(self._of_numbers()._array, self._plain(other)))

    return compared


def _unary(operate: Callable[[Any], Any]) -> Callable:
    return lambda self: self._with(operate(self._of_numbers()._array))


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
    __mod__, __rmod__ = _arithmetic(operator.mod)
    __floordiv__, __rfloordiv__ = _arithmetic(operator.floordiv)
    __divmod__ = lambda self, other: (self // other, self % other)  # noqa: E731
    __iadd__, __isub__, __imul__ = map(labelled_writing.in_place, (operator.add, operator.sub, operator.mul))
    __itruediv__, __ipow__ = map(labelled_writing.in_place, (operator.truediv, operator.pow))
    __neg__, __pos__, __abs__ = map(_unary, (operator.neg, operator.pos, operator.abs))
    __and__, __or__, __invert__ = _comparison(operator.and_), _comparison(operator.or_), _unary(operator.invert)
    __lt__, __gt__, __le__, __ge__, __eq__, __ne__ = map(
        _comparison, (operator.lt, operator.gt, operator.le, operator.ge, operator.eq, operator.ne)
    )

    def __init__(self, array: Any, labels: Labels) -> None:
        self._array = array
        self._labels = labels

    @property
    def _symgrad_node(self) -> Any:
        """What functions of arrays take of it, as they take the array of a Series."""
        return as_node(self._of_numbers()._array)

    @property
    def _stands_for(self) -> type:
        return self._labels.kind

    @property
    def __class__(self) -> type:  # type: ignore[override]
        return self._labels.kind

    @property
    def _typ(self) -> str:
        """What pandas asks of a mask; of numbers it is told nothing."""
        if self._name != "Series" or self.dtype.kind != "b":
            raise AttributeError("_typ")
        return "series"

    @property
    def values(self) -> Any:
        """The traced array; that of pandas is there to be read."""
        array = self._of_numbers()._array
        return array if self._labels.dims is not None or type(array) is not Tracer else labelled_writing.read(array)

    data = values

    def to_numpy(self, dtype: Any = None, copy: bool = False) -> Any:
        array = self.values if dtype is None else self.values.astype(dtype)
        return Tracer(as_node(array)) if copy else array

    @property
    def shape(self) -> tuple:
        if not self._labels.others:
            return self._labels.shape
        return self._labels.shape[0], self._labels.shape[1] + len(self._labels.others)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def dtype(self) -> np.dtype:
        return self._array.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        if self._labels.dims is not None:
            return bool(self._array)
        raise ArgumentError.here(f"the truth value of a {self._name} is ambiguous; use x.any() or x.all()")

    def __float__(self) -> float:
        return float(self._array)

    def __int__(self) -> int:
        return int(self._array)

    def __iter__(self) -> Iterator[Any]:
        """Over the elements of a Series, the names of the columns of a DataFrame, the parts of a DataArray."""
        if self._name == "DataFrame":
            return iter(self._labels.without_values())
        return iter(self._array) if self._name == "Series" else (self[k] for k in range(len(self)))

    def __contains__(self, key: Any) -> bool:
        if is_xarray(self._labels.kind):
            refuse("asking whether a DataArray has a value", "Ask x.to_numpy()")
        return key in self._labels.without_values()

    def __getitem__(self, key: Any) -> Any:
        return item(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        labelled_writing.set_item(self, key, value)

    def _put(self, indexer: str, place: Any, value: Any) -> None:
        labelled_writing.put(self, lambda own, part: operator.setitem(getattr(own, indexer), place, part), value)

    def insert(self, loc: int, column: Any, value: Any, allow_duplicates: bool = False) -> None:
        labelled_writing.put(self, lambda own, part: own.insert(loc, column, part, allow_duplicates), value)

    def pop(self, item: Any) -> Any:
        taken = self[item]
        del self[item]
        return taken

    def __delitem__(self, key: Any) -> None:
        labelled_writing.changed(self, lambda own: operator.delitem(own, key), "del")

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            super().__setattr__(name, value)
        else:
            labelled_writing.set_attribute(self, name, value)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc.nout != 1:
            refuse(f"np.{ufunc.__name__}.{method} of a {self._name}", "Write it with x.to_numpy()")
        if ufunc is np.matmul:
            left, right = inputs
            return left @ right if left is self else right.__rmatmul__(left)
        if self._labels.dims is not None and len(inputs) > 1:
            return self._computed(ufunc, *inputs)
        return self._with(ufunc(*[self._plain(v) for v in inputs]))

    def __array_function__(self, func: Callable, types: Any, args: Any, kwargs: Any) -> Any:
        if func in _METHODS and len(args) == 1 and kwargs.keys() <= {"axis", "ddof"}:
            own = {"axis": None} | ({"ddof": 0} if func in (np.std, np.var) else {})  # as NumPy calls the method
            return attribute(self, _METHODS[func])(**(own | kwargs))
        if func in _CALLED:
            return attribute(self, func.__name__)(*map(unlabelled, args[1:]), **kwargs)
        if func in _LABELLED:
            refuse(f"np.{func.__name__} of a {self._name}", f"Write np.{func.__name__} of x.to_numpy()")
        return func(*unlabelled(args), **unlabelled(kwargs))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self._of_numbers()._array, dtype)

    def __matmul__(self, other: Any) -> Any:
        return self.dot(other)

    def dot(self, other: Any, dim: Any = None) -> Any:
        lifted = self._labelled(other)
        if lifted is not None and lifted._labels.dims is not None and self._labels.dims is not None:
            shared = [d for d in self._labels.dims if d in lifted._labels.dims]
            return (self * lifted).sum(dim=shared if dim is None else dim, skipna=False)
        return self._product(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return self._product(other, self)

    def _product(self, *sides: Any) -> Any:
        """The product of matrices and vectors, with the labels that pandas gives it; one of the sides is this."""
        left, right = [own if (own := self._labelled(v)) is not None else v for v in sides]
        is_labelled = type(left) is type(right)
        if is_xarray(self._labels.kind) or (is_labelled and not left._labels.axes[-1].equals(right._labels.axes[0])):
            refuse(f"this product of a {self._name}", "Write it with x.to_numpy()")
        made = np.matmul(*map(unlabelled, (left, right)))
        known = [v._labels.without_values() if type(v) is type(self) else np.zeros(np.shape(v)) for v in (left, right)]
        shown = known[0] @ known[1]
        return type(self)(made, Labels(shown)) if labels_of(type(shown)) else made

    def __getattr__(self, name: str) -> Any:
        labels = self.__dict__.get("_labels")
        if name.startswith("_") or labels is None:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        if not hasattr(labels.kind, name):
            if labels.dims is not None and name in (*labels.dims, *labels.axes[0].coords):
                return labels.without_values()[name]
            if labels.dims is None and name in (self if self.ndim == 2 else labels.axes[0]):
                return self[name]  # a column, or an element by its label
            raise AttributeError(f"{self._name} has no attribute {name!r}")
        if name == "coords" and labels.dims is not None:
            return labelled_writing.Coordinates(self)
        if name == "variable":  # which xarray asks for
            refuse("arithmetic with a DataArray on the left", "Write c - x as -(x - c)")
        found = attribute(self, name)
        if found is None:
            refuse(f"{self._name}.{name}", "Write it with x.to_numpy()")
        return functools.partial(labelled_writing.called, self, name, found) if callable(found) else found

    @property
    def _name(self) -> str:
        return self._labels.kind.__name__

    def _without(self, axes: tuple[int, ...]) -> Labels:
        """The labels without those of some axes."""
        return Labels(self._labels.without_values().sum(axis=axes if is_xarray(self._labels.kind) else axes[0]))

    def _of_numbers(self, only: bool = False, also_truths: bool = False) -> LabelledTracer:
        """Itself, where every column is of numbers, as an array of all of them; ``only`` those, and truth values."""
        others = self._labels.others
        if not others:
            return self
        texts = [column.name for column in others.values() if not is_number(column.dtype)]
        if texts and not only:
            names = ", ".join(map(repr, texts))
            refuse(f"this of a DataFrame with columns that are no numbers ({names})", "Select columns first: x[[…]]")
        own = self._with_known(also_truths)
        return LabelledTracer(own._array, own._labels.keeping({}))

    def _with_known(self, also_truths: bool = False) -> LabelledTracer:
        """Itself, with the elements of known columns of numbers among the others, and with truths as numbers."""
        others = self._labels.others
        if also_truths:
            others = {k: c.astype(float) if c.dtype == bool else c for k, c in others.items()}
        if not any(is_number(column.dtype) for column in others.values()):
            return self
        own = iter(range(self._array.shape[1]))
        columns = [others[k].to_numpy() if k in others else self._array[:, next(own)] for k in range(self.shape[1])]
        made = Labels(self._labels.keeping(others).without_values())
        return LabelledTracer(np.stack([c for k, c in enumerate(columns) if k not in made.others], axis=1), made)

    def _computed(self, function: Callable, *args: Any) -> LabelledTracer:
        """A function, element by element, of DataArrays and arrays."""
        return computed(function, map(lifted, args), join="inner")

    def _with(self, array: Any) -> LabelledTracer:
        own = self._of_numbers()
        if array.shape != own.shape:
            raise ShapeError.here(f"a {self._name} of shape {own.shape} and shape {array.shape} do not fit")
        return LabelledTracer(array, own._labels)

    def _beside(self, other: Any, align: Callable) -> tuple[LabelledTracer, Any]:
        """This one and the values of an operand, as arithmetic puts them side by side."""
        self, lifted = self._of_numbers(), self._labelled(other)
        if lifted is None:
            return self, self._plain(other)
        if self._labels.go_together(lifted._labels):
            return LabelledTracer(self._array, self._labels.beside(lifted._labels)), lifted._array
        own, moved = align(self, lifted)
        return own, moved._array

    def _labelled(self, other: Any) -> LabelledTracer | None:
        """An operand that has labels, known or traced; None for others."""
        other = lifted(other)
        return other._of_numbers() if type(other) is LabelledTracer else None

    def _lifted(self, other: Any) -> LabelledTracer:
        """An operand with labels; with these where it has none."""
        lifted = self._labelled(other)
        return lifted if lifted is not None else self._with(np.broadcast_to(self._plain(other), self.shape))

    def _plain(self, other: Any) -> Any:
        """The values of an operand that needs no alignment."""
        lifted = self._labelled(other)
        if lifted is not None:
            self = self._of_numbers()
            if not self._labels.go_together(lifted._labels):
                refuse(f"this of a {self._name} and a {lifted._name} of other labels", "Take their values")
            return lifted._array
        if not (other is None or isinstance(other, (np.ndarray, np.generic, int, float, bool, list))):
            refuse(f"arithmetic of a {self._name} with a {type(other).__name__}", "Write it with x.to_numpy()")
        return other

    def __repr__(self) -> str:
        return f"LabelledTracer({self._name}, shape={list(self.shape)})"


def lifted(value: Any) -> Any:
    """What stands for a Series, a DataFrame or a DataArray that is known; anything else as it is."""
    if not labels_of(type(value)):
        return value
    if value.ndim == 2 and not is_xarray(type(value)) and not is_of_truth(value):
        return LabelledTracer(np.zeros((len(value), 0)), Labels(value, range(value.shape[1])))
    return LabelledTracer(plain_array(numbers_of(value), f"a {type(value).__name__}"), Labels(value))


def unlabelled(value: Any) -> Any:
    """``value``, with arrays in place of what has labels, in its lists, tuples and dicts too."""
    if type(value) is dict:
        return {key: unlabelled(v) for key, v in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(unlabelled, value))
    value = lifted(value)
    return value._of_numbers()._array if type(value) is LabelledTracer else value


def has_labels(value: Any) -> bool:
    """Whether it is a Series, a DataFrame or a DataArray, known or not."""
    return type(value) is LabelledTracer or labels_of(type(value))


def takes_arrays(function: Any) -> bool:
    """Whether it is a function of a library that makes arrays of all that has labels."""
    if isinstance(function, np.ufunc) or not str(getattr(function, "__module__", "")).startswith(("numpy", "scipy.")):
        return False
    return not any(function in known for known in (_METHODS, _CALLED, _LABELLED))


#: functions of NumPy that keep labels, and have no rule for them
_LABELLED = frozenset((np.argsort, np.around, np.round, np.repeat, np.squeeze, np.transpose))
#: those that call a method with what it takes
_CALLED = frozenset((np.cumsum, np.cumprod, np.clip))
#: those that call a method with an axis
_METHODS = {getattr(np, name): name for name in ("sum", "mean", "std", "var", "min", "max", "prod")}
DEFERRED.add(LabelledTracer)


Labels.traced = staticmethod(LabelledTracer)
Labels.lifted = staticmethod(lifted)


def _container(kind: type) -> containers.Container | None:
    if kind is not LabelledTracer and not labels_of(kind):
        return None
    return containers.Container(_parts, _of_parts, frozenset(("labels",)), "values")


def _parts(value: Any) -> dict[str, Any]:
    if type(value) is LabelledTracer:
        value = value._with_known()
        return {"values": value._array, "labels": value._labels}
    return {"values": plain_array(numbers_of(value), f"a {type(value).__name__}"), "labels": Labels(value)}


def _of_parts(parts: dict[str, Any]) -> Any:
    """The values with their labels; the values alone where the labels do not fit, as the blocks of a Jacobian."""
    values, labels = parts["values"], parts["labels"]
    if not isinstance(labels, Labels):
        return values
    if isinstance(values, (np.ndarray, np.generic)) and type(values) is not Tracer:
        return labels.put_on(values) if values.shape == labels.shape else values
    if type(values) is Tracer and as_node(values).shape != labels.shape:
        return values
    return LabelledTracer(values, labels)


containers.families.append(_container)
