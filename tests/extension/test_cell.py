"""What a cell says to differentiate: functions, Cells, and bare expressions over variables of the notebook."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from IPython.utils.capture import capture_output


@pytest.fixture
def variables(shell):
    shell.user_ns |= {"x": np.array([1.0, 2.0]), "y": 3.0, "A": np.array([[1.0, 2.0], [3.0, 4.0]]), "text": "no"}
    return shell.user_ns


def test_an_expression_is_a_function_of_its_variables(run, variables):
    shown = run("%%grad --wrt x,y\nnp.sum(A @ x) * y\n")
    assert "f(A: (2, 2), x: (2,), y: ()) → ()" in shown.outputs[1].data["text/plain"]
    by_x, by_y = variables["grad_f"](variables["A"], variables["x"], 2.0)
    np.testing.assert_array_equal(by_x, [8.0, 12.0])
    assert by_y == 16.0


def test_the_first_variable_counts_without_wrt(run, variables):
    run("%%grad\nnp.sin(y) * x\n")
    assert "grad_f" in variables
    assert list(inspect.signature(variables["grad_f"]).parameters) == ["y", "x"]


def test_assignments_before_it_run_and_are_differentiated_through(run, variables):
    run("%%grad --wrt y --name g\nscale = 2.0\nw = scale * y\nw * w + y\n")
    assert variables["g"](1.5) == 2 * 2 * 2 * 1.5 + 1
    assert variables["w"] == 6.0


def test_a_product_of_two_names_that_depend_on_one(run, variables):
    run("%%grad --wrt x\nt = x @ A\nt @ x\n")
    x, A = variables["x"], variables["A"]
    h = 1e-6
    nudged = [((x + d) @ A @ (x + d) - (x - d) @ A @ (x - d)) / (2 * h) for d in h * np.eye(2)]
    np.testing.assert_allclose(variables["grad_f"](x, A), nudged, rtol=1e-6)


def test_loops_and_branches_are_part_of_it(run, variables):
    run("%%grad --wrt x\nfor k in range(3):\n    x = x * 2\nif y > 2:\n    x = x + y\nnp.sum(x**2)\n")
    assert list(inspect.signature(variables["grad_f"]).parameters) == ["x", "y"]
    np.testing.assert_array_equal(
        variables["grad_f"](np.array([1.0, 2.0]), 3.0), 2 * 8 * (8 * np.array([1.0, 2.0]) + 3)
    )


def test_a_name_that_the_cell_gives_its_value_can_be_chosen(run, variables):
    run("%%grad --wrt u\nu = np.array([1.0, 2.0])\nv = 3 * u\nnp.sum(u * v)\n")
    np.testing.assert_array_equal(variables["grad_f"](np.array([1.0, 2.0])), [6.0, 12.0])
    run("%%grad --wrt p\np = 2.0\n[p * k for k in (1, 2)][1] * (lambda p: p)(3.0)\n")
    assert variables["grad_f"](2.0) == 6.0


def test_names_in_at_need_no_value(run, variables):
    run('%%grad --wrt u --at "u=[1, 2]"\nu**2 * y\n')
    np.testing.assert_array_equal(variables["grad_f"](np.array([3.0, 1.0]), 1.0), [6.0, 2.0])


def test_everything_else_is_read_from_the_notebook(run, variables):
    run("def scale(v):\n    return 2 * v")
    run("%%grad --wrt x\nscale(x) * len(text)\n")
    np.testing.assert_array_equal(variables["grad_f"](variables["x"]), [4.0, 4.0])


def test_a_function_of_the_cell_goes_before_its_last_expression(run, variables):
    shown = run("%%grad --wrt x\ndef g(x):\n    return x**2\ng(x) + 1\n")
    assert "grad_g" in variables
    assert "[2., 5.]" in shown.stdout


def test_an_error_in_the_expression_marks_its_line(shell, variables):
    with capture_output() as captured:
        result = shell.run_cell("%%grad --wrt x\nz = 1.0\nnp.nope(x) * z\n")
    assert result.error_in_exec is not None
    assert "Cell In[" in captured.stdout
    assert "line 3:\n    np.nope(x) * z\n    ^^^^^^^\n" in captured.stdout
    assert "grad_f" not in variables


def test_a_function_that_is_not_called_is_derived_by_the_line_magic(shell):
    shell.run_cell("def price(s, k): return s * k")
    with capture_output() as captured:
        result = shell.run_cell("%%grad\nprice\n")
    assert result.error_in_exec is not None
    assert "price is a function, and the cell does not call it. %grad price x y derives it" in captured.stdout


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("3 + 4", "the expression has no variable with a number or an array in the notebook"),
        ("q = 1.0", "the cell defines no function and no Cell, and does not end with an expression"),
        ("", "the cell defines no function and no Cell, and does not end with an expression"),
        ("import os", "the cell defines no function"),
    ],
)
def test_cells_that_say_nothing_are_refused(shell, cell, message):
    with capture_output() as captured:
        result = shell.run_cell(f"%%grad\n{cell}\n")
    assert result.error_in_exec is not None
    assert message in captured.stdout
