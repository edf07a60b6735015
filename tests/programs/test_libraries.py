"""Arrays that hold traced values, in the hands of code that does not know them: right or refused, never misread."""

from __future__ import annotations

import array
import copy
import json
import math
import pickle
import statistics
import struct

import numexpr
import numpy as np
import opt_einsum
import pytest
import slopes
from numpy.lib import stride_tricks

import symgrad as sg
from symgrad.errors import SymgradError


def made(x):
    """Zeros, into which the argument is written."""
    v = np.zeros(3)
    v[:] = x
    return v


def in_numexpr(x):
    return numexpr.evaluate("v * 2", {"v": made(x)}).sum()


def in_numexpr_by_name(x):
    v = made(x)  # noqa: F841  which numexpr finds
    return numexpr.evaluate("v * 2").sum()


def in_opt_einsum(x):
    v = made(x)
    return opt_einsum.contract("i,i->", v, v)


def as_an_integer_view(x):
    return np.sum(made(x).view(np.int64) % 1000) * 1.0


def as_bytes(x):
    return np.frombuffer(made(x).tobytes()).sum()


def as_memory(x):
    return sum(memoryview(made(x)))


def in_an_array_of_python(x):
    return sum(array.array("d", made(x)))


def packed(x):
    return sum(struct.unpack("3d", struct.pack("3d", *made(x))))


def by_pickle(x):
    return pickle.loads(pickle.dumps(made(x))).sum()


def by_deepcopy(x):
    return copy.deepcopy([made(x)])[0].sum() + copy.copy(made(x)).sum()


def as_json(x):
    return sum(json.loads(json.dumps(made(x).tolist())))


def by_statistics(x):
    return statistics.fmean(made(x)) + statistics.mean([*made(x)])


def as_fields(x):
    v = np.zeros(3, dtype=[("a", float), ("b", float)])
    v["a"] = x
    return v["a"].sum()


def as_objects(x):
    v = np.empty(3, dtype=object)
    v[:] = [x[0], x[1], x[2]]
    return v.sum()


def by_an_iterator_of_numpy(x):
    return sum(float(e) for e in np.nditer(made(x)))


def by_strides(x):
    v = made(x)
    return stride_tricks.as_strided(v, (2, 2), (8, 8)).sum()


def masked(x):
    return np.ma.masked_less(made(x), 0).sum()


def as_a_matrix(x):
    return (np.matrix(made(x)) * np.matrix(made(x)).T)[0, 0]


def as_a_polynomial(x):
    return np.poly1d(made(x))(2.0) + np.polynomial.Polynomial(made(x))(0.5)


def formatted_by_numpy(x):
    return len(np.array2string(made(x), precision=2)) * x[0]


class Asks:
    """Code that asks for the memory of what it is given."""

    def __init__(self, v):
        self.v = v

    @property
    def __array_interface__(self):
        return self.v.__array_interface__


def by_the_array_interface(x):
    return np.asarray(Asks(made(x))).sum()


def in_a_callback_of_vectorize(x):
    v = made(x)
    return np.vectorize(math.exp)(v).sum()


_ALL = [f for name, f in list(globals().items()) if callable(f) and getattr(f, "__module__", "") == __name__]
_FUNCTIONS = [f for f in _ALL if f not in (made, Asks)]
X = np.array([0.5, 1.5, 0.7])


def expect_right_or_refused(function, x=X, precision=1e-12):
    derivative = sg.value_and_grad(function, backend="numpy")
    try:
        value, gradient = derivative(x)
    except (SymgradError, TypeError):  # what Python itself says is no value either
        return
    np.testing.assert_allclose(value, function(x), rtol=precision)
    np.testing.assert_allclose(gradient, slopes.gradients(function, [x], [0])[0], rtol=1e-6, atol=max(precision, 1e-6))


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("function", _FUNCTIONS, ids=lambda f: f.__name__)
def test_right_or_refused(function):
    expect_right_or_refused(function)


def test_scipy():
    """Functions that are called back hold traced values of their own."""
    pytest.importorskip("scipy")
    from scipy import integrate, interpolate, linalg, optimize, sparse

    def integrated(x):
        return integrate.solve_ivp(lambda t, y: np.array([y[1], -x[0] * y[0]]), (0, 1), [1.0, 0.0]).y[0, -1]

    def integrated_of_lists(x):
        return integrate.solve_ivp(lambda t, y: [y[1], -float(x[0]) * y[0]], (0, 1), [1.0, 0.0]).y[0, -1]

    def by_odeint(x):
        return integrate.odeint(lambda y, t: np.array([y[1], -x[0] * y[0]]), [1.0, 0.0], [0.0, 1.0])[-1, 0]

    def area(x):
        return integrate.quad(lambda t: math.sin(x[0] * t), 0, 1)[0]

    def root(x):
        return optimize.brentq(lambda t: t**3 - float(x[0]), 0, 2)

    def minimum(x):
        return optimize.minimize(lambda t: np.sum((t - made(x)[:2]) ** 2), [0.0, 0.0]).x.sum()

    def fitted(x):
        return optimize.least_squares(lambda t: np.array([t[0] - x[0], t[0] - x[1]]), [0.0]).x[0]

    def spline(x):
        return float(interpolate.CubicSpline([0.0, 1.0, 2.0], made(x))(0.5))

    def exponential(x):
        return linalg.expm(np.array([[x[0], 1.0], [0.0, x[1]]])).sum()

    def sparse_sum(x):
        return sparse.csr_matrix(np.array([[x[0], 0.0], [0.0, x[1]]])).sum()

    tried = [integrated, integrated_of_lists, by_odeint, area, root, minimum, fitted, spline, exponential, sparse_sum]
    for function in tried:
        is_found = function in (integrated, integrated_of_lists, by_odeint, minimum)  # within SciPy's tolerances
        expect_right_or_refused(function, precision=1e-3 if is_found else 1e-12)
