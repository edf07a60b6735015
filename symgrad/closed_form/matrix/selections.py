"""Rows and elements picked by an index, and what is added up at one: products with a matrix of a 1 in each row.

``onehot(y)`` has the 1 of row i in column y[i], which counts from the end where it is negative, as NumPy does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...primitives.functions import add, multiply
from ...primitives.index_arrays import counted_index, counts
from ...primitives.primitive import CONSTANT, INPUT
from ...primitives.selection import GATHER, SCATTER
from ...program.dims import Dim
from ...program.node import Node
from .algebra import Algebra
from .terms import NotExpressible, Poly

#: operations whose second operand is an index
BY_INDEX = (GATHER, SCATTER)


class Picks(NamedTuple):
    """What picks of an axis: an index with no axis or one; where that is None, the number of the pick."""

    index: Node | None
    size: Dim


def picks_of(node: Node) -> list[Picks]:
    """What an operation of ``BY_INDEX`` picks by: along one axis, or along two of A where it picks of ``vec(A)``."""
    places, along = node.operands[1], (node.operands[0] if node.primitive is GATHER else node).shape[0]
    if places.primitive in (INPUT, CONSTANT) and places.ndim < 2:  # known places
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


def selected(algebra: Algebra, node: Node, x: Poly, picks: Sequence[Picks], indices: Sequence[Any]) -> Poly:
    """What an operation of ``BY_INDEX`` makes of ``x``; ``indices`` are those of the picks that have one."""
    by_shape = node.operands[1].shape
    if node.params[0] or 1 in (*node.shape, *node.operands[0].shape, *by_shape) or not all(map(_is_plain, indices)):
        raise NotExpressible
    dims, own = tuple([p.size for p in picks]), tuple(range(len(by_shape)))
    axes = tuple([0 if p.index is None else k for k, p in enumerate(picks, 1)])
    ones = []
    for index, (k, d) in zip(indices, [(k, d) for k, d in zip(axes, dims, strict=True) if k], strict=True):
        ones.append((algebra.array("onehot", None, [index], (*by_shape, d)), (*own, k)))
    is_flat = len(dims) > 1
    if not is_flat and any(f.base.kind == "vec" for t in x.terms for f in t.factors):
        raise NotExpressible  # places in vec(A) say nothing of A
    rest = tuple(range(3, 3 + len(x.dims) - (1 if node.primitive is GATHER else len(own))))
    extent = dict(zip((*own, *axes, *rest), (*by_shape, *dims, *x.dims[len(x.dims) - len(rest) :]), strict=True))
    if node.primitive is GATHER:
        whole = matrix_of(x, dims) if is_flat else x
        return algebra.contract([*ones, (whole, (*axes, *rest))], (*own, *rest), extent)
    made = algebra.contract([*ones, (x, (*own, *rest))], (*axes, *rest), extent)
    return algebra.array("vec", None, [made], node.shape) if is_flat else made


def _is_plain(index: Poly | None) -> bool:
    """True for an index that is an argument, or a part of one."""
    single = None if index is None else index.single
    kinds = [f.base.kind for f in single[0].factors if f.power == 1] if single and single[1] == 1 else []
    return kinds in (["leaf"], ["slice"])


def _picks(places: Node, step: Dim = 1) -> Picks:
    """What picks the ``places``, each of which is so many elements from the next."""
    if counts(places, step):
        return Picks(None, places.shape[0])
    if step != 1:
        if places.primitive is not multiply or places.operands[1].params[:1] != (step,):
            raise NotExpressible
        places = places.operands[0]
    found = counted_index(places)
    if found is None or found[0].ndim > 1:
        raise NotExpressible
    return Picks(*found)


def matrix_of(poly: Poly, dims: Sequence[Dim]) -> Poly:
    """``c A`` of these dims, of which ``poly`` is ``c vec(A)``."""
    single = poly.single
    if single is not None and len(single[0].factors) == 1:
        (f,), coefficient = single[0].factors, single[1]
        if f.base.kind == "vec" and f.power == 1 and f.base.args[0].dims == tuple(dims):
            return Poly(tuple(dims), {t: c * coefficient for t, c in f.base.args[0].terms.items()})
    raise NotExpressible
