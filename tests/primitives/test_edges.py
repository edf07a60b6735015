"""At NaN, infinities and kinks: forward mode, reverse mode and the value say the same."""

import itertools
import operator

import numpy as np
import pytest

import symgrad as sg

NAN, INF = np.nan, np.inf

#: function, where, and its gradient there
EDGES = {
    "fmax with NaN first": (lambda x: np.fmax(x[0], x[1]), [NAN, 1.0], [0.0, 1.0]),
    "fmax with NaN last": (lambda x: np.fmax(x[0], x[1]), [1.0, NAN], [1.0, 0.0]),
    "fmin with NaN first": (lambda x: np.fmin(x[0], x[1]), [NAN, 1.0], [0.0, 1.0]),
    "fmin with NaN last": (lambda x: np.fmin(x[0], x[1]), [1.0, NAN], [1.0, 0.0]),
    "fmax, a tie": (lambda x: np.fmax(x[0], x[1]), [1.0, 1.0], [0.5, 0.5]),
    "max with NaN": (np.max, [1.0, NAN, 2.0], [NAN, NAN, NAN]),
    "min with NaN": (np.min, [1.0, NAN, 2.0], [NAN, NAN, NAN]),
    "max of infinities": (np.max, [INF, 1.0, INF], [0.5, 0.0, 0.5]),
    "power of a negative base": (lambda x: np.power(x[0], x[1]), [-2.0, 3.0], [12.0, NAN]),
    "power of zero": (lambda x: np.power(x[0], x[1]), [0.0, 3.0], [0.0, 0.0]),
    "zero to the zero": (lambda x: np.power(x[0], x[1]), [0.0, 0.0], [0.0, -INF]),
    "powers of two": (lambda x: np.sum(2.0**x), [-INF, -2000.0, 1.0], [0.0, 0.0, 2 * np.log(2)]),
    "powers of zero": (lambda x: np.sum(0.0**x), [2.0, 0.5], [0.0, 0.0]),
    "norm of order 3 at 0": (lambda x: np.linalg.norm(x, 3), [0.0, 0.0], [0.0, 0.0]),
    "norm of order 1.5 at 0": (lambda x: np.linalg.norm(x, 1.5), [0.0, 0.0], [0.0, 0.0]),
    "norm of order 3 of an axis": (lambda x: np.linalg.norm(x, 3), [0.0, -2.0], [0.0, -1.0]),
    "norm with NaN": (np.linalg.norm, [NAN, 0.0], [NAN, NAN]),
    "the fraction of modf": (lambda x: np.sum(np.modf(x)[0]), [INF, -INF, 1.5, -2.0], [0.0, 0.0, 1.0, 1.0]),
    "no power of two": (lambda x: np.logaddexp(x[0], x[1]), [-INF, -INF], [0.5, 0.5]),
    "no power, and one": (lambda x: np.logaddexp(np.logaddexp(x[0], x[1]), x[2]), [-INF, -INF, 2.0], [0.0, 0.0, 1.0]),
    "no power of one of two": (lambda x: np.logaddexp2(x[0], x[1]), [-INF, 3.0], [0.0, 1.0]),
    "a power that is NaN": (lambda x: np.logaddexp(x[0], x[1]), [NAN, -INF], [NAN, NAN]),
    "no power of any": (lambda x: np.exp(np.logaddexp.reduce(x)), [-INF, -INF], [0.0, 0.0]),
    "few powers": (np.logaddexp.reduce, [-INF, -INF, 1.0], [0.0, 0.0, 1.0]),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("backend", ["numpy", "numexpr"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("name", EDGES)
def test_gradients(name, mode, backend):
    function, at, want = EDGES[name]
    value, got = sg.value_and_grad(function, mode=mode, backend=backend)(np.array(at))
    np.testing.assert_array_equal(value, function(np.array(at)))
    np.testing.assert_allclose(got, want, rtol=1e-15)


def test_the_second_derivative_of_powers_of_zero_is_zero():
    np.testing.assert_array_equal(sg.hessian(lambda x: np.sum(0.0**x))(np.array([2.0, 0.5])), np.zeros((2, 2)))


def recursion(x):
    """Log-probabilities of paths that begin in the first state: those of the others are -∞."""
    a = np.where(np.arange(4) == 0, 0.0, -INF)
    for _ in range(6):
        a = np.logaddexp(a + x, np.concatenate([[-INF], a[:-1]]) + x)
    return a[-1]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_recursions_of_logarithms_from_no_power():
    """Forward mode, and all second derivatives, were NaN where the first two powers that meet are 0."""
    x = np.log([0.1, 0.2, 0.3, 0.4])
    gradient, h, eye = sg.grad(recursion), 1e-6, np.eye(4)
    want = np.array([(recursion(x + h * e) - recursion(x - h * e)) / (2 * h) for e in eye])
    np.testing.assert_allclose(gradient(x), want, rtol=1e-8)
    np.testing.assert_allclose(sg.jacfwd(recursion)(x), want, rtol=1e-8)
    second = np.array([(gradient(x + h * e) - gradient(x - h * e)) / (2 * h) for e in eye])
    np.testing.assert_allclose(sg.hessian(recursion)(x), second, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(sg.hvp(recursion, (x,), (eye[0],))[0], second[0], rtol=1e-6, atol=1e-9)


def test_jacobians_of_an_extremum_that_is_nan():
    x = np.array([[1.0, NAN], [2.0, 1.0]])
    want = np.zeros((2, 2, 2))
    want[0, 0], want[1, 1, 0] = NAN, 1.0
    for make in (sg.jacfwd, sg.jacrev):
        np.testing.assert_array_equal(make(lambda v: np.max(v, axis=1))(x), want)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_modf_of_special_values_is_numpys(dtype):
    x = np.array([INF, -INF, NAN, 0.0, -0.0, -2.0, -0.25, 1e4], dtype)
    for got, want in zip(sg.symbolic(np.modf, backend="numpy")(x), np.modf(x), strict=True):
        np.testing.assert_array_equal(got, want, strict=True)
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want) | (np.isnan(want) & np.signbit(got)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("exponent", [0.5, 1.5, 2.5, -0.5, -1.5, 0.25, 3.0, -2.0])
@pytest.mark.parametrize("backend", ["numpy", "numexpr"])
def test_powers_of_infinities_and_zeros_are_numpys(exponent, backend):
    x = np.array([-INF, INF, -1.0, -0.0, 0.0, 4.0])
    np.testing.assert_array_equal(sg.symbolic(lambda v: v**exponent, backend=backend)(x), x**exponent)


def _differentiated(function, positions, modes):
    for position, mode in zip(positions, itertools.cycle(modes)):
        function = sg.grad(function, position, mode=mode)
    return function


ORDERS = [p for order in (1, 2, 3) for p in itertools.product((0, 1), repeat=order)]
MODES = [("forward",), ("reverse",), ("forward", "reverse")]


@pytest.mark.parametrize("modes", MODES, ids="-".join)
@pytest.mark.parametrize("positions", ORDERS, ids=lambda p: "".join(map(str, p)))
def test_powers_whose_derivatives_have_a_factor_of_zero(positions, modes):
    """Where ``y``, ``y - 1`` or ``log x`` is 0 the derivatives of that factor still count."""
    mpmath = pytest.importorskip("mpmath")
    x, y = (np.ravel(v) for v in np.meshgrid([1.0, 2.0], [0.0, 1.0, 2.0, 3.0]))
    derivative = _differentiated(lambda a, b: a**b, positions, modes)
    want = [
        float(mpmath.diff(mpmath.power, (u, v), (positions.count(0), positions.count(1))))
        for u, v in zip(x, y, strict=True)
    ]
    np.testing.assert_allclose(derivative(x, y), want, rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("modes", MODES, ids="-".join)
@pytest.mark.parametrize("power", [np.power, np.float_power, operator.pow], ids=["power", "float_power", "pow"])
@pytest.mark.parametrize("positions", ORDERS, ids=lambda p: "".join(map(str, p)))
def test_powers_of_zero_have_the_finite_limits_of_their_derivatives(positions, power, modes):
    """At ``x = 0`` derivatives that have a finite limit from the right are that limit, but for one order of sweeps."""
    by_base, by_exponent = positions.count(0), positions.count(1)
    for y in (2.0, 2.5, 3.0, 4.0):
        if y < by_base or (y == by_base and by_exponent):
            continue  # no finite limit: x**(y - by_base) or its product with a logarithm
        want = float(np.prod(y - np.arange(by_base))) if y == by_base else 0.0
        got = _differentiated(power, positions, modes)(np.float64(0.0), np.float64(y))
        if (positions, modes) == ((1, 0, 1), ("reverse",)):
            want = np.nan  # the product of log 0 and of a power that is 0 there: no number, and no wrong one
        np.testing.assert_equal(float(got), want, err_msg=str(y))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 2.5])
def test_powers_of_zero_with_a_literal_exponent(exponent):
    derivative = _differentiated(lambda x: x**exponent, (0, 0, 0), ("reverse",))
    want = {3: 6.0, 2.5: np.inf}.get(exponent, 0.0)
    assert derivative(np.float64(0.0)) == want


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_product_that_numpy_makes_nan_stays_nan():
    value, slope = sg.value_and_grad(lambda x: x * np.log(x))(np.float64(0.0))
    assert np.isnan(value)
    assert not np.isfinite(slope)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: np.linalg.norm(x) ** 2,
        lambda x: np.linalg.norm(x) * np.linalg.norm(x),
        lambda x: np.sqrt(np.sum(x * x)) ** 2,
    ],
)
def test_the_square_of_a_norm_is_smooth_at_zero(fn):
    """Its Hessian was 0 there, or NaN, and its gradient was told with a condition."""
    for x in (np.zeros(3), np.array([1.0, -2.0, 0.5])):
        np.testing.assert_allclose(sg.hessian(fn)(x), 2 * np.eye(3), atol=1e-15)
        for mode in ("forward", "reverse"):
            np.testing.assert_allclose(sg.grad(fn, mode=mode)(x), 2 * x, rtol=1e-15)
    assert r"\ne" not in sg.grad(fn).latex(x)
