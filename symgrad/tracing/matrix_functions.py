"""``scipy.linalg`` on traced values: matrices of a form, functions of matrices, and linear equations of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..primitives.identity import stop_gradient
from ..primitives.matrix_functions import EXPM, LOGM, SQRTM, SYLVESTER
from ..program.node import emit
from .declare import Case
from .decompositions import graded
from .describing import to_complex
from .dispatch import answers_for
from .given_arrays import array
from .linear_algebra import dominant, positive_definite
from .linear_algebra_of_scipy import adjoint, double, named, refused, square
from .trace import as_node
from .tracer import Tracer

# matrices of a form


@named("toeplitz", Case((3,)), Case((3,), (4,)))
def _toeplitz(c, r=None):
    c = array(c)
    r = np.conjugate(c) if r is None else array(r)
    line = np.concatenate([c[::-1], r[1:]])
    n, m = c.shape[0], r.shape[0]
    return line[np.arange(n - 1, -1, -1)[:, None] + np.arange(m)]


@named("circulant", Case((4,)))
def _circulant(c):
    c = array(c)
    n = c.shape[0]
    return c[(np.arange(n)[:, None] - np.arange(n)) % n]


@named("hankel", Case((3,)), Case((3,), (4,)))
def _hankel(c, r=None):
    c = array(c)
    r = np.zeros_like(c) if r is None else array(r)
    line = np.concatenate([c, r[1:]])
    return line[np.arange(c.shape[0])[:, None] + np.arange(r.shape[0])]


@named("solve_toeplitz", Case((3,), (3,), of=lambda c, b: (c + [9.0, 0.0, 0.0], b)))
def _solve_toeplitz(c_or_cr, b, check_finite=True):
    pair = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr,)
    return np.linalg.solve(_toeplitz(*pair), array(b))


# functions of matrices


@named("expm", Case((3, 3)), Case((2, 2, 2)), Case((2, 2), (2, 2), of=to_complex))
def _expm(A):
    return Tracer(emit(EXPM, (square(A, "expm"),)))


@named("logm")
def _logm(A, disp=None):
    if disp is False:
        raise refused("logm", "disp=False", "leave it out")
    return Tracer(emit(LOGM, (square(A, "logm"),)))


@named("sqrtm", Case((3, 3), of=positive_definite))
def _sqrtm(A, disp=None, blocksize=None):
    if disp is False:
        raise refused("sqrtm", "disp=False", "leave it out")
    return Tracer(emit(SQRTM, (square(A, "sqrtm"),)))


@named("fractional_matrix_power")
def _fractional_matrix_power(A, t):
    if isinstance(t, (int, np.integer)):
        return np.linalg.matrix_power(array(A), t)
    return _expm(array(t) * _logm(double(A)))


def _polar_factor(a: Any) -> tuple[Any, Any]:
    """The orthogonal factor of a matrix, and its singular values.

    The value is that of singular vectors. Its derivative is taken of ``A (AᴴA)^(-1/2)``, which has one where singular
    values are equal, as those of a rotation are; it is infinite where the rank is not full.
    """
    if a.shape[0] < a.shape[1]:
        factor, s = _polar_factor(adjoint(a))
        return adjoint(factor), s
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    is_regular = np.min(s, initial=np.inf) > 64 * np.finfo(a.dtype).eps * np.max(s, initial=0)
    gram = np.where(is_regular, adjoint(a) @ a, _stopped(adjoint(vh) @ vh))  # else what has a root and an inverse
    smooth = a @ np.linalg.inv(_sqrtm(gram))
    slope = np.where(is_regular, smooth - _stopped(smooth), np.sqrt(a - _stopped(a)))  # and 0 by its value
    return _stopped(u @ vh) + slope, s


def _stopped(x: Any) -> Any:
    """The value of an array, which has no derivative."""
    return Tracer(stop_gradient(as_node(x)))


@named(
    "polar",
    Case((3, 3), of=graded),
    Case((3, 2), of=graded),
    Case((2, 3), of=graded),
    Case((2, 2), of=graded, side="left"),
)
def _polar(a, side="right"):
    a = array(a)
    if side not in ("right", "left"):
        raise ArgumentError.here("scipy.linalg.polar: side is 'right' or 'left'")
    if a.ndim != 2:
        raise ShapeError.here(f"scipy.linalg.polar: {a.shape} is no matrix")
    factor, _ = _polar_factor(a)
    positive = adjoint(factor) @ a if side == "right" else a @ adjoint(factor)
    return factor, (positive + adjoint(positive)) / 2


@named("orthogonal_procrustes", Case((4, 2), (4, 2)))
def _orthogonal_procrustes(A, B, check_finite=True):
    factor, s = _polar_factor(np.transpose(np.transpose(array(B)) @ np.conjugate(array(A))))
    return factor, np.sum(s)


# linear equations of matrices


@named("solve_sylvester", Case((3, 3), (2, 2), (3, 2), of=lambda a, b, q: (*dominant(a), *dominant(b), q)))
def _solve_sylvester(a, b, q):
    first, second, right = square(a, "solve_sylvester"), square(b, "solve_sylvester"), as_node(q)
    if right.shape != (first.shape[-1], second.shape[-1]):
        raise ShapeError.here(
            f"scipy.linalg.solve_sylvester: {first.shape}, {second.shape} and {right.shape} do not fit"
        )
    return Tracer(emit(SYLVESTER, (first, second, right)))


@answers_for(
    "scipy.linalg.solve_continuous_lyapunov", "scipy.linalg.solve_lyapunov", cases=[Case((3, 3), (3, 3), of=dominant)]
)
def _solve_lyapunov(a, q):
    return _solve_sylvester(array(a), adjoint(array(a)), q)


@named("solve_discrete_lyapunov")
def _solve_discrete_lyapunov(a, q, method=None):
    """By Cayley's transform, as SciPy has it for large matrices."""
    a, q = double(a), double(q)
    unit = np.eye(a.shape[0], dtype=a.dtype)
    after = np.linalg.inv(adjoint(a) + unit)
    moved = (adjoint(a) - unit) @ after
    right = 2 * np.linalg.inv(a + unit) @ q @ after
    return _solve_lyapunov(adjoint(moved), -right)
