"""Optimizers: steps written out by hand, training, and bad use."""

import numpy as np
import pytest

import symgrad as ms
from symgrad import Parameter, errors, nn


def _steps(make, gradients, start=1.0):
    w = Parameter(np.array([start]), name="w")
    optimizer = make([w])
    path = []
    for g in gradients:
        optimizer([np.array([g])])
        path.append(w.asnumpy().item())
    return path


def test_sgd():
    np.testing.assert_allclose(_steps(lambda p: nn.SGD(p, 0.1), [1.0, 2.0]), [0.9, 0.7])


def test_weight_decay_and_loss_scale():
    make = lambda p: nn.SGD(p, 0.1, weight_decay=0.5, loss_scale=4.0)  # noqa: E731
    np.testing.assert_allclose(_steps(make, [4.0]), [1 - 0.1 * (1 + 0.5)])


def test_momentum():
    wanted = [1 - 0.1, 1 - 0.1 - 0.1 * 1.5]
    np.testing.assert_allclose(_steps(lambda p: nn.Momentum(p, 0.1, 0.5), [1.0, 1.0]), wanted)
    np.testing.assert_allclose(_steps(lambda p: nn.SGD(p, 0.1, 0.5), [1.0, 1.0]), wanted)


def test_dampening_spares_the_first_step():
    make = lambda p: nn.SGD(p, 0.1, 0.5, dampening=0.5)  # noqa: E731
    np.testing.assert_allclose(_steps(make, [1.0, 1.0]), [0.9, 0.9 - 0.1 * (0.5 + 0.5)])


def test_nesterov():
    make = lambda p: nn.Momentum(p, 0.1, 0.5, use_nesterov=True)  # noqa: E731
    np.testing.assert_allclose(_steps(make, [1.0]), [1 - 0.1 * 1.5])


def test_adam():
    m = v = 0.0
    w, wanted = 1.0, []
    for t, g in enumerate([1.0, -3.0, 0.5], start=1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w -= 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        wanted.append(w)
    np.testing.assert_allclose(_steps(lambda p: nn.Adam(p, 0.1), [1.0, -3.0, 0.5]), wanted)


def test_the_rate_can_be_set():
    w = Parameter([1.0], name="w")
    optimizer = nn.SGD([w], 0.1)
    optimizer.learning_rate = 0.5
    optimizer([np.ones(1)])
    np.testing.assert_allclose(w, [0.5])


@pytest.mark.parametrize("make", [nn.SGD, lambda p: nn.Momentum(p, 0.05, 0.9), lambda p: nn.Adam(p, 0.05)])
def test_training(make):
    np.random.seed(1)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 2)).astype(np.float32)
    y = (x[:, :1] * x[:, 1:] > 0).astype(np.float32)
    net = nn.SequentialCell(nn.Dense(2, 16, activation="tanh"), nn.Dense(16, 1))
    loss = nn.BCEWithLogitsLoss()
    weights = net.trainable_params()
    function = ms.value_and_grad(lambda x, y: loss(net(x), y), None, weights)
    optimizer = make(weights)
    first, _ = function(x, y)
    for _ in range(150):
        last, gradients = function(x, y)
        optimizer(gradients)
    assert last < 0.85 * first
    assert optimizer.steps == 150
    assert all(w.dtype == np.float32 for w in weights)


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda w: nn.SGD([]), ValueError, "takes one Parameter or more"),
        (lambda w: nn.SGD([np.ones(1)]), ValueError, "takes one Parameter or more"),
        (lambda w: nn.SGD([w, w]), ValueError, "parameter twice"),
        (lambda w: nn.SGD([w], -1.0), ValueError, "learning_rate"),
        (lambda w: nn.SGD([w], nesterov=True), ValueError, "nesterov"),
        (lambda w: nn.SGD([w], loss_scale=0), ValueError, "loss_scale"),
        (lambda w: nn.Adam([w], beta1=1.0), ValueError, "beta1"),
        (lambda w: nn.Adam([w], eps=0), ValueError, "eps"),
        (lambda w: nn.SGD([w])([]), TypeError, "a tuple of 1 gradients, got 0"),
        (lambda w: nn.SGD([w])(np.ones(1)), TypeError, "got a ndarray"),
        (lambda w: nn.SGD([w])([np.ones(2)]), ValueError, r"gradient of w has shape \(2,\)"),
        (lambda w: ms.symbolic(lambda g: nn.SGD([w])([g]))(np.ones(1)), errors.TracingError, "inside a traced"),
    ],
)
def test_bad_use(make, kind, message):
    w = Parameter([1.0], name="w")
    with pytest.raises(kind, match=message):
        make(w)
    np.testing.assert_array_equal(w, [1.0])


def test_adam_with_decay_of_weights():
    m = v = 0.0
    w, wanted = 1.0, []
    for g in [1.0, -3.0, 0.5]:
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w -= 0.1 * (m / (np.sqrt(v) + 1e-6) + 0.2 * w)
        wanted.append(w)
    make = lambda p: nn.AdamWeightDecay(p, 0.1, weight_decay=0.2)  # noqa: E731
    np.testing.assert_allclose(_steps(make, [1.0, -3.0, 0.5]), wanted)


def test_adagrad():
    wanted = [1 - 0.1 * 2 / np.sqrt(0.5 + 4)]
    wanted.append(wanted[0] + 0.1 * 3 / np.sqrt(0.5 + 4 + 9))
    make = lambda p: nn.Adagrad(p, 0.5, 0.1)  # noqa: E731
    np.testing.assert_allclose(_steps(make, [2.0, -3.0]), wanted)
    np.testing.assert_allclose(_steps(lambda p: nn.Adagrad(p, 0.0), [0.0]), [1.0])


@pytest.mark.parametrize("centered", [False, True])
def test_rmsprop(centered):
    s = mean = v = 0.0
    w, wanted = 1.0, []
    for g in [2.0, -3.0, 1.0]:
        s, mean = 0.8 * s + 0.2 * g * g, 0.8 * mean + 0.2 * g
        v = 0.5 * v + 0.1 * g / np.sqrt(s - mean * mean * centered + 1e-3)
        w -= v
        wanted.append(w)
    make = lambda p: nn.RMSProp(p, 0.1, 0.8, 0.5, 1e-3, centered)  # noqa: E731
    np.testing.assert_allclose(_steps(make, [2.0, -3.0, 1.0]), wanted)
