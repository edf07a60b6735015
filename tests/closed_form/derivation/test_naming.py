"""Names under marks, and how formulas print them."""

import unicodedata
from typing import Any

import pytest
import sympy

from symgrad.closed_form.derivation.naming import Name, counted, numbered, user_name
from symgrad.closed_form.letters import name_latex
from symgrad.closed_form.symbols import safe_name, safe_names
from symgrad.closed_form.typeset import typeset


@pytest.mark.parametrize(
    ("name", "mark", "latex"),
    [
        (user_name("w"), "bar", r"\bar{w}"),
        (user_name("w"), "dot", r"\dot{w}"),
        (user_name("loss"), "bar", r"\overline{\mathit{loss}}"),
        (user_name("theta"), "bar", r"\bar{\theta}"),
        (user_name("x_1"), "bar", r"\bar{x}_{1}"),
        (numbered(3), "dot", r"\dot{v}_{3}"),
        (numbered(3).marked("bar"), "dot", r"\dot{\bar{v}}_{3}"),
    ],
)
def test_marks(name, mark, latex):
    marked = name.marked(mark)
    assert marked.latex == latex
    assert marked.text == unicodedata.normalize("NFC", marked.text)
    assert marked.text != name.text


def test_names_stand_in_formulas_as_they_are():
    names = [numbered(1), user_name("loss"), numbered(1).marked("bar"), user_name("loss").marked("bar")]
    assert safe_names(names) == names
    bases: list[Any] = [sympy.IndexedBase(n) for n in names]
    element = sympy.Add(*[base[sympy.Symbol("i")] for base in bases])
    assert str(element) == "loss[i] + l̅o̅s̅s̅[i] + v̄₁[i] + v₁[i]"
    assert typeset(element) == (r"{\mathit{loss}}_{i} + {\overline{\mathit{loss}}}_{i} + \bar{v}_{1}[i] + v_{1}[i]")


def test_marks_of_the_users_are_no_marks_of_ours():
    assert safe_name("x\u0305") == "x"
    assert name_latex("māls") == r"{m \bar{a} l s}"


def test_names_bound_again():
    assert counted("x", 3) == Name("x₃")
    assert counted("x1", 2).text != counted("x", 12).text
