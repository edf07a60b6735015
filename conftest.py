"""Tests and doctests keep their own disk cache, leave the user's alone, and register nothing for one another."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

import pytest

_folder = tempfile.mkdtemp(prefix="symgrad-tests-")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
os.environ["SYMGRAD_CACHE_DIR"] = _folder  # before anything is imported; processes that tests start inherit it


@pytest.fixture(autouse=True)
def _registries():
    from symgrad.exporters import FORMATS
    from symgrad.flags import FLAGS
    from symgrad.kernels.backend import BACKENDS

    before = [(registry, dict(registry)) for registry in (FORMATS, BACKENDS, FLAGS)]
    yield
    for registry, own in before:
        if registry != own:
            registry.clear()
            registry.update(own)
