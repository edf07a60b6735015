"""Pooling against windows written out, finite differences and torch."""

import itertools

import numpy as np
import pytest
from networks import check_slopes, check_torch

import symgrad as sg
from symgrad import errors, ops

RNG = np.random.default_rng(0)
X = {1: RNG.normal(size=(2, 3, 11)), 2: RNG.normal(size=(2, 3, 7, 8)), 3: RNG.normal(size=(2, 2, 5, 4, 6))}
MAX = {2: ops.max_pool2d, 3: ops.max_pool3d}
AVG = {1: ops.avg_pool1d, 2: ops.avg_pool2d, 3: ops.avg_pool3d}
OPTIONS = [
    {"kernel_size": 2, "stride": 2},
    {"kernel_size": 3, "stride": 1, "padding": 1},
    {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
    {"kernel_size": 2, "stride": 3, "ceil_mode": True},
]
MAX_CALLS = [
    *itertools.product((2, 3), OPTIONS),
    (2, {"kernel_size": (2, 3), "stride": (2, 1), "dilation": (2, 1)}),
    (2, {"kernel_size": 2}),
]
AVG_CALLS = [
    *itertools.product((1, 2, 3), OPTIONS),
    (2, {"kernel_size": (3, 2), "stride": (1, 2), "padding": (1, 0), "count_include_pad": False}),
    (2, {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False, "ceil_mode": True}),
    (2, {"kernel_size": 2, "stride": 2, "divisor_override": 3}),
]


@pytest.mark.parametrize(("rank", "options"), MAX_CALLS)
def test_max_pooling_slopes(rank, options):
    check_slopes(lambda x: MAX[rank](x, **options), X[rank])


@pytest.mark.parametrize(("rank", "options"), AVG_CALLS)
def test_average_pooling_slopes(rank, options):
    check_slopes(lambda x: AVG[rank](x, **options), X[rank])


def test_values():
    x = X[2]
    own = ops.max_pool2d(x, 3, 2, 1)
    mean = ops.avg_pool2d(x, 3, 2, 1)
    inside = ops.avg_pool2d(x, 3, 2, 1, count_include_pad=False)
    assert own.shape == mean.shape == (2, 3, 4, 4)
    for i, j in np.ndindex(4, 4):
        part = x[:, :, max(2 * i - 1, 0) : 2 * i + 2, max(2 * j - 1, 0) : 2 * j + 2]
        np.testing.assert_array_equal(own[:, :, i, j], part.max((2, 3)))
        np.testing.assert_allclose(mean[:, :, i, j], part.sum((2, 3)) / 9)
        np.testing.assert_allclose(inside[:, :, i, j], part.mean((2, 3)))


@pytest.mark.needs("torch")
@pytest.mark.parametrize(("rank", "options"), MAX_CALLS)
def test_max_pooling_as_torch(rank, options):
    import torch

    theirs = getattr(torch.nn.functional, f"max_pool{rank}d")
    check_torch(lambda x: MAX[rank](x, **options), lambda x: theirs(x, **options), X[rank])


@pytest.mark.needs("torch")
@pytest.mark.parametrize(("rank", "options"), AVG_CALLS)
def test_average_pooling_as_torch(rank, options):
    import torch

    theirs = getattr(torch.nn.functional, f"avg_pool{rank}d")
    check_torch(lambda x: AVG[rank](x, **options), lambda x: theirs(x, **options), X[rank])


@pytest.mark.parametrize(
    ("name", "rank", "size"),
    [
        ("adaptive_avg_pool1d", 1, 4),
        ("adaptive_avg_pool2d", 2, (3, 8)),
        ("adaptive_avg_pool2d", 2, (None, 5)),
        ("adaptive_avg_pool3d", 3, 2),
        ("adaptive_max_pool1d", 1, 4),
        ("adaptive_max_pool2d", 2, (3, 5)),
    ],
)
def test_adaptive_pooling(name, rank, size):
    fn = lambda x: getattr(ops, name)(x, size)  # noqa: E731
    check_slopes(fn, X[rank])
    got = fn(X[rank])
    sizes = X[rank].shape[2:]
    wanted = size if isinstance(size, tuple) else (size,) * rank
    parts = [d if n is None else n for n, d in zip(wanted, sizes, strict=True)]
    assert got.shape[2:] == tuple(parts)
    for at in np.ndindex(*parts):
        window = [slice(k * d // n, -(-(k + 1) * d // n)) for k, n, d in zip(at, parts, X[rank].shape[2:], strict=True)]
        part = X[rank][(slice(None), slice(None), *window)].reshape(*X[rank].shape[:2], -1)
        want = part.mean(-1) if "avg" in name else part.max(-1)
        np.testing.assert_allclose(got[(slice(None), slice(None), *at)], want, rtol=1e-12)


def test_ties_share():
    gradient = sg.grad(lambda x: np.sum(ops.max_pool2d(x, 2)))(np.zeros((1, 1, 2, 2)))
    np.testing.assert_array_equal(gradient, np.full((1, 1, 2, 2), 0.25))


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: ops.max_pool2d(X[2], 9), errors.ShapeError, "a window of 9 elements does not fit"),
        (lambda: ops.max_pool2d(X[2], 0), errors.ArgumentError, "kernel_size"),
        (lambda: ops.max_pool2d(X[2], 2, padding=2), errors.ArgumentError, "at most half of kernel_size"),
        (lambda: ops.max_pool2d(X[2], 2, return_indices=True), errors.UnsupportedOperation, "return_indices"),
        (lambda: ops.avg_pool2d(X[2][0, 0], 2), errors.ShapeError, "arrays of shape"),
        (lambda: ops.adaptive_avg_pool2d(X[2], (1, 2, 3)), errors.ArgumentError, "output_size"),
    ],
)
def test_what_does_not_fit(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
