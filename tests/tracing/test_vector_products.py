"""Convolutions as linear maps, and shapes that do not fit."""

import itertools

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ShapeError

RNG = np.random.default_rng(5)


def test_the_jacobian_of_a_convolution_is_a_toeplitz_matrix():
    v = np.array([1.0, 2.0, 4.0])
    got = sg.jacobian(lambda a: np.convolve(a, v))(np.ones(3))
    want = [[1, 0, 0], [2, 1, 0], [4, 2, 1], [0, 4, 2], [0, 0, 4]]
    np.testing.assert_array_equal(got, want)
    for mode, (n, m) in itertools.product(("full", "same", "valid"), ((4, 3), (2, 5), (5, 4))):
        x, y = RNG.normal(size=(n, 2)), RNG.normal(size=m)
        want = np.stack([np.convolve(column, y, mode) for column in x.T], 1)
        for derive in (sg.jacfwd, sg.jacrev):  # linear: by each of two coordinates, the map of its column
            got = derive(lambda c, x=x, y=y, mode=mode: np.convolve(x @ c, y, mode))(np.ones(2))
            np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)
            swapped = derive(lambda c, x=x, y=y, mode=mode: np.convolve(y, x @ c, mode))(np.ones(2))
            np.testing.assert_allclose(swapped, want, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (np.vecdot, [(2,), (3,)]),
        (np.cross, [(4,), (4,)]),
        (np.convolve, [(2, 2), (2,)]),
        (np.convolve, [(0,), (2,)]),
    ],
)
def test_shapes_that_numpy_refuses_are_refused(function, shapes):
    arrays = [np.ones(s) for s in shapes]
    with pytest.raises(ValueError, match=r".*"):
        function(*arrays)
    with pytest.raises(ShapeError, match="|".join(str(s).replace("(", r"\(").replace(")", r"\)") for s in shapes)):
        sg.symbolic(function)(*arrays)
