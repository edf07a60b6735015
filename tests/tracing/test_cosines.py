"""Cosine and sine transforms on traced values: every kind, scale and weighing of the ends, and what is refused."""

import itertools

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, ShapeError

X = np.array([0.5, -1.0, 2.0, 0.25, 1.5])
GRID = np.arange(12.0).reshape(3, 4) % 5


def fft():
    return pytest.importorskip("scipy.fft")


def of_cosines(name):
    transform = getattr(fft(), name)
    for kind, norm, orthogonal in itertools.product((1, 2, 3, 4), (None, "ortho", "forward"), (None, True, False)):
        yield lambda x: transform(x, kind, norm=norm, orthogonalize=orthogonal)  # noqa: B023


@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
def test_cosines_and_sines_of_every_kind_and_scale(name):
    for transform in of_cosines(name):
        for x in (X, X[:2], GRID):
            np.testing.assert_allclose(sg.symbolic(transform)(x), transform(x), rtol=1e-13, atol=1e-14)


def test_refusals_say_what_is_wrong():
    dct = fft().dct
    with pytest.raises(ArgumentError, match="type=5"):
        sg.symbolic(lambda x: dct(x, 5))(X)
    with pytest.raises(ShapeError, match="two elements"):
        sg.symbolic(lambda x: dct(x, 1))(X[:1])
