"""What has no axes: numbers of Python and scalars of NumPy, which are bound anew, and arrays, which are written to."""

import numpy as np
import pytest
from scipy import special, stats

import symgrad

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
    value, slopes = symgrad.value_and_grad(fn)(x)
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

    value, slope = symgrad.value_and_grad(fn)(of(0.4))
    assert float(value) == pytest.approx(float(fn(of(0.4))))
    assert float(slope) == pytest.approx((float(fn(of(0.4 + 1e-6))) - float(fn(of(0.4 - 1e-6)))) / 2e-6)
    if of is not np.array:
        mapped = symgrad.vmap(fn)(np.array([0.4, 0.7]))
        np.testing.assert_allclose(mapped, [fn(0.4), fn(0.7)])
        np.testing.assert_allclose(symgrad.grad(symgrad.checkpoint(fn))(of(0.4)), slope)
