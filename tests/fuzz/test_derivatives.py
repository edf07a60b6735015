"""Derivatives of random programs, first and second order in every mixture of modes, against differences."""

from dataclasses import replace

from checks import derivatives, rules
from fuzzing import expect_right
from random_programs import OUTSIDE, SMOOTH


def test_derivatives_are_those_of_differences():
    expect_right(derivatives, 0.15, SMOOTH)


def test_beside_functions_that_run_as_they_are():
    expect_right(derivatives, 0.15, OUTSIDE)


def test_every_backend_precision_and_layout():
    """Not of products: the last digit of one depends on how its operands lie in memory."""
    families = tuple(f for f in SMOOTH.families if f not in ("product", "linalg"))
    expect_right(rules, 0.05, replace(SMOOTH, families=families, exact=True, transposed=True))
