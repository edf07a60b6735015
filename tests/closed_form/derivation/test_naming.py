"""Names under marks, and the letters that stand for them while a formula is printed."""

import unicodedata

import pytest

from symgrad.closed_form.derivation.naming import Letters, Name, counted, element_of, numbered, user_name


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


def test_letters_come_back_as_names():
    names = [numbered(1), user_name("loss"), numbered(1).marked("bar"), user_name("w")]
    letters = Letters(names)
    assert len(set(letters.labels)) == 4
    assert letters.labels[3] == "w"
    one, word, bar, _ = letters.labels
    assert len(one) == 1
    assert len(word) == 2
    assert letters.in_text(f"{one}{bar} + {word}·w") == "v₁v̄₁ + loss·w"


def test_elements_of_names_with_indices_are_bracketed():
    assert element_of("w") == "{w}"
    assert element_of(r"\bar{v}_{1}") == r"\left[\bar{v}_{1}\right]"


def test_names_bound_again():
    assert counted("x", 3) == Name("x₃", "x_{3}")
    assert counted("x1", 2).text != counted("x", 12).text
