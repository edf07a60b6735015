"""At NaN, infinities and kinks: forward mode, reverse mode and the value say the same."""

import numpy as np
import pytest

import symgrad as sg

NAN, INF = np.nan, np.inf

#: function, where, and its gradient there
EDGES = {
    "fmax with NaN first": (lambda x: np.fmax(x[0], x[1]), [NAN, 1.0], [0.0, 1.0]),
    "fmax with NaN last": (lambda x: np.fmax(x[0], x[1]), [1.0, NAN], [1.0, 0.0]),
    "fmin with NaN first": (lambda x: np.fmin(x[0], x[1]), [NAN, 1.0], [0.0, 1.0]),
    "fmin with NaN last": (lambda x: np.fmin(x[0], x[1]), [1.0, NAN], [1.0, 0.0]),
    "fmax, a tie": (lambda x: np.fmax(x[0], x[1]), [1.0, 1.0], [0.5, 0.5]),
    "max with NaN": (np.max, [1.0, NAN, 2.0], [NAN, NAN, NAN]),
    "min with NaN": (np.min, [1.0, NAN, 2.0], [NAN, NAN, NAN]),
    "max of infinities": (np.max, [INF, 1.0, INF], [0.5, 0.0, 0.5]),
    "power of a negative base": (lambda x: np.power(x[0], x[1]), [-2.0, 3.0], [12.0, NAN]),
    "power of zero": (lambda x: np.power(x[0], x[1]), [0.0, 3.0], [0.0, 0.0]),
    "zero to the zero": (lambda x: np.power(x[0], x[1]), [0.0, 0.0], [0.0, -INF]),
    "powers of two": (lambda x: np.sum(2.0**x), [-INF, -2000.0, 1.0], [0.0, 0.0, 2 * np.log(2)]),
    "powers of zero": (lambda x: np.sum(0.0**x), [2.0, 0.5], [0.0, 0.0]),
    "norm of order 3 at 0": (lambda x: np.linalg.norm(x, 3), [0.0, 0.0], [0.0, 0.0]),
    "norm of order 1.5 at 0": (lambda x: np.linalg.norm(x, 1.5), [0.0, 0.0], [0.0, 0.0]),
    "norm of order 3 of an axis": (lambda x: np.linalg.norm(x, 3), [0.0, -2.0], [0.0, -1.0]),
    "norm with NaN": (np.linalg.norm, [NAN, 0.0], [NAN, NAN]),
    "the fraction of modf": (lambda x: np.sum(np.modf(x)[0]), [INF, -INF, 1.5, -2.0], [0.0, 0.0, 1.0, 1.0]),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("backend", ["numpy", "numexpr"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("name", EDGES)
def test_gradients(name, mode, backend):
    function, at, want = EDGES[name]
    value, got = sg.value_and_grad(function, mode=mode, backend=backend)(np.array(at))
    np.testing.assert_array_equal(value, function(np.array(at)))
    np.testing.assert_allclose(got, want, rtol=1e-15)


def test_the_second_derivative_of_powers_of_zero_is_zero():
    np.testing.assert_array_equal(sg.hessian(lambda x: np.sum(0.0**x))(np.array([2.0, 0.5])), np.zeros((2, 2)))


def test_jacobians_of_an_extremum_that_is_nan():
    x = np.array([[1.0, NAN], [2.0, 1.0]])
    want = np.zeros((2, 2, 2))
    want[0, 0], want[1, 1, 0] = NAN, 1.0
    for make in (sg.jacfwd, sg.jacrev):
        np.testing.assert_array_equal(make(lambda v: np.max(v, axis=1))(x), want)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_modf_of_special_values_is_numpys(dtype):
    x = np.array([INF, -INF, NAN, 0.0, -0.0, -2.0, -0.25, 1e4], dtype)
    for got, want in zip(sg.symbolic(np.modf, backend="numpy")(x), np.modf(x), strict=True):
        np.testing.assert_array_equal(got, want, strict=True)
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want) | (np.isnan(want) & np.signbit(got)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("exponent", [0.5, 1.5, 2.5, -0.5, -1.5, 0.25, 3.0, -2.0])
@pytest.mark.parametrize("backend", ["numpy", "numexpr"])
def test_powers_of_infinities_and_zeros_are_numpys(exponent, backend):
    x = np.array([-INF, INF, -1.0, -0.0, 0.0, 4.0])
    np.testing.assert_array_equal(sg.symbolic(lambda v: v**exponent, backend=backend)(x), x**exponent)
