"""Functions that other processes import: what ``test_pickling`` sends them derivatives of."""

from __future__ import annotations

import numpy as np

import symgrad as sg


@sg.custom(vjp=lambda primals, ct, out: ct / (2 * out))
def rooted(x):
    return np.array([float(v) ** 0.5 for v in x])


def of_rooted(x):
    return np.sum(rooted(x) * x)


def plain(x):
    return np.sum(np.sin(x) * x)


def product(x, y):
    return np.sum(np.sin(x) * y)


def pair(x):
    return x**2, np.sum(x)


def annotated(x: sg.Array["n"]):  # noqa: F821, UP037
    return np.sum(x**2)


def local(x):
    square = x * x
    return np.sum(square * x)


@sg.grad
def decorated(x):
    return np.sum(x**3)


@sg.grad
@sg.grad
def decorated_twice(x):
    return x**3


def renamed(x):
    return np.sum(np.exp(x))


renamed = sg.named(renamed, x="n")


class Net(sg.nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = sg.nn.Dense(2, 1)

    def construct(self, x):
        return np.sum(self.dense(x) ** 2)


class Model:
    """A model that holds its own gradient."""

    def __init__(self, scale):
        self.scale = scale
        self.slope = sg.grad(self.loss)

    def loss(self, x):
        return np.sum(x**2) * self.scale
