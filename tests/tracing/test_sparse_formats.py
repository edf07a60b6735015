"""Sparse matrices that share their entries with an array: what is written into the one is seen in the other, as SciPy
has it."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from central_differences import expect_slopes
from scipy import sparse

import symgrad as sg
from symgrad.errors import TracingError, UnsupportedOperation

ROW, COL = np.array([0, 1, 2, 0]), np.array([1, 2, 0, 2])
ENDS = np.array([0, 2, 3, 4])
X = np.array([1.0, 2.0, 3.0, 4.0])
V = np.array([1.0, -2.0, 3.0])
PATTERN = sparse.csr_array((np.ones(4), COL, ENDS), shape=(3, 3))


def of_places(y, kind=sparse.coo_array, **named):
    return kind((y, (ROW, COL)), shape=(3, 3), **named)


def of_rows(y, kind=sparse.csr_array, **named):
    return kind((y, COL, ENDS), shape=(3, 3), **named)


MATRICES = {
    "coo": of_places,
    "coo, old": lambda y: of_places(y, sparse.coo_matrix),
    "csr of places": lambda y: of_places(y, sparse.csr_array),
    "csr": of_rows,
    "csc": lambda y: of_rows(y, sparse.csc_matrix),
    "transposed": lambda y: of_rows(y).T,
    "transposed copy": lambda y: of_rows(y).transpose(copy=True),
    "csr as coo": lambda y: of_rows(y).tocoo(),
    "a copy as coo": lambda y: of_rows(y).tocoo(copy=True),
    "csr in the format coo": lambda y: of_rows(y).asformat("coo"),
    "coo of csr": lambda y: sparse.coo_array(of_rows(y)),
    "csr of csr": lambda y: sparse.csr_array(of_rows(y)),
    "csr as csr": lambda y: of_rows(y).tocsr(),
    "csr as csc": lambda y: of_rows(y).tocsc(),
    "coo as csr": lambda y: of_places(y).tocsr(),
    "a copy": lambda y: of_rows(y).copy(),
    "copied": lambda y: of_rows(y, copy=True),
    "astype": lambda y: of_rows(y).astype(float),
    "the same dtype": lambda y: of_rows(y).astype(float, copy=False),
    "negative": lambda y: -of_rows(y),
    "dia": lambda y: sparse.dia_array((y[:3].reshape(1, 3), [0]), shape=(3, 3)),
    "dia, transposed": lambda y: sparse.dia_array((y[:3].reshape(1, 3), [0]), shape=(3, 3)).T,
    "bsr": lambda y: sparse.bsr_array((y[:3].reshape(1, 1, 3), [0], [0, 1]), shape=(1, 3)),
    "diags": lambda y: sparse.diags([y[:3]], [0]),
}


def computed(x):
    return x * 1.0


def filled(x):
    y = np.zeros(4)
    y[:] = x
    return y


def empty(x):
    return np.zeros(4)


@pytest.mark.parametrize("array", [computed, filled, empty])
@pytest.mark.parametrize("name", MATRICES)
def test_a_matrix_sees_what_is_written_into_the_array_of_its_entries(name, array):
    def f(x):
        y = array(x)
        A = MATRICES[name](y)
        y[0] = 100 * x[0] * x[1]
        y[2] = 7.0
        return np.sum(A @ V) + np.sum(y**2)

    expect_slopes(sg.value_and_grad(f)(X), f, X, atol=1e-5)


def in_place(x):
    y = x * 1.0
    A = of_rows(y)
    alias = A
    alias *= x[1]
    A.data[1] = 5 * x[2]
    A.data **= 2
    A /= x[3]
    return np.sum(A @ V) + np.sum(y**2)


def other_entries(x):
    A = PATTERN.copy()
    A.data[:] = x * x
    B = sparse.csr_matrix(PATTERN, copy=True)
    B.data = A.data * 2
    A.data[0] = 3.0
    return np.sum(A @ V) + np.sum(B.T @ V)


def of_functions(x):
    A = of_places(-x, sparse.csr_array)
    return np.sum(abs(A) @ V) + np.sum(A.power(2) @ V) + np.sum(A.tanh().toarray()) + np.sum(abs(A).sqrt() @ V)


def elements_written(x):
    y = x * 1.0
    A = of_rows(y)
    B = A.T
    other = A.tocsc().tocoo()
    A[0, 1] = 10 * x[0] * x[1]
    A[1, 0] *= x[3]
    copied = copy.copy(A)
    A[2, 2] = x[2]
    A[0, 2] = 5.0
    return np.sum(B @ V) + np.sum(y**2) + np.sum(A @ V) + np.sum(other @ V) + np.sum(copied @ V)


def of_both_kinds(x):
    """Sparse arrays and matrices together, whose ``*`` says which of them is made."""
    A, B = of_rows(x), of_rows(x * 2, sparse.csr_matrix)
    known = sparse.identity(3) + A
    made = [known * known, (B @ A) * (B @ A), (A @ B) * A, (B + B) * B, (sparse.diags(V) @ A) * A, B.multiply(A) * A]
    parts = (B + sparse.eye(3, format="csr"))[0:2]
    return sum(m.sum() * (k + 1) for k, m in enumerate(made)) + parts.sum()


def by_rows(x):
    """SciPy adds up entries that meet, and orders them, when it makes rows of coordinates."""
    A = sparse.csr_array((x, ([2, 0, 2, 1], [0, 2, 0, 1])), shape=(3, 3))
    y = np.zeros(3)
    for row in range(3):
        for k in range(A.indptr[row], A.indptr[row + 1]):
            y[row] += A.data[k] ** 2 * V[A.indices[k]]
    A.data[0] *= x[3]
    B = sparse.coo_matrix((x, (ROW, COL)), shape=(3, 3)).tocsc()
    C = B.T
    B.data *= x[1]
    B.sum_duplicates()
    return np.sum(y) * A.nnz + np.sum(A @ V) + np.sum(B.data * np.arange(B.nnz)) + np.sum(C @ V)


def filled_in_lists(x):
    A = of_places(x, sparse.csr_matrix)
    B = A.tolil()
    B[0, 0] = x[0]
    B.setdiag(x[1:])
    C = B.tocsr()
    C.setdiag(0.5)
    C.eliminate_zeros()
    return np.sum((A**3) @ V) + np.sum(B.tocsr() @ V) + np.sum(C @ V) + (sparse.csr_array(A) ** 2).sum()


def where_entries_meet(x):
    A = sparse.csr_array((x - 2.5, ([0, 0, 0, 0], [0, 0, 1, 1])), shape=(1, 2))
    return np.sum(abs(A).power(3) @ V[:2])


@pytest.mark.parametrize(
    "f",
    [
        in_place,
        other_entries,
        of_functions,
        where_entries_meet,
        elements_written,
        of_both_kinds,
        by_rows,
        filled_in_lists,
    ],
)
def test_entries_are_written_and_mapped(f):
    expect_slopes(sg.value_and_grad(f)(X), f, X, atol=1e-5)


def test_the_entries_of_a_matrix_from_outside_are_not_written():
    def f(x):
        PATTERN.data[:] = x
        return np.sum(PATTERN @ V)

    with pytest.raises(TracingError, match="was not made inside the function"):
        sg.grad(f)(X)
    np.testing.assert_array_equal(PATTERN.data, np.ones(4))


def test_a_matrix_that_looks_into_an_array_in_another_order_is_not_scaled_in_place():
    def f(x):
        A = sparse.dia_array((x[:3].reshape(1, 3), [0]), shape=(3, 3))
        A *= x[3]
        return np.sum(A @ V)

    with pytest.raises(UnsupportedOperation, match=r"Write A = A \* x"):
        sg.grad(f)(X)
