"""NumPy's shaping on traced values: transposes, reshapes, unit axes, broadcasts."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from ..errors import ShapeError, UnsupportedOperation, is_asked_by_library
from ..primitives.contraction import expand, transpose
from ..primitives.selection import take_slice
from ..primitives.shaping import reshape
from ..program.dims import broadcast, is_concrete, normal, size
from ..program.node import Node
from .declare import Case, Given, implements
from .layout import is_line
from .reductions import normalized_axes, normalized_axis, reduced_axes
from .sizes import listed, whole
from .trace import SIZES_FIX, as_node, running
from .tracer import Tracer, view
from .views import Certain


@implements(np.transpose, np.permute_dims, cases=[Case((2, 3)), Case((2, 3, 4), axes=(2, 0, 1)), Case((3,))])
def _transpose(a, axes=None):
    x = as_node(a)
    order = tuple(range(x.ndim))[::-1] if axes is None else tuple(normalized_axis(k, x.ndim) for k in axes)
    if sorted(order) != list(range(x.ndim)):
        raise ShapeError.here(f"axes {axes} do not name each axis of an array of shape {x.shape} once")
    return view(a, lambda base: transpose(base, order))


@implements(np.swapaxes, cases=[Case((2, 3, 4), Given(0), Given(-1))])
def _swapaxes(a, axis1, axis2):
    x = as_node(a)
    order = list(range(x.ndim))
    i, j = normalized_axis(axis1, x.ndim), normalized_axis(axis2, x.ndim)
    order[i], order[j] = order[j], order[i]
    return view(a, lambda base: transpose(base, order))


@implements(np.moveaxis, cases=[Case((2, 3, 4), Given(0), Given(-1)), Case((2, 3, 4), Given([0, 1]), Given([-1, 0]))])
def _moveaxis(a, source, destination):
    x = as_node(a)
    sources, targets = ([normalized_axis(k, x.ndim) for k in listed(given)] for given in (source, destination))
    if len(set(sources)) != len(sources) or len(set(targets)) != len(targets) or len(sources) != len(targets):
        raise ShapeError.here(f"np.moveaxis: {source} and {destination} do not name as many axes, each once")
    order = [k for k in range(x.ndim) if k not in sources]
    for target, source_axis in sorted(zip(targets, sources, strict=True)):
        order.insert(target, source_axis)
    return view(a, lambda base: transpose(base, order))


def resolved_shape(x: Node, shape: Any) -> tuple:
    """A shape argument with its -1 filled in, checked against the number of elements."""
    wanted = tuple(shape) if isinstance(shape, (tuple, list)) or np.ndim(shape) else (shape,)
    wanted = tuple(whole(d) for d in wanted)
    total = size(x.shape)
    if -1 in wanted:
        k = wanted.index(-1)
        rest = size(wanted[:k] + wanted[k + 1 :])
        wanted = (*wanted[:k], _quotient(x, total, rest, wanted), *wanted[k + 1 :])
    if normal(size(wanted) - total) != 0:
        raise _misfit(x, wanted)
    return wanted


def _quotient(x: Node, total: Any, rest: Any, wanted: tuple) -> Any:
    """``total / rest``, which is whole."""
    if is_concrete((total, rest)):
        if rest == 0 or total % rest:
            raise _misfit(x, wanted)
        return total // rest
    quotient = normal(sympy.cancel(total / sympy.sympify(rest)))
    over = sympy.fraction(sympy.together(quotient))[1]
    if over != 1 and not (over.is_Integer and running().assumes(sympy.Mod(total, rest), "zero")):
        raise _misfit(x, wanted)
    return quotient


def _misfit(x: Node, wanted: tuple) -> ShapeError:
    fix = "" if is_concrete((*x.shape, *wanted)) else f". {SIZES_FIX}"
    return ShapeError.here(f"cannot reshape an array of shape {x.shape} into {wanted}{fix}")


@implements(
    np.reshape, cases=[Case((2, 6), Given((3, 4))), Case((2, 3), Given(-1)), Case((4,), Given((2, -1)), order="F")]
)
def _reshape(a, shape=None, order="C", newshape=None, copy=None):
    is_whole = a.contiguity() if type(a) is Tracer and order != "F" else bool
    made = _reshaped(a, shape if shape is not None else newshape, order, lambda: is_whole() or None)
    return made.copy() if copy else made


def _reshaped(a: Any, shape: Any, order: str, certain: Certain) -> Tracer:
    wanted, order = resolved_shape(as_node(a), shape), _known_order(order, as_node(a))

    def along(base: Node) -> Node:
        return _turned(reshape(_turned(base), wanted[::-1])) if order == "F" else reshape(base, wanted)

    return view(a, along, certain)


def _known_order(order: str, x: Node) -> str:
    """``order``, of what lies one way only too; how an array of several axes lies in memory no trace knows.

    Code of libraries asks for "K" where the order does not matter.
    """
    if order in ("C", "F") or (order in ("A", "K") and (is_line(x) or is_asked_by_library())):
        return "F" if order == "F" else "C"
    raise UnsupportedOperation.here(
        f"order={order!r} depends on how the array lies in memory, which a trace does not know; say 'C' or 'F'."
    )


def _turned(x: Node) -> Node:
    return transpose(x, tuple(range(x.ndim))[::-1])


@implements(np.ravel, cases=[Case((2, 3)), Case(()), Case((2, 3), order="F")])
def _ravel(a, order="C"):
    is_view = a.contiguity() if type(a) is Tracer and order != "F" else False  # of what has gaps it is a copy
    return _reshaped(a, (-1,) if size(as_node(a).shape) != 0 else (0,), order, is_view)


@implements(np.squeeze, cases=[Case((1, 3, 1)), Case((1, 3, 1), axis=0), Case((1, 1))])
def _squeeze(a, axis=None):
    x = as_node(a)
    if axis is None:
        axes = tuple(k for k, d in enumerate(x.shape) if _is_unit(d))
    else:
        axes = reduced_axes(axis, x.ndim)
        if not all(_is_unit(x.shape[k]) for k in axes):
            raise ShapeError.here(f"cannot squeeze axis {axis} of shape {x.shape}: its size is not 1")
    # a named dim may be of size 1 in this run
    spec = tuple((0, 1, 1) if k in axes else (0, d, 1) for k, d in enumerate(x.shape))
    shape = tuple(d for k, d in enumerate(x.shape) if k not in axes)
    return view(a, lambda base: reshape(take_slice(base, spec), shape))


def _is_unit(dim: Any) -> bool:
    """True for 1; a named dim is taken to be larger where nobody knows its size."""
    if isinstance(dim, int):
        return dim == 1
    return not running().assumes(normal(dim - 2), "nonnegative") and running().fixed(dim) == 1


@implements(np.expand_dims, cases=[Case((3,), Given(0)), Case((2, 3), Given((0, -1)))])
def _expand_dims(a, axis):
    x = as_node(a)
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    count = len(given)
    axes = normalized_axes(given, x.ndim + count)
    dims = iter(x.shape)
    shape = tuple(1 if k in axes else next(dims) for k in range(x.ndim + count))
    return view(a, lambda base: reshape(base, shape))


@implements(np.broadcast_to, cases=[Case((3,), Given((2, 3))), Case((2, 1), Given((4, 2, 3))), Case((), Given((2,)))])
def _broadcast_to(a, shape, subok=False):
    x = as_node(a)
    wanted = tuple(map(whole, listed(shape)))
    if broadcast(x.shape, wanted) != wanted:
        raise ShapeError.here(f"cannot broadcast an array of shape {x.shape} to {wanted}")
    return view(a, lambda base: expand(base, wanted))


@implements(np.broadcast_arrays, cases=[Case((2, 1), (3,)), Case((), (2,), (2,))])
def _broadcast_arrays(*arrays, subok=False):
    shape = broadcast(*[as_node(a).shape for a in arrays])
    return tuple(view(a, lambda base: expand(base, shape)) for a in arrays)
