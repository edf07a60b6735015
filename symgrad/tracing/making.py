"""Arrays that a traced function makes of traced values: np.array and its kin, and arrays that are filled with one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..primitives import functions as f
from ..program.dims import is_concrete, normal
from ..program.node import Node
from .dispatch import FUNCTIONS, answers, refuse
from .elements import KNOWN
from .layout import is_line, lies_by_rows
from .local_array import LocalArray, holds_traced
from .memory import locals_of
from .python_numbers import held_as
from .sizes import Size, counted, holds_size, is_whole, whole
from .trace import SIZES_FIX, array_node, running
from .tracer import Tracer, view
from .views import ReadOnly


def stacked(value: Any) -> Node:
    """The node of nested lists of numbers and arrays, in the dtype that NumPy finds for them."""
    return array_of(value)._symgrad_node


LocalArray.stacked = staticmethod(stacked)


def array_of(value: Any, dtype: Any = None, order: Any = None) -> Any:
    """A new array of what ``np.array`` takes; traced in one piece where its size is not known."""
    value = value.coeffs if isinstance(value, np.poly1d) else value
    if type(value) is LocalArray and dtype in (None, value.dtype):
        lay: Callable[[np.ndarray], np.ndarray] = functools.partial(np.array, order=order or "K")
        return _lying_as(value.taken(lay(value.plain), lay), value, order)
    if not isinstance(value, (list, tuple)):
        node = array_node(value)
        node = f.cast(node, node.dtype) if dtype is None else Tracer(node).astype(dtype)._symgrad_node
        return of_node(node, order) if is_concrete(node.shape) else Tracer(node)
    order = "F" if order == "F" else "C"
    leaves: list[tuple[tuple[int, ...], Any]] = []
    shape = _collect(value, (), leaves)
    if not is_concrete(shape):
        return _stack(value)
    found = np.result_type(*[_dtype(v) for _, v in leaves]) if leaves else np.dtype(float)
    if dtype is not None and np.dtype(dtype).kind not in "fb" and found.kind == "f":
        leaves = [(at, _cut(v, dtype)) for at, v in leaves]
    made = LocalArray.of(np.zeros(shape, found if dtype is None else dtype, order))
    for at, leaf in leaves:
        made[at] = leaf
    return made


def of_node(node: Node, order: Any) -> LocalArray:
    """A new array of a traced value, in this order, or that in which the value lies, which may be unknown."""
    made = LocalArray.of_node(node, "F" if order == "F" else "C")
    made._memory.lies_alike = order in ("C", "F") or lies_by_rows(node)
    return made


def _lying_as(made: LocalArray, value: Any, order: Any) -> LocalArray:
    """A new array, noted to lie as a value where it is in no order of its own."""
    if order not in ("C", "F") and type(value) in (LocalArray, Tracer):
        is_local = type(value) is LocalArray
        made._memory.lies_alike = value._memory.lies_alike if is_local else lies_by_rows(value._symgrad_node)
    return made


def _cut(value: Any, dtype: Any) -> Any:
    return value.astype(dtype) if hasattr(value, "astype") else np.dtype(dtype).type(value)


def _stack(value: Any) -> Any:
    return np.stack([_stack(v) if isinstance(v, (list, tuple)) else v for v in value])


def _collect(value: Any, at: tuple[int, ...], leaves: list) -> tuple:
    """Put the leaves of nested lists on the list, each with its place; the shape of the array that they make."""
    if not isinstance(value, (list, tuple)):
        leaves.append((at, value))
        return tuple(np.shape(value))
    shapes = [_collect(v, (*at, k), leaves) for k, v in enumerate(value)]
    for k, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ArgumentError.here(
                f"lists of different lengths make no array: its parts 0 and {k} have the shapes {shapes[0]} and "
                f"{shape}. Make them of one shape."
            )
    return (len(value), *(shapes[0] if shapes else ()))


def _dtype(value: Any) -> np.dtype:
    return value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype


@answers(np.array)
def _array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, like=None, ndmax=0):
    if dtype is not None and np.dtype(dtype).kind == "O":
        return _objects(object)
    made = array_of(object, dtype, order) if copy is True else _asarray(object, dtype, order, copy=copy)
    return made if made.ndim >= ndmin else made.reshape((1,) * (ndmin - made.ndim) + tuple(made.shape))


def _is_array(value: Any, dtype: Any) -> bool:
    return type(value) in (Tracer, LocalArray) and not value._symgrad_node.weak and dtype in (None, value.dtype)


def _objects(value: Any) -> np.ndarray:
    leaves: list[tuple[tuple[int, ...], Any]] = []
    made = np.empty(_collect(value, (), leaves), object)
    for at, leaf in leaves:
        made[at] = leaf
    return made


@answers(np.asarray, np.asanyarray, np.asarray_chkfinite)
def _asarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    if copy is True or not (_is_array(a, dtype) and isinstance(a, np.ndarray)):
        return array_of(a, dtype, order)
    return a if order in (None, "K") else _lying(a, order)


def _lying(array: Any, order: Any) -> Any:
    """The array itself where it lies in this order, else a copy."""
    if type(array) is LocalArray:
        lay: Callable[[np.ndarray], np.ndarray] = functools.partial(np.asarray, order=order)
        there = lay(array.plain)
        if array._memory.lies_alike:
            return array if there is array.plain else array.taken(there, lay)
        array = array.whole
    if order == "F" and not is_line(array._symgrad_node) and array.contiguity()():
        return of_node(array._symgrad_node, order)
    return view(array, lambda node: node, array.contiguity())


@answers(np.ascontiguousarray)
def _ascontiguousarray(a, dtype=None, *, like=None):
    return np.atleast_1d(_asarray(a, dtype, "C"))


@answers(np.asfortranarray)
def _asfortranarray(a, dtype=None, *, like=None):
    return _asarray(a, dtype, "F")


@answers(np.nonzero)
def _nonzero(a):
    node = array_node(a)
    return tuple(map(LocalArray.of, np.nonzero(running().guard(f.not_equal(node, 0)))))


@answers(np.flatnonzero)
def _flatnonzero(a):
    return _nonzero(np.ravel(a))[0]


@answers(np.argwhere)
def _argwhere(a):
    return LocalArray.of(np.stack([i.plain for i in _nonzero(a)], -1))


@answers(np.where)
def _where(condition, *branches):
    return held_as(np.where, FUNCTIONS[np.where](condition, *branches)) if branches else _nonzero(condition)


@answers(np.fromiter)
def _fromiter(iter, dtype, count=-1, *, like=None):
    values = list(iter)
    return array_of(values if count < 0 else values[:count], dtype)


@answers(np.full)
def _full(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    if holds_size(shape):
        return FUNCTIONS[np.full_like](fill_value, fill_value, dtype, shape=shape)
    made = LocalArray.of(np.zeros(shape, _dtype(fill_value) if dtype is None else dtype))
    made[...] = fill_value
    return made


def _of_shape_of(function: Callable) -> Callable:
    def rule(a, *args, **kwargs):
        if (function is np.full_like and holds_traced((args, kwargs))) or not is_concrete(np.shape(a)):
            return FUNCTIONS[function](a, *args, **kwargs)
        like = a.plain if type(a) is LocalArray else np.zeros(np.shape(a), _dtype(a))
        return _lying_as(LocalArray.of(function(like, *args, **kwargs)), a, kwargs.get("order"))

    return rule


for _function in (np.zeros_like, np.empty_like, np.ones_like, np.full_like):
    answers(_function)(_of_shape_of(_function))


@answers(np.linspace)
def _linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    if type(num) is Size:
        return _named_linspace(start, stop, num, endpoint, retstep, dtype)
    steps = num - 1 if endpoint else num
    kind = np.result_type(*[v if isinstance(v, (int, float)) else _dtype(v) for v in (start, stop)], 1.0)
    first, last = (array_of(v, kind)[()] for v in (start, stop))
    step = (last - first) / steps if steps > 0 else np.nan
    counted = np.arange(num, dtype=kind).reshape((-1,) + (1,) * max(np.ndim(first), np.ndim(last)))
    made = counted * step + first if steps > 0 else counted * (last - first) + first
    made = array_of(made)
    if endpoint and num > 1:
        made[-1] = last
    made = _in_dtype(np.moveaxis(made, 0, axis) if axis else made, dtype)
    return (made, step) if retstep else made


def _in_dtype(made: Any, dtype: Any) -> Any:
    """Steps in the dtype that was asked for; NumPy rounds them down to whole numbers."""
    if dtype is None:
        return made
    return (np.floor(made) if np.dtype(dtype).kind in "iu" else made).astype(dtype)


def _named_linspace(start, stop, num, endpoint, retstep, dtype):
    step = (stop - start) / (num - 1 if endpoint else num)
    made = _in_dtype(start + counted(num.dim) * step, dtype)
    return (made, step) if retstep else made


@answers(np.arange)
def _arange(start=0, stop=None, step=1, dtype=None, *, device=None, like=None):
    first, end = (0, start) if stop is None else (start, stop)
    if holds_size((first, end)):
        if not (is_whole(first) and is_whole(end) and step == 1):
            raise ShapeError.here(
                f"np.arange of a named size counts whole numbers by 1: scale what it gives. {SIZES_FIX}"
            )
        made = first + counted(whole(end - first))
        return made if dtype is None else made.astype(dtype)
    kind = np.result_type(int, *[_dtype(v) for v in (first, end, step)])
    count = np.ceil((end - first) / step)
    size = max(int(running().guard(count._symgrad_node) if isinstance(count, Tracer) else count), 0)
    after = first + step
    if dtype is not None and np.dtype(dtype).kind in "iu":
        first, after = np.trunc(first), np.trunc(after)
    made = first + np.arange(size) * (after - first)  # as NumPy steps
    return array_of(made, kind if dtype is None else dtype)


@answers(np.digitize._implementation.__globals__["_monotonicity"])
def _monotonicity(x):
    """1 where what is in the array ascends, -1 where it descends, else 0; guarded."""
    steps = np.diff(x)
    return 1 if np.all(steps >= 0) else -int(bool(np.all(steps <= 0)))


@answers(np.unique)
def _unique(
    ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True
):
    """The places of the first of equal elements are constants, for arrays that are ordered alike."""
    x, trace = array_of(ar), running()
    flat: Any = np.ravel(x)
    order = trace.guard(array_node(np.argsort(flat)))
    for alike in (flat[order][1:] == flat[order][:-1], np.isnan(flat)):
        trace.guard(array_node(alike))
    value = trace.value_of(x._symgrad_node)
    _, first, *rest = np.unique(value, True, return_inverse, return_counts, axis, equal_nan=equal_nan)
    made = np.take(flat if axis is None else x, first, 0 if axis is None else axis)
    made = (made, *([LocalArray.of(first)] if return_index else []), *map(LocalArray.of, rest))
    return made if len(made) > 1 else made[0]


@answers(np.ndenumerate)
def _ndenumerate(arr):
    return iter([(at, arr[at]) for at in np.ndindex(*arr.shape)])


@answers(np.lib.stride_tricks.as_strided)
def _as_strided(x, shape=None, strides=None, subok=False, writeable=True) -> NoReturn:
    refuse(
        "np.lib.stride_tricks.as_strided reads memory by addresses, and traced values have none. Write "
        "np.lib.stride_tricks.sliding_window_view(x, n), or an index: x[np.arange(m)[:, None] + np.arange(n)]."
    )


def _filled_with(value: int) -> Callable:
    def rule(shape, dtype=float, order="C", *, device=None, like=None):
        return FUNCTIONS[np.full_like](0, value, float if dtype is None else dtype, shape=shape)

    return rule


def _eye(N, M=None, k=0, dtype=float, order="C", *, device=None, like=None):
    if k or (M is not None and normal(whole(M) - whole(N))):
        raise ShapeError.here(f"np.eye of a named size is square, with its ones on the main diagonal. {SIZES_FIX}")
    return np.diag(FUNCTIONS[np.ones_like](0, dtype, shape=N))


#: what functions give of the sizes of named dims
OF_SIZES: dict[Callable, Callable] = {
    np.arange: _arange,
    np.empty: _filled_with(0),
    np.eye: _eye,
    np.full: _full,
    np.identity: _eye,
    np.linspace: _linspace,
    np.ones: _filled_with(1),
    np.take: lambda sizes, indices: [sizes[k] for k in indices],
    np.zeros: _filled_with(0),
    float: lambda size, /: 1.0 * size,
    int: lambda size, /: size,
}


class Joined:
    """``np.r_`` and ``np.c_``, which join the parts of their index."""

    def __init__(self, value: Any, plain: Callable[[Any], Any]) -> None:
        """``plain`` gives arrays in place of what has labels."""
        self._value = value
        self._plain = plain

    def __getitem__(self, index: Any) -> Any:
        index = self._plain(index)
        if not holds_traced(index):
            made = self._value[index]
            return LocalArray.of(made) if type(made) is np.ndarray else made
        parts = index if isinstance(index, tuple) else (index,)
        if isinstance(parts[0], str):
            raise ArgumentError.here("np.r_['…'] of traced values is not supported; use np.concatenate.")
        parts = tuple(self._value[p] if isinstance(p, slice) else p for p in parts)
        if self._value is np.r_:
            return FUNCTIONS[np.concatenate]([a if a.ndim else a.reshape(1) for a in map(array_of, parts)])
        return FUNCTIONS[np.concatenate]([_column(array_of(p)) for p in parts], axis=-1)


def _column(part: Any) -> Any:
    return part.reshape(-1, 1) if part.ndim < 2 else part


def _moved(function: Callable, *places: int | str) -> Callable:
    """What a function gives that does nothing but moving elements of the arguments at ``places``, and putting zeros."""

    def rule(*args: Any, **kwargs: Any) -> Any:
        elements = locals_of(running()).elements
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        arrays = {k: array_of(given[k]) for k in places if k in given}
        if not all(is_concrete(a.shape) for a in arrays.values()):
            refuse(f"np.{function.__name__} of an array of named sizes has no rule; build it with np.concatenate.")
        dtype = np.result_type(*[a.dtype for a in list(arrays.values())[: 1 if function is np.insert else None]])
        given |= {k: elements.numbers(_fitted(a, dtype)) + 1 for k, a in arrays.items()}
        made = function(*[given[k] for k in range(len(args))], **{k: given[k] for k in kwargs})
        return _elements(made, dtype)

    return rule


def _fitted(array: Any, dtype: np.dtype) -> Node:
    if array.dtype.kind == "f" and dtype.kind != "f" and running().has_slope(array._symgrad_node):
        refuse(f"an array of {dtype} would cut the traced values that are put into it; make it of floats.")
    return f.cast(array._symgrad_node, dtype)


_WINDOWS = "windows of NumPy's sliding_window_view are read-only. Write into the array, or into a copy()."


@answers(np.lib.stride_tricks.sliding_window_view)
def _windows(x, *args, **kwargs):
    def look(array: np.ndarray) -> np.ndarray:
        return np.lib.stride_tricks.sliding_window_view(array, *args, **kwargs)

    if type(x) is LocalArray:
        return x.taken(look(x.plain), look)
    array = x if type(x) is Tracer else Tracer(array_of(x)._symgrad_node)
    if not is_concrete(array.shape):
        refuse("numpy.lib.stride_tricks.sliding_window_view of an array of named sizes has no rule; index it.")
    places = look(np.arange(array.size).reshape(array.shape))
    return Tracer(array.reshape(-1)[places]._symgrad_node, array, ReadOnly(_WINDOWS), certain=False)


def _elements(numbers: Any, dtype: np.dtype) -> Any:
    if isinstance(numbers, (tuple, list)):
        return type(numbers)([_elements(n, dtype) for n in numbers])
    return LocalArray.of_numbers(np.zeros(numbers.shape, dtype), numbers - 1)


assert KNOWN == -1  # what is no element, and was put as 0
for _function, _places in {
    np.append: (0, 1, "arr", "values"),
    np.insert: (0, 2, "arr", "values"),
    np.delete: (0, "arr"),
    np.resize: (0, "a"),
    np.diagflat: (0, "v"),
}.items():
    answers(_function)(_moved(_function, *_places))
