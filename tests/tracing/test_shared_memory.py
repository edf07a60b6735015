"""Arguments that share memory, with each other and with what the function reads: refused where that can be told."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError

TABLE = np.arange(1.0, 5.0)


def writes(x, y):
    x[0] = 2.0 * y[1]
    return np.sum(x * y)


def test_arguments_that_share_memory_are_refused_where_one_is_written_to():
    gradient, both = sg.grad(writes, (0, 1)), np.arange(6.0)
    np.testing.assert_array_equal(gradient(both[:3], both[3:])[1], [8.0, 1.0 + 2.0 * 3.0, 2.0])
    for overlapping in ((both, both), (both[:4], both[2:])):
        with pytest.raises(ArgumentError, match="x and y share memory"):
            gradient(*overlapping)


def test_arguments_that_are_only_read_may_share_memory():
    both = np.arange(6.0)
    reads = sg.grad(lambda x, y: np.sum(x * y), (0, 1))
    np.testing.assert_array_equal(reads(both, both), (both, both))


def writes_beside_a_global(x):
    x[0] = 5.0
    return np.sum(x * TABLE)


class Model:
    def __init__(self):
        self.weights = np.ones(3)

    def doubles(self, x):
        x *= 2.0
        return np.sum(x * self.weights)


def test_an_argument_that_the_function_also_reads_from_elsewhere_is_refused_where_it_is_written_to():
    model, closed = Model(), np.ones(3)

    def writes_beside_a_closure(x):
        x += 1.0
        return x @ closed

    for function, array in (
        (writes_beside_a_global, TABLE),
        (writes_beside_a_global, TABLE[::-1]),
        (model.doubles, model.weights),
        (writes_beside_a_closure, closed),
    ):
        gradient = sg.grad(function)
        gradient(array.copy())
        with pytest.raises(ArgumentError, match="x shares memory with an array that the function also reads"):
            gradient(array)
        np.testing.assert_array_equal(gradient(array.copy()), sg.grad(function)(array.copy()))
    np.testing.assert_array_equal(TABLE, [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(sg.grad(lambda x: np.sum(x * TABLE))(TABLE), TABLE)


def compares(x, y):
    return np.sum(x * y) * (2.0 if x is y else 3.0)


def test_the_same_array_twice_is_refused_where_the_function_compares_by_is():
    x = np.array([1.0, 2.0])
    gradient = sg.value_and_grad(compares)
    for _ in range(2):
        assert gradient(x, x.copy())[0] == compares(x, x.copy())
        with pytest.raises(ArgumentError, match="x and y are the same array, and the function compares by `is`"):
            gradient(x, x)
    constants = sg.grad(lambda x, y=None: np.sum(x * x) if y is None or y is True else np.sum(y))
    np.testing.assert_array_equal(constants(x), 2 * x)
    np.testing.assert_array_equal(constants(x, x), [0.0, 0.0])


def compares_with_a_global(x):
    return np.sum(x) * (2.0 if x is TABLE else 3.0)


def test_a_global_is_refused_where_the_function_compares_by_is():
    with pytest.raises(ArgumentError, match="compares by `is`"):
        sg.grad(compares_with_a_global)(TABLE)
    np.testing.assert_array_equal(sg.grad(compares_with_a_global)(TABLE.copy()), np.full(4, 3.0))
