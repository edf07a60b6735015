"""The networks and functions that the panel's tests play with."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad import nn, ops


class Product(nn.Cell):
    """``(x · z) @ y`` with one parameter, the network of MindSpore's tutorial on GradOperation."""

    def __init__(self):
        super().__init__()
        self.matmul = ops.MatMul()
        self.z = sg.Parameter(sg.Tensor(np.array([1.0], np.float32)), name="z")

    def construct(self, x, y):
        x = x * self.z
        out = self.matmul(x, y)
        return out


class Regression(nn.Cell):
    """A loss and its logits, the network of MindSpore's tutorial on grad."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 1, has_bias=False)
        self.loss = nn.MSELoss()

    def construct(self, x, y):
        logits = self.fc(x).squeeze()
        loss = self.loss(logits, y)
        return loss, logits


@pytest.fixture
def product():
    x = sg.Tensor([[0.5, 0.6, 0.4], [1.2, 1.3, 1.1]], dtype=sg.float32)
    y = sg.Tensor([[0.01, 0.3, 1.1], [0.1, 0.2, 1.3], [2.1, 1.2, 3.3]], dtype=sg.float32)
    return Product(), x, y


@pytest.fixture
def regression():
    net = Regression()
    net.fc.weight.set_data(sg.Tensor([[2, 3, 4]], sg.float32))
    return net, sg.Tensor([[1, 2, 3]], sg.float32), sg.Tensor(19, sg.float32)


def held(x, y):
    h = np.sin(x)
    return x * h * y


def execute(code, **namespace):
    """The value of the last line of ``code``, run with sg and these names alone."""
    *lines, last = code.splitlines()
    scope = {"sg": sg, **namespace}
    exec("\n".join(lines), scope)
    return eval(last, scope)


def same(a, b):
    """True for results of one structure and the same numbers."""
    if isinstance(a, dict):
        return type(b) is dict and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return np.array_equal(a, b, equal_nan=not isinstance(a, str))


@pytest.fixture(autouse=True)
def _no_notebook(monkeypatch, request):
    """Without variables of a notebook, unless the test has one: the shell of other tests is still there."""
    if "run" not in request.fixturenames:
        monkeypatch.setattr("symgrad_notebook.panel._namespace", lambda: None)
