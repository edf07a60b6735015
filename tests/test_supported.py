"""The page of what is supported is what the registries hold."""

import os
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[1] / "docs" / "supported.md"


@pytest.mark.filterwarnings("ignore")
def test_the_page_is_current():
    scipy = pytest.importorskip("scipy")
    from supported import page  # of SciPy's functions too

    made = f"{page()}\nMade with NumPy {_minor(np.__version__)} and SciPy {_minor(scipy.__version__)}.\n"
    if os.environ.get("SYMGRAD_GOLDEN") == "write":
        PAGE.write_text(made, encoding="utf-8")
        return
    known = PAGE.read_text(encoding="utf-8")
    if known.splitlines()[-1] != made.splitlines()[-1]:
        pytest.skip("the page was made with another NumPy or SciPy, which may have other functions")
    assert known == made, "SYMGRAD_GOLDEN=write pytest tests/test_supported.py writes it anew"


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])
