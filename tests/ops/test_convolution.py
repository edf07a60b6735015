"""Convolutions against sums written out, finite differences and torch."""

import itertools

import numpy as np
import pytest
from networks import check_slopes, check_torch

import symgrad as sg
from symgrad import errors, ops

RNG = np.random.default_rng(0)

#: rank, shapes of array and weights, options
CALLS = [
    (1, (2, 3, 9), (4, 3, 3), {}),
    (1, (2, 4, 9), (6, 2, 2), {"stride": 2, "pad_mode": "pad", "padding": 1, "dilation": 3, "groups": 2}),
    (1, (1, 2, 8), (3, 2, 4), {"stride": 3, "pad_mode": "same"}),
    (2, (2, 3, 6, 7), (4, 3, 3, 2), {}),
    (2, (2, 3, 6, 7), (4, 3, 3, 3), {"pad_mode": "same", "stride": 2}),
    (2, (1, 2, 5, 6), (2, 2, 2, 3), {"pad_mode": "same", "dilation": (1, 2)}),
    (2, (2, 4, 6, 7), (4, 1, 3, 3), {"pad_mode": "pad", "padding": (1, 2), "stride": (1, 2), "groups": 4}),
    (2, (2, 4, 6, 5), (6, 2, 3, 3), {"pad_mode": "pad", "padding": (1, 0, 2, 1), "dilation": 2, "groups": 2}),
    (2, (3, 2, 4, 4), (5, 2, 1, 1), {"stride": 2}),
    (3, (2, 2, 4, 5, 3), (3, 2, 2, 3, 2), {"pad_mode": "pad", "padding": 1, "stride": (2, 1, 2)}),
    (3, (1, 4, 3, 4, 3), (2, 2, 2, 2, 2), {"pad_mode": "same", "groups": 2}),
]
FUNCTIONS = {1: ops.conv1d, 2: ops.conv2d, 3: ops.conv3d}


def drawn(shape, own):
    return RNG.normal(size=shape), RNG.normal(size=own), RNG.normal(size=own[0])


def written_out(x, w, b, stride=1, pad_mode="valid", padding=0, dilation=1, groups=1):
    """The sum of the definition, element by element."""
    rank = w.ndim - 2
    each = lambda v: (v,) * rank if isinstance(v, int) else v  # noqa: E731
    s, d = each(stride), each(dilation)
    if pad_mode == "same":
        missing = [
            max((-(-n // s[k]) - 1) * s[k] + d[k] * (w.shape[2 + k] - 1) + 1 - n, 0) for k, n in enumerate(x.shape[2:])
        ]
        pads = [(m // 2, m - m // 2) for m in missing]
    elif isinstance(padding, tuple) and len(padding) == 2 * rank:
        pads = list(zip(padding[::2], padding[1::2], strict=True))
    else:
        pads = [(p, p) for p in each(padding)]
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    count = [(x.shape[2 + k] - d[k] * (w.shape[2 + k] - 1) - 1) // s[k] + 1 for k in range(rank)]
    y = np.zeros((x.shape[0], w.shape[0], *count))
    inner, outer = w.shape[1], w.shape[0] // groups
    for o, at in itertools.product(range(w.shape[0]), np.ndindex(*count)):
        y[(slice(None), o, *at)] = b[o]
        for c, k in itertools.product(range(inner), np.ndindex(*w.shape[2:])):
            place = [at[a] * s[a] + k[a] * d[a] for a in range(rank)]
            y[(slice(None), o, *at)] += w[(o, c, *k)] * x[(slice(None), o // outer * inner + c, *place)]
    return y


@pytest.mark.parametrize(("rank", "shape", "own", "options"), CALLS)
def test_values(rank, shape, own, options):
    x, w, b = drawn(shape, own)
    want = written_out(x, w, b, **options)
    np.testing.assert_allclose(FUNCTIONS[rank](x, w, b, **options), want, rtol=1e-12, atol=1e-12)
    traced, _ = sg.value_and_grad(lambda x, w, b: FUNCTIONS[rank](x, w, b, **options))(x, w, b)
    np.testing.assert_allclose(traced, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("rank", "shape", "own", "options"), CALLS)
def test_slopes(rank, shape, own, options):
    check_slopes(lambda x, w, b: FUNCTIONS[rank](x, w, b, **options), *drawn(shape, own))


@pytest.mark.needs("torch")
@pytest.mark.parametrize(("rank", "shape", "own", "options"), CALLS)
def test_as_torch(rank, shape, own, options):
    import torch

    given = {k: v for k, v in options.items() if k != "pad_mode"}
    if options.get("pad_mode") == "same" or len(np.atleast_1d(options.get("padding", 0))) == 4:
        pytest.skip("torch pads both sides alike, and nothing where windows are further apart")
    theirs = getattr(torch.nn.functional, f"conv{rank}d")
    check_torch(
        lambda x, w, b: FUNCTIONS[rank](x, w, b, **options),
        lambda x, w, b: theirs(x, w, b, **given),
        *drawn(shape, own),
    )


def test_second_derivatives_of_what_is_bilinear():
    x, w, _ = drawn((2, 2, 5, 5), (3, 2, 3, 3))
    y = RNG.normal(size=(2, 3, 3, 3))

    def loss(x, w):
        return np.sum(np.sin(ops.conv2d(x, w, stride=2, pad_mode="same")) * y)

    dx, dw = RNG.normal(size=x.shape), RNG.normal(size=w.shape)

    def slope(x, w):
        gx, gw = sg.grad(loss, (0, 1))(x, w)
        return np.sum(gx * dx) + np.sum(gw * dw)

    got = sg.grad(slope, (0, 1))(x, w)
    ahead = sg.grad(loss, (0, 1))(x + 1e-5 * dx, w + 1e-5 * dw)
    behind = sg.grad(loss, (0, 1))(x - 1e-5 * dx, w - 1e-5 * dw)
    for own, a, b in zip(got, ahead, behind, strict=True):
        np.testing.assert_allclose(own, (a - b) / 2e-5, rtol=1e-5, atol=1e-6)


def test_forward_and_reverse_mode_give_one_jacobian():
    x, w, b = drawn((1, 2, 5), (3, 2, 2))
    fn = lambda x: ops.conv1d(x, w, b, stride=2, pad_mode="pad", padding=1)  # noqa: E731
    forward, reverse = sg.jacfwd(fn)(x), sg.jacrev(fn)(x)
    np.testing.assert_allclose(forward, reverse, rtol=1e-12)
    columns = [fn(x + e) - fn(x - e) for e in (0.5 * np.eye(x.size)).reshape(-1, *x.shape)]
    np.testing.assert_allclose(forward, np.stack(columns, -1).reshape(forward.shape), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("of", ["x", "w", "both"])
def test_vmap(of):
    x, w, _ = drawn((4, 2, 3, 6, 6), (4, 5, 3, 2, 2))
    fn = lambda x, w: ops.conv2d(x, w, stride=2)  # noqa: E731
    axes = (0 if of != "w" else None, 0 if of != "x" else None)
    args = (x if axes[0] == 0 else x[0], w if axes[1] == 0 else w[0])
    want = [fn(x[k if axes[0] == 0 else 0], w[k if axes[1] == 0 else 0]) for k in range(4)]
    np.testing.assert_allclose(sg.vmap(fn, axes)(*args), want, rtol=1e-12)


@pytest.mark.parametrize("backend", ["numpy", "numexpr", pytest.param("native", marks=pytest.mark.needs("native"))])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_enough_for_blocks(monkeypatch, backend, dtype):
    monkeypatch.setattr("symgrad.primitives.windows._BLOCK", 4000)
    x, w, b = [a.astype(dtype) for a in drawn((5, 4, 12, 11), (6, 4, 3, 3))]
    options = {"pad_mode": "pad", "padding": 1, "stride": 2}
    y = RNG.normal(size=(5, 6, 6, 6)).astype(dtype)
    loss = sg.value_and_grad(lambda x, w, b: np.sum(ops.conv2d(x, w, b, **options) * y), (0, 1, 2), backend=backend)
    value, gradients = loss(x, w, b)
    tolerance = 1e-12 if dtype == np.float64 else 2e-5
    want = np.sum(written_out(*(a.astype(float) for a in (x, w, b)), **options) * y)
    np.testing.assert_allclose(value, want, rtol=10 * tolerance)
    assert all(g.dtype == dtype for g in gradients)
    for k, gradient in enumerate(gradients):  # the sum is linear in each
        direction = RNG.normal(size=gradient.shape).astype(dtype)
        ahead, behind = ([a.astype(float) for a in (x, w, b)] for _ in range(2))
        ahead[k], behind[k] = ahead[k] + direction, behind[k] - direction
        slope = np.sum((written_out(*ahead, **options) - written_out(*behind, **options)) * y) / 2
        np.testing.assert_allclose(np.sum(gradient * direction), slope, rtol=100 * tolerance, atol=100 * tolerance)


def test_formulas_have_no_tables_of_places():
    x, w, _ = drawn((1, 2, 9), (3, 2, 3))
    text = sg.grad(lambda x, w: np.sum(np.sin(ops.conv1d(x, w, stride=2)))).export("latex", x, w)
    assert "{w}_{n,p,q} {x}_{i,p,2 l + q}" in text
    assert "c_{0}" not in text


def test_no_examples():
    x, w, b = drawn((0, 3, 6, 6), (4, 3, 3, 3))
    assert ops.conv2d(x, w, b).shape == (0, 4, 4, 4)
    gradients = sg.grad(lambda x, w, b: np.sum(ops.conv2d(x, w, b)), (0, 1, 2))(x, w, b)
    assert [g.shape for g in gradients] == [x.shape, w.shape, b.shape]
    assert not np.any(gradients[1])


def test_named_batches():
    _, w, _ = drawn((0, 3, 6, 6), (4, 3, 3, 3))
    program = sg.trace(lambda x: ops.conv2d(x, w, pad_mode="same"), "n 3 6 6")
    assert str(program.outputs[0].shape) == "(n, 4, 6, 6)"
    with pytest.raises(errors.ShapeError, match="conv2d needs the sizes"):
        sg.trace(lambda x: ops.conv2d(x, w), "2 3 n 6")


@pytest.mark.parametrize(
    ("shapes", "options", "kind", "message"),
    [
        (((2, 3, 6, 6), (4, 2, 3, 3)), {}, errors.ShapeError, "conv2d: weights of shape"),
        (((2, 3, 6), (4, 3, 3, 3)), {}, errors.ShapeError, "arrays of 4 axes"),
        (((2, 3, 2, 6), (4, 3, 3, 3)), {}, errors.ShapeError, "a window of 3 elements does not fit an axis of 2"),
        (((2, 3, 6, 6), (4, 3, 3, 3)), {"stride": 0}, errors.ArgumentError, "stride is an int of at least 1"),
        (((2, 3, 6, 6), (4, 3, 3, 3)), {"dilation": (1, 2, 3)}, errors.ArgumentError, "dilation"),
        (((2, 3, 6, 6), (4, 3, 3, 3)), {"padding": 1}, errors.ArgumentError, "padding belongs to pad_mode='pad'"),
        (((2, 3, 6, 6), (4, 3, 3, 3)), {"pad_mode": "full"}, errors.ArgumentError, "'same', 'valid' or 'pad'"),
        (((2, 3, 6, 6), (4, 3, 3, 3)), {"groups": 2}, errors.ShapeError, "in 2 groups"),
        (((2, 3, 6, 6), (4, 3, 3, 3)), {"groups": 0}, errors.ArgumentError, "groups is an int"),
        (((2, 3, 6, 6), (4, 3, 3, 3)), {"bias": np.ones(3)}, errors.ShapeError, "bias has shape"),
    ],
)
def test_what_does_not_fit(shapes, options, kind, message):
    with pytest.raises(kind, match=message):
        ops.conv2d(*map(np.ones, shapes), **options)
