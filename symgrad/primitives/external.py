"""Functions that run as they are: a call of code that nobody looks into, such as C, Fortran or another process.

``params = (call, shapes, given, levels)``: what is called, the shapes of what it gives and of what it is given, and the
``vmap``s around it, the outermost first: of each which operands there is one for each example of, and how many
examples. Several results are one node, a row of all their elements: what is called gives them all at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import DtypeError, MissingDerivative, ShapeError
from ..program.dims import Dim, Shape, is_concrete, is_named, size, value_of
from ..program.node import Node, emit
from .batching import Batching
from .casting import CAST, cast
from .contraction import contract, expand, identity
from .functions import add
from .primitive import Params, Primitive, literal
from .selection import ASSEMBLE, concatenate, take_slice
from .shaping import reshape

Level = tuple[tuple[bool, ...], Dim]
#: whole numbers up to here are floats too
_MAX_INT = 1 << 53


class Call:
    """What is called, with all that is no operand.

    ``run`` gives the results, one for each of ``dtypes`` and None for zeros, of the values of the operands. Calls of
    the same ``key`` are the same. In the operands of ``linear`` it is linear, in all of them at once.
    """

    __slots__ = ("dtypes", "is_vectorized", "key", "linear", "name", "run", "undeclared")

    def __init__(
        self,
        name: str,
        run: Callable[[Sequence[Any]], Sequence[Any]],
        key: tuple[Any, ...],
        dtypes: Sequence[np.dtype],
        undeclared: str,
        linear: Sequence[int] = (),
        is_vectorized: bool = False,
    ) -> None:
        """``undeclared`` says that a derivative is not declared, and how it is; ``is_vectorized``: axes may lead."""
        self.name = name
        self.run = run
        self.dtypes = tuple(dtypes)
        self.linear = frozenset(linear)
        self.is_vectorized = is_vectorized
        self.undeclared = undeclared
        self.key = (*key, self.dtypes, self.linear)

    def __eq__(self, other: object) -> bool:
        return type(other) is Call and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)


class External(Primitive):
    """A function of one's own, one primitive each: its name cannot be that of an operation of symgrad's."""

    foldable = False

    def __init__(self, name: str) -> None:
        self.name = f"the custom function {name}"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        call, shapes, _, levels = params
        lead = tuple([size for _, size in levels])
        if len(shapes) == 1:
            return (*lead, *shapes[0]), call.dtypes[0], False
        return (*lead, size_of(shapes)), np.result_type(*call.dtypes), False

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node:
        call, shapes, given, levels = node.params
        if key not in call.linear:
            raise MissingDerivative.here(call.undeclared)
        operands = [zeros_like(o) if k in call.linear else o for k, o in enumerate(node.operands)]
        operands[key] = cast(tangent, source.dtype)
        own = tuple([k == key for k in range(len(operands))])
        lead = tuple([(own, d) for d in tangent.shape[:batch]])
        return emit(self, tuple(operands), (call, shapes, given, (*lead, *levels)))

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        unit = identity(source.shape) if source.ndim else one_of(source.dtype)
        columns = self.jvp(node, source, key, unit, source.ndim)
        into = tuple(range(batch, batch + source.ndim))
        out = tuple(range(batch + source.ndim, batch + source.ndim + node.ndim))
        lead = tuple(range(batch))
        sizes = (*ct.shape[:batch], *source.shape, *node.shape)
        return contract([columns, ct], [into + out, lead + out], lead + into, sizes)

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        call, shapes, given, levels = node.params
        return emit(self, operands, (call, shapes, given, ((tuple(batched), over.size), *levels)))

    def evaluate(self, params: Params, *values: Any) -> Any:
        call, shapes, given, levels = params
        if call.is_vectorized and levels:
            return _at_once(call, shapes, levels, values)
        return _one_by_one(call, shapes, given, levels, values)

    def spell(self, node: Node) -> str:
        return node.params[0].name


def zeros_of(shape: Shape, dtype: np.dtype) -> Node:
    """Zeros, weak nowhere."""
    made = expand(literal(0.0), shape)
    return emit(CAST, (made,), (dtype,)) if made.weak else cast(made, dtype)


def one_of(dtype: np.dtype) -> Node:
    """One, which is no Python number."""
    return emit(CAST, (literal(1.0),), (dtype,))


def zeros_like(node: Node) -> Node:
    """Zeros of the shape and dtype of ``node``."""
    return zeros_of(node.shape, node.dtype)


# the examples of vmaps


def _one_by_one(
    call: Call, shapes: Sequence[Shape], given: Sequence[Shape], levels: Sequence[Level], values: Sequence[Any]
) -> Any:
    if not levels:
        return row(call, call.run(values), _expected(shapes, given, values))
    (flags, _), *rest = levels
    count = next(len(v) for v, own in zip(values, flags, strict=True) if own)
    made = [
        _one_by_one(call, shapes, given, rest, [v[k] if own else v for v, own in zip(values, flags, strict=True)])
        for k in range(count)
    ]
    if made:
        return np.stack(made)
    lead = [0, *[value_of(d, {}) for _, d in rest]]
    one = shapes[0] if len(shapes) == 1 else (size_of(shapes),)
    return np.zeros((*lead, *one), np.result_type(*call.dtypes))


def _at_once(call: Call, shapes: Sequence[Shape], levels: Sequence[Level], values: Sequence[Any]) -> Any:
    """All examples in one call, along leading axes of every operand."""
    counts = [
        next(v.shape[_axis(levels, k, i)] for i, v in enumerate(values) if f[i]) for k, (f, _) in enumerate(levels)
    ]
    wide = []
    for i, value in enumerate(values):
        array = np.asarray(value)
        index = tuple([slice(None) if flags[i] else None for flags, _ in levels])
        own = array[(*index, ...)]
        wide.append(np.broadcast_to(own, (*counts, *own.shape[len(levels) :])))
    return row(call, call.run(wide), shapes, tuple(counts))


def _axis(levels: Sequence[Level], level: int, operand: int) -> int:
    """Where the examples of a level stand among the leading axes of an operand."""
    return sum(flags[operand] for flags, _ in levels[:level])


# results


def size_of(shapes: Sequence[Shape]) -> Dim:
    """The elements of all arrays together."""
    return sum([size(s) for s in shapes[1:]], size(shapes[0])) if shapes else 0


def _expected(shapes: Sequence[Shape], given: Sequence[Shape], values: Sequence[Any]) -> Sequence[Shape]:
    """The shapes that the results should have, as far as these values say what named dims are."""
    if all(map(is_concrete, shapes)):
        return shapes
    known = {
        d: n for own, v in zip(given, values, strict=True) for d, n in zip(own, np.shape(v), strict=True) if is_named(d)
    }
    return [tuple([_size(d, known) for d in shape]) for shape in shapes]


def _size(dim: Dim, known: Mapping[Any, int]) -> Any:
    return value_of(dim, known) if not is_named(dim) or dim.free_symbols <= known.keys() else None


def split(row: Node, shapes: Sequence[Shape], dtypes: Sequence[np.dtype]) -> list[Node]:
    """The results of a call, each with its shape."""
    if len(shapes) == 1:
        return [row]
    made, start = [], 0
    for shape, dtype in zip(shapes, dtypes, strict=True):
        count = size(shape)
        made.append(cast(reshape(_piece(row, start, count), shape), dtype))
        start = start + count
    return made


def _piece(row: Node, start: Dim, count: Dim) -> Node:
    """So many elements of a row; of one that was put together out of pieces the piece itself."""
    if row.primitive is ASSEMBLE:
        specs = [spec[0] for spec in row.params[1]]
        own = [o for o, e in zip(row.operands, specs, strict=True) if e == (start, count, 1)]
        rest = [e for e in specs if e != (start, count, 1)]
        if all(isinstance(e, tuple) and _is_apart(e, start, count) for e in rest):
            return functools.reduce(add, own) if own else zeros_of((count,), row.dtype)
    return take_slice(row, ((start, count, 1),))


def _is_apart(entry: tuple[Dim, Dim, Dim], start: Dim, count: Dim) -> bool:
    other, length, step = entry
    if step != 1 or not is_concrete((other, length, start, count)):
        return False
    return other + length <= start or start + count <= other


def joined(results: Sequence[Node], dtypes: Sequence[np.dtype]) -> Node:
    """Results as the row that a call gives."""
    if len(results) == 1:
        return results[0]
    dtype = np.result_type(*dtypes)
    return concatenate([cast(reshape(r, (size(r.shape),)), dtype) for r in results], 0)


def row(call: Call, results: Sequence[Any], shapes: Sequence[Shape], lead: Shape = ()) -> Any:
    """The results as an array of their own, or as one row of all their elements."""
    made = [_checked(call, *r, lead) for r in zip(results, shapes, call.dtypes, strict=True)]
    if len(made) == 1:
        return made[0][()]
    dtype = np.result_type(*call.dtypes)
    if dtype.kind == "f" and any(m.dtype.kind in "iu" and np.any(np.abs(m) > _MAX_INT) for m in made):
        raise DtypeError(f"{call.name} gave an integer above 2**53 beside floats; give it as a result of its own.")
    return np.concatenate([m.reshape(*lead, -1).astype(dtype) for m in made], axis=len(lead))


def _checked(call: Call, result: Any, shape: Shape, dtype: np.dtype, lead: Shape) -> np.ndarray:
    """A result as an array of its own, which nothing else holds: kernels write into arrays that are dead."""
    wanted = (*lead, *shape)
    if result is None:
        return np.zeros(wanted, dtype)
    array = np.asarray(result)
    if len(wanted) != array.ndim or any(d is not None and d != n for d, n in zip(wanted, array.shape, strict=True)):
        shown = tuple(["any" if d is None else d for d in wanted])
        raise ShapeError(
            f"{call.name} gave an array of shape {array.shape} where {shown} was expected: the shape of a result "
            "has to follow from the shapes of the arguments."
        )
    if not np.can_cast(array.dtype, dtype, "same_kind" if call.linear else "safe"):
        raise DtypeError(
            f"{call.name} gave {array.dtype} where {dtype} was expected: the dtype of a result has to follow from "
            "the dtypes of the arguments."
        )
    return np.array(array, dtype)
