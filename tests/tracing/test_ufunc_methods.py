"""Methods of ufuncs that are no functions of NumPy: NumPy's value, and the derivative by differences."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.testing import check_grads

RNG = np.random.default_rng(8)
X = RNG.uniform(0.5, 2.0, (3, 4))
BINARY = (np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.fmin, np.logaddexp, np.hypot)
METHODS = {
    "reduce": lambda u: lambda x: u.reduce(x, axis=1, keepdims=True),
    "reduce from": lambda u: lambda x: u.reduce(x, initial=1.5),
    "accumulate": lambda u: lambda x: u.accumulate(x, axis=1),
    "reduceat": lambda u: lambda x: u.reduceat(x, [0, 2, 1], axis=1),
    "outer": lambda u: lambda x: u.outer(x[0], x[1:]),
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("ufunc", BINARY, ids=lambda u: u.__name__)
def test_any_operation_of_two(ufunc, name):
    fn = METHODS[name](ufunc)
    for x in (X, X.astype(np.float32)):
        got, want = sg.symbolic(fn, backend="numpy")(x), fn(x)
        if ufunc is np.power:  # with AVX-512, NumPy's own is not the power of the powers
            want = METHODS[name](np.frompyfunc(ufunc, 2, 1))(x).astype(want.dtype)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-14 if x is X else 1e-5)
    check_grads(fn, [X])


def test_nan_beside_a_number_has_no_gradient():
    x = np.array([[1.0, np.nan], [np.nan, np.nan], [2.0, 3.0]])
    np.testing.assert_array_equal(sg.symbolic(lambda x: np.fmax.reduce(x, axis=1))(x), [1.0, np.nan, 3.0])
    np.testing.assert_array_equal(sg.grad(lambda x: np.fmax.reduce(x, axis=None))(x), [[0, 0], [0, 0], [0, 1]])
