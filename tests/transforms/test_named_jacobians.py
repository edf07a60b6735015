"""Jacobians and Hessians with named dims, against finite differences at several sizes."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.finite_differences import differences
from symgrad.kernels.numpy_backend import is_diagonal
from symgrad.primitives.functions import add
from symgrad.primitives.selection import ASSEMBLE


def set_items(x):
    z = x.copy()
    z[1:] = z[1:] * z[:-1]
    return z


def softmax(X):
    shifted = np.exp(X - np.max(X, axis=-1, keepdims=True))
    return shifted / np.sum(shifted, axis=-1, keepdims=True)


FUNCTIONS = {
    "logistic": (lambda w, X, y: np.sum(np.log(1 + np.exp(-y * (X @ w)))), ("d", "n d", "n")),
    "least squares": (lambda w, X, y: np.sum((X @ w - y) ** 2), ("d", "n d", "n")),
    "ridge": (lambda w, X, y: np.mean((X @ w - y) ** 2) + 0.1 * w @ w, ("d", "n d", "n")),
    "quadratic": (lambda x, A: x @ A @ x, ("n", "n n")),
    "elementwise": (lambda x, y: np.sin(x) * np.exp(y) / (1 + x * x), ("n", "n")),
    "broadcast": (lambda X, y: np.tanh(X * y) + X, ("n d", "d")),
    "softmax": (softmax, ("n",)),
    "softmax of rows": (softmax, ("n d",)),
    "differences": (lambda x: (x[1:] - x[:-1] ** 2) ** 2, ("n",)),
    "rosenbrock": (lambda x: np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2), ("n",)),
    "stencil": (lambda x: np.sum((x[2:] - 2 * x[1:-1] + x[:-2]) ** 2 * x[1:-1]), ("n",)),
    "rows": (lambda X: X[0] * X[-1] ** 2 + X[1], ("n d",)),
    "flip": (lambda x: x[::-1] ** 2 * x, ("n",)),
    "roll": (lambda x: x * np.roll(x, 1) ** 2, ("n",)),
    "flatten": (lambda X: np.sin(X.T.reshape(-1)), ("n d",)),
    "split axis": (lambda x: (x.reshape(2, -1) ** 3).sum(axis=0), ("m",)),
    "mean": (lambda X: np.mean(X**3, axis=0), ("n d",)),
    "variance": (lambda X: X.var(axis=1), ("n d",)),
    "standardised": (lambda x: (x - x.mean()) / np.sqrt(x.var() + 1e-2), ("n",)),
    "product": (lambda A, B: A @ B, ("n k", "k m")),
    "stacked product": (lambda A, B: A @ B, ("b n k", "b k m")),
    "shared product": (lambda A, B: np.tanh(A @ B), ("b n k", "k m")),
    "gram": (lambda A: np.sum((A.T @ A) ** 2), ("n k",)),
    "attention": (lambda Q, K: np.exp(Q @ K.T / np.sqrt(Q.shape[1])).sum(axis=1), ("n d", "m d")),
    "outer": (lambda x, y: np.outer(x, y) ** 2, ("n", "m")),
    "trace": (lambda A: np.trace(A @ A), ("n n",)),
    "diagonal": (lambda A: np.diagonal(A) * np.diag(A @ A), ("n n",)),
    "diagonal matrix": (lambda x: np.diag(x) @ np.diag(x), ("n",)),
    "norm": (lambda x: np.linalg.norm(x), ("n",)),
    "extrema": (lambda X: X.max(axis=1) * X.min(axis=1), ("n d",)),
    "cases": (lambda x: np.where(x > 0, x**2, np.sin(x)), ("n",)),
    "joined": (lambda x, y: np.concatenate([x**2, y * x.sum(), x**3]), ("n", "m")),
    "stacked": (lambda x, y: np.stack([x * y, x + y], axis=1), ("n", "n")),
    "running sums": (lambda x: np.cumsum(x**2), ("n",)),
    "tiled": (lambda x: np.tile(x, 2) ** 2, ("n",)),
    "padded": (lambda x: np.pad(x, 1)[1:] * np.pad(x, 1)[:-1] ** 2, ("n",)),
    "looked up": (lambda x: x[[0, 1, 0]] ** 2 * x.sum(), ("n",)),
    "sorted": (lambda x: np.sort(x)[1:] * x[:-1], ("n",)),
    "written to": (set_items, ("n",)),
    "sizes as numbers": (lambda x: x / x.shape[0] + 1.0 / x.size, ("n",)),
    "solved": (lambda A, b: np.linalg.solve(A + 5.0 * np.diag(np.ones_like(b)), b), ("n n", "n")),
    "inverse": (lambda A: np.linalg.inv(A @ A.T + np.diag(np.ones_like(A[:, 0]))), ("n n",)),
    "size of one axis": (lambda W, x: W @ x + np.ones(3), ("3 n", "n")),
}
SIZES = (
    {"n": 4, "d": 3, "k": 2, "m": 4, "b": 2},
    {"n": 3, "d": 3, "k": 3, "m": 2, "b": 3},
    {"n": 2, "d": 1, "k": 1, "m": 2, "b": 1},
    {"n": 1, "d": 2, "k": 3, "m": 6, "b": 2},
)


def by_differences(function, args):
    """The derivative by each entry of the first argument, entries last."""
    columns = []
    for k in range(args[0].size):
        along = [np.zeros(a.shape) for a in args]
        along[0].ravel()[k] = 1.0
        columns.append(differences(lambda *a: (function(*a),), args, [along])[0][0].astype(float))
    return np.stack(columns, -1).reshape(*columns[0].shape, *args[0].shape)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_size(name):
    f, texts = FUNCTIONS[name]
    labels = "xyz"[: len(texts)]
    plain = eval(f"lambda {', '.join(labels)}: f({', '.join(labels)})", {"f": f})
    named = sg.named(plain, **dict(zip(labels, texts, strict=True)))
    made = {
        mode: (sg.jacobian(named, mode=mode), sg.hessian(named, mode=mode)) for mode in ("forward", "reverse", "auto")
    }
    concrete = sg.jacobian(plain), sg.hessian(plain)
    rng = np.random.default_rng(3)
    served = 0
    for sizes in SIZES:
        args = [rng.uniform(-1, 1, [sizes[w] if w in sizes else int(w) for w in t.split()]) for t in texts]
        try:
            f(*args)
        except IndexError:  # a row that is not there
            continue
        served += 1
        jacobian = by_differences(f, args)
        hessian = by_differences(sg.grad(plain), args)
        for own in made.values():
            np.testing.assert_allclose(own[0](*args), jacobian, rtol=1e-6, atol=1e-7)
            np.testing.assert_allclose(own[1](*args), hessian, rtol=1e-5, atol=1e-6)
            for same, other in zip(own, concrete, strict=True):
                np.testing.assert_allclose(same(*args), other(*args), rtol=1e-9, atol=1e-10)
    assert served >= 3


STRUCTURED = ("elementwise", "differences", "rosenbrock", "stencil", "flip", "roll", "padded", "written to")


@pytest.mark.parametrize("name", STRUCTURED)
def test_structure_is_kept(name):
    """Whole matrices are only put together, from diagonals; none is computed with."""
    f, texts = FUNCTIONS[name]
    hessian = sg.hessian(sg.named(lambda *args: np.sum(f(*args)), args=texts[0]))
    hessian(*[np.linspace(0.1, 1.0, 8) for _ in texts])
    for node in hessian.program().bindings:
        if node.ndim == 2:
            assert is_diagonal(node) or node.primitive in (ASSEMBLE, add), node
