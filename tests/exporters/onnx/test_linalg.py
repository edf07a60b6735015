"""Linear algebra as ONNX models write it out."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_models import Exported, exported, run

import symgrad as sg

rng = np.random.default_rng(3)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 17])
def test_linear_algebra_is_that_of_numpy(n):
    a, b, v = rng.normal(size=(2, n, n)), rng.normal(size=(2, n, 3)), rng.normal(size=(2, n))
    a[0, 0, 0] = 0.0  # rows must change
    for function, args in (
        (np.linalg.solve, (a[0], v[0])),
        (np.linalg.solve, (a, b)),
        (np.linalg.inv, (a,)),
        (np.linalg.det, (a[1],)),
        (lambda a: tuple(np.linalg.slogdet(a)), (a,)),
    ):
        if not (n == 1 and function in (np.linalg.solve, np.linalg.inv)):
            exported(function, *args).compare(*args, bound=1e-10)
    spd = np.einsum("bij,bkj->bik", a, a) + np.eye(n)
    one_sided = np.tril(spd) + 7 * np.triu(a, 1)  # the other triangle is not read
    exported(np.linalg.cholesky, one_sided).compare(one_sided)
    exported(lambda x: np.linalg.cholesky(x, upper=True), one_sided.swapaxes(1, 2)).compare(one_sided.swapaxes(1, 2))


def test_matrices_that_numpy_raises_for_give_no_numbers():
    x, ok = np.array([[1.0, 2.0], [2.0, 4.0]]), np.array([[2.0, 1.0], [1.0, 3.0]])
    for function in (np.linalg.inv, lambda a: np.linalg.solve(a, np.ones(2)), lambda a: np.linalg.cholesky(a - 2)):
        made = exported(function, ok + 3)
        made.compare(ok + 3)
        assert np.isnan(run(made.model, [x])[0]).all()
    for function in (np.linalg.det, lambda a: tuple(np.linalg.slogdet(a))):
        made = exported(function, ok)
        for singular in (x, np.zeros((2, 2)), np.array([[0.0, 1.0], [0.0, 2.0]])):
            made.compare(singular)
        made.compare(np.array([[1.0, np.nan], [2.0, 3.0]]))


def test_stacked_matrices_of_named_number():
    made = Exported(sg.grad(lambda a: np.sum(np.linalg.slogdet(a)[1])), ("n 2 2",))
    for n in (1, 4):
        made.compare(rng.normal(size=(n, 2, 2)), bound=1e-10)
