"""scipy.sparse matrices in traced functions, as constants and as arguments."""

from __future__ import annotations

import threading
import types
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import symgrad as sg
from symgrad.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    ShapeError,
    TracingError,
    UnsupportedOperation,
)
from symgrad.kernels.backend import BACKENDS

RNG = np.random.default_rng(3)
PATTERN = sparse.random(5, 4, 0.5, random_state=1, format="csr")
DENSE = PATTERN.toarray()
X, Y = RNG.normal(size=4), RNG.normal(size=5)
ARRAYS = [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.dia_array, sparse.bsr_array, sparse.lil_array]
MATRICES = [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.dok_matrix]
KINDS = ARRAYS + MATRICES
#: the kinds whose second derivatives are compared too
TWICE = (sparse.csr_array, sparse.csc_matrix)


def differences(f, x, step=1e-6):
    made = np.zeros(x.shape)
    for at in np.ndindex(x.shape):
        ends = []
        for sign in (1, -1):
            moved = x.copy()
            moved[at] += sign * step
            ends.append(np.sum(f(moved)))
        made[at] = (ends[0] - ends[1]) / (2 * step)
    return made


def check(f, x, backend="auto", twice=True):
    value, gradient = sg.value_and_grad(f, backend=backend)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(gradient, differences(f, x), rtol=1e-5, atol=1e-6)
    if twice and backend == "auto":
        rows = [differences(lambda v, k=k: sg.grad(f)(v)[k], x) for k in range(x.size)]
        np.testing.assert_allclose(sg.hessian(f)(x), rows, rtol=1e-4, atol=1e-5)


def relaxed(A, x):
    normal = A.T @ A
    for _ in range(4):
        x = x - 0.1 * (normal @ x) + np.sin(x)
    return np.sum(x)


PROGRAMS = {
    "least squares": lambda A, x: np.sum((A @ x - Y) ** 2),
    "transposed": lambda A, x: np.sum(np.sin(A.T @ np.tanh(A @ x))),
    "vector first": lambda A, x: np.sum((Y @ A) * x**2),
    "traced vector first": lambda A, x: np.sum(np.sin(np.cos(A @ x) @ A)),
    "dot": lambda A, x: np.sum(A.dot(x) ** 2),
    "quadratic form": lambda A, x: x @ (A.T @ (A @ x)),
    "relaxation": relaxed,
    "elementwise": lambda A, x: A.multiply(np.exp(x)).sum() ** 2,
    "elementwise, then a product": lambda A, x: np.sum((A.multiply(np.sin(x)) @ x) ** 2),
    "a number first": lambda A, x: np.sum(np.sin((x[0] * A) @ x)),
    "a number behind": lambda A, x: np.sum(((A * x[1]) @ x) ** 2),
    "over a number": lambda A, x: np.sum((A / np.exp(x[0])) @ x),
    "several vectors": lambda A, x: np.sum((A @ np.stack([x, x**2], axis=1)) ** 2),
    "several vectors first": lambda A, x: np.sum((np.stack([A @ x, np.sin(A @ x)]) @ A) ** 2),
    "dense": lambda A, x: np.sum(np.sin(A.toarray() * x)),
    "the sum of two": lambda A, x: np.sum(np.sin((A + A.multiply(x)) @ x)),
    "the difference of two": lambda A, x: np.sum(np.sin((2 * A - A.multiply(x)) @ x)),
    "negative": lambda A, x: np.sum(np.exp(-A @ x)),
    "entries by row and column": lambda A, x: np.sum((A.tocoo().data * x[A.tocoo().col]) ** 2),
    "by columns": lambda A, x: np.sum(A.tocsc().data[:3] * x[:3] ** 2),
    "the mean": lambda A, x: A.multiply(x).mean() * np.sum(x),
}
ARRAY_PROGRAMS = {
    "star": lambda A, x: np.sum(((A * x) @ x) ** 2),
    "star first": lambda A, x: (x * A).sum() ** 2,
    "plus dense": lambda A, x: np.sum(np.sin(A + x)),
    "minus dense": lambda A, x: np.sum(np.sin(x - A)),
    "sums of columns": lambda A, x: np.sum(A.multiply(x).sum(axis=0) ** 2),
    "sums of rows": lambda A, x: np.sum(A.multiply(x).sum(axis=1) ** 2),
    "means of rows": lambda A, x: np.sum(A.multiply(x).mean(axis=1) ** 2),
    "scaled rows": lambda A, x: np.sum(np.sin(A.multiply((A @ x)[:, None]) @ x)),
    "times dense": lambda A, x: (A.multiply(np.outer(A @ x, x)).sum()) ** 2,
}
MATRIX_PROGRAMS = {
    "star": lambda A, x: np.sum((A * x) ** 2),
    "star first": lambda A, x: np.sum(((A * x) * A) ** 2),
    "the sum of columns as an array": lambda A, x: np.sum(np.asarray(A.sum(axis=0)).ravel() * x**2),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_a_constant_in_a_closure(kind, name):
    A = kind(PATTERN)
    check(lambda x: PROGRAMS[name](A, x), X, twice=kind in TWICE)


@pytest.mark.parametrize("name", ARRAY_PROGRAMS)
@pytest.mark.parametrize("kind", ARRAYS, ids=lambda k: k.__name__)
def test_a_sparse_array_in_a_closure(kind, name):
    A = kind(PATTERN)
    check(lambda x: ARRAY_PROGRAMS[name](A, x), X, twice=kind in TWICE)


@pytest.mark.parametrize("name", MATRIX_PROGRAMS)
@pytest.mark.parametrize("kind", MATRICES, ids=lambda k: k.__name__)
def test_a_sparse_matrix_in_a_closure(kind, name):
    A = kind(PATTERN)
    check(lambda x: MATRIX_PROGRAMS[name](A, x), X, twice=kind in TWICE)


@pytest.mark.parametrize("backend", sorted(set(BACKENDS) & {"numpy", "numexpr", "native", "auto"}))
@pytest.mark.parametrize("name", ["least squares", "elementwise, then a product", "several vectors"])
def test_backends(name, backend):
    A = sparse.csr_array(PATTERN)
    check(lambda x: PROGRAMS[name](A, x), X, backend)


MODULE_MATRIX = sparse.csr_matrix(PATTERN)


def module_function(x):
    return np.sum(np.tanh(MODULE_MATRIX @ x))


class Problem:
    def __init__(self, A, b):
        self.A, self.b = A, b

    def objective(self, x):
        r = self.A @ x - self.b
        return 0.5 * r @ r


def test_globals_attributes_and_defaults():
    check(module_function, X)
    check(Problem(sparse.csc_matrix(PATTERN), Y).objective, X)

    def with_default(x, A=sparse.coo_array(PATTERN)):  # noqa: B008
        return np.sum(np.sin(A @ x))

    check(with_default, X)


def test_the_value_is_that_of_scipy_to_the_bit():
    A = sparse.csr_array(sparse.random(200, 150, 0.1, random_state=0))
    x = RNG.normal(size=150)
    for f in (lambda x: A @ x, lambda x: A.T @ (A @ x)):
        np.testing.assert_array_equal(sg.symbolic(f, backend="numpy")(x), f(x))


def test_the_zeros_of_the_jacobian_are_known():
    n = 50
    L = sparse.diags_array([np.ones(n - 1), -2 * np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1], format="csr")
    f = sg.jacobian(lambda u: L @ u - np.sin(u), sparse=True)
    u = RNG.normal(size=n)
    J = f(u)
    assert J.nnz == 3 * n - 2
    np.testing.assert_allclose(J.toarray(), L.toarray() - np.diag(np.cos(u)), rtol=1e-12)


def test_large_matrices_stay_sparse():
    n = 300_000
    L = sparse.diags_array([np.ones(n - 1), -2 * np.ones(n)], offsets=[-1, 0], format="csr")
    u = np.linspace(0, 1, n)
    got = sg.grad(lambda u: np.sum((L @ u) ** 2))(u)
    np.testing.assert_allclose(got, 2 * (L.T @ (L @ u)), rtol=1e-12, atol=1e-12)


def test_what_is_written_into_a_constant_is_seen():
    A = sparse.csr_array(PATTERN, copy=True)
    g = sg.grad(lambda x: np.sum(A @ x))
    np.testing.assert_allclose(g(X), DENSE.sum(0))
    A.data[:] *= 2
    np.testing.assert_allclose(g(X), 2 * DENSE.sum(0))

    def twice(x, B):
        first = np.sum(B @ x)
        B.data *= 3.0
        return first + np.sum(B @ x)

    B = sparse.csr_array(PATTERN, copy=True)
    holder = types.SimpleNamespace(B=B)
    got = sg.grad(lambda x: twice(x, holder.B))(X)
    np.testing.assert_allclose(got, 4 * DENSE.sum(0))


def test_vmap_over_vectors():
    A = sparse.csr_array(PATTERN)
    many = RNG.normal(size=(3, 4))
    np.testing.assert_allclose(sg.vmap(lambda x: A @ x)(many), many @ DENSE.T)
    np.testing.assert_allclose(sg.vmap(lambda x, A: A @ x, in_axes=(0, None))(many, A), many @ DENSE.T)
    with pytest.raises(ArgumentError, match="no axis of examples"):
        sg.vmap(lambda A: A @ X)(A)


# as arguments


@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - {"relaxation", "by columns", "entries by row and column"}))
@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_the_gradient_by_the_entries(kind, name):
    f, A = PROGRAMS[name], kind(PATTERN)
    if name == "quadratic form":
        f = lambda A, x: x @ (A.T @ (A @ x))  # noqa: E731
    coo = A.tocoo()

    def of_entries(data):
        return f(kind(sparse.coo_matrix((data, (coo.row, coo.col)), shape=A.shape)), X)

    g = sg.grad(f)(A, X)
    assert type(g) is kind
    assert g.shape == A.shape
    wanted = differences(of_entries, coo.data)
    expected = np.zeros(A.shape)
    expected[coo.row, coo.col] = wanted
    stored = np.zeros(A.shape, bool)
    stored[coo.row, coo.col] = True
    np.testing.assert_allclose(np.where(stored, g.toarray(), 0), expected, rtol=1e-5, atol=1e-6)
    assert A.toarray().tobytes() == DENSE.tobytes()


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix], ids=lambda k: k.__name__)
def test_the_pattern_of_the_gradient_is_that_of_the_matrix(kind):
    A = kind(PATTERN)
    g = sg.grad(lambda A, x: np.sum(np.sin(A @ x)))(A, X)
    np.testing.assert_array_equal(g.indices, A.indices)
    np.testing.assert_array_equal(g.indptr, A.indptr)
    updated = A - 0.1 * g
    assert np.sum(np.sin(updated @ X)) < np.sum(np.sin(A @ X))


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array], ids=lambda k: k.__name__)
@pytest.mark.parametrize(
    "f",
    [
        lambda C, A, x: np.sum(np.sin((C + A) @ x)),
        lambda C, A, x: np.sum(np.sin((C - A) @ x)),
        lambda C, A, x: np.sum(np.cos((A - C) @ x)),
        lambda C, A, x: np.sum(C.T @ np.tanh(A @ x)),
    ],
)
def test_a_constant_beside_an_argument(kind, f):
    C, A = kind(PATTERN), kind(2 * PATTERN)
    coo = A.tocoo()

    def of_entries(data):
        return f(C, kind(sparse.coo_matrix((data, (coo.row, coo.col)), shape=A.shape)), X)

    g = sg.grad(lambda A: f(C, A, X))(A)
    wanted = np.zeros(A.shape)
    wanted[coo.row, coo.col] = differences(of_entries, coo.data)
    np.testing.assert_allclose(g.toarray(), wanted, rtol=1e-5, atol=1e-6)


def test_both_arguments():
    A = sparse.csr_array(PATTERN)
    by_matrix, by_vector = sg.grad(lambda A, x: np.sum((A @ x - Y) ** 2), (0, 1))(A, X)
    residual = 2 * (DENSE @ X - Y)
    np.testing.assert_allclose(by_vector, DENSE.T @ residual)
    np.testing.assert_allclose(by_matrix.toarray(), np.where(DENSE != 0, np.outer(residual, X), 0))


def test_another_pattern_of_as_many_entries_is_the_same_trace():
    g = sg.grad(lambda A, x: np.sum((A @ x) ** 2), 1)
    kernels = set()
    for shift in range(3):
        A = sparse.csr_array((PATTERN.data, (PATTERN.tocoo().row, (PATTERN.tocoo().col + shift) % 4)), shape=(5, 4))
        np.testing.assert_allclose(g(A, X), 2 * A.T @ (A @ X))
        kernels.add(g.kernel())
    assert len(kernels) == 1


def test_matrices_in_dataclasses_and_dicts():
    @dataclass
    class Layer:
        W: sparse.csr_array
        b: np.ndarray
        name: str = "sparse"

    def f(layer, x):
        return np.sum(np.tanh(layer.W @ x + layer.b))

    layer = Layer(sparse.csr_array(PATTERN), np.zeros(5))
    g = sg.grad(f)(layer, X)
    assert isinstance(g.W, sparse.csr_array)
    np.testing.assert_allclose(g.b, differences(lambda b: f(replace(layer, b=b), X), layer.b), rtol=1e-6)
    assert isinstance(sg.grad(lambda p: np.sum(p["A"] @ X))({"A": PATTERN})["A"], type(PATTERN))


def test_results_are_sparse():
    A = sparse.csr_array(PATTERN)
    made = sg.symbolic(lambda A, x: A.multiply(x))(A, X)
    assert type(made) is sparse.csr_array
    np.testing.assert_allclose(made.toarray(), DENSE * X)
    total = sg.symbolic(lambda A: A + A)(A)
    np.testing.assert_allclose(total.toarray(), 2 * DENSE)
    turned = sg.symbolic(lambda A: A.T)(A)
    assert type(turned) is type(A.T)
    np.testing.assert_allclose(turned.toarray(), DENSE.T)


def test_jacobians_are_by_the_entries():
    A = sparse.csr_array(PATTERN)
    J = sg.jacobian(lambda A: A @ X)(A)
    coo = A.tocoo()
    wanted = np.zeros((5, A.nnz))
    wanted[coo.row, np.arange(A.nnz)] = X[coo.col]
    np.testing.assert_allclose(J, wanted)
    H = sg.hessian(lambda A: np.sum((A @ X) ** 2))(A)
    np.testing.assert_allclose(H, 2 * wanted.T @ wanted)


def test_entries_that_meet_add_up():
    A = sparse.coo_array((np.array([1.0, 2.0, 4.0]), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    g = sg.grad(lambda A: np.sum(np.sin(A @ np.array([0.3, 0.7]))))(A)
    cosine = np.cos(A @ np.array([0.3, 0.7]))
    np.testing.assert_allclose(g.data, [0.7 * cosine[0], 0.7 * cosine[0], 0.3 * cosine[1]])


def test_diagonals_and_dense_operands():
    square = sparse.csr_array(PATTERN[:4])
    for k in (-1, 0, 2):
        got = sg.symbolic(lambda A, k=k: A.diagonal(k))(square)
        np.testing.assert_array_equal(got, square.diagonal(k))
    ones = np.ones((2, 5))
    g = sg.grad(lambda A: np.sum((ones @ A) ** 2) + np.sum(A @ np.ones((4, 2))))(sparse.csr_array(PATTERN))
    wanted = np.where(DENSE != 0, 2 * (ones.T @ ones @ DENSE) + 2, 0)
    np.testing.assert_allclose(g.toarray(), wanted)


def test_code_that_asks_what_it_has():
    def f(A, x):
        assert sparse.issparse(A)
        assert isinstance(A, sparse.csr_array)
        assert A.format == "csr"
        assert A.shape == (5, 4)
        assert A.nnz == PATTERN.nnz
        assert A.ndim == 2
        return np.sum((A.tocsc() if A.format == "csr" else A).T @ (A.tocsr() @ x))

    A = sparse.csr_array(PATTERN)
    np.testing.assert_allclose(sg.grad(f, 1)(A, X), DENSE.T @ DENSE @ np.ones(4), rtol=1e-12)


# what is refused


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix], ids=lambda k: k.__name__)
@pytest.mark.parametrize(
    ("f", "error"),
    [
        (lambda A, x: np.sum(A.reshape((4, 5)).data), UnsupportedOperation),
        (lambda A, x: A.log().sum(), UnsupportedOperation),
        (lambda A, x: np.dot(A, x), TracingError),
        (lambda A, x: np.exp(A), ArgumentTypeError),
        (lambda A, x: np.asarray(A) @ x, UnsupportedOperation),
        (lambda A, x: A + x[0], UnsupportedOperation),
        (lambda A, x: A.maximum(x), UnsupportedOperation),
        (lambda A, x: x / A, UnsupportedOperation),
        (lambda A, x: len(A), ArgumentTypeError),
        (lambda A, x: A @ np.ones(9), ShapeError),
        (lambda A, x: A.multiply(np.ones(9)).sum(), ShapeError),
        (lambda A, x: A.multiply(x).data.sum(), UnsupportedOperation),
        (lambda A, x: A.nonsense, UnsupportedOperation),
        (lambda A, x: linalg.eigsh(A.T @ A, 1)[0].sum(), (TracingError, UnsupportedOperation)),
    ],
)
def test_refusals(kind, f, error):
    with pytest.raises(error):
        sg.grad(f, (0, 1))(kind(PATTERN), X)


def test_matrices_whose_sums_are_np_matrix():
    with pytest.raises(UnsupportedOperation, match=r"np\.matrix"):
        sg.grad(lambda A: np.sum(A.sum(axis=0)))(sparse.csr_matrix(PATTERN))
    with pytest.raises(UnsupportedOperation, match=r"np\.matrix"):
        sg.grad(lambda A: np.sum(A + np.ones((5, 4))))(sparse.csr_matrix(PATTERN))


def test_solvers_name_the_way_out():
    S = sparse.csc_array(PATTERN.T @ PATTERN + sparse.eye_array(4))
    with pytest.raises(UnsupportedOperation, match="Take spsolve"):
        sg.grad(lambda b: np.sum(linalg.lsqr(S, b)[0]))(X)


def test_integer_entries_cannot_be_differentiated_by():
    with pytest.raises(DtypeError, match="int"):
        sg.grad(lambda A: (A @ X).sum())(sparse.csr_array(np.eye(4, dtype=int)))


def test_vectors_are_no_matrices():
    with pytest.raises(ShapeError, match="dims"):
        sg.grad(lambda v, x: (v * x).sum(), 1)(sparse.coo_array(np.array([1.0, 0.0, 2.0, 0.0])), X)


# scipy stays scipy


def test_the_classes_of_scipy_are_as_they_were():
    owners = {c for kind in KINDS for c in kind.__mro__}
    before = {owner: dict(vars(owner)) for owner in owners}
    sg.grad(lambda x: np.sum(MODULE_MATRIX @ x))(X)
    with pytest.raises(ZeroDivisionError):
        sg.grad(lambda x: np.sum(MODULE_MATRIX @ x) / 0)(X) + 1 / 0
    with pytest.raises(KeyError):
        sg.grad(lambda x: {}["nothing"])(X)
    for owner in owners:
        assert {k: v for k, v in vars(owner).items() if callable(v)} == {
            k: v for k, v in before[owner].items() if callable(v)
        }


def test_scipy_in_another_thread_while_a_trace_runs():
    inside, done = threading.Event(), threading.Event()
    results = []

    def other():
        inside.wait()
        results.append(MODULE_MATRIX @ X)
        results.append(MODULE_MATRIX.multiply(X).toarray())
        done.set()

    def f(x):
        inside.set()
        done.wait()
        return np.sum(MODULE_MATRIX @ x)

    thread = threading.Thread(target=other)
    thread.start()
    sg.grad(f)(X)
    thread.join()
    np.testing.assert_array_equal(results[0], MODULE_MATRIX @ X)
    np.testing.assert_array_equal(results[1], DENSE * X)
