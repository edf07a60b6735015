"""Losses as functions, as MindSpore has them; ``reduction`` is "mean", "sum" or "none"."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError, mistakes
from .activations import LogSoftmax, Softplus
from .arrays import OneHot

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cross_entropy",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
]

REDUCTIONS = ("mean", "sum", "none")
#: what a probability is moved by before its logarithm is taken
_EPS = 1e-12


def reduced(x: Any, reduction: str) -> Any:
    """The mean or sum of ``x``, or ``x`` itself; another reduction is an ArgumentError.

    >>> reduced(np.array([1.0, 3.0]), "mean")
    np.float64(2.0)
    """
    if not isinstance(reduction, str) or reduction not in REDUCTIONS:
        raise ArgumentError.here(f"reduction must be one of {', '.join(map(repr, REDUCTIONS))}, got {reduction!r}.")
    return np.mean(x) if reduction == "mean" else np.sum(x) if reduction == "sum" else x


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """``-Σ target · log softmax(input)`` over classes, which stand on axis 1, or 0 where there is no other.

    ``target`` holds class numbers, and has the shape of ``input`` without classes, or probabilities of its shape.
    ``weight`` is one number a class; with class numbers the mean is weighed by it, and what is labelled
    ``ignore_index`` counts for nothing. ``label_smoothing`` moves that share of every target to all classes evenly. A
    target of another shape is a ShapeError, a smoothing outside [0, 1] an ArgumentError.

    >>> cross_entropy(np.array([[0.0, 0.0]]), np.array([1]))
    np.float64(0.6931471805599453)
    """
    with mistakes("cross_entropy"):
        logs = LogSoftmax(_class_axis("cross_entropy", input))(input)
        return _of_logs("cross_entropy", logs, target, weight, ignore_index, reduction, label_smoothing)


def nll_loss(
    inputs: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """``cross_entropy`` of logarithms of probabilities, with class numbers.

    >>> nll_loss(np.log([[0.25, 0.75]]), np.array([0])) == -np.log(0.25)
    np.True_
    """
    with mistakes("nll_loss"):
        if target.dtype.kind not in "iu":
            raise ArgumentError.here(f"nll_loss takes class numbers, got an array of {target.dtype}.")
        return _of_logs("nll_loss", inputs, target, weight, ignore_index, reduction, label_smoothing)


def _class_axis(caller: str, logits: Any) -> int:
    if np.ndim(logits) < 1:
        raise ShapeError.here(f"{caller} takes logits of shape (n, classes, …) or (classes,), got a number.")
    return 0 if np.ndim(logits) == 1 else 1


def _of_logs(
    caller: str, logs: Any, target: Any, weight: Any, ignore_index: int, reduction: str, smoothing: float
) -> Any:
    """The cross entropy of logarithms of probabilities."""
    if not 0 <= smoothing <= 1:
        raise ArgumentError.here(f"{caller}: label_smoothing must be from 0 to 1, got {smoothing!r}.")
    axis = _class_axis(caller, logs)
    classes, shape = np.shape(logs)[axis], np.shape(logs)
    by_number = target.dtype.kind in "iu" and np.shape(target) != shape
    if np.shape(target) != (shape[:axis] + shape[axis + 1 :] if by_number else shape):
        what = "class numbers have" if by_number else "targets have"
        raise ShapeError.here(
            f"{caller}: {what} shape {np.shape(target)} and logits {shape}; they must have the shape of the "
            "logits, class numbers that without the classes."
        )
    each = np.reshape(weight, (-1, *[1] * (len(shape) - 1 - axis))) if weight is not None else 1.0
    targets = target
    share: Any = None
    if by_number:
        counted = np.not_equal(target, ignore_index).astype(logs.dtype)
        targets = OneHot(axis)(target, classes, 1.0, 0.0).astype(logs.dtype)
        share = counted if weight is None else np.multiply(counted, np.sum(np.multiply(targets, each), axis=axis))
    if smoothing:
        targets = targets * (1 - smoothing) + smoothing / classes
    if by_number:
        targets = np.multiply(targets, np.expand_dims(counted, axis))
    if weight is not None:
        targets = np.multiply(targets, each)
    losses = np.negative(np.sum(np.multiply(targets, logs), axis=axis))
    if reduction == "mean" and by_number:
        return np.divide(np.sum(losses), np.sum(share))
    return reduced(losses, reduction)


def binary_cross_entropy(logits: Any, labels: Any, weight: Any = None, reduction: str = "mean") -> Any:
    """``-(y·log x + (1 - y)·log(1 - x))`` of probabilities, finite at x = 0 and 1; ``weight`` multiplies the elements.

    >>> bool(np.isfinite(binary_cross_entropy(np.array([0.0, 1.0]), np.array([1.0, 0.0]))))
    True
    """
    with mistakes("binary_cross_entropy"):
        _same_shape("binary_cross_entropy", logits, labels)
        hit = np.multiply(labels, np.log(np.add(logits, _EPS)))
        miss = np.multiply(np.subtract(1, labels), np.log(np.add(np.subtract(1, logits), _EPS)))
        return _weighed(np.negative(np.add(hit, miss)), weight, reduction)


def binary_cross_entropy_with_logits(
    logits: Any, label: Any, weight: Any = None, pos_weight: Any = None, reduction: str = "mean"
) -> Any:
    """``pos_weight·y·log(1 + e⁻ˣ) + (1 - y)·log(1 + eˣ)``, which never overflows; ``weight`` multiplies the elements.

    >>> binary_cross_entropy_with_logits(np.array([-1000.0, 1000.0]), np.array([0.0, 0.0]))
    np.float64(500.0)
    """
    with mistakes("binary_cross_entropy_with_logits"):
        _same_shape("binary_cross_entropy_with_logits", logits, label)
        positive = label if pos_weight is None else np.multiply(pos_weight, label)
        hit = np.multiply(positive, Softplus()(np.negative(logits)))
        return _weighed(np.add(hit, np.multiply(np.subtract(1, label), Softplus()(logits))), weight, reduction)


def _weighed(x: Any, weight: Any, reduction: str) -> Any:
    return reduced(x if weight is None else np.multiply(weight, x), reduction)


def _same_shape(caller: str, x: Any, y: Any) -> None:
    if np.shape(x) != np.shape(y):
        raise ShapeError.here(
            f"{caller}: predictions have shape {np.shape(x)} and targets {np.shape(y)}; make them the same."
        )


def kl_div(logits: Any, labels: Any, reduction: str = "mean") -> Any:
    """``y·(log y - x)`` of logarithms of probabilities x and probabilities y, 0 where y is 0.

    ``reduction="batchmean"`` is the sum divided by the length of the first axis.

    >>> kl_div(np.log([0.5, 0.5]), np.array([0.0, 1.0]), "sum") == np.log(2)
    np.True_
    """
    with mistakes("kl_div"):
        holds = np.greater(labels, 0)
        entropy = np.multiply(labels, np.log(np.where(holds, labels, 1)))
        losses = np.subtract(entropy, np.multiply(labels, logits))
        if reduction == "batchmean":
            return np.divide(np.sum(losses), np.shape(logits)[0])
        return reduced(losses, reduction)


def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """The mean of ``(x - y)²``, with broadcasting.

    >>> mse_loss(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    np.float64(2.0)
    """
    with mistakes("mse_loss"):
        return reduced(np.square(np.subtract(input, target)), reduction)


def l1_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """The mean of ``|x - y|``, with broadcasting; slope 0 where they are equal.

    >>> l1_loss(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    np.float64(1.0)
    """
    with mistakes("l1_loss"):
        return reduced(np.abs(np.subtract(input, target)), reduction)


def smooth_l1_loss(input: Any, target: Any, beta: float = 1.0, reduction: str = "none") -> Any:
    """``d²/(2·beta)`` where ``|d| < beta`` and ``|d| - beta/2`` elsewhere, d = x - y; not reduced by default.

    A ``beta`` that is not positive is an ArgumentError.

    >>> smooth_l1_loss(np.array([0.5, 3.0]), np.array([0.0, 0.0]))
    array([0.125, 2.5  ])
    """
    with mistakes("smooth_l1_loss"):
        if not isinstance(beta, (int, float, np.number)) or not beta > 0:
            raise ArgumentError.here(f"smooth_l1_loss: beta must be positive, got {beta!r}.")
        distance = np.subtract(input, target)
        size = np.abs(distance)
        near = np.multiply(0.5 / beta, np.square(distance))
        return reduced(np.where(np.less(size, beta), near, np.subtract(size, 0.5 * beta)), reduction)


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    """``delta`` times ``smooth_l1_loss``: ``d²/2`` near 0 and ``delta·(|d| - delta/2)`` farther away.

    >>> huber_loss(np.array([0.5, 3.0]), np.array([0.0, 0.0]), "none", 2.0)
    array([0.125, 4.   ])
    """
    with mistakes("huber_loss"):
        return reduced(np.multiply(delta, smooth_l1_loss(input, target, delta)), reduction)


def hinge_embedding_loss(inputs: Any, targets: Any, margin: float = 1.0, reduction: str = "mean") -> Any:
    """``x`` where the target is 1 and ``max(0, margin - x)`` where it is -1.

    >>> hinge_embedding_loss(np.array([0.25, 0.25]), np.array([1, -1]), reduction="none")
    array([0.25, 0.75])
    """
    with mistakes("hinge_embedding_loss"):
        return reduced(np.where(np.equal(targets, 1), inputs, _positive(np.subtract(margin, inputs))), reduction)


def _positive(x: Any) -> Any:
    return np.where(np.greater(x, 0), x, 0)


def cosine_embedding_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean") -> Any:
    """``1 - cos`` of the angle between vectors where the target is 1, ``max(0, cos - margin)`` elsewhere.

    Vectors lie along axis 1, or 0 where there is no other.

    >>> cosine_embedding_loss(np.array([[1.0, 0.0]]), np.array([[0.0, 2.0]]), np.array([1]))
    np.float64(1.0)
    """
    with mistakes("cosine_embedding_loss"):
        axis = np.ndim(input1) - 1 if np.ndim(input1) < 2 else 1
        product = np.sum(np.multiply(input1, input2), axis=axis)
        squares = [np.add(np.sum(np.square(x), axis=axis), _EPS) for x in (input1, input2)]
        cosine = np.divide(product, np.sqrt(np.multiply(*squares)))
        away = _positive(np.subtract(cosine, margin))
        return reduced(np.where(np.equal(target, 1), np.subtract(1, cosine), away), reduction)


def margin_ranking_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean") -> Any:
    """``max(0, -y·(a - b) + margin)``: y is 1 where a should be ranked before b, and -1 where behind.

    >>> margin_ranking_loss(np.array([1.0]), np.array([3.0]), np.array([1.0]))
    np.float64(2.0)
    """
    with mistakes("margin_ranking_loss"):
        lack = np.add(np.multiply(np.negative(target), np.subtract(input1, input2)), margin)
        return reduced(_positive(lack), reduction)


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-06,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """``max(0, ‖a - p‖ - ‖a - n‖ + margin)``, the norms of order ``p`` along the last axis.

    ``swap`` takes the smaller one of ``‖a - n‖`` and ``‖p - n‖``.

    >>> triplet_margin_loss(np.zeros((1, 1)), np.ones((1, 1)), np.ones((1, 1))).round(6)
    np.float64(1.0)
    """
    with mistakes("triplet_margin_loss"):
        own, other = _distance(anchor, positive, p, eps), _distance(anchor, negative, p, eps)
        if swap:
            other = np.minimum(other, _distance(positive, negative, p, eps))
        return reduced(_positive(np.add(np.subtract(own, other), margin)), reduction)


def _distance(x: Any, y: Any, p: float, eps: float) -> Any:
    apart = np.abs(np.add(np.subtract(x, y), eps))
    return np.power(np.sum(np.power(apart, p), axis=-1), 1 / p)


def soft_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """``log(1 + e^(-y·x))``, y being 1 or -1.

    >>> soft_margin_loss(np.array([0.0]), np.array([1.0])) == np.log(2)
    np.True_
    """
    with mistakes("soft_margin_loss"):
        return reduced(Softplus()(np.negative(np.multiply(target, input))), reduction)


def gaussian_nll_loss(
    x: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    """``(log v + (x - y)²/v) / 2``, v the variance, at least ``eps``; ``full`` adds ``log(2π)/2``.

    >>> gaussian_nll_loss(np.array([1.0]), np.array([3.0]), np.array([1.0]))
    np.float64(2.0)
    """
    with mistakes("gaussian_nll_loss"):
        spread = np.where(np.greater(var, eps), var, eps)
        losses = np.multiply(0.5, np.add(np.log(spread), np.divide(np.square(np.subtract(x, target)), spread)))
        return reduced(np.add(losses, 0.5 * math.log(2 * math.pi)) if full else losses, reduction)
