"""Activation operators, written so that neither value nor derivative overflows to NaN."""

from __future__ import annotations

import math

import numpy as np

from ..transforms.products import stop_gradient
from .operator import operator


@operator
def ReLU(x):
    """``max(x, 0)``, with slope 0 at 0.

    >>> ReLU()(np.array([-1.0, 2.0]))
    array([0., 2.])
    """
    return np.where(np.less_equal(x, 0), 0, x)  # unlike maximum, whose tie at 0 shares the slope


@operator
def LeakyReLU(x, *, alpha=0.2):
    """``x`` above 0 and ``alpha·x`` up to it.

    >>> LeakyReLU(0.5)(np.array([-1.0, 2.0]))
    array([-0.5,  2. ])
    """
    return np.where(np.less_equal(x, 0), np.multiply(alpha, x), x)


@operator
def Elu(x, *, alpha=1.0):
    """``x`` above 0 and ``alpha·(eˣ - 1)`` up to it.

    >>> Elu()(np.array([0.0, 2.0]))
    array([0., 2.])
    """
    below = np.expm1(np.where(np.greater(x, 0), 0, x))
    return np.where(np.greater(x, 0), x, np.multiply(alpha, below))


@operator
def Sigmoid(x):
    """``1/(1 + e⁻ˣ)``.

    >>> Sigmoid()(np.array([-1000.0, 0.0, 1000.0]))
    array([0. , 0.5, 1. ])
    """
    with np.errstate(over="ignore"):  # 1/inf is the value there
        return np.divide(1, np.add(1, np.exp(np.negative(x))))


@operator
def Softplus(x):
    """``log(1 + eˣ)``.

    >>> Softplus()(np.array([-1000.0, 1000.0]))
    array([   0., 1000.])
    """
    return np.logaddexp(x, 0)


@operator
def GeLU(x):
    """``x·Φ(x)``, Φ the normal distribution in its tanh approximation.

    >>> GeLU()(np.array([0.0, 10.0]))
    array([ 0., 10.])
    """
    inner = np.multiply(math.sqrt(2 / math.pi), np.add(x, np.multiply(0.044715, np.power(x, 3))))
    return np.multiply(np.multiply(0.5, x), np.add(1, np.tanh(inner)))


def _shifted(x, axis):
    return np.subtract(x, stop_gradient(np.max(x, axis=axis, keepdims=True)))


@operator
def Softmax(x, *, axis=-1):
    """``eˣ`` divided by its sum over ``axis``.

    >>> Softmax()(np.array([1000.0, 1000.0]))
    array([0.5, 0.5])
    """
    powers = np.exp(_shifted(x, axis))
    return np.divide(powers, np.sum(powers, axis=axis, keepdims=True))


@operator
def LogSoftmax(x, *, axis=-1):
    """The logarithm of ``Softmax``.

    >>> LogSoftmax()(np.array([0.0, 1000.0]))
    array([-1000.,     0.])
    """
    shifted = _shifted(x, axis)
    return np.subtract(shifted, np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True)))
