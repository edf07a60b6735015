"""What NumPy and Python raise of values is raised while tracing where the user's code catches it, and guarded."""

import contextlib
import math
import unittest.mock
import warnings

import numpy as np
import pytest
import scipy.linalg

import symgrad as sg
from symgrad.tracing.catching import is_caught

GOOD, BAD, SINGULAR = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[1.0, 2.0], [2.0, 1.0]]), np.ones((2, 2))


def jitter(K):
    for j in (0.0, 1e-3, 0.1, 10.0):
        try:
            L = np.linalg.cholesky(K + j * np.eye(2))
            break
        except np.linalg.LinAlgError:
            continue
    return np.sum(np.log(np.diag(L)))


def likelihood(K):
    try:
        L = np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        return 1e10 + 0 * np.sum(K)
    return np.sum(np.log(np.diag(L)))


def of_scipy(K):
    try:
        L = scipy.linalg.cholesky(K, lower=True)
    except np.linalg.LinAlgError:
        return np.sum(K**2)
    return np.sum(np.log(np.diag(L)))


def solved(A):
    try:
        return np.sum(np.linalg.solve(A, np.ones(2)) ** 2)
    except np.linalg.LinAlgError:
        return np.sum(A**3)


def inverted(A):
    with contextlib.suppress(np.linalg.LinAlgError):
        return np.sum(np.linalg.inv(A) ** 2)
    return np.sum(A)


def helper(A):
    return np.linalg.inv(A)


def in_a_helper(A):
    try:
        return np.sum(helper(A))
    except np.linalg.LinAlgError:
        return np.sum(A**2)


def numerical(fn, x, h=1e-6):
    made = np.zeros_like(x)
    for place in np.ndindex(*x.shape):
        step = np.zeros_like(x)
        step[place] = h
        made[place] = (fn(x + step) - fn(x - step)) / (2 * h)
    return made


@pytest.mark.parametrize("fn", [jitter, likelihood, of_scipy, solved, in_a_helper, inverted])
def test_another_way_is_taken_where_a_matrix_cannot_be_factored(fn):
    derived = sg.value_and_grad(fn)
    for matrix in (GOOD, BAD, SINGULAR, GOOD, 2 * BAD, SINGULAR + 1):
        value, gradient = derived(matrix)
        assert value == pytest.approx(fn(matrix), rel=1e-12)
        singular = np.linalg.matrix_rank(matrix) < 2
        if not singular:  # beside a singular matrix others are not
            np.testing.assert_allclose(gradient + gradient.T, (n := numerical(fn, matrix)) + n.T, rtol=1e-5, atol=1e-6)


def test_what_nobody_catches_is_the_kernels():
    derived = sg.grad(lambda K: np.sum(np.linalg.cholesky(K)))
    derived(GOOD)
    with pytest.raises(np.linalg.LinAlgError):
        derived(BAD)


@pytest.mark.parametrize(
    "divided",
    [lambda a: 1 / a, lambda a: 5.0 // a, lambda a: 5.0 % a, lambda a: a**-1.0, lambda a: a**-2, lambda a: 1 / (a * a)],
)
def test_numbers_of_python_are_not_divided_by_zero(divided):
    def fn(a):
        try:
            return divided(a) + a
        except ZeroDivisionError:
            return 3 * a

    derived = sg.value_and_grad(fn)
    for a in (2.0, 0.0, 4.0, 0.0):
        value, _ = derived(a)
        assert value == pytest.approx(fn(a))
    assert derived(0.0)[1] == 3


def power(a):
    try:
        return 1.5**a + a**-1
    except (OverflowError, ZeroDivisionError):
        return 3 * a


def suppressed(a):
    y = 3 * a
    with contextlib.suppress(ZeroDivisionError):
        y = 1 / float(a)
    return y


def log_of_gamma(a):
    try:
        return math.lgamma(a - 4.0)
    except ValueError:
        return 3 * a


@pytest.mark.parametrize("fn", [power, suppressed, log_of_gamma])
def test_what_python_raises_of_numbers_is_raised(fn):
    derived = sg.value_and_grad(fn)
    for a in (2.5, 0.0, 1e4, 3.5, -2.5, 0.0):
        value, slope = derived(a)
        assert value == pytest.approx(fn(a), rel=1e-12)
        assert slope == pytest.approx((fn(a + 1e-6) - fn(a - 1e-6)) / 2e-6 if a else slope, rel=1e-3)
    assert fn is log_of_gamma or derived(0.0)[1] == 3


def test_numpys_numbers_and_what_nobody_catches_divide_as_numpy_has_it():
    def fn(a):
        try:
            return 1 / a
        except ZeroDivisionError:
            return 3 * a

    assert sg.value_and_grad(fn)(np.float64(0.0))[0] == np.inf
    assert sg.value_and_grad(lambda a: 1 / a)(0.0)[0] == np.inf


def test_what_stands_in_a_try_or_a_with_is_caught():
    seen = []

    def fn(x):
        seen.append(is_caught())
        try:
            seen.append(is_caught())
        except ValueError:
            seen.append(is_caught())
        with contextlib.nullcontext():
            seen.append(is_caught())
        seen.extend([is_caught() for _ in range(1)])
        return x

    sg.symbolic(fn)(1.0)
    assert seen == [False, True, True, False]


def told_by_a_context(x):
    with np.errstate(divide="raise", invalid="raise"):
        try:
            return np.sum(np.log(x))
        except FloatingPointError:
            return np.sum(x**2)


def told_by_a_filter(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.sum(np.log(x))
        except RuntimeWarning:
            return np.sum(x**2)


def told_from_outside(x):
    try:
        return np.sum(np.log(x))
    except (FloatingPointError, ValueError):
        return np.sum(x**2)


def told_broadly(x):
    with np.errstate(all="raise"):
        try:
            return np.sum(np.log(x))
        except Exception:
            return np.sum(x**2)


def told_to_call(x):
    np.seterr(invalid="call")
    return np.sum(np.log(x))


def recorded(x):
    with warnings.catch_warnings(record=True) as said:
        return np.sum(np.log(x)) * (2.0 if said else 1.0)


@pytest.mark.parametrize("fn", [told_by_a_context, told_by_a_filter, told_broadly, told_to_call, recorded])
def test_settings_that_make_errors_of_values_are_refused_where_they_are_called(fn):
    before = np.geterr()
    with pytest.raises(sg.errors.TracingError, match=r"np\.where or np\.isfinite"):
        sg.grad(fn)(np.ones(2))
    assert np.geterr() == before


@np.errstate(all="raise")
def _raising_root(x):
    return np.sqrt(x)


@contextlib.contextmanager
def _raising():
    before = np.seterr(all="raise")
    try:
        yield
    finally:
        np.seterr(**before)


_MADE_ELSEWHERE = np.errstate(invalid="raise")


def set_by_a_decorator(x):
    try:
        return np.sum(_raising_root(x))
    except FloatingPointError:
        return np.sum(x * 3)


def set_by_a_manager(x):
    with contextlib.suppress(FloatingPointError), _raising():
        return np.sum(np.sqrt(x))
    return np.sum(x * 3)


def set_by_one_made_elsewhere(x):
    with contextlib.suppress(FloatingPointError), _MADE_ELSEWHERE:
        return np.sum(x / (x - 1.0))
    return np.sum(x * 3)


def filtered_by_a_library(x):
    with unittest.TestCase().assertWarns(RuntimeWarning):
        return np.sum(np.sqrt(x))


def shown_to_a_list(x):
    seen = []
    with warnings.catch_warnings(), unittest.mock.patch("warnings.showwarning", lambda *said, **_: seen.append(said)):
        return np.sum(2.0 / x) * (3.0 if seen else 2.0)


@pytest.mark.parametrize(
    "fn",
    [set_by_a_decorator, set_by_a_manager, set_by_one_made_elsewhere, filtered_by_a_library, shown_to_a_list],
)
def test_settings_that_others_have_made_are_refused_where_something_is_computed(fn):
    with pytest.raises(sg.errors.TracingError, match=r"np\.where or np\.isfinite"):
        sg.grad(fn)(np.ones(2))


def silenced(x):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.sum(np.log(x))


def told_where_nothing_leads(x):
    return np.sum(np.log(x)) if x.ndim else told_by_a_context(x)


@pytest.mark.parametrize("fn", [silenced, told_where_nothing_leads])
def test_silencing_and_what_never_runs_refuse_nothing(fn):
    np.testing.assert_array_equal(sg.grad(fn)(np.array([1.0, 2.0])), [1.0, 0.5])


class Swallowing:
    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        return kind is not None and issubclass(kind, ArithmeticError)


def swallowed(x, y):
    made = x
    with Swallowing():
        made = x / y
    return made


def test_what_a_manager_swallows_is_raised():
    gradient = sg.value_and_grad(swallowed)
    for y in (2.0, 0.0, 4.0):
        assert gradient(3.0, y)[0] == swallowed(3.0, y)


def test_what_is_raised_from_outside_too_but_not_where_nothing_is():
    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(sg.grad(told_from_outside)(x), [1.0, 0.5])
    with np.errstate(all="raise"), pytest.raises(sg.errors.UnsupportedOperation, match="FloatingPointError"):
        sg.value_and_grad(told_from_outside)(x)


def _of_float(x):
    return 10.0 / float(x[0])


def _of_item(x):
    return 1 / (2 * x[0].item() - 4)


def _of_sine(x):
    return float(x[1]) / (math.sin(x[0]) * 3)


def _of_power(x):
    return float(x[0]) ** -2.0


def _of_arrays(x):
    return x[1] / x[0]


@pytest.mark.parametrize("fn", [_of_float, _of_item, _of_sine, _of_power, _of_arrays])
def test_what_float_makes_of_an_element_is_a_number_of_pythons(fn):
    """NumPy's own numbers give an infinity there, and Python's an error that the code may count on."""

    def caught(x):
        try:
            return fn(x)
        except ZeroDivisionError:
            return 5.0 * x[1] + 100.0

    value, gradient = sg.symbolic(caught), sg.grad(caught)
    for point in ([0.0, 1.0], [2.0, 3.0], [0.0, 2.0], [1.0, 1.0], [-3.0, 0.0]):
        x = np.array(point)
        with np.errstate(all="ignore"):
            want = caught(x)
            np.testing.assert_allclose(value(x), want, rtol=1e-15)
            if want == 5 * x[1] + 100:
                np.testing.assert_array_equal(gradient(x), [0, 5])
