"""Losses as functions: values written out, slopes by differences, and torch."""

import numpy as np
import pytest
from networks import check_slopes, check_torch

from symgrad import errors, nn, ops

RNG = np.random.default_rng(0)
X, Y, Z = RNG.normal(size=(3, 5, 4))
SIGNS = np.where(RNG.uniform(size=5) > 0.4, 1.0, -1.0)
EACH = np.where(RNG.uniform(size=(5, 4)) > 0.4, 1.0, -1.0)
P, Q = (np.exp(a) / np.exp(a).sum(1, keepdims=True) for a in (X, Y))
CLASSES = np.array([0, 3, 1, 3, 2])
IMAGE, MAP = RNG.normal(size=(2, 3, 4, 2)), RNG.integers(0, 3, (2, 4, 2))
WEIGHT = np.array([1.0, 0.5, 2.0, 0.25])

#: name, arguments, options
CALLS = [
    ("cross_entropy", (X, CLASSES), {}),
    ("cross_entropy", (X, CLASSES), {"ignore_index": 3, "label_smoothing": 0.2}),
    ("cross_entropy", (X, CLASSES), {"weight": WEIGHT, "ignore_index": 1}),
    ("cross_entropy", (X, Q), {"label_smoothing": 0.1}),
    ("cross_entropy", (X, Q), {"weight": WEIGHT}),
    ("cross_entropy", (IMAGE, MAP), {"weight": WEIGHT[:3]}),
    ("cross_entropy", (X[0], np.array(2)), {}),
    ("nll_loss", (np.log(P), CLASSES), {"weight": WEIGHT}),
    ("nll_loss", (IMAGE, MAP), {"ignore_index": 0}),
    ("binary_cross_entropy", (P, Q), {"weight": WEIGHT}),
    ("binary_cross_entropy_with_logits", (X, Q), {"weight": WEIGHT}),
    ("binary_cross_entropy_with_logits", (X, Q), {"pos_weight": WEIGHT}),
    ("kl_div", (np.log(P), Q), {}),
    ("kl_div", (np.log(P), Q), {"reduction": "batchmean"}),
    ("mse_loss", (X, Y), {}),
    ("l1_loss", (X, Y), {}),
    ("smooth_l1_loss", (X, Y), {"beta": 0.7}),
    ("huber_loss", (X, Y), {"delta": 0.7}),
    ("hinge_embedding_loss", (X, EACH), {"margin": 0.8}),
    ("cosine_embedding_loss", (X, Y, SIGNS), {"margin": 0.1}),
    ("margin_ranking_loss", (X, Y, EACH), {"margin": 0.1}),
    ("triplet_margin_loss", (X, Y, Z), {}),
    ("triplet_margin_loss", (X, Y, Z), {"p": 3, "swap": True, "margin": 0.5}),
    ("soft_margin_loss", (X, EACH), {}),
    ("gaussian_nll_loss", (X, Y, P), {"full": True}),
]
TARGETS = {"hinge_embedding_loss": 1, "soft_margin_loss": 1, "margin_ranking_loss": 2, "cosine_embedding_loss": 2}


def free(name, args):
    """The arguments without those that are labels, and the call of them."""
    stays = TARGETS.get(name)
    return [a for k, a in enumerate(args) if k != stays], lambda own: [*own, args[stays]] if stays else own


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(("name", "args", "options"), CALLS)
def test_slopes(name, args, options, reduction):
    options = {"reduction": reduction} | options
    own, whole = free(name, args)
    check_slopes(lambda *a: getattr(ops, name)(*whole(a), **options), *own, rtol=1e-5)


@pytest.mark.needs("torch")
@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(("name", "args", "options"), CALLS)
def test_as_torch(name, args, options, reduction):
    import torch

    options = {"reduction": reduction} | options
    theirs = {k: torch.tensor(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
    own, whole = free(name, args)
    function = getattr(torch.nn.functional, name)
    check_torch(
        lambda *a: getattr(ops, name)(*whole(a), **options),
        lambda *a: function(*[torch.as_tensor(v) for v in whole(a)], **theirs),
        *own,
        rtol=1e-6 if name in ("binary_cross_entropy", "cosine_embedding_loss") else 1e-9,
    )


def test_defaults_of_cells():
    np.testing.assert_allclose(nn.HuberLoss("none", 0.5)(X, Y), ops.huber_loss(X, Y, "none", 0.5))
    np.testing.assert_allclose(nn.TripletMarginLoss(1)(X, Y, Z), ops.triplet_margin_loss(X, Y, Z, p=1))
    np.testing.assert_allclose(nn.CosineEmbeddingLoss(0.2)(X, Y, SIGNS), ops.cosine_embedding_loss(X, Y, SIGNS, 0.2))
    np.testing.assert_allclose(nn.MarginRankingLoss()(X, Y, EACH), ops.margin_ranking_loss(X, Y, EACH))
    np.testing.assert_allclose(nn.NLLLoss(WEIGHT)(np.log(P), CLASSES), ops.nll_loss(np.log(P), CLASSES, WEIGHT))
    np.testing.assert_allclose(nn.KLDivLoss("sum")(np.log(P), Q), np.sum(Q * np.log(Q / P)))
    np.testing.assert_allclose(nn.GaussianNLLLoss()(X, Y, P), ops.gaussian_nll_loss(X, Y, P))
    np.testing.assert_allclose(nn.SoftMarginLoss()(X, EACH), np.mean(np.log1p(np.exp(-X * EACH))))
    np.testing.assert_allclose(nn.HingeEmbeddingLoss(2.0)(X, EACH), ops.hinge_embedding_loss(X, EACH, 2.0))
    with pytest.raises(errors.ArgumentTypeError, match="HuberLoss takes the options"):
        nn.HuberLoss("mean", 1.0, 2.0)


def test_labels_of_one_are_not_penalised_for_what_has_no_probability():
    assert ops.kl_div(np.array([-1.0, 0.0]), np.array([0.0, 1.0]), "sum") == 0


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: ops.cross_entropy(X, CLASSES[:3]), errors.ShapeError, "class numbers have shape"),
        (lambda: ops.cross_entropy(X, Q[:, :2]), errors.ShapeError, "targets have shape"),
        (lambda: ops.cross_entropy(X, CLASSES, label_smoothing=2.0), errors.ArgumentError, "label_smoothing"),
        (lambda: ops.nll_loss(X, Q), errors.ArgumentError, "nll_loss takes class numbers"),
        (lambda: ops.mse_loss(X, Y, "median"), errors.ArgumentError, "reduction must be one of"),
        (lambda: ops.smooth_l1_loss(X, Y, 0), errors.ArgumentError, "beta must be positive"),
        (lambda: ops.binary_cross_entropy(X, Y[:2]), errors.ShapeError, "predictions of shape"),
    ],
)
def test_what_does_not_fit(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
