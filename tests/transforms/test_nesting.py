"""Derivatives of derivatives: any mixture, inside functions, without confusing perturbations."""

import math

import numpy as np
import pytest

import symgrad
from symgrad import grad, hessian, hvp, jacfwd, jacrev, jvp, stop_gradient, vjp
from symgrad.testing import check_grads

X = np.array([0.5, 1.5, 2.0])


def test_perturbation_confusion():
    assert grad(lambda x: x * grad(lambda y: x * y)(1.0))(3.0) == 6.0
    assert grad(lambda x: x * grad(lambda y: x + y)(1.0))(3.0) == 1.0
    assert grad(lambda x: x * jvp(lambda y: x * y, 2.0, 1.0)[1])(3.0) == 6.0
    assert jvp(lambda x: x * jvp(lambda y: x * y, 2.0, 1.0)[1], 3.0, 1.0)[1] == 6.0
    assert jvp(lambda x: x * grad(lambda y: x * y**2)(2.0), 3.0, 1.0)[1] == 24.0
    assert grad(lambda x: grad(lambda y: grad(lambda z: x * y * z)(1.0) * y)(x))(3.0) == 18.0 - 6.0


def test_differentiating_at_the_outer_variable():
    assert grad(lambda x: grad(lambda y: y**3)(x))(2.0) == 12.0
    assert grad(lambda x: grad(lambda y: x * y**3)(x))(2.0) == pytest.approx(9 * 4.0)
    assert grad(lambda x: grad(lambda y: y * stop_gradient(y))(x) * x)(2.0) == 2.0


@pytest.mark.parametrize("order", range(1, 8))
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_orders(order, mode):
    fn = lambda x: np.sin(2 * x)  # noqa: E731
    for _ in range(order):
        fn = grad(fn, mode=mode)
    want = 2.0**order * math.sin(2 * 0.3 + order * math.pi / 2)
    assert fn(0.3) == pytest.approx(want, rel=1e-12)


def cubic(x):
    return np.sum(x**3) * x[0] + np.prod(x)


def outer_products(x):
    return np.outer(x, np.sin(x))


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: np.sum(grad(cubic)(x) ** 2),
        lambda x: jvp(grad(cubic), x, x**2)[1],
        lambda x: vjp(grad(cubic), x)[1](x * 2.0)[0],
        lambda x: hvp(cubic, x, np.cos(x)),
        lambda x: np.sum(hessian(cubic)(x) * x),
        lambda x: np.sum(jacfwd(outer_products)(x) * np.arange(3.0)),
        lambda x: np.sum(jacrev(outer_products)(x) ** 2),
        lambda x: jacfwd(jacrev(cubic))(x) @ x - jacrev(jacfwd(cubic))(x) @ x**2,
        lambda x: symgrad.value_and_grad(cubic)(x)[0] * symgrad.value_and_grad(cubic)(x)[1],
        lambda x: np.trace(hessian(cubic)(x)) * x,
        lambda x: x - 0.1 * grad(lambda y: cubic(y - 0.1 * grad(cubic)(y)))(x),
    ],
)
def test_derivatives_inside_functions(fn):
    check_grads(fn, [X])


def test_newton_steps_unrolled():
    def root(a):
        x = a
        for _ in range(6):
            residual, slope = symgrad.value_and_grad(lambda y: y**2 - a)(x)
            x = x - residual / slope
        return x

    assert root(2.0) == pytest.approx(math.sqrt(2.0))
    assert grad(root)(2.0) == pytest.approx(0.5 / math.sqrt(2.0), rel=1e-9)


def test_hessian_is_symmetric_and_of_mixed_arguments():
    def fn(x, y):
        return np.sum(np.outer(x, y) ** 2) + x[0] * y[1] ** 3

    x, y = X, np.array([1.0, -2.0])
    blocks = hessian(fn, (0, 1))(x, y)
    assert [[b.shape for b in row] for row in blocks] == [[(3, 3), (3, 2)], [(2, 3), (2, 2)]]
    np.testing.assert_allclose(blocks[0][1], blocks[1][0].T, rtol=1e-14)
    check_grads(lambda x, y: grad(fn, (0, 1))(x, y), [x, y], order=1)


def test_stop_gradient_at_every_order():
    fn = lambda x: x**2 * stop_gradient(x)  # noqa: E731
    assert grad(fn)(3.0) == 18.0
    assert grad(grad(fn))(3.0) == 6.0
    assert grad(grad(grad(fn)))(3.0) == 0.0
    stopped = grad(lambda p: p["a"] * stop_gradient(p)["b"][0])({"a": 2.0, "b": [5.0]})
    assert stopped == {"a": 5.0, "b": [0.0]}
    assert stop_gradient([1.0, X])[1] is X


def test_a_gradient_function_is_an_ordinary_function():
    g = grad(cubic)
    assert g.__name__ == "grad(cubic)"
    table = [g, grad(g, mode="forward")]
    check_grads(lambda x: sum(np.sum(f(x)) for f in table), [X])
