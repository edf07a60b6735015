"""Running sums in C along every axis, forwards and backwards, whole and in parts, against NumPy's."""

import numpy as np
import pytest

import symgrad
from symgrad.kernels.native import form, writer
from symgrad.kernels.native.kernel import NativeKernel

pytestmark = pytest.mark.needs("native")

DIRECTIONS = [
    lambda x, axis: np.cumsum(x * 1.5, axis),
    lambda x, axis: np.flip(np.cumsum(np.flip(x * 1.5, axis), axis), axis),
    lambda x, axis: np.cumsum(x.T, axis),
]


@pytest.mark.parametrize("dealt", [False, True])
def test_running_sums(dealt, monkeypatch):
    if dealt:
        monkeypatch.setattr(form, "DEALT_FROM", 0.0)
        monkeypatch.setattr(writer, "_MAX_WORK", 3.0)
    rng = np.random.default_rng(8)
    arrays = [rng.normal(size=shape) for shape in [(5,), (3, 4), (2, 3, 4)]]
    cases = [(x, axis, run) for x in arrays for axis in range(x.ndim) for run in DIRECTIONS]
    programs = [symgrad.trace(lambda x, a=axis, run=run: run(x, a), x) for x, axis, run in cases]
    for kernel, (x, axis, run) in zip(NativeKernel.built(*programs), cases, strict=True):
        assert kernel is not None
        np.testing.assert_allclose(kernel(x)[0], run(x, axis), rtol=1e-13, atol=1e-13)
