"""The versions of Python that symgrad promises are those that it has been read for."""

import pathlib
import re
import sys

import symgrad

ROOT = pathlib.Path(__file__).parents[1]
#: of which the instructions are known, and how frames, source and annotations are read
KNOWN = ("3.11", "3.12", "3.13")
#: the folder that reads instructions
BYTECODE = "tracing/bytecode"


def test_the_classifiers_name_the_versions_that_are_known():
    text = (ROOT / "pyproject.toml").read_text()
    assert tuple(re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text)) == KNOWN


def test_this_version_is_one_of_them():
    assert f"{sys.version_info[0]}.{sys.version_info[1]}" in KNOWN


def test_who_reads_instructions():
    folder = pathlib.Path(symgrad.__file__).parent
    found = {p for p in folder.rglob("*.py") if re.search(r"^ *(import|from) dis\b", p.read_text(), re.M)}
    assert {p.parent for p in found} == {folder / BYTECODE}
