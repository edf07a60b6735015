"""Matrix expressions of sympy, computed on arrays of two axes or on traced values."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sympy
from sympy.matrices.expressions.applyfunc import ElementwiseApplyFunction
from sympy.matrices.expressions.matexpr import MatrixElement

from ...primitives.contraction import identity, ones
from ...program.dims import is_named
from ...tracing.trace import current
from ...tracing.tracer import Tracer
from .functions import folded
from .walk import Plan, computed, refused

#: exponents of a matrix that are multiplied out
_MAX_FACTORS = 64


class Matrices:
    """Plans of matrix expressions; ``sizes`` are the dims that named sizes have: numbers, or dims of a trace."""

    def __init__(self, sizes: Mapping[str, Any]) -> None:
        self._sizes = sizes

    def __call__(self, e: Any) -> Plan | None:
        """How to compute a matrix expression; None for one of numbers."""
        if isinstance(e, (sympy.matrices.MatrixBase, sympy.NDimArray)):
            return self._explicit(e)
        made = _PLANS.get(type(e))
        if made is not None:
            return made(e)
        if isinstance(e, (sympy.Identity, sympy.ZeroMatrix, sympy.OneMatrix)):
            return self._constant(e)
        if isinstance(e, sympy.MatrixExpr):
            raise refused(
                e, f"{type(e).__name__} is not read", "Write it with products, sums, transposes, inverses and traces."
            )
        return None

    def _dim(self, dim: Any) -> Any:
        made = sympy.sympify(dim).xreplace(
            {s: sympy.sympify(self._sizes[s.name]) for s in sympy.sympify(dim).free_symbols}
        )
        return int(made) if made.is_Integer else made

    def _constant(self, e: Any) -> Plan:
        def combine() -> Any:
            shape = tuple(map(self._dim, e.shape))
            square = isinstance(e, sympy.Identity)
            if not any(map(is_named, shape)):
                return np.eye(shape[0]) if square else np.full(shape, float(isinstance(e, sympy.OneMatrix)))
            if current() is None:
                raise refused(e, "nothing says how large it is", "Use numbers as its sizes.")
            node = identity(shape[:1]) if square else ones(shape)
            return Tracer(node) if square or isinstance(e, sympy.OneMatrix) else 0.0 * Tracer(node)

        return Plan((), combine)

    def _explicit(self, e: Any) -> Plan:
        """A matrix or an array that is written out."""
        shape = tuple(map(int, e.shape))

        def combine(*values: Any) -> Any:
            arrays = [v if isinstance(v, Tracer) else np.asarray(v, float) for v in values]
            if len({a.shape for a in arrays}) > 1:
                arrays = np.broadcast_arrays(*arrays)
            stacked = np.stack(arrays, axis=-1)
            return np.reshape(stacked, (*stacked.shape[:-1], *shape))

        return Plan(list(e.flat() if hasattr(e, "flat") else sympy.flatten(e)), combine)


def _product(e: Any) -> Plan:
    """Numbers times matrices; matrices of one row and column multiply as matrices do."""
    scalars = [a for a in e.args if not getattr(a, "is_Matrix", False)]
    matrices = [a for a in e.args if getattr(a, "is_Matrix", False)]

    def combine(*values: Any) -> Any:
        made = functools.reduce(operator.matmul, values[len(scalars) :])
        for v in values[: len(scalars)]:
            made = -made if type(v) is int and v == -1 else v * made
        return made

    return Plan([*scalars, *matrices], combine)


def _power(e: Any) -> Plan:
    base, exponent = e.args
    if not exponent.is_Integer or abs(int(exponent)) > _MAX_FACTORS:
        raise refused(e, "the exponent is no small whole number", "Write it in another way.")
    return Plan((base,), lambda a: np.linalg.matrix_power(a, int(exponent)))


def _elementwise(e: Any) -> Plan:
    element = sympy.Dummy("element")
    return Plan((e.expr,), lambda a: computed([e.function(element)], {element: a}, lambda _: None)[0])


def _element(e: Any) -> Plan:
    inner, i, j = e.args
    if not (i.is_Integer and j.is_Integer):
        raise refused(e, "its indices are no numbers", "Substitute numbers for them.")
    return Plan((inner,), lambda a: a[int(i), int(j)])


def _elements_power(e: Any) -> Plan:
    element = sympy.Dummy("element")
    return Plan((e.base, e.exp), lambda a, p: computed([element**e.exp], {element: a, e.exp: p}, lambda _: None)[0])


_PLANS: dict[Any, Callable[[Any], Plan]] = {
    sympy.Transpose: lambda e: Plan(e.args, np.transpose),
    sympy.Adjoint: lambda e: Plan(e.args, np.transpose),
    sympy.MatMul: _product,
    sympy.MatAdd: lambda e: Plan(e.args, folded(operator.add)),
    sympy.HadamardProduct: lambda e: Plan(e.args, folded(operator.mul)),
    sympy.HadamardPower: _elements_power,
    sympy.MatPow: _power,
    sympy.Inverse: lambda e: Plan(e.args[:1], np.linalg.inv),
    sympy.Trace: lambda e: Plan(e.args[:1], np.trace),
    sympy.Determinant: lambda e: Plan(e.args[:1], np.linalg.det),
    sympy.DiagMatrix: lambda e: Plan(e.args[:1], lambda a: np.diag(a[:, 0])),
    ElementwiseApplyFunction: _elementwise,
    MatrixElement: _element,
}
