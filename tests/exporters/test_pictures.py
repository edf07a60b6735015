"""Pictures and text of the program: drawn by Graphviz, well-formed, with the header in comments of their kind."""

from __future__ import annotations

import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import array_programs
import golden
import numpy as np
import pytest
from cases import CASES, GOLDEN

import symgrad as sg
from symgrad.exporters import header


@pytest.mark.parametrize("name", GOLDEN)
@pytest.mark.parametrize(("format", "suffix"), [("dot", ".dot"), ("text", ".txt")])
def test_golden(name, format, suffix):
    golden.check(format, name, CASES[name].export(format), suffix)


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_without_graphviz(name, monkeypatch):
    """What Graphviz draws depends on its version and on fonts; the text as a picture does not."""
    monkeypatch.setattr(shutil, "which", lambda _: None)
    golden.check("svg", name, CASES[name].export("svg"), ".svg")


@pytest.mark.parametrize("name", CASES)
def test_the_program_is_drawn(name):
    case = CASES[name]
    subject = case.subject()
    made = case.export("svg")
    root = ElementTree.fromstring(made.encode())
    assert root.tag.endswith("svg")
    texts = " ".join(root.itertext())
    assert all(n.primitive.spell(n).split("[")[0] in texts for n in subject.guarded.bindings)
    lines = header.lines(subject)
    assert made.startswith("\n".join(["<!--", *lines, "-->"]))
    assert case.export("dot").startswith("\n".join(f"// {line}" for line in lines))
    assert case.export("text").startswith("\n".join(f"# {line}" for line in lines))


def test_text_is_the_program():
    derived = sg.grad(lambda w, X: np.sum((X @ w) ** 2))
    args = np.ones(2), np.ones((3, 2))
    assert derived.export("text", *args).endswith(f"\n{derived.program(*args)}\n")


def test_conditions_are_drawn_too():
    made = CASES["branches"].export("text")
    assert "greater(" in made
    assert made.count("logical_not") == 1


HOSTILE = [*array_programs.HOSTILE, "--", "]]>", '"]; evil [label="', "</svg>"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text(name):
    derived, args = array_programs.hostile(name)
    made = derived.export("svg", *args)
    root = ElementTree.fromstring(made.encode())
    assert not [e for e in root.iter() if e.tag.endswith("script")]


@pytest.mark.needs("dot")
@pytest.mark.parametrize("name", HOSTILE)
def test_graphviz_reads_hostile_names(name):
    derived, args = array_programs.hostile(name)
    drawn = derived.export("dot", *args)
    done = subprocess.run(["dot", "-Tplain"], input=drawn, capture_output=True, text=True, check=True)
    nodes = [line for line in done.stdout.splitlines() if line.startswith("node ")]
    leaves = [n for n in derived.program(*args).nodes if n.primitive.name != "literal"]
    assert len(nodes) == len(leaves)


def test_it_is_written_where_it_is_asked_to(tmp_path):
    for format in ("dot", "svg", "text"):
        path = tmp_path / f"made.{format}"
        made = sg.grad(np.sin).export(format, 1.0, path=path)
        assert path.read_text(encoding="utf-8") == made
