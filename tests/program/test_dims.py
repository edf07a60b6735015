"""Dims: ints or named, one program for every size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

import symgrad
from symgrad.errors import ArgumentError, ShapeError
from symgrad.kernels.kernel import lower
from symgrad.program.dims import broadcast, is_concrete, named_dim, size
from symgrad.program.verify import verify

n, d = named_dim("n"), named_dim("d")


@given(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=3))
def test_broadcast_is_numpys(shapes):
    assert broadcast(*shapes.input_shapes) == shapes.result_shape


@pytest.mark.parametrize("shapes", [((2,), (3,)), ((2, 3), (2,)), ((0,), (2,))])
def test_shapes_that_do_not_fit(shapes):
    with pytest.raises(ValueError, match=r"shape mismatch|broadcast"):
        np.broadcast_shapes(*shapes)
    with pytest.raises(ShapeError, match="could not be broadcast together"):
        broadcast(*shapes)


def test_named_dims_broadcast():
    assert broadcast((n, 1), (d,)) == (n, d)
    assert broadcast((n,), (1,), ()) == (n,)
    with pytest.raises(ShapeError):
        broadcast((n,), (d,))
    with pytest.raises(ShapeError):
        broadcast((n,), (2,))


def test_sizes():
    assert size(()) == 1
    assert size((2, n, 3)) == 6 * n
    assert is_concrete((2, 0))
    assert not is_concrete((2, n))


FUNCTIONS = {
    "X @ w": (lambda X, w: X @ w, ("n d", "d")),
    "mean of squares": (lambda X, w: np.mean((X @ w) ** 2), ("n d", "d")),
    "softmax": (lambda X, w: np.exp(X * w) / np.sum(np.exp(X * w), axis=1, keepdims=True), ("n d", "d")),
    "logistic": (lambda X, w: np.sum(np.log(1 + np.exp(-(X @ w)))), ("n d", "d")),
    "outer": (lambda X, w: np.outer(X[:, 0], w) + X, ("n d", "d")),
    "flatten": (lambda X, w: X.reshape(-1).sum() * w[::-1] + X[0] * X[-1], ("n d", "d")),
    "transpose": (lambda X, w: X.T @ X + np.einsum("ij,ij->j", X, X) * w, ("n d", "d")),
    "variance": (lambda X, w: X.var(axis=0) * w.max(), ("n d", "d")),
    "stack": (lambda X, w: np.concatenate([X, X * w]), ("n d", "d")),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_program_serves_every_size(name):
    fn, shapes = FUNCTIONS[name]
    program = verify(symgrad.trace(fn, *shapes))
    kernel = lower(program)
    rng = np.random.default_rng(0)
    for rows, columns in ((2, 3), (5, 1), (1, 4)):
        X, w = rng.uniform(-1, 1, (rows, columns)), rng.uniform(-1, 1, columns)
        np.testing.assert_allclose(kernel(X, w)[0], fn(X, w), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_one_gradient_serves_every_size(name, mode):
    fn, shapes = FUNCTIONS[name]
    kernel = lower(verify(symgrad.trace(symgrad.grad(fn, 1, mode=mode), *shapes)))
    rng, h = np.random.default_rng(0), 1e-6
    for rows, columns in ((2, 3), (5, 1)):
        X, w = rng.uniform(-1, 1, (rows, columns)), rng.uniform(-1, 1, columns)
        steps = h * np.eye(columns)
        want = [(np.sum(fn(X, w + e)) - np.sum(fn(X, w - e))) / (2 * h) for e in steps]
        np.testing.assert_allclose(kernel(X, w)[0], want, rtol=1e-6, atol=1e-8)


def test_text_form_has_the_names():
    assert "X: float64[n,3]" in str(symgrad.trace(lambda X: X * 2, "n 3"))


@pytest.mark.parametrize("text", ["n-1", "2.5", "n,d"])
def test_shapes_that_cannot_be_read(text):
    with pytest.raises(ArgumentError, match="write names and sizes"):
        symgrad.trace(np.sin, text)
