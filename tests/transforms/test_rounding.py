"""Rounding is found where it is, and nothing that is exact is blurred."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.transforms.loops import fori_loop
from symgrad.transforms.rounding import spread


def moved(function, *arrays):
    return spread(sg.trace(function, *arrays), [np.asarray(a) for a in arrays])[0]


def test_cancellation_is_seen_in_every_element():
    x = 1e-4 * (1 + np.linspace(0, 1, 200))
    for stable, unstable in [
        (lambda x: 2 * np.sin(x / 2) ** 2, lambda x: 1 - np.cos(x)),
        (np.expm1, lambda x: np.exp(x) - 1),
        (np.log1p, lambda x: np.log(1 + x)),
    ]:
        apart = np.abs(stable(x) - unstable(x))
        assert np.all(apart <= 4 * moved(unstable, x))
        assert moved(stable, x).max() < 1e-2 * moved(unstable, x).min()


def test_sums_that_cancel():
    x = 1e6 + np.arange(7.0) / 3
    variance = moved(lambda x: np.mean(x**2) - np.mean(x) ** 2, x)
    exact = float(np.mean((x - x.mean()) ** 2))
    assert abs(np.mean(x**2) - np.mean(x) ** 2 - exact) <= 4 * variance
    assert variance > 1e-6 * exact
    a = np.array([1.0, -1.0, 1e-9]) / 3
    assert moved(lambda a, b: a @ b, a, np.array([1.1, 1.1, 1.1])) > 1e-8 * 1e-9 / 3


def test_matrices_that_are_nearly_singular():
    A = np.vander(np.linspace(0, 1, 8))
    assert moved(lambda A, b: np.linalg.solve(A, b), A, np.arange(8.0) / 3).max() > 1e-12


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.where(2 * x - 2 * x[::-1] > 0, 1.0, -1.0),
        lambda x: np.sign(3 * x - x * 3),
        lambda x: np.maximum(x, 0.5 * x),
        lambda x: x**3 - 8.0,
        lambda x: x[np.argmax(x)] + np.sort(x),
    ],
)
def test_ties_and_small_numbers_are_exact(function):
    assert not moved(function, np.array([2.0, -1.0, 0.5, 2.0])).any()


def test_a_tie_of_equal_elements_stays_one():
    x = np.full(4, 0.1)
    assert moved(lambda x: np.where(np.sin(x) == np.max(np.sin(x)), 1.0, 0.0), x).max() == 0


def test_powers_keep_their_exponents():
    assert np.isfinite(moved(lambda x, n: x**n, np.array([-0.3, -2.7]), np.array([2.0, 3.0]))).all()


def test_where_rounding_says_what_is_defined():
    def saturated(x):
        return 1 / (1 - 1 / (1 + np.exp(-x)))

    assert np.isinf(moved(saturated, np.array([40.3]))).all()
    assert (moved(np.log, np.array([-0.3])) == 0).all()
    assert (moved(lambda x: 1 / x, np.array([0.0])) == 0).all()


def test_float32_is_rounded_as_such():
    x = np.array([0.3, 0.7], np.float32)
    assert 1e-8 < moved(np.exp, x).max() < 1e-4


def test_the_steps_of_a_loop_are_rounded_each():
    def steps(x):
        for _ in range(8):
            x = 3.9 * x * (1 - x)
        return x

    def loop(x):
        return fori_loop(0, 8, lambda i, c: 3.9 * c * (1 - c), x)

    x = np.array([0.3, 0.7])
    assert np.all(moved(loop, x) > 0.1 * moved(steps, x))
