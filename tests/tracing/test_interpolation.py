"""Interpolation at, between and beyond its knots."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.kernels.kernel import lower

RNG = np.random.default_rng(6)


@pytest.mark.parametrize("kwargs", [{}, {"left": -7.0, "right": 9.0}, {"period": 3.0}])
def test_interp_at_and_beyond_its_knots(kwargs):
    xp, fp = np.array([0.0, 1.0, 2.5]), np.array([1.0, 3.0, 2.0])
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.5, 3.0, np.nan, np.inf, -np.inf])
    if "period" in kwargs:
        x = x[:7]
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(
            sg.symbolic(lambda x: np.interp(x, xp, fp, **kwargs))(x), np.interp(x, xp, fp, **kwargs)
        )


def test_interp_is_flat_beyond_its_knots():
    xp, fp = np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 2.0])
    got = sg.grad(lambda x: np.interp(x, xp, fp))(np.array([-1.0, 0.5, 1.5, 4.0]))
    np.testing.assert_array_equal(got, [0.0, 2.0, -1.0, 0.0])


def test_interp_has_the_slope_to_the_right_at_a_knot():
    xp, fp = np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 2.0])
    got = sg.grad(lambda x: np.interp(x, xp, fp))(np.array([0.0, 1.0, 2.0]))
    np.testing.assert_array_equal(got, [2.0, -1.0, 0.0])


def test_one_trace_interpolates_everywhere():
    program = sg.trace(lambda x: np.interp(x, [0.0, 1.0, 2.0], [1.0, 3.0, 2.0]), "n")
    for x in (np.linspace(-1.0, 3.0, 7), np.array([0.5])):
        (got,) = lower(program, "numpy")(x)
        np.testing.assert_array_equal(got, np.interp(x, [0.0, 1.0, 2.0], [1.0, 3.0, 2.0]))


def test_interp_at_a_number_by_the_values_of_the_knots():
    knots, at = np.linspace(0.0, 1.0, 4), 0.35
    gradient = sg.grad(lambda y: np.interp(at, knots, y))(np.ones(4))
    wanted = [np.interp(at, knots, row) for row in np.eye(4)]
    np.testing.assert_allclose(gradient, wanted, rtol=1e-14)


@pytest.mark.parametrize("count", [256, 257, 300, 1000])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_polynomials_of_many_coefficients(count, shape, backend):
    p, x = RNG.normal(size=count), RNG.uniform(-1, 1, shape)
    x.flat[:1] = 0.0
    by_p, by_x = sg.grad(np.polyval, (0, 1), backend=backend)(p, x)
    value = sg.symbolic(np.polyval, backend=backend)(p, x)
    np.testing.assert_allclose(value, np.polyval(p, x), rtol=1e-11, atol=1e-13)
    complex_step = np.polyval(p, x + 1e-30j).imag / 1e-30
    np.testing.assert_allclose(by_x, complex_step, rtol=1e-10, atol=1e-10)
    places = RNG.integers(0, count, 20)
    of_units = [np.sum(np.polyval(unit, x)) for unit in np.eye(count)[places]]  # it is linear in its coefficients
    np.testing.assert_allclose(by_p[places], of_units, rtol=1e-11, atol=1e-13)


def test_polynomials_of_whole_numbers_are_numpys():
    p, x = np.arange(300) % 7, np.array([0, 1, -1, 2])
    np.testing.assert_array_equal(sg.symbolic(np.polyval)(p, x), np.polyval(p, x), strict=True)


KINDS = [(np.int64, np.float64), (np.float64, np.int64), (np.int8, np.float32), (np.float32, np.float64), (bool, float)]


@pytest.mark.parametrize(("of_p", "of_x"), KINDS)
def test_polynomials_of_many_coefficients_of_any_kind(of_p, of_x):
    p, x = (np.arange(300) % 3 - 1).astype(of_p), np.array([0.0, 1.0, -1.0, 0.3]).astype(of_x)
    value, want = sg.symbolic(np.polyval)(p, x), np.polyval(p, x)
    assert value.dtype == want.dtype
    np.testing.assert_allclose(value, want, rtol=1e-5 if want.dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("of_p", [np.float64, np.int64])
def test_polynomials_take_steps_for_the_root_of_their_coefficients(of_p):
    def bindings(count):
        return len(sg.grad(np.polyval, 1).program(np.ones(count, of_p), np.float64(0.5)).bindings)

    assert bindings(10_000) < 2.5 * bindings(2_500)


def test_a_polynomial_of_very_many_coefficients():
    p, x = RNG.normal(size=100_000), np.array([-1.0, 0.3, 1.0])
    by_p, by_x = sg.grad(np.polyval, (0, 1))(p, x)
    np.testing.assert_allclose(by_x, np.polyval(p, x + 1e-30j).imag / 1e-30, rtol=1e-9)
    np.testing.assert_allclose(by_p[-4:], [np.sum(x**k) for k in (3, 2, 1, 0)], rtol=1e-12)
    np.testing.assert_allclose(by_p[0], np.sum(x**99_999), rtol=1e-12)


def test_polynomials_of_many_rows_are_numpys():
    p = RNG.normal(size=(300, 2))
    np.testing.assert_array_equal(sg.symbolic(np.polyval, backend="numpy")(p, 0.5), np.polyval(p, 0.5), strict=True)


@pytest.mark.parametrize("given", [{}, {"left": 1j}, {"right": 2.0}, {"period": 2.5}])
def test_interp_of_complex_values_is_numpys_and_has_the_slopes_of_the_pieces(given):
    xp, fp = np.array([0.0, 1.0, 3.0]), np.array([1.0 + 2.0j, 2.0 - 1.0j, 0.5j])
    x, step = np.array([-1.0, 0.3, 2.2, 5.1]), 1e-6
    function = lambda x: np.interp(x, xp, fp, **given)  # noqa: E731
    np.testing.assert_array_equal(sg.symbolic(function, backend="numpy")(x), function(x))
    want = (function(x + step) - function(x - step)) / (2 * step)
    np.testing.assert_allclose(np.diagonal(sg.jacfwd(function)(x)), want, atol=1e-8)
    by_values = sg.grad(lambda v: np.sum(np.abs(np.interp(x, xp, v)) ** 2))(fp)
    plain = lambda v: np.sum(np.abs(np.interp(x, xp, v)) ** 2)  # noqa: E731
    for k, unit in enumerate(np.eye(3)):
        for part, turn in ((np.real, 1), (np.imag, 1j)):
            slope = (plain(fp + step * turn * unit) - plain(fp - step * turn * unit)) / (2 * step)
            np.testing.assert_allclose(part(by_values[k]), slope, rtol=1e-6, atol=1e-8)
