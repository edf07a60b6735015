"""``scipy.linalg`` on traced values: what ``np.linalg`` has, by that, and solutions with what is factored.

Values are those of NumPy's LAPACK, which rounds otherwise than SciPy's here and there. A solution with a triangular
matrix is that of the whole matrix with zeros in the other triangle.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError, UnsupportedOperation
from ..primitives.matrix_functions import LU_FACTORS, LU_ORDER, order_of_pivots
from ..program.node import Node, emit
from .declare import Case, Given
from .decompositions import graded, hermitian_vectors, spread
from .dispatch import answers_for
from .given_arrays import array
from .linear_algebra import dominant, matrices
from .trace import as_node
from .tracer import Tracer
from .vector_phases import ordered_as, signed_as

_SQUARE = [Case((3, 3), of=dominant), Case((1, 1), of=dominant)]


def named(name: str, *cases: Case) -> Callable[[Callable], Callable]:
    """Declare what a function of scipy.linalg gives."""
    return answers_for(f"scipy.linalg.{name}", cases=cases)


def scipy_linalg(name: str) -> Callable[..., Any]:
    """A function of scipy.linalg, which is imported by the user's code alone."""
    return getattr(sys.modules["scipy.linalg"], name)


def square(a: Any, name: str) -> Node:
    """A stack of square matrices, for the function of this name."""
    return matrices(array(a), f"scipy.linalg.{name}")


def double(value: Any) -> Any:
    """What SciPy computes in double precision, whatever it is given."""
    a = array(value)
    return a.astype(np.result_type(a.dtype, np.float64))


def refused(name: str, what: str, instead: str) -> UnsupportedOperation:
    """The error for arguments that have no rule."""
    return UnsupportedOperation.here(f"scipy.linalg.{name} with {what} has no derivative rule; {instead}.")


def adjoint(a: Any) -> Any:
    """The conjugate transpose of each of a stack of matrices."""
    return np.swapaxes(np.conjugate(a), -1, -2)


def _symmetric(a: Any, lower: bool) -> Any:
    """The Hermitian matrix of which one triangle is read."""
    a = array(a)
    own, other = (np.tril(a), np.tril(a, -1)) if lower else (np.triu(a), np.triu(a, 1))
    return own + adjoint(other)


# what np.linalg has


@named("det")
def _det(a, overwrite_a=False, check_finite=True):
    return np.linalg.det(double(a))


@named("inv", *_SQUARE)
def _inv(a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    return np.linalg.inv(_of_form(a, assume_a, lower, "inv"))


@named("norm", Case((3, 4)), Case((3, 4), axis=0), Case((3, 4), Given("nuc"), of=graded), Case((4,), Given(3)))
def _norm(a, ord=None, axis=None, keepdims=False, check_finite=True):
    return np.linalg.norm(array(a), ord, axis, keepdims)


@named("svd", Case((3, 3), of=graded, compute_uv=False))
def _svd(a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    a = array(a)
    if not compute_uv:
        return np.linalg.svd(a, full_matrices, compute_uv)
    u, values, turned = np.linalg.svd(a, full_matrices)
    if lapack_driver != "gesdd" and 0 not in a.shape:

        def left(plain: np.ndarray) -> np.ndarray:
            return scipy_linalg("svd")(plain, full_matrices=False, lapack_driver=lapack_driver)[0]

        u, right = signed_as("scipy.linalg.svd", left, ("svd", lapack_driver), [a], u, np.swapaxes(turned, -1, -2))
        turned = np.swapaxes(right, -1, -2)
    return u, values, turned


@named("eigh", Case((3, 3), of=spread, eigvals_only=True))
def _eigh(
    a,
    b=None,
    *,
    lower=True,
    eigvals_only=False,
    overwrite_a=False,
    overwrite_b=False,
    type=1,
    check_finite=True,
    subset_by_index=None,
    subset_by_value=None,
    driver=None,
):
    if subset_by_value is not None:
        raise refused("eigh", "subset_by_value", "take all eigenvalues, and select from them")
    given = [array(a)]
    if b is None:
        values, vectors = hermitian_vectors(given[0], "L" if lower else "U", "scipy.linalg.eigh")
    else:
        if type != 1:
            raise refused("eigh", f"type={type}", "write it as type=1")
        given.append(array(b))
        factor = np.linalg.cholesky(_symmetric(b, lower))
        half = np.linalg.solve(factor, _symmetric(a, lower))
        both = np.linalg.solve(factor, adjoint(half))
        values, turned = hermitian_vectors(both if lower else adjoint(both), "L" if lower else "U", "scipy.linalg.eigh")
        vectors = np.linalg.solve(adjoint(factor), turned)
    if subset_by_index is not None:
        first, last = subset_by_index
        values, vectors = values[first : last + 1], vectors[:, first : last + 1]
    if not eigvals_only and 0 not in vectors.shape:
        more = {"lower": lower, "driver": driver, "subset_by_index": subset_by_index}

        def columns(*plain: np.ndarray) -> np.ndarray:
            return scipy_linalg("eigh")(*plain, **more)[1]

        key = ("eigh", lower, driver, subset_by_index and tuple(subset_by_index))
        (vectors,) = signed_as("scipy.linalg.eigh", columns, key, given, vectors)
    return values if eigvals_only else (values, vectors)


@named("eigvals")
def _eigvals(a, b=None, overwrite_a=False, check_finite=True, homogeneous_eigvals=False):
    if homogeneous_eigvals:
        raise refused("eigvals", "homogeneous_eigvals", "leave it out")
    if b is None:
        return np.linalg.eigvals(array(a))
    a, b = array(a), array(b)
    values = np.linalg.eigvals(np.linalg.solve(b, a))
    return ordered_as("scipy.linalg.eigvals", scipy_linalg("eigvals"), ("eigvals",), [a, b], values)


@named("eig")
def _eig(
    a,
    b=None,
    left=False,
    right=True,
    overwrite_a=False,
    overwrite_b=False,
    check_finite=True,
    homogeneous_eigvals=False,
):
    if left or not right or homogeneous_eigvals:
        raise refused("eig", "left, right or homogeneous_eigvals", "leave them out, or take eigvals")
    if b is not None:
        instead = "take eig(np.linalg.solve(b, a)), or eigvals(a, b)"
        raise refused("eig", "b, which scales the vectors otherwise,", instead)
    return tuple(np.linalg.eig(array(a)))


@named("qr", Case((4, 2), of=graded, mode="economic"), Case((3, 3), of=graded, mode="r"), Case((3, 3), of=graded))
def _qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    if pivoting or mode == "raw":
        raise refused("qr", "pivoting or mode='raw'", "leave them out")
    modes: dict[str, Any] = {"full": "complete", "economic": "reduced", "r": "r"}
    if mode not in modes:
        raise ArgumentError.here(f"scipy.linalg.qr: mode is {mode!r}; it is full, economic, r or raw.")
    x = array(a)
    made: Any = np.linalg.qr(x, "reduced" if x.shape[-1] == x.shape[-2] and mode == "full" else modes[mode])
    if mode != "r":
        return tuple(made)
    beyond = x.shape[-2] - made.shape[-2]  # rows of zeros, which NumPy leaves out
    return (np.concatenate([made, np.zeros((*x.shape[:-2], beyond, x.shape[-1]), made.dtype)], axis=-2),)


@named("pinv", Case((4, 2), of=graded), Case((2, 3), of=graded))
def _pinv(a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    if atol is not None or return_rank:
        raise refused("pinv", "atol or return_rank", "give rtol")
    x = array(a)
    return np.linalg.pinv(x, rtol=max(x.shape[-2:]) * np.finfo(x.dtype).eps if rtol is None else rtol)


@named("pinvh", Case((3, 3), of=spread), Case((3, 3), of=spread, lower=False))
def _pinvh(a, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True):
    if atol is not None or return_rank:
        raise refused("pinvh", "atol or return_rank", "give rtol")
    x = _symmetric(a, lower)
    return np.linalg.pinv(x, rtol=x.shape[-1] * np.finfo(x.dtype).eps if rtol is None else rtol, hermitian=True)


@named("lstsq")
def _lstsq(a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None):
    return tuple(np.linalg.lstsq(array(a), array(b), cond))


@named("cholesky")
def _cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    return np.linalg.cholesky(array(a), upper=not lower)


# solutions


def _of_form(a: Any, assume_a: Any, lower: bool, name: str) -> Any:
    """A matrix of which no more is read than its form says."""
    a = array(a)
    if assume_a in (None, "gen", "general", "tridiagonal", "banded"):
        return a
    if assume_a in ("sym", "symmetric", "her", "hermitian", "pos", "positive definite"):
        if assume_a.startswith("sym") and as_node(a).is_complex:
            other = np.tril(a, -1) if lower else np.triu(a, 1)
            return (np.tril(a) if lower else np.triu(a)) + np.swapaxes(other, -1, -2)
        return _symmetric(a, lower)
    triangle = {"lower triangular": np.tril, "upper triangular": np.triu, "diagonal": lambda a: np.tril(np.triu(a))}
    if assume_a not in triangle:
        raise ArgumentError.here(f"scipy.linalg.{name}: assume_a is {assume_a!r}, which SciPy does not know.")
    return triangle[assume_a](a)


@named(
    "solve",
    Case((3, 3), (3,), of=dominant),
    Case((3, 3), (3, 2), of=dominant, transposed=True),
    Case((3, 3), (3,), of=dominant, assume_a="sym", lower=True),
    Case((3, 3), (3,), of=dominant, assume_a="upper triangular"),
)
def _solve(a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None, transposed=False):
    form = _of_form(a, assume_a, lower, "solve")
    return np.linalg.solve(np.swapaxes(form, -1, -2) if transposed else form, array(b))


@named(
    "solve_triangular",
    Case((3, 3), (3,), of=dominant),
    Case((3, 3), (3, 2), of=dominant, lower=True, trans=1),
    Case((3, 3), (3,), lower=True, unit_diagonal=True),
)
def _solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True):
    a = array(a)
    if unit_diagonal:
        a = (np.tril(a, -1) if lower else np.triu(a, 1)) + np.eye(a.shape[-1], dtype=a.dtype)
    else:
        a = np.tril(a) if lower else np.triu(a)
    turned = {0: a, "N": a, 1: np.swapaxes(a, -1, -2), "T": np.swapaxes(a, -1, -2), 2: adjoint(a), "C": adjoint(a)}
    if trans not in turned:
        raise ArgumentError.here(f"scipy.linalg.solve_triangular: trans is {trans!r}; it is 0, 1 or 2.")
    return np.linalg.solve(turned[trans], array(b))


@named("cho_factor")
def _cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """The factor with zeros in the other triangle, of which SciPy promises nothing."""
    return _cholesky(a, lower), lower


@named("cho_solve")
def _cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    c, lower = c_and_lower
    half = _solve_triangular(c, b, 0 if lower else 2, lower)
    return _solve_triangular(c, half, 2 if lower else 0, lower)


@named("lu_factor", Case((3, 3)))
def _lu_factor(a, overwrite_a=False, check_finite=True):
    x = _one(a, "lu_factor")
    return Tracer(emit(LU_FACTORS, (x,))), Tracer(emit(LU_ORDER, (x,), (True,))).astype(np.int32)


def _one(a: Any, name: str) -> Node:
    x = square(a, name)
    if x.ndim > 2:
        raise ShapeError.here(f"scipy.linalg.{name} has a rule for one matrix, and these are {x.shape}")
    return x


@named("lu", Case((3, 3)), Case((3, 3), permute_l=True))
def _lu(a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    x = _one(a, "lu")
    factors, order = Tracer(emit(LU_FACTORS, (x,))), Tracer(emit(LU_ORDER, (x,), (False,)))
    first = np.tril(factors, -1) + np.eye(x.shape[-1], dtype=factors.dtype)
    back = np.argsort(order)
    if permute_l:
        return first[back], np.triu(factors)
    if p_indices:
        return back, first, np.triu(factors)
    place = (back[:, None] == np.arange(x.shape[-1])).astype(np.finfo(factors.dtype).dtype)
    return place, first, np.triu(factors)


@named("lu_solve")
def _lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    lu, pivots = lu_and_piv
    lu, right = array(lu), array(b)
    if isinstance(pivots, np.ndarray) and not isinstance(pivots, Tracer):
        order: Any = order_of_pivots(pivots)
    else:
        (swapped,) = as_node(pivots).operands
        order = Tracer(emit(LU_ORDER, swapped.operands, (False,)))
    if not trans:
        half = _solve_triangular(lu, right[order], lower=True, unit_diagonal=True)
        return _solve_triangular(lu, half)
    half = _solve_triangular(lu, right, trans)
    return _solve_triangular(lu, half, trans, lower=True, unit_diagonal=True)[np.argsort(order)]


@named("solveh_banded")
def _solveh_banded(ab, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True):
    bands = array(ab)
    count, n = bands.shape
    row, column = np.indices((n, n))
    away = row - column if lower else column - row
    place = away if lower else count - 1 - away
    is_in = (away >= 0) & (away < count)
    own = np.where(is_in, bands[np.clip(place, 0, count - 1), column], 0.0)
    return np.linalg.solve(_symmetric(own, lower), array(b))
