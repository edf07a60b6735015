"""The systems of the benchmark on a file agree, at a small size."""

import sys

import larger
import numpy as np
import pytest


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="no /proc here")
@pytest.mark.parametrize("system", ["symgrad", "hand", "jax", "disk", "kernel"])
def test_systems_agree(system, tmp_path):
    if system == "jax":
        pytest.importorskip("jax")
    path, y = larger.written(tmp_path, 0.0005)
    seconds, most, found = larger.measured(system, path, y, 100)
    assert seconds > 0
    assert most >= 0
    if found is not None:
        X, w = np.load(path), np.linspace(-1, 1, larger.COLUMNS)
        np.testing.assert_allclose(found, X.T @ (-y / (1 + np.exp(y * (X @ w)))) / len(X), rtol=1e-3, atol=1e-6)
