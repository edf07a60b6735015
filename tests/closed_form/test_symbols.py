"""Numbers of a formula: exact where a reader would have written them so, and never another number."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.closed_form.symbols import number, unrounded


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.pi, sympy.pi),
        (-2 * math.pi, -2 * sympy.pi),
        (1 / math.sqrt(2), sympy.sqrt(2) / 2),
        (1 / math.sqrt(2 * math.pi), 1 / sympy.sqrt(2 * sympy.pi)),
        (math.log(2), sympy.log(2)),
        (math.e, sympy.E),
        (np.sqrt(np.pi), sympy.sqrt(sympy.pi)),
        (20 * math.pi, 20 * sympy.pi),
        (math.pi / 5, sympy.pi / 5),
        (-7 * math.sqrt(2) / 3, -7 * sympy.sqrt(2) / 3),
        (180 / math.pi, 180 / sympy.pi),
        (0.1, sympy.Float("0.1")),
        (np.euler_gamma, sympy.Float("0.5772156649015329")),
        (3.14159, sympy.Float("3.14159")),
    ],
)
def test_known_constants_are_named(value, expected):
    assert number(value) == expected


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_it_is_the_same_number_to_the_last_digits(value):
    assert math.isclose(float(number(value)), value, rel_tol=1e-15, abs_tol=0.0)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_is_off_by_rounding_is_the_short_decimal(value):
    assert math.isclose(float(unrounded(sympy.Float(value))), value, rel_tol=4e-15, abs_tol=0.0)
    assert unrounded(sympy.Float(0.1) * 3) == sympy.Float("0.3")
    assert unrounded(sympy.Float(1 + 2**-52)) is sympy.S.One


def test_matrix_notation_spells_them():
    gradient = sg.grad(lambda x: np.sum(np.exp(-(x**2) / 2)) / np.sqrt(2 * np.pi) * np.log(2) + np.pi * np.sum(x))
    form = gradient.closed_form(np.ones(50), form="matrix")
    assert "π" in form.text
    assert "pi" not in form.text
    x = np.linspace(-1, 1, 50)
    made = eval(form.numpy, {"np": np, "x": x})
    h = 1e-6
    nudged = [(gradient.fn(x + h * e) - gradient.fn(x - h * e)) / (2 * h) for e in np.eye(50)[:3]]
    np.testing.assert_allclose(made[:3], nudged, rtol=1e-7)
