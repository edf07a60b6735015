"""What is written into a Series or a DataFrame: pandas writes, into objects that hold the numbers of the elements."""

from __future__ import annotations

import inspect
import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ShapeError
from .labelled_columns import with_columns
from .labelled_places import OTHERWISE, holds_traced_labels, known, moved_together, moving
from .labels import labels_of, refuse
from .local_array import holds_traced, looking_into, unwrapped
from .making import array_of
from .trace import as_node
from .tracer import Tracer, traced, view
from .views import ReadOnly

if TYPE_CHECKING:
    from .labelled import LabelledTracer


class Unlabelled:
    """Traced values without labels among such with labels: an array, or a number."""

    _name = "array"

    def __init__(self, array: Any) -> None:
        self._array = array
        self._labels = self
        self.shape = np.shape(array)

    def put_on(self, values: Any) -> Any:
        return values[()]


def changed(value: LabelledTracer, change: Callable[..., Any], what: str, *given: Any) -> None:
    """Do ``change``, which only moves elements, to ``value`` itself: those of ``given`` into it."""
    if value._labels.dims is None and not copies_on_write():
        refuse(f"writing into a {value._name} so", "Write into a copy of x.to_numpy()")
    parts: list[Any] = [v if type(v) is type(value) else Unlabelled(v) for v in given]

    def make(objects: list[Any]) -> Any:
        change(*objects)
        return objects[0]

    _become(value, moved_together([value, *parts], make, what))


def called(
    value: LabelledTracer, name: str, method: Callable[..., Any], /, *args: Any, inplace: bool = False, **kwargs: Any
) -> Any:
    """What a method gives, or nothing: ``value`` is that from now on."""
    try:
        inspect.signature(method).bind(*args, **kwargs)
    except TypeError:
        refuse(f"{value._name}.{name} with these arguments", OTHERWISE)
    made = method(*args, **kwargs)
    if not inplace:
        return made
    _become(value, made)
    return None


_VALUES = (
    "the values of a Series or a DataFrame are read-only, as in pandas. Write s.iloc[…] = …, or into "
    "x.to_numpy(copy=True)."
)


def read(array: Tracer) -> Tracer:
    """The array of a Series or a DataFrame, which is not to be used after that was written into."""
    return view(array, ReadOnly(_VALUES), certain=False) if copies_on_write() else array


def _become(value: LabelledTracer, made: LabelledTracer) -> None:
    before = value._array
    if value._labels.dims is not None and value.shape == made.shape:  # others may look into its array
        value._array = traced(before)
        value._array[...] = made._array
    else:
        value._array = made._array
        is_own = type(before) is Tracer and before._root is None  # what is shared is copied before it is written to
        if is_own and as_node(before) is not as_node(made._array):
            before._writes += 1  # what was read of it as an array is of the past
    value._labels = made._labels


def in_place(operate: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The operator that writes what ``operate`` gives into the left operand."""

    def operated(value: LabelledTracer, other: Any) -> LabelledTracer:
        made = operate(value, other)
        if value._labels.dims is None and not made._labels.go_together(value._labels):
            made = moving(made, "reindex_like", value)  # pandas keeps the labels
        if made.shape != value.shape:
            raise ShapeError.here(f"in place a {value._name} of shape {value.shape} cannot become one of {made.shape}")
        _become(value, made)
        return value

    return operated


def copies_on_write() -> bool:
    """Whether what is taken from a Series or a DataFrame never sees what is written into either."""
    pandas = sys.modules["pandas"]
    return int(pandas.__version__.partition(".")[0]) >= 3 or pandas.options.mode.copy_on_write is True


def set_item(value: LabelledTracer, key: Any, given: Any) -> None:
    """``value[key] = given``."""
    if value._name == "DataFrame" and isinstance(key, (str, int)):
        _become(value, with_columns(value, {key: given}))
    else:
        put(value, lambda own, part: operator.setitem(own, known(key), part), given)


def put(value: LabelledTracer, write: Callable[[Any, Any], Any], given: Any) -> None:
    """Have ``write`` put what is ``given`` into ``value``."""
    if labels_of(type(given)) or not (type(given) is type(value) or holds_traced(given)):
        changed(value, lambda own: write(own, unwrapped(given)), "[…] = …")
        return
    given = array_of(given) if isinstance(given, (list, tuple)) else given
    changed(value, write, "[…] = …", given)


class Coordinates(Mapping[Any, Any]):
    """``x.coords`` of a DataArray that a function has made."""

    def __init__(self, value: LabelledTracer) -> None:
        self._value = value

    @property
    def _known(self) -> Any:
        return self._value._labels.without_values().coords

    def __getitem__(self, key: Any) -> Any:
        return self._known[key]

    def __contains__(self, key: Any) -> bool:
        return key in self._known

    def __iter__(self) -> Iterator[Any]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._known, name)

    def __setitem__(self, key: Any, given: Any) -> None:
        self.update({key: given})

    def update(self, coords: Any) -> None:
        if holds_traced_labels(coords.values()):
            refuse("coordinates of traced values", OTHERWISE)
        changed(self._value, lambda own: own.coords.update(unwrapped(coords)), "coords")

    def __delitem__(self, key: Any) -> None:
        changed(self._value, lambda own: operator.delitem(own.coords, key), "coords")


def set_attribute(value: LabelledTracer, name: str, given: Any) -> None:
    """``value.name = given``: labels, or a column or element of this name."""
    if name in ("values", "data") and value._labels.dims is not None:
        if np.shape(given) != value.shape:
            refuse(f"{name} of another shape", "Give an array of the same shape")
        value._array = looking_into(given)
    elif hasattr(value._labels.kind, name):
        if holds_traced(given):
            refuse(f"{value._name}.{name} of traced values", OTHERWISE)
        changed(value, lambda own: setattr(own, name, given), name)
    elif name in value:
        set_item(value, name, given)
    else:
        refuse(f"an attribute {name!r} of a {value._name}", f"Write x[{name!r}] = …")
