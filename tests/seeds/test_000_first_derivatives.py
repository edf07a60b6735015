"""Derivatives of a product of matrices: by inputs, by a weight, weighed, and with a part held constant."""

import numpy as np
import pytest

import symgrad.nn as nn
import symgrad.ops as ops
from symgrad import Parameter, ParameterTuple, Tensor
from symgrad import dtype as mstype
from symgrad.ops.functional import stop_gradient

X = Tensor([[0.8, 0.6, 0.2], [1.8, 1.3, 1.1]], dtype=mstype.float32)
Y = Tensor([[0.11, 3.3, 1.1], [1.1, 0.2, 1.4], [1.1, 2.2, 0.3]], dtype=mstype.float32)


class Net(nn.Cell):
    def __init__(self, requires_grad=True):
        super(Net, self).__init__()  # noqa: UP008
        self.matmul = ops.MatMul()
        self.z = Parameter(Tensor(np.array([1.0], np.float32)), name="z", requires_grad=requires_grad)

    def construct(self, x, y):
        x = x * self.z
        out = self.matmul(x, y)
        return out


class GradNetWrtX(nn.Cell):
    def __init__(self, net, **flags):
        super(GradNetWrtX, self).__init__()  # noqa: UP008
        self.net = net
        self.grad_op = ops.GradOperation(**flags)

    def construct(self, x, y):
        gradient_function = self.grad_op(self.net)
        return gradient_function(x, y)


class GradNetWrtWeights(nn.Cell):
    def __init__(self, net):
        super(GradNetWrtWeights, self).__init__()  # noqa: UP008
        self.net = net
        self.params = ParameterTuple(net.trainable_params())
        self.grad_op = ops.GradOperation(get_by_list=True)

    def construct(self, x, y):
        gradient_function = self.grad_op(self.net, self.params)
        return gradient_function(x, y)


class GradNetWithSens(nn.Cell):
    def __init__(self, net):
        super(GradNetWithSens, self).__init__()  # noqa: UP008
        self.net = net
        self.grad_op = ops.GradOperation(sens_param=True)
        self.grad_wrt_output = Tensor([[0.1, 0.6, 0.2], [0.8, 1.3, 1.1]], dtype=mstype.float32)

    def construct(self, x, y):
        gradient_function = self.grad_op(self.net)
        return gradient_function(x, y, self.grad_wrt_output)


class StopNet(nn.Cell):
    def __init__(self, stopped):
        super(StopNet, self).__init__()  # noqa: UP008
        self.matmul = ops.MatMul()
        self.stopped = stopped

    def construct(self, x, y):
        out1 = self.matmul(x, y)
        out2 = self.matmul(x, y)
        if self.stopped:
            out2 = stop_gradient(out2)
        return out1 + out2


def test_by_the_first_input(prints_as):
    prints_as(GradNetWrtX(Net())(X, Y), "[[4.5099998 2.7 3.6000001] [4.5099998 2.7 3.6000001]]")


def test_by_all_inputs():
    by_x, by_y = GradNetWrtX(Net(), get_all=True)(X, Y)
    assert (by_x.shape, by_y.shape) == ((2, 3), (3, 3))
    np.testing.assert_allclose(by_x, GradNetWrtX(Net())(X, Y))
    out = lambda y: np.sum(np.matmul(np.float64(X), y))  # noqa: E731
    for k in range(9):
        step = np.zeros(9)
        step[k] = 1e-3
        shifted = [out(np.float64(Y) + s * step.reshape(3, 3)) for s in (1, -1)]
        np.testing.assert_allclose(by_y.ravel()[k], (shifted[0] - shifted[1]) / 2e-3, rtol=1e-5)


def test_by_the_weight(prints_as):
    output = GradNetWrtWeights(Net())(X, Y)
    prints_as(output, "(Tensor(shape=[1], dtype=Float32, value= [ 2.15359993e+01]),)")


def test_a_weight_that_requires_no_gradient_is_not_trainable():
    net = Net(requires_grad=False)
    assert net.trainable_params() == []
    assert [p.name for p in net.get_parameters()] == ["z"]
    with pytest.raises(ValueError, match="no parameter"):
        ops.GradOperation(get_by_list=True)(net, ParameterTuple(net.trainable_params()))


def test_scaled_by_sens(prints_as):
    prints_as(GradNetWithSens(Net())(X, Y), "[[2.211 0.51 1.49 ] [5.588 2.68 4.07 ]]")


def test_stop_gradient():
    np.testing.assert_allclose(GradNetWrtX(StopNet(True))(X, Y), [[4.51, 2.7, 3.6]] * 2, rtol=1e-6)


def test_without_stop_gradient_it_doubles():
    np.testing.assert_allclose(GradNetWrtX(StopNet(False))(X, Y), [[9.02, 5.4, 7.2]] * 2, rtol=1e-6)
