"""Common factors of sums are taken out, and the value stays."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.closed_form.gathering import gathered
from symgrad.kernels.kernel import lower

RNG = np.random.default_rng(0)
X, A, B, C = RNG.normal(size=(4, 3)), RNG.normal(size=4), RNG.normal(size=4), RNG.normal(size=3)


def rows(X, a):
    return np.einsum("ij,i->ij", X, a)


def columns(X, c):
    return np.einsum("ij,j->ij", X, c)


@pytest.mark.parametrize(
    ("function", "is_shorter"),
    [
        (lambda X, a, b, c: rows(X, a) + rows(X, b), True),
        (lambda X, a, b, c: rows(rows(X, a), b) - rows(X, b), True),
        (lambda X, a, b, c: -rows(X, a) + rows(X, b), True),
        (lambda X, a, b, c: 2.0 * rows(X, a) + rows(X, b), False),  # 2 ⊙ is no contraction
        (lambda X, a, b, c: rows(X, a) + columns(X, c), False),
        (lambda X, a, b, c: rows(columns(X, c), a) + columns(rows(X, b), c), False),
        (lambda X, a, b, c: rows(X, a) + rows(X * X, b), False),
        (lambda X, a, b, c: np.sum(rows(X, a) + rows(X, b), axis=0) * c, True),
        (lambda X, a, b, c: (rows(X, a) + rows(X, b)) * (rows(X, a) - rows(X, b)), True),
    ],
)
def test_the_value_is_the_same(function, is_shorter):
    program = sg.trace(function, X, A, B, C)
    shorter = gathered(program)
    assert (shorter is not program) == is_shorter
    (before,), (after,) = (lower(p, "numpy")(X, A, B, C) for p in (program, shorter))
    np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-14)


def test_the_hessian_of_logistic_regression_by_probabilities():
    def loss(w, X, y):
        p = 1 / (1 + np.exp(-(X @ w)))
        return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))

    y = np.array([0.0, 1.0, 1.0, 0.0])
    hessian = sg.hessian(loss)
    assert hessian.formulas(C, X, y).text_rows(["H"]) == ["H = 1/4 · Xᵀ diag(σ(Xw) ⊙ (1 − σ(Xw))) X"]
    assert hessian.agreement(C, X, y).worst < 1e-12


def test_signs_stand_in_front_of_products():
    def likelihood(w, X, y):
        p = 1 / (1 + np.exp(-X @ w))
        return -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p))

    args = np.ones(3), np.ones((20, 3)), np.full(20, 0.5)
    assert sg.grad(likelihood).formulas(*args).text_rows(["g"]) == ["g = Xᵀ(σ(Xw) − y)"]
