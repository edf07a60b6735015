"""Writing into traced arrays: the handle rebinds, views that went stale are refused."""

import numpy as np
import pytest

import symgrad
from symgrad.errors import StaleView, TracingError
from symgrad.testing import check_rule

X = np.array([0.5, -1.5, 2.0, 0.25])


def fill_row_by_row(x):
    y = np.zeros_like(x)
    for k in range(len(x)):
        y[k] = x[k] * x[k - 1]
    return y


def fibonacci_like(x):
    y = x.copy()
    for k in range(2, 4):
        y[k] = y[k - 1] * y[k - 2] + x[k]
    return y


def augmented(x):
    y = x * 1.0
    y += x
    y -= 1
    y *= x[::-1]
    y /= 3.0
    y **= 2
    y[::2] *= x[::2]
    y[0] += x.sum()
    return y


def floor_and_remainder(x):
    y = x + 5.3
    y //= 1.0
    z = x + 5.3
    z %= 0.7
    return y * x + z


def swap(x):
    y = x.copy()
    y[[0, 3]] = y[[3, 0]]
    y[1], y[2] = y[2] * 2.0, y[1]
    return y * x


def broadcast_value(x):
    y = np.empty_like(x, shape=(2, 4))
    y[...] = x
    y[1] = 2.0
    y[:, 1:3] = x[:2] + 1.0
    y[:, 0:1] = [[1.0], [2.0]]
    return y * x


def duplicates(x):
    y = x * 0.0
    y[[0, 0, 1]] = x[:3]
    y[[2, 2]] += x[:2]
    return y


def write_into_the_argument(x):
    x[1] = x[0] ** 2
    x *= 2
    return x


def write_through_mask(x):
    y = x * 2.0
    y[np.array([True, False, True, True])] = x[1]
    y[np.array([False, True, False, False])] = [7.0]
    return y


def ufunc_out(x):
    y = np.zeros_like(x)
    np.multiply(x, x, out=y)
    np.add(y, 1.0, y)
    return y


def two_names(x):
    y = z = x * 1.0
    y += x
    return z * y


def fill_method(x):
    y = x * 1.0
    y.fill(3.0)
    return y * x


@pytest.mark.parametrize(
    "fn",
    [
        *(fill_row_by_row, fibonacci_like, augmented, floor_and_remainder, swap, broadcast_value, duplicates),
        *(write_into_the_argument, write_through_mask, ufunc_out, two_names, fill_method),
    ],
)
def test_writes_follow_numpy(fn):
    check_rule(lambda x: fn(x * 1.0) if fn is write_into_the_argument else fn(x), [X])


def test_the_callers_array_is_never_written_to():
    x = X.copy()
    assert symgrad.grad(write_into_the_argument)(x).shape == (4,)
    np.testing.assert_array_equal(x, X)


def test_a_view_taken_before_a_write_is_refused():
    def fn(x):
        y = x * 1.0
        view = y[1:]
        y[1] = 0.0
        return view.sum()

    with pytest.raises(StaleView, match=r"Take the view again after the write, or take a copy\(\)"):
        symgrad.grad(fn)(X)


@pytest.mark.parametrize("view", [lambda y: y.T, lambda y: y.reshape(2, 2), lambda y: y.ravel(), lambda y: y[:][1:]])
def test_every_kind_of_view_goes_stale(view):
    def fn(x):
        y = x * 1.0
        seen = view(y)
        y[0] = 0.0
        return seen.sum()

    with pytest.raises(StaleView):
        symgrad.grad(fn)(X)


@pytest.mark.parametrize(
    "made", [lambda y: y.copy(), lambda y: y + 0, lambda y: y[[0, 1, 2, 3]], lambda y: y.flatten()]
)
def test_copies_do_not_go_stale(made):
    def fn(x):
        y = x * 1.0
        kept = made(y)
        y[0] = 0.0
        return kept * y

    check_rule(fn, [X])


def test_a_view_taken_again_after_the_write_is_fine():
    def fn(x):
        y = x * 1.0
        y[0] = x[1]
        view = y[:2]
        return view * view

    check_rule(fn, [X])


def write_into_rows(x):
    y = np.outer(x, x)
    row = y[1]
    row += 1.0
    row[2] = x[0]
    y[3][::2] = row[::2]
    for other in y:
        other *= 2.0
    return y


def write_into_a_view_of_a_view(x):
    y = np.outer(x, x)
    inner = y[1:][:, ::-1]
    inner[0, 1:3] = x[:2]
    inner **= 2
    return y


def write_into_a_transpose(x):
    y = np.outer(x, x[:3])
    y.T[0] = x
    turned = y.T
    turned[1, 2] += 5.0
    y.transpose(-1, 0)[2] *= x[0]
    return y * 2.0


@pytest.mark.parametrize("fn", [write_into_rows, write_into_a_view_of_a_view, write_into_a_transpose])
def test_writes_into_views_reach_the_array(fn):
    check_rule(fn, [X])


@pytest.mark.parametrize("view", [lambda y: y.reshape(2, 2), lambda y: y.ravel(), lambda y: y.squeeze()])
def test_writing_into_what_may_be_a_copy_is_refused(view):
    def fn(x):
        y = x * 1.0
        view(y)[0] = 5.0
        return y

    with pytest.raises(TracingError, match="Write into the array itself"):
        symgrad.grad(fn)(X)


def test_the_other_views_of_what_was_written_through_a_view_are_stale():
    def fn(x):
        y = x * 1.0
        first, second = y[:2], y[1:]
        first[1] = 0.0
        return second.sum()

    with pytest.raises(StaleView):
        symgrad.grad(fn)(X)


def test_an_integer_array_cannot_take_a_float_in_place():
    def fn(x):
        y = np.zeros_like(x, dtype=int)
        y += x
        return y * x

    with pytest.raises(TracingError, match="cannot hold a result of float64"):
        symgrad.grad(fn)(X)


def test_scalars_are_bound_anew():
    def fn(x):
        total = first = x[0]
        total += x[1]
        total *= 2.0
        return total * first

    check_rule(fn, [X])


def test_a_float_into_an_integer_array_is_refused():
    def fn(x):
        y = np.zeros_like(x, dtype=int)
        y[0] = x[0]
        return y * x

    with pytest.raises(TracingError, match="use a float array"):
        symgrad.grad(fn)(X)
