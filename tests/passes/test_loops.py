"""Loops that are merged and pruned."""

import numpy as np

import symgrad
from symgrad.kernels.kernel import lower
from symgrad.transforms.loops import scan


def test_results_without_elements_are_not_taken_for_those_that_begin_where_they_do():
    def f(x, none):
        def step(c, x):
            inner, (kept, wide) = scan(lambda d, e: (d * e, (d, np.full((2, 3), x))), c, none)
            return inner + x, (kept, wide, c * x)

        return scan(step, 1.0, x)[1]

    x, none = np.array([0.5, 2.0, 3.0]), np.ones(0)
    kept, wide, made = lower(symgrad.trace(f, x, none), "numpy")(x, none)
    assert kept.shape == (3, 0)
    assert wide.shape == (3, 0, 2, 3)
    np.testing.assert_array_equal(made, [0.5, 3.0, 10.5])
    gradient = symgrad.grad(lambda x, none: np.sum(f(x, none)[2]), backend="numpy")
    np.testing.assert_array_equal(gradient(x, none), [6.0, 4.5, 3.5])
