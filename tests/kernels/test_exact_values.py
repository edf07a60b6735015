"""Values on the numpy backend are NumPy's to the bit: where a rewrite, a loop or a layout could change the last one."""

import numpy as np
import pytest

import symgrad as sg

ROOT = np.float64(1 / 3)
FUNCTIONS = {
    "moved after two factors": lambda x: (0.1 * (0.3 * x)).T,
    "picked after two factors": lambda x: (0.1 * (0.3 * x))[[0, 1]],
    "broadcast after two factors": lambda x: np.broadcast_to(0.1 * (0.3 * x), (2, *x.shape)),
    "power of a sum": lambda x: x * np.sum(abs(x)) ** 1.3,
    "power by a sum": lambda x: 1.7 ** np.sum(x) + x,
    "power by a constant": lambda x: np.sum(abs(x)) ** ROOT + x,
    "power of arrays": lambda x: abs(x) ** 1.3,
    "square of a sum": lambda x: x + np.sum(x) ** 2,
    "norm of order 3": lambda x: np.linalg.norm(x.ravel(), 3) + x,
}


POWERS = {
    "base": lambda x: x**1.3,
    "exponent": lambda x: 1.7**x,
    "both": lambda x: x**x,
    "square": lambda x: x**2,
    "inverse": lambda x: x**-1,
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_of_arrays(function, dtype):
    traced = sg.symbolic(function, backend="numpy")
    for x in np.random.default_rng(0).normal(size=(60, 3, 3)).astype(dtype):
        for ordered in (x, np.asfortranarray(x)):
            np.testing.assert_array_equal(traced(ordered), function(ordered), strict=True)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", POWERS.values(), ids=POWERS)
def test_powers_of_numbers(function, dtype):
    """NumPy's operator has another loop for its scalars than for arrays, also for those of no axes."""
    traced = sg.symbolic(function, backend="numpy")
    for number in np.random.default_rng(0).uniform(0.5, 3, 2000).astype(dtype):
        assert traced(number) == function(number)
        assert traced(np.array(number)) == function(np.array(number))


COLUMNS = {
    "dot": lambda x: np.dot(x[:, 0], x[:, 0] * x[:, 0]) + np.dot(x[:, 0], x[:, 1]),
    "reversed": lambda x: np.exp(x[::-1, 0]) + np.cos(x[::-1, 0]) * x[::-1, 0],
}


@pytest.mark.parametrize("function", COLUMNS.values(), ids=COLUMNS)
def test_columns_that_are_read_often_stay_views(function):
    traced = sg.symbolic(function, backend="numpy")
    for x in np.random.default_rng(0).normal(size=(10, 3000, 4)):
        np.testing.assert_array_equal(traced(x), function(x), strict=True)


@pytest.mark.parametrize("function", [lambda x: (x.T * 3) + (x * 2), lambda x: (x * 2) - (x.T * 3) * x])
def test_sums_of_large_arrays_in_both_orders(function):
    """A result that goes into the memory of an operand would lie there in that one's order."""

    def total(x):
        return np.sum(function(x))

    traced = sg.symbolic(total, backend="numpy")
    for x in np.random.default_rng(0).normal(size=(20, 60, 60)):
        assert traced(x) == total(x)
        assert traced(np.asfortranarray(x)) == total(np.asfortranarray(x))


def test_equal_elements_are_sorted_in_their_order():
    """NumPy leaves their order open, and has another one on some machines."""
    x = np.array([1, 0] * 40)
    np.testing.assert_array_equal(sg.symbolic(np.argsort, backend="numpy")(x), np.argsort(x, kind="stable"))


def scaled(z):
    return z / np.sum(abs(z))


def written(x):
    y = x + 0.0
    y[..., 0] -= 1
    return scaled(y)


def copied(x):
    y = np.sin(x).copy()
    return scaled(y)


LAYOUTS = {"sorted": lambda x: scaled(np.sort(x)), "written": written, "copied": copied}


@pytest.mark.parametrize("function", LAYOUTS.values(), ids=LAYOUTS)
def test_arrays_that_are_sorted_written_or_copied_are_in_row_order(function):
    """To the bit where the array was so before; of one in column order the last digits of a sum may differ."""
    traced = sg.symbolic(function, backend="numpy")
    for x in np.random.default_rng(0).normal(size=(20, 30, 20)):
        np.testing.assert_array_equal(traced(x), function(x), strict=True)
        turned = np.asfortranarray(x)
        np.testing.assert_allclose(traced(turned), function(turned), rtol=1e-12)


@pytest.mark.parametrize("function", [lambda x: np.power(x, 1.3), lambda x: x**0.5], ids=["by name", "half"])
def test_powers_of_numbers_that_may_differ_in_the_last_digit(function):
    traced = sg.symbolic(function, backend="numpy")
    for number in np.random.default_rng(0).uniform(0.5, 3, 200):
        assert abs(traced(number) - function(number)) <= np.spacing(function(number))


def test_functions_of_python_floats_give_way_to_nothing():
    x = np.linspace(0.1, 1.0, 5, dtype=np.float32)
    function = lambda x, s: x * np.square(s)  # noqa: E731
    for array in (x, x.astype(np.float64)):
        value = sg.symbolic(function, backend="numpy")(array, 0.3)
        np.testing.assert_array_equal(value, function(array, 0.3), strict=True)


def picked(x):
    y = x[..., [0, 2, 1]]
    return scaled(y)


@pytest.mark.parametrize("function", [picked, lambda x: x * np.sum(x, axis=0, initial=0.3)])
def test_sums_that_may_differ_in_the_last_digits(function):
    traced = sg.symbolic(function, backend="numpy")
    for x in np.random.default_rng(0).normal(size=(20, 30, 3)):
        np.testing.assert_allclose(traced(x), function(x), rtol=1e-12)


REPEATED = {
    "tiled": lambda x: np.tile(x, (1, 2)),
    "grid": lambda x: np.meshgrid(x, np.ones(2), indexing="ij")[0],
    "copy of a broadcast": lambda x: np.broadcast_to(x, (30, 2)).copy(),
}


@pytest.mark.parametrize("function", REPEATED.values(), ids=REPEATED)
def test_products_of_repeated_elements_may_differ_in_the_last_digits(function):
    """The elements are NumPy's; they are not copied before they are multiplied, so that BLAS is not always asked."""
    factors = np.random.default_rng(1).normal(size=(2, 5))
    repeated = sg.symbolic(function, backend="numpy")
    product = sg.symbolic(lambda x: function(x) @ factors, backend="numpy")
    for x in np.random.default_rng(0).normal(size=(20, 30, 1)):
        np.testing.assert_array_equal(repeated(x), function(x), strict=True)
        np.testing.assert_allclose(product(x), function(x) @ factors, rtol=1e-12)


def test_constants_that_lose_an_axis_keep_the_signs_of_their_zeros():
    zeros = np.full((1, 3), -0.0)
    value = sg.symbolic(lambda x: np.expand_dims(zeros.T * 1.0, 1) + x, backend="numpy")
    assert np.all(np.signbit(value(-0.0)))

    def written(x):
        y = np.zeros_like(x)
        y[:] = -0.5
        return np.expand_dims((y > y) * y, 1)

    for shape in ((1, 3), (3, 1), (3,)):
        value = sg.symbolic(written, backend="numpy")(np.ones(shape))
        np.testing.assert_array_equal(np.signbit(value), np.signbit(written(np.ones(shape))))


def test_the_sum_of_a_number_may_differ_in_the_sign_of_zero():
    value = sg.symbolic(np.sum, backend="numpy")
    for number in (-0.0, np.float64(-0.0)):
        assert value(number) == np.sum(number) == 0.0
    array = np.full(1, -0.0)
    assert np.signbit(value(array)) == np.signbit(np.sum(array))
