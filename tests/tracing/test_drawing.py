"""Random numbers of traced parameters: NumPy's draws, moved and scaled."""

from __future__ import annotations

import numpy as np
import pytest
from central_differences import slopes

import symgrad as sg
from symgrad.errors import TracingError

X = np.array([0.5, 1.2, 2.3])

DRAWS = {
    "normal": lambda r, x: r.normal(x[0], x[1], 4).sum(),
    "normal of arrays": lambda r, x: (r.normal(x, 2 * x) * x).sum(),
    "normal by names": lambda r, x: r.normal(loc=x[0], scale=2.0) * x[1],
    "uniform": lambda r, x: r.uniform(x[0], x[1], size=(2, 3)).sum(),
    "uniform of arrays": lambda r, x: r.uniform(0, x).prod(),
    "exponential": lambda r, x: r.exponential(x[0], 5).sum(),
    "lognormal": lambda r, x: r.lognormal(x[0], x[1], 5).sum(),
    "gamma": lambda r, x: r.gamma(2.0, x[0], 5).sum(),
    "choice": lambda r, x: r.choice(x, 5).sum() * x[0],
    "choice by weights": lambda r, x: r.choice(x**2, 2, replace=False, p=[0.2, 0.3, 0.5]).sum(),
    "permutation": lambda r, x: (r.permutation(x) * np.arange(3)).sum(),
    "permutation of rows": lambda r, x: (r.permutation(np.outer(x, x)) * np.arange(9).reshape(3, 3)).sum(),
    "choice of so many": lambda r, x: x[r.choice(int(x[2]), 3)].sum() + x[r.permutation(int(x[2]))] @ [1.0, 2.0],
    "multivariate_normal": lambda r, x: (r.multivariate_normal(x, np.eye(3) + 0.1) * np.arange(3)).sum(),
    "one after the other": lambda r, x: r.normal(x[0], 1.0) + r.normal(x[1], 1.0) * r.uniform(),
}


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState], ids=["Generator", "RandomState"])
@pytest.mark.parametrize("name", DRAWS)
def test_draws_are_numpys_and_follow_the_parameters(name, make):
    def f(x):
        return DRAWS[name](make(3), x)

    value, gradient = sg.value_and_grad(f)(X)
    assert value == f(X)
    wanted = slopes(f, X)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    "draw",
    [
        lambda r, x: r.normal(x[0], -1.0),
        lambda r, x: r.normal(0.0, x[0] - 1.0),
        lambda r, x: r.lognormal(0.0, -x[0]),
        lambda r, x: r.exponential(x - 1.0).sum(),
        lambda r, x: r.gamma(2.0, -x).sum(),
    ],
)
def test_a_negative_scale_is_refused_as_by_numpy(draw):
    with pytest.raises(ValueError, match="< 0"):
        draw(np.random.default_rng(0), X)
    with pytest.raises(ValueError, match="< 0"):
        sg.grad(lambda x: draw(np.random.default_rng(0), x))(X)


def test_a_mapped_scale_is_taken_as_it_is():
    z = np.random.default_rng(3).standard_normal()
    np.testing.assert_allclose(sg.vmap(lambda s: np.random.default_rng(3).normal(1.0, s))(X), 1.0 + X * z)


def test_each_call_draws_anew_from_a_generator_that_is_given():
    rng, same = np.random.default_rng(5), np.random.default_rng(5)
    g = sg.value_and_grad(lambda x: rng.normal(x[0], x[1]) * x[2])
    for _ in range(3):
        z = same.standard_normal()
        value, gradient = g(X)
        assert value == (X[0] + X[1] * z) * X[2]
        np.testing.assert_allclose(gradient, [X[2], X[2] * z, X[0] + X[1] * z])


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda r, x: r.choice(3, p=x / x.sum()) * x[0], "the probabilities"),
        (lambda r, x: r.gamma(x[0], 1.0) * x[0], "its shape"),
        (lambda r, x: r.multivariate_normal(np.zeros(3), np.outer(x, x) + np.eye(3)).sum(), "Cholesky"),
    ],
)
def test_what_the_draws_depend_on_is_refused(draw, said):
    with pytest.raises(TracingError, match=said):
        sg.grad(lambda x: draw(np.random.default_rng(0), x))(X)
