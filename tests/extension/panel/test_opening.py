"""What a panel begins with: the flags of the derivative it was opened on."""

from __future__ import annotations

import numpy as np
import pytest
from symgrad_notebook.panel.flags import Flags, derivative
from symgrad_notebook.panel.opening import opening

import symgrad as sg
from symgrad.errors import ArgumentError
from symgrad.transforms.gradient import GradientFunction

from .conftest import held, same

X, Y = 0.5, 2.0


@pytest.mark.parametrize(
    ("derived", "flags"),
    [
        (sg.grad(held), Flags()),
        (sg.grad(held, (1, 0)), Flags(grad_position=(1, 0))),
        (sg.grad(held, mode="forward"), Flags(mode="forward")),
        (sg.grad(held, 1, return_ids=True), Flags(grad_position=(1,), return_ids=True)),
        (sg.value_and_grad(held, 1), Flags("value_and_grad", grad_position=(1,))),
        (sg.GradOperation(get_all=True)(held), Flags("GradOperation", get_all=True, grad_position=(0, 1))),
        (sg.grad(sg.grad(held)), Flags(order=2)),
        (sg.grad(sg.grad(sg.grad(held))), Flags(order=3)),
        (sg.jacobian(held, (0, 1)), Flags(grad_position=(0, 1))),
        (sg.hessian(held), Flags()),
        (sg.symbolic(held), Flags()),
    ],
)
def test_the_flags_are_those_of_the_derivative(derived, flags):
    begin = opening(derived, (X, Y), {})
    assert begin.flags == flags
    assert begin.subject.function is held
    if isinstance(derived, GradientFunction):
        assert same(derivative(begin.subject, begin.flags)(X, Y), derived(X, Y))


@pytest.mark.parametrize("by_name", [True, False])
def test_sens_is_not_an_argument_of_the_function(by_name):
    gradient = sg.GradOperation(sens_param=True)(held)
    begin = opening(gradient, (X, Y), {"sens": 3.0}) if by_name else opening(gradient, (X, Y, 3.0), {})
    assert (begin.flags.call, begin.flags.sens_param, begin.sens) == ("GradOperation", True, 3.0)
    assert begin.subject.args == (X, Y)


def test_the_weights_are_those_of_the_derivative(product):
    net, x, y = product
    frozen = sg.Parameter(np.ones(2, np.float32), name="frozen", requires_grad=False)
    net.frozen = frozen
    assert opening(sg.grad(net), (x, y), {}).flags.trainable == (0,)
    begin = opening(sg.grad(net, None, [frozen]), (x, y), {})
    assert (begin.flags.weights, begin.flags.trainable, begin.flags.grad_position) == (True, (1,), ())
    both = opening(sg.GradOperation(True, True)(net), (x, y), {}).flags
    assert (both.call, both.get_all, both.get_by_list, both.trainable) == ("GradOperation", True, True, (0,))
    lone = opening(sg.GradOperation(get_by_list=True, sens_param=True)(net), (x, y), {"sens": x}).flags
    assert (lone.get_all, lone.get_by_list, lone.sens_param) == (False, True, True)


def test_the_sum_of_a_gradient_of_another_kind_is_a_function_as_any():
    inner = sg.grad(held, 1)
    begin = opening(sg.grad(inner, 0), (X, Y), {})
    assert begin.subject.function is inner
    assert begin.flags.order == 1


def test_a_product_is_no_gradient():
    with pytest.raises(ArgumentError, match=r"open it on sg\.grad\(f\)"):
        opening(sg.vmap(sg.grad(held), in_axes=(0, None)), (np.ones(3), Y), {})


def test_sens_may_be_left_out():
    begin = opening(sg.GradOperation(sens_param=True)(held), (X, Y), {})
    assert (begin.flags.sens_param, begin.sens, begin.subject.args) == (True, None, (X, Y))


@pytest.mark.parametrize("args", [(), (X,), ("n", "n")])
def test_without_arrays_there_is_nothing_to_show(args):
    with pytest.raises(
        ArgumentError, match=r"shows values: pass it arrays, as you pass them to the gradient: g\.panel\(x, y\)"
    ):
        opening(sg.grad(held), args, {})
