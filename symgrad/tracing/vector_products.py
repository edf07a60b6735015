"""NumPy's products of vectors on traced values: vecdot, outer, cross, kron, and sums of shifted products (convolve)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ShapeError, UnsupportedOperation
from ..primitives import functions as f
from ..primitives.contraction import contract
from ..primitives.convolution import CONVOLVE
from ..primitives.selection import assemble
from ..primitives.shaping import reshape
from ..program.dims import broadcast, is_concrete, is_named, normal, size
from ..program.node import emit
from .declare import Case, Given, implements
from .dispatch import FUNCTIONS
from .reductions import normalized_axis
from .trace import SIZES_FIX, array_node, as_node, running
from .tracer import Tracer

#: numbers of the shorter vector of a convolution, where the other one is of a named size
_MOST_SHIFTS = 256


def _with_last(x: Any, axis: int) -> Any:
    """``x`` with ``axis`` moved to the end."""
    node = as_node(x)
    return FUNCTIONS[np.moveaxis](Tracer(node), normalized_axis(axis, node.ndim), -1)


@implements(
    np.vecdot, cases=[Case((3,), (3,)), Case((2, 3), (3,)), Case((2, 1, 3), (4, 3)), Case((3, 2), (3, 2), axis=0)]
)
def _vecdot(x1, x2, /, *, axis=-1):
    nodes = [as_node(_with_last(x, axis)) for x in (x1, x2)]
    is_complex = nodes[0].is_complex
    if is_complex:
        nodes[0] = f.conjugate(nodes[0])
    if nodes[0].shape[-1] != nodes[1].shape[-1]:
        raise ShapeError.here(f"vecdot: shapes {nodes[0].shape} and {nodes[1].shape} do not fit")
    shape = broadcast(*[n.shape for n in nodes])
    labels, sizes = [], list(shape)
    for n in nodes:
        own = []
        for k, d in enumerate(n.shape, start=len(shape) - n.ndim):
            if d == shape[k]:
                own.append(k)
            else:  # a unit axis that broadcasts has a label of its own
                own.append(len(sizes))
                sizes.append(1)
        labels.append(tuple(own))
    return Tracer(contract(nodes, labels, tuple(range(len(shape) - 1)), sizes, "" if is_complex else "vecdot"))


@implements(np.outer, cases=[Case((3,), (2,)), Case((2, 2), (3,)), Case((), (3,))])
def _outer(a, b):
    column, row = array_node(a), array_node(b)
    column, row = reshape(column, (size(column.shape), 1)), reshape(row, (1, size(row.shape)))
    return Tracer(f.multiply(column, row))


@implements(
    np.cross, cases=[Case((3,), (3,)), Case((2, 3), (3,)), Case((3, 2), (3, 2), axis=0), Case((3, 2), (2, 3), axisa=0)]
)
def _cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = _with_last(a, axisa), _with_last(b, axisb)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ShapeError.here(f"np.cross: vectors of shapes {x.shape} and {y.shape} must have three components")
    components = [x[..., i] * y[..., j] - x[..., j] * y[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return np.stack(components, axis=normalized_axis(axisc, components[0].ndim + 1))


@implements(np.kron, cases=[Case((2, 3), (3, 2)), Case((2,), (3,)), Case((2,), (3, 2)), Case((), (2, 2))])
def _kron(a, b):
    x, y = Tracer(array_node(a)), Tracer(array_node(b))
    rank = max(x.ndim, y.ndim)
    own, other = (1,) * (rank - x.ndim) + x.shape, (1,) * (rank - y.ndim) + y.shape
    apart = x.reshape([d for n in own for d in (n, 1)]) * y.reshape([d for n in other for d in (1, n)])
    return apart.reshape([m * n for m, n in zip(own, other, strict=True)])


@implements(
    np.convolve,
    cases=[
        Case((4,), (3,)),
        Case((2,), (5,)),
        Case((5,), (4,), mode="same"),
        Case((3,), (3,), mode="same"),
        Case((2,), (5,), mode="valid"),
        Case((13,), (12,), Given("same")),
        Case((), (3,)),
    ],
)
def _convolve(a, v, mode="full"):
    x, y = (np.atleast_1d(Tracer(array_node(n.coeffs if isinstance(n, np.poly1d) else n))) for n in (a, v))
    dims = (*as_node(x).shape, *as_node(y).shape)
    if len(dims) != 2 or not all(dims):
        raise ShapeError.here(f"np.convolve takes vectors with elements, got shapes {x.shape} and {y.shape}")
    if all(map(is_named, dims)) or (not is_concrete(dims) and min(d for d in dims if not is_named(d)) > _MOST_SHIFTS):
        raise ShapeError.here(
            f"np.convolve of a named size takes a vector of at most {_MOST_SHIFTS} numbers beside it, got shapes "
            f"{x.shape} and {y.shape}. {SIZES_FIX}"
        )
    if mode not in ("full", "same", "valid"):
        raise UnsupportedOperation.here(f"np.convolve with mode={mode!r}: it is 'full', 'same' or 'valid'.")
    full = None if is_concrete(dims) else _shifted_sum(*((x, y) if is_named(dims[0]) else (y, x)))
    if mode == "full" and full is not None:
        return full
    if _is_shorter(x, y):  # as NumPy sums it
        x, y = y, x
    full = full if full is not None else Tracer(emit(CONVOLVE, (as_node(x), as_node(y))))
    if mode == "full":
        return full
    if mode == "same":
        start = (y.size - 1) // 2
        return full[start : start + x.size]
    return full[y.size - 1 : x.size]


def _is_shorter(x: Any, y: Any) -> bool:
    """Whether ``x`` has fewer elements; a named size for which nobody has a number is large."""
    return not running().sizes.usual(as_node(x).shape[0] - as_node(y).shape[0], "nonnegative")


def _shifted_sum(x: Any, y: Any) -> Tracer:
    """``np.convolve(x, y)`` of a vector ``x`` of named size, as a sum of shifted products, which blocks can do too."""
    n = as_node(x).shape[0]
    pieces = [as_node(x * y[k]) for k in range(y.size)]
    specs = [((k, n, 1),) for k in range(y.size)]
    return Tracer(assemble(pieces, (normal(n + y.size - 1),), specs))


@implements(
    np.correlate,
    cases=[
        Case((5,), (3,)),
        *[Case(*sizes, Given(m)) for m in ("full", "same", "valid") for sizes in [((4,), (3,)), ((2,), (5,))]],
    ],
)
def _correlate(a, v, mode="valid"):
    x, y = (np.atleast_1d(Tracer(array_node(n))) for n in (a, v))
    y = y.conj()
    if (mode != "full" or is_concrete((*x.shape, *y.shape))) and _is_shorter(x, y):  # as NumPy sums it
        return np.flip(_convolve(y, np.flip(x), mode))
    return _convolve(x, np.flip(y), mode)


@implements(np.matvec, cases=[Case((2, 3), (3,)), Case((4, 2, 3), (3,)), Case((2, 3), (4, 3))])
def _matvec(x1, x2, /):
    return np.matmul(Tracer(as_node(x1)), Tracer(as_node(x2))[..., None])[..., 0]


@implements(np.vecmat, cases=[Case((2,), (2, 3)), Case((4, 2), (2, 3)), Case((2,), (4, 2, 3))])
def _vecmat(x1, x2, /):
    return np.matmul(Tracer(as_node(x1)).conj()[..., None, :], Tracer(as_node(x2)))[..., 0, :]
