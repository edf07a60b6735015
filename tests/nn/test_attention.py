"""Attention and transformer layers: written out, slopes by differences, and torch."""

import math

import numpy as np
import pytest
from networks import check_slopes

import symgrad as sg
from symgrad import errors, nn

RNG = np.random.default_rng(0)
Q, K, V = RNG.normal(size=(5, 2, 6)), RNG.normal(size=(4, 2, 6)), RNG.normal(size=(4, 2, 6))
MASK = np.triu(np.ones((5, 5), bool), 1)
PADDING = np.array([[False, False, True, True], [False, False, False, True]])


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_written_out():
    net = nn.MultiheadAttention(6, 2, dtype=np.float64)
    net.in_proj_bias.set_data(RNG.normal(size=18))
    w, b = net.in_proj_weight.asnumpy(), net.in_proj_bias.asnumpy()
    y, weights = net(Q, K, V, PADDING)
    q, k, v = (x @ w[6 * i : 6 * i + 6].T + b[6 * i : 6 * i + 6] for i, x in enumerate((Q, K, V)))
    for n in range(2):
        heads, own = [], []
        for h in (slice(0, 3), slice(3, 6)):
            scores = q[:, n, h] @ k[:, n, h].T / np.sqrt(3)
            own.append(softmax(np.where(PADDING[n], -np.inf, scores)))
            heads.append(own[-1] @ v[:, n, h])
        want = np.concatenate(heads, -1) @ net.out_proj.weight.asnumpy().T + net.out_proj.bias.asnumpy()
        np.testing.assert_allclose(y[:, n], want, rtol=1e-10)
        np.testing.assert_allclose(weights[n], np.mean(own, 0), rtol=1e-10)


@pytest.mark.parametrize("options", [{}, {"has_bias": False}, {"kdim": 3, "vdim": 5}])
def test_slopes(options):
    net = nn.MultiheadAttention(6, 3, dtype=np.float64, **options)
    k, v = K[..., : options.get("kdim", 6)], V[..., : options.get("vdim", 6)]
    check_slopes(lambda q, k, v: net.construct(q, k, v, PADDING)[0], Q, k, v)


def torch_layer(kind, **options):
    import torch

    return getattr(torch.nn, kind)(6, 2, dropout=0.0, **options).double()


def taken_over(net, theirs):
    for name, parameter in theirs.named_parameters():
        path = name.replace("norm1.weight", "norm1.gamma").replace("norm1.bias", "norm1.beta")
        for k in (2, 3):
            path = path.replace(f"norm{k}.weight", f"norm{k}.gamma").replace(f"norm{k}.bias", f"norm{k}.beta")
        *cells, own = path.split(".")
        cell = net
        for part in cells:
            cell = getattr(cell, part)
        getattr(cell, own).set_data(parameter.detach().numpy())
    return net


@pytest.mark.needs("torch")
@pytest.mark.parametrize("batch_first", [False, True])
def test_attention_as_torch(batch_first):
    import torch

    theirs = torch_layer("MultiheadAttention", batch_first=batch_first)
    net = taken_over(nn.MultiheadAttention(6, 2, batch_first=batch_first, dtype=np.float64), theirs)
    arrays = [x.swapaxes(0, 1).copy() if batch_first else x for x in (Q, K, V)]
    want, weights = theirs(*map(torch.tensor, arrays), key_padding_mask=torch.tensor(PADDING))
    got, own = net(*arrays, PADDING)
    np.testing.assert_allclose(got, want.detach(), rtol=1e-9)
    np.testing.assert_allclose(own, weights.detach(), rtol=1e-9)


@pytest.mark.needs("torch")
@pytest.mark.parametrize("norm_first", [False, True])
def test_layers_as_torch(norm_first):
    import torch

    options = {"dim_feedforward": 7, "norm_first": norm_first, "activation": "gelu"}
    theirs = torch_layer("TransformerEncoderLayer", **options)
    exact = nn.GELU(approximate=False)
    net = nn.TransformerEncoderLayer(6, 2, 7, 0.0, exact, norm_first=norm_first, dtype=np.float64)
    taken_over(net, theirs)
    x = torch.tensor(Q, requires_grad=True)
    want = theirs(x, src_mask=torch.tensor(MASK))
    np.testing.assert_allclose(net(Q, MASK), want.detach(), rtol=1e-8)
    torch.sum(want**2).backward()
    got = sg.grad(lambda x: np.sum(net(x, MASK) ** 2))(Q)
    np.testing.assert_allclose(got, x.grad, rtol=1e-7, atol=1e-10)
    decoder = torch_layer("TransformerDecoderLayer", dim_feedforward=7, norm_first=norm_first)
    own = nn.TransformerDecoderLayer(6, 2, 7, 0.0, norm_first=norm_first, dtype=np.float64)
    taken_over(own, decoder)
    want = decoder(torch.tensor(Q), torch.tensor(K), tgt_mask=torch.tensor(MASK))
    np.testing.assert_allclose(own(Q, K, MASK), want.detach(), rtol=1e-8)


@pytest.mark.parametrize("norm_first", [False, True])
def test_slopes_of_layers(norm_first):
    encoder = nn.TransformerEncoderLayer(6, 2, 7, 0.0, "tanh", norm_first=norm_first, dtype=np.float64)
    check_slopes(lambda x: encoder.construct(x, MASK), Q, rtol=1e-5)
    decoder = nn.TransformerDecoderLayer(6, 2, 7, 0.0, "tanh", norm_first=norm_first, dtype=np.float64)
    check_slopes(lambda x, m: decoder.construct(x, m, MASK), Q, K, rtol=1e-5)


def test_masks_of_floats_and_weights_of_heads():
    net = nn.MultiheadAttention(6, 2, dtype=np.float64)
    hidden = np.where(MASK, -np.inf, 0.0)
    np.testing.assert_allclose(net(Q, Q, Q, attn_mask=hidden)[0], net(Q, Q, Q, attn_mask=MASK)[0], rtol=1e-12)
    each = np.broadcast_to(MASK, (4, 5, 5))
    y, weights = net(Q, Q, Q, None, True, each, False)
    np.testing.assert_allclose(y, net(Q, Q, Q, attn_mask=MASK)[0], rtol=1e-12)
    assert weights.shape == (2, 2, 5, 5)
    assert not np.asarray(weights)[..., MASK].any()
    assert net(Q, K, V, None, False)[1] is None


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: nn.MultiheadAttention(6, 4), errors.ArgumentError, "no multiple"),
        (lambda: nn.MultiheadAttention(6, 2, add_bias_kv=True), errors.UnsupportedOperation, "add_bias_kv"),
        (lambda: nn.MultiheadAttention(4, 2)(Q, K, V), errors.ShapeError, "do not fit embeddings"),
    ],
)
def test_what_does_not_fit(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_gelu_of_transformer_layers_is_the_exact_one():
    layer = nn.TransformerEncoderLayer(2, 1, 3, 0.0, "gelu", dtype=np.float64)
    x = np.array([[1.0, -0.5], [2.0, 0.3]])
    z = x @ layer.linear1.weight.asnumpy().T + layer.linear1.bias.asnumpy()
    np.testing.assert_allclose(
        layer.linear1.construct(x), z * np.vectorize(lambda v: (1 + math.erf(v / math.sqrt(2))) / 2)(z), rtol=1e-13
    )
