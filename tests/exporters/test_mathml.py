"""MathML: well-formed, of elements that browsers set, and set by one."""

from __future__ import annotations

import functools
import re
import xml.etree.ElementTree as ElementTree

import array_programs
import golden
import lab
import pytest
from cases import CASES, GOLDEN
from operation_formulas import rendered

from symgrad.closed_form.latex_tree import tree
from symgrad.exporters import mathml
from symgrad.exporters.mathml import NAMESPACE, element

#: MathML Core, as far as formulas need it
ELEMENTS = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msub", "msup", "msubsup"),
    *("munder", "mover", "munderover", "mtable", "mtr", "mtd"),
}
CHILDREN = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "msubsup": 3, "munder": 2, "mover": 2, "munderover": 3}


def check(part):
    """Every element is one that browsers know, with as many parts as it takes and text where it has none."""
    for e in part.iter():
        tag = e.tag.removeprefix(f"{{{NAMESPACE}}}")
        assert tag in ELEMENTS, tag
        assert len(e) == CHILDREN.get(tag, len(e)), tag
        if tag in ("mi", "mn", "mo", "mtext"):
            assert e.text, tag
            assert "\\" not in e.text, e.text


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name):
    golden.check("mathml", name, CASES[name].export("mathml"), ".xml")


@pytest.mark.parametrize("name", CASES)
def test_every_case_is_well_formed(name):
    for document in (False, True):
        made = CASES[name].export("mathml", document=document)
        assert made.startswith("<?xml") is document
        root = ElementTree.fromstring(made.encode())
        assert root.tag == f"{{{NAMESPACE}}}math"
        check(root)


@functools.cache
def elements():
    """What the labels and formulas of all operations become, those that are alike once."""
    made, _ = rendered()
    found = {part for rows in made.values() for row in rows for part in row.partition("&")[::2]}
    return [element(tree(part)) for part in sorted(found)]


def test_every_operation_has_mathml():
    for made in elements():
        check(made)


def test_commands_are_known():
    """No command of the formulas is shown by its name, but for functions that are called so."""
    made, _ = rendered()
    names = {e.text for part in elements() for e in part.iter("mi")}
    spelled = {n for n in names if re.fullmatch(r"[a-z]{3,}", n or "")}
    functions = {
        *("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "max", "min")
    }
    operators = {w for rows in made.values() for r in rows for w in re.findall(r"\\operatorname\{([^}]*)\}", r)}
    assert spelled <= functions | operators | {"det"}, spelled - functions - operators


@pytest.mark.parametrize("name", array_programs.HOSTILE)
def test_hostile_names_are_text(name):
    derived, args = array_programs.hostile(name)
    made = derived.export("mathml", *args)
    check(ElementTree.fromstring(made.encode()))
    assert made.count("<!--") == made.count("-->") == 1


@pytest.mark.needs("chromium")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_browser_sets_every_case(tmp_path):
    from playwright.sync_api import sync_playwright

    page = "<!doctype html><meta charset=utf-8>" + "".join(case.export("mathml") for case in CASES.values())
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=lab.browser_path(), args=["--no-sandbox"])
        opened = browser.new_page()
        opened.goto((tmp_path / "page.html").as_uri())
        sizes = opened.evaluate(
            "[...document.querySelectorAll('mtd')].map(m => m.getBoundingClientRect()).map(r => [r.width, r.height])"
        )
        unknown = opened.evaluate(
            "[...document.querySelectorAll('math *')].filter(e => !(e instanceof MathMLElement)).length"
        )
        browser.close()
    assert unknown == 0
    assert len(sizes) > 2 * len(CASES)
    assert all(width > 2 and height > 5 for width, height in sizes)


def test_the_namespace_is_declared_once():
    made = mathml.mathml(CASES["logistic"].subject(document=False))
    assert made.count(f'xmlns="{NAMESPACE}"') == 1
