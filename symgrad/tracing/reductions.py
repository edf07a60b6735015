"""NumPy's reductions on traced values: sums, means, extrema, products, searches."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError, AxisError, ShapeError, UnsupportedArguments
from ..primitives import functions as f
from ..primitives.contraction import contract, expand, ones
from ..primitives.primitive import Primitive, dim_value
from ..primitives.reduction import ARGMAX, ARGMIN, ARGSORT, CUMPROD, MAX, MIN, PROD, cumulative_sum
from ..primitives.shaping import reshape
from ..program.dims import broadcast, is_concrete, size
from ..program.node import Node, emit
from .declare import Case, implements
from .indexing import unsqueeze
from .sizes import concrete
from .trace import array_node, as_node, is_traced, running
from .tracer import Tracer

_AXES = [
    Case((3, 4)),
    Case((3, 4), axis=0),
    Case((3, 4), axis=-1, keepdims=True),
    Case((2, 3, 4), axis=(0, 2)),
    Case(()),
    Case((5,), axis=0),
]
_SUMS = [*_AXES, Case((0,)), Case((2, 0), axis=1)]
_MASK = np.array([[True, False, True, True], [False, True, True, False], [True, True, False, True]])
# along other axes NumPy adds up in another order where some do not count: as tested, up to the last digits
_SOME = [Case((3, 4), axis=0, where=_MASK)]
_SOME_INITIAL = [Case((3, 4), axis=0, where=_MASK, initial=0.25)]


def normalized_axes(axis: Any, rank: int) -> tuple[int, ...]:
    """Axes as a sorted tuple of non-negative ints; all of them for None."""
    if axis is None:
        return tuple(range(rank))
    given = axis if isinstance(axis, (tuple, list, range)) else (axis,)
    axes = tuple(sorted(normalized_axis(a, rank) for a in given))
    if len(set(axes)) < len(axes):
        raise ShapeError.here(f"axis {axis} names an axis twice")
    return axes


def normalized_axis(axis: Any, rank: int) -> int:
    """One axis as a non-negative int."""
    try:
        k = operator.index(axis)
    except TypeError as error:
        raise ArgumentTypeError.here(f"an axis is a whole number, not {axis!r}") from error
    if not -rank <= k < rank:
        raise AxisError(k, rank)
    return k % rank


def reduced_axes(axis: Any, rank: int) -> tuple[int, ...]:
    """The axes that a ufunc reduces: a number has none, and NumPy lets its axis be called 0 or -1."""
    bare = not rank and isinstance(axis, (int, np.integer)) and axis in (0, -1)
    return () if bare else normalized_axes(axis, rank)


def _keep(result: Node, shape: tuple, axes: tuple[int, ...], keepdims: bool) -> Node:
    if not keepdims:
        return result
    return unsqueeze(result, tuple(1 if k in axes else d for k, d in enumerate(shape)))


def sum_node(x: Node, axes: tuple[int, ...]) -> Node:
    """``np.sum`` over ``axes``, as NumPy sums."""
    x = _widened(x)
    labels = tuple(range(x.ndim))
    kept = tuple(k for k in labels if k not in axes)
    return contract([x], [labels], kept, x.shape, "sum")


def _widened(x: Node) -> Node:
    """Whole numbers and truth values as NumPy adds and multiplies them up."""
    return f.cast(x, np.sum(np.zeros((1,), x.dtype)).dtype) if x.dtype.kind in "biu" else x


def _returned(x: Node, dtype: Any) -> Tracer:
    """A result in the dtype that was asked for: what was added up in more digits has the same last ones."""
    return Tracer(x) if dtype is None else Tracer(x).astype(dtype)


def _typed(a: Any, dtype: Any) -> Node:
    x = as_node(a)
    return x if dtype is None else Tracer(x).astype(dtype)._symgrad_node


def counted_in(x: Node, where: Any, neutral: Any) -> Node:
    """``x`` with ``neutral``, which changes nothing, in place of what does not count: nothing where it is True."""
    if isinstance(where, (bool, np.bool_)) and where:
        return x
    mask = f.condition(as_node(where) if is_traced(where) else running().constant(np.asarray(where, bool)))
    shape = broadcast(mask.shape, x.shape)
    if shape != x.shape:
        raise ShapeError.here(f"where= of shape {mask.shape} does not fit an array of shape {x.shape}")
    return f.where(mask, x, running().constant(np.asarray(neutral, x.dtype)))


def _with_initial(combine: Any, initial: Any, result: Node) -> Node:
    """What an initial value makes of a reduction: it stands before the first element."""
    if initial is None or initial is np._NoValue:
        return result
    if np.ndim(initial):
        raise ShapeError.here("initial= is one number, not an array")
    is_float = type(initial) is float and result.dtype.kind == "f"
    return combine(result, as_node(initial) if is_float else f.cast(array_node(initial), result.dtype))


@implements(np.sum, cases=[*_SUMS, *_SOME])
def _sum(a, axis=None, dtype=None, keepdims=False, initial=None, where=True):
    x = counted_in(_typed(a, dtype), where, 0)
    axes = reduced_axes(axis, x.ndim)
    result = _keep(sum_node(x, axes), x.shape, axes, keepdims)
    return _returned(_with_initial(f.add, initial, result), dtype)


def count_of(x: Node, axes: tuple[int, ...], where: Any = True, keepdims: bool = False) -> Node:
    """How many elements are reduced over ``axes``."""
    if isinstance(where, (bool, np.bool_)) and where:
        return dim_value(size(tuple(x.shape[k] for k in axes)))
    each = running().constant(np.ones(x.shape, np.intp)) if is_concrete(x.shape) else ones(x.shape)
    counted = counted_in(f.cast(each, np.dtype(np.intp)), where, 0)
    return _keep(sum_node(counted, axes), x.shape, axes, keepdims)


@implements(np.mean, cases=[*_AXES, *_SOME])
def _mean(a, axis=None, dtype=None, keepdims=False, where=True):
    x = counted_in(_typed(a, dtype), where, 0)
    if not x.differentiable:
        x = f.cast(x, np.dtype(np.float64))
    half = x.dtype == np.float16 and dtype is None  # NumPy sums half precision in single
    summed = f.cast(x, np.dtype(np.float32)) if half else x
    axes = normalized_axes(axis, x.ndim)
    count = count_of(x, axes, where, keepdims)
    made = f.cast(quotient(_keep(sum_node(summed, axes), x.shape, axes, keepdims), count), x.dtype)
    return _returned(made, dtype)


def _squared(x: Node) -> Node:
    """``x²``, of complex numbers the square of the absolute value, as NumPy computes variances."""
    first, *second = [f.multiply(part, part) for part in ([f.real(x), f.imag(x)] if x.is_complex else [x])]
    return f.add(first, *second) if second else first


def quotient(total: Node, count: Node) -> Node:
    """``total / count`` in the dtype of ``total``; NumPy divides complex numbers in double precision."""
    wide = f.cast(total, np.dtype(np.complex128)) if total.is_complex else total
    return f.cast(f.divide(wide, count), total.dtype)


def _variance(a, axis, dtype, ddof, keepdims, where, mean, correction) -> Node:
    if correction is not None:
        if ddof:
            raise ArgumentError.here("ddof and correction are one thing: give one of them")
        ddof = correction
    if dtype is not None and np.dtype(dtype).kind not in "fc":
        raise UnsupportedArguments.here(f"a variance in whole numbers, of dtype={np.dtype(dtype)}, has no rule.")
    x = _typed(a, dtype)
    if not x.differentiable:
        x = f.cast(x, np.dtype(np.float64))
    axes = normalized_axes(axis, x.ndim)
    if mean is None:
        total = _keep(sum_node(counted_in(x, where, 0), axes), x.shape, axes, True)
        middle = quotient(total, count_of(x, axes, where, True))
    else:
        middle = as_node(mean)
    squares = f.cast(_squared(f.subtract(as_node(a), middle)), f.real(x).dtype)  # NumPy subtracts before it casts
    total = _keep(sum_node(counted_in(squares, where, 0), axes), x.shape, axes, keepdims)
    count = count_of(x, axes, where, keepdims)
    return f.cast(f.divide(total, f.maximum(f.subtract(count, as_node(ddof)), 0) if ddof else count), total.dtype)


_SPREAD = [*_AXES[:4], *_SOME, Case((3, 4), axis=1, ddof=1), Case((3, 4), axis=1, correction=1)]


@implements(np.var, cases=_SPREAD)
def _var(a, axis=None, dtype=None, ddof=0, keepdims=False, where=True, mean=None, correction=None):
    return Tracer(_variance(a, axis, dtype, ddof, keepdims, where, mean, correction))


@implements(np.std, cases=_SPREAD)
def _std(a, axis=None, dtype=None, ddof=0, keepdims=False, where=True, mean=None, correction=None):
    return Tracer(f.norm_sqrt(_variance(a, axis, dtype, ddof, keepdims, where, mean, correction)))


def extremum(
    primitive: Primitive, a: Any, axis: Any, keepdims: bool, of_none: Any = None, initial: Any = None, where: Any = True
) -> Tracer:
    """``np.max`` or ``np.min``; ``of_none`` is the extremum over no elements, where there is one."""
    x = as_node(a)
    if initial is not None:
        of_none = initial
    if not (isinstance(where, (bool, np.bool_)) and where):
        if of_none is None:
            raise ArgumentError.here(f"np.{primitive.name} with where= needs initial=, as NumPy has it")
        x = counted_in(x, where, of_none)
    axes = reduced_axes(axis, x.ndim)
    rest = tuple(d for k, d in enumerate(x.shape) if k not in axes)
    if all(x.shape[k] != 0 for k in axes):
        made = emit(primitive, (x,), (axes,)) if axes else x
    elif of_none is None and 0 not in rest:
        raise ShapeError.here("an extremum over no elements has no value")
    else:
        made = expand(running().constant(np.asarray(of_none or 0, x.dtype)), rest)
    made = _with_initial(f.maximum if primitive is MAX else f.minimum, initial, made)
    return Tracer(_keep(made, x.shape, axes, keepdims))


@implements(np.max, np.amax, cases=[*_AXES, *_SOME_INITIAL, Case((0,), initial=1.0), Case((3, 4), axis=1, initial=0.3)])
def _max(a, axis=None, keepdims=False, initial=None, where=True):
    return extremum(MAX, a, axis, keepdims, initial=initial, where=where)


@implements(np.min, np.amin, cases=[*_AXES, *_SOME_INITIAL])
def _min(a, axis=None, keepdims=False, initial=None, where=True):
    return extremum(MIN, a, axis, keepdims, initial=initial, where=where)


@implements(np.ptp, cases=_AXES[:3])
def _ptp(a, axis=None, keepdims=False):
    return _max(a, axis, keepdims) - _min(a, axis, keepdims)


@implements(np.count_nonzero, cases=_AXES)
def _count_nonzero(a, axis=None, *, keepdims=False):
    return np.sum(Tracer(f.condition(as_node(a))), axis=axis, keepdims=keepdims)


@implements(np.any, cases=[*_AXES, *_SOME])
def _any(a, axis=None, keepdims=False, where=True):
    return extremum(MAX, Tracer(f.condition(as_node(a))), axis, keepdims, of_none=False, where=where)


@implements(np.all, cases=[*_AXES, *_SOME])
def _all(a, axis=None, keepdims=False, where=True):
    return extremum(MIN, Tracer(f.condition(as_node(a))), axis, keepdims, of_none=True, where=where)


@implements(np.prod, cases=[*_AXES, *_SOME, *_SOME_INITIAL, Case((7,)), Case((0,))])
def _prod(a, axis=None, dtype=None, keepdims=False, initial=None, where=True):
    x = counted_in(_widened(_typed(a, dtype)), where, 1)
    axes = reduced_axes(axis, x.ndim)
    concrete(tuple(x.shape[k] for k in axes), "np.prod")
    product = _keep(emit(PROD, (x,), (axes,)) if axes else x, x.shape, axes, keepdims)
    return _returned(_with_initial(f.multiply, initial, product), dtype)


def along(x: Node, axis: Any) -> tuple[Node, int]:
    """An array and the axis to run along: all elements for None; a number is an array of one."""
    if not reduced_axes(axis, x.ndim) or axis is None:
        return reshape(x, (size(x.shape),)), 0
    return x, normalized_axis(axis, x.ndim)


@implements(np.cumsum, cases=[Case((5,)), Case((2, 3)), Case((2, 3), axis=1), Case((2, 3), axis=0)])
def _cumsum(a, axis=None, dtype=None):
    x, k = along(_widened(_typed(a, dtype)), axis)
    return _returned(cumulative_sum(x, k), dtype)


@implements(np.cumprod, cases=[Case((5,)), Case((2, 3)), Case((2, 3), axis=1), Case((3, 2), axis=0), Case((0,))])
def _cumprod(a, axis=None, dtype=None):
    x, k = along(_widened(_typed(a, dtype)), axis)
    concrete((x.shape[k],), "np.cumprod")
    return _returned(emit(CUMPROD, (x,), (k, False)), dtype)


def _search(primitive, a, axis, keepdims=False) -> Tracer:
    whole = as_node(a)
    x, k = along(whole, axis)
    if x.shape[k] == 0 and primitive is not ARGSORT:
        raise ShapeError.here(f"np.{primitive.name} over no elements has no value")
    found = emit(primitive, (x,), (k,))
    return Tracer(_keep(found, whole.shape, reduced_axes(axis, whole.ndim), keepdims))


_SEARCHES = [Case((5,)), Case((3, 4)), Case((3, 4), axis=0), Case((3, 4), axis=1, keepdims=True)]


@implements(np.argmax, cases=_SEARCHES)
def _argmax(a, axis=None, keepdims=False):
    return _search(ARGMAX, a, axis, keepdims)


@implements(np.argmin, cases=_SEARCHES)
def _argmin(a, axis=None, keepdims=False):
    return _search(ARGMIN, a, axis, keepdims)


@implements(np.argsort, cases=[Case((5,)), Case((3, 4), axis=0), Case((3, 4), axis=None)])
def _argsort(a, axis=-1, kind=None, order=None, stable=None):
    return _search(ARGSORT, a, axis)


@implements(np.trace, cases=[Case((3, 3)), Case((2, 4)), Case((4, 4), offset=1), Case((2, 3, 3), axis1=1, axis2=2)])
def _trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    picked = np.diagonal(Tracer(_typed(a, dtype)), offset, axis1, axis2)
    return np.sum(picked, axis=-1)
