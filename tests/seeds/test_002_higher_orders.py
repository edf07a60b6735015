"""Closed forms of the matrix product's derivatives, one element of the output, and second derivatives."""

import re

import numpy as np
import pytest
import sympy

import symgrad as ms
import symgrad.context as context
import symgrad.nn as nn
import symgrad.ops as ops
from symgrad import Parameter, ParameterTuple, Tensor
from symgrad import dtype as mstype
from symgrad.ops import stop_gradient

X = Tensor([[0.8, 0.6, 0.2], [1.8, 1.3, 1.1]], dtype=mstype.float32)
Y = Tensor([[0.11, 3.3, 1.1], [1.1, 0.2, 1.4], [1.1, 2.2, 0.3]], dtype=mstype.float32)


@pytest.fixture(autouse=True)
def _context():
    context.set_context(mode=context.GRAPH_MODE, device_target="GPU")
    yield
    context.set_context(mode=context.GRAPH_MODE, device_target="CPU")


class Net(nn.Cell):
    def __init__(self, element=False):
        super().__init__()
        self.matmul = ops.MatMul()
        self.z = Parameter(Tensor(np.array([1.0], np.float32)), name="z")
        self.element = element

    def construct(self, x, y):
        x = x * self.z
        out = self.matmul(x, y)
        return out[0][0] if self.element else out


class StopNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.matmul = ops.MatMul()

    def construct(self, x, y):
        out1 = self.matmul(x, y)
        out2 = stop_gradient(self.matmul(x, y))
        return out1 + out2


class GradNetWrtX(nn.Cell):
    def __init__(self, net, weights=False, sens=None):
        super().__init__()
        self.net = net
        self.params = ParameterTuple(net.trainable_params())
        self.grad_op = ops.GradOperation(get_by_list=weights, sens_param=sens is not None)
        self.sens = sens

    def construct(self, x, y):
        gradient_function = self.grad_op(self.net, self.params)
        return gradient_function(x, y) if self.sens is None else gradient_function(x, y, self.sens)


SENS = Tensor([[0.1, 0.6, 0.2], [0.8, 1.3, 1.1]], dtype=mstype.float32)
x1, x2, x3, x4, x5, x6 = sympy.symbols("x1:7")
y1, y2, y3, y4, y5, y6, y7, y8, y9 = sympy.symbols("y1:10")


def _same(form, wanted):
    """The same formula; symbols go by their names, and the document counts from 1."""
    counted = {s: re.sub(r"\d+$", lambda m: str(int(m[0]) + 1), s.name) for s in form.free_symbols}
    rename = {s: sympy.Symbol(name) for s, name in counted.items()}
    difference = sympy.Array(form.xreplace(rename)) - sympy.Array(wanted)
    assert all(sympy.expand(d) == 0 for d in sympy.flatten(difference))


def test_by_the_first_input(prints_as):
    prints_as(GradNetWrtX(Net())(X, Y), "[[4.5099998 2.7 3.6000001] [4.5099998 2.7 3.6000001]]")


def test_the_formula_of_the_output():
    z = sympy.Symbol("z")
    x, y = sympy.Matrix([[x1, x2, x3], [x4, x5, x6]]), sympy.Matrix(3, 3, sympy.symbols("y1:10"))
    _same(ms.symbolic(Net()).closed_form(X, Y, form="entries"), (x * y * z).tolist())


def test_the_formula_of_the_gradient():
    z = sympy.Symbol("z")
    row = [(y1 + y2 + y3) * z, (y4 + y5 + y6) * z, (y7 + y8 + y9) * z]
    _same(ms.grad(Net()).closed_form(X, Y, form="entries"), [row, row])


def test_the_formula_of_the_weight():
    net = Net()
    form = ms.grad(net, None, net.z).closed_form(X, Y, form="entries")
    columns = (x1 + x4) * (y1 + y2 + y3) + (x2 + x5) * (y4 + y5 + y6) + (x3 + x6) * (y7 + y8 + y9)
    _same(form, [columns])


def test_the_formula_with_sens():
    z, s = sympy.Symbol("z"), sympy.symbols("s1:7")
    form = ops.GradOperation(sens_param=True)(Net()).closed_form(X, Y, sens=SENS, form="entries")
    named = form.xreplace({a: sympy.Symbol(a.name.replace("sens", "s")) for a in form.free_symbols})
    weighed = lambda a, b, c: [(a * r + b * q + c * t) * z for r, q, t in ((y1, y2, y3), (y4, y5, y6), (y7, y8, y9))]  # noqa: E731
    _same(named, [weighed(*s[:3]), weighed(*s[3:])])


def test_by_the_weight(prints_as):
    prints_as(GradNetWrtX(Net(), weights=True)(X, Y), "(Tensor(shape=[1], dtype=Float32, value= [ 2.15359993e+01]),)")


def test_scaled_by_sens(prints_as):
    prints_as(GradNetWrtX(Net(), sens=SENS)(X, Y), "[[2.211 0.51 1.49 ] [5.588 2.68 4.07 ]]")


def test_one_element_of_the_output(prints_as):
    prints_as(GradNetWrtX(Net(element=True))(X, Y), "[[0.11 1.1 1.1] [0. 0. 0. ]]")


def test_one_element_by_sens(prints_as):
    one = Tensor([[1, 0, 0], [0, 0, 0]], dtype=mstype.float32)
    prints_as(GradNetWrtX(Net(), sens=one)(X, Y), "[[0.11 1.1 1.1] [0. 0. 0. ]]")


def test_stop_gradient():
    np.testing.assert_allclose(GradNetWrtX(StopNet())(X, Y), [[4.51, 2.7, 3.6]] * 2, rtol=1e-6)


class Apply(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, *inputs):
        return self.function(*inputs)


class Grad(nn.Cell):
    def __init__(self, network, **flags):
        super().__init__()
        self.grad = ops.GradOperation(**flags)
        self.network = network

    def construct(self, *inputs):
        gout = self.grad(self.network)(*inputs)
        return gout


def test_second_derivative_of_the_sine(prints_as):
    secondgrad = Grad(Grad(Apply(ops.Sin())))
    prints_as(secondgrad(Tensor(np.array([1.0], dtype=np.float32))), "[-0.841471]")


def test_second_derivative_of_a_square(prints_as):
    mul = ops.Mul()
    secondgrad = Grad(Grad(Apply(lambda x: mul(x, x)), sens_param=False), sens_param=False)
    prints_as(secondgrad(Tensor([0.1, 0.2, 0.3], dtype=mstype.float32)), "[2. 2. 2.]")


class Net2(nn.Cell):
    def __init__(self):
        super().__init__()
        self.mul = ops.Mul()

    def construct(self, x, y):
        x_square = self.mul(x, x)
        x_square_y = self.mul(x_square, y)
        return x_square_y


class Grad2(nn.Cell):
    def __init__(self, network):
        super().__init__()
        self.grad = ops.GradOperation(get_all=True, sens_param=False)
        self.network = network

    def construct(self, x, y):
        gout = self.grad(self.network)(x, y)
        return gout


class GradSec(nn.Cell):
    def __init__(self, network):
        super().__init__()
        self.grad = ops.GradOperation(get_all=True, sens_param=True)
        self.network = network
        self.sens1 = Tensor(np.array([1]).astype("float32"))
        self.sens2 = Tensor(np.array([0]).astype("float32"))

    def construct(self, x, y):
        dxdx, dxdy = self.grad(self.network)(x, y, (self.sens1, self.sens2))
        dydx, dydy = self.grad(self.network)(x, y, (self.sens2, self.sens1))
        return dxdx, dxdy, dydx, dydy


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_all_second_derivatives_of_two_inputs(capsys, mode):
    context.set_context(mode=mode)
    x_train = Tensor(np.array([4], dtype=np.float32))
    y_train = Tensor(np.array([5], dtype=np.float32))
    print(*GradSec(Grad2(Net2()))(x_train, y_train))
    assert capsys.readouterr().out == "[10.] [8.] [8.] [0.]\n"


ONE_INPUT = ["Square", "Exp", "Neg", "Log", "Sin", "Cos", "Tan", "Sinh", "Cosh", "Atanh"]
TWO_INPUTS = ["Mul", "Pow", "Div"]
AT = np.array([0.3, 0.5, 0.8])


@pytest.mark.parametrize("name", ONE_INPUT)
def test_operators_with_second_derivatives(name):
    net = Apply(getattr(ops, name)())
    f = lambda x: np.asarray(net(x))  # noqa: E731
    h = 1e-4
    numeric = (f(AT + h) - 2 * f(AT) + f(AT - h)) / h**2
    np.testing.assert_allclose(Grad(Grad(net))(AT), numeric, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", TWO_INPUTS)
def test_operators_of_two_inputs_with_second_derivatives(name):
    net = Apply(getattr(ops, name)())
    other = np.array([1.5, 2.5, 0.7])
    f = lambda x, y: np.asarray(net(x, y))  # noqa: E731
    dxdx, dxdy, dydx, dydy = GradSec2(Grad2(net))(AT, other)
    h = 1e-4
    np.testing.assert_allclose(
        dxdx, (f(AT + h, other) - 2 * f(AT, other) + f(AT - h, other)) / h**2, rtol=1e-5, atol=1e-6
    )
    np.testing.assert_allclose(
        dydy, (f(AT, other + h) - 2 * f(AT, other) + f(AT, other - h)) / h**2, rtol=1e-5, atol=1e-6
    )
    mixed = f(AT + h, other + h) - f(AT + h, other - h) - f(AT - h, other + h) + f(AT - h, other - h)
    np.testing.assert_allclose(dxdy, mixed / (4 * h * h), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(dydx, mixed / (4 * h * h), rtol=1e-5, atol=1e-6)


class GradSec2(GradSec):
    def construct(self, x, y):
        one, zero = np.ones_like(x), np.zeros_like(x)
        dxdx, dxdy = self.grad(self.network)(x, y, (one, zero))
        dydx, dydy = self.grad(self.network)(x, y, (zero, one))
        return dxdx, dxdy, dydx, dydy


def test_matmul_with_second_derivatives():
    net = Apply(ops.MatMul())
    x, y = np.float64(X), np.float64(Y)
    _, by_y = Grad2(net)(x, y)
    mixed = Grad(Apply(lambda x: np.sum(Grad2(net)(x, y)[1])))(x)
    for k in np.ndindex(2, 3):
        step = np.zeros((2, 3))
        step[k] = 1e-4
        numeric = (np.sum(Grad2(net)(x + step, y)[1]) - np.sum(by_y)) / 1e-4
        np.testing.assert_allclose(mixed[k], numeric, rtol=1e-6)
