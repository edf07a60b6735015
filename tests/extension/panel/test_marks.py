"""Marks: what came is boxed, what went is crossed out, and rows that came or went say so."""

from __future__ import annotations

import numpy as np
from symgrad_notebook.panel.flags import Flags
from symgrad_notebook.panel.marks import compared
from symgrad_notebook.panel.outcome import Study
from symgrad_notebook.panel.subject import Subject

import symgrad as sg

from .conftest import held


def rows(function, args, *flags):
    """The rows of the last of several states, marked against the one before."""
    study, found = Study(Subject.of(function, args)), None
    for state in flags:
        found = study.outcome(state, before=found)
    return found.rows


def test_stop_gradient_crosses_out_what_flowed_through():
    (row,) = rows(held, (0.5, 2.0), Flags(), Flags(stopped=("h",)))
    assert (row.status, row.appeared, row.vanished) == ("changed", (), ("x*y*cos(x)",))
    assert r"y \sin{\left(x \right)} {\color{#c4681c}\cancel{+ x y \cos{\left(x \right)}}}" in row.latex
    (row,) = rows(held, (0.5, 2.0), Flags(stopped=("h",)), Flags())
    assert (row.appeared, row.vanished) == (("x*y*cos(x)",), ())
    assert r"{\color{#2d7fd3}\boxed{+ x y \cos{\left(x \right)}}}" in row.latex


def test_a_derivative_that_comes_or_goes_is_a_row_of_its_own():
    one, both = Flags(), Flags(grad_position=(0, 1))
    assert [r.status for r in rows(held, (0.5, 2.0), one, both)] == ["stayed", "appeared"]
    gone = rows(held, (0.5, 2.0), both, one)
    assert [r.status for r in gone] == ["stayed", "vanished"]
    assert r"\cancel{x \sin{\left(x \right)}}" in gone[1].latex


def test_entries_of_an_array_are_marked_one_by_one():
    def f(x):
        h = x[0] * x[1]
        return h + x[0]

    (row,) = rows(f, (np.array([1.0, 2.0]),), Flags(), Flags(stopped=("h",)))
    assert row.vanished == ("x1", "x0")
    assert row.latex.count(r"\cancel") == 2
    assert row.latex.startswith(r"\left[\begin{matrix}1")


def test_where_nothing_stays_the_old_formula_follows_the_new():
    found = rows(
        lambda x: x**2, (np.array([1.0, 2.0]),), Flags("GradOperation"), Flags("GradOperation", sens_param=True)
    )
    assert [r.status for r in found] == ["appeared", "vanished"]
    assert found[0].text == "∂f/∂x = 2(x ⊙ sens)"


def test_matrix_notation_is_marked_by_summands():
    def f(w, X):
        h = X @ w
        return np.sum(h * h) + 3 * np.sum(w**2)

    (row,) = rows(f, (np.ones(20), np.ones((30, 20))), Flags(), Flags(stopped=("h",)))
    assert row.latex == r"6 w {\color{#c4681c}\cancel{+ 2 X^\top X w}}"


def test_long_programs_are_compared_by_lines():
    def f(x):
        for k in range(60):  # no steps that repeat (Thue and Morse), so none are a loop
            h = (np.sin, np.cos)[k.bit_count() % 2](x)
            x = h * x
        return x

    found = rows(f, (np.ones(3),), Flags(), Flags(mode="forward"))
    assert len(found) > 50
    assert {r.status for r in found} <= {"stayed", "appeared"}
    assert found[0].label == "v_{0}[i]"


def test_loops_are_compared_by_lines():
    def f(x, rate):
        for _ in range(60):
            x = x + rate * np.sin(x)
        return x

    found = rows(f, (np.ones(3), 0.1), Flags(), Flags(grad_position=(0, 1)))
    assert [r.label for r in found][:2] == ["x_{0}", "x_{t+1}"]
    assert {r.status for r in found} == {"stayed", "appeared"}


def test_nothing_before_marks_nothing():
    study = Study(Subject.of(held, (0.5, 2.0)))
    formulas = study.outcome(Flags(grad_position=(0, 1))).formulas
    assert [r.status for r in compared(None, formulas)] == ["stayed", "stayed"]
    assert compared(formulas, formulas) == compared(None, formulas)


def test_rows_are_those_of_the_derivative_itself():
    study = Study(Subject.of(held, (0.5, 2.0)))
    row = study.outcome(Flags()).rows[0]
    assert f"{row.label} &= {row.latex}" == sg.grad(held).latex_rows(0.5, 2.0)[0]
