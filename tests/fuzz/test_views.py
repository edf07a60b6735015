"""Writes through views, and into what views were taken of: right, or refused."""

from dataclasses import replace

from checks import derivatives, values
from fuzzing import expect_right
from random_programs import SMOOTH, Draw

_FAMILIES = ("binary", "index", "make", "shape", "shape", "view", "view", "write")


def test_values_are_numpys():
    expect_right(values, 0.2, Draw(families=_FAMILIES, views=True, exact=False, steps=(4, 10)), most_skipped=0.6)


def test_derivatives_are_those_of_differences():
    expect_right(derivatives, 0.05, replace(SMOOTH, families=_FAMILIES, views=True), most_skipped=0.6)
