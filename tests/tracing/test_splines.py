"""Splines of scipy by their values, their knots and the points: scipy's value, and the derivative by differences."""

import numpy as np
import pytest
import scipy.interpolate as si

import symgrad as sg
from symgrad.errors import UnsupportedOperation
from symgrad.testing import check_grads

RNG = np.random.default_rng(1)
X = np.array([0.0, 0.7, 1.5, 2.1, 3.3, 4.0, 4.4, 6.0])
Y, Y2 = RNG.normal(size=8), RNG.normal(size=(8, 2))
AT = np.array([0.1, 0.72, 2.0, 5.5, 3.25])
GRID = np.array([0.0, 1.0, 2.5, 3.0]), np.array([0.0, 0.5, 2.0])
Z, PLACES = RNG.normal(size=(4, 3)), np.array([[0.3, 0.2], [2.7, 1.1]])
KNOTS = np.arange(12.0)

BY_VALUES_AND_POINTS = {
    **{f"cubic, {bc}": lambda y, t, bc=bc: si.CubicSpline(X, y, bc_type=bc)(t) for bc in ("natural", "clamped")},
    "cubic, not a knot": lambda y, t: si.CubicSpline(X, y)(t) + si.CubicSpline(X, y)(t, 1),
    "cubic, periodic": lambda y, t: si.CubicSpline(X, np.append(y[:7], y[0]), bc_type="periodic")(t),
    "cubic, values at the ends": lambda y, t: si.CubicSpline(X, y, bc_type=((1, 0.5), (2, y[0])))(t),
    "cubic, made into others": lambda y, t: (
        si.CubicSpline(X, y).derivative()(t) + si.CubicSpline(X, y).antiderivative()(t)
    ),
    "cubic, its integral": lambda y, t: si.CubicSpline(X, y).integrate(t[0], t[2]),
    "PCHIP": lambda y, t: si.PchipInterpolator(X, y)(t),
    "Akima": lambda y, t: si.Akima1DInterpolator(X, y)(t),
    "Hermite": lambda y, t: si.CubicHermiteSpline(X, y, y[::-1])(t),
    "Krogh": lambda y, t: si.KroghInterpolator(X[:5], y[:5])(t[:3]),
    **{f"interp1d {k}": lambda y, t, k=k: si.interp1d(X, y, kind=k)(t) for k in ("linear", "nearest", "cubic")},
    "interp1d, filled": lambda y, t: si.interp1d(X, y, bounds_error=False, fill_value=2.0)(t - 1.0),
    **{f"make_interp_spline {k}": lambda y, t, k=k: si.make_interp_spline(X, y, k)(t) for k in (1, 2, 3)},
    "make_interp_spline, periodic": lambda y, t: si.make_interp_spline(X, np.append(y[:7], y[0]), bc_type="periodic")(
        t
    ),
    "B-spline": lambda y, t: si.BSpline(KNOTS, y, 3)(t + 2.6) + si.BSpline(KNOTS, y, 3).derivative()(t + 2.6),
}


@pytest.mark.parametrize("name", BY_VALUES_AND_POINTS)
def test_by_values_and_points(name):
    fn = BY_VALUES_AND_POINTS[name]
    np.testing.assert_allclose(sg.symbolic(fn, backend="numpy")(Y, AT), fn(Y, AT), rtol=1e-12, atol=1e-13)
    check_grads(fn, [Y, AT], order=1)


def test_by_the_knots():
    check_grads(lambda x, y: si.CubicSpline(x, y)(AT), [X, Y])
    check_grads(lambda x: si.CubicSpline(x, Y2, bc_type="natural")(AT), [X], order=1)
    check_grads(lambda x: si.interp1d(x, Y)(AT), [X], order=1)
    with pytest.raises(UnsupportedOperation, match="Take CubicSpline"):
        sg.grad(lambda x: np.sum(si.make_interp_spline(x, Y)(AT)))(X)


def test_a_spline_from_outside():
    spline = si.CubicSpline(X, Y)
    np.testing.assert_allclose(sg.grad(lambda t: np.sum(spline(t)))(AT), spline(AT, 1), rtol=1e-12)
    outside = np.array([-1.0, 2.0, 7.0])
    got = sg.symbolic(lambda t: si.CubicSpline(X, Y, extrapolate=False)(t))(outside)
    np.testing.assert_allclose(got, si.CubicSpline(X, Y, extrapolate=False)(outside), rtol=1e-12)


@pytest.mark.parametrize("method", ["linear", "nearest"])
def test_on_a_grid(method):
    def fn(z, t):
        return si.RegularGridInterpolator(GRID, z, method=method)(t) + si.interpn(GRID, z, t, method=method)

    np.testing.assert_allclose(sg.symbolic(fn, backend="numpy")(Z, PLACES), fn(Z, PLACES), rtol=1e-13)
    check_grads(fn, [Z, PLACES], order=1)


def test_what_has_no_rule_is_refused_by_name():
    for fn, name in [
        (lambda y: si.UnivariateSpline(X, y)(AT), "UnivariateSpline"),
        (lambda y: si.BarycentricInterpolator(X, y)(AT), "barycentric"),
        (lambda y: si.BPoly(y.reshape(4, 2), X[:3])(AT[:2]), "BPoly"),
    ]:
        with pytest.raises(UnsupportedOperation, match=f"{name}.*has no derivative rule"):
            sg.grad(lambda y, fn=fn: np.sum(fn(y)))(Y)
