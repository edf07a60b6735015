"""Layers of normalization, and embedding."""

import numpy as np
import pytest

import symgrad as sg
from symgrad import errors, nn

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 4, 5, 2)).astype(np.float32)


def test_batches_move_statistics_in_training_alone():
    net = nn.BatchNorm2d(4, momentum=0.75)
    np.testing.assert_allclose(net(X), X / np.sqrt(1 + 1e-5), rtol=1e-5)
    assert not net.moving_mean.asnumpy().any()
    net.set_train()
    mean, wide = X.mean((0, 2, 3)), X.var((0, 2, 3), ddof=1)
    for k in range(1, 3):
        y = net(X)
        np.testing.assert_allclose(np.asarray(y).mean((0, 2, 3)), 0, atol=1e-5)
        np.testing.assert_allclose(net.moving_mean.asnumpy(), mean * (1 - 0.75**k), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(net.moving_variance.asnumpy(), wide + (1 - wide) * 0.75**k, rtol=1e-4)
    _, (gamma, beta) = sg.value_and_grad(lambda x: np.sum(net(x)), None, net.trainable_params())(X)
    np.testing.assert_allclose(net.moving_mean.asnumpy(), mean * (1 - 0.75**3), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(gamma, 0, atol=1e-4)
    np.testing.assert_allclose(beta, 30, rtol=1e-5)
    net.set_train(False)
    m, v = net.moving_mean.asnumpy(), net.moving_variance.asnumpy()
    np.testing.assert_allclose(net(X), (X - m[:, None, None]) / np.sqrt(v[:, None, None] + 1e-5), rtol=1e-4, atol=1e-5)


def test_statistics_by_hand_and_in_a_graph_are_the_same():
    moved = []
    for mode in (sg.GRAPH_MODE, sg.PYNATIVE_MODE):
        sg.set_context(mode=mode)
        try:
            net = nn.BatchNorm1d(4).set_train()
            net(X[:, :, 0, 0])
            moved.append([net.moving_mean.asnumpy(), net.moving_variance.asnumpy()])
        finally:
            sg.set_context(mode=sg.GRAPH_MODE)
    np.testing.assert_allclose(*moved, rtol=1e-5)


def test_use_batch_statistics_says_more_than_training():
    net = nn.BatchNorm2d(4, use_batch_statistics=True)
    np.testing.assert_allclose(np.asarray(net(X)).mean((0, 2, 3)), 0, atol=1e-5)
    assert nn.BatchNorm2d(4, affine=False).trainable_params() == []


def test_layers():
    y = np.asarray(nn.LayerNorm((5, 2), begin_norm_axis=2, begin_params_axis=2)(X))
    np.testing.assert_allclose(y, (X - X.mean((2, 3), keepdims=True)) / X.std((2, 3), keepdims=True), atol=1e-4)
    wide = np.asarray(nn.LayerNorm((2,), begin_norm_axis=1)(X))
    np.testing.assert_allclose(wide.mean((1, 2, 3)), 0, atol=1e-5)
    grouped = np.asarray(nn.GroupNorm(2, 4)(X)).reshape(3, 2, -1)
    np.testing.assert_allclose(grouped.std(2), 1, rtol=1e-3)
    np.testing.assert_allclose(np.asarray(nn.InstanceNorm2d(4)(X)).mean((2, 3)), 0, atol=1e-5)


@pytest.mark.parametrize("one_hot", [False, True])
def test_embedding(one_hot):
    table = RNG.normal(size=(5, 3)).astype(np.float32)
    net = nn.Embedding(5, 3, one_hot, table)
    ids = np.array([[1, 4], [1, 0]])
    np.testing.assert_array_equal(net(ids), table[ids])
    (gradient,) = sg.grad(lambda ids: np.sum(net(ids)), None, net.trainable_params())(ids)
    np.testing.assert_array_equal(gradient, np.array([1, 2, 0, 0, 1])[:, None] * np.ones(3))


def test_padding_of_embeddings():
    assert not nn.Embedding(4, 2, padding_idx=1).embedding_table.asnumpy()[1].any()


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: nn.BatchNorm2d(0), errors.ArgumentError, "number of channels"),
        (lambda: nn.BatchNorm2d(4, momentum=2.0), errors.ArgumentError, "momentum"),
        (lambda: nn.BatchNorm2d(3)(X), errors.ShapeError, "BatchNorm2d takes arrays of 4 axes, 3 channels"),
        (lambda: nn.BatchNorm1d(4)(X), errors.ShapeError, "BatchNorm1d takes arrays of 2 or 3 axes"),
        (lambda: nn.LayerNorm(3), errors.ArgumentError, "tuple of ints"),
        (lambda: nn.LayerNorm((3,))(X), errors.ShapeError, "do not fit"),
        (lambda: nn.GroupNorm(3, 4), errors.ArgumentError, "4 channels are not 3 groups"),
        (lambda: nn.Embedding(0, 2), errors.ArgumentError, "vocab_size"),
        (lambda: nn.Embedding(3, 2, padding_idx=3), errors.ArgumentError, "padding_idx"),
    ],
)
def test_what_does_not_fit(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
