"""Registered rules replace an operator's derivative, outdate cached traces and leave again."""

import numpy as np
import pytest

import symgrad as ms
from symgrad import errors, nn, ops
from symgrad.ops._grad.grad_base import bprop_getters

X = np.array([0.3, 1.2])


def _times(factor):
    def getter(self):
        cos = ops.Cos()

        def bprop(x, out, dout):
            return (factor * dout * cos(x),)

        return bprop

    return getter


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.sin = ops.Sin()

    def construct(self, x):
        return self.sin(x)


@pytest.mark.parametrize(
    "fn", [ops.Sin(), ops.sin, lambda x: ops.sin(x), Net()], ids=["class", "function", "lambda", "cell"]
)
def test_cached_gradients_follow(fn):
    gradient = ms.grad(fn)
    own = gradient(X)
    with bprop_getters.replaced(ops.Sin, _times(3)):
        np.testing.assert_allclose(gradient(X), 3 * own)
        with bprop_getters.replaced(ops.Sin, _times(5)):
            np.testing.assert_allclose(gradient(X), 5 * own)
        np.testing.assert_allclose(gradient(X), 3 * own)
    np.testing.assert_array_equal(gradient(X), own)


def test_only_the_operator_is_concerned():
    own = ms.grad(np.sin)(X)
    with bprop_getters.replaced(ops.Sin, _times(3)):
        np.testing.assert_array_equal(ms.grad(np.sin)(X), own)
        np.testing.assert_array_equal(ops.Sin()(X), np.sin(X))


def test_register_and_unregister():
    getter = _times(2)
    assert bprop_getters.register(ops.Sin)(getter) is getter
    try:
        assert bprop_getters.get(ops.Sin) is getter
        np.testing.assert_allclose(ms.grad(ops.Sin())(0.0), 2.0)
    finally:
        bprop_getters.unregister(ops.Sin)
    assert bprop_getters.get(ops.Sin) is None
    np.testing.assert_allclose(ms.grad(ops.Sin())(0.0), 1.0)
    with pytest.raises(errors.ArgumentError, match="no bprop is registered for Sin"):
        bprop_getters.unregister(ops.Sin)


def test_the_operator_is_given_to_the_getter():
    def getter(self):
        def bprop(x, axis, out, dout):
            assert not self.keep_dims
            return 10 * np.ones_like(x) * dout, None

        return bprop

    with bprop_getters.replaced(ops.ReduceSum, getter):
        np.testing.assert_allclose(ms.grad(lambda x: ops.ReduceSum()(x, 0))(X), [10.0, 10.0])


def test_second_order():
    with bprop_getters.replaced(ops.Sin, _times(2)):
        first = ms.grad(ops.Sin())
        numeric = (first(X + 1e-6) - first(X - 1e-6)) / 2e-6
        np.testing.assert_allclose(ms.hessian(lambda x: np.sum(ops.sin(x)))(X), np.diag(numeric), rtol=1e-8)


def test_the_error_names_the_rule():
    def getter(self):
        return lambda x, out, dout: (dout, dout)

    with (
        bprop_getters.replaced(ops.Sin, getter),
        pytest.raises(errors.ArgumentTypeError, match="the bprop of Sin must return a tuple with one gradient"),
    ):
        ms.grad(ops.Sin())(X)


@pytest.mark.parametrize("wrong", ["Sin", ops.Sin(), np.sin, int])
def test_only_operator_classes(wrong):
    with pytest.raises(errors.ArgumentTypeError, match=r"operator classes such as ops\.Sin"):
        bprop_getters.register(wrong)
