import contextlib

import pytest
from mutations import World


@pytest.fixture
def world(monkeypatch, tmp_path):
    """What a case changes, and what is changed back after it."""
    with contextlib.ExitStack() as files:
        yield World(monkeypatch, tmp_path, files)
