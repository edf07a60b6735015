"""Structural operations: they move elements without arithmetic.

slice ↔ assemble (pieces added into zeros), gather ↔ scatter (rows added by index), concatenate, reshape.
A slice is one entry an axis: ``k`` takes one element and drops the axis, ``(start, length, step)``
keeps it. Entries may hold named dims.

Each states once, as a ``Selection``, which elements of a whole a part is; both modes, the structured tangents and
cotangents, sparsity patterns and known zeros follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ..program.dims import Shape, is_named, normal
from ..program.node import Node, emit
from .contraction import is_identity
from .primitive import Params, Primitive

if TYPE_CHECKING:
    from .batching import Batching

Spec = tuple[Any, ...]


def full(shape: Shape) -> Spec:
    """The slice that takes all of every axis."""
    return tuple((0, d, 1) for d in shape)


def turns_round(spec: Spec, shape: Shape) -> bool:
    """Whether a slice of an array of ``shape`` is all of it, some axes from their ends."""
    return all(e == (0, d, 1) or e == (normal(d - 1), d, -1) for e, d in zip(spec, shape, strict=True))


def as_index(spec: Spec) -> tuple[int | slice, ...]:
    """The NumPy index of a slice whose dims are ints."""
    index: list[int | slice] = []
    for e in spec:
        if isinstance(e, tuple):
            start, length, step = e
            stop = start + length * step
            index.append(slice(start, stop if stop >= 0 else None, step) if length else slice(0, 0))
        else:
            index.append(e)
    return tuple(index)


def spell_range(start: Any, length: Any, step: Any, size: Any) -> str:
    """``(start, length, step)`` along an axis of ``size`` as NumPy writes it.

    A slice backwards that ends with the first element has no stop before it that NumPy would read as one: -1 is the
    last element. Where a name stands for the stop it is counted from the end, which is right for every size.

    >>> spell_range(1, 3, 1, 4), spell_range(3, 4, -1, 4), spell_range(3, 2, -2, 5), spell_range(3, 2, -1, 5)
    ('1:4', '::-1', '3::-2', '3:1:-1')
    """
    if isinstance(length, int) and length == 0:
        return f"{start}:{start}"
    stop = normal(start + length * step)
    if is_named(step) or step > 0:
        return f"{start}:{stop}" + (f":{step}" if step != 1 else "")
    first = "" if normal(start + 1 - size) == 0 else start
    last = normal(stop - size) if is_named(stop) else stop if stop >= 0 else ""
    return f"{first}:{last}:{step}"


def spell_slice(spec: Spec, shape: Shape) -> str:
    """A slice of an array of ``shape`` as NumPy writes it."""
    pairs = zip(spec, shape, strict=True)
    entries = [spell_range(e[0], e[1], e[2], d) if isinstance(e, tuple) else str(e) for e, d in pairs]
    return f"[{','.join(entries)}]"


class Selection(Protocol):
    """Which elements of a whole a part is. Wholes and parts may have ``batch`` leading axes."""

    def take(self, whole: Node, batch: int) -> Node:
        """The part of ``whole``."""
        ...

    def put(self, part: Node, shape: Shape, batch: int) -> Node:
        """Zeros of ``shape`` behind the leading axes, with ``part`` added where it is taken from."""
        ...

    def taken(self, whole: np.ndarray, read: Callable[[Node], np.ndarray]) -> np.ndarray:
        """The part of an array; ``read`` gives the value of an index."""
        ...


class Sliced(NamedTuple):
    """The part is a slice of the whole."""

    spec: Spec

    def take(self, whole: Node, batch: int) -> Node:
        return take_slice(whole, full(whole.shape[:batch]) + self.spec)

    def put(self, part: Node, shape: Shape, batch: int) -> Node:
        lead = part.shape[:batch]
        if turns_round(self.spec, shape):
            return self.take(part, batch)
        return assemble([part], lead + shape, [full(lead) + self.spec])

    def taken(self, whole: np.ndarray, read: Callable[[Node], np.ndarray]) -> np.ndarray:
        return whole[as_index(self.spec)]


class Gathered(NamedTuple):
    """The part is what indices find along an axis of the whole."""

    indices: Node
    axis: int

    def take(self, whole: Node, batch: int) -> Node:
        return gather(whole, self.indices, self.axis + batch)

    def put(self, part: Node, shape: Shape, batch: int) -> Node:
        return emit(SCATTER, (part, self.indices), (self.axis + batch, shape[self.axis]))

    def taken(self, whole: np.ndarray, read: Callable[[Node], np.ndarray]) -> np.ndarray:
        return np.take(whole, read(self.indices), axis=self.axis)


class Structural(Primitive):
    """An operation of which every element is one of an operand, a sum of some, or zero."""

    def selection(self, node: Node, key: int) -> tuple[Selection, bool]:
        """What relates ``node`` and operand ``key``, and whether the node is the part; else the operand is."""
        raise NotImplementedError

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        selection, is_part = self.selection(node, key)
        return selection.take(tangent, batch) if is_part else selection.put(tangent, node.shape, batch)

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        selection, is_part = self.selection(node, key)
        return selection.put(ct, source.shape, batch) if is_part else selection.take(ct, batch)


class Slice(Structural):
    """``params = (spec,)``."""

    name = "slice"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        shape = tuple(e[1] for e in params[0] if isinstance(e, tuple))
        return shape, operands[0].dtype, False

    def masks(self, operands: tuple[Node, ...], params: Params) -> bool:
        return operands[0].masked or is_identity(operands[0])

    def selection(self, node: Node, key: int) -> tuple[Selection, bool]:
        return Sliced(node.params[0]), True

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        return take_slice(operands[0], (*full((over.size,)), *node.params[0]))

    def evaluate(self, params: Params, *values: Any) -> Any:
        return values[0][as_index(params[0])]

    def spell(self, node: Node) -> str:
        return "slice" + spell_slice(node.params[0], node.operands[0].shape)


class Assemble(Structural):
    """Zeros of ``shape`` with each operand added at its slice; ``params = (shape, specs)``."""

    name = "assemble"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return params[0], np.result_type(*[o.dtype for o in operands]), False

    def masks(self, operands: tuple[Node, ...], params: Params) -> bool:
        return True

    def selection(self, node: Node, key: int) -> tuple[Selection, bool]:
        return Sliced(node.params[1][key]), False

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        shape, specs = node.params
        lead = full((over.size,))
        return assemble(over.complete(operands, batched), (over.size, *shape), [(*lead, *s) for s in specs])

    def evaluate(self, params: Params, *values: Any) -> Any:
        shape, specs = params
        result = np.zeros(shape, np.result_type(*[np.asarray(v).dtype for v in values]))
        for k, (v, spec) in enumerate(zip(values, specs, strict=True)):
            index, piece = as_index(spec), np.asarray(v)[()]
            result[index] = piece if k == 0 else result[index] + piece  # 0.0 added would lose the sign of -0.0
        return result

    def spell(self, node: Node) -> str:
        shape, specs = node.params
        return "assemble" + ",".join([spell_slice(spec, shape) for spec in specs])


class Gather(Structural):
    """``np.take(x, index, axis)``; ``params = (axis,)``."""

    name = "gather"
    parameters = "[axis={}]"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        x, index = operands
        (axis,) = params
        return x.shape[:axis] + index.shape + x.shape[axis + 1 :], x.dtype, False

    def selection(self, node: Node, key: int) -> tuple[Selection, bool]:
        return Gathered(node.operands[1], node.params[0]), True

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        x, index = operands
        if not batched[1]:
            return gather(x, index, node.params[0] + 1)
        return over.gathered(x, index, batched[0], node.params[0])

    def evaluate(self, params: Params, *values: Any) -> Any:
        return np.take(values[0], values[1], axis=params[0])


class Scatter(Structural):
    """The transpose of gather: rows added by index; ``params = (axis, dim)``."""

    name = "scatter"
    parameters = "[axis={}]"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        y, index = operands
        axis, dim = params
        return y.shape[:axis] + (dim,) + y.shape[axis + index.ndim :], y.dtype, False

    def masks(self, operands: tuple[Node, ...], params: Params) -> bool:
        return True

    def selection(self, node: Node, key: int) -> tuple[Selection, bool]:
        return Gathered(node.operands[1], node.params[0]), False

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        axis, dim = node.params
        if not batched[1]:
            return emit(SCATTER, operands, (axis + 1, dim))
        y, index = over.complete(operands, batched)
        return over.scattered(y, index, axis, dim)

    def evaluate(self, params: Params, *values: Any) -> Any:
        y, index, (axis, dim) = np.asarray(values[0]), values[1], params
        result = np.zeros(y.shape[:axis] + (dim,) + y.shape[axis + np.ndim(index) :], y.dtype)
        np.add.at(result, (slice(None),) * axis + (index,), y)
        return result


class Concatenate(Structural):
    """``np.concatenate``; ``params = (axis,)``."""

    name = "concatenate"
    parameters = "[axis={}]"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        (axis,) = params
        first = operands[0].shape
        length = sum((o.shape[axis] for o in operands[1:]), first[axis])
        return first[:axis] + (length,) + first[axis + 1 :], np.result_type(*[o.dtype for o in operands]), False

    def selection(self, node: Node, key: int) -> tuple[Selection, bool]:
        return Sliced(self.piece(node, key)), False

    def piece(self, node: Node, key: int) -> Spec:
        """Where operand ``key`` stands in the result."""
        (axis,) = node.params
        start = sum((o.shape[axis] for o in node.operands[:key]), 0)
        spec = list(full(node.shape))
        spec[axis] = (start, node.operands[key].shape[axis], 1)
        return tuple(spec)

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        return concatenate(over.complete(operands, batched), node.params[0] + 1)

    def evaluate(self, params: Params, *values: Any) -> Any:
        return np.concatenate(values, axis=params[0])


SLICE, ASSEMBLE, GATHER, SCATTER, CONCATENATE = Slice(), Assemble(), Gather(), Scatter(), Concatenate()


def take_slice(x: Node, spec: Spec) -> Node:
    """``x`` at a slice; ``x`` itself where that is all of it, and what it was where it is turned round twice."""
    if x.primitive is SLICE and x.params[0] == spec and turns_round(spec, x.operands[0].shape):
        return x.operands[0]
    has_number = spec and type(spec[0]) is int
    return x if not has_number and spec == full(x.shape) else emit(SLICE, (x,), (spec,))


def assemble(pieces: Sequence[Node], shape: Shape, specs: Sequence[Spec]) -> Node:
    """Zeros of ``shape`` with each piece added at its slice."""
    return emit(ASSEMBLE, tuple(pieces), (tuple(shape), tuple(specs)))


def gather(x: Node, index: Node, axis: int) -> Node:
    """The entries of ``axis`` that the integer array ``index`` names."""
    return emit(GATHER, (x, index), (axis,))


def concatenate(parts: Sequence[Node], axis: int) -> Node:
    """The parts one after another along ``axis``."""
    return parts[0] if len(parts) == 1 else emit(CONCATENATE, tuple(parts), (axis,))
