"""Graph: the few operators that everything else is written with.

They are those of the standard domain that onnxruntime computes in float64 on a CPU: where an operator has no such
kernel, or one that loses digits or NaN, it is not used.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ...errors import UnsupportedOperation
from ...program.dims import Dim, Shape, broadcast, is_concrete, is_named, normal, size
from ...program.node import Node
from .formulas import DOUBLE, formula_of
from .operators import COMPARISONS, TESTS, operator_of
from .steps import BOOL, DTYPES, INT, Steps, Value, supported, xp

_LOWEST, _HIGHEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


class Graph(Steps):
    """Steps with the operators as methods."""

    def __init__(self, inputs: Sequence[Node], names: Sequence[str], taken: Collection[str]) -> None:
        super().__init__(inputs, names, taken)
        #: a transposed array -> what it was, and the order of its axes
        self._turned: dict[Value, tuple[Value, list[int]]] = {}

    def reshape(self, x: Value, shape: Shape) -> Value:
        """The same elements in C order under another shape."""
        shape = tuple(shape)
        if x.shape == shape:
            return x
        if not is_concrete(shape) and [d for d in x.shape if d != 1] == [d for d in shape if d != 1]:
            wide = self.squeeze(x, [k for k, d in enumerate(x.shape) if d == 1])
            return self.unsqueeze(wide, [k for k, d in enumerate(shape) if d == 1])
        return self.apply("Reshape", [x, self.dims(shape)], x.dtype, shape, allowzero=1)

    def transpose(self, x: Value, axes: Sequence[int]) -> Value:
        """``np.transpose``; two of them are one."""
        if list(axes) == list(range(x.rank)):
            return x
        turned = self._turned.get(x)
        if turned is not None:
            x, first = turned
            return self.transpose(x, [first[k] for k in axes])
        made = self.apply("Transpose", [x], x.dtype, [x.shape[k] for k in axes], perm=list(axes))
        self._turned[made] = x, list(axes)
        return made

    def places(self, dim: Dim) -> Value:
        """``np.arange``"""
        if not is_named(dim):
            return self.constant(np.arange(dim), INT)
        ends = [self.constant(0, INT), self.reshape(self.dim(dim), ()), self.constant(1, INT)]
        return self.apply("Range", ends, INT, (dim,))

    def is_given(self, x: Value) -> bool:
        """True for an input or a constant, which no step has made."""
        return x in self.inputs or x.name in self.initializers

    def unsqueeze(self, x: Value, axes: Sequence[int]) -> Value:
        """Axes of one put in, numbered as those of the result."""
        if not axes:
            return x
        rest = iter(x.shape)
        shape = [1 if k in axes else next(rest) for k in range(x.rank + len(axes))]
        return self.apply("Unsqueeze", [x, self.constant(list(axes), INT)], x.dtype, shape)

    def squeeze(self, x: Value, axes: Sequence[int]) -> Value:
        """Axes of one taken out."""
        if not axes:
            return x
        shape = [d for k, d in enumerate(x.shape) if k not in axes]
        return self.apply("Squeeze", [x, self.constant(list(axes), INT)], x.dtype, shape)

    def expand(self, x: Value, shape: Shape) -> Value:
        """``np.broadcast_to``."""
        shape = tuple(shape)
        return x if x.shape == shape else self.apply("Expand", [x, self.dims(shape)], x.dtype, shape)

    def slice(self, x: Value, axes: Sequence[int], entries: Sequence[tuple[Dim, Dim, Dim]]) -> Value:
        """``(start, length, step)`` of some axes."""
        if not axes:
            return x
        shape = list(x.shape)
        for axis, (_, length, _) in zip(axes, entries, strict=True):
            shape[axis] = length
        starts, ends, steps = (self.dims(c) for c in zip(*[(s, 0, t) for s, _, t in entries], strict=True))
        ends = self._ends(entries)
        return self.apply("Slice", [x, starts, ends, self.constant(list(axes), INT), steps], x.dtype, shape)

    def _ends(self, entries: Sequence[tuple[Dim, Dim, Dim]]) -> Value:
        """Where slices end; a negative place would count from the end of the axis."""
        parts = []
        for start, length, step in entries:
            stop = normal(start + length * step)
            if normal(length) == 0:
                parts.append(self.dim(start))
            elif not is_named(stop):
                parts.append(self.constant([_LOWEST if stop < 0 and step < 0 else _whole_end(start, stop)], INT))
            elif not is_named(step) and step > 0:
                parts.append(self.dim(stop))
            else:
                end = self.dim(stop)
                parts.append(xp.where(end < 0, _LOWEST, end))
        if all(p.name in self.initializers for p in parts):
            return self.constant(np.concatenate([self.initializers[p.name] for p in parts]), INT)
        return parts[0] if len(parts) == 1 else self.apply("Concat", parts, INT, (len(parts),), axis=0)

    def pad(self, x: Value, before: Sequence[Dim], after: Sequence[Dim]) -> Value:
        """Zeros put around."""
        if all(normal(d) == 0 for d in (*before, *after)):
            return x
        shape = [normal(a + d + b) for a, d, b in zip(before, x.shape, after, strict=True)]
        return self.apply("Pad", [x, self.dims([*before, *after]), self.like(0, x)], x.dtype, shape)

    # elementwise

    def cast(self, x: Value, dtype: Any) -> Value:
        """``x`` as another dtype; a truth value is True where a number is not 0."""
        dtype = supported(np.dtype(dtype))
        if x.dtype == dtype:
            return x
        if x.name in self.initializers:
            with np.errstate(all="ignore"):
                return self.constant(self.initializers[x.name].astype(dtype), dtype)
        return self.apply("Cast", [x], dtype, x.shape, to=DTYPES[dtype])

    def operation(self, name: str, *operands: Any) -> Value:
        """An elementwise operation by its operator, or by the formula that it has over others.

        Operands are of the dtype of NumPy's loop; numbers take that of the first tensor beside them.
        """
        beside = operands[1:] if name == "where" else operands
        first = next(x for x in beside if isinstance(x, Value))
        xs = [x if isinstance(x, Value) else self.like(x, first) for x in operands]
        if name.startswith("logical_"):
            xs = [x.astype(bool) for x in xs]
        elif name in COMPARISONS and xs[0].dtype == BOOL:
            xs = [x.astype(np.int32) for x in xs]
        folded = self._product(*xs) if name == "multiply" else None
        if folded is not None:
            return folded
        dtype = xs[-1].dtype if name == "where" else xs[0].dtype
        operator = operator_of(name, dtype)
        if operator is None:
            return self._formula(name, dtype, xs)
        made = BOOL if name in (*COMPARISONS, *TESTS) else dtype
        attributes = {"fmod": 1} if operator == "Mod" else {}
        return self.apply(operator, xs, made, broadcast(*[x.shape for x in xs]), **attributes)

    def _product(self, a: Value, b: Value) -> Value | None:
        """A product with a number of the model that is known, or is 1 or -1; None for others."""
        known, beside = self.initializers.get(a.name), self.initializers.get(b.name)
        if known is None or known.shape or a.dtype == BOOL:
            return None
        if beside is not None and not beside.shape:
            with np.errstate(all="ignore"):
                return self.constant(known * beside, a.dtype)
        return b if known == 1 else -b if known == -1 else None

    def _formula(self, name: str, dtype: np.dtype, xs: Sequence[Value]) -> Value:
        found = formula_of(name, dtype)
        if found is None:
            raise UnsupportedOperation(
                f"onnx: {name} has no operator in the standard domain for {dtype}; write it with functions that have "
                "one, or export to another format, such as python or torch."
            )
        if name in DOUBLE:
            return found(*[x.astype(np.float64) for x in xs]).astype(dtype)
        return found(*xs)

    # sums

    def reduced(self, operator: str, x: Value, axes: Sequence[int]) -> Value:
        """One of the operators that reduce over some axes."""
        shape = [d for k, d in enumerate(x.shape) if k not in axes]
        return self.apply(operator, [x, self.constant(list(axes), INT)], x.dtype, shape, keepdims=0)

    def any(self, x: Value, axes: Sequence[int]) -> Value:
        """Whether one of the truth values is True over some axes."""
        return self.reduced("ReduceMax", x.astype(np.int32), axes).astype(bool)

    def total(self, x: Value, axes: Sequence[int]) -> Value:
        """The sum over some axes. Whole numbers are multiplied with ones: onnxruntime sums them as floats."""
        if not axes:
            return x
        if x.is_float:
            return self.reduced("ReduceSum", x, axes)
        rest = [k for k in range(x.rank) if k not in axes]
        count = size(tuple(x.shape[k] for k in axes))
        shape = tuple(x.shape[k] for k in rest)
        rows = self.reshape(self.transpose(x, [*rest, *axes]), (*shape, count))
        ones = self.expand(self.constant([1], x.dtype), (count,))
        return self.apply("MatMul", [rows, ones], x.dtype, shape)


def _whole_end(start: Dim, stop: int) -> int:
    """The end of a slice; one that takes the last element from a negative start ends with the axis."""
    return _HIGHEST if not is_named(start) and start < 0 <= stop else stop
