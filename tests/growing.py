"""Functions of as many operations as are asked for, each growing in its own way."""

from __future__ import annotations

import numpy as np


def chain(depth):
    def fn(x):
        for _ in range(depth):
            x = np.sin(x) * 1.01 + x
        return np.sum(x)

    return fn


def doubling(depth):
    """Sharing that a tree would write out 2**depth times."""

    def fn(x):
        for _ in range(depth):
            x = x * x + x
        return np.sum(x)

    return fn


def recurrent(depth):
    def fn(x):
        a, b = x[0], x[1]
        for k in range(depth):
            a, b = np.tanh(a * b + x[k % 3]), a
        return a * b

    return fn


def written(depth):
    def fn(x):
        y = x * 1.0
        for k in range(depth):
            y[k % 3] = y[(k + 1) % 3] * 0.5 + y[(k + 2) % 3]
        return np.sum(y)

    return fn
