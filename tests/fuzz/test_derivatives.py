"""Derivatives of random programs, first and second order in every mixture of modes, against differences."""

from checks import derivatives
from fuzzing import expect_right
from random_programs import SMOOTH


def test_derivatives_are_those_of_differences():
    expect_right(derivatives, 0.15, SMOOTH)
