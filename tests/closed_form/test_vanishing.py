"""Terms that are 0 whatever the arrays hold are left out of formulas, and nothing else is."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.closed_form.vanishing import without_vanishing
from symgrad.kernels.kernel import lower

RNG = np.random.default_rng(0)
X, W = RNG.normal(size=(6, 3)), RNG.normal(size=(6, 3))


def normalised(x, gamma, beta, w):
    mu = np.mean(x, axis=0)
    var = np.mean((x - mu) ** 2, axis=0)
    xhat = (x - mu) / np.sqrt(var + 1e-5)
    return np.sum(w * (gamma * xhat + beta))


def test_the_gradient_of_batch_normalisation():
    found = sg.grad(normalised, (0, 1, 2)).formulas(X, np.ones(3), np.zeros(3), W)
    rows = found.text_rows(["x", "gamma", "beta"])
    assert rows[0].startswith("x = 1/6 · (6w − xhat diag((w ⊙ xhat)ᵀ𝟏) − 𝟏𝟏ᵀw) diag(gamma) diag(1 ⊘ √(1e−05·𝟏 + var))")
    assert rows[1] == "gamma = (w ⊙ xhat)ᵀ𝟏"


@pytest.mark.parametrize(
    "function",
    [
        lambda x, w: np.sum(w[0] * np.sum(x - np.mean(x, axis=0), axis=0)) + np.sum(x),
        lambda x, w: np.sum(np.sum((x - np.mean(x, axis=0)) + w, axis=0)),
        lambda x, w: np.sum(np.sum((x - np.mean(w, axis=0)) * w, axis=0)),  # not its own mean
        lambda x, w: np.sum(w * (x - np.mean(x, axis=0))),  # weighed
        lambda x, w: np.sum((x - np.mean(x, axis=1, keepdims=True)) ** 2 * w),
        lambda x, w: np.sum((x - np.sum(x, axis=0)) * 2.0) + np.sum(w),  # not a mean
    ],
)
def test_the_value_is_the_same(function):
    program = sg.trace(function, X, W)
    shorter = without_vanishing(program)
    for made in (shorter, without_vanishing(sg.grad(function, (0, 1)).program(X, W))):
        lower(made, "numpy")(X, W)
    (before,), (after,) = lower(program, "numpy")(X, W), lower(shorter, "numpy")(X, W)
    assert after == pytest.approx(before, rel=1e-12, abs=1e-12)


def test_what_holds_no_mean_is_left_alone():
    program = sg.trace(lambda x: np.sum(x * x), X)
    assert without_vanishing(program) is program
