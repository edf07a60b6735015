"""Numbers in numexpr strings: what is written has the value, the sign and the dtype that NumPy's has."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.kernels.kernel import lower


def _numexpr_gives(function, x):
    program = sg.trace(function, x)
    with np.errstate(all="ignore"):
        wanted = function(x)
    kernel = lower(program, "numexpr")
    assert kernel.backend == "numexpr"
    (got,) = kernel(x)
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(got, wanted, rtol=1e-6 if got.dtype == np.float32 else 1e-14)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(wanted))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeros_keep_their_sign(dtype):
    _numexpr_gives(lambda x: np.where(np.exp(x) > 2, np.sin(x), -0.0) * 1.0, np.array([1.0, -2.0, 4.0], dtype))


@pytest.mark.parametrize("exponent", [0.5, 1.5, -0.5, 2.0, 3.0])
def test_powers_of_what_is_not_finite(exponent):
    _numexpr_gives(lambda x: np.power(x, exponent) + np.exp(x) * 0.0, np.array([0.0, -0.0, 4.0, np.inf, -np.inf]))


@pytest.mark.parametrize("number", [0.1, 1e10, 3, 2**24 + 1, -7, np.inf, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_leave_the_dtype_what_it_is(number, dtype):
    _numexpr_gives(lambda x: np.sin(x) * number + x, np.array([0.5, 2.0], dtype))
