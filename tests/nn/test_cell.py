"""Cells: names, traces that follow changes, parameters that are read live, bad use."""

import copy
import pickle

import numpy as np
import pytest

import symgrad as ms
from symgrad import Parameter, ParameterTuple, Tensor, errors, nn, ops

X = np.array([1.0, 2.0], np.float32)
OFFSET = 1.0


class Scale(nn.Cell):
    def __init__(self, factor=2.0):
        super().__init__()
        self.scale = factor
        self.w = Parameter([1.0, 1.0])

    def construct(self, x):
        return x * self.scale * self.w + OFFSET


class Telling(nn.Cell):
    """Prints when construct runs."""

    def __init__(self):
        super().__init__()
        self.w = Parameter([1.0, 1.0])

    def construct(self, x):
        print("run")
        return x * self.w


@pytest.fixture
def pynative():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=ms.GRAPH_MODE)


class TestNames:
    def test_attribute_paths(self):
        class Block(nn.Cell):
            def __init__(self):
                super().__init__()
                self.fc = nn.Dense(2, 2)
                self.own = Parameter([1.0], name="mine")

        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.block = Block()
                self.z = Parameter([1.0], name="z")
                self.y = Parameter([1.0])

        net = Net()
        assert list(net.parameters_dict()) == ["z", "y", "block.mine", "block.fc.weight", "block.fc.bias"]
        assert [n for n, _ in net.parameters_and_names()] == ["z", "y", "block.own", "block.fc.weight", "block.fc.bias"]
        assert [n for n, _ in net.parameters_and_names(expand=False)] == ["z", "y"]
        assert next(n for n, _ in net.parameters_and_names("net")) == "net.z"

    def test_a_second_holder_does_not_rename(self):
        inner = Scale()
        first, second = nn.SequentialCell(inner), nn.SequentialCell(inner)
        assert [p.name for c in (first, second) for p in c.get_parameters()] == ["0.w", "0.w"]

    def test_without_auto_prefix(self):
        class Wrapper(nn.Cell):
            def __init__(self, net):
                super().__init__(auto_prefix=False)
                self.net = net

        assert list(Wrapper(Scale()).parameters_dict()) == ["w"]

    def test_parameter_tuples(self):
        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.ws = ParameterTuple([Parameter([1.0]), Parameter([2.0], name="b")])
                self.first = self.ws[0]

        assert list(Net().parameters_dict()) == ["ws.0", "b"]

    def test_two_of_one_name(self):
        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.a, self.b = Parameter([1.0], name="w"), Parameter([1.0], name="w")

        with pytest.raises(ValueError, match="two parameters are named 'w'"):
            Net().parameters_dict()

    def test_trainable_and_not(self):
        net = nn.Dense(2, 1)
        net.bias.requires_grad = False
        assert net.trainable_params() == [net.weight]
        assert [p.name for p in net.untrainable_params()] == ["bias"]

    def test_sub_cells(self):
        net = nn.SequentialCell(nn.Dense(2, 2), nn.ReLU())
        assert list(net.name_cells()) == ["0", "1"]
        assert net.cells() == [net[0], net[1]]
        assert [n for n, _ in net.cells_and_names()] == ["", "0", "1"]
        seen = []
        assert net.apply(lambda c: seen.append(type(c).__name__)) is net
        assert seen[-1] == "SequentialCell"

    def test_repr(self):
        net = nn.SequentialCell(nn.Dense(2, 3), nn.SequentialCell(nn.LeakyReLU()))
        assert repr(net) == (
            "SequentialCell<\n  (0): Dense<in_channels=2, out_channels=3, has_bias=True>\n"
            "  (1): SequentialCell<\n    (0): LeakyReLU<alpha=0.2>\n  >\n>"
        )


class TestTraces:
    def test_graph_mode_traces_once_a_signature(self, capsys):
        net = Telling()
        for _ in range(3):
            net(X)
        assert capsys.readouterr().out == "run\n"
        net(np.ones((3, 2), np.float32))
        assert capsys.readouterr().out == "run\n"

    @pytest.mark.usefixtures("pynative")
    def test_pynative_mode_runs_each_time(self, capsys):
        net = Telling()
        for _ in range(3):
            result = net(X)
        assert capsys.readouterr().out == 3 * "run\n"
        assert isinstance(result, Tensor)

    def test_modes_agree(self):
        net = Scale()
        graph = net(X)
        ms.set_context(mode=ms.PYNATIVE_MODE)
        try:
            np.testing.assert_array_equal(net(X), graph)
        finally:
            ms.set_context(mode=ms.GRAPH_MODE)

    def test_a_changed_attribute_is_seen(self):
        net = Scale()
        gradient = ms.grad(net)
        np.testing.assert_allclose(net(X), [3.0, 5.0])
        np.testing.assert_allclose(gradient(X), [2.0, 2.0])
        net.scale = 3
        np.testing.assert_allclose(net(X), [4.0, 7.0])
        np.testing.assert_allclose(gradient(X), [3.0, 3.0])

    def test_a_changed_global_is_seen(self, monkeypatch):
        net = Scale()
        np.testing.assert_allclose(net(X), [3.0, 5.0])
        monkeypatch.setitem(globals(), "OFFSET", 10.0)
        np.testing.assert_allclose(net(X), [12.0, 14.0])

    def test_a_new_sub_cell_is_seen(self):
        net = nn.SequentialCell(Scale())
        np.testing.assert_allclose(net(X), [3.0, 5.0])
        net.append(Scale(1.0))
        np.testing.assert_allclose(net(X), [4.0, 6.0])
        net[1] = nn.Tanh()
        np.testing.assert_allclose(net(X), np.tanh([3.0, 5.0]), rtol=1e-6)

    def test_a_replaced_method_is_seen(self, monkeypatch):
        net = Scale()
        net(X)
        monkeypatch.setattr(Scale, "construct", lambda self, x: x - self.w)
        np.testing.assert_allclose(net(X), [0.0, 1.0])

    def test_the_training_flag_is_seen(self):
        class Net(nn.Cell):
            def construct(self, x):
                return x * 2 if self.training else x

        net = Net()
        np.testing.assert_allclose(net(X), X)
        assert net.set_train() is net
        np.testing.assert_allclose(net(X), 2 * X)
        assert net.set_grad().requires_grad
        with pytest.raises(TypeError, match="training must be True or False"):
            net.set_train(1)

    @pytest.mark.parametrize(
        "write",
        [
            lambda net: net.w.set_data([3.0, 4.0]),
            lambda net: net.w.__setitem__(..., [3.0, 4.0]),
            lambda net: np.copyto(net.w.asnumpy(), [3.0, 4.0]),
            lambda net: setattr(net, "w", Tensor([3.0, 4.0])),
            lambda net: setattr(net, "w", net.w.__iadd__([2.0, 3.0])),
            lambda net: setattr(net, "w", Parameter([3.0, 4.0])),
        ],
        ids=["set_data", "setitem", "memory", "assigned array", "in place", "replaced"],
    )
    def test_new_weights_are_seen(self, write):
        net = Scale()
        net(X)
        write(net)
        np.testing.assert_allclose(net(X), [7.0, 17.0])
        assert net.w.name == "w"

    def test_new_weights_need_no_new_trace(self, capsys):
        net = Telling()
        for _ in range(3):
            net(X)
            net.w -= 0.1
        assert capsys.readouterr().out == "run\n"

    def test_keyword_arguments_and_nested_outputs(self):
        class Net(nn.Cell):
            def construct(self, x, y=1.0, **rest):
                return {"sum": x + y, "both": (x, rest["z"])}

        out = Net()(X, y=X, z=2 * X)
        np.testing.assert_allclose(out["sum"], 2 * X)
        np.testing.assert_allclose(out["both"][1], 2 * X)

    def test_plain_arrays_stay_plain_without_parameters(self):
        assert type(nn.ReLU()(X)) is np.ndarray
        assert type(nn.ReLU()(Tensor(X))) is Tensor

    def test_copies_are_independent(self):
        net = Scale()
        net(X)
        for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
            other.w.set_data([0.0, 0.0])
            np.testing.assert_allclose(other(X), [1.0, 1.0])
            np.testing.assert_allclose(net(X), [3.0, 5.0])
            assert other.w.name == "w"

    def test_gradient_by_weights_inside_a_cell_holds_its_arguments_constant(self):
        w = Parameter(np.array([2.0]), name="w")

        def outer(x):
            return ms.grad(lambda h: h * w, None, w)(x * w)

        np.testing.assert_allclose(outer(np.array([3.0])), [6.0])
        np.testing.assert_allclose(ms.symbolic(outer)(np.array([3.0])), [6.0])


class TestBadUse:
    def test_init_not_called(self):
        class Net(nn.Cell):
            def __init__(self):
                self.fc = nn.Dense(1, 1)

        with pytest.raises(errors.CellError, match=r"Net\.__init__ must call super\(\).__init__\(\)"):
            Net()

    def test_init_not_called_and_nothing_set(self):
        class Net(nn.Cell):
            def __init__(self):
                pass

            def construct(self, x):
                return x

        with pytest.raises(AttributeError, match=r"must call super\(\)"):
            Net()(X)

    def test_no_construct(self):
        class Net(nn.Cell):
            pass

        with pytest.raises(errors.CellError, match=r"Net has no construct"):
            Net()(X)

    def test_a_traced_value_as_attribute(self):
        class Net(nn.Cell):
            def construct(self, x):
                self.hidden = x * 2
                return self.hidden

        with pytest.raises(errors.TracingError, match="attribute 'hidden'"):
            Net()(X)

    @pytest.mark.parametrize(
        "write",
        [
            lambda w, x: w.set_data([1.0, 1.0]),
            lambda w, x: w.__setitem__(0, 1.0),
            lambda w, x: w.__iadd__(x),
            lambda w, x: w.__iadd__(1.0),
        ],
    )
    def test_writing_to_a_parameter_while_tracing(self, write):
        class Net(Scale):
            def construct(self, x):
                write(self.w, x)
                return x

        with pytest.raises(errors.TracingError, match="written"):
            Net()(X)

    def test_a_failed_trace_leaves_nothing_behind(self):
        net = Scale()
        with pytest.raises(ValueError, match=r"broadcast|shape"):
            net(np.ones(3, np.float32))
        np.testing.assert_allclose(net(X), [3.0, 5.0])


def test_operators_with_options_are_guarded():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.sum = ops.ReduceSum()

        def construct(self, x):
            return self.sum(x, 0)

    net = Net()
    assert net(X).shape == ()
    net.sum = ops.ReduceSum(keep_dims=True)
    assert net(X).shape == (1,)
