import numpy as np
import pytest

import symgrad as sg

X = np.random.default_rng(0).normal(size=(6,))


@pytest.mark.parametrize(
    "field",
    [
        lambda x: np.concatenate([x[3:] ** 2, x[:3] * x[3:]]),
        lambda x: x[np.array([0, 0, 1, 3, 5, 4])] ** 2,
        lambda x: (x.reshape(2, 3) @ (x.reshape(2, 3).T @ x.reshape(2, 3))).ravel(),
        lambda x: np.where(x > 0, x**3, x[::-1]),
        lambda x: np.repeat(x[:3], 2) * x,
        lambda x: x[np.argsort(x)] * x,
        lambda x: np.convolve(x, x[:3], "same"),
    ],
)
def test_the_trace_is_the_sum_of_the_diagonal(field):
    wanted = 0.0
    for k in range(6):
        step = 1e-6 * np.eye(6)[k]
        wanted += (field(X + step) - field(X - step))[k] / 2e-6
    assert sg.divergence(field)(X) == pytest.approx(wanted, rel=1e-7, abs=1e-8)
