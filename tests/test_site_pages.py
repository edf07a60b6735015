"""The pages of the site: each has what its examples need, from the first line on."""

from __future__ import annotations

import pathlib
import re

import pytest
import site_pages

DOCS = pathlib.Path(__file__).parent.parent / "docs"


def expanded(page):
    """The text of a page with the part of the README that it includes."""
    text = page.read_text("utf-8")
    found = re.search(r"```\{include\} \S+\n(.*?)```", text, re.DOTALL)
    if found is None:
        return text
    ends = dict(re.findall(r':(start-after|end-before): "\\n(.*?)\\n"', found[1]))
    readme = (DOCS.parent / "README.md").read_text("utf-8").partition(ends["start-after"])[2]
    return text.replace(found[0], readme.partition(ends.get("end-before", "\0"))[0])


@pytest.mark.parametrize("page", sorted([*DOCS.glob("topics/*.md"), *DOCS.glob("guides/*.md")]), ids=lambda p: p.stem)
def test_a_page_stands_alone(page):
    assert site_pages.unknown_names(expanded(page)) <= {"_"}


def test_pages_of_the_interface_import_what_their_examples_read(tmp_path):
    site_pages.signatures(tmp_path)
    assert ">>> from symgrad import curl, divergence, laplacian\n" in (tmp_path / "fields.md").read_text("utf-8")
    ops = (tmp_path / "ops.md").read_text("utf-8")
    assert ">>> from symgrad.ops import *\n>>> import numpy as np\n" in ops


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        (">>> import numpy as np\n>>> f(np.ones(n))", {"f", "n"}),
        (">>> def f(x, *more, k=2):\n...     return [x + y for y in more]\n>>> f(3)", set()),
        (">>> try:\n...     print(1)\n... except ValueError as error:\n...     print(error)", set()),
        (None, set()),
    ],
)
def test_unknown_names(text, unknown):
    assert site_pages.unknown_names(text) == unknown
