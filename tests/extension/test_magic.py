"""%%grad: what it binds, what it shows, and how it says no."""

from __future__ import annotations

import numpy as np
import pytest
from IPython.utils.capture import capture_output
from symgrad_notebook.magic import GradCellError

CELL = "def f(x, y):\n    return np.sum(np.sin(x) * y)\n"


def test_it_binds_the_gradient_and_shows_formulas_and_shapes(run, shell):
    shell.user_ns |= {"x": np.array([0.0, 1.0]), "y": np.array([3.0, 4.0])}
    shown = run("%%grad --wrt x,y\n" + CELL)
    formulas, table = (o.data for o in shown.outputs)
    assert formulas["text/latex"].startswith(r"$\displaystyle \begin{aligned} f &= ")
    assert r"\frac{\partial f}{\partial x}" in formulas["text/latex"]
    assert "sin" in formulas["text/plain"]
    assert "((2,), (2,))" in table["text/plain"]
    assert "<table>" in table["text/html"]
    gx, gy = shell.user_ns["grad_f"](np.zeros(2), np.array([3.0, 4.0]))
    np.testing.assert_array_equal(gx, [3.0, 4.0])
    np.testing.assert_array_equal(gy, [0.0, 0.0])


def test_name_mode_and_at(run, shell):
    run('%%grad --wrt y --name slope --mode forward --at "x=[1.0, 2.0], y=2.5"\n' + CELL)
    assert shell.user_ns["slope"].mode == "forward"
    np.testing.assert_allclose(shell.user_ns["slope"](np.array([1.0, 2.0]), 2.5), np.sin([1.0, 2.0]).sum())


def test_sens_is_the_cotangent_of_the_output(run, shell):
    shell.user_ns["s"] = np.array([1.0, 0.0])
    shown = run('%%grad --wrt x --sens s --at "x=[1.0, 2.0]"\ndef square(x):\n    return x**2\n')
    assert "⟨sens, out⟩" in shown.outputs[1].data["text/plain"]
    np.testing.assert_array_equal(shell.user_ns["grad_square"](np.array([3.0, 4.0]), np.array([0.0, 1.0])), [0.0, 8.0])


def test_without_values_a_scalar_is_assumed_and_said(run):
    shown = run("%%grad\ndef cube(t):\n    return t**3\n")
    assert "3 t^{2}" in shown.outputs[0].data["text/latex"]
    assert "no value for t" in shown.outputs[1].data["text/plain"]


def test_a_cell_class_by_input_and_parameter(run, shell):
    shell.user_ns["x"] = np.array([1.0, 2.0])
    run(
        "%%grad --wrt x,z\n"
        "from symgrad import nn, Parameter\n"
        "class Net(nn.Cell):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.z = Parameter(np.array([2.0]), name='z')\n"
        "    def construct(self, x):\n"
        "        return x * self.z\n"
    )
    gx, (gz,) = shell.user_ns["grad_Net"](np.array([1.0, 2.0]))
    np.testing.assert_array_equal(gx, [2.0, 2.0])
    np.testing.assert_array_equal(gz, [3.0])


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%%grad --wrt w\n" + CELL, "--wrt names 'w'; the function has x, y"),
        ("%%grad\na = 1\n", "defines no function"),
        ("%%grad --at \"x=__import__('os')\"\n" + CELL, "neither a literal nor a name"),
        ('%%grad --at "x=nothing"\n' + CELL, "no variable 'nothing'"),
        ('%%grad --at "x=1.0; y=2.0"\n' + CELL, "cannot read"),
        ("%%grad --nme g\n" + CELL, "%%grad"),
        ("%%grad --name 1x\n" + CELL, "not a Python name"),
        ("%%grad\ndef f(x):\n    return float(x)\n", "return float(x)"),
    ],
)
def test_errors_are_one_short_message_and_fail_the_cell(shell, cell, message):
    with capture_output() as captured:
        result = shell.run_cell(cell)
    assert isinstance(result.error_in_exec, GradCellError)
    printed = captured.stdout + captured.stderr
    assert message in printed
    assert "Traceback" not in printed
    assert "grad_f" not in shell.user_ns


def test_help_is_printed(run):
    assert "--wrt" in run("%%grad -h\npass").stdout


def test_the_users_own_error_is_shown_as_python_shows_it(shell):
    with capture_output() as captured:
        result = shell.run_cell("%%grad\nprint(1)\nraise KeyError('mine')\n")
    assert isinstance(result.error_in_exec, KeyError)
    assert "mine" in captured.stdout


def test_loading_twice_and_unloading_leaves_nothing(shell):
    before = len(shell.configurables)
    shell.run_line_magic("reload_ext", "symgrad")
    shell.run_line_magic("reload_ext", "symgrad")
    assert len(shell.configurables) == before
    shell.run_line_magic("unload_ext", "symgrad")
    assert "grad" not in shell.magics_manager.magics["cell"]
    assert not [c for c in shell.configurables if type(c).__name__ == "SymgradMagics"]
    shell.run_line_magic("load_ext", "symgrad")


def test_hostile_names_are_text(run, shell):
    shell.user_ns["x"] = np.ones(2)
    shown = run("%%grad --name evil\ndef f(x):\n    return x\nf.__name__ = '<img src=x onerror=alert(1)>'\n")
    assert "<img" not in shown.outputs[1].data["text/html"]
