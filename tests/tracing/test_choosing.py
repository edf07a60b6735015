"""Comparisons that decide a branch."""

import numpy as np

import symgrad as sg


def test_allclose_is_a_guard():
    def chosen(x):
        return np.sum(x * 3) if np.allclose(x, 1.0) else np.sum(x**2)

    gradient = sg.grad(chosen)
    np.testing.assert_array_equal(gradient(np.array([1.0, 1.0 + 1e-9])), [3.0, 3.0])
    np.testing.assert_array_equal(gradient(np.array([1.0, 2.0])), [2.0, 4.0])


def test_nan_to_num_leaves_whole_numbers_as_they_are():
    for k in (np.array([1, -2]), np.array([True, False])):
        value = sg.symbolic(lambda x, k: x * np.nan_to_num(k), backend="numpy")(2.0, k)
        assert value.tolist() == (2.0 * np.nan_to_num(k)).tolist()
