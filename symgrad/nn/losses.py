"""Losses: cells of predictions and targets, reduced by ``"mean"``, ``"sum"`` or not at all (``"none"``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import ops
from ..errors import ArgumentError, ShapeError
from ..ops.losses import REDUCTIONS, reduced
from .cell import Cell
from .cell_of import cell_of

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "LossBase",
    "MSELoss",
    "MarginRankingLoss",
    "NLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "SoftmaxCrossEntropyWithLogits",
    "TripletMarginLoss",
]


class LossBase(Cell):
    """Base of the losses: ``get_loss(x, weights=None)`` weighs elements and reduces them.

    An unknown ``reduction`` is an ArgumentError.

    >>> LossBase("sum").get_loss(np.array([1.0, 2.0]))
    np.float64(3.0)
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        if not isinstance(reduction, str) or reduction not in REDUCTIONS:
            raise ArgumentError(f"reduction must be one of {', '.join(map(repr, REDUCTIONS))}, got {reduction!r}.")
        self.reduction = reduction

    def get_loss(self, x: Any, weights: Any = None) -> Any:
        """``weights · x``, reduced."""
        return reduced(x if weights is None else np.multiply(weights, x), self.reduction)

    def extend_repr(self) -> str:
        return "" if self.reduction == "mean" else f"reduction={self.reduction!r}"


def _loss(name: str, function: Callable[..., Any], order: str, inputs: int = 2) -> Any:
    return cell_of(name, function, inputs=inputs, order=order, base=LossBase)


MSELoss = _loss("MSELoss", ops.mse_loss, "reduction")
L1Loss = _loss("L1Loss", ops.l1_loss, "reduction")
HuberLoss = _loss("HuberLoss", ops.huber_loss, "reduction delta")
BCELoss = _loss("BCELoss", ops.binary_cross_entropy, "weight reduction")
BCEWithLogitsLoss = _loss("BCEWithLogitsLoss", ops.binary_cross_entropy_with_logits, "reduction weight pos_weight")
NLLLoss = _loss("NLLLoss", ops.nll_loss, "weight ignore_index reduction")
KLDivLoss = _loss("KLDivLoss", ops.kl_div, "reduction")
HingeEmbeddingLoss = _loss("HingeEmbeddingLoss", ops.hinge_embedding_loss, "margin reduction")
CosineEmbeddingLoss = _loss("CosineEmbeddingLoss", ops.cosine_embedding_loss, "margin reduction", 3)
MarginRankingLoss = _loss("MarginRankingLoss", ops.margin_ranking_loss, "margin reduction", 3)
TripletMarginLoss = _loss("TripletMarginLoss", ops.triplet_margin_loss, "p swap eps reduction margin", 3)
SoftMarginLoss = _loss("SoftMarginLoss", ops.soft_margin_loss, "reduction")
GaussianNLLLoss = _loss("GaussianNLLLoss", ops.gaussian_nll_loss, "full eps reduction", 3)


class SmoothL1Loss(LossBase):
    """``d²/(2·beta)`` where ``|d| < beta`` and ``|d| - beta/2`` elsewhere, d = x - y; not reduced by default.

    A ``beta`` that is not positive is an ArgumentError.

    >>> SmoothL1Loss()(np.array([0.5, 3.0]), np.array([0.0, 0.0]))
    array([0.125, 2.5  ])
    """

    def __init__(self, beta: float = 1.0, reduction: str = "none") -> None:
        super().__init__(reduction)
        if not isinstance(beta, (int, float, np.number)) or not beta > 0:
            raise ArgumentError(f"SmoothL1Loss: beta must be positive, got {beta!r}.")
        self.beta = beta

    def construct(self, logits, labels):
        return ops.smooth_l1_loss(logits, labels, self.beta, self.reduction)


class CrossEntropyLoss(LossBase):
    """``ops.cross_entropy`` as a cell: logits ``(n, classes, …)`` and class numbers ``(n, …)`` or probabilities.

    ``weight`` is one number a class; with class numbers the mean is weighed by it, and elements whose label is
    ``ignore_index`` count for nothing. ``label_smoothing`` moves that share of every target to all classes
    evenly. Labels of another shape are a ShapeError, a smoothing outside [0, 1] an ArgumentError.

    >>> CrossEntropyLoss()(np.array([[0.0, 0.0]]), np.array([1]))
    np.float64(0.6931471805599453)
    """

    def __init__(
        self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0
    ) -> None:
        super().__init__(reduction)
        if not 0 <= label_smoothing <= 1:
            raise ArgumentError(f"CrossEntropyLoss: label_smoothing must be from 0 to 1, got {label_smoothing!r}.")
        self.weight = weight
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def construct(self, logits, labels):
        options = self.weight, self.ignore_index, self.reduction, self.label_smoothing
        return ops.cross_entropy(logits, labels, *options)


class SoftmaxCrossEntropyWithLogits(LossBase):
    """Cross entropy of logits ``(n, classes)`` and labels: one-hot ``(n, classes)``, or class numbers ``(n,)``.

    ``sparse`` says that labels are class numbers (integers). One value a row; not reduced by default. Labels
    of another shape are a ShapeError.

    >>> SoftmaxCrossEntropyWithLogits(sparse=True)(np.array([[0.0, 1000.0]]), np.array([0]))
    array([1000.])
    """

    def __init__(self, sparse: bool = False, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.sparse = sparse

    def construct(self, logits, labels):
        targets, shape = labels, np.shape(logits)
        if np.shape(labels) != (shape[:-1] if self.sparse else shape):
            what = "class numbers" if self.sparse else "targets"
            raise ShapeError(
                f"SoftmaxCrossEntropyWithLogits: logits have shape {shape} and {what} {np.shape(labels)}; targets have "
                "the shape of the logits, class numbers that without the last axis."
            )
        if self.sparse:
            targets = ops.one_hot(labels, logits.shape[-1], 1.0, 0.0).astype(logits.dtype)
        return self.get_loss(np.negative(np.sum(np.multiply(targets, ops.log_softmax(logits)), axis=-1)))
