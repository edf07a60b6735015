"""NumPy's joining and splitting of traced arrays."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..errors import DtypeError, ShapeError
from ..primitives import functions as f
from ..primitives.selection import concatenate, full, take_slice
from ..primitives.shaping import reshape
from ..program.dims import size
from ..program.node import Node
from .declare import Case, Given, implements
from .reductions import normalized_axis
from .sizes import concrete
from .trace import as_node, running
from .tracer import Tracer, view


def cast_to(n: Node, dtype: np.dtype, casting: str) -> Node:
    """``n`` in the dtype that a call asks for; a DtypeError where NumPy does not cast so."""
    if not (n.weak or np.can_cast(n.dtype, dtype, casting)):  # type: ignore[arg-type]
        raise DtypeError.here(f"dtype={dtype} of an array of {n.dtype} is not cast by the rule {casting!r}")
    return _array(n, dtype)


def _nodes(arrays: Any, dtype: Any = None, casting: str | None = None) -> list[Node]:
    if isinstance(arrays, Tracer):
        arrays = list(arrays)
    nodes = [as_node(a) for a in arrays]
    if not nodes:
        raise ShapeError.here("need at least one array to join")
    kind = np.result_type(*[n.dtype for n in nodes]) if dtype is None else np.dtype(dtype)
    return [cast_to(n, kind, casting or "same_kind") for n in nodes]


def _array(n: Node, dtype: np.dtype) -> Node:
    if n.is_literal:
        return running().constant(np.asarray(n.params[0], dtype))
    return f.cast(n, dtype)


def _joined(nodes: list[Node], axis: int) -> Tracer:
    shape = nodes[0].shape
    for n in nodes[1:]:
        if n.ndim != len(shape) or any(
            d != e for k, (d, e) in enumerate(zip(n.shape, shape, strict=True)) if k != axis
        ):
            raise ShapeError.here(f"cannot concatenate shapes {[m.shape for m in nodes]} along axis {axis}")
    return Tracer(concatenate(nodes, axis))


@implements(
    np.concatenate,
    cases=[Case([(2, 3), (1, 3)]), Case([(2, 3), (2, 1)], axis=1), Case([(2,), (0,)]), Case([(2, 2), (3,)], axis=None)],
)
def _concatenate(arrays, axis=0, dtype=None, casting=None):
    nodes = _nodes(arrays, dtype, casting)
    if axis is None:
        nodes, axis = [reshape(n, (size(n.shape),)) for n in nodes], 0
    return _joined(nodes, normalized_axis(axis, nodes[0].ndim))


@implements(np.stack, cases=[Case([(3,), (3,)]), Case([(2, 3), (2, 3)], axis=-1), Case([(), (), ()])])
def _stack(arrays, axis=0, dtype=None, casting=None):
    nodes = _nodes(arrays, dtype, casting)
    if any(n.shape != nodes[0].shape for n in nodes):
        raise ShapeError.here(f"all arrays must have one shape to be stacked, got {[n.shape for n in nodes]}")
    k = normalized_axis(axis, nodes[0].ndim + 1)
    return _joined([reshape(n, (*n.shape[:k], 1, *n.shape[k:])) for n in nodes], k)


def _pieces(a: Any, sections: Any, axis: int) -> list[Tracer]:
    x = as_node(a)
    k = normalized_axis(axis, x.ndim)
    (n,) = concrete((x.shape[k],), "splitting an array")
    if isinstance(sections, (int, np.integer)):
        if sections < 1:
            raise ShapeError.here(f"an array is split into one section or more, not into {sections}")
        each, extra = divmod(n, int(sections))
        bounds = np.cumsum([0] + [each + 1] * extra + [each] * (int(sections) - extra)).tolist()
    else:
        cuts = [slice(None, int(c)).indices(n)[1] for c in np.asarray(sections).astype(np.intp, casting="same_kind")]
        bounds = [0, *cuts, n]
    lead, rest = full(x.shape)[:k], full(x.shape)[k + 1 :]
    specs = [(*lead, (start, max(stop - start, 0), 1), *rest) for start, stop in itertools.pairwise(bounds)]
    return [view(a, lambda base, spec=spec: take_slice(base, spec)) for spec in specs]


@implements(np.split, cases=[Case((6, 2), Given(3)), Case((5,), Given([1, 3])), Case((2, 4), Given(2), axis=1)])
def _split(ary, indices_or_sections, axis=0):
    x = as_node(ary)
    (n,) = concrete((x.shape[normalized_axis(axis, x.ndim)],), "splitting an array")
    if isinstance(indices_or_sections, (int, np.integer)) and n % (indices_or_sections or 1):
        raise ShapeError.here("array split does not result in an equal division; use np.array_split")
    return _pieces(ary, indices_or_sections, axis)


@implements(np.array_split, cases=[Case((7, 2), Given(3))])
def _array_split(ary, indices_or_sections, axis=0):
    return _pieces(ary, indices_or_sections, axis)
