"""LocalArray: an array that a traced function makes, and may fill with traced values.

It is a plain array until a traced value is written into it, and computes as one. What is written is kept as the
numbers of its elements, beside the array; both lie alike in memory, so what looks into the one looks into the other,
and a write through a view, an index array or a mask is a write of NumPy's own.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors import CONTRACT, ArgumentTypeError, ShapeError, TracingError
from ..primitives import functions as f
from ..program.dims import is_concrete
from ..program.node import Node
from . import assignment
from .array_methods import repeated
from .dispatch import refuse
from .elements import KNOWN, Elements
from .memory import Memory, locals_of
from .trace import as_node, current, running
from .tracer import Tracer

_FOREIGN = (
    "a traced value is written into an array from outside of the function, which would change it for the caller. Write "
    "into a copy() of it."
)


class Whole:
    """All of an array that a function has made, for views of parts of its numbers: it is read anew, and written to."""

    __slots__ = ("_array",)

    def __init__(self, array: LocalArray) -> None:
        self._array = array

    def __call__(self, _: Node) -> Node:
        return self._array._symgrad_node

    def write(self, node: Node) -> None:
        """Write the numbers of a node into the array."""
        self._array[...] = Tracer(node)


class LocalArray:
    """An array that the traced function has made. Made by symgrad, never by users."""

    __slots__ = ("_memory", "plain")
    #: what a function of arrays gives, what an attribute is, and an array of nested lists; set by those who know
    computed: Callable[[Callable, tuple, dict[str, Any]], Any]
    attribute: Callable[[LocalArray, str], Any]
    stacked: Callable[[Any], Node]
    #: has an object of a library know that a traced value was written into the array that it looks into
    held: Callable[[Any], None]

    def __init__(self, plain: np.ndarray, memory: Memory) -> None:
        self.plain = plain
        self._memory = memory

    @classmethod
    def of(cls, data: np.ndarray, is_foreign: bool = False) -> LocalArray:
        """The array that stands for ``data`` while the function runs."""
        return cls(data, locals_of(running()).memory(data, is_foreign))

    @classmethod
    def of_node(cls, node: Node, order: Any = "C") -> LocalArray:
        """A new array that holds a traced value."""
        numbers = locals_of(running()).elements.numbers(node)
        return cls.of_numbers(np.zeros(node.shape, node.dtype, order), numbers)

    @classmethod
    def of_numbers(cls, data: np.ndarray, numbers: np.ndarray) -> LocalArray:
        """A new array of ``data`` and of the elements with these numbers."""
        made = cls.of(data)
        made.numbers[...] = numbers
        return made

    @property
    def numbers(self) -> np.ndarray:
        """The numbers of the elements, to read and to write."""
        return self._memory.numbers_like(self.plain)

    @property
    def is_traced(self) -> bool:
        """True where it holds a traced value."""
        return self._memory.numbers is not None and bool((self.numbers != KNOWN).any())

    @property
    def written(self) -> list[Node]:
        """The traced values that were written into it, and are there still."""
        return self._elements().values(self.numbers) if self.is_traced else []

    @property
    def _symgrad_node(self) -> Node:
        if self.is_traced:
            node = self._elements().assembled(self.numbers, self.plain)
        else:
            node = running().constant(np.array(self.plain))
        if not self._lies_by_rows():
            running().lying[node] = False
        return node

    def _lies_by_rows(self) -> bool:
        """Whether what is computed of it lies in memory row after row."""
        if self.plain.ndim < 2 or (self.plain.flags.c_contiguous and self._memory.lies_alike):
            return True
        strides = [abs(s) for s, d in zip(self.plain.strides, self.plain.shape, strict=True) if d != 1]
        return self._memory.lies_alike and strides == sorted(strides, reverse=True)

    def _elements(self) -> Elements:
        """What the numbers are of; an error in another trace than theirs."""
        trace = current()
        if trace is None or trace.locals is not self._memory.trace:
            raise TracingError.here("an array with traced values was used after its trace had ended.")
        return self._memory.trace.elements

    @property
    def now(self) -> Any:
        """What computes in its place: the plain array, or the traced one."""
        return Tracer(self._symgrad_node) if self.is_traced or not self._memory.lies_alike else self.plain

    @property
    def whole(self) -> Tracer:
        """The traced array, as views of parts of its numbers look into it."""
        return Tracer(self._symgrad_node, self._memory.writes, Whole(self), certain=True)

    @property
    def __class__(self) -> type:  # type: ignore[override]
        return np.ndarray

    # what an array says of itself

    @property
    def shape(self) -> tuple:
        return self.plain.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        self.plain.shape = shape

    @property
    def dtype(self) -> np.dtype:
        return self.plain.dtype

    def __len__(self) -> int:
        return len(self.plain)

    def __iter__(self) -> Iterator[Any]:
        if not self.plain.ndim:
            raise ArgumentTypeError.here("iteration over a 0-d array")
        return (self[k] for k in range(len(self.plain)))

    def __repr__(self) -> str:
        return repr(self.now)

    def __str__(self) -> str:
        return str(self.now)

    def __format__(self, spec: str) -> str:
        return format(self.now, spec)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        now = self.now
        if now is not self.plain:
            return now.__array__(dtype)
        return np.array(now, dtype) if copy else np.asarray(now, dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return self.computed(ufunc if method == "__call__" else getattr(ufunc, method), inputs, kwargs)

    def __array_function__(self, func: Callable, types: Any, args: Any, kwargs: Any) -> Any:
        return self.computed(func, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # code in C would read the plain array
            raise AttributeError(name)
        return self.attribute(self, name)

    @property
    def data(self) -> Any:
        return self._lent("data")

    @property
    def ctypes(self) -> Any:
        return self._lent("ctypes")

    def _lent(self, name: str) -> Any:
        """The plain memory, for code that knows no traced values; from then on none can be written into it."""
        if self.is_traced:
            refuse(
                f"the memory of an array with traced values (.{name}) holds no number of theirs: what reads it would "
                f"lose their derivative. {CONTRACT}"
            )
        self.lend(f"by .{name}")
        return getattr(self.plain, name)

    def lend(self, how: str) -> None:
        """Note that others have been given the memory: no traced value can be written into it from now on."""
        self._memory.lent = how

    @property
    def owner(self) -> np.ndarray:
        """The array whose memory this one looks into."""
        return self._memory.owner

    # reading and writing elements

    def __getitem__(self, index: Any) -> Any:
        index = unwrapped(index, traced=True)
        if _is_unknown(index):
            return self.whole[index]
        index = _guarded(index, arrays=False)
        if holds_traced(index):
            return Tracer(self._symgrad_node)[index]
        chosen = self.plain[index]
        if not isinstance(chosen, np.ndarray):
            number = self.numbers[index] if self._memory.numbers is not None else KNOWN
            return chosen if number == KNOWN else Tracer(self._elements().element(number))
        return self.taken(chosen, operator.itemgetter(index))

    def taken(self, chosen: np.ndarray, take: Callable[[np.ndarray], np.ndarray]) -> LocalArray:
        """What ``take`` has chosen of the plain array: a view, or a copy with the traced elements among them."""
        if locals_of(running()).knows(chosen) or not chosen.size or self._memory.numbers is None:
            return LocalArray.of(chosen)
        self._elements()
        return LocalArray.of_numbers(chosen, take(self.numbers))

    def __setitem__(self, index: Any, value: Any) -> None:
        if holds_traced(index):
            index = unwrapped(index, traced=True)
            is_choice = type(index) is Tracer and index.dtype.kind == "b" and not np.shape(value)
            if is_choice or _is_unknown(index):
                self._write(..., assignment.put(self._symgrad_node, index, as_node(value)))
            else:
                self[_guarded(index)] = value
        elif isinstance(value, (list, tuple)) and holds_traced(value):
            self[index] = LocalArray.of_node(self.stacked(value))
        elif type(value) is LocalArray and value.is_traced and value.dtype == self.dtype:
            value._elements()
            self._put(unwrapped(index), value.plain, value.numbers)
        elif holds_traced(value):
            self._write(unwrapped(index), as_node(value))
        else:
            index = unwrapped(index)
            self.plain[index] = unwrapped(value)
            self._memory.written()
            if self._memory.numbers is not None:
                self.numbers[index] = KNOWN

    def _write(self, index: Any, node: Node) -> None:
        if node.shape and not is_concrete(node.shape):
            refuse("an array of named dims cannot be written into one of a fixed size; build it with np.stack.")
        if self.dtype.kind in "biu" and node.dtype.kind == "f" and running().has_slope(node):
            refuse(
                f"an array of {self.dtype} would cut the traced value that is written into it, and its derivative "
                "would be lost. Make the array of floats: np.zeros(n), or dtype=float."
            )
        cast = f.cast(assignment.strong(node, self.dtype), self.dtype)
        self._put(index, np.zeros(node.shape, self.dtype), locals_of(running()).elements.numbers(cast))

    def _put(self, index: Any, data: np.ndarray, numbers: np.ndarray) -> None:
        self._elements()
        if self._memory.is_foreign:
            refuse(_FOREIGN)
        if self._memory.lent:
            refuse(
                f"a traced value is written into an array whose memory others have been given ({self._memory.lent}). "
                f"{CONTRACT}"
            )
        try:
            self.plain[index] = data
        except ValueError as error:
            raise ShapeError.here(str(error)) from error
        self._memory.written()
        self.numbers[index] = numbers
        while self._memory.holders:
            self.held(self._memory.holders.pop())

    def fill(self, value: Any) -> None:
        self[...] = value

    def sort(self, axis: int = -1, **kwargs: Any) -> None:
        self[...] = np.sort(self.now, axis)

    def partition(self, kth: Any, axis: int = -1, **kwargs: Any) -> None:
        self[...] = np.partition(self.now, kth, axis)

    def put(self, indices: Any, values: Any, mode: str = "raise") -> None:
        np.put(self, indices, values, mode)  # type: ignore[arg-type]

    def tolist(self) -> Any:
        """Its elements in lists."""
        return self[()] if not self.plain.ndim else [v.tolist() if hasattr(v, "tolist") else v for v in self]

    def item(self, *index: Any) -> Any:
        """One element."""
        if not self.is_traced:
            return self.plain.item(*index)
        x = self.reshape(-1)[index[0] if index else 0] if len(index) < 2 else self[index]
        return x.item() if type(x) is Tracer else x

    @property
    def flat(self) -> Any:
        return Flat(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        Flat(self)[:] = value

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def __reduce__(self) -> Any:
        return np.asarray(self).__reduce__()

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __hash__(self) -> int:
        raise ArgumentTypeError.here("unhashable type: 'numpy.ndarray'")

    def __bool__(self) -> bool:
        return bool(self.now)

    def __float__(self) -> float:
        return float(self.now)

    def __int__(self) -> int:
        return int(self.now)

    def __index__(self) -> int:
        return operator.index(self.now)


class Flat:
    """``array.flat``: its elements row after row, which are written into the array, however that lies in memory."""

    def __init__(self, array: LocalArray) -> None:
        self.base = array

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Iterator[Any]:
        return iter(self.copy())

    def __getitem__(self, index: Any) -> Any:
        return self.copy()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        places = np.arange(self.base.size)[unwrapped(index)]
        at = np.unravel_index(places, self.base.shape)
        if np.ndim(value) and np.ndim(places):
            value = repeated(unwrapped(value, traced=True), np.size(places))
        self.base[at] = value

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.copy().__array__(dtype)

    def copy(self) -> Any:
        return self.base.flatten()


def _guarded(index: Any, arrays: bool = True) -> Any:
    """An index with the values that its traced parts have, arrays among them or not."""
    if type(index) in (tuple, list):
        return type(index)([_guarded(v, arrays) for v in index])
    if type(index) is slice:
        return slice(*[operator.index(v) if type(v) is Tracer else v for v in (index.start, index.stop, index.step)])
    if type(index) is not Tracer or not (arrays or index.ndim == 0):
        return index
    return running().guard(index._symgrad_node) if index.dtype.kind == "b" else np.asarray(index)[()]


def _is_unknown(index: Any) -> bool:
    """Whether a traced number in an index differs between the steps of a loop, or the examples of a map."""
    parts = index if type(index) is tuple else (index,)
    numbers = [e for e in parts if type(e) is Tracer and not e.shape and e.dtype.kind != "b"]
    return not all(running().has_value(e._symgrad_node) for e in numbers)


def holds_traced(value: Any) -> bool:
    """Whether a value, or one in its lists, tuples and dicts, is traced."""
    kind = type(value)
    if kind is Tracer:
        return True
    if kind is LocalArray:
        return value.is_traced
    if kind in (list, tuple) or isinstance(value, (list, tuple)):
        return any(map(holds_traced, value))
    if kind is dict:
        return any(map(holds_traced, value.values()))
    if kind is slice:
        return any(type(v) is Tracer for v in (value.start, value.stop, value.step))
    if kind is np.poly1d:
        return holds_traced(vars(value).get("coeffs"))
    return issubclass(kind, np.ndarray) and hasattr(kind, "_symgrad_node")  # a weight


def looking_into(array: Any) -> Any:
    """The traced array in which what is written into ``array`` later is seen."""
    return array.whole if type(array) is LocalArray else array


def value_in_run(value: Any) -> Any:
    """What a value that may be traced is in this run, guarded; None where nobody knows, as under vmap."""
    plain = unwrapped(value, traced=True)
    if type(plain) is not Tracer:
        return plain
    trace, node = running(), plain._symgrad_node
    return trace.guard(node) if trace.has_value(node) else None


def unwrapped(value: Any, traced: bool = False) -> Any:
    """``value`` with plain arrays in place of local ones that hold no traced value; with traced ones for the others."""
    kind = type(value)
    if kind is LocalArray:
        return value.now if traced or not value.is_traced else value
    if kind is list or kind is tuple:
        made = [unwrapped(v, traced) for v in value]
        return value if all(map(operator.is_, made, value)) else kind(made)  # into which a library may write
    if kind is dict:
        return {k: unwrapped(v, traced) for k, v in value.items()}
    return value
