"""Running products, zeros among them."""

import numpy as np
import pytest

from symgrad.testing import check_grads

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("zeros", [[1], [0, 3], []])
def test_running_products_over_zeros(zeros):
    x = RNG.uniform(0.5, 2.0, 5)
    x[zeros] = 0.0
    check_grads(np.cumprod, [x])
