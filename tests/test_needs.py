"""What tests need besides Python is said by a marker, so that the run with everything installed finds them."""

from __future__ import annotations

import pathlib
import re

import pytest

FOLDER = pathlib.Path(__file__).parent


@pytest.mark.parametrize(
    "pattern",
    [
        r"skipif\(.*(which|toolchain|browser_path|find_spec)\(",
        r"shutil\.which\(",
        r'importorskip\("torch"\)(?![^\n]*\npytestmark = pytest\.mark\.needs\("torch"\))',
        r"import .*\bcheck_rule\b",
    ],
)
def test_no_test_looks_for_them_itself(pattern):
    allowed = {"conftest.py", "lab.py", "test_needs.py", "test_check.py"}
    found = [p for p in FOLDER.rglob("*.py") if p.name not in allowed and re.search(pattern, p.read_text("utf-8"))]
    assert not found, "say @pytest.mark.needs(…), or ask for the fixture check_rule: tests/conftest.py"
