"""Finite differences at export time: they find a wrong derivative, and say where they cannot be taken."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad import nn
from symgrad.transforms.subjects import subject_of


def residual(derived, *args, **kwargs):
    check = subject_of(derived, args, kwargs, None, "auto", False).check
    assert check is not None
    return check.residual, check.differences


def smooth(x, y):
    return np.sum(np.sin(x) * y**2)


X, Y = np.array([0.3, -0.7, 1.1]), np.array([1.0, 2.0, -0.5])


@pytest.mark.parametrize(
    "derived",
    [
        sg.grad(smooth),
        sg.grad(smooth, (0, 1)),
        sg.value_and_grad(smooth, 1),
        sg.grad(lambda x, y: (smooth(x, y), x + 1), has_aux=True),
        sg.grad(smooth, (1, 0), return_ids=True),
        sg.jacobian(lambda x, y: (x * y, np.cumsum(x)), (0, 1)),
        sg.jacfwd(lambda x, y: x[::-1] * y),
        sg.hessian(smooth, (0, 1)),
        sg.hessian(smooth),
        sg.grad(sg.grad(lambda x, y: np.sum(x**3 * y))),
    ],
)
def test_right_derivatives_have_a_small_residual(derived):
    off, said = residual(derived, X, Y)
    assert off is not None
    assert off < 1e-9
    assert said == f"off by {off:.0e}"


def test_a_gradient_with_sens():
    derived = sg.GradOperation(get_all=True, sens_param=True)(lambda x, y: x * y)
    off, _ = residual(derived, X, Y, np.array([1.0, -2.0, 0.5]))
    assert off is not None
    assert off < 1e-9


def test_weights_of_a_network():
    net = nn.Dense(3, 2)
    off, _ = residual(sg.grad(net, 0, net.trainable_params()), sg.Tensor(np.ones((4, 3), np.float32)))
    assert off is not None
    assert off < 1e-5


def test_a_wrong_rule_is_found():
    class Wrong(nn.Cell):
        def construct(self, x):
            return x**2

        def bprop(self, x, out, dout):
            return (3.0 * x * dout,)

    off, _ = residual(sg.grad(Wrong()), np.array([1.0, 2.0]))
    assert off is not None
    assert off > 0.1


@pytest.mark.parametrize(
    ("derived", "args", "said"),
    [
        (sg.grad(np.abs), (np.array([0.0, 1.0]),), None),
        (sg.grad(lambda x: np.sum(np.floor(x) * x)), (np.array([1.0]),), "they do not settle at these arguments"),
        (sg.vmap(sg.grad(np.sin)), (X,), "not taken for vmap"),
        (sg.grad(np.exp), (np.ones(2000),), "not taken for large arrays"),
        (sg.grad(np.exp), ("n",), "not taken"),
    ],
)
def test_where_they_are_not_taken_it_is_said(derived, args, said):
    off, words = residual(derived, *args)
    if said is None:  # central differences of |x| are even at 0, and so is the convention
        assert off is not None
        assert off < 1e-15
        return
    assert off is None
    assert words.startswith(said)


def test_the_function_runs_on_copies():
    x = X.copy()

    def writes(x):
        y = x * 1.0
        y[0] = 0.0
        return np.sum(y**2)

    residual(sg.grad(writes), x)
    assert np.array_equal(x, X)


@pytest.mark.parametrize(
    "derived",
    [
        sg.laplacian(lambda x: np.sin(x @ x) * x),
        sg.laplacian(lambda x: np.exp(-x @ x)),
        sg.divergence(lambda x: np.sin(x @ x) * x),
        sg.divergence(lambda r: (r[0] * r[1], r[1] ** 2, r[2] * r[0])),
    ],
)
def test_fields(derived):
    x = np.array([0.3, -0.2, 0.5])
    assert "off by" in derived.export("python", x)
    assert "not taken by so many elements" in sg.laplacian(lambda x: np.sum(x**3)).export("python", np.ones(33))
