"""Derivatives of special functions at large and small arguments, where formulas cancel, against mpmath."""

import numpy as np
import pytest

import symgrad as sg

special = pytest.importorskip("scipy.special")
mp = pytest.importorskip("mpmath")


def _boxcox(x, power):
    return (x**power - 1) / power if power else mp.log(x)


def _inverse_boxcox(y, power):
    return (1 + power * y) ** (1 / power) if power else mp.exp(y)


def _scaled(function, order, sign):
    return lambda x: function(order, x) * mp.exp(sign * abs(x))


def _numbers(*xs):
    return [(x,) for x in xs]


#: function, what it is, the argument that it is derived by, the points, and the bounds of the first two derivatives
CASES = [
    ("gamma", mp.gamma, 0, _numbers(1e-8, 0.5, 10.0, 150.0, -0.5, -3.3), 1e-12, 1e-11),
    ("rgamma", mp.rgamma, 0, _numbers(-5.0, -2.0, 0.0, 0.3, 1.0, 20.0, 150.0), 1e-12, 1e-11),
    ("beta", mp.beta, 0, [(0.01, 3.0), (5.0, 2.0), (50.0, 60.0), (1e-5, 1e-5)], 1e-12, 1e-11),
    ("gammainc", lambda a, x: mp.gammainc(a, 0, x, regularized=True), 1, [(0.5, 1e-5), (2.0, 30.0)], 1e-12, 1e-11),
    ("gammainc", lambda a, x: mp.gammainc(a, 0, x, regularized=True), 1, [(1e4, 1e4)], 1e-10, 1e-10),
    ("betainc", lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True), 2, [(40.0, 60.0, 0.4)], 1e-12, 1e-11),
    ("erfinv", mp.erfinv, 0, _numbers(1e-10, 0.5, 0.999), 1e-12, 1e-11),
    (
        "dawsn",
        lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
        0,
        _numbers(0.0, 3.0, 24.9, 25.1, 1e3),
        1e-11,
        1e-8,
    ),
    ("jv", mp.besselj, 1, [(0.0, 0.5), (1.5, 1e-3), (2.0, 30.0), (0.3, 200.0)], 1e-11, 1e-10),
    ("kv", mp.besselk, 1, [(0.7, 0.5), (0.3, 200.0)], 1e-12, 1e-11),
    ("i0e", _scaled(mp.besseli, 0, -1), 0, _numbers(0.5, 50.0), 1e-12, 1e-10),
    ("i0e", _scaled(mp.besseli, 0, -1), 0, _numbers(1e4), 1e-10, 1e-6),
    ("spence", lambda z: mp.polylog(2, 1 - z), 0, _numbers(0.3, 1.0, 1 + 1e-9, 1.2, 30.0), 1e-12, 1e-11),
    ("ellipk", mp.ellipk, 0, _numbers(-50.0, -0.5, 0.0, 1e-9, 0.3, 0.5, 0.99), 1e-12, 1e-11),
    ("ellipe", mp.ellipe, 0, _numbers(-50.0, -0.5, 0.0, 1e-9, 0.3, 0.5, 0.99), 1e-12, 1e-11),
    ("ellipkinc", mp.ellipf, 1, [(0.3, 0.2), (1.5, 0.9), (2.5, 0.5), (-7.0, 0.3), (1.0, -3.0)], 1e-12, 1e-11),
    ("ellipkinc", mp.ellipf, 1, [(1.0, 1e-9)], 1e-12, 1e-7),
    ("ellipeinc", mp.ellipe, 1, [(0.3, 0.2), (1.5, 0.9), (2.5, 0.5), (-7.0, 0.3), (1.0, -3.0)], 1e-12, 1e-11),
    ("agm", mp.agm, 0, [(1.0, 1.0), (1.0, 1 + 1e-9), (1.0, 100.0), (5.0, 1e-3)], 1e-12, 1e-10),
    ("exprel", lambda x: mp.expm1(x) / x if x else mp.mpf(1), 0, _numbers(1e-6, 0.999, 1.001, 30.0), 1e-12, 1e-11),
    ("boxcox", _boxcox, 1, [(2.0, 1e-6), (0.01, 0.3), (50.0, -2.0)], 1e-12, 1e-11),
    ("inv_boxcox", _inverse_boxcox, 1, [(0.5, 1e-6), (2.0, 0.4)], 1e-12, 1e-11),
    ("eval_legendre", mp.legendre, 1, [(5, 1.0), (5, -1.0), (40, 0.3)], 1e-11, 1e-10),
]


@pytest.mark.parametrize(("name", "wanted", "place", "points", "first", "second"), CASES)
def test_two_orders(name, wanted, place, points, first, second):
    function = getattr(special, name)
    slope = sg.grad(function, place)
    for order, derived, bound in ((1, slope, first), (2, sg.grad(slope, place), second)):
        for point in points:
            with mp.workdps(60):
                at = [mp.mpf(v) if isinstance(v, float) else v for v in point]
                step = mp.mpf(10) ** -15 * max(1, abs(at[place]))
                want = mp.re(mp.diff(lambda v: wanted(*at[:place], v, *at[place + 1 :]), at[place], order, h=step))  # noqa: B023
            assert float(derived(*point)) == pytest.approx(float(want), rel=bound, abs=1e-14), (order, point)


def test_where_a_derivative_is_not_defined_it_is_no_number():
    """Carlson's forms where arguments are alike, of which the formula of the derivative is 0/0."""
    assert np.isnan(sg.grad(special.elliprd)(1.0, 2.0, 1.0))
