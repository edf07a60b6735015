"""Methods of NumPy's ufuncs on traced values: reduce, accumulate, reduceat and outer of any operation of two."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError, UnsupportedOperation
from .dispatch import FUNCTIONS, REDUCTIONS, UFUNC_METHODS, answers
from .log_sums import BASES, log_sum
from .plain_arrays import plain_array
from .reductions import normalized_axis, reduced_axes
from .sizes import concrete
from .trace import as_node, is_traced
from .tracer import Tracer, traced

#: what leaves out NaN -> the reduction that does so with what it gives for NaN
_BESIDE_NAN = {"fmax": (np.max, -np.inf), "fmin": (np.min, np.inf)}


#: what repeats a step for each row of an array; loops stand above of what traces, and put theirs here
SCAN: list[Callable[..., tuple[Any, Any]]] = []
#: rows from which they are a loop at once; of fewer a loop is found where it pays
_MANY = 64


def _rows(ufunc: np.ufunc, array: Any, axis: Any, dtype: Any) -> tuple[Any, int, int]:
    """An array with an axis in front, in the dtype of the results; which one that was, and how many rows there are."""
    x = traced(array)
    k = normalized_axis(axis, x.ndim)
    (n,) = concrete((x._symgrad_node.shape[k],), f"np.{ufunc.__name__} along an axis")
    kind: Any = np.dtype(dtype) if dtype is not None else ufunc.resolve_dtypes((x.dtype, x.dtype, None))[-1]
    x = x if kind.kind == "b" else x.astype(kind)
    return np.moveaxis(x, k, 0), k, n  # type: ignore[arg-type]


def _folded(ufunc: np.ufunc, first: Any, rows: Any) -> tuple[Any, Any]:
    """The result of all rows, one after the other, and those on the way."""
    return SCAN[0](lambda y, row: (ufunc(y, row),) * 2, first, rows)


def _reduce(ufunc, array, axis=0, dtype=None, keepdims=False, initial=None, where=True):
    function = REDUCTIONS.get((ufunc.__name__, "reduce"))
    if function is not None:
        if dtype is not None and "dtype" not in inspect.signature(function).parameters:
            array, dtype = traced(array).astype(dtype), None
        given = {"dtype": dtype, "initial": initial}
        given = {k: v for k, v in given.items() if v is not None}
        return FUNCTIONS[function](array, axis=axis, keepdims=keepdims, where=where, **given)
    x = traced(array)
    axes = reduced_axes(axis, x.ndim)
    if ufunc.__name__ in _BESIDE_NAN and initial is None and where is True and x.size:
        extremum, beyond = _BESIDE_NAN[ufunc.__name__]
        if x.dtype.kind not in "fc":
            return extremum(x, axis=axis, keepdims=keepdims)
        missing = np.isnan(x)
        made = extremum(np.where(missing, beyond, x).astype(x.dtype), axis=axis, keepdims=keepdims)
        return np.where(np.all(missing, axis=axis, keepdims=keepdims), np.nan, made).astype(x.dtype)
    if ufunc.__name__ in BASES and x.size:
        kept = x.astype(dtype or ufunc.resolve_dtypes((x.dtype, x.dtype, None))[-1])
        made, _ = log_sum(kept if where is True else np.where(where, kept, -np.inf), axes, base=ufunc.__name__)
        made = made if initial is None else ufunc(made, initial)
        return made if keepdims else np.squeeze(made, axes)
    if where is not True:
        raise UnsupportedOperation.here(f"np.{ufunc.__name__}.reduce with where= has no rule in symgrad.")
    if ufunc.identity is None and len(axes) > 1 and ufunc not in (np.maximum, np.minimum, np.fmax, np.fmin):
        raise ArgumentError.here(f"np.{ufunc.__name__}.reduce takes one axis: it matters in which order")
    for k in reversed(axes):
        rows, _, n = _rows(ufunc, x, k, dtype)
        if not n and initial is None and ufunc.identity is None:
            raise ShapeError.here(f"np.{ufunc.__name__}.reduce over no elements has no value")
        begins = [initial] if initial is not None and k == min(axes) else []
        if n >= _MANY and not begins:
            made, _ = _folded(ufunc, rows[0], rows[1:])
        else:
            given = [*begins, *[rows[i] for i in range(n)]]
            made = functools.reduce(ufunc, given) if given else np.full_like(np.sum(x, k), ufunc.identity)
        x = np.expand_dims(made, k) if keepdims else traced(made)
    return x


def _accumulate(ufunc, array, axis=0, dtype=None):
    function = REDUCTIONS.get((ufunc.__name__, "accumulate"))
    if function is not None:
        return FUNCTIONS[function](array, axis, dtype)
    rows, k, n = _rows(ufunc, array, axis, dtype)
    if n >= _MANY:
        _, others = _folded(ufunc, rows[0], rows[1:])
        return np.moveaxis(np.concatenate([rows[:1], others]), 0, k)
    made = itertools.accumulate([rows[i] for i in range(n)], ufunc)
    return np.stack(list(made), k) if n else traced(array)


def _reduceat(ufunc, array, indices, axis=0, dtype=None):
    x = traced(array)
    k = normalized_axis(axis, x.ndim)
    (n,) = concrete((x._symgrad_node.shape[k],), f"np.{ufunc.__name__}.reduceat")
    starts = np.asarray(indices).astype(np.intp, casting="same_kind").tolist()
    ends = [*starts[1:], n]
    lead = (slice(None),) * k
    parts = [x[(*lead, slice(i, max(j, i + 1)))] for i, j in zip(starts, ends, strict=True)]
    return np.stack([ufunc.reduce(part, axis=k, dtype=dtype) for part in parts], k)


def _outer(ufunc, left, right, **kwargs):
    x, y = (v if type(v) is Tracer else Tracer(as_node(plain_array(v, "an operand"))) for v in (left, right))
    return ufunc(x.reshape(x.shape + (1,) * y.ndim), y, **kwargs)


def _of_values(ufunc: np.ufunc) -> Callable:
    """An operation on bits, which is computed with the values that whole numbers have, guarded."""
    return lambda *operands: ufunc(*[np.asarray(v)[()] if is_traced(v) else v for v in operands])


for _ufunc in (np.left_shift, np.right_shift):
    answers(_ufunc)(_of_values(_ufunc))
UFUNC_METHODS |= {"reduce": _reduce, "accumulate": _accumulate, "reduceat": _reduceat, "outer": _outer}
