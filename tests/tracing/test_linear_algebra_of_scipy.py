"""``scipy.linalg`` on traced values, where a case of the registry cannot say it."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import DtypeError, ShapeError, UnsupportedOperation
from symgrad.testing import check_grads

linalg = pytest.importorskip("scipy.linalg")
RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(4, 4)), RNG.normal(size=(4, 4))
S, P = A + A.T + np.diag(np.arange(4) * 9.0), B @ B.T + 4 * np.eye(4)
b = RNG.normal(size=4)

CASES = {
    "det": (linalg.det, [A]),
    "logm": (linalg.logm, [P]),
    "solveh_banded": (linalg.solveh_banded, [np.array([[0.0, 1, 2, 1], [6, 7, 8, 9]]), b]),
    "solveh_banded, lower": (
        lambda ab, b: linalg.solveh_banded(ab, b, lower=True),
        [np.array([[6.0, 7, 8, 9], [1, 2, 1, 0]]), b],
    ),
    "inv of a form": (lambda A: linalg.inv(A @ A.T + np.eye(4), assume_a="pos", lower=True), [A]),
    "cosm of a stack": (lambda A: linalg.expm(np.stack([A, -A])), [A / 2]),
    "expm of a complex matrix": (lambda A: np.abs(linalg.expm(1j * A)) ** 2, [A]),
    "eigh by vectors": (lambda A: np.abs(linalg.eigh(A + A.T)[1]), [S]),
    "eigh of two matrices": (lambda A, B: linalg.eigh(A + A.T, B + B.T, eigvals_only=True), [S, P]),
    "eigh of two matrices, vectors": (lambda A, B: np.abs(linalg.eigh(A + A.T, B + B.T)[1]), [S, P]),
    "eigvals": (lambda A: np.sort(np.abs(linalg.eigvals(A))), [S + A]),
    "eigvals of two matrices": (lambda A, B: np.sort(np.real(linalg.eigvals(A, B))), [S, P]),
    "eig": (lambda A: np.sort(np.abs(linalg.eig(A)[0])), [S + A]),
    "lstsq": (lambda A, b: linalg.lstsq(A, b)[0], [A[:, :2], b]),
    "cholesky": (lambda A: linalg.cholesky(A + A.T), [P]),
    "cholesky, lower": (lambda A: linalg.cholesky(A + A.T, lower=True), [P]),
    "cho_solve": (lambda A, b: linalg.cho_solve(linalg.cho_factor(A + A.T), b), [P, b]),
    "cho_solve, lower": (lambda A, b: linalg.cho_solve(linalg.cho_factor(A + A.T, lower=True), b), [P, b]),
    "cho_solve of a constant factor": (lambda b: linalg.cho_solve(linalg.cho_factor(P, lower=True), b), [b]),
    "lu_solve": (lambda A, b: linalg.lu_solve(linalg.lu_factor(A), b), [A, b]),
    "lu_solve, transposed": (lambda A, b: linalg.lu_solve(linalg.lu_factor(A), b, trans=1), [A, b]),
    "lu_solve of constant factors": (lambda b: linalg.lu_solve(linalg.lu_factor(A), b), [b]),
    "lu by indices": (lambda A: linalg.lu(A, p_indices=True)[1:], [A]),
    "solve_toeplitz of two": (lambda c, r, b: linalg.solve_toeplitz((c, r), b), [b + [20, 0, 0, 0], b[::-1] + 0, b]),
    "solve_discrete_lyapunov": (linalg.solve_discrete_lyapunov, [A / 9, P]),
    "fractions of a state": (lambda A: linalg.expm(A)[:2] @ linalg.block_diag(A, 1.0)[:4, :3], [A]),
}


@pytest.mark.parametrize("name", CASES)
def test_value_and_derivatives(name):
    fn, args = CASES[name]
    got, wanted = sg.symbolic(fn)(*args), fn(*args)
    for a, w in zip(*[v if isinstance(v, tuple) else (v,) for v in (got, wanted)], strict=True):
        np.testing.assert_allclose(a, w, rtol=1e-9, atol=1e-11)
    check_grads(fn, args)


def test_sylvester_of_a_rotation_beside_complex_numbers():
    """SciPy's own takes the real Schur form of a rotation for a triangle, and solves another equation."""
    turn, q = np.array([[0.3, -2.0], [2.0, 0.3]]), RNG.normal(size=(2, 2)) + 1j * RNG.normal(size=(2, 2))
    x = sg.symbolic(linalg.solve_continuous_lyapunov)(turn, q)
    np.testing.assert_allclose(turn @ x + x @ turn.T, q, atol=1e-13)

    def direct(a):
        return np.linalg.solve(np.kron(a, np.eye(2)) + np.kron(np.eye(2), a), q.ravel()).reshape(2, 2)

    got = sg.grad(lambda a: np.sum(np.abs(linalg.solve_continuous_lyapunov(a, q)) ** 2))(turn)
    for place in np.ndindex(2, 2):
        step = np.zeros((2, 2))
        step[place] = 1e-6
        up, down = (np.sum(np.abs(direct(turn + s)) ** 2) for s in (step, -step))
        assert got[place] == pytest.approx((up - down) / 2e-6, rel=1e-6)


@pytest.mark.parametrize("name", ["expm", "sqrtm", "logm"])
def test_functions_of_matrices_are_mapped(name):
    stack = np.stack([P, 2 * P, P + np.eye(4)])
    function = getattr(linalg, name)
    made = sg.vmap(sg.grad(lambda a: np.sum(function(a / 9) ** 2)))(stack)
    for got, a in zip(made, stack, strict=True):
        np.testing.assert_allclose(got, sg.grad(lambda a: np.sum(function(a / 9) ** 2))(a), rtol=1e-12)


def test_a_propagator_of_a_quantum_system():
    """The energy after a pulse, by its strength: the derivative of a unitary exponential."""
    X, Z = np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, -1.0])

    def energy(strength):
        state = linalg.expm(-1j * (Z + strength * X))[:, 0]
        return np.real(np.conj(state) @ Z @ state)

    nudged = (energy(0.7 + 1e-6) - energy(0.7 - 1e-6)) / 2e-6
    assert sg.grad(energy)(0.7) == pytest.approx(nudged, rel=1e-8)


@pytest.mark.parametrize("format", ["python", "numexpr", "jax", "json"])
def test_expm_is_exported(format):
    text = sg.grad(lambda a: np.sum(linalg.expm(a) ** 2)).export(format, A)
    assert "expm" in text
    if format == "python":
        space = {"__name__": "exported"}
        exec(text, space)
        gradient = sg.grad(lambda a: np.sum(linalg.expm(a) ** 2))
        np.testing.assert_allclose(space["grad_f"](A), gradient(A), rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda A: linalg.schur(A)[0], UnsupportedOperation, "scipy.linalg.schur"),
        (lambda A: linalg.null_space(A[:2]), UnsupportedOperation, "scipy.linalg.null_space"),
        (lambda A: linalg.eigh(A, subset_by_value=(0, 1)), UnsupportedOperation, "subset_by_value"),
        (lambda A: linalg.qr(A, pivoting=True), UnsupportedOperation, "pivoting"),
        (lambda A: linalg.expm(A[0]), ShapeError, "scipy.linalg.expm"),
        (lambda A: linalg.sqrtm(-np.eye(2) + 0 * A[:2, :2]), DtypeError, "give it a complex one"),
        (lambda A: linalg.solve_sylvester(A, A, A[:2]), ShapeError, "do not fit"),
    ],
)
def test_what_is_refused(call, error, said):
    with pytest.raises(error, match=said):
        sg.grad(lambda A: np.sum(np.real(call(A))))(A)


TURNED = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]


@pytest.mark.parametrize(
    "a",
    [TURNED, 2 * TURNED[:, :2], np.diag([1.0, 4.0, 4.0]), 0.7 * np.eye(3) + 0.3],
    ids=["rotation", "tall", "diagonal", "alike"],
)
@pytest.mark.parametrize(
    "function",
    [
        lambda a: linalg.polar(a)[0],
        lambda a: linalg.polar(a)[1],
        lambda a: linalg.polar(a.T, side="left")[0],
        lambda a: linalg.orthogonal_procrustes(np.eye(3)[: len(a)], a)[0] if a.shape == (3, 3) else a,
        lambda a: linalg.pinvh(a.T @ a),
        lambda a: linalg.fractional_matrix_power(a.T @ a, 0.3),
        lambda a: linalg.fractional_matrix_power(a.T @ a, -2),
    ],
    ids=["polar", "positive", "left", "procrustes", "pinvh", "power", "whole power"],
)
def test_functions_that_are_smooth_where_singular_values_are_equal(function, a):
    direction = np.random.default_rng(1).standard_normal(a.shape)
    value, slope = sg.jvp(function, (a,), (direction,))
    np.testing.assert_allclose(value, function(a), atol=1e-13)
    want = (function(a + 1e-6 * direction) - function(a - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(slope, want, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("a", [np.diag([1.0, 0.0]), np.outer([1.0, 2, 3], [1.0, 2, 1]), np.eye(2, 3) + 0.1], ids=str)
@pytest.mark.parametrize("side", ["right", "left"])
def test_polar_of_any_matrix_has_scipys_value(a, side):
    for got, want in zip(sg.symbolic(lambda a: linalg.polar(a, side))(a), linalg.polar(a, side), strict=True):
        np.testing.assert_allclose(got, want, atol=1e-14)
    is_regular = np.linalg.matrix_rank(a) == min(a.shape)
    slope = sg.grad(lambda a: linalg.polar(a, side)[0].sum())(a)
    assert np.isfinite(slope).all() == is_regular


def test_second_derivatives_of_polar_at_a_rotation():
    def corner(t):
        return linalg.polar(np.array([[np.cos(t), np.sin(t)], [-np.sin(t), np.cos(t)]]))[0][0, 0]

    assert sg.hessian(corner)(0.3) == pytest.approx(-np.cos(0.3))
