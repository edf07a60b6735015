"""The value of a matrix expression on arrays: a walk over the tree, one NumPy call an operation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ...primitives.elementwise import TEMPLATES
from ...primitives.selection import as_index
from .expression import Expression

Array = Any


class Evaluation:
    """Values of expressions, each computed once; matrices are two-dimensional, vectors columns."""

    def __init__(
        self, arrays: Mapping[str, np.ndarray], dims: Mapping[Any, int], guarded: Collection[Expression] = ()
    ) -> None:
        self._arrays = arrays
        self._dims = dims
        self._guarded = guarded  # one over these is 0 where they are 0
        self._known: dict[Expression, Array] = {}

    def __call__(self, x: Expression) -> Array:
        if x not in self._known:
            self._known[x] = self._value(x)
        return self._known[x]

    def size(self, dim: Any) -> int:
        """A dim as an int."""
        return dim if isinstance(dim, int) else int(dim.subs(self._dims))

    def _value(self, x: Expression) -> Array:
        rows, columns = self.size(x.rows), self.size(x.columns)
        if x.op == "leaf":
            return np.reshape(self._arrays[x.data], (rows, columns))
        if x.op == "number":
            return np.array([[float(x.data.subs(self._dims))]])
        if x.op == "scaled":
            return self._scaled(x)
        if x.op == "hadamard":
            return self._hadamard(x)
        if x.op in _CONSTANTS:
            return _CONSTANTS[x.op](rows, columns)
        if x.op == "commutation":
            m, n = map(self.size, x.data)
            return np.eye(m * n).reshape(m, n, m, n).transpose(1, 0, 2, 3).reshape(m * n, m * n)
        return _VALUES[x.op](x, *[self(a) for a in x.args])

    def _scaled(self, x: Expression) -> Array:
        coefficient, over = x.data
        cut = len(x.args) - 1 - over
        value = self(x.args[-1]) * float(coefficient.subs(self._dims))
        for a in x.args[:cut]:
            value = value * self(a)
        for a in x.args[cut:-1]:
            value = self._divided(value, a)
        return value

    def _hadamard(self, x: Expression) -> Array:
        cut = len(x.args) - x.data
        value = self(x.args[0])
        for a in x.args[1:cut]:
            value = value * self(a)
        for a in x.args[cut:]:
            value = self._divided(value, a)
        return value

    def _divided(self, value: Array, divisor: Expression) -> Array:
        below = self(divisor)
        bare = Expression("norm", divisor.args, Fraction(1)) if divisor.op == "norm" else divisor
        while bare.op == "power" and bare not in self._guarded:
            bare = bare.args[0]
        return np.where(below == 0, 0.0, value / below) if bare in self._guarded else value / below


def _product(x: Expression, *factors: Array) -> Array:
    value = factors[0]
    for f in factors[1:]:
        value = value @ f
    return value


def _function(x: Expression, *values: Array) -> Array:
    if x.data == "sigmoid":
        return 1 / (1 + np.exp(-values[0]))
    if x.data == "relu":
        return np.maximum(values[0], 0)
    if x.data == "tie":
        return np.where(values[0] == values[1], 0.5, 1.0)
    if x.data == "step":
        return np.heaviside(values[0], 0.5)
    return np.asarray(TEMPLATES[x.data].ufunc(*values), dtype=np.float64)


def _norm(x: Expression, value: Array) -> Array:
    return np.array([[float(np.sqrt(np.sum(value**2))) ** _exponent(x.data)]])


def _exponent(power: Fraction) -> int | float:
    return int(power) if power.denominator == 1 else float(power)


def _shifted(x: Expression, value: Array) -> tuple[Array, Array]:
    axes = _axes(x, value)
    top = np.max(value, axis=axes, keepdims=True)
    return top, np.exp(value - top)


def _axes(x: Expression, value: Array) -> tuple[int, ...]:
    return (0, 1) if value.shape[1] == 1 and x.args[0].columns == 1 else x.data if x.op != "reduction" else x.data[1]


def _softmax(x: Expression, value: Array) -> Array:
    _, e = _shifted(x, value)
    return e / np.sum(e, axis=_axes(x, value), keepdims=True)


def _logsumexp(x: Expression, value: Array) -> Array:
    top, e = _shifted(x, value)
    return (np.log(np.sum(e, axis=_axes(x, value), keepdims=True)) + top).reshape(-1, 1)


def _reduction(x: Expression, value: Array) -> Array:
    function = {"max": np.max, "min": np.min, "prod": np.prod}[x.data[0]]
    return np.reshape(function(value, axis=_axes(x, value)), (-1, 1))


def _slice(x: Expression, value: Array) -> Array:
    flat = value if len(x.data) == 2 else value[:, 0]
    taken = np.asarray(flat[as_index(x.data)])
    return taken if taken.ndim == 2 else taken.reshape(-1, 1)


_CONSTANTS: dict[str, Callable[[int, int], Array]] = {
    "identity": lambda rows, columns: np.eye(rows),
    "ones": lambda rows, columns: np.ones((rows, columns)),
    "all_ones": lambda rows, columns: np.ones((rows, columns)),
    "zero": lambda rows, columns: np.zeros((rows, columns)),
}

_VALUES: dict[str, Callable[..., Array]] = {
    "sum": lambda x, *v: sum(v[1:], v[0]),
    "product": _product,
    "transpose": lambda x, v: v.T,
    "inverse": lambda x, v: np.linalg.inv(v),
    "power": lambda x, v: v ** _exponent(x.data),
    "function": _function,
    "norm": _norm,
    "kron": lambda x, a, b: np.kron(a, b),
    "det": lambda x, v: np.array([[np.linalg.det(v)]]),
    "logdet": lambda x, v: np.array([[np.linalg.slogdet(v)[1]]]),
    "trace": lambda x, v: np.array([[np.trace(v)]]),
    "diag": lambda x, v: np.diag(v[:, 0]),
    "diagonal": lambda x, v: np.diagonal(v).reshape(-1, 1),
    "total": lambda x, v: np.array([[np.sum(v)]]),
    "vec": lambda x, v: v.reshape(-1, 1),
    "softmax": _softmax,
    "logsumexp": _logsumexp,
    "reduction": _reduction,
    "slice": _slice,
}
