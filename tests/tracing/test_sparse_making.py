"""Sparse matrices that a traced function makes: their values and derivatives, and how they are put together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import symgrad as sg
from symgrad.errors import ShapeError, TracingError, UnsupportedOperation
from symgrad.testing import check_grads

ROW, COL = np.array([0, 0, 1, 1, 2, 2, 0]), np.array([0, 1, 1, 2, 2, 0, 0])  # two entries meet
X = np.array([2.0, 1.0, 3.0, -1.0, 4.0, 0.7, 0.5])
V = np.array([1.0, 2.0, 3.0])
C = sparse.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [4.0, 0.0, 5.0]]))
M = sparse.csr_matrix(C)


def of(x, kind=sparse.csr_matrix):
    return kind((x, (ROW, COL)), shape=(3, 3))


def tridiagonal(x, **named):
    return sparse.diags([x[:3], x[3:5], x[5:7]], [0, 1, -1], **named)


def assembled(x):
    K, own = sparse.lil_matrix((4, 4)), np.array([[1.0, -1.0], [-1.0, 1.0]])
    for e in range(3):
        K[np.ix_([e, e + 1], [e, e + 1])] += x[e] * own
    alias = K
    alias[0, 0] += x[4]
    K[1, 2] = x[5] * K[1, 1]
    K[3, :] = 0
    K[3, 3] = 1.0
    return K.tocsr() @ np.arange(1.0, 5.0)


def indexed(x):
    A = of(x).tocsc()
    inner = A[np.array([0, 2]), :][:, np.array([0, 2])]
    return np.concatenate([inner @ V[:2], A[:2, 1:] @ V[:2], A[1] @ V, A[np.ix_([2, 0], [1])] @ V[:1]]) * A[0, 0]


def of_rows(x):
    A = sparse.csr_array((x, np.array([0, 1, 1, 2, 2, 0, 2]), np.array([0, 2, 4, 7])), shape=(3, 3))
    return A @ V + np.sum(A.data * np.arange(7.0))


PROGRAMS = {
    "of entries": lambda x: of(x) @ V,
    "of entries, in columns": lambda x: of(x, sparse.csc_array) @ V,
    "of entries, the shape from them": lambda x: sparse.coo_array((x, (ROW, COL))).tocsr() @ V,
    "of a list of entries": lambda x: sparse.coo_matrix(([x[0], x[1] * x[2]], ([0, 1], [1, 0])), (3, 3)) @ V,
    "of rows": of_rows,
    "of a dense array": lambda x: sparse.csr_matrix(np.outer(x[:3], x[2:5])) @ V,
    "of another": lambda x: sparse.csr_array(of(x)) @ V + sparse.csr_array(of(x)).sum(axis=0),
    "in another dtype": lambda x: sparse.csr_array(of(x), dtype=np.float64).astype(float) @ V,
    "of nested lists": lambda x: sparse.csr_array([[x[0], 0.0, x[1]], [x[2], x[3], 1.0]]) @ V,
    "a diagonal": lambda x: sparse.diags(x[:3]) @ V,
    "diagonals": lambda x: tridiagonal(x) @ V,
    "diagonals in a format": lambda x: tridiagonal(x, format="csc").T @ V,
    "numbers along diagonals": lambda x: sparse.diags_array([x[0], -2.0], offsets=[1, 0], shape=(3, 3)) @ V,
    "diagonals of an array": lambda x: sparse.spdiags(np.reshape(x[:6], (2, 3)), [0, 1], 3, 3) @ V,
    "as diagonals": lambda x: sparse.dia_array((np.reshape(x[:6], (2, 3)), [0, 1]), shape=(3, 3)) @ V,
    "a product": lambda x: (of(x) @ tridiagonal(x)) @ V,
    "a product with a known one": lambda x: (C @ of(x, sparse.csr_array)) @ V + (of(x) @ M) @ V,
    "a congruence": lambda x: (M.T @ sparse.diags(x[:3]) @ M) @ V,
    "an elementwise product": lambda x: of(x).multiply(of(x) + M) @ V,
    "a Kronecker product": lambda x: sparse.kron(sparse.eye(2), sparse.diags(x[:3])) @ np.tile(V, 2),
    "a Kronecker product with a row": lambda x: sparse.kron(M, x[:2]) @ np.arange(6.0),
    "a Kronecker sum": lambda x: sparse.kronsum(of(x), M, format="csr") @ np.arange(9.0),
    "blocks": lambda x: sparse.bmat([[sparse.diags(x[:3]), None], [M, of(x)]]) @ np.tile(V, 2),
    "beside one another": lambda x: sparse.hstack([of(x), C], format="csr") @ np.tile(V, 2),
    "below one another": lambda x: sparse.vstack([sparse.diags(x[:3]), sparse.eye(3)]) @ V,
    "along the diagonal": lambda x: sparse.block_diag([of(x), np.ones((2, 2))]) @ np.arange(5.0),
    "triangles": lambda x: (sparse.tril(of(x)) - sparse.triu(of(x), k=1)) @ V,
    "parts": indexed,
    "elements written": assembled,
    "a sum of several": lambda x: (x[0] * sparse.eye_array(3) + sparse.eye_array(3, k=1) * x[1] + C) @ V,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name):
    f = PROGRAMS[name]
    np.testing.assert_allclose(sg.symbolic(f)(X), f(X), rtol=1e-13, atol=1e-13)
    check_grads(f, (X,), order=2)


@pytest.mark.parametrize("name", ["of entries", "a congruence", "parts"])
def test_examples(name):
    f = PROGRAMS[name]
    many = np.stack([X, 2 * X + 1])
    np.testing.assert_allclose(sg.vmap(f)(many), np.stack([f(x) for x in many]), rtol=1e-13)


def test_other_entries_of_the_same_places_are_no_new_trace():
    g = sg.grad(lambda x: np.sum((of(x) @ tridiagonal(x)) @ V))
    kernels = set()
    for x in (X, X + 1, -X):
        g(x)
        kernels.add(g.kernel())
    assert len(kernels) == 1


def test_large_ones_stay_sparse():
    n = 100_000

    def f(d):
        A = sparse.diags([d, -np.ones(n - 1)], [0, 1], format="csr")
        return np.sum((A.T @ A @ np.ones(n)) ** 2)

    d = np.linspace(1, 2, n)
    got, step = sg.grad(f)(d), 1e-5
    for k in (0, 7, n - 1):
        moved = np.where(np.arange(n) == k, step, 0)
        slope = (f(d + moved) - f(d - moved)) / (2 * step)
        np.testing.assert_allclose(got[k], slope, rtol=1e-4, atol=1e-4)


def test_places_beyond_32_bits():
    places, columns = (np.array([0, 1 << 16], np.int32), np.zeros(2, np.int32)), 1 << 16

    def f(x):
        A = sparse.csr_array((x, places), shape=(1 << 17, columns))
        return A.multiply(A)[[0, 1 << 16], :] @ np.ones(columns)

    x = np.array([2.0, 3.0])
    np.testing.assert_array_equal(sg.symbolic(f)(x), f(x))
    check_grads(f, (x,), order=2)


@pytest.mark.parametrize(
    ("f", "error"),
    [
        (lambda x: of(x, sparse.csr_array)[0] @ V, UnsupportedOperation),
        (lambda x: of(x)[[0, 1], [1, 2]] @ V[:2], UnsupportedOperation),
        (lambda x: (of(x) @ M).data.sum(), UnsupportedOperation),
        (lambda x: of(x) @ sparse.eye(4), ShapeError),
        (lambda x: of(x).multiply(sparse.eye(4)).sum(), ShapeError),
        (lambda x: sparse.random_array((3, 3), data_sampler=lambda size: x[:size]).sum(), (TracingError, TypeError)),
    ],
)
def test_refusals(f, error):
    with pytest.raises(error):
        sg.grad(f)(X)


@pytest.mark.parametrize("kind", [sparse.lil_array, sparse.csr_array])
def test_sparse_arrays_are_written_to(kind):
    def f(x):
        A = kind(np.diag(V))
        alias = A
        A[0, 0] = x[0] * x[1]
        alias[2, 2] *= x[2]
        return (A @ V).sum()

    check_grads(f, (X,))
    assert sg.value_and_grad(f)(X)[0] == f(X)


def test_what_cannot_be_written_to_says_what_to_do():
    def f(x):
        A = sparse.dok_array((3, 3))
        A[0, 0] = x[0]
        return (A @ V).sum()

    with pytest.raises(TracingError, match=r"lil_matrix.*coo_array"):
        sg.grad(f)(X)

    outside = sparse.lil_matrix((3, 3))

    def g(x):
        outside[0, 0] = x[0]
        return (outside @ V).sum()

    with pytest.raises(TracingError, match="from outside"):
        sg.grad(g)(X)
    assert outside.nnz == 0


def test_errors_are_those_of_scipy():
    with pytest.raises(ValueError, match="exceeds matrix dimension"):
        sg.grad(lambda x: sparse.csr_matrix((x, (ROW + 9, COL)), shape=(3, 3)).sum())(X)
