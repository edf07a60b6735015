"""``np.linalg`` on traced values: eigenvalues, singular values, QR, and what is made of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError, UnsupportedOperation
from ..primitives import functions as f
from ..primitives.decompositions import (
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
from ..primitives.linalg import adjoint, transposed
from ..program.dims import is_concrete, normal
from ..program.node import Node, emit
from .declare import CASES, Case, implements
from .describing import to_complex
from .full_factors import FullFactor
from .linear_algebra import matrices
from .reductions import normalized_axis
from .trace import as_node, running
from .tracer import Tracer, traced
from .vector_phases import in_phase, largest, signed_as

_Eigh: Any = type(np.linalg.eigh(np.eye(1)))
_Eig: Any = type(np.linalg.eig(np.eye(1)))
_Svd: Any = type(np.linalg.svd(np.eye(1)))
_Qr: Any = type(np.linalg.qr(np.eye(1)))


def spread(a):
    """Hermitian matrices whose eigenvalues are apart."""
    return ((a + np.swapaxes(a, -1, -2).conj()) / 2 + np.diag(np.arange(a.shape[-1]) * 9.0).astype(a.dtype),)


def graded(a, *rest):
    """Matrices whose singular values are apart, and none of them near zero."""
    return a / 3 + np.diag(3.0 + 4 * np.arange(max(a.shape[-2:])))[: a.shape[-2], : a.shape[-1]].astype(a.dtype), *rest


#: what stands for an argument that is not given
_NONE: Any = object()


def _precision(x: Node) -> float:
    """The distance between 1 and the next number."""
    return float(np.finfo(x.dtype if x.dtype.kind in "fc" else np.float64).eps)


def of_blocks(a, *rest):
    """Arrays that are well conditioned as matrices."""
    n = math.isqrt(a.size)
    return a + (9 * np.eye(n, dtype=a.dtype)).reshape(a.shape), *rest


def sized(a: Any, name: str, square: bool = False) -> Node:
    """A stack of matrices whose last two dimensions are equal, or numbers; or their rows have a name, and are many."""
    x = matrices(a, name, square)
    rows, columns = x.shape[-2:]
    if rows == columns or is_concrete((rows, columns)):
        return x
    if not isinstance(columns, int) or not running().sizes.usual(normal(rows - columns), "nonnegative"):
        raise UnsupportedOperation.here(
            f"{name} of matrices of shape {x.shape[-2:]}: named dimensions have to be equal, numbers, or those of "
            "rows, of which there are as many as columns."
        )
    return x


def _longer(x: Node) -> int:
    """The larger of the two sizes of matrices that are ``sized``, which serve no other where that has a name."""
    return max(map(running().fixed, x.shape[-2:]))


def _is_wide(x: Node) -> bool:
    """Whether matrices that are ``sized`` have fewer rows than columns."""
    return is_concrete(x.shape[-2:]) and x.shape[-2] < x.shape[-1]


def _triangle_of(a: Any, uplo: str, name: str) -> Node:
    if uplo.upper() not in ("L", "U"):
        raise ArgumentError.here(f'{name}: UPLO is {uplo!r}; it is "L" or "U".')
    x = matrices(a, name)
    return x if uplo.upper() == "L" else adjoint(x)


_SYMMETRIC = [Case((3, 3), of=spread), Case((2, 3, 3), of=spread), Case((1, 1), of=spread), Case((0, 0))]
_ANY = [Case((3, 3), of=graded), Case((4, 2), of=graded), Case((2, 2, 3), of=graded), Case((1, 1), of=graded)]


@implements(np.linalg.eigh, cases=_SYMMETRIC)
def _eigh(a, UPLO="L"):
    values, vectors = hermitian_vectors(a, UPLO, "np.linalg.eigh")
    if UPLO.upper() == "U" and 0 not in vectors.shape:
        (vectors,) = signed_as("np.linalg.eigh", lambda x: np.linalg.eigh(x, "U")[1], ("U",), [a], vectors)
    return _Eigh(values, vectors)


def hermitian_vectors(a: Any, uplo: str, name: str) -> tuple[Any, Any]:
    """The eigenvalues of Hermitian matrices of which one triangle is read, and the vectors, in LAPACK's phase."""
    values, found = EIGH.factors(_triangle_of(a, uplo, name))
    vectors, lower = Tracer(found), uplo.upper() == "L"
    if vectors.shape[-1] != 0:
        (vectors,) = in_phase(vectors[..., :1, :] if lower else vectors[..., -1:, :], vectors, is_given=lower)
    return Tracer(_real(values)), vectors


@implements(np.linalg.eigvalsh, cases=_SYMMETRIC)
def _eigvalsh(a, UPLO="L"):
    return Tracer(emit(EIGVALSH, (_triangle_of(a, UPLO, "np.linalg.eigvalsh"),)))


def _real(x: Node) -> Node:
    return f.real(x) if x.is_complex else x


@implements(np.linalg.eig, cases=[Case((1, 1), (1, 1), of=to_complex)])
def _eig(a):
    values, vectors = map(Tracer, EIG.factors(matrices(a, "np.linalg.eig")))
    return _Eig(values, *(in_phase(largest(vectors), vectors) if vectors.shape[-1] != 0 else [vectors]))


def far_apart(a, b):
    """Complex matrices whose eigenvalues are apart."""
    return (a + 1j * b + np.diag(np.arange(a.shape[-1]) * 9.0),)


@implements(np.linalg.eigvals, cases=[Case((3, 3), (3, 3), of=far_apart), Case((2, 2, 2), (2, 2, 2), of=far_apart)])
def _eigvals(a):
    return Tracer(emit(EIGVALS, (matrices(a, "np.linalg.eigvals"),)))


@implements(
    np.linalg.svd,
    cases=[
        *[Case(*c.args, full_matrices=False, of=c.of) for c in _ANY],
        *[Case(*c.args, compute_uv=False, of=c.of) for c in _ANY],
        Case((3, 3), of=graded),
        Case((3, 3), of=spread, hermitian=True, compute_uv=False),
    ],
)
def _svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    x = sized(a, "np.linalg.svd", square=hermitian)
    if hermitian:
        return _svd_of_hermitian(x, compute_uv)
    if not compute_uv:
        return Tracer(emit(SVDVALS, (x,)))
    values, u, w = SVD.factors(x)
    left, right = Tracer(u), Tracer(w)
    if 0 not in x.shape[-2:]:
        left, right = in_phase(left[..., :1, :] if _is_wide(x) else np.conj(right[..., :1, :]), left, np.conj(right))
        right = np.conj(right)
    turned: Any = np.swapaxes(right, -1, -2)
    if full_matrices and x.shape[-1] != x.shape[-2]:
        rows, columns = x.shape[-2:]
        left = left if _is_wide(x) else FullFactor(left, -1, rows, "np.linalg.svd")
        turned = FullFactor(turned, -2, columns, "np.linalg.svd") if _is_wide(x) else turned
    return _Svd(left, Tracer(_real(values)), turned)


def _svd_of_hermitian(x: Node, compute_uv: bool) -> Any:
    """By the eigenvalues, as NumPy does it."""
    if not compute_uv:
        return np.sort(abs(Tracer(emit(EIGVALSH, (x,)))), axis=-1)[..., ::-1]
    values, vectors = _eigh(Tracer(x))
    order = np.argsort(abs(values), axis=-1)[..., ::-1]
    signs = np.take_along_axis(np.sign(values), order, axis=-1)
    u = np.take_along_axis(vectors, order[..., None, :], axis=-1)
    turned = np.swapaxes(u * signs[..., None, :], -1, -2).conj()
    return _Svd(u, np.take_along_axis(abs(values), order, axis=-1), turned)


@implements(
    np.linalg.qr,
    cases=[*_ANY[:2], Case((2, 3, 3), of=graded), Case((2, 4), of=graded), Case((4, 2), of=graded, mode="r")],
)
def _qr(a, mode="reduced"):
    x = sized(a, "np.linalg.qr")
    rows, columns = x.shape[-2:]
    if not isinstance(columns, int):
        raise UnsupportedOperation.here(f"np.linalg.qr of matrices of the named shape {x.shape[-2:]}.")
    if mode not in ("reduced", "r") and not (mode == "complete" and (rows == columns or _is_wide(x))):
        raise UnsupportedOperation.here(
            f"np.linalg.qr with mode={mode!r} of matrices of shape {x.shape[-2:]} has no derivative rule: what it "
            'adds to "reduced" is any basis, or LAPACK\'s own form. Say mode="reduced".'
        )
    q, turned = QR.factors(x)
    r = Tracer(transposed(turned))
    return r if mode == "r" else _Qr(Tracer(q), r)


@implements(np.linalg.pinv, cases=[*_ANY, Case((3, 3), of=spread, hermitian=True)])
def _pinv(a, rcond=None, hermitian=False, *, rtol=_NONE):
    x = sized(a, "np.linalg.pinv", square=hermitian)
    if rcond is None:
        rcond = 1e-15 if rtol is _NONE else _longer(x) * _precision(x) if rtol is None else rtol
    return Tracer(emit(PSEUDO_INVERSE, (x,), (float(rcond), bool(hermitian))))


@implements(
    np.linalg.lstsq,
    cases=[Case((4, 2), (4,), of=graded), Case((4, 2), (4, 3), of=graded), Case((3, 3), (3,), of=graded)],
)
def _lstsq(a, b, rcond=None):
    x, right = sized(a, "np.linalg.lstsq"), traced(b)
    x = f.cast(x, np.result_type(x.dtype, right.dtype))
    if x.ndim != 2 or right.ndim not in (1, 2) or as_node(right).shape[0] != x.shape[0]:
        raise ShapeError.here(f"np.linalg.lstsq: shapes {x.shape} and {right.shape} do not fit")
    rows, columns = x.shape
    wide = right if right.ndim == 2 else right[:, None]
    if not isinstance(columns, int):
        raise UnsupportedOperation.here(f"np.linalg.lstsq of a matrix of the named shape {x.shape}.")
    relative = _precision(x) * _longer(x) if rcond is None else float(rcond)
    made = Tracer(emit(LEAST_SQUARES, (x, matrices(wide, "np.linalg.lstsq", square=False)), (relative,)))
    solution, squares = made[:-1], made[-1].real
    values = Tracer(emit(LEAST_SQUARES_VALUES, (x,)))
    rank = _rank(values, relative).astype(np.int32)
    has_more_rows = running().sizes.usual(normal(rows - columns - 1), "nonnegative")
    return solution if right.ndim == 2 else solution[:, 0], squares if has_more_rows else squares[:0], rank, values


def _rank(values: Tracer, relative: float) -> Any:
    """How many singular values are above a part of the largest one."""
    return np.sum(values > values[..., :1] * relative, axis=-1)


@implements(
    np.linalg.cond,
    cases=[*_ANY, *[Case((3, 3), of=graded, p=p) for p in (2, -2, "fro", 1, -1, np.inf, -np.inf, "nuc")]],
)
def _cond(x, p=None):
    x = Tracer(sized(x, "np.linalg.cond", square=p not in (None, 2, -2)))
    if p in (None, 2, -2):
        values = np.linalg.svdvals(x)
        first, last = values[..., 0], values[..., -1]
        return last / first if p == -2 else first / last
    inverse = np.linalg.inv(x.astype(np.result_type(x.dtype, np.float64)))  # as NumPy does it
    return (np.linalg.matrix_norm(x, ord=p) * np.linalg.matrix_norm(inverse, ord=p)).astype(x.real.dtype)


@implements(
    np.linalg.tensorsolve,
    cases=[Case((2, 2, 4), (2, 2), of=of_blocks), Case((4, 2, 2), (4,), of=of_blocks)],
)
def _tensorsolve(a, b, axes=None):
    x, right = Tracer(as_node(a)), Tracer(as_node(b))
    if axes is not None:
        moved = [normalized_axis(k, x.ndim) for k in axes]
        x = x.transpose([k for k in range(x.ndim) if k not in moved] + moved)
    shape = x.shape[right.ndim :]
    count = math.prod(shape)
    return np.linalg.solve(x.reshape((count, count)), right.ravel()).reshape(shape)


CASES |= {  # of which NumPy's own code is traced
    np.linalg.matrix_rank: [*_ANY, Case((3, 3), of=spread, hermitian=True), Case((3, 3), tol=0.1)],
    np.linalg.svdvals: _ANY,
    np.linalg.tensorinv: [Case((2, 2, 4), of=of_blocks), Case((4, 2, 2), ind=1, of=of_blocks)],
}
