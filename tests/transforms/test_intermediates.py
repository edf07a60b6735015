"""Named intermediates: which there are, and that holding one constant is stop_gradient after its assignment."""

from __future__ import annotations

import inspect
import sys

import numpy as np
import pytest

import symgrad as sg
from symgrad import Parameter, nn
from symgrad.errors import ArgumentError
from symgrad.transforms.intermediates import intermediates, stopping

X = np.array([0.5, 2.0])


def looped(x, n=2):
    h = np.sin(x)
    for _ in range(n):
        h = h * x
    return np.sum(h * np.sin(x))


def looped_held(x, n=2):
    h = sg.stop_gradient(np.sin(x))
    for _ in range(n):
        h = sg.stop_gradient(h * x)
    return np.sum(h * np.sin(x))


def unpacked(x):
    a, b = np.sin(x), x * x
    return np.sum(a * b + np.sin(x))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(np.array([2.0, 3.0]), name="w")

    def construct(self, x):
        hidden = np.tanh(self.w * x)
        return hidden * x


def test_they_are_listed_in_order_with_their_lines():
    start = inspect.getsourcelines(unpacked)[1]
    assert {n: s.number - start for n, s in intermediates(unpacked, X).items()} == {"a": 1, "b": 1}
    assert list(intermediates(Net(), X)) == ["hidden"]


def test_arguments_aliases_and_whole_numbers_are_left_out():
    def g(x):
        same = x
        place = np.argmax(x)
        n = 3
        y = x * n
        again = y
        return again[place] + same[0]

    assert list(intermediates(g, X)) == ["y"]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_stopping_is_stop_gradient_after_every_assignment(n):
    held = sg.grad(stopping(looped, ["h"]))
    np.testing.assert_array_equal(held(X, n), sg.grad(looped_held)(X, n))
    assert not np.allclose(held(X, n), sg.grad(looped)(X, n))


def test_an_equal_expression_elsewhere_still_flows():
    held = sg.grad(stopping(unpacked, ["a"]))
    h = 1e-6
    a = np.sin(X)

    def with_a_as_it_is(x):
        return np.sum(a * x**2 + np.sin(x))

    step = [(with_a_as_it_is(X + d) - with_a_as_it_is(X - d)) / (2 * h) for d in h * np.eye(2)]
    np.testing.assert_allclose(held(X), step, rtol=1e-6)


def test_several_names_and_second_orders():
    both = stopping(unpacked, ["a", "b"])
    np.testing.assert_allclose(sg.grad(both)(X), np.cos(X))
    np.testing.assert_allclose(sg.hessian(both)(X), np.diag(-np.sin(X)))


def test_a_cell_keeps_its_parameters():
    net = Net()
    held = stopping(net, ["hidden"])
    with pytest.warns(sg.errors.UnusedWeightWarning):
        by_input, (by_weight,) = sg.grad(held, 0, held.trainable_params())(X)
    np.testing.assert_allclose(by_input, np.tanh(net.w * X))
    np.testing.assert_array_equal(by_weight, [0.0, 0.0])


def test_values_are_untouched_and_surroundings_are_guarded():
    held = stopping(unpacked, ["a"])
    assert held(X) == unpacked(X)
    scale = [2.0]

    def scaled(x):
        h = x * scale[0]
        return np.sum(h * x)

    gradient = sg.grad(stopping(scaled, ["h"]))
    np.testing.assert_array_equal(gradient(X), 2 * X)
    scale[0] = 3.0
    np.testing.assert_array_equal(gradient(X), 3 * X)


def test_names_that_cannot_be_held_are_refused():
    with pytest.raises(ArgumentError, match="binds no local variable 'k'; it has"):
        stopping(looped, ["k"])

    def aliased(x):
        y = x
        return y * 2

    with pytest.raises(ArgumentError, match="another name of an argument"):
        sg.grad(stopping(aliased, ["y"]))(1.0)
    assert sg.grad(aliased)(1.0) == 2.0


def test_the_interpreter_is_left_as_it_was():
    outer = sys.gettrace()
    intermediates(looped, X)
    with pytest.raises(ZeroDivisionError):
        intermediates(lambda x: 1 / 0, X)
    assert sys.gettrace() is outer
