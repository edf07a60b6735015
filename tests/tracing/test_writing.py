"""NumPy's functions that write into an argument."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import TracingError

X = np.array([0.5, -1.5, 2.0])
OUTSIDE = np.zeros(3)


def added_at(x):
    y = np.ones(4)
    np.add.at(y, [0, 2, 0], x)
    np.subtract.at(y, np.array([3, 3]), x[:2])
    np.multiply.at(y, [1, 1], x[2])
    np.maximum.at(y, [0, 1], x[1] + 5.0)
    np.negative.at(y, [2])
    return y


def put(x):
    y = np.zeros((2, 3))
    np.put(y, [0, -1], [x[0], x[1] * x[2]])
    np.put(y, [7, 8], x[2], mode="wrap")
    np.put_along_axis(y, np.array([[2], [0]]), x[0] * 3, axis=1)
    return y


def copied(x):
    y, z = np.zeros(3), np.zeros((3, 3))
    np.copyto(y, x)
    np.copyto(y, x[0], where=np.array([False, True, False]))
    np.fill_diagonal(z, x)
    np.fill_diagonal(z[1:], x[2])
    return z @ y


def masked(x):
    y, z = np.arange(4.0), np.arange(4.0)
    np.putmask(y, y > 1, x[:2])
    np.place(z, z > 1, [x[0], x[1]])
    return y * z + np.bincount([0, 2, 0], weights=x, minlength=4)


def out(x):
    y, z = np.zeros(3), np.ones(3)
    np.multiply(x, 2.0, out=y)
    np.sin(x, y[::-1])
    np.divide(x, 2.0, out=z, where=np.array([True, False, True]))
    np.sum(np.stack([x, y]), axis=0, out=z[:])
    np.modf(x * 1.3, out=(y, None))
    return y + z


@pytest.mark.parametrize("fn", [added_at, put, copied, masked, out], ids=lambda f: f.__name__)
def test_values_and_derivatives(check_rule, fn):
    check_rule(fn, [X], order=1)


@pytest.mark.parametrize(
    "write",
    [
        lambda x: np.copyto(OUTSIDE, x),
        lambda x: np.put(OUTSIDE, [0], x[0]),
        lambda x: np.add.at(OUTSIDE, [0], x[0]),
        lambda x: np.fill_diagonal(np.outer(OUTSIDE, OUTSIDE).view(), x[0]) or np.putmask(OUTSIDE, OUTSIDE == 0, x),
        lambda x: np.multiply(x, 2.0, out=OUTSIDE),
    ],
)
def test_what_is_the_callers_is_not_written_to(write):
    with pytest.raises(TracingError, match=r"outside|plain"):
        sg.grad(lambda x: write(x) or x)(X)
    assert not OUTSIDE.any()


def shuffled(x):
    rows, columns, values, one = np.outer(x, x), np.outer(x, x), list(x), x.copy()
    np.random.default_rng(3).shuffle(rows)
    np.random.RandomState(1).shuffle(columns.T)
    np.random.default_rng(2).shuffle(values)
    np.random.default_rng(2).shuffle(one)
    return rows * np.arange(3.0) @ columns @ np.array(values) * one


def test_generators_shuffle_arrays_and_lists():
    made, gradient = sg.value_and_grad(shuffled)(X)
    assert np.array_equal(made, shuffled(X))
    steps = np.eye(3) * 1e-6
    wanted = [(np.sum(shuffled(X + h)) - np.sum(shuffled(X - h))) / 2e-6 for h in steps]
    np.testing.assert_allclose(gradient, wanted, rtol=1e-7)
