"""Derivatives of decompositions: what does not depend on the choice of vectors, degenerate matrices, cost, refusals."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, ShapeError, UnsupportedOperation

RNG = np.random.default_rng(5)


def hermitian(a, b):
    return a + a.T + 1j * (b - b.T) + np.diag(np.arange(len(a)) * 9.0)


def of_eigh(a, b):
    """The same for every phase of the vectors."""
    values, vectors = np.linalg.eigh(hermitian(a, b))
    return values @ abs(vectors[0]) ** 2 * np.sum(abs(vectors[:, 1]) ** 4)


def of_eig(a, b):
    values, vectors = np.linalg.eig(hermitian(a, b) + 0.3 * a)
    return np.sum((values * values).real) + abs(vectors[1, 2]) ** 2


def of_svd(a, b):
    u, s, vh = np.linalg.svd((hermitian(a, b) + a)[:, :2], full_matrices=False)
    return abs(u[0, 0]) ** 2 + s[1] * abs(vh[1, 0]) ** 2 + ((u * np.sqrt(s)) @ vh)[2, 1].imag


@pytest.mark.parametrize("fn", [of_eigh, of_eig, of_svd])
def test_of_complex_matrices(check_rule, fn):
    check_rule(fn, [RNG.standard_normal((3, 3)), RNG.standard_normal((3, 3))])


def test_real_matrices_have_complex_eigenvalues(check_rule):
    turning = np.array([[1.0, 2.0, 0.1], [-3.0, 1.5, 0.2], [0.3, 0.1, 7.0]])
    check_rule(lambda a: np.sum(abs(np.linalg.eigvals(a)) ** 3), [turning])


def test_equal_eigenvalues():
    """Sums of functions of the eigenvalues are smooth there, and eigenvectors are no functions at all."""
    a = np.diag([2.0, 2.0, 5.0])
    made = sg.grad(lambda a: np.sum(np.exp(np.linalg.eigvalsh(a))))(a)
    np.testing.assert_allclose(made, np.diag(np.exp([2.0, 2.0, 5.0])), rtol=1e-13, atol=1e-13)
    vectors = sg.grad(lambda a: np.linalg.eigh(a)[1][0, 0] + np.linalg.eigh(a)[1][1, 0])(a)
    assert np.isnan(vectors).any()
    assert np.isfinite(sg.grad(lambda a: np.sum(np.linalg.eigh(a)[0] ** 2))(a)).all()


def of_largest(a):
    values, vectors = np.linalg.eig(a)
    return np.abs(vectors[0, np.argmax(values.real)]) ** 2


def test_vectors_beside_others_of_equal_values():
    """What reads the others alone has a derivative; values that are equal to rounding are equal."""
    turned = np.linalg.qr(RNG.standard_normal((3, 3)))[0]
    direction = RNG.standard_normal((3, 3))
    for f, a in (
        (lambda a: np.linalg.eigh((a + a.T) / 2)[1][0, -1] ** 2, turned @ np.diag([2.0, 2.0, 5.0]) @ turned.T),
        (lambda a: np.linalg.svd(a)[0][1, 0] ** 2, turned @ np.diag([5.0, 2.0, 2.0])),
        (of_largest, turned @ np.diag([2.0, 2.0, 5.0]) @ turned.T + np.outer(turned[:, 2], turned[:, 0])),
    ):
        want = (f(a + 1e-6 * direction) - f(a - 1e-6 * direction)) / 2e-6
        assert np.sum(sg.grad(f)(a) * direction) == pytest.approx(want, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("shape", [(3, 3), (6, 3), (200, 100)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_qr_of_dependent_columns(shape, dtype):
    """They have no derivative; how large or small the columns are does not matter."""
    weights = RNG.standard_normal(shape)
    g = sg.grad(lambda a: np.sum(np.linalg.qr(a)[0] * weights))
    a = RNG.standard_normal(shape).astype(dtype) * np.asarray([1e-20, 1, 1e20], dtype)[np.arange(shape[1]) % 3]
    assert np.isfinite(g(a)).all()
    a[:, -1] = a[:, 0] - 2 * a[:, 3 % shape[1]] if shape[1] > 3 else 7 * a[:, 1]
    assert np.isnan(g(a)).all()
    a[:, 0] = 0
    assert np.isnan(g(a)).all()


def test_norms_where_other_singular_values_are_equal(check_rule):
    a = np.diag([5.0, 2.0, 2.0])
    np.testing.assert_allclose(sg.grad(lambda a: np.linalg.norm(a, 2))(a), np.diag([1.0, 0, 0]), atol=1e-14)
    np.testing.assert_allclose(sg.grad(lambda a: np.linalg.norm(a, "nuc"))(a), np.eye(3), atol=1e-14)


def test_pseudo_inverse_at_constant_rank(check_rule):
    """A matrix of rank 2, whatever the factors are."""
    left, right = RNG.standard_normal((4, 2)), RNG.standard_normal((2, 3))
    check_rule(lambda u, v: np.linalg.pinv(u @ v, 1e-6), [left, right])
    check_rule(lambda u, v, b: np.linalg.lstsq(u @ v, b, 1e-6)[0], [left, right, np.arange(4.0)])


def test_orthogonal_matrices_have_a_derivative_of_their_inverse():
    made = sg.jacobian(np.linalg.pinv)(np.eye(2))
    np.testing.assert_allclose(made, -np.einsum("ik,lj->ijkl", np.eye(2), np.eye(2)), atol=1e-14)


@pytest.mark.parametrize("fn", [np.linalg.eigh, np.linalg.eig, np.linalg.svd, np.linalg.qr])
def test_is_computed_once(fn):
    source = sg.grad(lambda a: np.sum(sum(np.sum(abs(part) ** 3) for part in fn(a)))).kernel(np.eye(3)).source
    assert source.count("decomposed(") == 1


def test_examples_at_once():
    stack = RNG.standard_normal((4, 3, 3)) + np.diag([1.0, 5, 9])
    rows = sg.vmap(lambda a: np.linalg.lstsq(a, np.ones(3))[0] + np.linalg.svd(a)[1])(stack)
    for row, a in zip(rows, stack, strict=True):
        np.testing.assert_allclose(row, np.linalg.lstsq(a, np.ones(3))[0] + np.linalg.svd(a)[1], rtol=1e-10)
    each = sg.vmap(sg.grad(lambda a: np.linalg.eigh(a + a.T)[1][0, 1]))(stack)
    np.testing.assert_allclose(each[2], sg.grad(lambda a: np.linalg.eigh(a + a.T)[1][0, 1])(stack[2]), rtol=1e-12)


@pytest.mark.parametrize(
    ("fn", "shape", "error", "words"),
    [
        (np.linalg.svd, (4, 2), UnsupportedOperation, "full_matrices=False"),
        (lambda a: np.linalg.qr(a, mode="complete"), (4, 2), UnsupportedOperation, "reduced"),
        (lambda a: np.linalg.qr(a, mode="raw"), (2, 4), UnsupportedOperation, "raw"),
        (np.linalg.eigh, (4, 2), ShapeError, "must be equal"),
        (lambda a: np.linalg.eigh(a, "X"), (2, 2), ArgumentError, "UPLO"),
        (lambda a: np.linalg.norm(a, 7), (2, 2), ArgumentError, "no order 7"),
    ],
)
def test_what_is_refused(fn, shape, error, words):
    with pytest.raises(error, match=words):
        sg.symbolic(fn)(np.ones(shape))


NAMED = {
    "svd": lambda a: np.abs(np.linalg.svd(a, full_matrices=False)[0]) ** 2,
    "first vectors of all": lambda a: np.abs(np.linalg.svd(a)[0][:, :2]) ** 2,
    "svdvals": lambda a: np.linalg.svd(a, compute_uv=False),
    "qr": lambda a: np.linalg.qr(a)[0] @ np.abs(np.linalg.qr(a)[1]),
    "pinv": np.linalg.pinv,
    "pinv to rounding": lambda a: np.linalg.pinv(a, rtol=None),
    "lstsq": lambda a: np.linalg.lstsq(a, np.sin(a[:, 0]))[0],
    "what is left": lambda a: np.linalg.lstsq(a, np.sin(a[:, 0]))[1],
    "cond": np.linalg.cond,
    "rank": lambda a: np.linalg.matrix_rank(a) * a,
}


@pytest.mark.parametrize("name", NAMED)
def test_rows_of_named_number(name):
    """One program for matrices of more rows than columns, and another where there are no more; fewer are refused."""
    total = sg.named(lambda a: np.sum(np.sin(NAMED[name](a))), a="n 3")
    derived = sg.value_and_grad(total)
    for n in (7, 3, 4):
        a, t = RNG.standard_normal((n, 3)), RNG.standard_normal((n, 3))
        value, slope = derived(a)
        assert value == pytest.approx(total(a), rel=1e-10)
        around = [total(a + h * t) for h in (-1e-6, 1e-6)]
        assert np.sum(slope * t) == pytest.approx((around[1] - around[0]) / 2e-6, rel=1e-5, abs=1e-7)
    with pytest.raises(UnsupportedOperation, match="as many as columns"):
        derived(np.ones((2, 3)))


def test_a_program_of_a_named_number_of_rows_is_read_again(tmp_path):
    derived = sg.grad(sg.named(lambda a: np.sum(np.linalg.svd(a, compute_uv=False) ** 3), a="n 3"))
    derived.export("json", path=tmp_path / "slope.json")
    again = sg.load(tmp_path / "slope.json")
    a = RNG.standard_normal((6, 3))
    np.testing.assert_allclose(again(a), derived(a), rtol=1e-12)
    with pytest.raises(ShapeError):
        again(np.ones((2, 3)))
