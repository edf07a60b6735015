"""Steps, and solutions between them, are those of SciPy; Radau's stages are those of its collocation polynomial."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.solvers.runge_kutta import Explicit

integrate = pytest.importorskip("scipy.integrate")


def rates(t, y):
    return np.array([y[1] + t, -np.sin(y[0])])


@pytest.mark.parametrize("name", ["RK23", "RK45", "DOP853"])
def test_a_step_and_the_solution_between(name):
    solver = getattr(integrate, name)(rates, 0.3, [1.0, 0.5], 2.0, first_step=0.2)
    first = solver.f
    solver.step()
    h = solver.t - 0.3
    method = Explicit(getattr(integrate, name))
    assert np.array_equal(method.begin(rates, 0.3, solver.y_old), first)
    y, f, kept = method.step(rates, 0.3, solver.y_old, first, h)
    np.testing.assert_allclose(y, solver.y, rtol=1e-14)
    np.testing.assert_allclose(f, solver.f, rtol=1e-14)
    between, shares = solver.dense_output(), np.array([0.0, 0.2, 0.7, 1.0])
    rows = method.between([k[None] for k in kept], solver.y_old, h, shares)
    np.testing.assert_allclose(rows, [between(0.3 + h * s) for s in shares], rtol=1e-13)
