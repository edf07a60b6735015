"""Layers, activations and containers."""

import numpy as np
import pytest

import symgrad as ms
from symgrad import Tensor, errors, nn
from symgrad.nn.initializers import INITIALIZERS, initial

ACTIVATIONS = [
    *(nn.CELU, nn.ELU, nn.GELU, nn.GLU, nn.HShrink, nn.HSigmoid, nn.HSwish, nn.Hardtanh, nn.LeakyReLU, nn.LogSigmoid),
    *(nn.LogSoftmax, nn.Mish, nn.PReLU, nn.ReLU, nn.ReLU6, nn.SeLU, nn.SiLU, nn.Sigmoid, nn.SoftShrink, nn.SoftSign),
    *(nn.Softmax, nn.Softmin, nn.Softplus, nn.Tanh, nn.Tanhshrink),
]


class TestDense:
    def test_value(self):
        layer = nn.Dense(3, 2, weight_init=[[1, 2, 3], [4, 5, 6]], bias_init=[10, 20])
        np.testing.assert_allclose(layer(np.ones((1, 3), np.float32)), [[16.0, 35.0]])
        assert layer.weight.shape == (2, 3)

    def test_any_leading_axes(self):
        layer = nn.Dense(3, 2)
        assert layer(np.ones(3)).shape == (2,)
        assert layer(np.ones((4, 5, 3))).shape == (4, 5, 2)

    def test_no_bias(self):
        assert [p.name for p in nn.Dense(3, 2, has_bias=False).get_parameters()] == ["weight"]

    @pytest.mark.parametrize("activation", ["relu", nn.ReLU(), lambda x: np.maximum(x, 0)])
    def test_activation(self, activation):
        layer = nn.Dense(2, 2, weight_init=[[1, 0], [0, 1]], has_bias=False, activation=activation)
        np.testing.assert_allclose(layer(np.array([-1.0, 2.0])), [0.0, 2.0])

    def test_start(self):
        np.random.seed(0)
        first = nn.Dense(100, 50)
        np.random.seed(0)
        np.testing.assert_array_equal(first.weight, nn.Dense(100, 50).weight)
        assert 0.09 < np.abs(first.weight).max() <= 0.1
        assert first.weight.dtype == np.float32
        assert nn.Dense(1, 1, dtype=ms.float64).weight.dtype == np.float64

    @pytest.mark.parametrize(
        ("arguments", "kind", "message"),
        [
            ({"in_channels": 0}, ValueError, "in_channels must be a positive int, got 0"),
            ({"out_channels": 1.5}, ValueError, "out_channels"),
            ({"has_bias": 1}, TypeError, "has_bias"),
            ({"activation": "swoosh"}, ValueError, "no activation 'swoosh'"),
            ({"activation": 3}, TypeError, "activation must be"),
            ({"weight_init": "swoosh"}, ValueError, "no initializer 'swoosh'"),
            ({"weight_init": [1.0]}, ValueError, r"shape \(1,\) and the parameter \(2, 3\)"),
        ],
    )
    def test_bad_arguments(self, arguments, kind, message):
        with pytest.raises(kind, match=message):
            nn.Dense(**{"in_channels": 3, "out_channels": 2, **arguments})

    def test_named_dims(self):
        program = ms.trace(nn.Dense(3, 2), "n 3")
        assert program.names == ("x", "weight", "bias")
        assert str(program.outputs[0].shape) == "(n, 2)"

    def test_inputs_that_do_not_fit(self):
        with pytest.raises(errors.ShapeError):
            nn.Dense(3, 2)(np.ones((1, 4)))


@pytest.mark.parametrize("name", INITIALIZERS)
def test_initializers(name):
    assert initial(name, (4, 3)).shape == (4, 3)
    if name not in ("identity", "orthogonal"):
        assert initial(name, ()).shape == ()
    else:
        with pytest.raises(errors.ShapeError, match=name):
            initial(name, (3,))


def test_what_initializers_draw():
    np.random.seed(0)
    for shape in ((5, 3), (3, 5), (2, 3, 2)):
        rows = initial("orthogonal", shape, np.float64).reshape(shape[0], -1)
        few = rows @ rows.T if rows.shape[0] <= rows.shape[1] else rows.T @ rows
        np.testing.assert_allclose(few, np.eye(min(rows.shape)), atol=1e-12)
    assert np.abs(initial("truncated_normal", (1000,))).max() <= 0.02
    np.testing.assert_allclose(initial("xavier_normal", (300, 100)).std(), np.sqrt(2 / 400), rtol=0.05)
    np.testing.assert_array_equal(initial("identity", (2, 3)), np.eye(2, 3))


@pytest.mark.parametrize("cell", ACTIVATIONS)
@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_activations_are_finite_far_out(cell, mode):
    x = Tensor([-1000.0, -1.0, 0.0, 1.0, 2.0, 1000.0])
    ms.set_context(mode=mode)
    try:
        assert np.isfinite(cell()(x)).all()
        assert np.isfinite(ms.grad(cell())(x)).all()
    finally:
        ms.set_context(mode=ms.GRAPH_MODE)


@pytest.mark.parametrize("cell", ACTIVATIONS)
def test_activations_have_right_slopes(cell):
    x = np.array([-2.0, -0.3, 0.4, 1.5])
    weights = np.array([1.0, -2.0, 3.0, 0.5])[: cell()(x).size]
    f = lambda x: float(np.sum(np.asarray(cell()(x)) * weights))  # noqa: E731
    numeric = [(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(ms.grad(lambda x: np.sum(cell()(x) * weights))(x), numeric, rtol=1e-6, atol=1e-8)


def test_relu_has_slope_0_at_0():
    assert ms.grad(nn.ReLU())(0.0) == 0.0


def test_activation_options():
    np.testing.assert_allclose(nn.Softmax(axis=0)(np.zeros((2, 3))), np.full((2, 3), 0.5))
    assert repr(nn.Softmax(axis=0)) == "Softmax<axis=0>"
    with pytest.raises(TypeError, match="takes the options"):
        nn.ReLU(3)


class TestDropout:
    def test_identity_outside_training(self):
        np.testing.assert_array_equal(nn.Dropout(0.5)(np.ones(100)), np.ones(100))

    def test_a_new_mask_at_every_call_in_training(self):
        np.random.seed(0)
        net = nn.Dropout(0.25).set_train()
        first, second = net(np.ones(1000)), net(np.ones(1000))
        assert set(np.unique(first)) == {0.0, 1 / 0.75}
        assert 0.7 < np.mean(first > 0) < 0.8
        assert (first != second).any()

    def test_value_and_gradient_share_the_mask(self):
        net = nn.Dropout(0.5).set_train()
        value, gradient = ms.value_and_grad(net)(np.ones(100))
        np.testing.assert_array_equal(value, gradient)

    @pytest.mark.parametrize("p", [-0.1, 1.0, True, "a"])
    def test_bad_probability(self, p):
        with pytest.raises(ValueError, match="Dropout: p must be"):
            nn.Dropout(p)


class TestContainers:
    def test_like_a_list(self):
        cells = [nn.Dense(2, 3), nn.ReLU(), nn.Dense(3, 1)]
        net = nn.SequentialCell(cells)
        assert len(net) == 3
        assert list(net) == cells
        assert net[-1] is cells[2]
        assert len(net[:2]) == 2
        assert list(nn.SequentialCell(*cells)) == cells
        assert list(nn.CellList(cells[:1]).extend(cells[1:])) == cells

    def test_values_and_names(self):
        net = nn.SequentialCell(nn.Flatten(), nn.Dense(4, 1, weight_init="ones", has_bias=False))
        np.testing.assert_allclose(net(np.ones((3, 2, 2), np.float32)), [[4.0]] * 3)
        assert list(net.parameters_dict()) == ["1.weight"]

    def test_cell_list_in_a_cell(self):
        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.layers = nn.CellList([nn.Dense(2, 2) for _ in range(2)])

            def construct(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x

        net = Net()
        assert [p.name for p in net.trainable_params()] == [
            f"layers.{k}.{n}" for k in range(2) for n in ("weight", "bias")
        ]
        assert net(np.ones((1, 2))).shape == (1, 2)

    def test_what_is_no_cell(self):
        with pytest.raises(TypeError, match="SequentialCell holds Cells, got a function"):
            nn.SequentialCell([lambda x: x])
        with pytest.raises(TypeError, match="CellList takes Cells or a list of them"):
            nn.CellList(3)
        with pytest.raises(TypeError, match="holds Cells"):
            nn.CellList([nn.ReLU()])[0] = 3
        with pytest.raises(errors.CellError, match="CellList has no construct"):
            nn.CellList([nn.ReLU()])(np.ones(1))
