"""Libraries whose own Python code is traced: values to the bit, derivatives, and what is refused inside of them."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import UnsupportedOperation
from symgrad.testing import check_grads

RNG = np.random.default_rng(4)
C, X, X4 = RNG.normal(size=3), RNG.uniform(-1, 1, 4), RNG.normal(size=(2, 4))
P = np.polynomial
CLASSES = [P.Polynomial, P.Chebyshev, P.Legendre, P.Hermite, P.HermiteE, P.Laguerre]
USES = {
    "at points": lambda kind: lambda c, x: kind(c)(x),
    "on a domain": lambda kind: lambda c, x: kind(c, domain=[-2, 5])(x),
    "derivative and integral": lambda kind: lambda c, x: kind(c).deriv()(x) * kind(c).integ(2, k=[1.0, 2.0])(x),
    "arithmetic": lambda kind: lambda c, x: (-kind(c) * kind(x) + kind(c) ** 2 / 2 - 3.0).coef,
    "division": lambda kind: lambda c, x: (kind(x) // kind(c)).coef,
    "by its roots": lambda kind: lambda c, x: kind.fromroots(c)(x),
    "as another": lambda kind: lambda c, x: kind(c).convert(kind=P.Chebyshev).coef,
}


@pytest.mark.filterwarnings("ignore::symgrad.errors.DependsByComparing")  # of second derivatives, which are constant
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", CLASSES, ids=lambda k: k.__name__)
def test_polynomials_of_traced_coefficients_and_points(kind, use):
    fn = USES[use](kind)
    np.testing.assert_array_equal(sg.symbolic(fn, backend="numpy")(C, X), fn(C, X), strict=True)
    check_grads(fn, [C, X], order=2 if kind is P.Chebyshev else 1)


def test_a_polynomial_from_outside():
    held = P.Legendre([1.0, 2.0, 0.5])
    np.testing.assert_allclose(sg.grad(lambda x: np.sum(held(x)))(X), held.deriv()(X), rtol=1e-14)


def test_polynomials_of_the_old_kind():
    def fn(c, x):
        p = np.poly1d(c)
        return p(x) * p.deriv()(x) + (p * p - np.poly1d(x)).integ()(0.5) + np.polyval(p, np.poly1d([1.0, 2.0]))(x)

    np.testing.assert_array_equal(sg.symbolic(fn, backend="numpy")(C, X), fn(C, X))
    check_grads(fn, [C, X])


BY_VALUES = {
    "unique": lambda x: np.unique(np.round(x, 1) * 0.0 + x)[::-1] ** 2,
    "unique rows": lambda x: np.unique(x, axis=1),
    "unique with all": lambda x: np.multiply(*np.unique_counts(x)[:2]),
    "sets": lambda x: np.concatenate([np.union1d(x[0], x[1, :2]), np.setdiff1d(x[0], x[0, 1:]), np.intersect1d(x, x)]),
    "histogram": lambda x: np.histogram(x, bins=3)[0] * np.histogram_bin_edges(x, 2),
    "histogram of weights": lambda x: np.histogram([1.0, 2.0, 2.5, 1.5], 3, weights=x[0], density=True)[0],
    "histogram of two": lambda x: np.histogram2d(x[0], x[1], bins=2)[0] * x[0, :2],
    "piecewise": lambda x: np.piecewise(x, [x < 0, x >= 0.5], [lambda t: -(t**3), np.exp, 2.0]),
    "piecewise number": lambda x: np.piecewise(x[0, 0], [x[0, 0] < 0], [np.sin, np.cos]),
    "arange": lambda x: np.arange(x[0, 0], 3.0, 0.5),
    "ndenumerate": lambda x: sum((i + 1) * v**2 for (i, _), v in np.ndenumerate(x)),
    "partition": lambda x: np.partition(x, 1, axis=-1)[:, 1] * np.take_along_axis(x, np.argpartition(x, 2), -1)[:, 2],
    "poly": lambda x: np.poly(x[0]) * np.apply_over_axes(np.sum, x, [0, 1]).ravel(),
    "quantile at traced levels": lambda x: np.quantile(x[0], 0.5 + 0.4 * np.tanh(x[1])),
    "quantile with weights": lambda x: np.quantile(x[0], [0.3, 0.6], weights=[1, 2, 1, 3], method="inverted_cdf"),
    "padded with a traced value": lambda x: np.pad(x, ((1, 0), (5, 1)), constant_values=x[0, 0]),
}


@pytest.mark.parametrize("name", BY_VALUES)
def test_what_depends_on_the_order_of_values(name):
    fn = BY_VALUES[name]
    got, want = sg.symbolic(fn, backend="numpy")(X4), fn(X4)
    assert np.shape(got) == np.shape(want)
    np.testing.assert_allclose(got, want, rtol=1e-13)
    check_grads(fn, [X4], order=1)


def test_one_trace_serves_arrays_of_one_order():
    gradient = sg.grad(lambda x: np.sum(np.unique(x) * np.arange(3)))
    for x in ([3.0, 1.0, 2.0], [9.0, 0.5, 0.7], [1.0, 2.0, 3.0]):
        np.testing.assert_array_equal(gradient(np.array(x)), np.argsort(x).argsort())


def test_what_is_refused_inside_is_said_of_what_was_called():
    with pytest.raises(UnsupportedOperation, match=r"numpy\.array_repr has no .*inside of it") as refused:
        sg.grad(lambda x: len(np.array_repr(x)) * x[0])(X)
    assert __file__ in str(refused.value)


V, POINTS = np.array([0.4, -0.3, 0.8]), np.array([[0.3, -0.7, 1.2], [1.0, 0.5, -0.2]])
ROTATED = {
    "a matrix": lambda R, x: R.from_rotvec(x).as_matrix(),
    "points": lambda R, x: R.from_rotvec(x).apply(POINTS) ** 2,
    "back": lambda R, x: R.from_rotvec(x).inv().apply(POINTS[0]) + R.from_rotvec(x).apply(POINTS[0], inverse=True),
    "angles": lambda R, x: R.from_euler("xyz", x).apply(POINTS) * R.from_euler("ZYX", x, degrees=True).as_matrix()[0],
    "one angle": lambda R, x: R.from_euler("z", x[0]).as_matrix() * x[1],
    "a quaternion": lambda R, x: R.from_quat([x[0], x[1], x[2], 1.2]).as_matrix(),
    "one after the other": lambda R, x: (R.from_rotvec(x) * R.from_euler("x", x[0])).as_quat(),
    "beside constants": lambda R, x: (_turn(R) * R.from_rotvec(x) * _turn(R).inv()).as_rotvec() * _turn(R).apply(x),
    "as angles": lambda R, x: np.concatenate([R.from_rotvec(x).as_euler(s) for s in ("xyz", "ZXZ")]),
    "its angle": lambda R, x: R.from_rotvec(x).magnitude() ** 2,
    "half of it": lambda R, x: (R.from_rotvec(x) ** 0.5).as_matrix(),
    "Rodrigues": lambda R, x: R.from_mrp(x).as_mrp() * R.from_matrix(R.from_rotvec(x).as_matrix()).as_rotvec(),
    "several": lambda R, x: R.concatenate([R.from_rotvec(np.stack([x, 2 * x])), _turn(R)]).apply(POINTS[0]),
}


def _turn(R):
    return R.from_euler("xyz", [0.1, 0.2, 0.3])


@pytest.mark.parametrize("name", ROTATED)
def test_rotations_of_scipy(name):
    """Its code for arrays of any library stands for the one in C."""
    pytest.importorskip("scipy.spatial.transform._rotation_xp")
    from scipy.spatial.transform import Rotation

    def fn(x):
        return ROTATED[name](Rotation, x)

    np.testing.assert_allclose(sg.symbolic(fn)(V), fn(V), rtol=1e-12, atol=1e-14)
    check_grads(fn, [V])
    if name in ("a matrix", "points", "one after the other"):  # at 0 it is told by its series
        check_grads(fn, [np.full(3, 1e-5)])


FILTERED = {
    "a low pass": lambda s, x: s.lfilter(*s.butter(2, x[0] / 3), np.arange(6.0)),
    "a band pass": lambda s, x: np.concatenate(s.butter(2, [x[0] / 5, x[1] / 3], "band")),
    "in sections": lambda s, x: s.sosfilt(s.butter(3, x[0] / 3, output="sos"), np.arange(6.0)),
    "of Chebyshev": lambda s, x: s.cheby1(2, 1.0, x[0] / 3)[1],
    "zeros, poles and gain": lambda s, x: np.abs(s.butter(3, x[0] / 3, output="zpk")[1]),
    "a notch": lambda s, x: np.concatenate(s.iirnotch(x[0] / 3, 5.0)),
    "Bode's diagram": lambda s, x: s.bode(([x[0]], [x[1], 1.0]), w=[0.5, 2.0])[1],
    "a response": lambda s, x: s.lsim((x[0], [x[1], 1.0]), np.ones(5), np.arange(5.0))[1],
    "a step": lambda s, x: s.step(([x[0]], [x[1], 1.0]), T=np.arange(5.0))[1],
    "states": lambda s, x: s.dlsim((np.diag(x[:2] / 3), np.ones((2, 1)), np.eye(2), np.zeros((2, 1)), 0.1), np.ones(5))[
        1
    ],
    "sampled": lambda s, x: s.cont2discrete((np.diag(x[:2]), np.ones((2, 1)), np.eye(2), np.zeros((2, 1))), 0.1)[1],
}


@pytest.mark.parametrize("name", FILTERED)
def test_filters_and_systems_of_scipy(name):
    """Systems are made by classes whose ``__new__`` gives an instance of another."""
    signal = pytest.importorskip("scipy.signal")

    def fn(x):
        return FILTERED[name](signal, x)

    at = np.array([0.5, 1.3, 0.7])
    np.testing.assert_allclose(sg.symbolic(fn)(at), fn(at), rtol=1e-10, atol=1e-13)
    check_grads(fn, [at], order=1)
