"""The notebook, run from top to bottom, prints what it shows."""

import pytest

import symgrad as ms
from symgrad import nn, ops
from symgrad.amp import StaticLossScaler, all_finite

BY_X = "Tensor(shape=[1, 3], dtype=Float32, value=\n[[4.00000000e+000, 6.00000000e+000, 8.00000000e+000]])"
BY_WEIGHT = "(Tensor(shape=[1, 3], dtype=Float32, value=\n[[2.00000000e+000, 4.00000000e+000, 6.00000000e+000]]),)"
MINUS_2 = "Tensor(shape=[], dtype=Float32, value= -2)"
LOGIT = "(Tensor(shape=[], dtype=Float32, value= 20),)"


class Net(nn.Cell):
    def __init__(self, in_channel, out_channel):
        super(Net, self).__init__()  # noqa: UP008
        self.fc = nn.Dense(in_channel, out_channel, has_bias=False)
        self.loss = nn.MSELoss()

    def construct(self, x, y):
        logits = self.fc(x).squeeze()
        loss = self.loss(logits, y)
        return loss, logits


class Net2(Net):
    def construct(self, x, y):
        loss, logits = super().construct(x, y)
        return loss + logits


@pytest.fixture(scope="module")
def cells():
    """What the cells of the notebook share: the network and its inputs."""
    net = Net(3, 1)
    net.fc.weight.set_data(ms.Tensor([[2, 3, 4]], ms.float32))
    x = ms.Tensor([[1, 2, 3]], ms.float32)
    y = ms.Tensor(19, ms.float32)
    return net, x, y


def _print_gradient(net, x, y, position, weights):
    grad_func = ms.grad(net, grad_position=position, weights=weights, has_aux=True)
    grad, logit = grad_func(x, y)
    print("grad", grad)
    print("logit", logit)


def test_cell_1(cells, capsys):
    net, x, y = cells
    print("=== weight ===")
    for param in net.trainable_params():
        print("name:", param.name, "data:", param.data.asnumpy())
    loss, logits = net(x, y)
    print("=== output ===")
    print(loss, logits)
    wanted = "=== weight ===\nname: fc.weight data: [[2. 3. 4.]]\n=== output ===\n1.0 20.0\n"
    assert capsys.readouterr().out == wanted


@pytest.mark.parametrize(
    ("position", "weights", "wanted"),
    [
        (0, False, "[[4. 6. 8.]]"),
        (1, False, "-2.0"),
        ((0, 1), False, f"({BY_X}, {MINUS_2})"),
        (None, True, BY_WEIGHT),
        (0, True, f"({BY_X}, {BY_WEIGHT})"),
        ((0, 1), True, f"(({BY_X}, {MINUS_2}), {BY_WEIGHT})"),
    ],
    ids=["cell 2", "cell 3", "cell 4", "cell 5", "cell 6", "cell 7"],
)
def test_gradients(cells, capsys, prints_as, position, weights, wanted):
    net, x, y = cells
    _print_gradient(net, x, y, position, net.trainable_params() if weights else None)
    prints_as(capsys.readouterr().out, f"grad {wanted}\nlogit {LOGIT}\n")


def test_cell_8(cells, capsys):
    net, x, y = cells
    print("grad", ms.grad(net, grad_position=0, weights=None, has_aux=False)(x, y))
    assert capsys.readouterr().out == "grad [[ 6.  9. 12.]]\n"


def test_cell_9(cells, capsys):
    _, x, y = cells
    net2 = Net2(3, 1)
    net2.fc.weight.set_data(ms.Tensor([[2, 3, 4]], ms.float32))
    print("grad", ms.grad(net2, grad_position=0, weights=None, has_aux=False)(x, y))
    assert capsys.readouterr().out == "grad [[ 6.  9. 12.]]\n"


def test_the_error_shown(cells):
    net, *_ = cells
    with pytest.raises(ValueError, match="`grad_position` and `weight` can not be None at the same time"):
        ms.grad(net, grad_position=None, weights=None, has_aux=True)


def test_cell_11(cells, capsys, prints_as):
    net, x, y = cells
    both = ms.value_and_grad(net, grad_position=(0, 1), weights=net.trainable_params(), has_aux=True)
    value, grad = both(x, y)
    print("value", value)
    print("grad", grad)
    wanted = "value (Tensor(shape=[], dtype=Float32, value= 1), Tensor(shape=[], dtype=Float32, value= 20))\n"
    prints_as(capsys.readouterr().out, f"{wanted}grad (({BY_X}, {MINUS_2}), {BY_WEIGHT})\n")


def test_cells_12_and_13(cells, capsys, prints_as):
    net, x, y = cells
    loss_scale = StaticLossScaler(1024.0)

    def forward_fn(x, y):
        loss, logits = net(x, y)
        print("loss", loss)
        loss = loss_scale.scale(loss)
        return loss, logits

    both = ms.value_and_grad(forward_fn, grad_position=None, weights=net.trainable_params(), has_aux=True)
    (loss, _), grad = both(x, y)
    print("=== loss scale ===\nloss", loss)
    print("grad", grad)
    print("=== unscale ===")
    loss = loss_scale.unscale(loss)
    grad = loss_scale.unscale(grad)
    print("loss", loss)
    print("grad", grad)
    print(all_finite(grad))
    scaled = "(Tensor(shape=[1, 3], dtype=Float32, value=\n[[2.04800000e+003, 4.09600000e+003, 6.14400000e+003]]),)"
    wanted = f"loss 1.0\n=== loss scale ===\nloss 1024.0\ngrad {scaled}\n=== unscale ===\nloss 1.0\n"
    prints_as(capsys.readouterr().out, f"{wanted}grad {BY_WEIGHT}\nTrue\n")
    norm_1 = "(Tensor(shape=[1, 3], dtype=Float32, value= [[0.267261242, 0.534522484, 0.801783726]]),)"
    prints_as(ops.clip_by_global_norm(grad), norm_1)
