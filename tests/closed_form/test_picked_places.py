"""Indices that a function knows beforehand: in a formula they are places on the axes that the user's code has."""

import numpy as np
import pytest

import symgrad as sg


def index_form(fn, *args):
    (row,) = sg.symbolic(fn).formulas(*args).text_rows(["f"])
    return row


def test_windows_begin_where_they_lie():
    def windows(x):
        return np.lib.stride_tricks.sliding_window_view(x, (2, 3), axis=(1, 2)) ** 2

    assert index_form(windows, np.ones((5, 6, 7))) == "f[i, j, k, l, m] = x[i, j + l, k + m]**2"


def test_one_of_each_row():
    labels = np.array([3, 0, 3, 1, 2, 4, 0, 1, 2])
    picked = index_form(lambda z: np.exp(z[np.arange(9), labels]), np.ones((9, 5)))
    assert picked == "f[i] = exp(z[i, c_0[i] % 5])\n  where c_0 = [3, 5, 13, 16, 22, 29, 30, 36, 42]"
    backwards = index_form(lambda z: np.exp(z[np.arange(9)[::-1], np.arange(9)]), np.ones((9, 9)))
    assert backwards == "f[i] = exp(z[8 - i, i])"


def overlaps(size, window, stride):
    """The sum of squares of all windows times weights: its derivative adds them up where they overlap."""

    def fn(x, w):
        return np.sum(np.tanh(np.lib.stride_tricks.sliding_window_view(x, window, axis=-1)[..., ::stride, :] @ w))

    return sg.grad(fn), (np.linspace(-1, 1, 2 * size).reshape(2, size), np.linspace(0.5, 1.5, window))


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("window", [1, 2, 4, 7])
def test_windows_that_overlap_add_up(window, stride):
    derived, args = overlaps(9, window, stride)
    found = derived.agreement(*args)
    assert found.index is not None
    assert found.index < 1e-12


def test_a_convolution_is_turned_back_by_one():
    derived, args = overlaps(9, 3, 1)
    assert derived.steps(*args)[-1].text == "x̄[i, j] = Sum(v̄₁[i, j - m, m], (m, Max(0, j - 6), Min(2, j)))"


def test_one_of_each_row_gives_to_one_of_each_row():
    def loss(logp, labels):
        return -np.sum(logp[np.arange(len(labels)), labels] ** 2)

    derived = sg.grad(loss)
    args = np.linspace(-1, 1, 12).reshape(4, 3), np.array([0, 2, 1, -2])
    (row,) = derived.formulas(*args).text_rows(["g"])
    assert row == "g = −2(logp ⊙ onehot(labels))"
    assert derived.agreement(*args).index < 1e-12


@pytest.mark.parametrize("shape", [(4, 3), (4, 4)])
def test_elements_that_are_picked_by_two_arrays(shape):
    derived = sg.grad(lambda u, i, j: np.sum(u[i, j] ** 3))
    args = np.linspace(-1, 1, shape[0] * shape[1]).reshape(shape), np.array([0, 2, -1, 2]), np.array([0, 2, 1, -1])
    (row,) = derived.formulas(*args).text_rows(["g"])
    assert "floor" not in row
    assert derived.agreement(*args).index < 1e-12
