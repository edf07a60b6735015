"""Steps: the nodes of a graph as they are made, its constants, and sizes that are read off the inputs."""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy
from numpy.lib.mixins import NDArrayOperatorsMixin

from ...errors import UnsupportedOperation
from ...program.dims import Dim, Shape, is_named, normal
from ...program.node import Node

#: the first with bitwise operators and with axes of all reductions as inputs
OPSET = 18
#: what tensors may hold, with the number ONNX gives the type
DTYPES = {np.dtype(k): n for k, n in (("f4", 1), ("i4", 6), ("i8", 7), ("?", 9), ("f8", 11))}
#: NumPy, whose functions take tensors
xp: Any = np
INT = np.dtype(np.int64)
BOOL = np.dtype(bool)


@dataclass(frozen=True, eq=False)
class Value(NDArrayOperatorsMixin):
    """A tensor of the graph, on which NumPy's functions are steps; dims are ints or sympy expressions in named dims."""

    name: str
    dtype: np.dtype
    shape: Shape
    graph: Steps = field(repr=False)

    # equality is that of tensors, not of their elements: these are compared by ``np.equal``

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_float(self) -> bool:
        return self.dtype.kind == "f"

    def astype(self, dtype: Any) -> Value:
        """The tensor in another dtype; a truth value is True where a number is not 0."""
        return self.graph.cast(self, dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Value:
        assert method == "__call__", method
        assert not kwargs, kwargs
        return self.graph.operation(ufunc.__name__, *inputs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Value:
        assert func is np.where, func
        return self.graph.operation("where", *args)


@dataclass(frozen=True)
class Step:
    """One node of the graph."""

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]

    @property
    def read(self) -> set[str]:
        """What it reads, and the graph within it."""
        inner = self.attributes.get("body")
        return {*self.inputs} | (inner.read if isinstance(inner, Inner) else set())


@dataclass(frozen=True, eq=False)
class Inner:
    """A graph within a node, which reads what has been made around it too."""

    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    steps: tuple[Step, ...]

    @property
    def read(self) -> set[str]:
        """What its steps read, of its own and from around it."""
        return {name for step in self.steps for name in step.read}


def needed(steps: Sequence[Step], wanted: Sequence[str]) -> list[Step]:
    """The steps that lead to what is wanted, in order."""
    open_ends, found = set(wanted), []
    for step in reversed(steps):
        if not open_ends.isdisjoint(step.outputs):
            found.append(step)
            open_ends.update(step.read)
    return found[::-1]


class Steps:
    """Grows step by step; the same step twice is one."""

    def __init__(self, inputs: Sequence[Node], names: Sequence[str], taken: Collection[str]) -> None:
        """``names`` are those of the inputs, ``taken`` all that stand for something already."""
        self.steps: list[Step] = []
        self.initializers: dict[str, np.ndarray] = {}
        self.nodes = list(inputs)
        self.inputs = [Value(n, supported(x.dtype), x.shape, self) for n, x in zip(names, inputs, strict=True)]
        #: dims that must be as the sign says for the result to hold
        self.facts: dict[tuple[Dim, str], None] = {}
        #: scalar truth values that must be True for it
        self.conditions: list[Value] = []
        self._differences: set[Dim] = set()
        self._taken = set(taken)
        self._made: dict[tuple, Value] = {}
        self._constants: dict[tuple, Value] = {}
        self._dims: dict[Dim, Value] = {}
        self._binding, self._part = "v", 0

    def begin(self, name: str) -> None:
        """A new binding begins: its parts are named after it."""
        self._binding, self._part = name, 0

    def _name(self) -> str:
        while True:
            self._part += 1
            name = f"{self._binding}_{self._part}"
            if name not in self._taken:
                self._taken.add(name)
                return name

    def apply(
        self, operator: str, inputs: Sequence[Value], dtype: Any, shape: Sequence[Dim], **attributes: Any
    ) -> Value:
        """The result of an operator (of TopK the places), whose dtype and shape the caller knows."""
        names = tuple(v.name for v in inputs)
        key = (operator, names, tuple((k, tuple(v) if isinstance(v, list) else v) for k, v in attributes.items()))
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = Value(self._name(), np.dtype(dtype), tuple(shape), self)
            self._sizes_hold(found.shape)
            unread = (self._name(),) if operator == "TopK" else ()
            self.steps.append(Step(operator, names, (*unread, found.name), attributes))
        return found

    def several(
        self, operator: str, inputs: Sequence[Value], kinds: Sequence[tuple[np.dtype, Shape]], **attributes: Any
    ) -> list[Value]:
        """All results of an operator, of which each has a dtype and a shape."""
        made = [self.fresh(*kind) for kind in kinds]
        self.steps.append(Step(operator, tuple([v.name for v in inputs]), tuple([v.name for v in made]), attributes))
        return made

    def fresh(self, dtype: np.dtype, shape: Shape) -> Value:
        """A tensor that something else makes."""
        return Value(self._name(), supported(dtype), tuple(shape), self)

    @contextlib.contextmanager
    def inside(self) -> Iterator[list[Step]]:
        """Inside, steps are those of a graph within a node: what they make is there alone."""
        outer = self.steps, self._made, self._dims
        self.steps, self._made, self._dims = [], dict(self._made), dict(self._dims)
        try:
            yield self.steps
        finally:
            self.steps, self._made, self._dims = outer

    def _sizes_hold(self, shape: Shape) -> None:
        """A size that is a difference is none where it is negative."""
        for d in shape:
            if is_named(d) and d not in self._differences:
                self._differences.add(d)
                if any(term.could_extract_minus_sign() for term in sympy.Add.make_args(d)):
                    self.facts[d, "nonnegative"] = None

    def copy(self, x: Value) -> Value:
        """``x`` under a name of its own."""
        made = Value(self._name(), x.dtype, x.shape, self)
        self.steps.append(Step("Identity", (x.name,), (made.name,), {}))
        return made

    def operation(self, name: str, *operands: Any) -> Value:
        """An elementwise operation of NumPy's."""
        raise NotImplementedError

    def cast(self, x: Value, dtype: Any) -> Value:
        """A tensor in another dtype."""
        raise NotImplementedError

    # constants and dims

    def constant(self, value: Any, dtype: Any) -> Value:
        """An array that is part of the model."""
        array = np.array(value, dtype=dtype, order="C")
        key = (array.dtype, array.shape, array.tobytes())
        found = self._constants.get(key)
        if found is None:
            name, count = f"c{len(self._constants)}", 0
            while name in self._taken:
                count += 1
                name = f"c{len(self._constants)}_{count}"
            self._taken.add(name)
            self.initializers[name] = array
            found = self._constants[key] = Value(name, supported(array.dtype), array.shape, self)
        return found

    def like(self, value: float, x: Value) -> Value:
        """A scalar of the dtype of ``x``."""
        return self.constant(value, x.dtype)

    def dim(self, dim: Dim) -> Value:
        """A dim as a vector of one element, read off the shapes of the inputs."""
        dim = normal(dim)
        found = self._dims.get(dim)
        if found is None:
            found = self._dims[dim] = self._made_dim(dim)
        return found

    def _made_dim(self, dim: Dim) -> Value:
        if not is_named(dim):
            return self.constant([dim], INT)
        if isinstance(dim, sympy.Symbol):
            for x in self.inputs:
                if dim in x.shape:
                    axis = x.shape.index(dim)
                    return self.apply("Shape", [x], INT, (1,), start=axis, end=axis + 1)
            raise UnsupportedOperation(
                f"onnx: the dim {dim} is the length of no axis of an input, so a model cannot know it."
            )
        top, bottom = sympy.fraction(sympy.together(dim))
        whole = self._polynomial(top)
        return whole if bottom == 1 else whole / self._polynomial(bottom)

    def _polynomial(self, dim: sympy.Expr) -> Value:
        """A polynomial with whole coefficients."""
        if dim.is_Integer or isinstance(dim, sympy.Symbol):
            return self.dim(dim)
        if isinstance(dim, sympy.Pow) and dim.exp.is_Integer and dim.exp > 0:
            return functools.reduce(operator.mul, [self._polynomial(dim.base)] * int(dim.exp))
        if isinstance(dim, sympy.Add | sympy.Mul):
            joined = operator.add if isinstance(dim, sympy.Add) else operator.mul
            return functools.reduce(joined, map(self._polynomial, dim.args))
        raise UnsupportedOperation(f"onnx: the size {dim} is no polynomial in named dims; export with arrays.")

    def dims(self, dims: Sequence[Dim]) -> Value:
        """Dims as a vector."""
        if all(not is_named(d) for d in dims):
            return self.constant([int(d) for d in dims], INT)
        parts = [self.dim(d) for d in dims]
        return parts[0] if len(parts) == 1 else self.apply("Concat", parts, INT, (len(parts),), axis=0)

    def require_elements(self, dim: Dim) -> None:
        """Take note that a size is not 0, or the result does not hold."""
        if is_named(dim):
            self.facts[normal(dim), "not zero"] = None


def supported(dtype: np.dtype) -> np.dtype:
    """``dtype`` itself, or an error where exported models do not hold it."""
    if dtype not in DTYPES:
        raise UnsupportedOperation(
            f"onnx: arrays of {dtype} are not written; cast to float64, float32, int64, int32 or bool before."
        )
    return dtype
