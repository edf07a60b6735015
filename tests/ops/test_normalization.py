"""Normalizations: values written out, slopes by differences, torch, and running statistics."""

import numpy as np
import pytest
from networks import check_slopes, check_torch

import symgrad as sg
from symgrad import Parameter, errors, ops

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 4, 5, 2))
W, B, M, V = RNG.normal(size=4), RNG.normal(size=4), RNG.normal(size=4), RNG.uniform(0.5, 2, 4)
LAST = RNG.normal(size=(2, 5, 2))


def standard(x, axes, eps=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def each(v):
    return v[:, None, None]


CALLS = {
    "layer": (lambda x, w, b: ops.layer_norm(x, (5, 2), w, b), lambda x, w, b: standard(x, (2, 3)) * w + b),
    "group": (
        lambda x, w, b: ops.group_norm(x, 2, w, b),
        lambda x, w, b: standard(x.reshape(3, 2, 2, 5, 2), (2, 3, 4)).reshape(x.shape) * each(w) + each(b),
    ),
    "instance": (ops.instance_norm, lambda x, w, b: standard(x, (2, 3)) * each(w) + each(b)),
    "batch": (
        lambda x, w, b: ops.batch_norm(x, M, V, w, b, True),
        lambda x, w, b: standard(x, (0, 2, 3)) * each(w) + each(b),
    ),
    "batch, out of training": (
        lambda x, w, b: ops.batch_norm(x, M, V, w, b),
        lambda x, w, b: (x - each(M)) / np.sqrt(each(V) + 1e-5) * each(w) + each(b),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_values_and_slopes(name):
    ours, written = CALLS[name]
    w, b = LAST if name == "layer" else (W, B)
    np.testing.assert_allclose(ours(X, w, b), written(X, w, b), rtol=1e-12, atol=1e-12)
    check_slopes(ours, X, w, b, rtol=1e-5)


@pytest.mark.needs("torch")
@pytest.mark.parametrize("name", CALLS)
def test_as_torch(name):
    import torch
    from torch.nn import functional

    m, v = torch.tensor(M), torch.tensor(V)
    theirs = {
        "layer": lambda x, w, b: functional.layer_norm(x, (5, 2), w, b),
        "group": lambda x, w, b: functional.group_norm(x, 2, w, b),
        "instance": lambda x, w, b: functional.instance_norm(x, None, None, w, b),
        "batch": lambda x, w, b: functional.batch_norm(x, m.clone(), v.clone(), w, b, True),
        "batch, out of training": lambda x, w, b: functional.batch_norm(x, m, v, w, b),
    }
    check_torch(CALLS[name][0], theirs[name], X, *(LAST if name == "layer" else (W, B)))


@pytest.mark.parametrize(
    "backend", ["auto", "numpy", "numexpr", pytest.param("native", marks=pytest.mark.needs("native"))]
)
def test_running_statistics_move_once_a_call(backend):
    mean, var = Parameter(np.zeros(4), requires_grad=False), Parameter(np.ones(4), requires_grad=False)
    own, wide = X.mean((0, 2, 3)), X.var((0, 2, 3), ddof=1)
    loss = sg.value_and_grad(
        lambda x: np.sum(ops.batch_norm(x, mean, var, W, B, True, momentum=0.25) ** 3), backend=backend
    )
    for k in range(1, 4):
        loss(X)
        np.testing.assert_allclose(mean.asnumpy(), own * (1 - 0.75**k), rtol=1e-12)
        np.testing.assert_allclose(var.asnumpy(), wide + (1 - wide) * 0.75**k, rtol=1e-12)
    ops.batch_norm(X, mean, var, W, B, True, momentum=1.0)
    np.testing.assert_allclose(mean.asnumpy(), own, rtol=1e-12)
    sg.grad(lambda x: np.sum(ops.batch_norm(x, mean, var, W, B)))(2 * X)
    np.testing.assert_allclose(mean.asnumpy(), own, rtol=1e-12)


def test_second_derivative_in_training():
    mean, var = Parameter(np.zeros(4)), Parameter(np.ones(4))
    loss = lambda x: np.sum(ops.batch_norm(x, mean, var, W, B, True) ** 3)  # noqa: E731
    direction = RNG.normal(size=X.shape)
    got = sg.grad(lambda x: np.sum(sg.grad(loss)(x) * direction))(X)
    ahead, behind = sg.grad(loss)(X + 1e-5 * direction), sg.grad(loss)(X - 1e-5 * direction)
    np.testing.assert_allclose(got, (ahead - behind) / 2e-5, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ops.layer_norm(X, (4, 2)), "the last axes"),
        (lambda: ops.group_norm(X, 3), "4 channels are not 3 groups"),
        (lambda: ops.instance_norm(X, np.ones(3)), "weight has shape"),
        (lambda: ops.batch_norm(np.ones(3), M, V, W, B), "arrays of shape"),
    ],
)
def test_what_does_not_fit(call, message):
    with pytest.raises(errors.ShapeError, match=message):
        call()
