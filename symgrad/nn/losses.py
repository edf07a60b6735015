"""Losses: cells of predictions and targets, reduced by ``"mean"``, ``"sum"`` or not at all (``"none"``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops
from ..errors import ArgumentError, ShapeError
from .cell import Cell

_REDUCTIONS = ("mean", "sum", "none")
_EPS = 1e-12  # keeps log(0) away; less than half a unit in the last place of 1


class LossBase(Cell):
    """Base of the losses: ``get_loss(x, weights=None)`` weighs elements and reduces them.

    An unknown ``reduction`` is an ArgumentError.

    >>> LossBase("sum").get_loss(np.array([1.0, 2.0]))
    np.float64(3.0)
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        if not isinstance(reduction, str) or reduction not in _REDUCTIONS:
            raise ArgumentError(f"reduction must be one of {', '.join(map(repr, _REDUCTIONS))}, got {reduction!r}.")
        self.reduction = reduction

    def get_loss(self, x: Any, weights: Any = None) -> Any:
        """``weights · x``, reduced."""
        weighed = x if weights is None else np.multiply(weights, x)
        if self.reduction == "mean":
            return np.mean(weighed)
        return np.sum(weighed) if self.reduction == "sum" else weighed

    def _same_shape(self, logits: Any, labels: Any) -> None:
        if np.shape(logits) != np.shape(labels):
            raise ShapeError(
                f"{type(self).__name__}: predictions have shape {np.shape(logits)} and targets {np.shape(labels)}; "
                "they must be the same."
            )

    def extend_repr(self) -> str:
        return "" if self.reduction == "mean" else f"reduction={self.reduction!r}"


class MSELoss(LossBase):
    """The mean of ``(x - y)²``, with broadcasting.

    >>> MSELoss()(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    np.float64(2.0)
    """

    def construct(self, logits, labels):
        return self.get_loss(np.square(np.subtract(logits, labels)))


class L1Loss(LossBase):
    """The mean of ``|x - y|``, with broadcasting; slope 0 where they are equal.

    >>> L1Loss("sum")(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    np.float64(2.0)
    """

    def construct(self, logits, labels):
        return self.get_loss(np.abs(np.subtract(logits, labels)))


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
        distance = np.subtract(logits, labels)
        size = np.abs(distance)
        near = np.multiply(0.5 / self.beta, np.square(distance))
        return self.get_loss(np.where(np.less(size, self.beta), near, np.subtract(size, 0.5 * self.beta)))


class BCELoss(LossBase):
    """Binary cross entropy of probabilities: ``-(y·log x + (1 - y)·log(1 - x))``, finite at x = 0 and 1.

    ``weight`` multiplies the elements. Shapes that differ are a ShapeError.

    >>> bool(np.isfinite(BCELoss()(np.array([0.0, 1.0]), np.array([1.0, 0.0]))))
    True
    """

    def __init__(self, weight: Any = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, logits, labels):
        self._same_shape(logits, labels)
        hit = np.multiply(labels, np.log(np.add(logits, _EPS)))
        miss = np.multiply(np.subtract(1, labels), np.log(np.add(np.subtract(1, logits), _EPS)))
        return self.get_loss(np.negative(np.add(hit, miss)), self.weight)


class BCEWithLogitsLoss(LossBase):
    """Binary cross entropy of logits: ``pos_weight·y·log(1 + e⁻ˣ) + (1 - y)·log(1 + eˣ)``, which never overflows.

    ``weight`` multiplies the elements. Shapes that differ are a ShapeError.

    >>> BCEWithLogitsLoss()(np.array([-1000.0, 1000.0]), np.array([0.0, 0.0]))
    np.float64(500.0)
    """

    def __init__(self, reduction: str = "mean", weight: Any = None, pos_weight: Any = None) -> None:
        super().__init__(reduction)
        self.weight = weight
        self.pos_weight = pos_weight

    def construct(self, logits, labels):
        self._same_shape(logits, labels)
        positive = labels if self.pos_weight is None else np.multiply(self.pos_weight, labels)
        hit = np.multiply(positive, ops.softplus(np.negative(logits)))
        return self.get_loss(np.add(hit, np.multiply(np.subtract(1, labels), ops.softplus(logits))), self.weight)


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
        targets = labels
        if self.sparse:
            _check_classes(self, logits, labels)
            targets = ops.one_hot(labels, logits.shape[-1], 1.0, 0.0).astype(logits.dtype)
        self._same_shape(logits, targets)
        return self.get_loss(np.negative(np.sum(np.multiply(targets, ops.log_softmax(logits)), axis=-1)))


class CrossEntropyLoss(LossBase):
    """Cross entropy of logits ``(n, classes)`` and labels: class numbers ``(n,)`` or probabilities ``(n, classes)``.

    ``weight`` is one number a class; with class numbers the mean is weighed by it, and rows whose label is
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
        classes = logits.shape[-1]
        by_number = labels.dtype.kind in "iu"
        targets, share = labels, 1.0
        if by_number:
            _check_classes(self, logits, labels)
            targets = ops.one_hot(labels, classes, 1.0, 0.0).astype(logits.dtype)
            counted = np.not_equal(labels, self.ignore_index).astype(logits.dtype)
            share = counted if self.weight is None else np.multiply(counted, np.sum(targets * self.weight, axis=-1))
        self._same_shape(logits, targets)
        if self.label_smoothing:
            targets = targets * (1 - self.label_smoothing) + self.label_smoothing / classes
        if by_number:
            targets = np.multiply(targets, np.expand_dims(counted, -1))
        if self.weight is not None:
            targets = np.multiply(targets, self.weight)
        rows = np.negative(np.sum(np.multiply(targets, ops.log_softmax(logits)), axis=-1))
        if self.reduction == "mean" and by_number:
            return np.divide(np.sum(rows), np.sum(share))
        return self.get_loss(rows)


def _check_classes(loss: Cell, logits: Any, labels: Any) -> None:
    if np.shape(labels) != np.shape(logits)[:-1]:
        raise ShapeError(
            f"{type(loss).__name__}: class numbers have shape {np.shape(labels)} and logits {np.shape(logits)}; they "
            "must have the shape of the logits without its last axis."
        )
