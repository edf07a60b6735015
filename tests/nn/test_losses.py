"""Losses: values, reductions, slopes against finite differences, and numbers far out."""

import numpy as np
import pytest

import symgrad as ms
from symgrad import errors, nn

RNG = np.random.default_rng(0)
REAL = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3))
PROBABILITY = RNG.uniform(0.1, 0.9, (4, 3)), RNG.uniform(0.0, 1.0, (4, 3))
ONE_HOT = RNG.normal(size=(4, 3)), np.eye(3)[[0, 2, 1, 2]]
CLASSES = RNG.normal(size=(4, 3)), np.array([0, 2, 1, 2])
LOSSES = [
    (nn.MSELoss, {}, REAL),
    (nn.L1Loss, {}, REAL),
    (nn.SmoothL1Loss, {"beta": 0.7}, REAL),
    (nn.BCELoss, {}, PROBABILITY),
    (nn.BCELoss, {"weight": np.array([1.0, 2.0, 0.5])}, PROBABILITY),
    (nn.BCEWithLogitsLoss, {}, (REAL[0], PROBABILITY[1])),
    (nn.BCEWithLogitsLoss, {"pos_weight": np.array([1.0, 2.0, 0.5])}, (REAL[0], PROBABILITY[1])),
    (nn.SoftmaxCrossEntropyWithLogits, {}, ONE_HOT),
    (nn.SoftmaxCrossEntropyWithLogits, {"sparse": True}, CLASSES),
    (nn.CrossEntropyLoss, {}, CLASSES),
    (nn.CrossEntropyLoss, {"label_smoothing": 0.1, "ignore_index": 1}, CLASSES),
    (nn.CrossEntropyLoss, {"weight": np.array([1.0, 2.0, 0.5])}, CLASSES),
    (nn.CrossEntropyLoss, {}, ONE_HOT),
]


@pytest.mark.parametrize(("loss", "options", "inputs"), LOSSES)
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_slopes(loss, options, inputs, reduction):
    cell = loss(**options, reduction=reduction)
    x, y = inputs
    f = lambda x: float(cell(x, y))  # noqa: E731
    gradient = ms.grad(cell)(x, y)
    for k in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[k] = 1e-6
        np.testing.assert_allclose(gradient[k], (f(x + step) - f(x - step)) / 2e-6, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(("loss", "options", "inputs"), LOSSES)
def test_reductions(loss, options, inputs):
    each = np.asarray(loss(**options, reduction="none")(*inputs))
    np.testing.assert_allclose(loss(**options, reduction="sum")(*inputs), each.sum())
    if loss is not nn.CrossEntropyLoss:
        np.testing.assert_allclose(loss(**options, reduction="mean")(*inputs), each.mean())


def test_mean_of_cross_entropy_counts_by_weight():
    logits, labels = CLASSES
    weight = np.array([1.0, 2.0, 0.5])
    each = np.asarray(nn.CrossEntropyLoss(weight, reduction="none")(logits, labels))
    np.testing.assert_allclose(nn.CrossEntropyLoss(weight)(logits, labels), each.sum() / weight[labels].sum())
    kept = nn.CrossEntropyLoss()(logits[[0, 1, 3]], labels[[0, 1, 3]])
    np.testing.assert_allclose(nn.CrossEntropyLoss(ignore_index=1)(logits, labels), kept)


def test_values():
    np.testing.assert_allclose(nn.MSELoss()(1.0, 3.0), 4.0)
    np.testing.assert_allclose(nn.SmoothL1Loss()(np.array([0.5, -3.0]), np.zeros(2)), [0.125, 2.5])
    np.testing.assert_allclose(nn.BCELoss()(np.array([0.25]), np.array([1.0])), -np.log(0.25))
    np.testing.assert_allclose(nn.BCEWithLogitsLoss()(np.array([0.0]), np.array([1.0])), np.log(2))
    np.testing.assert_allclose(nn.CrossEntropyLoss()(np.zeros((2, 4)), np.array([1, 3])), np.log(4))


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize(
    ("loss", "x", "y"),
    [
        (nn.BCELoss(), [0.0, 1.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]),
        (nn.BCEWithLogitsLoss(), [-1000.0, 1000.0, -1000.0, 1000.0], [0.0, 1.0, 1.0, 0.0]),
        (nn.SoftmaxCrossEntropyWithLogits(), [[-1000.0, 1000.0]], [[1.0, 0.0]]),
        (nn.CrossEntropyLoss(), [[-1000.0, 1000.0]], [0]),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_finite_far_out(loss, x, y, dtype, mode):
    labels = np.array(y, dtype) if not isinstance(y[0], int) else np.array(y)
    ms.set_context(mode=mode)
    try:
        assert np.isfinite(loss(np.array(x, dtype), labels)).all()
        gradient = ms.grad(loss)(np.array(x, dtype), labels)
    finally:
        ms.set_context(mode=ms.GRAPH_MODE)
    assert np.isfinite(gradient).all()
    assert gradient.dtype == dtype


@pytest.mark.parametrize("loss", [nn.BCELoss(), nn.BCEWithLogitsLoss(), nn.SoftmaxCrossEntropyWithLogits()])
def test_shapes_that_differ(loss):
    with pytest.raises(errors.ShapeError, match=r"\(2, 3\).*\(3, 2\)"):
        loss(np.ones((2, 3)), np.ones((3, 2)))


def test_class_numbers_of_another_shape():
    with pytest.raises(errors.ShapeError, match="class numbers"):
        nn.CrossEntropyLoss()(np.ones((2, 3)), np.array([1, 2, 0]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.MSELoss("median"), "reduction must be one of"),
        (lambda: nn.SmoothL1Loss(beta=0), "beta must be positive"),
        (lambda: nn.CrossEntropyLoss(label_smoothing=2.0), "label_smoothing"),
    ],
)
def test_bad_options(make, message):
    with pytest.raises(ValueError, match=message):
        make()
