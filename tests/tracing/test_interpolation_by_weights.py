"""Interpolators and splines of scipy, of traced data: scipy's value, and the derivative by differences."""

import numpy as np
import pytest
import scipy.interpolate as si
from central_differences import expect_slopes

import symgrad as sg
from symgrad.errors import UnsupportedOperation

T = np.array([0.0, 0.8, 2.1, 3.0, 4.4, 5.0])
Y = np.array([0.5, 1.3, 0.7, 2.1, 0.2, 1.1])
PLACES = np.random.default_rng(0).uniform(size=(6, 2))
INSIDE, NEAR = PLACES.mean(0)[None], np.array([[0.3, 0.4], [0.9, 0.1]])


def by_tck(y):
    tck = si.splrep(T, y)
    return si.splev(1.5, tck) + si.splev(y[1], tck, der=1) + si.splint(0.0, 2.0, tck)


def of_the_spline(y):
    spline = si.UnivariateSpline(T, y, s=0)
    return spline.derivative()(np.array([1.5, 2.2])).sum() + spline.integral(0.5, 3.0) + spline(y[:2], 1).sum()


def of_the_other_spline(y):
    spline = si.InterpolatedUnivariateSpline(T, y, k=5)
    return spline(1.2) + spline.antiderivative()(2.0) + spline.derivatives(1.1).sum()


PROGRAMS = {
    "a spline through the data": lambda y: si.UnivariateSpline(T, y, s=0)(1.5) * 1.0,
    "its derivative and its integral": of_the_spline,
    "of degree 5": of_the_other_spline,
    "of degree 1, by the points": lambda y: si.InterpolatedUnivariateSpline(T, y, k=1)(y[:3]).sum(),
    "knots and coefficients": by_tck,
    "a known spline": lambda y: si.splev(y, si.splrep(T, np.sin(T))).sum(),
    "radial functions": lambda y: si.RBFInterpolator(PLACES, y)(NEAR).sum(),
    "radial functions, smoothed": lambda y: si.RBFInterpolator(
        PLACES, np.stack([y, y**2], 1), kernel="gaussian", epsilon=2.0, smoothing=0.1
    )(NEAR).sum(),
    "triangles": lambda y: si.LinearNDInterpolator(PLACES, y)(INSIDE)[0] ** 2,
    "triangles, by coordinates": lambda y: si.LinearNDInterpolator(PLACES, y)(*INSIDE[0]) ** 2,
    "the nearest": lambda y: (si.NearestNDInterpolator(PLACES, y)(NEAR) ** 2).sum(),
    "griddata": lambda y: si.griddata(PLACES, y, INSIDE)[0] + si.griddata(PLACES, y**2, NEAR, method="nearest").sum(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_by_the_data(name):
    expect_slopes(sg.value_and_grad(PROGRAMS[name])(Y), PROGRAMS[name], Y)


@pytest.mark.parametrize(
    "fn",
    [
        lambda y: si.UnivariateSpline(T, y)(1.5),
        lambda y: si.UnivariateSpline(T, y, k=2, s=0)(1.5),
        lambda y: si.UnivariateSpline(T, y, s=0, ext=1)(9.0),
        lambda y: si.splrep(T, y, per=1)[1].sum(),
        lambda y: si.RBFInterpolator(PLACES * y[0], Y)(NEAR).sum(),
        lambda y: si.RBFInterpolator(PLACES, y)(NEAR * y[0]).sum(),
        lambda y: si.RBFInterpolator(PLACES, y, neighbors=3)(NEAR).sum(),
        lambda y: si.griddata(PLACES, y, INSIDE, method="cubic")[0],
    ],
)
def test_what_has_no_rule_is_refused(fn):
    with pytest.raises(UnsupportedOperation, match=r"has no derivative rule"):
        sg.grad(fn)(Y)
