"""Running sums and products from the end, which documents may hold: values, both modes, batches."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.primitives.reduction import CUMPROD, CUMSUM
from symgrad.program.node import emit
from symgrad.testing import check_grads
from symgrad.tracing.tracer import Tracer, as_node

RNG = np.random.default_rng(2)


@pytest.mark.parametrize("backend", ["numpy", "native"])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("primitive", [CUMSUM, CUMPROD], ids=lambda p: p.name)
def test_from_the_end(primitive, axis, backend):
    def running(x):
        if isinstance(x, Tracer):
            return Tracer(emit(primitive, (as_node(x),), (axis, True)))
        return np.flip(primitive.function(np.flip(x, axis), axis), axis)

    x = RNG.normal(size=(3, 5, 2))
    x[1, 2] = 0.0
    np.testing.assert_array_equal(sg.symbolic(running, backend=backend)(x), running(x))
    check_grads(running, [x])
    each = sg.vmap(running, 3, 3)(np.stack([x, 2 * x], axis=3))
    np.testing.assert_array_equal(each, np.stack([running(x), running(2 * x)], axis=3))
