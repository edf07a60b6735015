"""plot: what is drawn is what the function and the derivative are, at the points that were passed."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import symgrad as sg

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.quiver import Quiver  # noqa: E402

T = np.linspace(0.1, 2.0, 40)
X, Y = np.linspace(-2.0, 2.0, 12), np.linspace(-1.0, 3.0, 15)


@pytest.fixture(autouse=True)
def axes():
    _, made = plt.subplots()
    yield made
    plt.close("all")


def damped(x, rate):
    return np.exp(-rate * x) * np.sin(3 * x)


def bowl(x):
    return x[0] ** 2 + 2 * x[1] ** 2


def spin(x):
    return np.stack([-x[1], x[0] * x[1]])


def quotient(fn, points, h=1e-5):
    return (fn(points + h) - fn(points - h)) / (2 * h)


def test_a_function_of_a_number_and_its_derivatives_are_lines(axes):
    assert sg.grad(sg.grad(damped)).plot(T, 0.7, axes=axes) is axes
    of = [line.get_ydata() for line in axes.lines]
    assert len(of) == 3
    np.testing.assert_allclose(of[0], damped(T, 0.7))
    np.testing.assert_allclose(of[1], quotient(lambda x: damped(x, 0.7), T), atol=1e-7)
    second = quotient(lambda x: quotient(lambda u: damped(u, 0.7), x, 1e-3), T, 1e-3)
    np.testing.assert_allclose(of[2], second, atol=1e-3)
    assert all(np.array_equal(line.get_xdata(), T) for line in axes.lines)
    assert axes.get_xlabel() == "$x$"
    assert axes.get_legend().get_texts()[0].get_text() == "$f$"


def test_another_argument_ranges(axes):
    sg.grad(damped, "rate").plot(0.4, T, axes=axes)
    np.testing.assert_allclose(axes.lines[1].get_ydata(), quotient(lambda r: damped(0.4, r), T), atol=1e-7)
    assert axes.get_xlabel() == r"$\mathit{rate}$"


def test_each_element_of_a_result_is_a_line(axes):
    sg.jacobian(lambda t: np.array([np.cos(t), t**2])).plot(T, axes=axes)
    np.testing.assert_allclose([line.get_ydata() for line in axes.lines], [np.cos(T), T**2, -np.sin(T), 2 * T])
    assert axes.lines[0].get_color() == axes.lines[2].get_color() != axes.lines[1].get_color()


def arrows(axes):
    (found,) = [c for c in axes.collections if isinstance(c, Quiver)]
    return np.c_[found.XY, found.U, found.V]


def contours(axes):
    return [c for c in axes.collections if not isinstance(c, Quiver)]


@pytest.mark.parametrize("given", [((X, Y),), (X, Y)], ids=["an array of two", "two numbers"])
def test_a_gradient_over_a_plane_is_arrows_over_contours(given, axes):
    if len(given) == 2:
        sg.grad(lambda x, y: x**2 + 2 * y**2, (0, 1)).plot(*given, axes=axes)
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("$x$", "$y$")
    else:
        sg.grad(bowl).plot(*given, axes=axes)
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("$x_{0}$", "$x_{1}$")
    x, y, u, v = arrows(axes).T
    np.testing.assert_allclose(np.c_[u, v], np.c_[2 * x, 4 * y], atol=1e-12)
    assert len(x) == len(X) * len(Y)
    assert contours(axes)[0].zmax >= 22.0  # f at (2, 3)


def test_arrows_are_no_more_than_can_be_seen(axes):
    sg.grad(bowl).plot((np.linspace(-1, 1, 90), np.linspace(-1, 1, 41)), axes=axes)
    assert len(arrows(axes)) <= 30 * 30


def test_of_a_field_the_divergence_is_filled_and_the_field_is_arrows(axes):
    sg.divergence(spin).plot((X, Y), axes=axes)
    x, y, u, v = arrows(axes).T
    np.testing.assert_allclose(np.c_[u, v], np.c_[-y, x * y], atol=1e-12)
    assert axes.figure.axes[1].get_ylabel() == r"$\nabla\cdot f$"


def test_of_two_numbers_the_derivative_is_filled(axes):
    sg.laplacian(bowl).plot((X, Y), axes=axes)
    assert axes.figure.axes[1].get_ylabel() == r"$\Delta f$"
    assert len(contours(axes)) == 2


def test_a_value_alone_can_be_drawn(axes):
    sg.symbolic(bowl).plot((X, Y), axes=axes)
    assert len(contours(axes)) == 1
    sg.symbolic(np.sin).plot(T, axes=axes)
    np.testing.assert_allclose(axes.lines[-1].get_ydata(), np.sin(T))


def test_values_and_what_else_a_function_gives_are_left_out(axes):
    sg.value_and_grad(lambda x: x**3).plot(T, axes=axes)
    sg.grad(lambda x: (x**3, x), has_aux=True).plot(T, axes=axes)
    np.testing.assert_allclose([line.get_ydata() for line in axes.lines], [T**3, 3 * T**2] * 2)


def test_what_is_not_finite_is_left_blank(axes):
    sg.grad(lambda x, y: np.log(x) + y, (0, 1)).plot(np.linspace(0.0, 1.0, 9), Y, axes=axes)
    assert np.isfinite(contours(axes)[0].zmax)


def test_a_new_figure_is_made():
    before = len(plt.get_fignums())
    made = sg.grad(np.sin).plot(T)
    assert len(plt.get_fignums()) == before + 1
    assert len(made.lines) == 2


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: sg.grad(damped).plot(0.4, 0.7), "pass an array of two points or more"),
        (lambda: sg.grad(damped, (0, 1)).plot(T, 0.7), "pass an array of two points or more"),
        (lambda: sg.hessian(bowl).plot((X, Y)), r"have shapes \(2, 2\) and \(\)"),
        (lambda: sg.jacobian(spin).plot((X, Y)), r"have shapes \(2, 2\) and \(2,\)"),
        (lambda: sg.jacobian(lambda t: t * np.ones(11)).plot(T), "11 elements over a line are more than 10"),
        (lambda: sg.symbolic(lambda t: t * 1j).plot(T), "draws real numbers"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_a_figure_is_made(draw, message):
    before = len(plt.get_fignums())
    with pytest.raises(sg.errors.SymgradError, match=message):
        draw()
    assert len(plt.get_fignums()) == before


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(sg.errors.MissingPart, match=r"plot draws with matplotlib: pip install 'symgrad\[notebook\]'"):
        sg.grad(np.sin).plot(T)
