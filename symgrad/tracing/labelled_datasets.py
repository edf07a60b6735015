"""Datasets of xarray as arguments and in traced functions: variables with labels that go by dims of the same names.

A stand-in has a Dataset of zeros, which says all that no value decides, and the traced array of each variable.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..program.node import Node
from . import containers
from .dispatch import DEFERRED
from .labelled import LabelledTracer, lifted
from .labelled_methods import DATASETS_MOVE
from .labelled_places import moved_together, moving
from .labelled_statistics import STATISTICS
from .labelled_writing import Unlabelled
from .labels import Labels, is_dataset_of_xarray, refuse
from .local_array import holds_traced, unwrapped
from .trace import as_node
from .tracer import Tracer, traced

#: what its zeros say
_OF_ZEROS = frozenset(("sizes", "dims", "coords", "indexes", "attrs", "encoding"))
#: methods that give an object, of which methods give the Dataset
_IN_TWO_STEPS = frozenset(("rolling", "coarsen", "groupby", "resample", "weighted"))
#: methods that take a size, or places, for each dim
_BY_SIZES = frozenset(("interp", "rolling", "coarsen", "resample"))
#: methods of each variable that go by dims
_BY_DIMS = frozenset((*STATISTICS, *_IN_TWO_STEPS, "quantile", "cumsum", "cumprod", "interp", "integrate", "diff"))
#: methods of each variable
_OF_EACH = frozenset(("fillna", "where", "clip", "astype", "isnull", "notnull", "dropna", "ffill", "bfill"))


class _Layout:
    """The places of the elements of all variables, one after the other."""

    def __init__(self, zeros: Any, names: list[str]) -> None:
        self.zeros = zeros
        self.names = names
        self.shape = (sum(zeros[name].size for name in names),)

    def put_on(self, numbers: np.ndarray) -> Any:
        made, start = self.zeros.copy(), 0
        for name in self.names:
            variable = made.variables[name]
            end = start + variable.size
            made[name] = variable.copy(data=numbers[start:end].reshape(variable.shape))
            start = end
        return made


def _arithmetic(operate: Callable[[Any, Any], Any]) -> Callable:
    def between(self: DatasetTracer, other: Any) -> Any:
        others = other if is_dataset(other) else None
        if others is not None:
            return made_of({n: operate(lifted(self[n]), others[n]) for n in self if n in others})
        return made_of({name: operate(lifted(self[name]), other) for name in self})

    return between


class DatasetTracer(Mapping[Any, Any]):
    """What stands for a Dataset in a traced function."""

    __array_priority__ = 10_000
    __hash__ = None  # type: ignore[assignment]
    _name = "Dataset"

    __add__, __radd__ = _arithmetic(operator.add), _arithmetic(lambda a, b: b + a)
    __sub__, __rsub__ = _arithmetic(operator.sub), _arithmetic(lambda a, b: b - a)
    __mul__, __rmul__ = _arithmetic(operator.mul), _arithmetic(lambda a, b: b * a)
    __truediv__, __rtruediv__ = _arithmetic(operator.truediv), _arithmetic(lambda a, b: b / a)
    __pow__ = _arithmetic(operator.pow)
    __lt__, __gt__, __le__, __ge__, __eq__, __ne__ = map(
        _arithmetic, (operator.lt, operator.gt, operator.le, operator.ge, operator.eq, operator.ne)
    )

    def __init__(self, zeros: Any, arrays: dict[str, Any]) -> None:
        self._zeros = zeros
        self._arrays = {n: traced(a) for n, a in arrays.items()}

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("attrs", "encoding"):
            setattr(self._zeros, name, value)
        elif name.startswith("_"):
            super().__setattr__(name, value)
        else:
            refuse(f"an attribute {name!r} of a Dataset", f"Write ds[{name!r}] = …")

    def __neg__(self) -> Any:
        return self.map(operator.neg)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            refuse(f"np.{ufunc.__name__}.{method} of a Dataset", 'Write it of its variables: ds["a"]')
        own = [v if is_dataset(v) else dict.fromkeys(self, v) for v in inputs]
        return made_of({n: ufunc(*[lifted(v[n]) for v in own]) for n in self if all(n in v for v in own)})

    @property
    def _stands_for(self) -> type:
        return type(self._zeros)

    @property
    def __class__(self) -> type:  # type: ignore[override]
        return type(self._zeros)

    @property
    def _labels(self) -> _Layout:
        return _Layout(self._zeros, list(self._arrays))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self._arrays:
                return self._zeros[key]
            return LabelledTracer(self._arrays[key], Labels(self._zeros[key]))
        if isinstance(key, dict):
            return self.isel(key)
        kept = self._zeros[key]
        return DatasetTracer(kept, {n: a for n, a in self._arrays.items() if n in kept})

    def __setitem__(self, key: Any, value: Any) -> None:
        if not isinstance(key, str):
            refuse("writing into a Dataset at several places", 'Write ds["a"] = …')
        self._become(self.assign({key: value}))

    def __delitem__(self, key: Any) -> None:
        self._become(self.drop_vars(key))

    def update(self, other: Any) -> DatasetTracer:
        self._become(self.assign(dict(other.items())))
        return self

    def _become(self, made: DatasetTracer) -> None:
        self._zeros, self._arrays = made._zeros, made._arrays

    def __iter__(self) -> Iterator[Any]:
        return iter(self._zeros)

    def __len__(self) -> int:
        return len(self._zeros)

    def __contains__(self, key: Any) -> bool:
        return key in self._zeros

    @property
    def data_vars(self) -> dict[Any, Any]:
        return dict(self.items())

    def copy(self, deep: bool = False, data: Any = None) -> DatasetTracer:
        own = {n: Tracer(as_node(a)) for n, a in self._arrays.items()} if deep else self._arrays
        return DatasetTracer(self._zeros.copy(), own)

    def assign(self, variables: Any = None, **named: Any) -> DatasetTracer:
        given = {**(variables or {}), **named}
        made = {name: v(self) if callable(v) else v for name, v in given.items()}
        return made_of(made, onto=self)

    def map(self, func: Callable, args: Any = (), **kwargs: Any) -> DatasetTracer:
        return made_of({name: func(self[name], *args, **kwargs) for name in self})

    apply = map

    def pipe(self, func: Callable, *args: Any, **kwargs: Any) -> Any:
        return func(self, *args, **kwargs)

    def merge(self, other: Any, **named: Any) -> Any:
        return moved_together([self, lifted_dataset(other)], lambda v: v[0].merge(v[1], **named), "merge")

    def __getattr__(self, name: str) -> Any:
        zeros = self.__dict__.get("_zeros")
        if name.startswith("_") or zeros is None:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        if name in _OF_ZEROS:
            return getattr(zeros, name)
        if name in self._zeros or name in zeros.coords:
            return self[name]
        if name in DATASETS_MOVE:
            return functools.partial(moving, self, name)
        if name in _BY_DIMS or name in _OF_EACH:
            return functools.partial(_each, self, name)
        if not hasattr(type(zeros), name):
            raise AttributeError(f"Dataset has no attribute {name!r}")
        refuse(f"Dataset.{name}", 'Write it of its variables: ds["a"]')

    def __repr__(self) -> str:
        return f"DatasetTracer({', '.join(map(str, self))})"


def _each(self: DatasetTracer, name: str, *all_args: Any, **all_kwargs: Any) -> Any:
    """A method of each variable, by those of other Datasets; those that have none of the dims stay as they are."""

    def pick(value: Any, own: Any) -> Any:
        return value[own] if is_dataset(value) else value

    made = {}
    for own in self:
        variable = lifted(self[own])
        args, kwargs = [pick(v, own) for v in all_args], {k: pick(v, own) for k, v in all_kwargs.items()}
        given = _along_own(self._zeros, own, name, args, kwargs) if name in _BY_DIMS else (args, kwargs)
        made[own] = variable if given is None else getattr(variable, name)(*given[0], **given[1])
    return _Several(made) if name in _IN_TWO_STEPS else made_of(made)


def _along_own(zeros: Any, own: Any, name: str, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]] | None:
    """The arguments for a variable, without the dims that it has not; None where it has none of them."""
    dims = zeros[own].dims
    if name in _BY_SIZES:
        given = {**(args[0] if args else {}), **kwargs}
        kept = {k: v for k, v in given.items() if k in dims or k not in zeros.dims}
        return ((), kept) if any(k in dims for k in given) else None
    if name == "groupby":
        by = args[0] if hasattr(args[0], "dims") else zeros[args[0]]
        if not set(by.dims) <= set(dims):
            refuse(f"groups of a Dataset whose variable {own!r} has not their dim", "Select the others: ds[[…]]")
        return args, kwargs
    at = 1 if name == "quantile" else 0
    along = kwargs.get("dim", args[at] if len(args) > at else None)
    if name == "weighted" or along is None or along is ...:
        return args, kwargs
    kept = [d for d in ([along] if isinstance(along, str) else along) if d in dims]
    if not kept:
        return None
    return (*args[:at], kept[0] if isinstance(along, str) else kept, *args[at + 1 :]), {
        k: v for k, v in kwargs.items() if k != "dim"
    }


DEFERRED.add(DatasetTracer)


class _Several:
    """``ds.rolling(…)`` and kin: of each variable."""

    def __init__(self, variables: dict[str, Any]) -> None:
        self._variables = variables

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)

        def called(*args: Any, **kwargs: Any) -> Any:
            return made_of(
                {
                    n: v if type(v) is LabelledTracer else getattr(v, name)(*args, **kwargs)
                    for n, v in self._variables.items()
                }
            )

        return called


def is_dataset(value: Any) -> bool:
    """Whether it is a Dataset, known or not."""
    return type(value) is DatasetTracer or is_dataset_of_xarray(type(value))


def stand_in(value: Any) -> Any:
    """What stands for data with labels that is known, Datasets too; anything else as it is."""
    return lifted_dataset(value) if is_dataset(value) else lifted(value)


def lifted_dataset(value: Any) -> DatasetTracer:
    """What stands for a Dataset that is known: its variables of floats are arrays."""
    if type(value) is DatasetTracer:
        return value
    arrays = _floats(value)
    return DatasetTracer(_without_values(value, arrays), arrays)


def _floats(dataset: Any) -> dict[Any, np.ndarray]:
    return {n: np.asarray(dataset[n].values) for n in dataset if dataset[n].dtype.kind in "fc"}


def _without_values(dataset: Any, names: Any) -> Any:
    return dataset.assign({n: dataset.variables[n].copy(data=np.zeros(dataset[n].shape)) for n in names})


def made_of(variables: Any, coords: Any = None, attrs: Any = None, onto: DatasetTracer | None = None) -> Any:
    """``xarray.Dataset`` of traced variables, or another with them: xarray arranges the numbers of their elements."""
    parts: list[Any] = [] if onto is None else [onto]

    def numbered(value: Any) -> Callable[[list[Any]], Any]:
        """What gives a variable, of the objects that hold the numbers."""
        if isinstance(value, tuple) and len(value) > 1 and holds_traced(value[1]):
            inner = numbered(value[1])
            return lambda objects: (value[0], inner(objects), *value[2:])
        if type(value) is LabelledTracer or holds_traced(value):
            parts.append(value if type(value) is LabelledTracer else Unlabelled(value))
            place = len(parts) - 1
            return lambda objects: objects[place]
        return lambda objects: unwrapped(value)

    makers = {name: numbered(value) for name, value in dict(variables or {}).items()}

    def make(objects: list[Any]) -> Any:
        made = {n: of(objects) for n, of in makers.items()}
        return sys.modules["xarray"].Dataset(made, coords, attrs) if onto is None else objects[0].assign(made)

    return moved_together(parts, make, "Dataset") if parts else lifted_dataset(make([]))


def _placed(made: Any, arrays: dict[str, Any]) -> DatasetTracer:
    return DatasetTracer(_without_values(made, arrays), arrays)


Labels.traced_dataset = staticmethod(_placed)


# as arguments

_REST = "symgrad: labels"


class _Rest:
    """What a Dataset is beside its variables of floats; two are equal where xarray says so."""

    def __init__(self, zeros: Any) -> None:
        self.zeros = zeros

    def _guarded(self) -> dict[str, Any]:
        return {}  # nothing of it is changed

    def __hash__(self) -> int:
        return hash(tuple(map(str, self.zeros)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Rest) and bool(self.zeros.identical(other.zeros))


def _container(kind: type) -> containers.Container | None:
    if kind is not DatasetTracer and not is_dataset_of_xarray(kind):
        return None
    return containers.Container(_parts, _of_parts, frozenset((_REST,)))


def _parts(value: Any) -> dict[str, Any]:
    arrays = value._arrays if type(value) is DatasetTracer else _floats(value)
    zeros = value._zeros if type(value) is DatasetTracer else _without_values(value, arrays)
    return {**arrays, _REST: _Rest(zeros.copy(deep=True))}


def _of_parts(parts: dict[str, Any]) -> Any:
    """The Dataset; the values of its variables where they are of other shapes, as the blocks of a Jacobian."""
    rest = parts[_REST]
    arrays = {n: v for n, v in parts.items() if n != _REST}
    if not isinstance(rest, _Rest):
        return arrays
    zeros = rest.zeros
    if any(np.shape(v) != zeros[n].shape for n, v in arrays.items()):
        return arrays
    if any(type(v) is Tracer or isinstance(v, Node) for v in arrays.values()):
        return DatasetTracer(zeros.copy(), arrays)
    return zeros.assign({n: zeros.variables[n].copy(data=np.asarray(v)) for n, v in arrays.items()})


containers.families.append(_container)
