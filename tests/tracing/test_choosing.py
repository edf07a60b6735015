"""Comparisons that decide a branch."""

import numpy as np

import symgrad as sg


def test_allclose_is_a_guard():
    def chosen(x):
        return np.sum(x * 3) if np.allclose(x, 1.0) else np.sum(x**2)

    gradient = sg.grad(chosen)
    np.testing.assert_array_equal(gradient(np.array([1.0, 1.0 + 1e-9])), [3.0, 3.0])
    np.testing.assert_array_equal(gradient(np.array([1.0, 2.0])), [2.0, 4.0])
