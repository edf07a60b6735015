"""Functions of square matrices, as ``exp(A)``, and Sylvester's equation, by ``scipy.linalg``.

scipy is imported where a value is computed. The derivative of ``f`` at ``A`` along ``E`` is the upper right block of
``f([[A, E], [0, A]])`` (Mathias 1996; Higham, "Functions of Matrices", theorem 3.6), and its transpose is that at
``Aᵀ``: both are the operation itself, so every order is exact.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ..errors import DtypeError, UnsupportedOperation
from ..program.dims import Shape
from ..program.node import Node, emit
from .batching import Batching
from .casting import cast
from .contraction import expand, identity
from .decompositions import (
    EIG,
    EIGH,
    EIGVALS,
    EIGVALSH,
    LEAST_SQUARES,
    LEAST_SQUARES_VALUES,
    PSEUDO_INVERSE,
    QR,
    SVD,
    SVDVALS,
)
from .functions import add, where
from .linalg import inverse, lead_of, product, transposed
from .primitive import ByTangent, Params, Primitive, Stacked, made_constant
from .selection import assemble, full, gather, take_slice


class MatrixFunction(Stacked):
    """``scipy.linalg.expm`` and its kin, of a stack of matrices.

    Of real matrices the function has to be real: a DtypeError where it is not, as for the square root of ``-1``.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        (x,) = operands
        return x.shape, np.result_type(x.dtype, np.float32 if x.differentiable else np.float64), False

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        return self._along(source, tangent)

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        return self._along(transposed(source), ct)

    def _along(self, a: Node, direction: Node) -> Node:
        n = a.shape[-1]
        a = expand(a, direction.shape)
        lead = full(lead_of(a, 2))
        first, second = (0, n, 1), (n, n, 1)
        places = [(*lead, first, first), (*lead, second, second), (*lead, first, second)]
        whole = assemble([a, a, direction], (*a.shape[:-2], 2 * n, 2 * n), places)
        return take_slice(emit(self, (whole,)), places[2])

    def evaluate(self, params: Params, *values: Any) -> Any:
        return matrix_function(self.name, values[0])


class Sylvester(Primitive):
    """``scipy.linalg.solve_sylvester(A, B, Q)``: the solution of ``A X + X B = Q``, of stacks alike."""

    name = "sylvester"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return operands[2].shape, np.result_type(np.float32, *[o.dtype for o in operands]), False

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        lead = lead_of(tangent, 2)
        if key == 0:
            tangent = product(lead, [(tangent, "ij"), (node, "jk")], "ik", -1)
        elif key == 1:
            tangent = product(lead, [(node, "ij"), (tangent, "jk")], "ik", -1)
        return self._solved(node.operands[0], node.operands[1], tangent)

    def vjp(self, node: Node, source: Node, key: Any, ct: Node, batch: int) -> Node | None:
        lead = lead_of(ct, 2)
        made = self._solved(transposed(node.operands[0]), transposed(node.operands[1]), ct)
        if key == 2:
            return made
        factors = [(made, "ij"), (node, "kj")] if key == 0 else [(node, "ji"), (made, "jk")]
        return product(lead, factors, "ik", -1)

    def _solved(self, a: Node, b: Node, right: Node) -> Node:
        lead = lead_of(right, 2)
        return emit(self, (expand(a, lead + a.shape[-2:]), expand(b, lead + b.shape[-2:]), right))

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        return emit(self, tuple(over.complete(operands, batched)))

    def evaluate(self, params: Params, *values: Any) -> Any:
        return sylvester(*values)


class LU(ByTangent):
    """``scipy.linalg.lu_factor`` of a matrix: ``U``, and below its diagonal ``L``, of ``P A = L U``.

    Rows stay in their order: with ``F = L⁻¹ P dA U⁻¹``, ``dL = L tril(F, -1)`` and ``dU = triu(F) U``.
    """

    name = "lu"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return operands[0].shape, np.result_type(np.float32, operands[0].dtype), False

    def jvp(self, node: Node, source: Node, key: Any, tangent: Node, batch: int) -> Node | None:
        n, lead = node.shape[-1], lead_of(tangent, 2)
        below = made_constant(("below the diagonal", n), lambda: np.tri(n, k=-1, dtype=bool))
        unit = cast(identity((n,)), node.dtype)
        first, second = add(where(below, node, 0), unit), where(below, 0, node)
        order = emit(LU_ORDER, (source,), (False,))
        moved = gather(expand(tangent, (*lead, n, n)), order, tangent.ndim - 2)
        own = product(lead, [(inverse(first), "ij"), (moved, "jk"), (inverse(second), "kl")], "il")
        by_first = product(lead, [(first, "ij"), (where(below, own, 0), "jk")], "ik")
        return add(by_first, product(lead, [(where(below, 0, own), "ij"), (second, "jk")], "ik"))

    def vmap(self, node: Node, operands: tuple[Node, ...], batched: tuple[bool, ...], over: Batching) -> Node:
        raise UnsupportedOperation.here("scipy.linalg.lu_factor is of one matrix; vmap takes np.linalg.solve.")

    def evaluate(self, params: Params, *values: Any) -> Any:
        return importlib.import_module("scipy.linalg").lu_factor(values[0])[0]


class LUOrder(Primitive):
    """The order of the rows in ``lu``; ``params = (as_pivots,)``, each row's partner in a swap as LAPACK has it."""

    name = "lu_order"

    def infer(self, operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype, bool]:
        return operands[0].shape[-1:], np.dtype(np.intp), False

    def evaluate(self, params: Params, *values: Any) -> Any:
        pivots = importlib.import_module("scipy.linalg").lu_factor(values[0])[1].astype(np.intp)
        return pivots if params[0] else order_of_pivots(pivots)


def order_of_pivots(pivots: np.ndarray) -> np.ndarray:
    """The rows in the order that swaps bring them into."""
    order = np.arange(len(pivots))
    for k, other in enumerate(pivots):
        order[[k, other]] = order[[other, k]]
    return order


LU_FACTORS, LU_ORDER = LU(), LUOrder()
EXPM, LOGM, SQRTM = map(MatrixFunction, ("expm", "logm", "sqrtm"))
SYLVESTER = Sylvester()


def matrix_function(name: str, a: np.ndarray) -> np.ndarray:
    """The function of ``scipy.linalg`` of this name for each of a stack of matrices, in their dtype."""
    function = getattr(importlib.import_module("scipy.linalg"), name)
    dtype = np.result_type(a.dtype, np.float32 if a.dtype.kind in "fc" else np.float64)
    made: Any = np.empty(a.shape, np.result_type(dtype, np.complex64))
    for place in np.ndindex(a.shape[:-2]):
        made[place] = function(a[place])
    if dtype.kind == "c":
        return made
    if np.any(made.imag):
        raise DtypeError(
            f"scipy.linalg.{name} of this real matrix is complex; give it a complex one: A.astype(complex)."
        )
    return made.real.astype(dtype)


def sylvester(a: np.ndarray, b: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The solution of ``A X + X B = Q`` for each of stacks of matrices, of one dtype.

    Of real matrices beside complex ones SciPy's own is wrong: it takes their real Schur forms for triangles.
    """
    solve = importlib.import_module("scipy.linalg").solve_sylvester
    made = np.empty(q.shape, np.result_type(np.float32, a.dtype, b.dtype, q.dtype))
    for place in np.ndindex(q.shape[:-2]):
        made[place] = solve(*[x[place].astype(made.dtype) for x in (a, b, q)])
    return made


#: decompositions and functions of matrices, by their names
DECOMPOSITIONS: dict[str, Primitive] = {
    p.name: p
    for p in (EIGH, EIG, SVD, QR, EIGVALSH, EIGVALS, SVDVALS, PSEUDO_INVERSE, LEAST_SQUARES, LEAST_SQUARES_VALUES)
    + (EXPM, LOGM, SQRTM, SYLVESTER, LU_FACTORS, LU_ORDER)
}


def decomposed(name: str, params: Params, *values: np.ndarray) -> np.ndarray:
    """The value of the one of this name, as kernels call it."""
    return DECOMPOSITIONS[name].evaluate(params, *values)
