"""Running products, zeros among them; the dtypes that whole numbers are added and multiplied up in."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.testing import check_grads

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("zeros", [[1], [0, 3], []])
def test_running_products_over_zeros(zeros):
    x = RNG.uniform(0.5, 2.0, 5)
    x[zeros] = 0.0
    check_grads(np.cumprod, [x])


@pytest.mark.parametrize("backend", ["numpy", "native"])
@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int32, np.int64, np.float32])
@pytest.mark.parametrize("wanted", [None, np.int16, np.float32])
@pytest.mark.parametrize("function", [np.sum, np.prod, np.cumsum, np.cumprod])
def test_accumulated_dtypes_are_those_of_numpy(function, wanted, dtype, backend):
    x = np.array([200, 3, 100, 1]).astype(dtype)
    if dtype is np.float32 and wanted is np.int16:
        pytest.skip("whole numbers of floats have no derivative, and are refused")
    made = sg.symbolic(lambda x: function(x, dtype=wanted), backend=backend)
    want = np.asarray(function(x, dtype=wanted))
    got = np.asarray(made(x))
    assert made.program(x).outputs[0].dtype == got.dtype == want.dtype
    assert np.array_equal(got, want)
