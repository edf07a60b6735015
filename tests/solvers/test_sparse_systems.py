"""Systems of equations with sparse matrices: values, derivatives of both modes and orders, and the adjoint's cost."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import symgrad as sg
from symgrad.errors import ArgumentError, DtypeError, ShapeError, UnsupportedOperation
from symgrad.solvers import sparse_systems
from symgrad.testing import check_grads

ROW, COL = np.array([0, 0, 1, 1, 2, 2, 0]), np.array([0, 1, 1, 2, 2, 0, 0])
X, B = np.array([2.0, 1.0, 3.0, -1.0, 4.0, 0.7, 0.5]), np.array([1.0, -2.0, 3.0])
KNOWN = sparse.csc_matrix(np.diag([3.0, 4.0, 5.0]) + np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
FACTORS, SOLVE = linalg.splu(KNOWN), linalg.factorized(KNOWN)


def of(x, kind=sparse.csc_matrix):
    return kind((x, (ROW, COL)), shape=(3, 3))


def symmetric(x):
    return sparse.diags([x[:3] ** 2 + 4, x[3:5], x[3:5]], [0, 1, -1], format="csr")


PROGRAMS = {
    "spsolve": lambda x, b: linalg.spsolve(of(x), b),
    "spsolve, one column": lambda x, b: linalg.spsolve(of(x, sparse.csr_array), b[:, None]),
    "spsolve, columns": lambda x, b: linalg.spsolve(of(x), np.stack([b, b**2], axis=1)),
    "spsolve, a known matrix": lambda x, b: linalg.spsolve(KNOWN, b * x[0]),
    "spsolve, a known right side": lambda x, b: linalg.spsolve(of(x), np.arange(3.0)) * b,
    "spsolve in spsolve": lambda x, b: linalg.spsolve(of(x), linalg.spsolve(of(x).T.tocsc(), b)),
    "splu": lambda x, b: linalg.splu(of(x)).solve(b),
    "splu, transposed": lambda x, b: linalg.splu(of(x)).solve(b, "T") + linalg.splu(of(x)).solve(b, trans="H"),
    "factorized": lambda x, b: linalg.factorized(of(x))(b),
    "known factors": lambda x, b: FACTORS.solve(b * x[0]) + FACTORS.solve(b, "T") + SOLVE(x[:3]),
    "known factors, columns": lambda x, b: FACTORS.solve(np.outer(b, x[:2])),
    "conjugate gradients": lambda x, b: linalg.cg(symmetric(x), b, rtol=1e-13)[0],
    "gmres": lambda x, b: linalg.gmres(of(x), b, rtol=1e-13, atol=0.0)[0],
    "minres, a dense matrix": lambda x, b: linalg.minres(symmetric(x).toarray(), b, rtol=1e-13)[0],
    "norm": lambda x, b: linalg.norm(of(x)) * b,
    "of complex numbers": lambda x, b: np.abs(linalg.spsolve(of(x * (1 + 0.5j)), b)),
    "a complex right side": lambda x, b: linalg.spsolve(of(x), b + 1j * x[:3]).imag,
    "of complex numbers, transposed": lambda x, b: np.stack(
        [np.abs(linalg.splu(of(x + 0.3j)).solve(b + 1j * x[:3], trans)) for trans in "NTH"]
    ),
    "of complex numbers, columns": lambda x, b: linalg.spsolve(of(x + 0.3j), np.stack([b, b**2], axis=1)).imag,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name):
    f = PROGRAMS[name]
    np.testing.assert_allclose(sg.symbolic(f)(X, B), f(X, B), rtol=1e-12, atol=1e-12)
    check_grads(f, (X, B), order=2)


def test_jacobians_of_both_modes():
    f = PROGRAMS["spsolve"]
    forward, reverse = (sg.jacobian(f, (0, 1), mode=mode)(X, B) for mode in ("forward", "reverse"))
    for one, other in zip(forward, reverse, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    np.testing.assert_allclose(forward[1], np.linalg.inv(of(X).toarray()), rtol=1e-12)


def test_examples():
    many = np.stack([B, 2 * B])
    got = sg.vmap(lambda b: linalg.spsolve(of(X), b))(many)
    np.testing.assert_allclose(got, np.linalg.solve(of(X).toarray(), many.T).T, rtol=1e-12)


def test_a_matrix_as_an_argument():
    A = sparse.csc_array(KNOWN)
    g = sg.grad(lambda A: np.sum(linalg.spsolve(A, B) ** 2))(A)
    assert type(g) is sparse.csc_array
    x = np.linalg.solve(A.toarray(), B)
    wanted = -np.outer(np.linalg.solve(A.toarray().T, 2 * x), x)
    np.testing.assert_allclose(g.toarray(), np.where(A.toarray() != 0, wanted, 0), rtol=1e-12)


def test_value_and_gradient_take_one_factorisation(monkeypatch):
    n, counts = 20_000, []
    splu = linalg.splu
    monkeypatch.setattr(sparse_systems.linalg, "splu", lambda A: (counts.append(1), splu(A))[1])

    def f(d):
        A = sparse.diags([d, -np.ones(n - 1), -np.ones(n - 1)], [0, 1, -1], format="csc")
        return np.sum(linalg.spsolve(A, np.ones(n)) ** 2)

    g, d = sg.value_and_grad(f), np.linspace(2.5, 3, n)
    g(d)
    counts.clear()
    value, got = g(d + 0.1)
    assert len(counts) == 1
    np.testing.assert_allclose(value, f(d + 0.1), rtol=1e-12)
    step = np.where(np.arange(n) == 5, 1e-4, 0)
    np.testing.assert_allclose(got[5], (f(d + 0.1 + step) - f(d + 0.1 - step)) / 2e-4, rtol=1e-3)


def test_a_singular_matrix():
    zeros = np.zeros(7)
    with pytest.warns(linalg.MatrixRankWarning, match="singular"):
        assert np.isnan(sg.symbolic(PROGRAMS["spsolve"])(zeros, B)).all()
    with pytest.raises(RuntimeError, match="singular"):
        sg.symbolic(PROGRAMS["splu"])(zeros, B)


def test_what_an_iteration_does_not_find_is_an_error():
    with pytest.raises(ArgumentError, match=r"scipy\.sparse\.linalg\.cg has found no solution"):
        sg.value_and_grad(lambda b: np.sum(linalg.cg(symmetric(X), b, maxiter=1)[0]))(B)


@pytest.mark.parametrize(
    ("f", "error"),
    [
        (lambda b: linalg.spsolve(of(X), sparse.csc_array(b[:, None])), UnsupportedOperation),
        (lambda b: linalg.spsolve(sparse.csc_matrix((b, ([0, 1, 1], [1, 0, 2]))), B[:2]), ShapeError),
        (lambda b: linalg.spsolve(of(X), np.append(b, 1.0)), ShapeError),
        (lambda b: linalg.splu(of(X)).solve(b[:2]), ShapeError),
        (lambda b: FACTORS.solve(b, "X"), ArgumentError),
        (lambda b: linalg.cg(linalg.aslinearoperator(KNOWN), b)[0], UnsupportedOperation),
        (lambda b: linalg.cg(symmetric(X), B, x0=b)[0], UnsupportedOperation),
        (lambda b: linalg.splu(sparse.diags(b, format="csc")).L @ b, UnsupportedOperation),
        (lambda b: linalg.splu(KNOWN * 1j).solve(b * 1j).real, DtypeError),
    ],
)
def test_refusals(f, error):
    with pytest.raises(error):
        sg.grad(f)(B)
