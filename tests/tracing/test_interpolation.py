"""Interpolation at, between and beyond its knots."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import TracingError
from symgrad.kernels.kernel import lower


def test_interp_by_its_knots_is_refused():
    xp, fp = np.array([0.0, 1.0]), np.array([1.0, 2.0])
    with pytest.raises(TracingError, match="pass xp as an array"):
        sg.grad(lambda xp: np.interp(0.5, xp, fp))(xp)


@pytest.mark.parametrize("kwargs", [{}, {"left": -7.0, "right": 9.0}, {"period": 3.0}])
def test_interp_at_and_beyond_its_knots(kwargs):
    xp, fp = np.array([0.0, 1.0, 2.5]), np.array([1.0, 3.0, 2.0])
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.5, 3.0, np.nan, np.inf, -np.inf])
    if "period" in kwargs:
        x = x[:7]
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(
            sg.symbolic(lambda x: np.interp(x, xp, fp, **kwargs))(x), np.interp(x, xp, fp, **kwargs)
        )


def test_interp_is_flat_beyond_its_knots():
    xp, fp = np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 2.0])
    got = sg.grad(lambda x: np.interp(x, xp, fp))(np.array([-1.0, 0.5, 1.5, 4.0]))
    np.testing.assert_array_equal(got, [0.0, 2.0, -1.0, 0.0])


def test_interp_has_the_slope_to_the_right_at_a_knot():
    xp, fp = np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 2.0])
    got = sg.grad(lambda x: np.interp(x, xp, fp))(np.array([0.0, 1.0, 2.0]))
    np.testing.assert_array_equal(got, [2.0, -1.0, 0.0])


def test_one_trace_interpolates_everywhere():
    program = sg.trace(lambda x: np.interp(x, [0.0, 1.0, 2.0], [1.0, 3.0, 2.0]), "n")
    for x in (np.linspace(-1.0, 3.0, 7), np.array([0.5])):
        (got,) = lower(program, "numpy")(x)
        np.testing.assert_array_equal(got, np.interp(x, [0.0, 1.0, 2.0], [1.0, 3.0, 2.0]))


def test_interp_at_a_number_by_the_values_of_the_knots():
    knots, at = np.linspace(0.0, 1.0, 4), 0.35
    gradient = sg.grad(lambda y: np.interp(at, knots, y))(np.ones(4))
    wanted = [np.interp(at, knots, row) for row in np.eye(4)]
    np.testing.assert_allclose(gradient, wanted, rtol=1e-14)
