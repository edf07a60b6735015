"""The derivative that flags ask for: what they choose, and what does not go together."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad import Parameter, nn
from symgrad.errors import ArgumentError
from symgrad.flags.derivative import derivative_of


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.z = Parameter(np.array([2.0]), name="z")
        self.b = Parameter(np.array([1.0]), name="b")
        self.frozen = Parameter(np.array([1.0]), name="frozen", requires_grad=False)

    def construct(self, x):
        return x * self.z + self.b * self.frozen


def test_a_frozen_parameter_is_taken_where_it_is_named():
    net, x = Net(), np.ones(2)
    np.testing.assert_array_equal(derivative_of(net, weights="frozen")(x), sg.grad(net, None, [net.frozen])(x))


def test_positions_names_and_kinds():
    def f(x, y):
        return x**2 * y

    assert derivative_of(f, "1,x")(3.0, 2.0) == (9.0, 12.0)
    assert derivative_of(f, kind="value_and_grad")(3.0, 2.0) == (18.0, 12.0)
    assert derivative_of(f, kind="value_and_grad", order=2)(3.0, 2.0) == (12.0, 4.0)
    assert derivative_of(f, "x,y", return_ids=True)(3.0, 2.0) == ((0, 12.0), (1, 9.0))
    assert derivative_of(f, kind="hessian")(3.0, 2.0) == 4.0
    assert derivative_of(lambda *xs: xs[0] * xs[1], position="1")(3.0, 2.0) == 3.0


def test_fields_and_directions():
    def f(x, y):
        return x**3 * y

    assert derivative_of(f, "x,y", laplacian=True)(3.0, 2.0) == sg.laplacian(f, (0, 1))(3.0, 2.0) == 36.0
    assert derivative_of(lambda r: (r[0] * r[1], r[1]), kind="divergence")(np.array([1.0, 2.0])) == 3.0
    assert derivative_of(lambda r: (-r[1], r[0]), curl=True)(np.array([1.0, 2.0])) == 2.0
    assert derivative_of(f, directional=True, order=2)(3.0, 2.0, 1.0) == 36.0
    assert derivative_of(f, taylor=2)(3.0, 2.0) == [54.0, 54.0, 18.0]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"jacobian": True, "hessian": True}, "jacobian or hessian, not both"),
        ({"sparse": True}, "sparse is for jacobian and hessian"),
        ({"jacobian": True, "order": 2}, "order is for gradients; jacobian is one derivative"),
        ({"hessian": True, "sens": True}, "sens is the cotangent of a gradient"),
        ({"hessian": True, "by_list": True}, "hessian is taken by arguments"),
        ({"order": 0}, "order is 0; give 1 to 8"),
        ({"order": 2, "sens": True}, "sens weighs the outputs of a first derivative"),
        ({"wrt": "x", "position": "0"}, "they say the same"),
        ({"wrt": "x", "get_all": True}, "get_all takes every argument"),
        ({"weights": "z", "by_list": True}, "leave out weights, or leave out by_list"),
        ({"weights": "q"}, "weights names 'q'; there is z, b to choose"),
        ({"wrt": "q"}, "wrt names 'q'; there is x, z, b to choose"),
        ({"wrt": "z", "jacobian": True}, "wrt names the parameter 'z'"),
        ({"kind": "hessian", "jacobian": True}, "give jacobian or kind=hessian, not both"),
        ({"kind": "slope"}, "kind='slope' is unknown"),
        ({"hessian": True, "return_ids": True}, "return_ids is for gradients"),
        ({"wrt": "7"}, "position is '7'; count the 1 arguments from 0"),
        ({"mode": "cross"}, "mode='cross' is unknown"),
        ({"laplacian": True, "taylor": 2}, "give laplacian or taylor, not both"),
        ({"laplacian": True, "sparse": True}, "sparse is for jacobian and hessian"),
        ({"curl": True, "order": 2}, "order is for gradients; curl is one derivative"),
        ({"divergence": True, "mode": "reverse"}, "divergence has no mode"),
        ({"laplacian": True, "has_aux": True}, "laplacian has no aux"),
        ({"taylor": 99}, "order=99"),
    ],
)
def test_what_does_not_go_together_is_refused(flags, message):
    with pytest.raises(ArgumentError, match=message):
        derivative_of(Net(), **flags)


NET, OTHER = Net(), Net()


def test_weights_are_also_those_of_a_cell_that_the_function_names():
    def loss(x):
        return np.sum(NET(x) ** 2)

    inner, x = Net(), np.ones(2)
    for fn, net in ((loss, NET), (lambda x: np.sum(inner(x) ** 2), inner)):
        wanted = sg.grad(fn, None, net.trainable_params())(x)
        got = derivative_of(fn, weights="all")(x)
        assert len(got) == 2
        for a, b in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(derivative_of(fn, weights="frozen")(x), sg.grad(fn, None, [net.frozen])(x))


def test_parameters_of_one_name_are_called_by_their_cell_too():
    def loss(x):
        return np.sum(NET(x) * OTHER(x))

    x = np.ones(2)
    assert len(derivative_of(loss, weights="all")(x)) == 4
    np.testing.assert_array_equal(derivative_of(loss, weights="OTHER.z")(x), sg.grad(loss, None, [OTHER.z])(x))
    with pytest.raises(
        ArgumentError, match=r"weights names 'z'; there is NET\.z, NET\.b, OTHER\.z, OTHER\.b to choose"
    ):
        derivative_of(loss, weights="z")
