"""Riccati equations of scipy: its values, and derivatives by differences."""

from __future__ import annotations

import numpy as np
import pytest
from central_differences import expect_slopes

import symgrad as sg
from symgrad.errors import UnsupportedOperation

linalg = pytest.importorskip("scipy.linalg")
X = np.array([0.5, 1.3, 0.7, 2.1])


def regulator(x):
    """The gain of a linear-quadratic regulator, whose weights and system are unknown."""
    a, b, r = np.array([[0.0, 1.0], [-x[0], -x[1]]]), np.array([[0.0], [1.0]]), np.array([[x[3]]])
    found = linalg.solve_continuous_are(a, b, np.diag([x[2], 1.0]), r)
    return np.sum(np.linalg.solve(r, b.T @ found) ** 2) + found[0, 1]


def sampled_regulator(x):
    a, b, r = np.array([[1.0, 0.1], [-0.1 * x[0], 1 - 0.1 * x[1]]]), np.array([[0.0], [0.1]]), np.array([[x[3]]])
    found = linalg.solve_discrete_are(a, b, np.diag([x[2], 1.0]), r)
    return np.sum(np.linalg.solve(r + b.T @ found @ b, b.T @ found @ a) ** 2)


@pytest.mark.parametrize("fn", [regulator, sampled_regulator])
def test_gains_of_regulators(fn):
    expect_slopes(sg.value_and_grad(fn)(X), fn, X, value_tolerance=1e-10)
    step = 1e-5 * np.eye(4)
    second = [(sg.grad(fn)(X + h) - sg.grad(fn)(X - h)) / 2e-5 for h in step]
    np.testing.assert_allclose(sg.hessian(fn)(X), second, rtol=1e-5, atol=1e-6)


def test_other_terms_are_refused():
    with pytest.raises(UnsupportedOperation, match=r"scipy\.optimize\.root"):
        sg.grad(lambda x: linalg.solve_continuous_are(np.diag(x), np.eye(4), np.eye(4), np.eye(4), e=np.eye(4)).sum())(
            X
        )
