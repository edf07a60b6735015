"""Scan, ForiLoop and WhileLoop: what MindSpore documents of them, unrolled or as one operation."""

import numpy as np
import pytest

import symgrad as sg
from symgrad import Tensor, ops
from symgrad.errors import SymgradError


def cumsum(res, el):
    res = res + el
    return res, res


def test_the_documented_examples():
    assert ops.Scan()(cumsum, 0, [1, 2, 3, 4]) == (10, [1, 3, 6, 10])
    assert ops.ForiLoop()(0, 4, lambda index, res: index + res, 0) == 6
    assert ops.WhileLoop()(lambda x: x < 100, lambda x: x + 1, 10) == 100


@pytest.mark.parametrize("unroll", [True, False])
def test_a_scan_over_tensors(unroll):
    items = [Tensor([1.0, 2.0]), Tensor([3.0, 4.0])]
    total, kept = ops.Scan()(cumsum, Tensor([0.0, 0.0]), items, unroll=unroll)
    np.testing.assert_array_equal(total, [4.0, 6.0])
    assert isinstance(kept, list)
    np.testing.assert_array_equal(np.stack(kept), [[1.0, 2.0], [4.0, 6.0]])


@pytest.mark.parametrize("unroll", [True, False])
def test_derivatives(unroll):
    def f(a, x):
        step = lambda c, el: (c * el + a, {"twice": 2 * c})  # noqa: E731
        c, kept = ops.Scan()(step, 1.0, [x, x + 1, x * a], unroll=unroll)
        c = c + sum(k["twice"] for k in kept)
        c, _ = ops.Scan()(lambda c, x: (c * a, None), c, None, length=2, unroll=unroll)
        return ops.ForiLoop()(1, np.array(4), lambda i, c: c + i * a * c, c, unroll=unroll)

    def plain(a, x):
        c, total = 1.0, 0.0
        for el in (x, x + 1, x * a):
            total, c = total + 2 * c, c * el + a
        c = (c + total) * a * a
        for i in range(1, 4):
            c = c + i * a * c
        return c

    at = 0.7 + 1e-30j, 1.3
    want = plain(*at)
    value, gradient = sg.value_and_grad(f)(0.7, 1.3)
    np.testing.assert_allclose(value, want.real, rtol=1e-14)
    np.testing.assert_allclose(gradient, want.imag / 1e-30, rtol=1e-13)


def test_a_while_loop_has_the_derivative_of_its_steps():
    f = lambda x: ops.WhileLoop()(lambda c: c < 100.0, lambda c: c * x, x)  # noqa: E731
    derivative = sg.grad(f)
    for x, power in ((2.0, 7), (3.0, 5), (2.0, 7), (200.0, 1)):
        assert f(x) == x**power
        assert derivative(x) == power * x ** (power - 1)


def test_one_operation_or_as_many_as_there_are_steps():
    def nodes(unroll):
        f = lambda x: ops.ForiLoop()(0, 50, lambda i, c: np.sin(c) * x, x, unroll=unroll)  # noqa: E731
        return len(sg.trace(f, 1.0).bindings)

    assert nodes(True) == 100
    assert nodes(False) < 5


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: ops.Scan()(1, 0, [1]), TypeError),
        (lambda: ops.Scan()(cumsum, 0, 3), TypeError),
        (lambda: ops.Scan()(cumsum, 0, np.ones(3)), TypeError),
        (lambda: ops.Scan()(cumsum, 0, [1], length=1.5), TypeError),
        (lambda: ops.Scan()(cumsum, 0, [1], unroll=1), TypeError),
        (lambda: ops.Scan()(cumsum, 0, None), ValueError),
        (lambda: ops.Scan()(cumsum, 0, [1, 2], length=3), ValueError),
        (lambda: ops.Scan()(lambda c, x: c, 0, [1]), ValueError),
        (lambda: ops.Scan()(lambda c, x: ((c, c), x), 0, [1]), ValueError),
        (lambda: ops.Scan()(lambda c, x: (np.ones(2), x), 0, [1]), ValueError),
        (lambda: ops.Scan()(cumsum, 0, [1, (2, 3)], unroll=False), ValueError),
        (lambda: ops.ForiLoop()(0.5, 2, lambda i, c: c, 0), TypeError),
        (lambda: ops.ForiLoop()(0, np.ones(2, int), lambda i, c: c, 0), TypeError),
        (lambda: ops.ForiLoop()(0, 2, None, 0), TypeError),
        (lambda: ops.ForiLoop()(0, 2, lambda i, c: (c, c), 0), ValueError),
        (lambda: ops.WhileLoop()(True, lambda c: c, 0), TypeError),
        (lambda: ops.WhileLoop()(lambda c: c < 1, 5, 0), TypeError),
        (lambda: ops.WhileLoop()(lambda c: True, lambda c: (c,), 0), ValueError),
    ],
)
def test_wrong_arguments(call, kind):
    with pytest.raises(kind) as raised:
        call()
    assert isinstance(raised.value, SymgradError)
