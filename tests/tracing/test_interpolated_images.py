"""Images between their pixels: scipy's values for every order and mode, and what is refused."""

import numpy as np
import pytest
import scipy.ndimage as ndimage

import symgrad as sg
from symgrad.errors import ArgumentError, UnsupportedOperation

RNG = np.random.default_rng(0)
MODES = ("reflect", "mirror", "nearest", "wrap", "grid-wrap", "constant", "grid-constant", "grid-mirror")
USES = {
    "map_coordinates": lambda x, at, **how: ndimage.map_coordinates(x, at, **how),
    "shift": lambda x, at, **how: ndimage.shift(x, 1.3, **how),
    "zoom": lambda x, at, **how: ndimage.zoom(x, 1.7, **how),
    "zoom by grid": lambda x, at, **how: ndimage.zoom(x, 1.7, grid_mode=True, **how),
    "affine_transform": lambda x, at, **how: ndimage.affine_transform(x, 0.3 * np.eye(x.ndim) + 0.2, 0.5, **how),
    "by a diagonal": lambda x, at, **how: ndimage.affine_transform(x, [0.9] * x.ndim, 0.3, **how),
}


@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.filterwarnings("ignore:It is recommended", "ignore:The behavior of affine")
def test_values_inside_and_beyond_the_ends(mode, order):
    for shape in ((5,), (1, 6), (3, 4), (14,)):
        x, at = RNG.normal(size=shape), RNG.uniform(-9, 14, (len(shape), 20))
        at[:, :6] = np.round(at[:, :6])
        for use in USES.values():
            f = lambda x, at, use=use: use(x, at, order=order, mode=mode, cval=0.7)  # noqa: E731
            np.testing.assert_allclose(sg.symbolic(f, backend="numpy")(x, at), f(x, at), rtol=1e-11, atol=1e-12)


def test_an_image_turns_by_its_angle():
    image = RNG.normal(size=(4, 5))
    f = lambda angle: np.sum(ndimage.rotate(image, angle, reshape=False, order=3, mode="mirror") ** 2)  # noqa: E731
    step = 1e-5
    assert sg.grad(f)(20.3) == pytest.approx((f(20.3 + step) - f(20.3 - step)) / (2 * step), rel=1e-7)


def test_refusals():
    image = RNG.normal(size=(4, 5))
    with pytest.raises(UnsupportedOperation, match="splines of order 5"):
        sg.symbolic(lambda x: ndimage.spline_filter(x, 5))(image)
    with pytest.raises(UnsupportedOperation, match=r"zoom has no derivative rule by its zoom"):
        sg.grad(lambda z: np.sum(ndimage.zoom(image * z, z)))(1.5)
    with pytest.raises(ArgumentError, match="mode='edge'"):
        sg.symbolic(lambda x: ndimage.shift(x, 1.0, mode="edge"))(image)
