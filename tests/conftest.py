"""For all tests: programs are verified before and after their passes, and the collector leaves alone what stays."""

from __future__ import annotations

import gc

import pytest

from symgrad.kernels import kernel
from symgrad.program.verify import verify


@pytest.fixture(autouse=True, scope="module")
def _what_stays():
    """What earlier modules left (imports, sympy's caches) is not walked over at every full collection.

    IPython asks for one whenever its namespace is emptied, which took a second each late in a run.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _verified_passes(monkeypatch):
    passes = kernel.optimized
    monkeypatch.setattr(kernel, "optimized", lambda program: verify(passes(verify(program))))
