"""Gradients are finite and right where a literal chain rule gives NaN, and values stay NumPy's."""

import mpmath
import numpy as np
import pytest

import symgrad

mpmath.mp.dps = 60
POINTS = [-1000.0, -40.0, -1.0, 0.0, 1.0, 40.0, 1000.0]
FUNCTIONS = {
    "log(1+exp(x))": (lambda x: np.log(1 + np.exp(x)), lambda x: mpmath.log(1 + mpmath.exp(x))),
    "log(exp(x)+1)": (lambda x: np.log(np.exp(x) + 1.0), lambda x: mpmath.log(1 + mpmath.exp(x))),
    "log1p(exp(x))": (lambda x: np.log1p(np.exp(x)), lambda x: mpmath.log(1 + mpmath.exp(x))),
    "log1p(exp(-x))": (lambda x: np.log1p(np.exp(-x)), lambda x: mpmath.log(1 + mpmath.exp(-x))),
    "log(1+exp(-2x))": (lambda x: np.log(1 + np.exp(-2 * x)), lambda x: mpmath.log(1 + mpmath.exp(-2 * x))),
    "logaddexp(x,0)": (lambda x: np.logaddexp(x, 0.0), lambda x: mpmath.log(1 + mpmath.exp(x))),
    "logaddexp(0,-x)": (lambda x: np.logaddexp(0.0, -x), lambda x: mpmath.log(1 + mpmath.exp(-x))),
    "1/(1+exp(-x))": (lambda x: 1 / (1 + np.exp(-x)), lambda x: 1 / (1 + mpmath.exp(-x))),
    "3/(1+exp(x))": (lambda x: 3 / (1 + np.exp(x)), lambda x: 3 / (1 + mpmath.exp(x))),
    "(1+exp(-x))**-1": (lambda x: (1 + np.exp(-x)) ** -1, lambda x: 1 / (1 + mpmath.exp(-x))),
    "exp(x)/(1+exp(x))": (lambda x: np.exp(x) / (1 + np.exp(x)), lambda x: 1 / (1 + mpmath.exp(-x))),
    "exp(x)/(exp(x)+1)": (lambda x: np.exp(x) / (np.exp(x) + 1), lambda x: 1 / (1 + mpmath.exp(-x))),
    "log(exp(x)+float64(1))": (
        lambda x: np.log(np.exp(x) + np.float64(1)),
        lambda x: mpmath.log(1 + mpmath.exp(x)),
    ),
    "x/(1+exp(-x))": (lambda x: x / (1 + np.exp(-x)), lambda x: x / (1 + mpmath.exp(-x))),
    "x/(1+exp(x))": (lambda x: x / (np.exp(x) + np.float64(1)), lambda x: x / (1 + mpmath.exp(x))),
    "(x+2)/exp(x*x)": (lambda x: (x + 2) / np.exp(x * x), lambda x: (x + 2) / mpmath.exp(x * x)),
    "1/cosh(x)": (lambda x: 1 / np.cosh(x), lambda x: 1 / mpmath.cosh(x)),
    "cosh(x)**-1": (lambda x: np.cosh(x) ** -1, lambda x: 1 / mpmath.cosh(x)),
    "log(cosh(x))": (lambda x: np.log(np.cosh(x)), lambda x: mpmath.log(mpmath.cosh(x))),
    "max(x,0)+log1p(exp(-|x|))": (
        lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
        lambda x: mpmath.log(1 + mpmath.exp(x)),
    ),
    "|x|+log1p(exp(-2|x|))": (
        lambda x: np.abs(x) + np.log1p(np.exp(-2 * np.abs(x))),
        lambda x: mpmath.log(2 * mpmath.cosh(x)),
    ),
    "1/(1+|x|²)": (lambda x: 1 / (1 + np.abs(x) ** 2), lambda x: 1 / (1 + x * x)),
    "1/(1+hypot(x,0)²)": (lambda x: 1 / (1 + np.hypot(x, 0.0) ** 2), lambda x: 1 / (1 + x * x)),
    "tanh(x)": (np.tanh, mpmath.tanh),
    "arctan(x)": (np.arctan, mpmath.atan),
}


def central(fn, x, order):
    """The derivative by central differences with 60 digits."""
    h = mpmath.mpf(10) ** -12
    x = mpmath.mpf(x)
    if order == 1:
        return float((fn(x + h) - fn(x - h)) / (2 * h))
    return float((fn(x + h) - 2 * fn(x) + fn(x - h)) / h**2)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_first_and_second_derivatives_far_out(name, mode):
    fn, exact = FUNCTIONS[name]
    x = np.array(POINTS)
    first = symgrad.grad(fn, mode=mode)
    second = symgrad.grad(lambda v: np.sum(first(v)), mode=mode)
    np.testing.assert_allclose(first(x), [central(exact, p, 1) for p in POINTS], rtol=1e-11, atol=1e-16)
    np.testing.assert_allclose(second(x), [central(exact, p, 2) for p in POINTS], rtol=1e-9, atol=1e-16)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_numpys(name):
    fn, _ = FUNCTIONS[name]
    x = np.array(POINTS)
    with np.errstate(all="ignore"):
        want = fn(x)
    np.testing.assert_array_equal(symgrad.symbolic(fn, backend="numpy")(x), want)


def test_logaddexp_of_equal_infinities_and_far_apart_arguments():
    a, b = np.array([1000.0, -1000.0, 5.0]), np.array([-1000.0, 1000.0, 5.0])
    by_a, by_b = symgrad.grad(np.logaddexp, (0, 1))(a, b)
    assert by_a.tolist() == [1.0, 0.0, 0.5]
    assert by_b.tolist() == [0.0, 1.0, 0.5]


@pytest.mark.parametrize(
    ("fn", "x", "first", "second"),
    [
        (lambda x: np.where(x > 0, np.log(x), 0.0), [0.0, 2.0], [0.0, 0.5], [0.0, -0.25]),
        (lambda x: np.where(x > 0, np.sqrt(x), 0.0), [0.0, 4.0], [0.0, 0.25], [0.0, -0.03125]),
        (lambda x: np.where(x > 0, x**0.5, 0.0), [0.0, 4.0], [0.0, 0.25], [0.0, -0.03125]),
        (lambda x: np.where(x > 0, np.power(x, 1.5), x), [0.0, 4.0], [1.0, 3.0], [0.0, 0.375]),
        (lambda x: np.where(x != 0, 1 / x, 0.0), [0.0, 2.0], [0.0, -0.25], [0.0, 0.25]),
        (lambda x: np.where(x != 0, np.sin(x) / x, 1.0), [0.0], [0.0], [0.0]),
        (lambda x: np.where(x > 0, x * np.log(x), 0.0), [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]),
        (lambda x: np.where(np.abs(x) < 1, np.arcsin(x), 0.0), [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]),
        (lambda x: np.where(x < 1, 0.0, np.arccosh(x)), [0.5], [0.0], [0.0]),
        (lambda x: np.where(x > 0, np.where(x > 1, np.log(x), x), 0.0), [0.0, 2.0], [0.0, 0.5], [0.0, -0.25]),
        (lambda x: np.where(x < 100, np.exp(x), 0.0), [1000.0, 0.0], [0.0, 1.0], [0.0, 1.0]),
    ],
)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_branches_not_taken_leave_no_nan(fn, x, first, second, mode):
    g = symgrad.grad(fn, mode=mode)
    np.testing.assert_allclose(g(np.array(x)), first, rtol=1e-14)
    np.testing.assert_allclose(symgrad.grad(lambda v: np.sum(g(v)), mode=mode)(np.array(x)), second, rtol=1e-14)
    np.testing.assert_allclose(np.diag(symgrad.hessian(lambda v: np.sum(fn(v)))(np.array(x))), second, rtol=1e-14)


def test_powers_at_zero():
    x = np.array([0.0, 2.0])
    for exponent, expected in ((0, [0.0, 0.0]), (1, [1.0, 1.0]), (2, [0.0, 4.0]), (3, [0.0, 12.0])):
        for k in (exponent, float(exponent)):
            assert symgrad.grad(lambda v, k=k: v**k)(x).tolist() == expected
            assert symgrad.grad(lambda v, k=k: np.power(v, k))(x).tolist() == expected
            assert symgrad.grad(lambda v, p: v**p)(x, np.full(2, float(k))).tolist() == expected
    assert symgrad.grad(lambda v: np.sum(0.0**v))(np.array([1.0, 2.0])).tolist() == [0.0, 0.0]
    assert symgrad.grad(lambda v, p: v**p, 1)(x, np.array([2.0, 3.0])).tolist() == [0.0, 8.0 * np.log(2.0)]


def test_negative_bases_with_whole_exponents():
    x = np.array([-2.0, 3.0])
    assert symgrad.grad(lambda v: v**3)(x).tolist() == [12.0, 27.0]
    assert symgrad.grad(lambda v: v**-2)(x).tolist() == [0.25, -2 / 27.0]
    assert symgrad.grad(lambda v: v ** np.array([2, 3]))(x).tolist() == [-4.0, 27.0]


def test_product_with_zeros_is_exact():
    assert symgrad.grad(np.prod)(np.array([2.0, 0.0, 3.0])).tolist() == [0.0, 6.0, 0.0]
    assert symgrad.grad(np.prod)(np.array([0.0, 0.0, 3.0])).tolist() == [0.0, 0.0, 0.0]
    hessian = symgrad.hessian(np.prod)(np.array([0.0, 0.0, 3.0]))
    assert hessian.tolist() == [[0.0, 3.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: np.exp(np.log(x)),
        lambda x: np.log(np.exp(x)),
        lambda x: x / x,
        lambda x: (x**2) ** 0.5,
        lambda x: np.sqrt(x) ** 2,
        lambda x: np.sqrt(x**2),
        lambda x: x**0,
        lambda x: 0.0**x,
        lambda x: x - x,
        lambda x: x * 0.1 * 10,
        lambda x: (x + 0.1) - 0.1,
        lambda x: np.sin(np.arcsin(x)),
        lambda x: np.sin(x) ** 2 + np.cos(x) ** 2,
        lambda x: 0 * x - (-x),
        lambda x: x * 3 / 3,
        lambda x: np.expm1(np.log1p(x)),
    ],
)
def test_rewriting_never_changes_a_value(fn):
    x = np.array([0.0, 0.1, 0.3, 1.7, -0.7, 1e-9, 1e200, np.inf])
    with np.errstate(all="ignore"):
        want = fn(x)
    np.testing.assert_array_equal(symgrad.symbolic(fn, backend="numpy")(x), want)
    value, _ = symgrad.value_and_grad(fn, backend="numpy")(x)
    np.testing.assert_array_equal(value, want)


def test_softmax_and_logsumexp_of_large_numbers():
    x = np.array([1000.0, 0.0, 1000.0])

    def logsumexp(v):
        top = np.max(v)
        return top + np.log(np.sum(np.exp(v - top)))

    np.testing.assert_allclose(symgrad.grad(logsumexp)(x), [0.5, 0.0, 0.5], rtol=1e-14)
    np.testing.assert_allclose(
        symgrad.hessian(logsumexp)(x), [[0.25, 0, -0.25], [0, 0, 0], [-0.25, 0, 0.25]], atol=1e-14
    )


def _logsumexp(x):
    both = np.stack([x, 0 * x])
    return np.max(both) + np.log(np.sum(np.exp(both - np.max(both))))


#: function, the exact one, and the absolute error of its slope
STANDARD = {
    "expm1": (np.expm1, mpmath.expm1, 0.0),
    "log1p": (lambda x: np.log1p(x * x), lambda x: mpmath.log(1 + x * x), 0.0),
    "hypot": (lambda x: np.hypot(x, 1.0), lambda x: mpmath.sqrt(x * x + 1), 0.0),
    "logsumexp": (_logsumexp, lambda x: mpmath.log(1 + mpmath.exp(x)), 0.0),
    "exp(x)/(1+exp(x))": (lambda x: np.exp(x) / (1 + np.exp(x)), lambda x: 1 / (1 + mpmath.exp(-x)), 0.0),
    "tanh": (np.tanh, mpmath.tanh, 0.0),
    "(1+tanh(x/2))/2": (lambda x: (1 + np.tanh(x / 2)) / 2, lambda x: 1 / (1 + mpmath.exp(-x)), 0.0),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("name", STANDARD)
def test_slopes_are_right_to_four_roundings_near_zero_and_far_out(name, mode):
    """The value is NumPy's own, whatever that is: NaN for inf/inf."""
    function, exact, atol = STANDARD[name]
    for x in (1e-8, -1e-8, 1.0, -1.0, 40.0, -40.0, 800.0, -800.0):
        value, slope = symgrad.value_and_grad(function, mode=mode, backend="numpy")(np.float64(x))
        np.testing.assert_equal(float(value), float(function(np.float64(x))))
        with mpmath.workdps(800):
            want = float(mpmath.diff(exact, mpmath.mpf(x)))
        np.testing.assert_allclose(float(slope), want, rtol=4 * np.finfo(float).eps, atol=atol, err_msg=str(x))


ONE64 = np.array(1.0)


@pytest.mark.parametrize(
    ("fn", "exact"),
    [
        (lambda x: 1 / (ONE64 + np.exp(x)), lambda x: 1 / (1 + mpmath.exp(x))),
        (lambda x: np.log(ONE64 + np.exp(x)), lambda x: mpmath.log(1 + mpmath.exp(x))),
        (lambda x: np.exp(x) / (ONE64 + np.exp(x)), lambda x: 1 / (1 + mpmath.exp(-x))),
        (lambda x: 1 / (ONE64 + x * x), lambda x: 1 / (1 + x * x)),
    ],
)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_rule_of_two_precisions_has_the_slope_of_the_lower_one(fn, exact, mode):
    x = np.array([0.3, -1.0, 2.0], np.float32)
    slope = symgrad.grad(lambda x: np.sum(fn(x)), mode=mode)(x)
    assert slope.dtype == np.float32
    np.testing.assert_allclose(slope, [central(exact, float(p), 1) for p in x], rtol=1e-6)


SPOILED = np.array([1.0, np.nan, np.inf])


@pytest.mark.parametrize(
    ("fn", "at", "want"),
    [
        (lambda w: np.sum(np.where(False, w * SPOILED, w)), 2.0, 3.0),
        (lambda w: np.sum(np.where(True, w * w, w / 0.0)), 2.0, 4.0),
        (lambda w: np.sum(np.where(SPOILED.size > 9, np.log(w - w), 5 * w)), 2.0, 5.0),
        (lambda w: np.sum(np.where(0, w * SPOILED, 1.0)), 2.0, 0.0),
        (lambda w: np.sum(np.where(True, w * 1j, w * np.nan).imag), 2.0, 1.0),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_plain_truth_value_leaves_out_what_is_infinite(fn, at, want, mode):
    assert symgrad.grad(fn, mode=mode)(at) == want
    second = symgrad.grad(symgrad.grad(fn, mode=mode), mode=mode)(at)
    assert np.isfinite(second)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_derivatives_by_singular_vectors_of_large_and_small_matrices():
    a = np.array([[3.0, 1.0, 0.5], [0.2, 2.0, 1.0], [0.0, 0.7, 1.0]])
    nuclear = symgrad.hessian(lambda a: np.sum(np.linalg.svd(a, compute_uv=False)))
    right = symgrad.grad(lambda a: np.sum(np.linalg.svd(a)[2][0] ** 2 * np.arange(3)))
    for kind, sizes, rtol in ((np.float64, (1e150, 1e-150), 1e-9), (np.float32, (1e19, 1e-19), 2e-4)):
        for size in sizes:
            for derivative in (nuclear, right):
                got = np.asarray(derivative((a * size).astype(kind)), float) * size
                np.testing.assert_allclose(got, derivative(a), rtol=rtol, atol=rtol)
