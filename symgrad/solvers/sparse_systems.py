"""Systems of equations with sparse matrices, by ``scipy.sparse.linalg`` on traced values.

``A x = b`` says how ``x`` moves: ``dx = A⁻¹(db - dA x)``. The factors of ``A`` serve the value and all derivatives.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse.linalg

from ..custom_functions import custom
from ..errors import ArgumentError, ShapeError, UnsupportedOperation
from ..primitives.external import zeros_like
from ..tracing.dispatch import answers_for
from ..tracing.given_arrays import array
from ..tracing.local_array import holds_traced, unwrapped
from ..tracing.sparse_matrices import SparseTracer, is_sparse, moved, stand_in
from ..tracing.sparse_places import matrix_of
from ..tracing.trace import as_node
from .closed import alone
from .roots import checked

linalg: Any = scipy.sparse.linalg
_COLUMNS: Any = scipy.sparse.csc_array
#: what solves a system of plain arrays, given the entries of the matrix and the right side
Find = Callable[[Any, Any], Any]


class _System:
    """A square matrix of fixed places, whose entries are traced; or known factors of one."""

    def __init__(self, name: str, shape: tuple[int, int], entries: Any, places: Any, factors: Any = None) -> None:
        self.name = name
        self.shape = shape
        self.entries = entries
        self.places = places
        self._factors = factors

    @classmethod
    def of(cls, matrix: Any, name: str) -> _System:
        if not is_sparse(matrix):
            if not hasattr(matrix, "shape") or isinstance(matrix, linalg.LinearOperator):
                raise UnsupportedOperation.here(f"{name} of a LinearOperator has no derivative rule: give its matrix.")
            matrix = moved(_COLUMNS, matrix, name)
        matrix = stand_in(matrix)
        if matrix.shape[0] != matrix.shape[1]:
            raise ShapeError.here(f"{name}: the matrix has the shape {matrix.shape}, and has to be square.")
        return cls(name, matrix.shape, array(matrix.entries), (np.asarray(matrix.row), np.asarray(matrix.col)))

    def plain(self, entries: Any) -> Any:
        row, col = self.places
        return matrix_of(_COLUMNS, entries, row, col, self.shape)

    def factored(self, entries: Any, right: Any, is_transposed: bool) -> Any:
        """The solution by the factors of the matrix, which are kept until its entries change."""
        entries = np.asarray(entries, np.result_type(entries, right, np.float32))
        known = self._factors
        if known is None or known[0].dtype != entries.dtype or not np.array_equal(known[0], entries):
            known = self._factors = np.array(entries), linalg.splu(self.plain(entries))
        return known[1].solve(np.asarray(right, entries.dtype), "T" if is_transposed else "N")

    def solution(self, right: Any, is_transposed: bool = False, find: Find | None = None) -> Any:
        """The solution, as ``find`` finds it; derivatives are by the factors."""
        right = array(right)
        if right.ndim not in (1, 2) or right.shape[0] != self.shape[0]:
            raise ShapeError.here(f"{self.name}: the matrix has the shape {self.shape}, the right side {right.shape}.")
        if self.entries.dtype.kind == "c" and self._factors is None:
            return self._in_parts(right, is_transposed)
        if self.entries.dtype.kind != "c" and right.dtype.kind == "c":
            return self.solution(np.real(right), is_transposed) + 1j * self.solution(np.imag(right), is_transposed)

        def found(entries: Any, right: Any, is_transposed: bool, is_derivative: bool) -> Any:
            if find is None or is_derivative:
                return self.factored(entries, right, is_transposed)
            return find(entries, right)

        def along(primals: tuple, tangents: tuple, out: Any) -> Any:
            (of_entries, change, *_), (row, col) = tangents, self._places(primals[2])
            if of_entries is not None and as_node(of_entries) is not zeros_like(as_node(of_entries)):
                moves = SparseTracer(_COLUMNS, of_entries, row, col, self.shape) @ out
                change = -moves if change is None else change - moves
            return solved(primals[0], change, primals[2], True)

        def back(primals: tuple, cotangent: Any, out: Any) -> Any:
            row, col = self._places(primals[2])
            by_right = solved(primals[0], cotangent, not primals[2], True)
            by_entries = -by_right[row] * out[col]
            return by_entries if by_entries.ndim == 1 else np.sum(by_entries, 1), by_right, None, None

        name = self.name.rpartition(".")[2]
        solved = custom(found, jvp=along, vjp=back, name=name, shape=lambda entries, right, *_: right)
        return solved(self.entries, right, is_transposed, False)

    def _in_parts(self, right: Any, is_transposed: bool) -> Any:
        """The solution of a system of complex numbers, by that of its real and imaginary parts."""
        n, (row, col), entries = self.shape[0], self._places(is_transposed), array(self.entries)
        parts = np.concatenate([entries.real, -entries.imag, entries.imag, entries.real])
        places = np.concatenate([row, row, row + n, row + n]), np.concatenate([col, col + n, col, col + n])
        made = _System(self.name, (2 * n, 2 * n), parts, places).solution(np.concatenate([right.real, right.imag]))
        return made[:n] + 1j * made[n:]

    def _places(self, is_transposed: bool) -> tuple[np.ndarray, np.ndarray]:
        return self.places[::-1] if is_transposed else self.places


@answers_for("scipy.sparse.linalg.spsolve")
def _spsolve(A, b, permc_spec=None, use_umfpack=True):
    name = "scipy.sparse.linalg.spsolve"
    if is_sparse(b):
        raise UnsupportedOperation.here(f"{name} of a sparse right side has no derivative rule: give B.toarray().")
    system, right = _System.of(A, name), array(b)

    def find(entries: Any, right: Any) -> Any:
        try:
            return system.factored(entries, right, False)
        except RuntimeError:  # as SciPy does
            warnings.warn("Matrix is exactly singular", linalg.MatrixRankWarning, stacklevel=2)
            return np.full(np.shape(right), np.nan)

    return system.solution(np.ravel(right) if right.ndim == 2 and right.shape[1] == 1 else right, find=find)


class _Factors:
    """What ``splu`` gives."""

    def __init__(self, system: _System) -> None:
        self._system = system
        self.shape = system.shape

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        if trans not in ("N", "T", "H"):
            raise ArgumentError.here(f"SuperLU.solve: trans is {trans!r}; it is 'N', 'T' or 'H'.")
        if trans != "H":
            return self._system.solution(rhs, trans == "T")
        return np.conj(self._system.solution(np.conj(rhs), True))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(linalg.SuperLU, name):
            raise AttributeError(f"'SuperLU' object has no attribute {name!r}")
        raise UnsupportedOperation.here(f"SuperLU.{name} of a traced matrix has no derivative rule: take solve.")


@answers_for("scipy.sparse.linalg.splu")
def _splu(A, *args, **named):
    return _Factors(_System.of(A, "scipy.sparse.linalg.splu"))


@answers_for("scipy.sparse.linalg.factorized")
def _factorized(A):
    return _Factors(_System.of(A, "scipy.sparse.linalg.factorized")).solve


def _iterative(name: str) -> Callable[..., Any]:
    full = f"scipy.sparse.linalg.{name}"

    @alone(full)
    def answer(A: Any, b: Any, x0: Any = None, **named: Any) -> Any:
        if holds_traced((x0, list(named.values()))):
            raise UnsupportedOperation.here(
                f"{full}: its settings have no derivative rule; of traced values give A and b."
            )
        system, begin, settings = _System.of(A, full), unwrapped(x0), unwrapped(named)

        def find(entries: Any, right: Any) -> Any:
            made, flag = getattr(linalg, name)(system.plain(entries), right, begin, **settings)
            return checked(made, flag == 0, full, f"it ended with the flag {flag}")

        return system.solution(np.ravel(array(b)), find=find), 0

    return answer


for _name in ("bicg", "bicgstab", "cg", "cgs", "gmres", "lgmres", "minres", "qmr", "tfqmr"):
    answers_for(f"scipy.sparse.linalg.{_name}")(_iterative(_name))


@answers_for("scipy.sparse.linalg.norm")
def _norm(x, ord=None, axis=None):
    return np.linalg.norm(stand_in(x).toarray(), ord, axis)


@answers_for("scipy.sparse.linalg.SuperLU.solve")
def _solved(factors, rhs, trans="N"):
    none = np.zeros(0, factors.L.dtype)  # the factors alone know their matrix
    system = _System("scipy.sparse.linalg.splu", factors.shape, none, (none.astype(int),) * 2, (none, factors))
    return _Factors(system).solve(rhs, trans)
