"""Recurrent layers: steps written out, slopes by differences, and torch."""

import numpy as np
import pytest
from networks import check_slopes

import symgrad as sg
from symgrad import errors, nn

RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 2, 3))
KINDS = ["RNN", "LSTM", "GRU"]
OPTIONS = [{}, {"num_layers": 2}, {"bidirectional": True, "num_layers": 2}, {"has_bias": False}, {"batch_first": True}]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def written_out(kind, net, x, h, c):
    """One step, with the weights of a cell."""
    w = {p.name: p.asnumpy() for p in net.get_parameters()}
    a, b = x @ w["weight_ih"].T + w["bias_ih"], h @ w["weight_hh"].T + w["bias_hh"]
    if kind == "RNN":
        return np.tanh(a + b), c
    if kind == "LSTM":
        i, f, g, o = np.split(a + b, 4, -1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    (ar, az, an), (br, bz, bn) = np.split(a, 3, -1), np.split(b, 3, -1)
    z = sigmoid(az + bz)
    return (1 - z) * np.tanh(an + sigmoid(ar + br) * bn) + z * h, c


@pytest.mark.parametrize("kind", KINDS)
def test_steps(kind):
    net = getattr(nn, f"{kind}Cell")(3, 4, dtype=np.float64)
    h, c = RNG.normal(size=(2, 2, 4))
    state = (h, c) if kind == "LSTM" else h
    got = net(X[0], state)
    want = written_out(kind, net, X[0], h, c)
    np.testing.assert_allclose(got[0] if kind == "LSTM" else got, want[0], rtol=1e-12)
    if kind == "LSTM":
        np.testing.assert_allclose(got[1], want[1], rtol=1e-12)
        check_slopes(lambda x, h, c: net.construct(x, (h, c))[0], X[0], h, c)
    else:
        check_slopes(net.construct, X[0], h)


@pytest.mark.parametrize("kind", KINDS)
def test_layers_are_their_steps(kind):
    layer = getattr(nn, kind)(3, 4, dtype=np.float64)
    cell = getattr(nn, f"{kind}Cell")(3, 4, dtype=np.float64)
    for own, of_layer in zip(cell.get_parameters(), layer.get_parameters(), strict=True):
        own.set_data(of_layer)
    h = c = np.zeros((2, 4))
    wanted = []
    for x in X:
        h, c = written_out(kind, cell, x, h, c)
        wanted.append(h)
    y, state = layer(X)
    np.testing.assert_allclose(y, wanted, rtol=1e-12)
    np.testing.assert_allclose(state[0][0] if kind == "LSTM" else state[0], h, rtol=1e-12)
    if kind == "LSTM":
        np.testing.assert_allclose(state[1][0], c, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", OPTIONS)
def test_slopes(kind, options):
    net = getattr(nn, kind)(3, 4, dtype=np.float64, **options)
    check_slopes(lambda x: net.construct(x)[0], X)
    weights = net.trainable_params()
    loss = sg.grad(lambda x: np.sum(net(x)[0] ** 2), None, weights)
    for parameter, gradient in zip(weights, loss(X), strict=True):
        direction, before = RNG.normal(size=parameter.shape), parameter.asnumpy().copy()
        values = []
        for sign in (1, -1):
            parameter.set_data(before + sign * 1e-6 * direction)
            values.append(float(np.sum(np.asarray(net(X)[0]) ** 2)))
        parameter.set_data(before)
        slope = (values[0] - values[1]) / 2e-6
        np.testing.assert_allclose(np.sum(gradient * direction), slope, rtol=1e-6, atol=1e-8)


@pytest.mark.needs("torch")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", OPTIONS)
def test_as_torch(kind, options):
    import torch

    theirs = getattr(torch.nn, kind)(3, 4, **{{"has_bias": "bias"}.get(k, k): v for k, v in options.items()}).double()
    net = getattr(nn, kind)(3, 4, dtype=np.float64, **options)
    for name, parameter in theirs.named_parameters():
        getattr(net, name).set_data(parameter.detach().numpy())
    x = torch.tensor(X, requires_grad=True)
    wanted, state = theirs(x)
    y, own = net(X)
    np.testing.assert_allclose(y, wanted.detach(), rtol=1e-9, atol=1e-12)
    for a, b in zip(own if kind == "LSTM" else [own], state if kind == "LSTM" else [state], strict=True):
        np.testing.assert_allclose(a, b.detach(), rtol=1e-9, atol=1e-12)
    torch.sum(wanted**2).backward()
    of_x, of_weights = sg.grad(lambda x: np.sum(net(x)[0] ** 2), 0, net.trainable_params())(X)
    np.testing.assert_allclose(of_x, x.grad, rtol=1e-8, atol=1e-12)
    for parameter, gradient in zip(net.trainable_params(), of_weights, strict=True):
        np.testing.assert_allclose(gradient, getattr(theirs, parameter.name).grad, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_sequences_of_other_lengths(kind):
    net = getattr(nn, kind)(3, 4, bidirectional=True, dtype=np.float64)
    y, state = net(X, None, np.array([5, 3]))
    y = np.asarray(y)
    assert not y[3:, 1].any()
    for k, length in enumerate((5, 3)):
        alone, own = net(X[:length, k : k + 1])
        np.testing.assert_allclose(y[:length, k], alone[:, 0], rtol=1e-12)
        for a, b in zip(state if kind == "LSTM" else [state], own if kind == "LSTM" else [own], strict=True):
            np.testing.assert_allclose(a[:, k], b[:, 0], rtol=1e-12)


def test_a_layer_is_one_loop():
    net = nn.LSTM(3, 4, dtype=np.float64)
    short, long = (sg.trace(lambda x: net.construct(x)[0], np.ones((n, 2, 3))) for n in (6, 60))
    assert len(short.nodes) == len(long.nodes)
    assert short.operation_counts()["scan"] == 1


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: nn.LSTM(0, 4), errors.ArgumentError, "input_size"),
        (lambda: nn.RNN(3, 4, nonlinearity="sine"), errors.ArgumentError, "'tanh' or 'relu'"),
        (lambda: nn.GRU(3, 4, num_layers=0), errors.ArgumentError, "num_layers"),
        (lambda: nn.GRU(2, 4)(X), errors.ShapeError, "GRU takes arrays of 3 axes, the last 2 long"),
        (lambda: nn.GRU(3, 4)(X, np.ones((1, 2, 5))), errors.ShapeError, "the state has shape"),
        (lambda: nn.GRUCell(2, 4)(X[0], np.ones((2, 4))), errors.ShapeError, "GRUCell"),
    ],
)
def test_what_does_not_fit(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
