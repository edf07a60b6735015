"""The value of a matrix expression: a walk over the tree, one NumPy call an operation.

Vectors have one axis, as NumPy has them, columns and rows alike. On arrays the walk computes; on ``Code`` it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from operator import add, matmul, mul
from typing import Any

import numpy as np
import sympy

from ...primitives.elementwise import ELEMENTWISE, TRUTHS
from ...primitives.selection import as_index
from .code import Code
from .expression import Expression, number
from .terms import NotExpressible

Array = Any


class Evaluation:
    """Values of expressions, each computed once, for ``arrays`` by name; those of ``known`` are given.

    One over a ``guarded`` expression is 0 where that is 0.
    """

    def __init__(
        self, arrays: Mapping[str, Array], dims: Mapping[Any, int], guarded: Collection[Expression] = ()
    ) -> None:
        self.known: dict[Expression, Array] = {}
        self._arrays = arrays
        self._dims = dims
        self._guarded = guarded

    def __call__(self, x: Expression) -> Array:
        if x not in self.known:
            self.known[x] = self._value(x)
        return self.known[x]

    def size(self, dim: Any) -> Any:
        """A dim, or an index, as an int."""
        return dim if dim is None or isinstance(dim, int) else int(dim.subs(self._dims))

    def number(self, value: Any) -> Any:
        """A number of a formula."""
        return float(value.subs(self._dims))

    def filled(self, function: str, *sizes: Any) -> Array:
        """``np.eye``, ``np.ones`` or ``np.zeros`` of these sizes."""
        return np.eye(*sizes) if function == "eye" else getattr(np, function)(sizes)

    def _value(self, x: Expression) -> Array:
        if x.op in _FILLED:
            sizes = [self.size(d) for d in (x.rows, x.columns) if d != 1]
            return self.filled(_FILLED[x.op], *(sizes[:1] if x.op == "identity" else sizes))
        return _CALLED[x.op](self(x.args[0])) if x.op in _CALLED else getattr(self, f"_{x.op}")(x)

    def _leaf(self, x: Expression) -> Array:
        return self._arrays[x.data]

    def _number(self, x: Expression) -> Array:
        return self.number(x.data)

    def _unit(self, x: Expression) -> Array:
        return self.filled("eye", self.size(x.rows))[self.size(x.data)]

    def _sum(self, x: Expression) -> Array:
        return reduce(add, map(self, x.args))

    def _product(self, x: Expression) -> Array:
        return self._chain(x.args)

    def _hadamard(self, x: Expression) -> Array:
        cut = len(x.args) - x.data
        value = self._over(reduce(mul, map(self, x.args[:cut])), x.args[cut:])
        return self._masked(value, x.args[:cut])

    def _masked(self, value: Array, factors: Sequence[Expression]) -> Array:
        """A product that is 0 where one of its masks is, whatever is infinite or missing there."""
        for mask in filter(_is_mask, factors):
            value = np.where(self(mask) == 0, 0.0, value)
        return value

    def _power(self, x: Expression) -> Array:
        return self(x.args[0]) ** self.number(sympy.Rational(x.data))

    def _norm(self, x: Expression) -> Array:
        norm = np.linalg.norm(self(x.args[0]))
        return norm if x.data == 1 else norm ** self.number(sympy.Rational(x.data))

    def _transpose(self, x: Expression) -> Array:
        value = self(x.args[0])
        return value if 1 in (x.rows, x.columns) else value.T

    def _kron(self, x: Expression) -> Array:
        return np.kron(*map(self._two_dimensional, x.args))

    def _function(self, x: Expression) -> Array:
        value = self._of_name(x.data)(*map(self, x.args))
        return value if isinstance(value, Code) else np.asarray(value, dtype=np.float64)

    def _of_name(self, name: str) -> Callable[..., Array]:
        """The function that an elementwise operation is; SciPy's are looked up where one is met."""
        if name in _NAMED or name in ELEMENTWISE:
            return _NAMED[name] if name in _NAMED else ELEMENTWISE[name].ufunc
        from ...primitives.special import OPERATIONS  # imports scipy

        return OPERATIONS[name].ufunc

    def _applied(self, x: Expression) -> Array:
        return x.data(*map(self, x.args))

    def _softmax(self, x: Expression) -> Array:
        value, along = self(x.args[0]), _along(x, x.data)
        kept: dict[str, Any] = along | {"keepdims": True} if along else along
        return np.exp(value - np.logaddexp.reduce(value, **kept))

    def _logsumexp(self, x: Expression) -> Array:
        return np.logaddexp.reduce(self(x.args[0]), **_along(x, x.data))

    def _reduction(self, x: Expression) -> Array:
        function, axes = x.data
        return getattr(np, function)(self(x.args[0]), **_along(x, axes))

    def _slice(self, x: Expression) -> Array:
        def sized(e: Any) -> Any:
            return slice(*map(self.size, (e.start, e.stop, e.step))) if isinstance(e, slice) else self.size(e)

        return self(x.args[0])[tuple(map(sized, as_index(tuple(x.data))))]

    def _onehot(self, x: Expression) -> Array:
        size = self.size(x.rows if x.columns == 1 else x.columns)
        return self.filled("eye", size)[self._index(x.args[0])]

    def _picked(self, x: Expression) -> Array:
        return self(x.args[0])[tuple(map(self._index, x.args[1:]))]

    def _index(self, x: Expression) -> Array:
        value = self(x)
        return value if isinstance(value, Code) else np.asarray(value, dtype=int)

    def _commutation(self, x: Expression) -> Array:
        m, n = map(self.size, x.data)
        turned = np.swapaxes(np.reshape(self.filled("eye", m * n), (m, n, m, n)), 0, 1)
        return np.reshape(turned, (m * n, m * n))

    def _scaled(self, x: Expression) -> Array:
        coefficient, top, bottom, body = x.parts
        negative = bool(coefficient.could_extract_minus_sign())
        coefficient = -coefficient if negative else coefficient
        factors = [self(a) for a in (*top, body) if a != _ONE]
        if coefficient != 1 or not factors:
            factors.insert(0, self.number(coefficient))
        value = self._over(reduce(mul, factors), bottom)
        return -value if negative else value

    def _over(self, value: Array, divisors: Sequence[Expression]) -> Array:
        for divisor in divisors:
            below = self(divisor)
            bare = Expression("norm", divisor.args, Fraction(1)) if divisor.op == "norm" else divisor
            while bare.op in ("power", "slice") and bare not in self._guarded:
                bare = bare.args[0]
            value = np.where(below == 0, 0.0, value / below) if bare in self._guarded else value / below
        return value

    def _chain(self, factors: Sequence[Expression]) -> Array:
        """A chain of matrix products, cut where a column stands before a row."""
        cut = next((k for k, a in enumerate(factors[:-1], 1) if a.columns == 1), 0)
        if not cut:
            return reduce(matmul, map(self, factors))
        return np.outer(self._chain(factors[:cut]), self._chain(factors[cut:]))

    def _two_dimensional(self, x: Expression) -> Array:
        value = self(x)
        if x.rows != 1 and x.columns != 1:
            return value
        return value[:, None] if x.columns == 1 else value[None]


def _is_mask(x: Expression) -> bool:
    """True for what chooses elements: truth values, unit vectors, and products of such."""
    if x.op == "function":
        operation = ELEMENTWISE.get(x.data)
        return operation is not None and operation.name in TRUTHS
    if x.op == "number":
        return x.data == 1
    return x.op in _MASKS or (x.op in _OF_MASKS and all(map(_is_mask, x.args)))


class Writing(Evaluation):
    """The same as source: ``2 / X.shape[0] * X.T @ (X @ w - y)``; ``dims`` spells named dims."""

    def __init__(self, dims: Mapping[Any, str]) -> None:
        super().__init__(_Named(), {})
        self._spelled = {d: sympy.Symbol(spelled) for d, spelled in dims.items()}

    def _value(self, x: Expression) -> Code:
        made = super()._value(x)
        made.is_scalar = x.is_scalar
        return made

    def size(self, dim: Any) -> Any:
        return dim if dim is None else self.number(sympy.sympify(dim))

    def number(self, value: Any) -> Code:
        return Code.number(value, self._spelled)

    def _applied(self, x: Expression) -> Code:
        raise NotExpressible

    def _masked(self, value: Code, factors: Sequence[Expression]) -> Code:
        return value  # as people write it

    def filled(self, function: str, *sizes: Any) -> Code:
        return Code.call(f"np.{function}", sizes if function == "eye" or len(sizes) == 1 else [sizes])


class _Named(dict):
    """Arrays that are called what they are called."""

    def __missing__(self, name: str) -> Code:
        return Code(name)


_ONE = number(1)
#: what has no elements but 0 and 1
_MASKS = {"unit", "onehot", "identity", "ones", "all_ones"}
#: what is 0 and not 0 as the masks that it is made of
_OF_MASKS = {"product", "hadamard", "transpose", "scaled", "power"}
#: what stands for a matrix that is the same for all values
_FILLED = {"identity": "eye", "ones": "ones", "all_ones": "ones", "zero": "zeros"}


#: operations that are a function of NumPy
_CALLED: dict[str, Callable[[Array], Array]] = {
    "inverse": np.linalg.inv,
    "det": np.linalg.det,
    "logdet": lambda v: np.linalg.slogdet(v)[1],
    "trace": np.trace,
    "diag": np.diag,
    "diagonal": np.diagonal,
    "total": np.sum,
    "mean": np.mean,
    "vec": np.ravel,
}
#: functions of matrix notation that are no operations
_NAMED: dict[str, Callable[..., Array]] = {
    "sigmoid": lambda v: 1 / (1 + np.exp(-v)),
    "density": lambda v: np.exp(-v * v / 2) / np.sqrt(2 * np.pi),
    "relu": lambda v: np.maximum(v, 0),
    "tie": lambda a, b: np.where(np.equal(a, b), 0.5, 1.0),
    "step": lambda v: np.heaviside(v, 0.5),
}


def _along(x: Expression, axes: tuple[int, ...]) -> dict[str, Any]:
    """The axis of a matrix, as NumPy is told; a vector has one only."""
    (a,) = x.args
    return {} if 1 in (a.rows, a.columns) else {"axis": axes[0] if len(axes) == 1 else None}
