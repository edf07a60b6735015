"""Central differences in double precision, for functions that compute with ``math`` and take no other."""

import numpy as np


def slopes(f, x, step=1e-6):
    """The derivatives of the number ``f(x)`` by each entry of an array."""
    made = np.zeros(x.shape)
    for at in np.ndindex(x.shape):
        moved = np.zeros(x.shape)
        moved[at] = step
        made[at] = (f(x + moved) - f(x - moved)) / (2 * step)
    return made


def expect_slopes(found, f, x, value_tolerance=1e-12, atol=1e-8):
    """``found``, a value and a gradient at ``x``, are those of ``f``."""
    value, gradient = found
    np.testing.assert_allclose(value, f(x), rtol=value_tolerance)
    np.testing.assert_allclose(gradient, slopes(f, x), rtol=1e-6, atol=atol)
