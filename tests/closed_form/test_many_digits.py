"""Formulas are equal where they are at every point that says something."""

import pytest
import sympy

from symgrad.closed_form.many_digits import are_equal

X = sympy.Symbol("x", real=True)


@pytest.mark.parametrize(
    ("old", "new", "far", "want"),
    [
        (X**2 - 1, (X - 1) * (X + 1), [-200.0, 200.0], True),
        (sympy.sqrt(X**2 + 6 * X + 9), X + 3, [7.0], True),
        (sympy.sqrt(X**2 + 6 * X + 9), X + 3, [-7.0], False),
        (sympy.cosh(X) ** 2 - sympy.sinh(X) ** 2, sympy.S.One, [40.0, 90.0], True),  # few digits are left of 50
        (sympy.sqrt(X - 1) ** 2 * X, X * (X - 1), [5.0, -5.0], True),
        (sympy.log(X), sympy.log(X) + sympy.Max(0, -X), [-5.0], True),  # it is not real there
        (1 / X, 1 / X, [0.0], True),  # a pole
        (X, X + 1e-30, [], False),
    ],
)
def test_equal(old, new, far, want):
    assert are_equal([X], old, new, [[1.5]], [[x] for x in far]) is want


def test_functions_known_by_name_alone_are_not_equal():
    unknown = sympy.Function("unknown")(X)
    assert not are_equal([X], unknown, unknown, [[0.5]], [])
