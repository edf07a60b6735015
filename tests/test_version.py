"""The version and the license are the same wherever they are said."""

from __future__ import annotations

import pathlib
import re
import tomllib

import symgrad

ROOT = pathlib.Path(__file__).parent.parent


def test_the_citation_is_of_this_version_and_license():
    cited = dict(re.findall(r"^(\w+): (\S+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert cited["version"] == symgrad.__version__
    assert cited["license"] == project["license"] == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text("utf-8")
    assert f"## {symgrad.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
