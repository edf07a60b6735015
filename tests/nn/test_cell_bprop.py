"""Cells with a bprop: the rule in every mode and order, and what is wrong with bad ones."""

import numpy as np
import pytest

import symgrad as ms
from symgrad import Parameter, errors, nn

X = np.array([1.0, 2.0], np.float32)


class Doubled(nn.Cell):
    """sin with twice its derivative."""

    def construct(self, x):
        return np.sin(x)

    def bprop(self, x, out, dout):
        return (2 * dout * np.cos(x),)


class TestBprop:
    def test_the_rule_is_used_in_every_mode(self):
        x = np.array([0.1, 0.7])
        h = 1e-6
        slope = 2 * (np.sin(x + h) - np.sin(x - h)) / (2 * h)
        net = Doubled()
        np.testing.assert_allclose(net(x), np.sin(x))
        np.testing.assert_allclose(ms.grad(net)(x), slope, rtol=1e-8)
        np.testing.assert_allclose(ms.jvp(net, x, np.ones(2))[1], slope, rtol=1e-8)
        for jacobian in (ms.jacrev, ms.jacfwd):
            np.testing.assert_allclose(jacobian(net)(x), np.diag(slope), rtol=1e-8)

    def test_the_rule_has_derivatives(self):
        x = np.array([0.1, 0.7])
        first = ms.grad(Doubled())
        numeric = (first(x + 1e-6) - first(x - 1e-6)) / 2e-6
        np.testing.assert_allclose(ms.grad(ms.grad(Doubled()))(x), numeric, rtol=1e-8)
        np.testing.assert_allclose(ms.hessian(Doubled())(x), np.diag(numeric), rtol=1e-8)

    def test_several_inputs_and_outputs(self):
        class Net(nn.Cell):
            def construct(self, x, pair):
                return x * pair[0], (np.sum(pair[1]), np.argmax(x))

            def bprop(self, x, pair, out, dout):
                by_product, (by_sum, _) = dout
                return by_product * pair[0], (None, by_sum * np.ones_like(pair[1]))

        x, y, z = np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.ones(3)
        by_x, (by_y, by_z) = ms.grad(Net(), (0, 1))(x, (y, z))
        np.testing.assert_allclose(by_x, y)
        np.testing.assert_allclose(by_y, np.zeros(2))
        np.testing.assert_allclose(by_z, np.ones(3))

    def test_gradient_clipping_in_the_backward_pass(self):
        class Clip(nn.Cell):
            def construct(self, x):
                return x

            def bprop(self, x, out, dout):
                return (np.clip(dout, -1, 1),)

        clip = Clip()
        np.testing.assert_allclose(ms.grad(lambda x: np.sum(clip(x) * [5.0, 0.5]))(np.ones(2)), [1.0, 0.5])
        with pytest.raises(errors.TracingError, match=r"Clip\.bprop is not linear in dout"):
            ms.jacrev(clip)(np.ones(2))

    @pytest.mark.parametrize(
        ("returned", "kind", "message"),
        [
            (lambda d: d, TypeError, r"Bad\.bprop must return a tuple with one gradient for each of the 1 inputs"),
            (lambda d: (d, d), TypeError, "it returned 2 of them"),
            (lambda d: (np.sum(d),), ValueError, r"gradient of input 0 has shape \(\) and the input has shape \(2,\)"),
            (lambda d: ((d, d),), TypeError, "nested as the input is"),
        ],
    )
    def test_bad_results(self, returned, kind, message):
        class Bad(nn.Cell):
            def construct(self, x):
                return x * 2

            def bprop(self, x, out, dout):
                return returned(dout)

        with pytest.raises(kind, match=message):
            ms.grad(Bad())(np.ones(2))

    def test_weights_that_would_lose_their_gradient(self):
        class Net(Doubled):
            def __init__(self, **flags):
                super().__init__()
                self.w = Parameter([1.0, 1.0], **flags)

            def construct(self, x):
                return np.sin(x) * self.w

        with pytest.raises(errors.TracingError, match="also depends on 'w'"):
            ms.grad(Net())(X)
        np.testing.assert_allclose(ms.grad(Net(requires_grad=False))(np.zeros(2, np.float32)), [2.0, 2.0])

    def test_later_writes_do_not_reach_the_rule(self):
        net = Doubled()

        def f(x):
            y = net(x)
            x[0] = 100.0
            return y

        np.testing.assert_allclose(ms.grad(f)(np.zeros(2)), [2.0, 2.0])

    def test_keywords_are_refused(self):
        with pytest.raises(TypeError, match="passed by position"):
            ms.symbolic(lambda x: Doubled()(x=x))(X)
