"""The measure of how long a formula takes to read."""

import math

import pytest

from symgrad.closed_form.legibility import reading_cost, symbols

#: from what is read faster to what is read more slowly
ORDERED = [
    (r"2 x", r"x + x"),
    (r"X^{\top} y", r"\sum_{i=0}^{9} X_{i,j} y_{i}"),
    (r"a b", r"\frac{a}{b}"),
    (r"\frac{a + b}{c}", r"\frac{\frac{a}{c} + \frac{b}{c}}{1}"),
    (r"\sigma\left(x\right)", r"\frac{1}{1 + e^{- x}}"),
    (r"2 w", r"\left[\begin{matrix}2 w_{1} & 2 w_{2}\end{matrix}\right]"),
    (r"x + y", r"\begin{cases} x + y & \text{for}\: x > y \\0 & \text{otherwise} \end{cases}"),
]


@pytest.mark.parametrize(("shorter", "longer"), ORDERED)
def test_which_is_read_faster(shorter, longer):
    assert reading_cost([shorter]) < reading_cost([longer])


@pytest.mark.parametrize(
    ("latex", "count"),
    [("x", 1), ("", 0), ("12.5 x", 2), (r"\left(x\right)", 2), ("(x)", 2), (r"x_{1}^{2}", 3), (r"\sqrt{x}", 2)],
)
def test_symbols(latex, count):
    assert symbols(latex) == count


def test_what_is_nested_too_deep_is_never_chosen():
    deep = r"\sqrt{" * 400 + "x" + "}" * 400
    assert reading_cost([deep]) == math.inf
    assert reading_cost(["x", deep]) == math.inf
