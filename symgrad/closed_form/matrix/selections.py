"""Rows and elements picked by an index, and what is added up at one: products with a matrix of a 1 in each row.

``onehot(y)`` has the 1 of row i in column y[i], which counts from the end where it is negative, as NumPy does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...primitives.functions import add, multiply
from ...primitives.index_arrays import counted_index
from ...primitives.primitive import CONSTANT, INPUT
from ...primitives.selection import GATHER, SCATTER
from ...program.dims import Dim
from ...program.node import Node
from .algebra import Algebra
from .terms import NotExpressible, Poly

#: operations whose second operand is an index
BY_INDEX = (GATHER, SCATTER)


class Picks(NamedTuple):
    """What picks of an axis, by an argument with one axis; by the number of the pick where that is None."""

    index: Node | None
    size: Dim


def picks_of(node: Node) -> list[Picks]:
    """What an operation of ``BY_INDEX`` picks by: along one axis, or along two of A where it picks of ``vec(A)``.

    NotExpressible where it is anything but arguments.
    """
    places, along = node.operands[1], (node.operands[0] if node.primitive is GATHER else node).shape[0]
    if places.primitive is INPUT and places.ndim == 1:  # known places that have a name
        return [Picks(places, along)]
    if places.primitive is add:
        starts, columns = places.operands
        last = _picks(columns)
        found = [_picks(starts, last.size), last]
    else:
        found = [_picks(places)]
    size: Any = 1
    for picks in found:
        size = size * picks.size
    if size != along:
        raise NotExpressible
    return found


def selected(algebra: Algebra, node: Node, x: Poly, picks: Sequence[Picks], indices: Sequence[Poly]) -> Poly:
    """What an operation of ``BY_INDEX`` makes of ``x``; ``indices`` are those of the picks that have one."""
    if node.params[0] or 1 in (*node.shape, *node.operands[0].shape):
        raise NotExpressible
    count, dims = node.operands[1].shape[0], tuple([p.size for p in picks])
    axes = tuple([0 if p.index is None else k for k, p in enumerate(picks, 1)])
    extent = {0: count} | dict(zip(axes, dims, strict=True))
    own = [(k, d) for k, d in zip(axes, dims, strict=True) if k]
    ones = [
        (algebra.array("onehot", None, [index], (count, d)), (0, k)) for index, (k, d) in zip(indices, own, strict=True)
    ]
    is_flat = len(dims) > 1
    rest = tuple(range(3, 2 + len(x.dims)))
    extent |= dict(zip(rest, x.dims[1:], strict=True))
    if node.primitive is GATHER:
        whole = matrix_of(x, dims) if is_flat else x
        return algebra.contract([*ones, (whole, (*axes, *rest))], (0, *rest), extent)
    made = algebra.contract([*ones, (x, (0, *rest))], (*axes, *rest), extent)
    return algebra.array("vec", None, [made], node.shape) if is_flat else made


def _picks(places: Node, step: Dim = 1) -> Picks:
    """What picks the ``places``, each of which is so many elements from the next."""
    if _counts(places, step):
        return Picks(None, places.shape[0])
    if step != 1:
        if places.primitive is not multiply or _known(places.operands[1]) != step:
            raise NotExpressible
        places = places.operands[0]
    if places.primitive is GATHER and _counts(places.operands[0], 1):
        places = places.operands[1]
    found = counted_index(places)
    if found is None or found[0].primitive is not INPUT or found[0].ndim != 1:
        raise NotExpressible
    return Picks(*found)


def _counts(node: Node, step: Dim) -> bool:
    """True for what is known to be 0, 1, 2, … times ``step``."""
    value = _known(node)
    return isinstance(value, np.ndarray) and value.ndim == 1 and bool((value == np.arange(len(value)) * step).all())


def _known(node: Node) -> Any:
    """The value of a node that does not depend on an argument; None for others."""
    if node.primitive is multiply:
        a, b = map(_known, node.operands)
        return None if a is None or b is None else a * b
    if node.is_literal:
        return node.params[0]
    return node.params[0].value if node.primitive is CONSTANT else None


def matrix_of(poly: Poly, dims: Sequence[Dim]) -> Poly:
    """``c A`` of these dims, of which ``poly`` is ``c vec(A)``."""
    single = poly.single
    if single is not None and len(single[0].factors) == 1:
        (f,), coefficient = single[0].factors, single[1]
        if f.base.kind == "vec" and f.power == 1 and f.base.args[0].dims == tuple(dims):
            return Poly(tuple(dims), {t: c * coefficient for t, c in f.base.args[0].terms.items()})
    raise NotExpressible
