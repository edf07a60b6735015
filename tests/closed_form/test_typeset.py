"""Constants and functions beside names of the user's: nothing that is different looks alike."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.closed_form.latex import let_bound_rows, symbol_latex
from symgrad.closed_form.letters import name_latex
from symgrad.closed_form.plain_text import plain_text
from symgrad.closed_form.symbols import safe_names
from symgrad.closed_form.typeset import typeset

X = sympy.Symbol("x", real=True)
#: LaTeX that a constant or a function begins with, what is shown for it, and the name of the user's
CLASHES = {
    "pi": (sympy.pi, r"\arccos\left(-1\right)"),
    "e": (sympy.E, r"\operatorname{exp}\left(1\right)"),
    "e1": (sympy.exp(X), r"\operatorname{exp}\left(x\right)"),
    "psi": (sympy.digamma(X), r"\operatorname{polygamma}\left(0, x\right)"),
    "Gamma": (sympy.gamma(X), r"\operatorname{gamma}\left(x\right)"),
    "zeta": (sympy.zeta(X, evaluate=False), r"\operatorname{zeta}\left(x\right)"),
    "I_0": (sympy.besseli(0, X), r"\operatorname{besseli}\left(0, x\right)"),
    "J": (sympy.besselj(1, X), r"\operatorname{besselj}\left(1, x\right)"),
    "delta": (sympy.KroneckerDelta(X, 2), r"\left[2 = x\right]"),
}


@pytest.mark.parametrize("name", CLASHES)
def test_what_looks_as_a_name_is_written_in_words(name):
    value, words = CLASHES[name]
    assert typeset(value) != words  # the usual letter, where it is free
    assert typeset(value, [name]) == words
    own = typeset(sympy.Mul(sympy.Symbol(name), value, evaluate=False))
    assert words in own
    assert name_latex(name) in own


@pytest.mark.parametrize(("name", "value"), [("pi", sympy.pi), ("E", sympy.E), ("oo", sympy.oo), ("nan", sympy.nan)])
def test_constants_in_text_have_no_name_of_the_users(name, value):
    assert plain_text(value + X, ["x"]) == str(value + X)
    shown = plain_text(value * sympy.Symbol("y"), [name])
    assert name not in shown.replace("exp", "")


@pytest.mark.parametrize("form", ["entries", "index"])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_an_argument_called_as_a_constant_is_told_from_it(form, shape):
    def f(pi, e):
        return np.sum(np.exp(e) * np.pi * pi**2 * np.e)

    gradient = sg.grad(f)
    x = np.ones(shape) if shape else 1.0
    latex = gradient.export("latex", x, x, form=form)
    formula = latex.split("&= ")[1]
    assert r"\arccos\left(-1\right)" in formula
    assert r"\operatorname{exp}" in formula
    assert "e^{" not in formula


def test_captured_arrays_are_called_as_in_the_code():
    X, weights = np.arange(6.0).reshape(3, 2), np.arange(3.0)

    def misfit(w, y):
        return np.sum(weights * (X @ w - y) ** 2)

    assert r"X^\top" in sg.grad(misfit).latex(np.ones(2), np.ones(3))
    index = sg.grad(misfit).closed_form(np.ones(2), np.ones(3), form="index")
    assert {str(s) for s in index.atoms(sympy.IndexedBase)} == {"X", "weights", "w", "y"}
    inner = sg.grad(lambda X: np.sum(hidden(X)))  # beside an argument of that name
    assert {str(s) for s in inner.closed_form(np.ones(3), form="index").atoms(sympy.IndexedBase)} == {"X", "c_0"}


READ = np.arange(3.0)


def hidden(x, X=READ):
    return np.sin(x * X)


def test_the_function_is_not_called_as_an_array_that_it_reads():
    f = np.arange(1.0, 3.0)
    assert sg.grad(lambda x: np.sum(f * x**2)).latex(np.ones(2)).startswith(r"\begin{aligned} \frac{\partial F}")


def test_captured_arrays_and_bindings_are_not_called_as_arguments():
    held = [np.arange(3.0)]

    def f(c_0, v_0):
        return np.sum(np.sin(c_0 * held[0]) * np.cos(v_0) * np.sin(c_0 * held[0]))

    x = np.ones(3)
    gradient = sg.grad(f)
    index = gradient.closed_form(x, x, form="index")
    assert {str(s) for s in index.atoms(sympy.IndexedBase)} == {"c_0", "c_0_2", "v_0"}
    program = gradient.program(x, x)
    rows = let_bound_rows(program, ["g"], len(program.bindings))
    assert [r.partition("[")[0] for r in rows[:-1]] == [f"w_{{{k}}}" for k in range(len(program.bindings))]
    assert "v_{0}[i]" in "".join(rows)


@given(
    st.lists(st.text("xX_1eπα é.", min_size=1, max_size=4) | st.sampled_from(["x1", "x_1", "alpha", "α"]), max_size=5)
)
@settings(max_examples=150)
def test_different_arguments_never_look_alike(labels):
    names = safe_names(labels)
    assert len(set(names)) == len({name_latex(n) for n in names}) == len(labels)
    assert all(symbol_latex(n) == name_latex(n) for n in names)


def test_labels_tell_the_function_and_the_arguments_apart():
    def g(f, x1, x_1):
        return np.sum(f * x1 * x_1)

    gradient = sg.grad(g, (0, 1, 2))
    x = np.ones(3)
    gradient(x, x, x)
    latex = gradient.latex(x, x, x)
    for wanted in (r"\frac{\partial F}{\partial f}", r"\frac{\partial F}{\partial x_{1}}"):
        assert wanted in latex
    assert r"\frac{\partial F}{\partial x_{1,2}}" in latex
    assert r"\frac{\partial F}{\partial f}" in sg.jacobian(g).latex(x, x, x)


def test_cases_in_a_sum_are_in_brackets():
    x, y = sympy.symbols("x y")
    cases = sympy.Piecewise((x, x < 1), (0, True))
    made = typeset(sympy.Add(cases, -y, evaluate=False))
    assert r"\left(\begin{cases}" in made
    assert typeset(cases).startswith(r"\begin{cases}")


def test_a_word_stands_apart_from_a_letter():
    rate, x, theta = sympy.symbols("rate x theta")
    assert typeset(rate * x) == r"\mathit{rate} \, x"
    assert typeset(rate * theta) == r"\mathit{rate} \, \theta"
    assert typeset(rate * sympy.sin(x)) == r"\mathit{rate} \sin{\left(x \right)}"


def test_bounds_of_one_quantity_are_told_at_once():
    x, y = sympy.symbols("x y", real=True)
    assert typeset(sympy.And(x > 0, x <= 1)) == r"0 < x \leq 1"
    assert typeset(sympy.And(x > 0, sympy.Gt(y, x))) == "0 < x < y"
    assert typeset(sympy.And(x > 0, x < 1, y > 2)) == r"0 < x < 1 \wedge y > 2"
    assert typeset(sympy.And(x > 0, y < 1)) == r"x > 0 \wedge y < 1"
