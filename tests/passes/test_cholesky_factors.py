"""Gradients through Cholesky factors without halves: what they are, and how they read."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.passes.cholesky_factors import of_whole_matrices, without_halves

linalg = pytest.importorskip("scipy.linalg")
RNG = np.random.default_rng(3)
K = (lambda a: a @ a.T + 4 * np.eye(4))(RNG.standard_normal((4, 4)))
y, Y, W = RNG.standard_normal(4), RNG.standard_normal((4, 3)), RNG.standard_normal((4, 4))


def by_solve(K, y):
    L = np.linalg.cholesky(K)
    return 0.5 * np.sum(y * np.linalg.solve(L.T, np.linalg.solve(L, y))) + np.sum(np.log(np.diag(L)))


def by_triangles(K, y):
    L = linalg.cholesky(K, lower=True)
    u = linalg.solve_triangular(L, y, lower=True)
    return 0.5 * np.sum(u**2) + 2 * np.sum(np.log(np.diag(L)))


def by_cho_solve(K, y):
    factor = linalg.cho_factor(K, lower=True)
    return -0.5 * np.sum(y * linalg.cho_solve(factor, y)) - np.sum(np.log(np.diag(factor[0])))


def from_above(K, y):
    factor = linalg.cho_factor(K)
    return np.sum(np.log(np.diag(factor[0]))) + 0.5 * np.sum(y * linalg.cho_solve(factor, y))


def of_two(K, y):
    L = np.linalg.cholesky(K)
    u, v = np.linalg.solve(L, y), np.linalg.solve(L, y[::-1])
    return 3 * np.sum(u**2) - np.sum(v * v) + np.sum(np.diag(L) ** 3)


WHOLE = {f.__name__: f for f in (by_solve, by_triangles, by_cho_solve, from_above, of_two)}


def slopes(f):
    """By symmetric changes: that is what a function of one triangle has a gradient by."""
    made = np.zeros((4, 4))
    for i, j in np.ndindex(4, 4):
        change = np.zeros((4, 4))
        change[i, j] += 0.5
        change[j, i] += 0.5
        made[i, j] = (f(K + 1e-6 * change) - f(K - 1e-6 * change)) / 2e-6
    return made


@pytest.mark.parametrize("backend", ["numpy", "auto"])
@pytest.mark.parametrize("right", [y, Y], ids=["vector", "columns"])
@pytest.mark.parametrize("name", WHOLE)
def test_gradients_by_positive_definite_matrices(name, right, backend):
    f = WHOLE[name]
    g = sg.grad(f, (0, 1), backend=backend)
    by_matrix, by_right = g(K, right)
    np.testing.assert_allclose(by_matrix, slopes(lambda K: f(K, right)), rtol=1e-7, atol=1e-8)
    moved = 1e-6 * RNG.standard_normal(right.shape)
    assert np.sum(by_right * moved) == pytest.approx((f(K, right + moved) - f(K, right - moved)) / 2, rel=1e-7)
    assert "halved" not in str(g.program(K, right))
    counts = sg.grad(f).program(K, right).operation_counts()
    assert not {"gate", "where", "conjugate"} & set(counts)


HALVED = {
    "each entry": lambda L: np.sum(L * W),
    "another right side": lambda L: np.sum(np.linalg.solve(L, y) * y),
    "one diagonal and an entry": lambda L: np.sum(np.log(np.diag(L))) + L[2, 1],
    "an inverse": lambda L: np.sum(np.linalg.inv(L) * W),
}


@pytest.mark.parametrize("name", HALVED)
def test_what_is_not_symmetric_stays_halved(name):
    f = lambda K: HALVED[name](np.linalg.cholesky(K))  # noqa: E731
    np.testing.assert_allclose(sg.grad(f)(K), slopes(f), rtol=1e-7, atol=1e-8)


READ = {
    "by_solve": ("∂f/∂K = 1/2 · (K⁻¹ − K⁻¹yyᵀK⁻ᵀ)", "∂f/∂y = K⁻¹y"),
    "by_triangles": ("∂f/∂K = K⁻¹ − 1/2 · K⁻¹yyᵀK⁻ᵀ", "∂f/∂y = K⁻¹y"),
    "by_cho_solve": ("∂f/∂K = 1/2 · (K⁻¹yyᵀK⁻ᵀ − K⁻¹)", "∂f/∂y = −K⁻¹y"),
    "from_above": ("∂f/∂K = 1/2 · (K⁻¹ − K⁻¹yyᵀK⁻ᵀ)", "∂f/∂y = K⁻¹y"),
}


@pytest.mark.parametrize("name", READ)
def test_they_read_by_the_matrix_itself(name):
    g = sg.grad(WHOLE[name], (0, 1))
    assert tuple(str(g.formulas(K, y)).splitlines()) == READ[name]
    assert "agrees" in str(g.agreement(K, y)).splitlines()[0]


def test_other_programs_are_left_as_they_are():
    program = sg.grad(lambda K: np.linalg.slogdet(K)[1]).program(K)
    assert without_halves(program) is program
    assert of_whole_matrices(program) is program
