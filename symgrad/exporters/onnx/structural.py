"""How the operations on whole arrays are written that are no contractions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import UnsupportedOperation
from ...primitives.identity import IDENTITIES
from ...primitives.primitive import literal_value
from ...program.dims import is_concrete, normal, size
from ...program.node import Node
from . import contraction, linalg
from .elementwise import elementwise
from .graph import Graph
from .steps import BOOL, INT, Value, xp

#: pieces from which an array of known size is put together by one scatter
_SCATTERED_FROM = 5


def written(g: Graph, node: Node, operands: list[Value]) -> Value:
    """The value of a node that is no leaf."""
    rule = RULES.get(node.primitive.name)
    return elementwise(g, node, operands) if rule is None else rule(g, node, *operands)


def leaf(g: Graph, node: Node) -> Value:
    """The value of a leaf that is no input."""
    if node.primitive.name == "literal":
        return g.constant(literal_value(node), node.dtype)
    if node.primitive.name == "dim":
        return g.reshape(g.dim(node.params[0]), ())
    return g.constant(node.params[0].value, node.dtype)


def _gate(g: Graph, node: Node, m: Value, t: Value) -> Value:
    t = t.astype(node.dtype)
    if m.dtype == BOOL:
        return g.expand(xp.where(m, t, 0), node.shape)
    m = m.astype(node.dtype)
    return g.expand(xp.where(xp.equal(m, 0), 0, m * t), node.shape)


def _slice(g: Graph, node: Node, x: Value) -> Value:
    axes, entries, dropped = [], [], []
    for axis, (entry, d) in enumerate(zip(node.params[0], x.shape, strict=True)):
        if not isinstance(entry, tuple):
            dropped.append(axis)
            entry = (entry, 1, 1)
        elif entry == (0, d, 1):
            continue
        axes.append(axis)
        entries.append(entry)
    return g.squeeze(g.slice(x, axes, entries), dropped)


def _assemble(g: Graph, node: Node, *pieces: Value) -> Value:
    shape, specs = node.params
    dtype = INT if node.dtype == BOOL else node.dtype
    pieces = tuple([p.astype(dtype) for p in pieces])
    if len(pieces) >= _SCATTERED_FROM and is_concrete(shape):
        made = _scattered(g, pieces, shape, specs)
    else:
        made = _placed(g, pieces[0], shape, specs[0])
        for piece, spec in zip(pieces[1:], specs[1:], strict=True):
            made = made + _placed(g, piece, shape, spec)
    return made.astype(node.dtype)


def _placed(g: Graph, x: Value, shape: tuple, spec: tuple) -> Value:
    """Zeros of ``shape`` with ``x`` at a slice."""
    x = g.unsqueeze(x, [k for k, e in enumerate(spec) if not isinstance(e, tuple)])
    before, after = [], []
    for axis, (entry, d) in enumerate(zip(spec, shape, strict=True)):
        start, length, step = entry if isinstance(entry, tuple) else (_counted(entry, d), 1, 1)
        if step < 0:
            x = g.slice(x, [axis], [(length - 1, length, -1)])
            start, step = start + (length - 1) * step, -step
        if step > 1:
            x = _spread(g, x, axis, step)
            start = start if normal(length) != 0 else 0
        if normal(x.shape[axis]) == 0:
            start = 0
        before.append(start)
        after.append(d - start - x.shape[axis])
    return g.pad(x, before, after)


def _counted(k: Any, d: Any) -> Any:
    return k + d if isinstance(k, int) and k < 0 else k


def _spread(g: Graph, x: Value, axis: int, step: int) -> Value:
    """``step - 1`` zeros between the elements of an axis."""
    n = x.shape[axis]
    wide = g.unsqueeze(x, [axis + 1])
    none = [0] * wide.rank
    wide = g.pad(wide, none, [step - 1 if k == axis + 1 else 0 for k in range(wide.rank)])
    flat = g.reshape(wide, (*x.shape[:axis], n * step, *x.shape[axis + 1 :]))
    if normal(n) == 0:
        return flat
    return g.slice(flat, [axis], [(0, normal(n * step - step + 1), 1)])


def _scattered(g: Graph, pieces: tuple[Value, ...], shape: tuple, specs: tuple) -> Value:
    """All pieces added at once, by their places in the flat array."""
    from ...primitives.selection import as_index

    total = size(shape)
    places = np.arange(total).reshape(shape)
    index = np.concatenate([np.ravel(places[as_index(spec)]) for spec in specs])
    flat = [g.reshape(p, (size(p.shape),)) for p in pieces]
    updates = g.apply("Concat", flat, flat[0].dtype, (len(index),), axis=0)
    zeros = g.expand(g.like(0, updates), (total,))
    made = g.apply(
        "ScatterElements", [zeros, g.constant(index, INT), updates], updates.dtype, (total,), axis=0, reduction="add"
    )
    return g.reshape(made, shape)


def _gather(g: Graph, node: Node, x: Value, index: Value) -> Value:
    return g.apply("Gather", [x, index.astype(INT)], x.dtype, node.shape, axis=node.params[0])


def _scatter(g: Graph, node: Node, y: Value, index: Value) -> Value:
    """Rows added by index: the axes that ``index`` has go to the front, the result's back to its place."""
    axis, dim = node.params
    own = list(range(axis, axis + index.rank))
    rest = [k for k in range(y.rank) if k not in own]
    rows = g.transpose(y, [*own, *rest])
    shape = (dim, *[y.shape[k] for k in rest])
    zeros = g.expand(g.like(0, y), shape)
    places = g.unsqueeze(index.astype(INT), [index.rank])
    made = g.apply("ScatterND", [zeros, places, rows], y.dtype, shape, reduction="add")
    return g.transpose(made, [*range(1, axis + 1), 0, *range(axis + 1, made.rank)])


def _concatenate(g: Graph, node: Node, *parts: Value) -> Value:
    return g.apply("Concat", [p.astype(node.dtype) for p in parts], node.dtype, node.shape, axis=node.params[0])


def _extremum(operator: str):
    """NaN where there is one, which onnxruntime passes over."""

    def rule(g: Graph, node: Node, x: Value) -> Value:
        (axes,) = node.params
        for k in axes:
            g.require_elements(x.shape[k])
        if x.dtype == BOOL:
            return g.reduced(operator, x.astype(np.int32), axes).astype(BOOL)
        made = g.reduced(operator, x, axes)
        return xp.where(g.any(xp.isnan(x), axes), np.nan, made) if x.is_float else made

    return rule


def _prod(g: Graph, node: Node, x: Value) -> Value:
    if not x.is_float:
        raise UnsupportedOperation("onnx: a product of whole numbers is not written; cast them to float.")
    return g.reduced("ReduceProd", x, node.params[0])


def _cumsum(g: Graph, node: Node, x: Value) -> Value:
    if not x.is_float and x.dtype != INT:
        raise UnsupportedOperation(f"onnx: a running sum of {x.dtype} is not written; cast to int64 or float64 before.")
    axis, reverse = node.params
    return g.apply("CumSum", [x, g.constant(axis, INT)], x.dtype, x.shape, reverse=int(reverse))


def _cumprod(g: Graph, node: Node, x: Value) -> Value:
    """ONNX has no running product: one factor after another."""
    if not x.is_float and x.dtype != INT:
        raise UnsupportedOperation(f"onnx: a running product of {x.dtype} is not written; cast to int64 or float64.")
    axis, reverse = node.params
    n = node.shape[axis]
    if not isinstance(n, int):
        raise UnsupportedOperation("onnx: a running product along a named dim is not written; export it with sizes.")
    made: list[Value] = []
    for k in range(n)[:: -1 if reverse else 1]:
        each = g.slice(x, [axis], [(k, 1, 1)])
        made.append(made[-1] * each if made else each)
    return g.apply("Concat", made[:: -1 if reverse else 1], x.dtype, x.shape, axis=axis) if made else x


def _arg(operator: str):
    """The first NaN where there is one."""

    def rule(g: Graph, node: Node, x: Value) -> Value:
        (axis,) = node.params

        def found(which: str, v: Value) -> Value:
            return g.apply(which, [v], INT, node.shape, axis=axis, keepdims=0)

        if x.dtype == BOOL:
            x = x.astype(np.int32)
        if not x.is_float:
            return found(operator, x)
        unknown = xp.isnan(x)
        return xp.where(g.any(unknown, [axis]), found("ArgMax", unknown.astype(np.int32)), found(operator, x))

    return rule


def _argsort(g: Graph, node: Node, x: Value) -> Value:
    """TopK, which leaves equal elements in order; first by value, then NaN behind all others."""
    (axis,) = node.params
    count = g.dim(x.shape[axis])

    def order(v: Value) -> Value:
        return g.apply("TopK", [v, count], INT, x.shape, axis=axis, largest=0, sorted=1)

    if not x.is_float:
        return order(x.astype(INT) if x.dtype == BOOL else x)
    unknown = xp.isnan(x)
    by_value = order(xp.where(unknown, 0, x))
    last = g.apply("GatherElements", [unknown.astype(INT), by_value], INT, x.shape, axis=axis)
    return g.apply("GatherElements", [by_value, order(last)], INT, x.shape, axis=axis)


def _searchsorted(g: Graph, node: Node, knots: Value, x: Value) -> Value:
    """The number of knots on the left; NaN is sorted behind everything."""
    dtype = np.result_type(knots.dtype, x.dtype)
    dtype = np.dtype(np.int32) if dtype == BOOL else dtype
    knots, each = knots.astype(dtype), g.unsqueeze(x.astype(dtype), [x.rank])

    def before(a: Value, b: Value) -> Value:
        return (a < b) | (xp.isnan(b) & ~xp.isnan(a)) if a.is_float else a < b

    if node.params[0] == "left":
        left = before(knots, each)
    else:
        left = ~before(each, knots)
    return g.total(left.astype(INT), [x.rank])


def _convolve(g: Graph, node: Node, a: Value, v: Value) -> Value:
    """The table of all products, each row one further to the right than the one above it, summed."""
    a, v = a.astype(node.dtype), v.astype(node.dtype)
    n, m = a.shape[0], v.shape[0]
    table = g.unsqueeze(a, [1]) * v
    wide = g.reshape(g.pad(table, [0, 0], [0, n]), (n * (m + n),))
    skewed = g.reshape(g.slice(wide, [0], [(0, normal(n * (m + n - 1)), 1)]), (n, normal(n + m - 1)))
    return g.total(skewed, [0])


RULES: dict[str, Any] = {
    "einsum": lambda g, n, *xs: contraction.einsum(g, n, list(xs)),
    "gate": _gate,
    "slice": _slice,
    "assemble": _assemble,
    "gather": _gather,
    "scatter": _scatter,
    "concatenate": _concatenate,
    "max": _extremum("ReduceMax"),
    "min": _extremum("ReduceMin"),
    "prod": _prod,
    "cumsum": _cumsum,
    "cumprod": _cumprod,
    "argmax": _arg("ArgMax"),
    "argmin": _arg("ArgMin"),
    "argsort": _argsort,
    "searchsorted": _searchsorted,
    "convolve": _convolve,
    "reshape": lambda g, n, x: g.reshape(x, n.params[0]),
    "cast": lambda g, n, x: x.astype(n.dtype),
    **dict.fromkeys(IDENTITIES, lambda g, n, x, *_: x),
    **linalg.RULES,
}
