"""What an installed symgrad must do, away from this repository: CI runs this in fresh environments, with pyright.

python tools/check_installed.py     in an environment that has symgrad and what it depends on, nothing else
"""

# pyright: strict, reportUnknownMemberType=false

from __future__ import annotations

import importlib.metadata
import importlib.util
import pathlib
import sys
from typing import Any

import numpy as np

import symgrad as sg


def loss(w: np.ndarray, X: np.ndarray, y: np.ndarray) -> Any:
    return np.mean(np.log1p(np.exp(-y * (X @ w))))


def main() -> None:
    """Differentiate, show, export and run what was exported; AssertionError where something is missing."""
    home = pathlib.Path(sg.__file__).parent
    assert "site-packages" in home.parts, f"symgrad comes from {home}, not from the package"
    for name in ("py.typed", "kernels/native/python_call.c", "codec/program.schema.json"):
        assert (home / name).exists(), f"the package lacks {name}"
    found = importlib.metadata.metadata("symgrad")
    assert found["License-Expression"] == "Apache-2.0", "the license is not said"
    assert found["Version"] == sg.__version__, "the version is said twice"
    rng = np.random.default_rng(0)
    w, X, y = rng.normal(size=3), rng.normal(size=(20, 3)), np.sign(rng.normal(size=20))
    gradient = sg.grad(loss, wrt="w")
    by_hand = X.T @ (-y / (1 + np.exp(y * (X @ w)))) / 20
    np.testing.assert_allclose(gradient(w, X, y), by_hand)
    assert "frac" in gradient.latex(w, X, y)
    assert "def " in gradient.export("python", w, X, y)
    assert sg.hessian(loss)(w, X, y).shape == (3, 3)
    for notebook in ("IPython", "ipywidgets", "pytest", "scipy"):
        assert notebook not in sys.modules, f"{notebook} is imported"
    assert importlib.util.find_spec("symgrad_notebook") is not None, "the notebook's part is not in the package"
    print(f"symgrad {sg.__version__} on Python {sys.version.split()[0]}: installed and right")


if __name__ == "__main__":
    main()
