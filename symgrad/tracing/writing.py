"""NumPy's functions that write into an argument, for arrays that a traced function makes: np.put, np.add.at and kin."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..primitives import functions as f
from ..primitives.index_arrays import from_start
from ..primitives.selection import Gathered
from ..primitives.shaping import reshape
from ..program.node import Node
from .array_methods import repeated
from .dispatch import answers, refuse
from .drawing import draw_of
from .local_array import LocalArray, unwrapped
from .making import array_of
from .sizes import shown_shape
from .trace import array_node, running
from .tracer import Tracer


def target(array: Any) -> Any:
    """``array`` where it may be written to; an error where it is of the function's caller."""
    if type(array) not in (LocalArray, Tracer):
        refuse(
            "a traced value is written into an array from outside of the function, which would change it for the "
            "caller. Write into a copy() of it."
        )
    return array


@answers(np.copyto)
def _copyto(dst, src, casting="same_kind", where=True):
    if where is True:
        target(dst)[...] = src
    else:
        target(dst)[...] = np.where(where, src, dst)


@answers(np.put)
def _put(a, ind, v, mode="raise"):
    where = np.asarray(ind).ravel()
    size = int(np.prod(a.shape))
    where = where % size if mode == "wrap" else np.clip(where, 0, size - 1) if mode == "clip" else where
    where = np.where(where < 0, where + size, where)
    target(a)[np.unravel_index(where, a.shape)] = _repeated(v, where.size)


def _repeated(values: Any, count: int) -> Any:
    return repeated(array_of(values) if isinstance(values, (list, tuple)) else values, count)


@answers(np.putmask)
def _putmask(a, mask, values):
    target(a)[...] = np.where(mask, np.reshape(_repeated(values, int(np.prod(a.shape))), a.shape), a)


@answers(np.place)
def _place(arr, mask, vals):
    mask = np.asarray(mask, bool)
    target(arr)[mask] = _repeated(vals, int(mask.sum()))


@answers(np.fill_diagonal)
def _fill_diagonal(a, val, wrap=False):
    numbers = np.zeros(a.shape, bool)
    np.fill_diagonal(numbers, True, wrap)
    target(a)[numbers] = _repeated(val, int(numbers.sum()))


@answers(np.put_along_axis)
def _put_along_axis(arr, indices, values, axis):
    indices = np.asarray(indices)
    index = [np.arange(d).reshape((-1,) + (1,) * (arr.ndim - k - 1)) for k, d in enumerate(arr.shape)]
    index[axis] = indices
    target(arr)[tuple(index)] = values


@answers(np.bincount)
def _bincount(x, weights=None, minlength=0):
    if type(x) is Tracer and not running().has_value(x._symgrad_node) and minlength:
        made = LocalArray.of(np.zeros(minlength))  # a place beyond it is refused when it runs
        _at(np.add, made, x, 1.0 if weights is None else weights)
        return made if weights is not None else made.astype(np.intp)
    places = np.asarray(x)
    if weights is None:
        return LocalArray.of(np.bincount(places, minlength=minlength))
    made = LocalArray.of(np.zeros(max(minlength, int(places.max(initial=-1)) + 1)))
    _at(np.add, made, places, weights)
    return made


def method_of(function: Any) -> Callable | None:
    """What ``np.add.at`` and its kin do, and the methods of random generators; None for another function."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return functools.partial(_at, owner) if function.__name__ == "at" else None
    if not type(owner).__module__.startswith("numpy.random"):
        return None
    return functools.partial(_shuffle, function) if function.__name__ == "shuffle" else draw_of(function)


def _shuffle(shuffle: Callable, x: Any, axis: int = 0) -> None:
    """The shuffle of a generator: of the places along an axis, which takes the same draws."""
    order = np.arange(len(x) if isinstance(x, list) else x.shape[axis])
    shuffle(order)
    if isinstance(x, list):
        x[:] = [x[k] for k in order]
    else:
        target(x)[...] = np.take(x, order, axis)


def _scattered(index: Node, added: Any, array: Any) -> Tracer:
    """Zeros like ``array`` with rows added where an index says that nobody knows while the function is traced."""
    (rows, *rest) = array_node(array).shape
    node = f.cast(array_node(np.broadcast_to(added, (*shown_shape(index.shape), *rest))), array.dtype)
    places = from_start(f.cast(index, np.dtype(np.intp)), rows)
    return Tracer(Gathered(places, 0).put(node, (rows, *rest), 0))


def _at(ufunc: np.ufunc, array: Any, index: Any, *values: Any) -> None:
    """``ufunc.at(array, index, values)``: elements that are named twice are changed twice."""
    array, index = target(array), unwrapped(index)
    if ufunc in (np.add, np.subtract):
        added = values[0] if ufunc is np.add else np.negative(values[0])
        if type(index) is Tracer and not running().has_value(index._symgrad_node):
            array[...] = array + _scattered(index._symgrad_node, added, array)
            return
        places = np.arange(int(np.prod(array.shape))).reshape(array.shape)[index]
        node = f.cast(array_node(np.broadcast_to(added, places.shape)), array.dtype)
        flat = reshape(node, (places.size,))
        sums = Gathered(running().constant(places.ravel()), 0).put(flat, (int(np.prod(array.shape)),), 0)
        array[...] = array + Tracer(reshape(sums, tuple(array.shape)))
        return
    places = np.arange(int(np.prod(array.shape))).reshape(array.shape)[index]
    given = [np.broadcast_to(v, places.shape).reshape(-1) for v in values]
    for k, place in enumerate(np.ravel(places).tolist()):
        at = tuple(map(int, np.unravel_index(place, array.shape)))
        array[at] = ufunc(array[at], *[v[k] for v in given])
