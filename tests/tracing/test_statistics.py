"""Averages: NaN, weights that do not fit, medians of even and odd counts."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ShapeError


def test_nan_carries_no_gradient():
    x = np.array([1.0, np.nan, 3.0])
    np.testing.assert_array_equal(sg.grad(np.nansum)(x), [1.0, 0.0, 1.0])
    np.testing.assert_array_equal(sg.grad(np.nanmean)(x), [0.5, 0.0, 0.5])


def test_weights_that_do_not_fit_are_refused():
    for axis, weights in ((None, np.ones(3)), (0, np.ones(3)), ((0, 1), np.ones((3, 2)))):
        with pytest.raises(ShapeError, match="weights of shape"):
            sg.symbolic(lambda x, axis=axis, weights=weights: np.average(x, axis, weights))(np.ones((2, 3)))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_the_median_of_nan_is_nan(axis):
    x = np.array([[1.0, np.nan, 3.0], [4.0, 5.0, 0.5]])
    np.testing.assert_array_equal(sg.symbolic(lambda v: np.median(v, axis=axis))(x), np.median(x, axis=axis))


def test_the_median_is_the_middle_or_the_mean_of_two():
    np.testing.assert_array_equal(sg.grad(np.median)(np.array([3.0, 1.0, 2.0])), [0.0, 0.0, 1.0])
    np.testing.assert_array_equal(sg.grad(np.median)(np.array([4.0, 1.0, 2.0, 9.0])), [0.5, 0.0, 0.5, 0.0])
