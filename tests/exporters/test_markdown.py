"""Markdown: every formula in it is set by KaTeX, as notebooks and GitHub do, and names are text."""

from __future__ import annotations

import re

import array_programs
import golden
import numpy as np
import pytest
import typesetting
from cases import CASES, GOLDEN

import symgrad as sg
from symgrad.exporters import header


def formulas(made):
    """The displayed and the inline formulas."""
    prose = re.sub(r"^(`{3,}).*?^\1$", "", made, flags=re.DOTALL | re.MULTILINE)
    displayed = re.findall(r"\$\$\n(.*?)\n\$\$", prose, re.DOTALL)
    rest = re.sub(r"\$\$.*?\$\$", "", prose, flags=re.DOTALL)
    return displayed + re.findall(r"(?<!\\)\$([^$\n]+)\$", rest)


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name):
    golden.check("markdown", name, CASES[name].export("markdown"), ".md")


@pytest.mark.parametrize("form", ["auto", "index"])
@pytest.mark.needs("npm", "node")
def test_katex_sets_every_case(form):
    found = []
    for name, case in CASES.items():
        if form == "auto" or name in ("logistic", "ridge", "branches", "gaussian"):
            made = case.export("markdown", form=form)
            assert made.count("$$") % 2 == 0
            found += formulas(made)
    assert len(found) > len(CASES) or form == "index"
    assert typesetting.katex(found) == []


def test_it_has_the_header_the_formula_and_the_program():
    derived = sg.grad(lambda w, X: np.sum((X @ w) ** 2))
    args = np.ones(2), np.ones((3, 2))
    made = derived.export("markdown", *args)
    assert made.startswith("### grad\\_f\n\n<!--\nthe gradient of f, derived by symgrad")
    assert f"```\n{derived.program(*args)}\n```" in made
    for line in header.lines(CASES["branches"].subject()):
        assert f"\n{line}\n" in CASES["branches"].export("markdown")
    assert "Finite differences: off by" in made


def test_conditions_are_told():
    made = CASES["branches"].export("markdown")
    assert r"&\sum_{i=0}^{2} {x}_{i} \leq 2" in made


def test_no_sign_of_a_formula_is_taken_for_an_escape():
    """CommonMark takes a backslash from before punctuation, which some renderers let it do to formulas."""
    for name in CASES:
        for found in formulas(CASES[name].export("markdown")):
            assert not re.search(r"\\[^A-Za-z]", found.replace(r"\\", "")), found


@pytest.mark.needs("npm", "node")
def test_hostile_names_are_text():
    found = []
    for name in array_programs.HOSTILE:
        derived, args = array_programs.hostile(name)
        made = derived.export("markdown", *args)
        assert formulas(made), name
        found += formulas(made)
        prose = re.sub(r"^(`{3,})\n.*?^\1$", "", made, flags=re.DOTALL | re.MULTILINE)
        assert prose.count("<!--") == prose.count("-->") == 1, name
        shown = re.sub(r"<!--.*?-->|\$[^$]*\$", "", prose, flags=re.DOTALL)
        assert not re.search(r"(?<!\\)[<>]", shown), name
    assert typesetting.katex(found) == []


def test_a_fence_is_longer_than_what_it_holds():
    def f(x):
        return x["```"] * 2

    made = sg.grad(f).export("markdown", {"```": 1.0})
    assert made.count("\n````\n") == 2
    assert made.endswith("\n````\n")
