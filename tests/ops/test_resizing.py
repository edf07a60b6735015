"""Padding, columns, dropout and images of another size: NumPy, slopes by differences, torch."""

import numpy as np
import pytest
from networks import check_slopes, check_torch

import symgrad as sg
from symgrad import errors, nn, ops
from symgrad.ops import resizing

RNG = np.random.default_rng(0)
LINE, IMAGE, BODY = RNG.normal(size=(2, 3, 5)), RNG.normal(size=(2, 4, 5, 6)), RNG.normal(size=(1, 2, 3, 4, 5))

#: name, array, arguments, options
CALLS = [
    ("pad", IMAGE, ((1, 2),), {"value": 2.0}),
    ("pad", IMAGE, ((1, 2, 0, 3),), {}),
    ("pad", IMAGE, ((1, 2, 3, 1), "reflect"), {}),
    ("pad", IMAGE, ((1, 2, 3, 1), "replicate"), {}),
    ("pad", IMAGE, ((1, 2, 3, 1), "circular"), {}),
    ("unfold", IMAGE, ((2, 3),), {"dilation": (2, 1), "padding": 1, "stride": (1, 2)}),
    ("fold", RNG.normal(size=(2, 12, 20)), ((5, 6), (2, 2)), {}),
    ("fold", RNG.normal(size=(2, 12, 9)), ((5, 6), (2, 3)), {"padding": 1, "stride": 2}),
    ("pixel_shuffle", IMAGE, (2,), {}),
    ("pixel_unshuffle", IMAGE[:, :, :4], (2,), {}),
    ("interpolate", LINE, (8,), {}),
    ("interpolate", LINE, (3,), {}),
    ("interpolate", IMAGE, (None, 2.0), {}),
    ("interpolate", LINE, (8,), {"mode": "linear"}),
    ("interpolate", LINE, (1,), {"mode": "linear", "align_corners": True}),
    ("interpolate", IMAGE, ((7, 4),), {"mode": "bilinear"}),
    ("interpolate", IMAGE, ((7, 4),), {"mode": "bilinear", "align_corners": True}),
    ("interpolate", IMAGE, ((3, 4),), {"mode": "area"}),
    ("interpolate", BODY, ((4, 4, 9),), {"mode": "trilinear"}),
]


@pytest.mark.parametrize(("name", "x", "args", "options"), CALLS)
def test_slopes(name, x, args, options):
    check_slopes(lambda x: getattr(ops, name)(x, *args, **options), x)


@pytest.mark.needs("torch")
@pytest.mark.parametrize(("name", "x", "args", "options"), CALLS)
def test_as_torch(name, x, args, options):
    import torch

    theirs = getattr(torch.nn.functional, name)
    check_torch(lambda x: getattr(ops, name)(x, *args, **options), lambda x: theirs(x, *args, **options), x)


@pytest.mark.parametrize(
    ("net", "x", "pairs", "mode"),
    [
        (nn.Pad(((0, 0), (1, 1), (2, 0)), "SYMMETRIC"), LINE, ((0, 0), (1, 1), (2, 0)), "symmetric"),
        (nn.ZeroPad2d((1, 0, 2, 1)), IMAGE, ((0, 0), (0, 0), (2, 1), (1, 0)), "constant"),
        (nn.ReflectionPad1d(2), LINE, ((0, 0), (0, 0), (2, 2)), "reflect"),
        (nn.ReplicationPad3d(1), BODY, ((0, 0), (0, 0), (1, 1), (1, 1), (1, 1)), "edge"),
    ],
)
def test_padding_is_numpys(net, x, pairs, mode):
    np.testing.assert_array_equal(net(x), np.pad(x, pairs, mode=mode))
    assert nn.ConstantPad1d((1, 0), 5.0)(LINE)[0, 0, 0] == 5.0


def test_nearest_and_linear_written_out():
    np.testing.assert_array_equal(ops.interpolate(LINE, 10), np.repeat(LINE, 2, -1))
    got = ops.interpolate(LINE, 9, mode="linear", align_corners=True)
    np.testing.assert_allclose(got[..., 1::2], (LINE[..., 1:] + LINE[..., :-1]) / 2)
    np.testing.assert_allclose(
        nn.Upsample(scale_factor=0.5, mode="area")(IMAGE[:, :, :4])[0, 0, 0, 0], IMAGE[0, 0, :2, :2].mean()
    )


def test_unfold_and_fold_are_transposes():
    columns = ops.unfold(IMAGE, 3, 1, 1, 2)
    other = RNG.normal(size=columns.shape)
    back = ops.fold(other, (5, 6), 3, 1, 1, 2)
    np.testing.assert_allclose(np.sum(columns * other), np.sum(IMAGE * back))


class TestDropout:
    def test_a_seed_gives_one_mask(self):
        x = np.ones((50, 20))
        first = ops.dropout(x, 0.25, seed=3)
        np.testing.assert_array_equal(first, ops.dropout(x, 0.25, seed=3))
        assert (first != ops.dropout(x, 0.25, seed=4)).any()
        assert set(np.unique(first)) == {0.0, 1 / 0.75}
        assert 0.7 < np.mean(first > 0) < 0.8

    def test_gradients_with_a_seed_are_traced_once(self, monkeypatch):
        drawn, calls = resizing.drawn, []
        monkeypatch.setattr(resizing, "drawn", lambda *args: calls.append(args) or drawn(*args))
        gradient = sg.grad(lambda x: np.sum(ops.dropout(x, 0.5, seed=1) ** 2))
        mask = drawn((20,), 0.5, 1)
        for k in range(1, 4):
            np.testing.assert_allclose(gradient(k * np.ones(20)), 8 * k * mask)
        assert len(calls) == 1

    def test_not_in_training(self):
        assert ops.dropout(LINE, training=False) is LINE
        assert not ops.dropout(LINE, 1.0).any()

    @pytest.mark.parametrize("rank", [1, 2, 3])
    def test_channels(self, rank):
        np.random.seed(0)
        net = getattr(nn, f"Dropout{rank}d")(0.5).set_train()
        y = np.asarray(net(np.ones((8, 9, *[3] * rank)))).reshape(8, 9, -1)
        assert (y == y[..., :1]).all()
        assert set(np.unique(y)) == {0.0, 2.0}


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: ops.pad(LINE, (1,)), errors.ArgumentError, "two ints for each axis"),
        (lambda: ops.pad(LINE, (1, 1), "mirror"), errors.ArgumentError, "mode is one of"),
        (lambda: ops.pad(LINE, (-1, 1)), errors.ArgumentError, "padding"),
        (lambda: ops.dropout(LINE, 1.5), errors.ArgumentError, "p must be from 0 to 1"),
        (lambda: ops.unfold(LINE, 2), errors.ShapeError, "unfold takes"),
        (lambda: ops.fold(LINE, (5, 6), 2), errors.ShapeError, "fold takes"),
        (lambda: ops.pixel_shuffle(IMAGE, 3), errors.ShapeError, "no multiple of 9"),
        (lambda: ops.interpolate(IMAGE, 3, mode="linear"), errors.ArgumentError, "mode is 'nearest'"),
        (lambda: ops.interpolate(IMAGE), errors.ArgumentError, "size or scale_factor"),
        (lambda: nn.ReflectionPad2d((1, 2)), errors.ArgumentError, "padding"),
        (lambda: nn.Pad(((1, 1),), "wrap"), errors.ArgumentError, "mode is"),
    ],
)
def test_what_does_not_fit(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
