"""What generated source calls beside NumPy, against loops over elements."""

import numpy as np
import pytest

from symgrad.kernels.runtime import scatter

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int64])
@pytest.mark.parametrize("tail", [(), (3,), (200,), (16, 10), (0,)], ids=str)
@pytest.mark.parametrize("lead", [(), (2,)], ids=str)
@pytest.mark.parametrize("places", [(), (0,), (40,), (5, 8)], ids=str)
def test_scatter(places, lead, tail, dtype):
    index = np.asarray(RNG.integers(0, 7, places))
    y = RNG.integers(-9, 9, (*lead, *places, *tail)).astype(dtype)
    want = np.zeros((*lead, 7, *tail), dtype)
    for k in np.ndindex(places):
        want[(*(slice(None),) * len(lead), index[k])] += y[(*(slice(None),) * len(lead), *k)]
    made = scatter(y, index, len(lead), 7)
    assert made.dtype == dtype
    np.testing.assert_array_equal(made, want)


@pytest.mark.parametrize("tail", [(), (200,)], ids=str)
def test_a_place_outside_is_refused(tail):
    with pytest.raises(IndexError):
        scatter(np.ones((2, *tail)), np.array([0, 7]), 0, 7)
