"""What algebra proves, and what it leaves open."""

import numpy as np
import sympy

import symgrad as sg
from symgrad.closed_form.difference import element_pairs, proved_equal, same_at_all_indices, vanishes

x = sympy.Symbol("x", real=True)


def test_proofs():
    assert proved_equal([(sympy.sin(x) ** 2 + sympy.cos(x) ** 2, sympy.Integer(1))], 10)
    assert proved_equal([((x + 1) ** 3, sympy.expand((x + 1) ** 3))], 10)
    assert not proved_equal([(sympy.log(x**2), 2 * sympy.log(x))], 10)
    assert not proved_equal([(sympy.sqrt(x**2), x)], 10)
    assert not proved_equal([(sympy.nan, sympy.nan)], 10)
    assert not proved_equal([(x, x), (x, 2 * x)], 10)


def test_no_time_proves_nothing():
    assert not proved_equal([((sympy.sin(x) + 1) ** 9, sympy.expand((sympy.sin(x) + 1) ** 9))], -1.0)


def test_elements_side_by_side():
    one = sg.trace(lambda a: a * 2, np.ones(2))
    other = sg.trace(lambda b: b + b, np.ones(2))
    assert proved_equal(element_pairs(one, other), 10)
    assert element_pairs(one, sg.trace(lambda a: a, np.ones(3))) is None
    assert element_pairs(sg.trace(lambda a: a * 2, "n"), other) is None


def test_one_formula_for_all_sizes():
    one = sg.trace(lambda A, b: A @ b * 2, "n m", "m")
    assert same_at_all_indices(one, sg.trace(lambda M, v: 2 * (M @ v), "n m", "m"), 10)
    assert not same_at_all_indices(one, sg.trace(lambda M, v: 3 * (M @ v), "n m", "m"), 10)
    arrays = [np.arange(k, k + 3.0) for k in (0, 1)]
    captured = [sg.trace(lambda a, c=c: a * c, np.ones(3)) for c in arrays]
    assert not same_at_all_indices(*captured, 10)


def test_exponentials_cancel_as_what_they_are_powers_of():
    y, z = sympy.symbols("y z", real=True)
    exp = sympy.exp
    assert vanishes(1 / (1 + exp(-x * y - z)) - 1 + 1 / (1 + exp(x * y + z)))
    assert vanishes(y / (1 + exp(-2 * x)) - y * exp(x) / (exp(x) + exp(-x)))
    assert vanishes(sum(k / (1 + exp(-k * x * y)) - k * exp(k * x * y) / (1 + exp(k * x * y)) for k in range(1, 6)))
    assert vanishes(x * (y + z) - x * y - x * z)
    assert not vanishes(1 / (1 + exp(-x)) - exp(x) / (1 + exp(x)) + x * sympy.Rational(1, 10**9))
    assert not vanishes(1 / (1 + exp(-x)) - exp(y) / (1 + exp(y)))
    assert not vanishes(exp(x) - exp(-x))
    assert not vanishes(sympy.nan)


def test_summands_that_cancel_at_all_indices():
    def sigmoid(z):
        return 1 / (1 + np.exp(-z))

    shapes = "d", "n d", "n"
    one = sg.trace(lambda w, X, y: X.T @ (y * (1 - sigmoid(y * (X @ w)))), *shapes)
    assert same_at_all_indices(one, sg.trace(lambda w, X, y: (y / (1 + np.exp(y * (X @ w)))) @ X, *shapes), 20)
    assert not same_at_all_indices(one, sg.trace(lambda w, X, y: X.T @ (y * sigmoid(y * (X @ w))), *shapes), 20)
    assert not same_at_all_indices(one, sg.trace(lambda w, X, y: X.T @ (y / (1 + np.exp(X @ w))), *shapes), 20)
    squares = sg.trace(lambda w, X: np.sum(X, axis=0) * np.sum(w), *shapes[:2])
    assert not same_at_all_indices(squares, sg.trace(lambda w, X: np.sum(X, axis=0) * w, *shapes[:2]), 20)
