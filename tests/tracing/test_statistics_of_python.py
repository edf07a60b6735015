"""Python's module ``statistics``: what takes a list as people make one, and what is refused."""

import statistics

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ShapeError
from symgrad.testing import check_grads

X = np.array([1.0, 2.5, 3.0, 7.0])


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: statistics.mean([x[0], 2 * x[1], 3]),
        lambda x: statistics.fmean([v**2 for v in x], weights=[1, 2, 3, 4]),
        lambda x: statistics.variance(list(x), xbar=2.0),
        lambda x: statistics.pvariance(x, mu=x[0]),
        lambda x: statistics.linear_regression([1, 2, 4, 7], x).slope,
        lambda x: statistics.linear_regression(x, x**2).intercept,
        lambda x: statistics.stdev(x) / statistics.geometric_mean(x),
    ],
)
def test_values_and_gradients(fn):
    np.testing.assert_allclose(sg.symbolic(fn)(X), fn(X), rtol=1e-13)
    check_grads(fn, [X])


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: statistics.variance([x[0]]),
        lambda x: statistics.mean(np.outer(x, x)),
    ],
)
def test_what_has_too_few_numbers_is_refused(fn):
    with pytest.raises(ShapeError, match=r"statistics\.\w+ takes .*\n  at .*test_statistics_of_python"):
        sg.grad(fn)(X)


def test_the_function_itself():
    np.testing.assert_allclose(sg.grad(statistics.fmean)(X), 0.25)
