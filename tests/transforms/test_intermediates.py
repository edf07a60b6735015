"""Named intermediates: which there are, and that holding one constant is stop_gradient after its assignment."""

from __future__ import annotations

import copy
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


def listed(x):
    parts = [x * x, x]
    h = parts[0]
    return h * x + parts[0]


def listed_held(x):
    parts = [x * x, x]
    h = sg.stop_gradient(parts[0])
    return h * x + parts[0]


def chained(x):
    h = g = x * x
    return h * x + g


def chained_held(x):
    h = g = x * x
    h = sg.stop_gradient(h)
    return h * x + g


def looped_over(x):
    xs = [x * x, 3 * x]
    total = 0.0
    for h in xs:
        total = total + h * x
    return total + xs[0]


def looped_over_held(x):
    xs = [x * x, 3 * x]
    total = 0.0
    for h in xs:
        h = sg.stop_gradient(h)
        total = total + h * x
    return total + xs[0]


def walrus(x):
    return (h := x * x) * x + h


def walrus_held(x):
    first = (h := x * x) * x
    h = sg.stop_gradient(h)
    return first + h


def argument(x):
    h = x
    return h * x


def argument_held(x):
    h = sg.stop_gradient(x)
    return h * x


def celled(x):
    h = x * x

    def inner():
        return h * x

    return inner()


def celled_held(x):
    h = sg.stop_gradient(x * x)

    def inner():
        return h * x

    return inner()


@pytest.mark.parametrize(
    ("fn", "written"),
    [
        (listed, listed_held),
        (chained, chained_held),
        (looped_over, looped_over_held),
        (walrus, walrus_held),
        (argument, argument_held),
        (celled, celled_held),
    ],
)
def test_other_names_of_the_same_value_stay_as_they_are(fn, written):
    assert sg.grad(stopping(fn, ["h"]))(3.0) == sg.grad(written)(3.0)
    assert sg.grad(stopping(fn, ["h"]))(3.0) != sg.grad(fn)(3.0)


def test_names_add_up_when_it_is_held_twice():
    twice = stopping(stopping(unpacked, ["a"]), ["b"])
    np.testing.assert_array_equal(sg.grad(twice)(X), sg.grad(stopping(unpacked, ["a", "b"]))(X))
    assert set(intermediates(stopping(unpacked, ["a"]), X)) == {"a", "b"}


def made(k, inner=None):
    def f(x):
        h = x * k
        return h * x + (inner(x) if inner else 0.0)

    return f


def test_another_function_of_the_same_code_is_another_function():
    # h of the outer one is held: h x is 2 x where it flows in both, and the inner one adds (2 x^2)' = 4 x
    assert sg.grad(stopping(made(1.0, made(2.0)), ["h"]))(3.0) == 3.0 + 12.0


def test_it_can_be_copied():
    held = copy.copy(stopping(unpacked, ["a"]))
    assert held.names == ("a",)


def test_the_interpreter_is_left_as_it_was():
    outer = sys.gettrace()
    intermediates(looped, X)
    with pytest.raises(ZeroDivisionError):
        intermediates(lambda x: 1 / 0, X)
    assert sys.gettrace() is outer
