"""Gradients and Jacobians that are timed: one NumPy-style function each, with formulas by hand for some.

A function names its array namespace ``xp``, so that one text runs under NumPy (symgrad, finite differences),
jax.numpy, autograd.numpy and the adapters of ``peers``. ``by_hand`` is what somebody with pencil, paper and NumPy
would write for the derivative: shared terms once, temporaries reused.
"""

from __future__ import annotations

import numpy as np
from structure import Workload, random

# a wave of two arrays


def wave(xp, x, y):
    return xp.sum(xp.exp(-x * y) * xp.sin(x) + xp.log(1 + x * x) * xp.tanh(y))


def wave_args(n=1_000_000):
    r = random()
    return r.uniform(0.1, 3, n), r.uniform(0.1, 3, n)


def wave_by_hand(x, y):
    decay = x * y
    np.negative(decay, decay)
    np.exp(decay, decay)
    damped = decay * np.sin(x)
    t = np.tanh(y)
    square = x * x
    square += 1
    log = np.log(square)
    value = np.sum(damped) + log @ t
    decay *= np.cos(x)  # by x: decay·cos x − y·damped + 2 x t / square
    by_x = np.divide(x, square, out=square)
    by_x *= 2
    by_x *= t
    by_x += decay
    np.multiply(y, damped, decay)
    by_x -= decay
    t *= t  # by y: log·(1 − t²) − x·damped
    np.subtract(1, t, t)
    t *= log
    damped *= x
    t -= damped
    return value, (by_x, t)


# Black and Scholes, with a tanh in place of the normal distribution

_RATE, _SLOPE, _CUBE = 0.03, 0.7978845608, 0.044715


def blackscholes(xp, S, K, T, sigma):
    d1 = (xp.log(S / K) + (_RATE + 0.5 * sigma**2) * T) / (sigma * xp.sqrt(T))
    d2 = d1 - sigma * xp.sqrt(T)
    cdf = lambda z: 0.5 * (1.0 + xp.tanh(_SLOPE * (z + _CUBE * z**3)))  # noqa: E731
    return xp.sum(S * cdf(d1) - K * xp.exp(-_RATE * T) * cdf(d2))


def blackscholes_args(n=1_000_000):
    r = random()
    return r.uniform(50, 150, n), r.uniform(50, 150, n), r.uniform(0.1, 2, n), r.uniform(0.1, 0.6, n)


def blackscholes_by_hand(S, K, T, sigma):
    """``d1 = m + v/2`` and ``d2 = d1 − v``, where ``v = σ√T`` and ``m = (log(S/K) + rT)/v``."""
    root = np.sqrt(T)
    v = sigma * root
    m = S / K
    np.log(m, m)
    rate = _RATE * T
    m += rate
    m /= v
    d = 0.5 * v
    d += m
    cdf1, by_d1 = _distribution(d)
    d -= v
    cdf2, by_d2 = _distribution(d)
    discounted = np.exp(np.negative(rate, rate), rate)
    discounted *= K
    value = S @ cdf1 - discounted @ cdf2
    by_d2 *= discounted
    by_d1 *= S
    by_d1 -= by_d2
    by_v = np.divide(m, v, m)  # (1/2 − m/v)·by_d1 + by_d2
    np.subtract(0.5, by_v, by_v)
    by_v *= by_d1
    by_v += by_d2
    by_d1 /= v
    by_S = np.divide(by_d1, S, d)
    by_S += cdf1
    discounted *= cdf2
    discounted += by_d1
    discounted *= _RATE
    v /= T
    v *= 0.5
    v *= by_v
    v += discounted
    root *= by_v
    return value, (by_S, v, root)


def _distribution(z):
    """``½(1 + tanh(a(z + b z³)))`` and its slope."""
    t = z * z
    slope = (3 * _CUBE) * t
    slope += 1
    t *= _CUBE
    t += 1
    t *= z
    t *= _SLOPE
    np.tanh(t, t)
    rest = t * t
    np.subtract(1, rest, rest)
    slope *= rest
    slope *= 0.5 * _SLOPE
    t += 1
    t *= 0.5
    return t, slope


# a classifier of three layers, in float32


def mlp(xp, W1, b1, W2, b2, W3, b3, X, Y):
    h = xp.tanh(X @ W1 + b1)
    h = xp.tanh(h @ W2 + b2)
    z = h @ W3 + b3
    z = z - xp.max(z, axis=1, keepdims=True)
    logp = z - xp.log(xp.sum(xp.exp(z), axis=1, keepdims=True))
    return -xp.mean(xp.sum(Y * logp, axis=1))


def mlp_args(batch=256, d=784, h=256, k=10, dtype=np.float32):
    r = random()

    def weights(*shape):
        return (r.normal(size=shape) / np.sqrt(shape[0])).astype(dtype)

    layers = weights(d, h), weights(h), weights(h, h), weights(h), weights(h, k), weights(k)
    return *layers, r.normal(size=(batch, d)).astype(dtype), np.eye(k, dtype=dtype)[r.integers(0, k, batch)]


# ADBench's Gaussian mixture (https://github.com/microsoft/ADBench)


def gmm(xp, alphas, means, qs, ls, x, gamma, m):
    """The log-likelihood of a Gaussian mixture with a Wishart prior, without its constants."""
    n, d = x.shape
    k = alphas.shape[0]
    tril = np.tril_indices(d, -1)
    order = np.lexsort((tril[0], tril[1]))
    flat = np.full((d, d), ls.shape[1])
    flat[tril[0][order], tril[1][order]] = np.arange(ls.shape[1])
    padded = xp.concatenate([ls, np.zeros((k, 1))], axis=1)
    L = padded[:, flat.ravel()].reshape(k, d, d)
    Q = xp.exp(qs)
    sum_qs = xp.sum(qs, axis=1)
    xc = x[:, None, :] - means[None, :, :]
    Lxc = Q[None] * xc + xp.einsum("kij,nkj->nki", L, xc)
    inner = alphas[None] + sum_qs[None] - 0.5 * xp.sum(Lxc**2, axis=2)
    wishart = 0.5 * gamma**2 * (xp.sum(Q**2) + xp.sum(ls**2)) - m * xp.sum(sum_qs)
    return xp.sum(_log_sum_exp(xp, inner, 1)) - n * _log_sum_exp(xp, alphas, 0) + wishart


def _log_sum_exp(xp, a, axis):
    return xp.log(xp.sum(xp.exp(a - xp.max(a, axis=axis, keepdims=True)), axis=axis)) + xp.max(a, axis=axis)


def gmm_args(n=1000, d=10, k=25):
    r = random()
    parameters = r.normal(size=k), r.normal(size=(k, d)), r.normal(size=(k, d)), r.normal(size=(k, d * (d - 1) // 2))
    return *parameters, r.normal(size=(n, d)), 1.0, 0.0


# Rosenbrock's valley


def rosenbrock(xp, x):
    return xp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_args(n=100_000):
    return (random().normal(size=n),)


def rosenbrock_by_hand(x):
    before = x[:-1]
    apart = before * before
    np.subtract(x[1:], apart, apart)
    rest = 1 - before
    value = 100.0 * (apart @ apart) + rest @ rest
    gradient = np.empty_like(x)
    gradient[0] = 0.0
    np.multiply(apart, 200.0, gradient[1:])
    apart *= 400.0
    apart *= before
    rest *= 2.0
    apart += rest
    gradient[:-1] -= apart
    return value, gradient


# an unrolled recurrent net: many small operations


def rnn(xp, W, U, b, xs):
    h = xp.tanh(xs[0] @ U + b)
    for t in range(1, xs.shape[0]):
        h = xp.tanh(h @ W + xs[t] @ U + b)
    return xp.sum(h**2)


def rnn_args(steps=200, width=32, batch=4):
    r = random()
    weights = r.normal(size=(width, width)) * 0.1, r.normal(size=(width, width)), r.normal(size=width)
    return *weights, r.normal(size=(steps, batch, width))


# a planar arm of links: where its end is and where it points


def arm(xp, q):
    c = xp.cumsum(q)
    return xp.stack([xp.sum(xp.cos(c)), xp.sum(xp.sin(c)), c[-1]])


def arm_args(links=6):
    return (random().normal(size=links),)


def arm_by_hand(q):
    """The sums of ``−sin c`` and ``cos c`` from each joint to the end, and ones."""
    c = q.cumsum()[::-1]
    jacobian = np.ones((3, q.size))
    np.sin(c).cumsum(out=jacobian[0, ::-1])
    np.negative(jacobian[0], jacobian[0])
    np.cos(c).cumsum(out=jacobian[1, ::-1])
    return jacobian


WORKLOADS = {
    "wave": Workload(wave, wave_args, (0, 1), "value_and_grad", {"hand": wave_by_hand}, {"n": 5}),
    "blackscholes": Workload(
        blackscholes, blackscholes_args, (0, 2, 3), "value_and_grad", {"hand": blackscholes_by_hand}, {"n": 5}
    ),
    "mlp": Workload(
        mlp, mlp_args, tuple(range(6)), "value_and_grad", {}, {"batch": 4, "d": 3, "h": 5, "k": 3, "dtype": np.float64}
    ),
    "gmm": Workload(gmm, gmm_args, (0, 1, 2, 3), "value_and_grad", {}, {"n": 4, "d": 3, "k": 2}),
    "rosenbrock": Workload(rosenbrock, rosenbrock_args, (0,), "value_and_grad", {"hand": rosenbrock_by_hand}, {"n": 6}),
    "rnn": Workload(rnn, rnn_args, (0, 1, 2), "value_and_grad", {}, {"steps": 3, "width": 3, "batch": 2}),
    "arm_jac": Workload(arm, arm_args, (0,), "jacobian", {"hand": arm_by_hand}, {"links": 4}),
}
