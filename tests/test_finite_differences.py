"""The reference itself: it settles where a function is smooth, says so where it is not."""

import numpy as np
import pytest

from symgrad.finite_differences import differences

X = np.array([0.3, 1.0, 2.0])
ONES = np.ones(3)
WIDE = np.finfo(np.longdouble).eps < np.finfo(np.float64).eps


def test_first_derivatives_are_better_than_float64_needs():
    (slope,), (error,), exact = differences(lambda x: (x**3,), [X], [[ONES]])
    assert exact == WIDE
    np.testing.assert_allclose(slope.astype(float), 3 * X**2, rtol=1e-12 if WIDE else 1e-7)
    assert np.all(np.abs(slope - 3 * X.astype(np.longdouble) ** 2) <= error)


def test_mixed_second_derivatives():
    (mixed,), _, _ = differences(lambda x, y: (np.sum(x**2 * y),), [X, X], [[ONES, 0 * ONES], [0 * ONES, 2 * ONES]])
    np.testing.assert_allclose(float(mixed), 4 * X.sum(), rtol=1e-10 if WIDE else 1e-5)
    (same,), _, _ = differences(lambda x: (np.exp(x),), [X], [[ONES], [ONES]])
    np.testing.assert_allclose(same.astype(float), np.exp(X), rtol=1e-9 if WIDE else 1e-4)


def test_functions_without_a_longdouble_loop_are_evaluated_in_float64():
    def only_double(x):
        if x.dtype != np.float64:
            raise TypeError("no loop")
        return (np.sin(x),)

    (slope,), (error,), exact = differences(only_double, [X], [[ONES]])
    assert not exact
    np.testing.assert_allclose(slope, np.cos(X), rtol=1e-7)
    assert np.all(np.abs(slope - np.cos(X)) <= error)
    _, _, exact = differences(lambda x: (np.sin(x.astype(np.float64)),), [X], [[ONES]])
    assert not exact


def test_a_function_that_takes_no_floats_at_all_says_why():
    with pytest.raises(TypeError, match="bitwise_and"):
        differences(lambda x: (np.bitwise_and(x, x),), [X], [[ONES]])


@pytest.mark.parametrize(("at", "slope"), [(0.5, 0.0), (0.5 + 1e-4, 0.0)])
def test_steps_and_what_lies_close_to_a_jump(at, slope):
    (got,), (error,), _ = differences(lambda x: (np.rint(x + 0.25),), [np.array(at)], [[np.array(1.0)]])
    assert got == slope
    assert error < 1e-9


def test_at_a_jump_the_error_is_large():
    _, (error,), _ = differences(lambda x: (np.heaviside(x, 0.5),), [np.array(0.0)], [[np.array(1.0)]])
    assert error > 1.0


def test_outputs_that_are_not_finite_are_nan():
    (slope,), (error,), _ = differences(lambda x: (np.log(x),), [np.array(-1.0)], [[np.array(1.0)]])
    assert np.isnan(slope)
    assert np.isinf(error)


def test_the_function_may_write_into_its_arguments():
    def fn(x):
        x *= 2
        return (x,)

    (slope,), _, _ = differences(fn, [X], [[ONES]])
    np.testing.assert_allclose(slope.astype(float), 2.0)
    np.testing.assert_array_equal(X, [0.3, 1.0, 2.0])
