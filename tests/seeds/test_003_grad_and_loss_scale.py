"""grad and value_and_grad of a network with a loss and logits, loss scaling and clipping."""

import numpy as np
import pytest

import symgrad as ms
from symgrad import nn, ops
from symgrad.amp import StaticLossScaler, all_finite


class Net(nn.Cell):
    def __init__(self, in_channel, out_channel):
        super(Net, self).__init__()  # noqa: UP008
        self.fc = nn.Dense(in_channel, out_channel, has_bias=False)
        self.loss = nn.MSELoss()

    def construct(self, x, y):
        logits = self.fc(x).squeeze()
        loss = self.loss(logits, y)
        return loss, logits


class Net2(nn.Cell):
    def __init__(self, in_channel, out_channel):
        super().__init__()
        self.fc = nn.Dense(in_channel, out_channel, has_bias=False)
        self.loss = nn.MSELoss()

    def construct(self, x, y):
        logits = self.fc(x).squeeze()
        loss = self.loss(logits, y)
        return loss + logits


X = ms.Tensor([[1, 2, 3]], ms.float32)
Y = ms.Tensor(19, ms.float32)
LOGIT = "(Tensor(shape=[], dtype=Float32, value= 20),)"
BY_X = "Tensor(shape=[1, 3], dtype=Float32, value=[[4.00000000e+000, 6.00000000e+000, 8.00000000e+000]])"
BY_Y = "Tensor(shape=[], dtype=Float32, value= -2)"
BY_WEIGHT = "(Tensor(shape=[1, 3], dtype=Float32, value=[[2.00000000e+000, 4.00000000e+000, 6.00000000e+000]]),)"
SCALED = "(Tensor(shape=[1, 3], dtype=Float32, value=[[2.04800000e+003, 4.09600000e+003, 6.14400000e+003]]),)"


@pytest.fixture(params=[ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])
def net(request):
    ms.set_context(mode=request.param)
    net = Net(3, 1)
    net.fc.weight.set_data(ms.Tensor([[2, 3, 4]], ms.float32))
    yield net
    ms.set_context(mode=ms.GRAPH_MODE)


def test_the_weight_has_its_path_for_a_name(net, capsys):
    for param in net.trainable_params():
        print("name:", param.name, "data:", param.data.asnumpy())
    assert capsys.readouterr().out == "name: fc.weight data: [[2. 3. 4.]]\n"


def test_output(net, capsys):
    loss, logits = net(X, Y)
    print(loss, logits)
    assert capsys.readouterr().out == "1.0 20.0\n"


@pytest.mark.parametrize(
    ("position", "with_weights", "wanted"),
    [
        (0, False, "[[4. 6. 8.]]"),
        (1, False, "-2.0"),
        ((0, 1), False, f"({BY_X}, {BY_Y})"),
        (None, True, BY_WEIGHT),
        (0, True, f"({BY_X}, {BY_WEIGHT})"),
        ((0, 1), True, f"(({BY_X}, {BY_Y}), {BY_WEIGHT})"),
    ],
    ids=["grads 1", "grads 2", "grads 3", "grads 4", "grads 5", "grads 6"],
)
def test_gradients_with_aux(net, prints_as, position, with_weights, wanted):
    weights = net.trainable_params() if with_weights else None
    grad_func = ms.grad(net, grad_position=position, weights=weights, has_aux=True)
    grad, logit = grad_func(X, Y)
    prints_as(grad, wanted)
    prints_as(logit, LOGIT)


def test_without_aux_all_outputs_count(net, prints_as):
    grad_func = ms.grad(net, grad_position=0, weights=None, has_aux=False)
    prints_as(grad_func(X, Y), "[[ 6. 9. 12.]]")


def test_which_is_the_gradient_of_their_sum(prints_as):
    net2 = Net2(3, 1)
    net2.fc.weight.set_data(ms.Tensor([[2, 3, 4]], ms.float32))
    prints_as(ms.grad(net2, grad_position=0, weights=None, has_aux=False)(X, Y), "[[ 6. 9. 12.]]")


def test_neither_position_nor_weights(net):
    with pytest.raises(ValueError, match=r"`grad_position` and `weight` can not be None at the same time\."):
        ms.grad(net, grad_position=None, weights=None, has_aux=True)


def test_value_and_grad(net, prints_as):
    function = ms.value_and_grad(net, grad_position=(0, 1), weights=net.trainable_params(), has_aux=True)
    value, grad = function(X, Y)
    prints_as(value, "(Tensor(shape=[], dtype=Float32, value= 1), Tensor(shape=[], dtype=Float32, value= 20))")
    prints_as(grad, f"(({BY_X}, {BY_Y}), {BY_WEIGHT})")


def test_loss_scale(net, prints_as, capsys):
    loss_scale = StaticLossScaler(1024.0)

    def forward_fn(x, y):
        loss, logits = net(x, y)
        print("loss", loss)
        loss = loss_scale.scale(loss)
        return loss, logits

    function = ms.value_and_grad(forward_fn, grad_position=None, weights=net.trainable_params(), has_aux=True)
    (loss, _), grad = function(X, Y)
    assert capsys.readouterr().out == "loss 1.0\n"
    prints_as(loss, "1024.0")
    prints_as(grad, SCALED)
    loss = loss_scale.unscale(loss)
    grad = loss_scale.unscale(grad)
    prints_as(loss, "1.0")
    prints_as(grad, BY_WEIGHT)
    assert str(all_finite(grad)) == "True"


def test_clipping_by_the_global_norm(net):
    grad = ms.grad(net, grad_position=None, weights=net.trainable_params(), has_aux=True)(X, Y)[0]
    (clipped,) = ops.clip_by_global_norm(grad)
    np.testing.assert_allclose(np.linalg.norm(clipped), 1.0, rtol=1e-6)
    np.testing.assert_allclose(clipped / clipped[0, 0], [[1.0, 2.0, 3.0]], rtol=1e-6)


def test_gradient_accumulation():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(6, 3)).astype(np.float32), rng.normal(size=6).astype(np.float32)
    net = Net(3, 1)
    weights = net.trainable_params()
    function = ms.grad(net, None, weights, has_aux=True)
    total = [np.zeros(w.shape, np.float32) for w in weights]
    for batch in np.split(np.arange(6), 3):
        gradients, _ = function(x[batch], y[batch])
        total = [t + g / 3 for t, g in zip(total, gradients, strict=True)]
    np.testing.assert_allclose(total[0], function(x, y)[0][0], rtol=1e-4, atol=1e-5)
