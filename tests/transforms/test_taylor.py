import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, ArgumentTypeError, ShapeError

X = np.array([0.3, -0.7, 1.1])
V = np.array([1.0, 2.0, -0.5])


def f(x):
    return np.sin(x @ x) * x


def test_directional_is_the_jacobian_times_v():
    step = 1e-6
    wanted = (f(X + step * V) - f(X - step * V)) / (2 * step)
    np.testing.assert_allclose(sg.directional(f)(X, V), wanted, rtol=1e-8)


def test_directional_of_second_order():
    step = 1e-4
    wanted = (f(X + step * V) - 2 * f(X) + f(X - step * V)) / step**2
    np.testing.assert_allclose(sg.directional(f, order=2)(X, V), wanted, rtol=1e-6)


def test_directional_by_several_arguments_takes_a_tuple():
    made = sg.directional(lambda x, a: a * np.sum(x**2), (0, 1))
    assert made(X, 2.0, (V, 3.0)) == pytest.approx(2 * 2 * X @ V + 3 * X @ X)


def test_directional_reads_as_a_partial_derivative():
    made = sg.directional(lambda x: np.sin(x @ x))
    assert made.latex_rows("n", "n") == [
        r"\frac{\partial f}{\partial v} &= 2 \cos\left(\lVert x \rVert^{2}\right) x^\top v"
    ]


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: sg.directional(np.sum)(X), ArgumentTypeError, "the direction last"),
        (lambda: sg.directional(np.sum)(X, V[:2]), ShapeError, "v has shape"),
        (lambda: sg.directional(np.sum, order=0), ArgumentError, "order=0"),
        (lambda: sg.taylor(np.sum, X, 2), ArgumentError, "along which direction"),
        (lambda: sg.taylor(np.sin, 1.0, 41), ArgumentError, "order=41"),
        (lambda: sg.jet(np.sin, 1.0, 2.0), ArgumentError, "one list an input"),
        (lambda: sg.jet(np.sin, 1.0, []), ArgumentError, "one length"),
        (lambda: sg.jet(np.multiply, (1.0, 2.0), ([1.0], [1.0, 2.0])), ArgumentError, "one length"),
    ],
)
def test_what_does_not_go_together(call, error, said):
    with pytest.raises(error, match=said):
        call()


def test_jet_of_two_arguments():
    out, (first, second) = sg.jet(lambda x, y: x * y, (2.0, 3.0), ([1.0, 0.5], [4.0, 0.0]))
    assert (out, first, second) == (6.0, 3.0 + 8.0, 0.5 * 3.0 + 2 * 4.0)


def test_jet_inside_of_a_function_is_differentiated():
    def speed(x):
        return sg.jet(np.sin, x, [1.0, 0.0])[1][0]

    np.testing.assert_allclose(sg.grad(speed)(0.4), -np.sin(0.4), rtol=1e-15)


def test_taylor_of_an_array_along_a_direction():
    series = sg.taylor(f, X, 8, V)
    assert series.coefficients.shape == (9, 3)
    np.testing.assert_allclose(series(0.05), f(X + 0.05 * V), rtol=1e-8)


def test_taylor_of_several_outputs():
    series = sg.taylor(lambda x: (np.sin(x), {"square": x**2}), 0.5, 6)
    sine, others = series(0.1)
    np.testing.assert_allclose([sine, others["square"]], [np.sin(0.6), 0.36], rtol=1e-8)
    assert str(series).splitlines()[:2] == ["c_0 = sin(x)", "c_1 = x**2"]


def test_taylor_reads_as_a_series():
    series = sg.taylor(lambda x: np.exp(-x), 0.0, 3)
    assert str(series) == "exp(-x) - h*exp(-x) + h**2*exp(-x)/2 - h**3*exp(-x)/6"
    assert series.latex() == r"e^{- x} - h e^{- x} + \frac{h^{2} e^{- x}}{2} - \frac{h^{3} e^{- x}}{6}"
    assert str(sg.taylor(lambda h: h**2, 1.0, 2)) == "h**2 + 2*dx*h + dx**2"


def test_taylor_of_order_0_is_the_value():
    np.testing.assert_array_equal(sg.taylor(np.exp, 1.0, 0).coefficients, [np.exp(1.0)])
