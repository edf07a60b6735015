"""Fourier transforms on traced values: SciPy's, what is refused, Jacobians and formulas."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, AxisError, ShapeError, SymgradError

X = np.array([0.5, -1.0, 2.0, 0.25, 1.5])
GRID = np.arange(12.0).reshape(3, 4) % 5


def test_the_jacobian_is_the_matrix_of_the_transform():
    matrix = np.fft.fft(np.eye(5), axis=0)
    np.testing.assert_allclose(sg.jacobian(np.fft.fft)(X), matrix, atol=1e-14)
    half = sg.jacobian(np.fft.rfft)(X)
    np.testing.assert_allclose(half, matrix[:3], atol=1e-14)


def test_named_sizes_serve_the_transforms_that_need_none():
    energy = sg.named(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2), x="n")
    for n in (3, 8):
        np.testing.assert_allclose(sg.grad(energy)(X[:n]), 2 * len(X[:n]) * X[:n], rtol=1e-12)


def test_formulas_are_the_sums_of_the_definition():
    assert str(sg.symbolic(np.fft.fft).closed_form(np.ones(2))) == "[a0 + a1, a0 - a1]"
    index = str(sg.symbolic(np.fft.ifft).closed_form(np.ones(6), form="index"))
    assert "exp(I*pi*" in index
    assert index.startswith("Sum(")


REFUSED = {
    "a norm": (lambda x: np.fft.fft(x, norm="sqrt"), ArgumentError, "backward"),
    "no axis": (lambda x: np.fft.fft(x, axis=2), AxisError, "axis 2"),
    "a number": (lambda x: np.fft.fft(x[0]), ShapeError, "this is one number"),
    "no elements": (lambda x: np.fft.fft(x, 0), ShapeError, "0 is no number"),
    "complex numbers": (lambda x: np.fft.rfft(x * 1j), ArgumentError, "np.fft.fft"),
    "sizes and axes": (lambda x: np.fft.fftn(x, s=(2, 3), axes=(0,)), ArgumentError, "different lengths"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_say_what_is_wrong(name):
    f, error, message = REFUSED[name]
    with pytest.raises(error, match=message) as raised:
        sg.symbolic(f)(X)
    assert isinstance(raised.value, SymgradError)
