"""Expressions are computed part by part, on arrays as on traced values, and refused by the part."""

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad.closed_form.reading.matrices import Matrices
from symgrad.closed_form.reading.walk import check, computed, scalar_plan, spelled
from symgrad.errors import UnsupportedOperation

x, y = sympy.symbols("x y")


def value(e, **values):
    return computed([e], {sympy.Symbol(k): v for k, v in values.items()}, lambda _: None)[0]


def test_arrays_and_numbers():
    np.testing.assert_array_equal(value(x**2 + 2 * y, x=np.array([1.0, 2.0]), y=3.0), [7.0, 10.0])
    assert value(x / 3 - sympy.Rational(2, 3), x=3.0) == pytest.approx(1 / 3)
    assert value(sympy.sqrt(2) * x, x=1.0) == np.sqrt(2)


def test_constants_stay_weak():
    """A number of the expression does not make float32 float64."""
    g = sg.from_sympy(sympy.sin(2) * x**2 * sympy.pi + sympy.sqrt(3) * x, x)
    assert g(np.ones(2, np.float32)).dtype == np.float32


def test_cases_without_an_end_are_not_a_number():
    e = sympy.Piecewise((x, x > 0))
    np.testing.assert_array_equal(value(e, x=np.array([1.0, -1.0])), [1.0, np.nan])


def test_constants_that_are_not_real():
    with pytest.raises(UnsupportedOperation, match="not a real number"):
        value(sympy.Pow(-8, sympy.Rational(1, 3), evaluate=False) * x, x=1.0)


def test_numbers_beyond_every_float_are_refused():
    big = sympy.Pow(10, 400, evaluate=False)
    with pytest.raises(UnsupportedOperation, match="larger than any float"):
        value(big * x, x=1.0)


def test_unknown_symbols():
    with pytest.raises(UnsupportedOperation, match="holds y: nothing says what it is"):
        value(x + y, x=1.0)
    with pytest.raises(UnsupportedOperation, match="holds y"):
        check([x + y], [x], lambda _: None)


def test_long_expressions_are_cut_in_messages():
    assert len(spelled(sum(sympy.symbols("a:40")))) < 70
    assert scalar_plan(x * y).parts


def test_matrices_without_sizes():
    A = sympy.MatrixSymbol("A", 2, 2)
    made = computed([A * A + sympy.Identity(2)], {A: np.eye(2) * 2}, Matrices({}))[0]
    np.testing.assert_array_equal(made, 5 * np.eye(2))
    ones = computed([A + sympy.OneMatrix(2, 2) + sympy.ZeroMatrix(2, 2)], {A: np.zeros((2, 2))}, Matrices({}))[0]
    np.testing.assert_array_equal(ones, np.ones((2, 2)))
