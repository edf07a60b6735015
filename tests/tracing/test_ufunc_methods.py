"""Methods of ufuncs that are no functions of NumPy: NumPy's value, and the derivative by differences."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.testing import check_grads

RNG = np.random.default_rng(8)
X = RNG.uniform(0.5, 2.0, (3, 4))
BINARY = (np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.fmin, np.logaddexp, np.hypot)
METHODS = {
    "reduce": lambda u: lambda x: u.reduce(x, axis=1, keepdims=True),
    "reduce from": lambda u: lambda x: u.reduce(x, initial=1.5),
    "accumulate": lambda u: lambda x: u.accumulate(x, axis=1),
    "reduceat": lambda u: lambda x: u.reduceat(x, [0, 2, 1], axis=1),
    "outer": lambda u: lambda x: u.outer(x[0], x[1:]),
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("ufunc", BINARY, ids=lambda u: u.__name__)
def test_any_operation_of_two(ufunc, name):
    fn = METHODS[name](ufunc)
    for x in (X, X.astype(np.float32)):
        got, want = sg.symbolic(fn, backend="numpy")(x), fn(x)
        if ufunc is np.power:  # with AVX-512, NumPy's own is not the power of the powers
            want = METHODS[name](np.frompyfunc(ufunc, 2, 1))(x).astype(want.dtype)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-14 if x is X else 1e-5)
    check_grads(fn, [X])


def test_nan_beside_a_number_has_no_gradient():
    x = np.array([[1.0, np.nan], [np.nan, np.nan], [2.0, 3.0]])
    np.testing.assert_array_equal(sg.symbolic(lambda x: np.fmax.reduce(x, axis=1))(x), [1.0, np.nan, 3.0])
    np.testing.assert_array_equal(sg.grad(lambda x: np.fmax.reduce(x, axis=None))(x), [[0, 0], [0, 0], [0, 1]])


@pytest.mark.parametrize("ufunc", [np.logaddexp, np.logaddexp2], ids=lambda u: u.__name__)
def test_sums_of_powers_are_one_sum(ufunc):
    """They were a chain of as many operations as elements, which no formula told as softmax."""
    long = RNG.uniform(-3, 3, 20_000)
    assert len(sg.trace(ufunc.reduce, long).nodes) < 30
    np.testing.assert_allclose(sg.symbolic(ufunc.reduce)(long), ufunc.reduce(long), rtol=1e-13)
    some = X > 1
    for given in ({"axis": None}, {"axis": 1, "where": some}, {"axis": 0, "where": some, "initial": 0.5}):
        fn = lambda x, given=given: ufunc.reduce(x, **given)  # noqa: E731
        np.testing.assert_allclose(sg.symbolic(fn)(X), fn(X), rtol=1e-14)
        check_grads(lambda x, fn=fn: np.sum(fn(x) ** 2), [X])
    np.testing.assert_array_equal(sg.symbolic(ufunc.reduce)(np.zeros((0, 2))), [-np.inf, -np.inf])
    of_any_length = sg.symbolic(sg.named(lambda x: ufunc.reduce(x), x="n"))
    for n in (7, 9):
        np.testing.assert_allclose(of_any_length(long[:n]), ufunc.reduce(long[:n]), rtol=1e-14)


def test_a_log_sum_is_told_as_softmax():
    x = X[0]
    assert sg.grad(lambda x: np.logaddexp.reduce(x)).formulas(x).text_rows(["x"]) == ["x = softmax(x)"]
    derived = sg.hessian(lambda x: np.logaddexp.reduce(x))
    assert derived.formulas(x).text_rows(["x"]) == ["x = diag(p) − ppᵀ\n  where p = softmax(x)"]


LONG = RNG.uniform(0.5, 2.0, (90, 2))


@pytest.mark.parametrize("ufunc", [np.subtract, np.divide, np.maximum, np.fmin, np.logaddexp, np.hypot, np.fmod])
@pytest.mark.parametrize("axis", [0, 1])
def test_many_rows_are_a_loop(ufunc, axis):
    """A running maximum of 100,000 prices took four seconds to trace."""
    x = LONG if axis == 0 else LONG.T.copy()
    for method in ("accumulate", "reduce"):
        fn = lambda x, method=method: getattr(ufunc, method)(x, axis=axis)  # noqa: E731
        for at in (x, x.astype(np.float32), 1 + np.arange(x.size).reshape(x.shape)):
            got, want = sg.symbolic(fn, backend="numpy")(at), fn(at)
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-5 if at.dtype == np.float32 else 1e-12)
        check_grads(lambda x, fn=fn: np.sum(np.sin(fn(x))), [x])
        assert len(sg.trace(fn, x).nodes) < 40


def test_a_running_maximum_reads_as_a_recurrence():
    text = sg.symbolic(lambda x: np.maximum.accumulate(x)[-1]).formulas(LONG[:, 0]).text_rows(["f"])
    assert any("maximum(yₜ, xₜ₊₁)" in row for row in text), text
