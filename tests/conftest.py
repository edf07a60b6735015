"""Every program that is lowered in a test is verified before and after its passes."""

from __future__ import annotations

import pytest

from symgrad.kernels import kernel
from symgrad.program.verify import verify


@pytest.fixture(autouse=True)
def _verified_passes(monkeypatch):
    passes = kernel.optimized
    monkeypatch.setattr(kernel, "optimized", lambda program: verify(passes(verify(program))))
