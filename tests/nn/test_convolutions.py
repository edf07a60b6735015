"""Layers of convolutions: shapes, transposes, torch, and what does not fit."""

import numpy as np
import pytest
from networks import check_slopes, check_torch

import symgrad as sg
from symgrad import errors, nn

RNG = np.random.default_rng(0)
F64 = {"dtype": np.float64}


def layer(kind, *args, **options):
    """A layer of float64 weights; a function of array and weights."""
    net = kind(*args, **options, **F64)
    names = [p.name for p in net.trainable_params()]
    weights = [RNG.normal(size=p.shape) for p in net.trainable_params()]

    def call(x, *weights):
        for name, own in zip(names, weights, strict=True):
            object.__setattr__(net, name, own)  # a Cell would not hold traced values
        return net.construct(x)

    return call, weights


#: transposed layers: rank, size of the array, options
TRANSPOSED = [
    (1, (5,), {"kernel_size": 3, "pad_mode": "valid"}),
    (1, (5,), {"kernel_size": 4, "stride": 2, "pad_mode": "pad", "padding": 1, "output_padding": 1}),
    (1, (4,), {"kernel_size": 2, "stride": 3, "pad_mode": "valid"}),
    (2, (4, 5), {"kernel_size": 3, "stride": 2}),
    (2, (4, 5), {"kernel_size": (3, 2), "stride": (1, 3), "has_bias": True}),
    (2, (4, 3), {"kernel_size": 3, "pad_mode": "pad", "padding": 1, "dilation": 2, "group": 2, "has_bias": True}),
    (2, (3, 3), {"kernel_size": 2, "stride": 2, "pad_mode": "pad", "padding": (0, 1, 1, 0)}),
    (3, (3, 2, 2), {"kernel_size": 2, "stride": 2, "pad_mode": "pad", "padding": 1, "output_padding": (1, 0, 1)}),
]


@pytest.mark.parametrize(("rank", "size", "options"), TRANSPOSED)
def test_transposes(rank, size, options):
    call, weights = layer(getattr(nn, f"Conv{rank}dTranspose"), 4, 6, **options)
    x = RNG.normal(size=(2, 4, *size))
    check_slopes(call, x, *weights)
    if options.get("output_padding") or options.get("has_bias"):
        return
    y = RNG.normal(size=call(x, *weights).shape)
    forward = {k: v for k, v in options.items() if k != "output_padding"}
    back, _ = layer(getattr(nn, f"Conv{rank}d"), 6, 4, **forward)
    turned = back(y, *weights)
    assert turned.shape == x.shape
    np.testing.assert_allclose(np.sum(turned * x), np.sum(call(x, *weights) * y), rtol=1e-10)


@pytest.mark.needs("torch")
@pytest.mark.parametrize(("rank", "size", "options"), TRANSPOSED)
def test_transposes_as_torch(rank, size, options):
    import torch

    if options.get("pad_mode") != "pad" or isinstance(options["padding"], tuple):
        pytest.skip("torch has padding alone, alike on both sides")
    theirs = getattr(torch.nn.functional, f"conv_transpose{rank}d")
    own = {{"group": "groups"}.get(k, k): v for k, v in options.items() if k in _TORCH}
    call, weights = layer(getattr(nn, f"Conv{rank}dTranspose"), 4, 6, **options)
    x = RNG.normal(size=(2, 4, *size))
    check_torch(call, lambda x, w, *b: theirs(x, w, *b, **own), x, *weights)


_TORCH = ("stride", "padding", "output_padding", "dilation", "group")


@pytest.mark.parametrize(
    ("mode", "stride", "kernel", "want"),
    [("same", 1, 3, 5), ("same", 2, 3, 3), ("same", 3, 2, 2), ("valid", 1, 3, 3), ("valid", 2, 2, 2)],
)
def test_sizes_as_pad_mode_says(mode, stride, kernel, want):
    net = nn.Conv2d(2, 3, kernel, stride, mode)
    assert net(np.ones((1, 2, 5, 5), np.float32)).shape == (1, 3, want, want)


@pytest.mark.parametrize(
    ("mode", "stride", "kernel", "want"),
    [("same", 1, 3, 5), ("same", 2, 3, 10), ("same", 3, 2, 15), ("valid", 2, 3, 11), ("valid", 3, 2, 15)],
)
def test_sizes_of_transposes(mode, stride, kernel, want):
    net = nn.Conv2dTranspose(2, 3, kernel, stride, mode)
    assert net(np.ones((1, 2, 5, 5), np.float32)).shape == (1, 3, want, want)


def test_start():
    np.random.seed(0)
    net = nn.Conv2d(10, 20, 3, has_bias=True, bias_init="zeros")
    bound = 1 / np.sqrt(90)
    assert 0.9 * bound < np.abs(net.weight).max() <= bound
    assert not net.bias.asnumpy().any()
    assert [p.name for p in net.trainable_params()] == ["weight", "bias"]
    assert "kernel_size=(3, 3)" in repr(net)
    assert [p.name for p in nn.Conv2d(1, 1, 1).trainable_params()] == ["weight"]


def test_in_a_graph_and_by_hand():
    net = nn.Conv2d(2, 3, 3, has_bias=True)
    x = RNG.normal(size=(2, 2, 6, 5)).astype(np.float32)
    graph = net(x)
    sg.set_context(mode=sg.PYNATIVE_MODE)
    try:
        np.testing.assert_allclose(net(x), graph, rtol=1e-5, atol=1e-6)
    finally:
        sg.set_context(mode=sg.GRAPH_MODE)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"kernel_size": 0}, errors.ArgumentError, "Conv2d: kernel_size"),
        ({"in_channels": 0}, errors.ArgumentError, "Conv2d: in_channels must be a positive int"),
        ({"group": 2}, errors.ArgumentError, "3 and 4 channels are not 2 groups"),
        ({"pad_mode": "reflect"}, errors.ArgumentError, "'same', 'valid' or 'pad'"),
        ({"padding": 1}, errors.ArgumentError, "padding belongs to pad_mode='pad'"),
        ({"data_format": "NHWC"}, errors.UnsupportedOperation, "np.moveaxis"),
    ],
)
def test_what_does_not_fit(options, kind, message):
    with pytest.raises(kind, match=message):
        nn.Conv2d(**{"in_channels": 3, "out_channels": 4, "kernel_size": 3, **options})


@pytest.mark.parametrize("name", ["MaxPool1d", "MaxPool2d", "MaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d"])
@pytest.mark.parametrize(("mode", "sizes"), [("valid", 3), ("same", 4), ("pad", 4)])
def test_pooling(name, mode, sizes):
    rank = int(name[-2])
    x = RNG.normal(size=(2, 3, *[7] * rank))
    net = getattr(nn, name)(3, 2, mode, 1 if mode == "pad" else 0)
    assert net(x).shape == (2, 3, *[sizes] * rank)
    check_slopes(net.construct, x)


def test_adaptive_pooling():
    x = RNG.normal(size=(2, 3, 7, 5))
    np.testing.assert_allclose(nn.AdaptiveAvgPool2d(1)(x), x.mean((2, 3), keepdims=True))
    np.testing.assert_allclose(nn.AdaptiveMaxPool2d((None, 1))(x), x.max(3, keepdims=True))
    assert nn.AdaptiveAvgPool1d(2)(x[0]).shape == (3, 7, 2)
