"""Classic identities of matrix calculus: the formula that symgrad writes, and its value, against finite differences."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import symgrad
from symgrad.closed_form.matrix import MatrixForm
from symgrad.finite_differences import differences

RANDOM = np.random.default_rng(7)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape)


def well_conditioned(n: int) -> np.ndarray:
    return normal(n, n) + 4 * np.eye(n)


def positive_definite(n: int) -> np.ndarray:
    root = normal(n, n)
    return root @ root.T + n * np.eye(n)


N, D, M = 6, 4, 3
W, B, V = normal(D), normal(D), normal(N)
X, A, S = normal(N, D), normal(D, D), positive_definite(D)
LABELS = np.sign(normal(N))
SHARES = np.abs(normal(D)) / 3


def softmax(z):
    e = np.exp(z - np.max(z))
    return e / np.sum(e)


def logsumexp(z):
    top = np.max(z)
    return top + np.log(np.sum(np.exp(z - top)))


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def log_det(X):
    return np.linalg.slogdet(X)[1]


def mahalanobis(x, μ, Σ):
    return (x - μ) @ np.linalg.solve(Σ, x - μ)


def gaussian_process(K, y):
    """The negative log marginal likelihood."""
    return 0.5 * (y @ np.linalg.solve(K, y) + log_det(K) + len(y) * np.log(2 * np.pi))


class Identity(NamedTuple):
    """A derivative by the argument number ``wrt``, and how it should read."""

    function: Callable
    arguments: tuple
    derivative: str
    text: str
    where: tuple[str, ...] = ()
    wrt: int = 0


def grad(text: str, function: Callable, *arguments: Any, wrt: int = 0, where: tuple[str, ...] = ()) -> Identity:
    return Identity(function, arguments, "grad", text, where, wrt)


def jacobian(text: str, function: Callable, *arguments: Any, wrt: int = 0, where: tuple[str, ...] = ()) -> Identity:
    return Identity(function, arguments, "jacobian", text, where, wrt)


def hessian(text: str, function: Callable, *arguments: Any, wrt: int = 0, where: tuple[str, ...] = ()) -> Identity:
    return Identity(function, arguments, "hessian", text, where, wrt)


TURN = "K vec(V) = vec(Vᵀ)"
NORM = ("1 / ‖x‖ = 0 for ‖x‖ = 0",)

IDENTITIES = {
    # linear and quadratic forms
    "linear form": grad("a", lambda x, a: a @ x, W, B),
    "quadratic form": grad("(A + Aᵀ)x", lambda x, A: x @ A @ x, W, A),
    "quadratic form, Hessian": hessian("A + Aᵀ", lambda x, A: x @ A @ x, W, A),
    "quadratic form by its matrix": grad("xxᵀ", lambda x, A: x @ A @ x, W, A, wrt=1),
    "bilinear form by its matrix": grad("abᵀ", lambda X, a, b: a @ X @ b, X, V, B),
    "bilinear form of the transpose": grad("baᵀ", lambda X, a, b: a @ X.T @ b, X, B, V),
    "bilinear form of the Gram matrix": grad("X(abᵀ + baᵀ)", lambda X, a, b: a @ X.T @ X @ b, X, W, B),
    "quadratic form with diag": grad("2(x ⊙ d)", lambda x, d: x @ np.diag(d) @ x, W, B),
    "quadratic form with diag, Hessian": hessian("2 diag(d)", lambda x, d: x @ np.diag(d) @ x, W, B),
    "Mahalanobis distance by x": grad("(P + Pᵀ)(x − μ)", lambda x, μ, P: (x - μ) @ P @ (x - μ), W, B, S),
    "Mahalanobis distance by μ": grad("(P + Pᵀ)(μ − x)", lambda x, μ, P: (x - μ) @ P @ (x - μ), W, B, S, wrt=1),
    "Mahalanobis distance, Hessian": hessian("P + Pᵀ", lambda x, μ, P: (x - μ) @ P @ (x - μ), W, B, S),
    # traces
    "trace": grad("I", np.trace, A),
    "trace of a product": grad("Aᵀ", lambda X, A: np.trace(A @ X), X, normal(D, N)),
    "trace of XᵀAX": grad("(A + Aᵀ)X", lambda X, A: np.trace(X.T @ A @ X), X, normal(N, N)),
    "trace of AXB": grad("AᵀBᵀ", lambda X, A, B: np.trace(A @ X @ B), X, normal(M, N), normal(D, M)),
    "trace of XXᵀ": grad("2X", lambda X: np.trace(X @ X.T), X),
    "trace of X²": grad("2Xᵀ", lambda X: np.trace(X @ X), A),
    "trace of AXBXᵀ": grad("AXB + AᵀXBᵀ", lambda X, A, B: np.trace(A @ X @ B @ X.T), X, normal(N, N), normal(D, D)),
    "Hadamard product": grad("A", lambda X, A: np.sum(A * X), X, normal(N, D)),
    "Hadamard product, squared": grad("2(X ⊙ A)", lambda X, A: np.sum(A * X**2), X, normal(N, D)),
    "trace of a Hadamard product": grad(
        "A ⊙ BC", lambda X, A, B, C: np.trace(C.T @ B.T @ (A * X)), X, normal(N, D), normal(N, M), normal(M, D)
    ),
    # norms
    "norm": grad("x / ‖x‖", np.linalg.norm, W, where=NORM),
    "norm, Hessian": hessian("(I − xxᵀ / ‖x‖²) / ‖x‖", np.linalg.norm, W, where=NORM),
    "squared norm": grad("2x", lambda x: np.sum(x**2), W),
    "squared norm, Hessian": hessian("2I", lambda x: x @ x, W),
    "Frobenius norm, squared": grad("2X", lambda X: np.sum(X**2), X),
    "Frobenius norm": grad("X / ‖X‖_F", lambda X: np.linalg.norm(X), X, where=("1 / ‖X‖_F = 0 for ‖X‖_F = 0",)),
    "distance": grad(
        "(x − y) / ‖x − y‖", lambda x, y: np.linalg.norm(x - y), W, B, where=("1 / ‖x − y‖ = 0 for ‖x − y‖ = 0",)
    ),
    # least squares
    "least squares": grad("2Aᵀ(Ax − b)", lambda x, A, b: np.sum((A @ x - b) ** 2), W, X, V),
    "least squares, Hessian": hessian("2AᵀA", lambda x, A, b: np.sum((A @ x - b) ** 2), W, X, V),
    "least squares by the matrix": grad("2(Ax − b)xᵀ", lambda x, A, b: np.sum((A @ x - b) ** 2), W, X, V, wrt=1),
    "mean of squares": grad("1/3 · Xᵀ(Xw − y)", lambda w, X, y: np.mean((X @ w - y) ** 2), W, X, V),
    "ridge": grad("2(Xᵀ(Xw − y) + λw)", lambda w, X, y, λ: np.sum((X @ w - y) ** 2) + λ * np.sum(w**2), W, X, V, 0.3),
    "ridge, Hessian": hessian(
        "2(XᵀX + λI)", lambda w, X, y, λ: np.sum((X @ w - y) ** 2) + λ * np.sum(w**2), W, X, V, 0.3
    ),
    "weighted least squares": grad(
        "2Xᵀ(c ⊙ (Xw − y))", lambda w, X, y, c: np.sum(c * (X @ w - y) ** 2), W, X, V, np.abs(normal(N))
    ),
    "weighted least squares, Hessian": hessian(
        "2Xᵀ diag(c) X", lambda w, X, y, c: np.sum(c * (X @ w - y) ** 2), W, X, V, np.abs(normal(N))
    ),
    "matrix factorization": grad(
        "2(UVᵀ − Y)V", lambda U, V, Y: np.sum((U @ V.T - Y) ** 2), normal(N, M), normal(D, M), X
    ),
    # logistic regression, softmax
    "logistic loss": grad(
        "−Xᵀ(y ⊙ σ(−y ⊙ Xw))", lambda w, X, y: np.sum(np.log(1 + np.exp(-y * (X @ w)))), W, X, LABELS
    ),
    "logistic loss, Hessian": hessian(
        "Xᵀ diag(y^⊙2 ⊙ p ⊙ (1 − p)) X",
        lambda w, X, y: np.sum(np.log(1 + np.exp(-y * (X @ w)))),
        W,
        X,
        LABELS,
        where=("p = σ(y ⊙ Xw)",),
    ),
    "logistic loss with labels 0 and 1": grad(
        "Xᵀ(σ(Xw) − y)", lambda w, X, y: np.sum(np.log1p(np.exp(X @ w)) - y * (X @ w)), W, X, LABELS > 0
    ),
    "sigmoid": jacobian("diag(σ(z) ⊙ (1 − σ(z)))", sigmoid, W),
    "softmax": jacobian("diag(p) − ppᵀ", softmax, W, where=("p = softmax(z)",)),
    "logsumexp": grad("softmax(z)", logsumexp, W),
    "logsumexp, Hessian": hessian("diag(p) − ppᵀ", logsumexp, W, where=("p = softmax(z)",)),
    "cross-entropy of a softmax": grad(
        "sum(y)·softmax(z) − y", lambda z, y: -np.sum(y * np.log(softmax(z))), W, SHARES
    ),
    "cross-entropy of logits": grad("softmax(z) − y", lambda z, y: logsumexp(z) - y @ z, W, SHARES),
    "softmax regression": grad(
        "(softmax(Wx) − y)xᵀ", lambda W, x, y: logsumexp(W @ x) - y @ (W @ x), normal(M, D), W, normal(M)
    ),
    # Jacobians, out + in
    "Jacobian of Ax": jacobian("A", lambda x, A: A @ x, W, X),
    "Jacobian of AX": jacobian("A ⊗ I", lambda X, A: A @ X, X, normal(M, N)),
    "Jacobian of AXB": jacobian("A ⊗ Bᵀ", lambda X, A, B: A @ X @ B, X, normal(M, N), normal(D, M)),
    "Jacobian of Xᵀ": jacobian("K", lambda X: X.T, X, where=(TURN,)),
    "Jacobian of X²": jacobian("X ⊗ I + I ⊗ Xᵀ", lambda X: X @ X, A),
    "Jacobian of XᵀAX": jacobian(
        "XᵀA ⊗ I + (I ⊗ XᵀAᵀ)K", lambda X, A: X.T @ A @ X, normal(N, M), normal(N, N), where=(TURN,)
    ),
    "Jacobian of x ⊙ y": jacobian("diag(y)", lambda x, y: x * y, W, B),
    "Jacobian of A ⊙ X": jacobian("diag(vec(A))", lambda X, A: A * X, X, normal(N, D)),
    "Jacobian of sin": jacobian("diag(cos(x))", np.sin, W),
    "Jacobian of an outer product": jacobian("I ⊗ y", lambda x, y: np.outer(x, y), W, V),
    "Jacobian of an outer product by its second factor": jacobian("x ⊗ I", lambda x, y: np.outer(x, y), W, V, wrt=1),
    "Jacobian of Xx by X": jacobian("I ⊗ xᵀ", lambda X, x: X @ x, X, W),
    "Jacobian of relu": jacobian("diag([x > 0])", lambda x: np.maximum(x, 0), W),
    # determinants, inverses
    "log det": grad("X⁻ᵀ", log_det, well_conditioned(D)),
    "log det, Hessian": hessian("−(X⁻ᵀ ⊗ X⁻¹)K", log_det, well_conditioned(D), where=(TURN,)),
    "log det of the Gram matrix": grad("2X(XᵀX)⁻¹", lambda X: log_det(X.T @ X), X),
    "det": grad("det(X)·X⁻ᵀ", lambda X: np.linalg.det(X), well_conditioned(D)),
    "bilinear form of the inverse": grad(
        "−X⁻ᵀabᵀX⁻ᵀ", lambda X, a, b: a @ np.linalg.inv(X) @ b, well_conditioned(D), W, B
    ),
    "bilinear form of a solution": grad(
        "−X⁻ᵀabᵀX⁻ᵀ", lambda X, a, b: a @ np.linalg.solve(X, b), well_conditioned(D), W, B
    ),
    "trace of the inverse": grad("−X⁻ᵀAᵀX⁻ᵀ", lambda X, A: np.trace(np.linalg.inv(X) @ A), well_conditioned(D), A),
    "Jacobian of the inverse": jacobian("−X⁻¹ ⊗ X⁻ᵀ", lambda X: np.linalg.inv(X), well_conditioned(D)),
    "Jacobian of a solution by its right side": jacobian(
        "A⁻¹", lambda A, b: np.linalg.solve(A, b), well_conditioned(D), B, wrt=1
    ),
    "Jacobian of a solution by its matrix": jacobian(
        "−A⁻¹ ⊗ bᵀA⁻ᵀ", lambda A, b: np.linalg.solve(A, b), well_conditioned(D), B
    ),
    "Jacobian of the ridge estimate by y": jacobian(
        "(XᵀX + λI)⁻¹Xᵀ", lambda X, y, λ: np.linalg.solve(X.T @ X + λ * np.eye(D), X.T @ y), X, V, 2.0, wrt=1
    ),
    "Mahalanobis distance by Σ": grad("−Σ⁻ᵀ(x − μ)(x − μ)ᵀΣ⁻ᵀ", mahalanobis, W, B, S, wrt=2),
    "Mahalanobis distance with Σ by x": grad("(Σ⁻¹ + Σ⁻ᵀ)(x − μ)", mahalanobis, W, B, S),
    "Mahalanobis distance with Σ by μ": grad("(Σ⁻¹ + Σ⁻ᵀ)(μ − x)", mahalanobis, W, B, S, wrt=1),
    "Gaussian process by its kernel": grad("1/2 · (K⁻ᵀ − K⁻ᵀyyᵀK⁻ᵀ)", gaussian_process, S, W),
    "Gaussian process by its noise": grad(
        "1/2 · tr(M − MyyᵀM)",
        lambda s, K, y: gaussian_process(K + s * np.eye(D), y),
        0.4,
        S,
        W,
        where=("M = (K + sI)⁻¹",),
    ),
    # compositions
    "sum of exp(Ax)": grad("Aᵀ exp(Ax)", lambda x, A: np.sum(np.exp(A @ x)), W, X),
    "sum of exp(Ax), Hessian": hessian("Aᵀ diag(exp(Ax)) A", lambda x, A: np.sum(np.exp(A @ x)), W, X),
    "tanh layer": grad("(1 − tanh²(Wx + b))xᵀ", lambda W, x, b: np.sum(np.tanh(W @ x + b)), X, W, V),
    "tanh layer, Jacobian": jacobian("diag(1 − tanh²(Wx + b)) W", lambda x, W, b: np.tanh(W @ x + b), W, X, V),
    "Rayleigh quotient": grad("((A + Aᵀ)x − 2(xᵀAx)x / ‖x‖²) / ‖x‖²", lambda x, A: (x @ A @ x) / (x @ x), W, A),
    "cosine similarity": grad(
        "(y − (xᵀy)x / ‖x‖²) / (‖x‖‖y‖)",
        lambda x, y: (x @ y) / (np.linalg.norm(x) * np.linalg.norm(y)),
        W,
        B,
        where=NORM,
    ),
    "two layers, backwards": grad(
        "(Vᵀ(Vh − y) ⊙ (1 − h^⊙2))xᵀ",
        lambda W, x, V, y: 0.5 * np.sum((y - V @ np.tanh(W @ x)) ** 2),
        *(X, W, normal(2, X.shape[0]), normal(2)),
        where=("h = tanh(Wx)",),
    ),
    "difference from a number": grad("2 sum(m𝟏 − x)", lambda m, x: np.sum((x - m) ** 2), 0.5, W),
    "deviation": grad(
        "1 / s − ‖x − m𝟏‖² / s³", lambda s, m, x: np.log(s) + np.sum((x - m) ** 2) / (2 * s**2), 1.5, 0.5, W
    ),
    "network of one product": grad("z·𝟏𝟏ᵀyᵀ", lambda x, y, z: (x * z) @ y, X, normal(D, M), np.ones(1)),
}


def derived(identity: Identity) -> Any:
    transformation = {"grad": symgrad.grad, "jacobian": symgrad.jacobian, "hessian": symgrad.hessian}
    return transformation[identity.derivative](identity.function, identity.wrt)


def by_differences(identity: Identity) -> tuple[np.ndarray, bool]:
    """The derivative by finite differences, and whether they were taken in more than float64."""
    arguments = [np.asarray(a, np.float64) for a in identity.arguments]

    def moved(x: np.ndarray) -> tuple:
        rest = [np.asarray(a, x.dtype) for a in arguments]
        rest[identity.wrt] = x
        value = identity.function(*rest)
        return (value if identity.derivative == "jacobian" else np.sum(value),)

    point = arguments[identity.wrt]
    basis = np.eye(point.size).reshape(point.size, *point.shape)
    if identity.derivative == "hessian":
        found = [differences(moved, [point], [[e], [f]]) for e, f in itertools.product(basis, basis)]
        return np.reshape([v[0] for v, _, _ in found], point.shape * 2), found[0][2]
    found = [differences(moved, [point], [[e]]) for e in basis]
    columns = np.stack([np.asarray(v[0], np.float64) for v, _, _ in found], axis=-1)
    return columns.reshape(columns.shape[:-1] + point.shape), found[0][2]


def run(code: str, labels: Any, arguments: tuple) -> Any:
    """What NumPy code gives whose last line is an expression."""
    *lines, last = code.splitlines()
    scope = dict(zip(labels, map(np.asarray, arguments), strict=True)) | {"np": np}
    exec("\n".join(lines), scope)
    return eval(last, scope)


@pytest.mark.parametrize("name", IDENTITIES)
def test_identity(name):
    identity = IDENTITIES[name]
    function = derived(identity)
    form = function.closed_form(*identity.arguments, form="matrix")
    assert isinstance(form, MatrixForm)
    assert form.text == identity.text
    assert tuple(form.where) == identity.where
    expected, exact = by_differences(identity)
    tolerance = {"rtol": 1e-9, "atol": 1e-9} if exact else {"rtol": 1e-5, "atol": 1e-6}
    labels = function.program(*identity.arguments).names
    value = form.evaluate(dict(zip(labels, identity.arguments, strict=True)))
    assert value.shape == expected.shape
    np.testing.assert_allclose(value, expected, **tolerance)
    np.testing.assert_allclose(function(*identity.arguments), expected, **tolerance)
    if form.numpy is not None:
        np.testing.assert_allclose(run(form.numpy, labels, identity.arguments), value, rtol=1e-9, atol=1e-12)


def test_there_are_classics_enough():
    assert len(IDENTITIES) > 80
    assert {identity.derivative for identity in IDENTITIES.values()} == {"grad", "jacobian", "hessian"}


def test_the_check_can_fail():
    wrong = IDENTITIES["quadratic form"]._replace(function=lambda x, A: x @ A @ x + np.sum(x))
    expected, _ = by_differences(wrong)
    form = derived(IDENTITIES["quadratic form"]).closed_form(*wrong.arguments, form="matrix")
    assert not np.allclose(form.evaluate({"x": W, "A": A}), expected)
