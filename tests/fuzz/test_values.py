"""On the numpy backend the value of a random program is NumPy's own, bit for bit."""

from dataclasses import replace

from checks import bits
from fuzzing import expect_right
from random_programs import Draw


def test_values_are_numpys_to_the_bit():
    expect_right(bits, 0.3, Draw())


def test_infinities_nans_and_signs_of_zero():
    expect_right(bits, 0.1, replace(Draw(), special=True))
