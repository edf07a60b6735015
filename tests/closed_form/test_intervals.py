"""Nested cases of one quantity are told once, with the values of the kernel in every case and where cases meet."""

import numpy as np
import pytest
import sympy

import symgrad as sg
from symgrad.closed_form.intervals import by_intervals

BOUNDED = {
    "clip": (lambda x: 2 * np.clip(x, 0.0, 1.0), (0, 1)),
    "square of a clip": (lambda x: np.clip(x, -1.0, 1.0) ** 2, (-1, 1)),
    "relu6": (lambda x: np.minimum(np.maximum(x, 0), 6), (0, 6)),
    "hard swish": (lambda x: x * np.minimum(np.maximum(x + 3, 0), 6) / 6, (-3, 3)),
    "triangle": (lambda x: np.maximum(0, 1 - np.abs(x - 2)), (1, 3)),
    "dead zone": (lambda x: np.maximum(x - 1, 0) - np.maximum(-x - 1, 0), (-1, 1)),
    "butterfly": (lambda x: np.maximum(x - 90, 0) - 2 * np.maximum(x - 100, 0) + np.maximum(x - 110, 0), (90, 110)),
    "tax": (lambda x: np.where(x < 10, 0.1 * x, np.where(x < 40, 1 + 0.2 * (x - 10), 7 + 0.4 * (x - 40))), (10, 40)),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_bounds_are_one_set_of_cases(name):
    fn, cuts = BOUNDED[name]
    derived = sg.grad(fn)
    (entry,) = derived.formulas(0.5).forms[0].ravel()
    assert len(entry.atoms(sympy.Piecewise)) == 1
    (x,) = entry.free_symbols
    for at in [float(cut) + step for cut in cuts for step in (-20.0, -0.5, -1e-3, 0.0, 1e-3, 0.5, 20.0)]:
        assert float(entry.subs(x, sympy.Rational(at))) == pytest.approx(derived(at), rel=1e-12), at


def test_of_a_product_of_arguments():
    derived = sg.grad(lambda x, w: np.maximum(x * w, 0) * np.minimum(x * w, 1), argnums=(0, 1))
    for form in derived.formulas(1.0, 2.0).forms:
        (entry,) = form.ravel()
        assert len(entry.atoms(sympy.Piecewise)) == 1
    x, w = sympy.symbols("x w", real=True)
    (entry,) = derived.formulas(1.0, 2.0).forms[0].ravel()
    for at in ((-1.0, 1.0), (0.5, 0.5), (0.5, 2.0), (4.0, 2.0), (-3.0, -2.0), (0.0, 1.0)):
        assert float(entry.subs({x: at[0], w: at[1]})) == pytest.approx(derived(*at)[0])


def test_what_is_not_compared_with_numbers_stays():
    x, y = sympy.symbols("x y", real=True)
    one = sympy.Piecewise((1, x > y), (0, True))
    for e in (one, one * sympy.Piecewise((2, x > 1), (0, True)), one * sympy.Piecewise((x, x**2 > 2), (0, True))):
        assert by_intervals(e) == e
