"""Documents and pictures of a derivative: what they hold, and that names cannot break out of them."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import symgrad as sg


def loss(w, X):
    return np.sum((X @ w) ** 2)


def test_latex_is_the_formula():
    made = sg.grad(loss).export("latex", np.ones(20), np.ones((30, 20)))
    assert made.startswith("% the gradient of loss\n\\[\n\\begin{aligned}")
    assert r"\frac{\partial f}{\partial w} &= 2 X^\top X w" in made


def test_markdown_has_formula_and_program():
    derived = sg.grad(loss)
    made = derived.export("markdown", np.ones(2), np.ones((3, 2)))
    assert made.startswith("### grad_loss\n\n$$\n")
    assert f"```\n{derived.program()}\n```" in made


def test_text_is_the_program():
    derived = sg.grad(loss)
    assert derived.export("text", np.ones(2), np.ones((3, 2))) == f"{derived.program()}\n"


def test_pictures():
    derived = sg.grad(loss)
    args = np.ones(2), np.ones((3, 2))
    assert derived.export("dot", *args).startswith("digraph program {")
    assert ElementTree.fromstring(derived.export("svg", *args)).tag.endswith("svg")


@pytest.mark.parametrize("format", ["latex", "markdown", "text", "dot", "svg"])
def test_it_is_written_where_it_is_asked_to(format, tmp_path):
    path = tmp_path / "made"
    made = sg.grad(loss).export(format, np.ones(2), np.ones((3, 2)), path=path)
    assert path.read_text(encoding="utf-8") == made


def test_a_fence_is_longer_than_what_it_holds():
    def f(x):
        return x * 2

    f.__name__ = "a\n\\end{document}"
    assert "\\end{document}" not in sg.grad(f).export("latex", 1.0)
    assert sg.grad(f).export("markdown", 1.0).startswith("### grad_a_end_document\n")
