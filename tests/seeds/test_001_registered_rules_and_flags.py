"""A registered rule, a composed network, and each flag of GradOperation with its errors."""

import numpy as np
import pytest

import symgrad as ms
import symgrad.ops as ops
from symgrad import Parameter, ParameterTuple, Tensor, nn
from symgrad import dtype as mstype
from symgrad.ops._grad.grad_base import bprop_getters

X = Tensor([[0.5, 0.6, 0.4], [1.2, 1.3, 1.1]], dtype=mstype.float32)
Y = Tensor([[0.01, 0.3, 1.1], [0.1, 0.2, 1.3], [2.1, 1.2, 3.3]], dtype=mstype.float32)


class Composed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.sin = ops.Sin()
        self.cos = ops.Cos()

    def construct(self, x):
        a = self.sin(x)
        out = self.cos(a)
        return out


class GradNet(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.grad_op = ops.GradOperation()

    def construct(self, x):
        gradient_function = self.grad_op(self.net)
        return gradient_function(x)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.matmul = ops.MatMul()
        self.z = Parameter(Tensor(np.array([1.0], np.float32)), name="z")

    def construct(self, x, y):
        x = x * self.z
        out = self.matmul(x, y)
        return out


class GradNetWrtX(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.grad_op = ops.GradOperation()

    def construct(self, x, y):
        return self.grad_op(self.net)(x, y)


class GradNetWrtXY(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.grad_op = ops.GradOperation(get_all=True)

    def construct(self, x, y):
        return self.grad_op(self.net)(x, y)


class GradNetWithWrtParams(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.params = ParameterTuple(net.trainable_params())
        self.grad_op = ops.GradOperation(get_by_list=True)

    def construct(self, x, y):
        return self.grad_op(self.net, self.params)(x, y)


class GradNetWrtXYWithSensParam(nn.Cell):
    def __init__(self, net, sens=True, shape=(2, 3)):
        super().__init__()
        self.net = net
        self.grad_op = ops.GradOperation(get_all=True, get_by_list=True, sens_param=True)
        self.params = ParameterTuple(net.trainable_params())
        self.grad_wrt_output = Tensor(np.full(shape, 0.1), dtype=ms.float32)
        self.sens = sens

    def construct(self, x, y):
        gradient_function = self.grad_op(self.net, self.params)
        if not self.sens:
            return gradient_function(x, y)
        return gradient_function(x, y, self.grad_wrt_output)


def test_a_registered_rule_is_used():
    calls = []

    def get_bprop_sin(self):
        cos = ops.Cos()

        def bprop(x, out, dout):
            calls.append(out.shape)
            dx = dout * cos(x)
            return (dx,)

        return bprop

    bprop_getters.register(ops.Sin)(get_bprop_sin)
    try:
        gradient = GradNet(Composed())(Tensor([1.0, 2.0, 5.0]))
    finally:
        bprop_getters.unregister(ops.Sin)
    np.testing.assert_allclose(gradient, [-0.4028624, 0.32836998, 0.23219854], rtol=1e-6)
    assert calls == [(3,)]


def test_forward_value(prints_as):
    x = Tensor(np.array([1.0, 2.0, 5.0], np.float32))
    prints_as(Composed()(x), "[0.66636676 0.6143003 0.57440084]")


def test_gradient_of_the_composition(prints_as):
    x = Tensor(np.array([1.0, 2.0, 5.0], np.float32))
    prints_as(GradNet(Composed())(x), "[-0.4028624 0.32836998 0.23219854]")


def test_by_the_first_input(prints_as):
    gradient = GradNetWrtX(Net())(X, Y)
    prints_as(gradient, "[[1.4100001 1.5999999 6.6] [1.4100001 1.5999999 6.6]]")
    np.testing.assert_allclose(gradient, np.matmul(np.ones((2, 3)), Y.asnumpy().T), rtol=1e-6)


def test_by_all_inputs(prints_as):
    wanted = """(Tensor(shape=[2, 3], dtype=Float32, value=
    [[1.41000009e+000, 1.59999990e+000, 6.59999990e+000],
     [1.41000009e+000, 1.59999990e+000, 6.59999990e+000]]),
    Tensor(shape=[3, 3], dtype=Float32, value=
    [[1.70000005e+000, 1.70000005e+000, 1.70000005e+000],
     [1.89999998e+000, 1.89999998e+000, 1.89999998e+000],
     [1.50000000e+000, 1.50000000e+000, 1.50000000e+000]]))"""
    prints_as(GradNetWrtXY(Net())(X, Y), wanted)
    np.testing.assert_allclose(np.matmul(X.asnumpy().T, np.ones((2, 3))), [[1.7] * 3, [1.9] * 3, [1.5] * 3], rtol=1e-6)


def test_by_the_parameters(prints_as):
    wanted = "(Tensor(shape=[1], dtype=Float32, value= [1.53369999e+001]),)"
    prints_as(GradNetWithWrtParams(Net())(X, Y), wanted)


def test_everything_scaled_by_sens(prints_as):
    wanted = """((Tensor(shape=[2, 3], dtype=Float32, value=
    [[1.41000003e-001, 1.59999996e-001, 6.59999967e-001],
     [1.41000003e-001, 1.59999996e-001, 6.59999967e-001]]),
     Tensor(shape=[3, 3], dtype=Float32, value=
    [[1.70000002e-001, 1.70000002e-001, 1.70000002e-001],
     [1.89999998e-001, 1.89999998e-001, 1.89999998e-001],
     [1.50000006e-001, 1.50000006e-001, 1.50000006e-001]])),
     (Tensor(shape=[1], dtype=Float32, value= [1.53369999e+000]),))"""
    prints_as(GradNetWrtXYWithSensParam(Net())(X, Y), wanted)


def test_sens_left_out():
    with pytest.raises(TypeError, match="sens"):
        GradNetWrtXYWithSensParam(Net(), sens=False)(X, Y)


def test_sens_of_another_shape():
    with pytest.raises(ValueError, match=r"\(2, 2\).*\(2, 3\)"):
        GradNetWrtXYWithSensParam(Net(), shape=(2, 2))(X, Y)


def test_matrices_that_do_not_fit():
    message = r"MatMul.*2 columns.*3 rows.*\[?\(2, 2\) \(transpose_a=False\).*\(3, 3\) \(transpose_b=True\)"
    with pytest.raises(ValueError, match=message):
        ops.MatMul(transpose_b=True)(Tensor(np.ones((2, 2))), Y)
