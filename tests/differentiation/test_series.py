import mpmath
import numpy as np
import pytest

import symgrad as sg

ORDER = 6
FUNCTIONS = {
    "exp": (np.exp, mpmath.exp),
    "sin": (np.sin, mpmath.sin),
    "tanh": (np.tanh, mpmath.tanh),
    "log": (np.log, mpmath.log),
    "sqrt": (np.sqrt, mpmath.sqrt),
    "arctan": (np.arctan, mpmath.atan),
    "arcsin": (np.arcsin, mpmath.asin),
    "rational": (lambda x: (1 + x) / (2 + x * x), lambda x: (1 + x) / (2 + x * x)),
    "real power": (lambda x: x**3.5, lambda x: x ** mpmath.mpf(3.5)),
    "whole power": (lambda x: x**5, lambda x: x**5),
    "power of both": (lambda x: x**x, lambda x: x**x),
    "nested": (
        lambda x: np.exp(np.sin(x)) * np.log(x) / (1 + x**2),
        lambda x: mpmath.exp(mpmath.sin(x)) * mpmath.log(x) / (1 + x**2),
    ),
    "a branch": (lambda x: np.maximum(x, 0.1) ** 2, lambda x: x**2),
    "moved elements": (
        lambda x: np.sum(np.concatenate([x * np.ones(2), np.sin(x) * np.ones(3)])[1:4] ** 2),
        lambda x: x**2 + 2 * mpmath.sin(x) ** 2,
    ),
    "matrices": (
        lambda x: np.linalg.det(np.eye(2) * x + np.array([[0.0, 1.0], [1.0, 0.0]]) * x**2),
        lambda x: x**2 - x**4,
    ),
    "complex": (
        lambda x: np.real(np.exp(1j * x) / (1 + 1j * x)),
        lambda x: mpmath.re(mpmath.exp(1j * x) / (1 + 1j * x)),
    ),
    "a loop": (
        lambda x: sg.fori_loop(0, 20, lambda i, c: np.sin(c) * x + c, x),
        lambda x: _steps(x),
    ),
}


def _steps(x):
    c = x
    for _ in range(20):
        c = mpmath.sin(c) * x + c
    return c


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_along_a_line(name):
    fn, exact = FUNCTIONS[name]
    with mpmath.workdps(60):
        wanted = [float(mpmath.diff(exact, mpmath.mpf(0.3), k)) for k in range(1, ORDER + 1)]
    made = sg.jet(fn, 0.3, [1.0, *[0.0] * (ORDER - 1)])[1]
    np.testing.assert_allclose(made, wanted, rtol=1e-9, atol=1e-9)


def test_derivatives_along_a_curve():
    def position(t):
        return np.stack([np.cos(t), t**3])

    def height(x):
        return np.sin(x[0]) * x[1] ** 2

    t = 0.7
    x, series = sg.jet(position, t, [1.0, 0.0, 0.0, 0.0])
    with mpmath.workdps(60):
        wanted = [float(mpmath.diff(lambda s: mpmath.sin(mpmath.cos(s)) * s**6, mpmath.mpf(t), k)) for k in range(1, 5)]
    np.testing.assert_allclose(sg.jet(height, x, series)[1], wanted, rtol=1e-12)


def test_what_it_takes_grows_with_the_square_of_the_order():
    def count(order):
        return len(sg.directional(lambda x: np.exp(np.sin(x)), order=order).program(0.3, 1.0).nodes)

    assert count(32) < 5 * count(16)


def test_a_long_program_is_linear():
    def chain(steps):
        def fn(x):
            for k in range(steps):
                x = np.sin(x) + (k + 2) * x**2 / (k + 3)
            return x

        return len(sg.directional(fn, order=3, backend="numpy").program(0.1, 1.0).nodes)

    assert chain(12) - chain(9) == chain(9) - chain(6)
