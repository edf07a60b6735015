"""NumPy's products of vectors on traced values: vecdot, cross, kron, and sums of shifted products (convolve)."""

from __future__ import annotations

import numpy as np

from ..errors import ShapeError, at_user_line
from ..primitives.contraction import contract
from ..program.dims import broadcast
from .declare import Case, implements
from .reductions import normalized_axis
from .trace import as_node
from .tracer import Tracer


@implements(
    np.vecdot, cases=[Case((3,), (3,)), Case((2, 3), (3,)), Case((2, 1, 3), (4, 3)), Case((3, 2), (3, 2), axis=0)]
)
def _vecdot(x1, x2, /, *, axis=-1):
    nodes = [as_node(np.moveaxis(Tracer(as_node(x)), axis, -1)) for x in (x1, x2)]
    if nodes[0].shape[-1] != nodes[1].shape[-1]:
        raise ShapeError(at_user_line(f"vecdot: shapes {nodes[0].shape} and {nodes[1].shape} do not fit"))
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
    return Tracer(contract(nodes, labels, tuple(range(len(shape) - 1)), sizes, "vecdot"))


@implements(
    np.cross, cases=[Case((3,), (3,)), Case((2, 3), (3,)), Case((3, 2), (3, 2), axis=0), Case((3, 2), (2, 3), axisa=0)]
)
def _cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = (np.moveaxis(Tracer(as_node(v)), k, -1) for v, k in ((a, axisa), (b, axisb)))
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ShapeError(
            at_user_line(f"np.cross: vectors of shapes {x.shape} and {y.shape} must have three components")
        )
    components = [x[..., i] * y[..., j] - x[..., j] * y[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return np.stack(components, axis=normalized_axis(axisc, components[0].ndim + 1))


@implements(np.kron, cases=[Case((2, 3), (3, 2)), Case((2,), (3,)), Case((2,), (3, 2)), Case((), (2, 2))])
def _kron(a, b):
    x, y = Tracer(as_node(a)), Tracer(as_node(b))
    rank = max(x.ndim, y.ndim)
    own, other = (1,) * (rank - x.ndim) + x.shape, (1,) * (rank - y.ndim) + y.shape
    apart = x.reshape([d for n in own for d in (n, 1)]) * y.reshape([d for n in other for d in (1, n)])
    return apart.reshape([m * n for m, n in zip(own, other, strict=True)])
