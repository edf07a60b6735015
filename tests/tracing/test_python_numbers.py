"""What has no axes: numbers of Python and scalars of NumPy, which are bound anew, and arrays, which are written to."""

import functools
import math

import numpy as np
import pytest
from scipy import special, stats

import symgrad as sg

SCALARS = {
    "a sum": np.sum,
    "an element": lambda x: x[0],
    "a median": np.median,
    "a place": lambda x: np.interp(x[0], [-9.0, 9.0], [0.0, 1.0]),
    "a mean of some": np.nanmean,
    "a sum of logarithms": np.logaddexp.reduce,
    "a number": lambda x: x[0].item(),
    "a density": lambda x: stats.norm.logpdf(x[0]),
    "a sum of exponentials": lambda x: special.logsumexp(x),
    "a square": lambda x: np.square(np.where(x[0] > 0, x[0], 0.0)),
}
ARRAYS = {
    "a choice": lambda x: np.where(x[0] > 0, x[0], x[1]),
    "an array": lambda x: np.array(x[0]),
    "its copy": lambda x: np.array(x[0]).copy(),
    "by pieces": lambda x: np.piecewise(x[0], [x[0] > 0], [lambda v: v * v]),
    "a part": lambda x: np.real(val=np.array(x[0])),
    "as an array": lambda x: np.asarray(x[0]),
    "a copy": lambda x: np.copy(x[0]),
    "like it": lambda x: np.full_like(x[0], 2.0),
    "selected": lambda x: np.select([x[0] > 0], [x[0]], x[1]),
    "a product": lambda x: np.tensordot(x, x, 1),
    "a covariance": np.cov,
    "rolled": lambda x: np.roll(x[0], 1),
    "of a function": lambda x: np.vectorize(lambda v: v**2)(x[0]),
}


@pytest.mark.parametrize("name", [*SCALARS, *ARRAYS])
def test_a_scalar_is_bound_anew_and_an_array_without_axes_is_written_to(name):
    made = (SCALARS | ARRAYS)[name]

    def fn(x):
        value = made(x)
        other = value
        other *= 2.0
        again = value
        again += x[1]
        return value * other * again + isinstance(value, np.ndarray)

    x = np.array([0.3, 1.2, -0.5, 0.9])
    value, slopes = sg.value_and_grad(fn)(x)
    assert float(value) == pytest.approx(float(fn(x)), rel=1e-14)
    steps = 1e-6 * np.eye(4)
    differences = [(float(fn(x + h)) - float(fn(x - h))) / 2e-6 for h in steps]
    np.testing.assert_allclose(slopes, differences, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("of", [float, np.float64, np.array])
def test_an_argument_without_axes_is_written_to_where_it_is_an_array(of):
    def fn(s):
        low = high = s
        low -= 1.0
        high *= 3.0
        return s * low * high

    value, slope = sg.value_and_grad(fn)(of(0.4))
    assert float(value) == pytest.approx(float(fn(of(0.4))))
    assert float(slope) == pytest.approx((float(fn(of(0.4 + 1e-6))) - float(fn(of(0.4 - 1e-6)))) / 2e-6)
    if of is not np.array:
        mapped = sg.vmap(fn)(np.array([0.4, 0.7]))
        np.testing.assert_allclose(mapped, [fn(0.4), fn(0.7)])
        np.testing.assert_allclose(sg.grad(sg.checkpoint(fn))(of(0.4)), slope)


#: what code asks of a number, which Python's float and NumPy's scalar of one value answer otherwise
ASKED = {
    "an element beside its float": lambda x: [float(x[0]), x[0]][1],
    "a float": lambda x: float(x[0]),
    "an item beside its element": lambda x: [x[0].item(), x[0]][0],
    "an item of float32": lambda x: x[0].item() * 2,
    "operators": lambda x: -((abs(float(x[0])) + 1.5) ** 2) / 3,
    "beside a scalar": lambda x: float(x[0]) * x[1],
    "a function of NumPy": lambda x: np.square(float(x[0])),
    "a product by NumPy": lambda x: np.multiply(float(x[0]), 2.0),
    "a function of math": lambda x: math.log(float(x[0]), 3.0) + math.gamma(x[1]) + math.hypot(x[0], x[1], x[2]),
    "a sum": lambda x: math.fsum(x),
    "a rounded number": lambda x: round(float(x[0]), 1),
    "a rounded scalar": lambda x: round(x[0], 1),
    "the larger": lambda x: max(float(x[0]), float(x[1])),
    "many steps": lambda x: functools.reduce(lambda v, _: v * 0.99, range(200), float(x[0])),
    "a comparison": lambda x: float(x[0]) > 0,
    "a comparison of scalars": lambda x: x[0] > 0,
    "two comparisons": lambda x: (float(x[0]) > 0) + (float(x[1]) > 0),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ASKED)
def test_a_number_of_python_is_told_from_numpys_scalar_of_the_same_value(name, dtype):
    def fn(x):
        value = ASKED[name](x)
        kinds = [float, int, bool, np.floating, np.float64, np.float32, np.bool_]
        return x * value * (1.0 + sum(2**k * isinstance(value, kind) for k, kind in enumerate(kinds)))

    x = np.array([1.25, 2.5, 0.5], dtype)
    value, want = sg.symbolic(fn)(x), fn(x)
    assert value.dtype == want.dtype
    np.testing.assert_allclose(value, want, rtol=1e-6 if dtype == np.float32 else 1e-14)


@pytest.mark.parametrize("argument", [2.0, np.float64(2.0)])
def test_functions_of_numpy_give_its_scalars_of_arguments_too(argument):
    def fn(s, x):
        return [np.multiply(s, 2.0) * x, np.negative(s) * x, s * 2 * x, isinstance(np.square(s), np.floating) * x]

    x = np.ones(2, np.float32)
    for value, want in zip(sg.symbolic(fn)(argument, x), fn(argument, x), strict=True):
        assert value.dtype == want.dtype
        np.testing.assert_array_equal(value, want)


def test_only_a_number_of_python_is_divided_by_with_an_error():
    def fn(x):
        shown = float(x[0])
        with np.errstate(divide="ignore"):
            try:
                first = 1 / x[0]
            except ZeroDivisionError:
                first = x[1]
        try:
            second = 1 / shown
        except ZeroDivisionError:
            second = 2 * x[1]
        return np.minimum(first, 5.0) + second

    for x in (np.array([0.0, 3.0]), np.array([0.5, 3.0])):
        assert sg.value_and_grad(fn)(x)[0] == fn(x)


#: of an array and a number of Python, which gives way to its dtype
BESIDE = {
    "where": lambda x, v: np.where(x > 1, x, v),
    "clip": lambda x, v: np.clip(x, 0, v),
    "bounds of clip": lambda x, v: x.clip(v, 3 * v),
    "a ufunc": np.hypot,
    "an operator": lambda x, v: v**x - v / x,
    "a comparison": lambda x, v: (x > v) * x,
    "the smaller": lambda x, v: min(x[0], v) * x,
    "in place of NaN": lambda x, v: np.nan_to_num(np.where(x > 1, np.nan, x), nan=v),
    "filled": np.full_like,
    "a whole number": lambda x, v: x * math.floor(5 * v),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", BESIDE)
def test_a_number_of_python_gives_way_to_dtypes_beside_it(name, dtype):
    def fn(x):
        return BESIDE[name](x, math.sin(x[0]))

    x = np.array([1.25, 2.5, 0.5], dtype)
    value, want = sg.symbolic(fn)(x), fn(x)
    assert value.dtype == want.dtype == dtype
    np.testing.assert_allclose(value, want, rtol=1e-6 if dtype == np.float32 else 1e-14)
    jacobian, h = sg.jacobian(fn)(x.astype(float)), 1e-6
    wanted = np.stack([(fn(x + h * e) - fn(x - h * e)) / (2 * h) for e in np.eye(3)], -1)
    np.testing.assert_allclose(jacobian, wanted, rtol=1e-6, atol=1e-8)
