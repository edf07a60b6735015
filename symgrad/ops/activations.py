"""Activation operators, written so that neither value nor derivative overflows to NaN."""

from __future__ import annotations

import math

import numpy as np

from ..errors import ArgumentError
from ..transforms.products import stop_gradient
from .operator import operator

__all__ = [
    "GLU",
    "CeLU",
    "Elu",
    "GeLU",
    "HShrink",
    "HSigmoid",
    "HSwish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "ReLU",
    "ReLU6",
    "SeLU",
    "SiLU",
    "Sigmoid",
    "SoftShrink",
    "Softmax",
    "Softmin",
    "Softplus",
    "Softsign",
    "Tanhshrink",
    "Threshold",
]


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


def _erf(x):
    from scipy.special import erf  # scipy is needed by what calls it alone

    return erf(x)


@operator
def SeLU(x):
    """``λ·x`` above 0 and ``λ·α·(eˣ - 1)`` up to it, with the λ and α that keep mean 0 and variance 1.

    Source: Klambauer et al., Self-normalizing neural networks (2017).

    >>> SeLU()(np.array([0.0, 1.0])).round(4)
    array([0.    , 1.0507])
    """
    return np.multiply(1.0507009873554805, Elu(1.6732632423543772)(x))


@operator
def CeLU(x, *, alpha=1.0):
    """``max(0, x) + min(0, α·(e^(x/α) - 1))``.

    >>> CeLU(2.0)(np.array([0.0, 2.0]))
    array([0., 2.])
    """
    return np.multiply(alpha, Elu()(np.divide(x, alpha)))


@operator
def SiLU(x):
    """``x / (1 + e⁻ˣ)``, which is called swish too.

    >>> SiLU()(np.array([0.0, 100.0]))
    array([  0., 100.])
    """
    return np.multiply(x, Sigmoid()(x))


@operator
def Mish(x):
    """``x · tanh(log(1 + eˣ))``.

    >>> Mish()(np.array([0.0, 100.0]))
    array([  0., 100.])
    """
    return np.multiply(x, np.tanh(Softplus()(x)))


@operator
def Softsign(x):
    """``x / (1 + |x|)``.

    >>> Softsign()(np.array([-1.0, 3.0]))
    array([-0.5 ,  0.75])
    """
    return np.divide(x, np.add(1, np.abs(x)))


@operator
def LogSigmoid(x):
    """``-log(1 + e⁻ˣ)``.

    >>> LogSigmoid()(np.array([-1000.0, 1000.0]))
    array([-1000.,    -0.])
    """
    return np.negative(Softplus()(np.negative(x)))


@operator
def HSigmoid(x):
    """``max(0, min(1, (x + 3) / 6))``, with slope 0 where it bends.

    >>> HSigmoid()(np.array([-4.0, 0.0, 4.0]))
    array([0. , 0.5, 1. ])
    """
    return np.divide(ReLU6()(np.add(x, 3)), 6)


@operator
def HSwish(x):
    """``x · hardsigmoid(x)``.

    >>> HSwish()(np.array([-4.0, 3.0]))
    array([-0.,  3.])
    """
    return np.multiply(x, HSigmoid()(x))


@operator
def ReLU6(x):
    """``min(max(x, 0), 6)``, with slope 0 where it bends.

    >>> ReLU6()(np.array([-1.0, 5.0, 7.0]))
    array([0., 5., 6.])
    """
    return np.where(np.less_equal(x, 0), 0, np.where(np.greater_equal(x, 6), 6, x))


@operator
def Hardtanh(x, *, min_val=-1.0, max_val=1.0):
    """``x`` moved into ``[min_val, max_val]``, with slope 0 where it bends.

    >>> Hardtanh()(np.array([-2.0, 0.5]))
    array([-1. ,  0.5])
    """
    return np.where(np.less_equal(x, min_val), min_val, np.where(np.greater_equal(x, max_val), max_val, x))


@operator
def HShrink(x, *, lambd=0.5):
    """``x`` where ``|x| > lambd`` and 0 elsewhere.

    >>> HShrink()(np.array([-0.4, 0.6]))
    array([0. , 0.6])
    """
    return np.where(np.greater(np.abs(x), lambd), x, 0)


@operator
def SoftShrink(x, *, lambd=0.5):
    """``x`` moved by ``lambd`` towards 0, and 0 where that is as far or farther.

    >>> SoftShrink()(np.array([-1.0, 0.4]))
    array([-0.5,  0. ])
    """
    return np.where(np.greater(np.abs(x), lambd), np.subtract(x, np.multiply(lambd, np.sign(x))), 0)


@operator
def Tanhshrink(x):
    """``x - tanh x``.

    >>> Tanhshrink()(np.array([0.0]))
    array([0.])
    """
    return np.subtract(x, np.tanh(x))


@operator
def Threshold(x, thr, value):
    """``x`` where it is above ``thr`` and ``value`` elsewhere.

    >>> Threshold()(np.array([0.5, 2.0]), 1.0, -1.0)
    array([-1.,  2.])
    """
    return np.where(np.greater(x, thr), x, value)


@operator
def PReLU(x, weight):
    """``x`` above 0 and ``weight·x`` up to it; ``weight`` is one number, or one for each channel (axis 1).

    >>> PReLU()(np.array([[-1.0, 2.0]]), np.array([0.5, 0.5]))
    array([[-0.5,  2. ]])
    """
    own = weight if np.size(weight) == 1 else np.reshape(weight, (-1, *[1] * (np.ndim(x) - 2)))
    return np.where(np.less_equal(x, 0), np.multiply(own, x), x)


@operator
def GLU(x, *, axis=-1):
    """The first half along ``axis`` times the sigmoid of the second.

    >>> GLU()(np.array([2.0, 0.0]))
    array([1.])
    """
    first, gate = np.split(x, 2, axis=axis)
    return np.multiply(first, Sigmoid()(gate))


@operator
def Softmin(x, *, axis=-1):
    """``Softmax`` of ``-x``.

    >>> Softmin()(np.array([1000.0, 1000.0]))
    array([0.5, 0.5])
    """
    return Softmax(axis)(np.negative(x))


def gelu(input, approximate="none"):
    """``x·Φ(x)``, Φ the normal distribution, or its ``"tanh"`` approximation; another name is an ArgumentError.

    Source: Hendrycks and Gimpel, Gaussian error linear units (2016). The exact one takes scipy's ``erf``.

    >>> gelu(np.array([0.0, 10.0]), approximate="tanh")
    array([ 0., 10.])
    """
    if approximate not in ("none", "tanh"):
        raise ArgumentError(f"gelu: approximate is 'none' or 'tanh', got {approximate!r}.")
    if approximate == "tanh":
        return GeLU()(input)
    return np.multiply(np.multiply(0.5, input), np.add(1, _erf(np.multiply(math.sqrt(0.5), input))))
