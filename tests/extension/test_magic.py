"""%%grad: what it runs, what it binds, which example arguments it takes, and what it leaves when unloaded."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import symgrad_notebook
from IPython.utils.capture import capture_output

import symgrad

CELL = "def f(x, y):\n    return np.sum(np.sin(x) * y)\n"
NET = """
from symgrad import nn, Parameter
class Net(nn.Cell):
    def __init__(self, start=2.0):
        super().__init__()
        self.z = Parameter(np.array([start]), name='z')
    def construct(self, x):
        return x * self.z
"""


def test_it_binds_the_gradient(run, shell):
    run('%%grad --wrt x,y --at "x=[0, 1], y=[3, 4]"\n' + CELL)
    gx, gy = shell.user_ns["grad_f"](np.zeros(2), np.array([3.0, 4.0]))
    np.testing.assert_array_equal(gx, [3.0, 4.0])
    np.testing.assert_array_equal(gy, [0.0, 0.0])


def test_name_and_mode(run, shell):
    run('%%grad --wrt y --name slope --mode forward --at "x=[1.0, 2.0], y=2.5"\n' + CELL)
    assert shell.user_ns["slope"].mode == "forward"
    np.testing.assert_allclose(shell.user_ns["slope"](np.array([1.0, 2.0]), 2.5), np.sin([1.0, 2.0]).sum())


def test_positions_say_the_same_as_names(run, shell):
    run('%%grad --position 1,0 --at "x=[1, 2], y=3"\n' + CELL)
    by_y, by_x = shell.user_ns["grad_f"](np.array([1.0, 2.0]), 3.0)
    np.testing.assert_allclose(by_y, np.sin([1.0, 2.0]).sum())
    np.testing.assert_allclose(by_x, 3 * np.cos([1.0, 2.0]))


@pytest.mark.parametrize("sens", ["s", "[1, 0]", "[1.0, 0.0]"])
def test_sens_is_the_cotangent_of_the_output(run, shell, sens):
    shell.user_ns["s"] = np.array([1.0, 0.0])
    shown = run(f'%%grad --wrt x --sens "{sens}" --at "x=[1.0, 2.0]"\ndef square(x):\n    return x**2\n')
    assert "⟨sens, out⟩" in shown.outputs[1].data["text/plain"]
    assert "∂f/∂x = 2(x ⊙ sens)" in shown.outputs[0].data["text/plain"]
    np.testing.assert_array_equal(shell.user_ns["grad_square"](np.array([3.0, 4.0]), np.array([0.0, 1.0])), [0.0, 8.0])


@pytest.mark.parametrize("last", ["", "net = Net(3.0)\n", "net: Net = Net(3.0)\nsize = 4\n"])
def test_a_cell_by_input_and_parameter(run, shell, last):
    run('%%grad --wrt x,z --name g --at "x=[1, 2]"' + NET + last)
    gx, (gz,) = shell.user_ns["g"](np.array([1.0, 2.0]))
    np.testing.assert_array_equal(gx, [3.0, 3.0] if last else [2.0, 2.0])
    np.testing.assert_array_equal(gz, [3.0])


def test_the_last_function_counts_wherever_it_stands(run, shell):
    run("%%grad --at x=2\ndef one(x):\n    return x\nif True:\n    def two(x):\n        return x\n")
    assert "grad_two" in shell.user_ns
    run("%%grad --at x=2\nthree = lambda x: x**3\n")
    assert shell.user_ns["grad_three"](2.0) == 12.0


def test_the_last_expression_of_the_cell_is_displayed(run, shell):
    shown = run("%%grad --at x=2\ndef cube(x):\n    return x**3\ncube(3.0)\n")
    assert "27.0" in shown.stdout
    assert shell.user_ns["_"] == 27.0


def test_variables_and_defaults_are_the_examples(run, shell):
    shell.user_ns |= {"x": 2, "y": np.ones(3), "n": 5}
    shown = run("%%grad --wrt x\ndef f(x, y, n=3):\n    return np.sum(x * y)**n\n")
    assert "f(x: (), y: (3,), n=3)" in shown.outputs[1].data["text/plain"]


def test_a_dict_of_arrays_is_an_example(run, shell):
    shell.user_ns |= {"params": {"w": np.ones(2), "b": 1}, "x": np.ones((3, 2))}
    shown = run("%%grad --wrt params\ndef f(params, x):\n    return x @ params['w'] + params['b']\n")
    assert "grad_f(params, x) → {'w': (2,), 'b': ()}" in shown.outputs[1].data["text/plain"]
    assert "∂f/∂params['b'] = 3" in shown.outputs[0].data["text/plain"]


def test_whole_literals_are_numbers_unless_the_default_is_whole(run):
    shown = run('%%grad --at "x=1, y=2, n=2"\ndef f(x, y, n=3):\n    return x * y * sum(range(n))\n')
    assert "f = x*y\n∂f/∂x = y" in shown.outputs[0].data["text/plain"]


def test_whole_literals_stay_whole_where_that_is_annotated(run):
    shown = run('%%grad --wrt x --at "x=[1, 2, 3], n=1"\ndef f(x, n: int):\n    return x[n] ** 2 * n\n')
    assert "f = x[1]²" in shown.outputs[0].data["text/plain"]


def test_what_is_declared_a_number_needs_no_value_and_that_is_said(run):
    shown = run("%%grad\ndef cube(t: float):\n    return t**3\n")
    assert "3 t^{2}" in shown.outputs[0].data["text/latex"]
    assert "no value for t was found, so ones stand in" in shown.outputs[1].data["text/plain"]


@pytest.mark.parametrize(
    ("cell", "asked"),
    [
        ("%%grad\n" + CELL, 'x and y have no value here; give an example, a number or an array: --at "x=2.0, y=2.0"'),
        ("%%grad --at x=1\n" + CELL, 'y has no value here; give an example, a number or an array: --at "y=2.0"'),
        ("%%grad\ndef f(n: int, t: float):\n    return t**n\n", "n has no value here"),
        ("%%grad --directional --at x=1\ndef f(x):\n    return x**2\n", "in the shape of what it is by; give it as v"),
        ("%%grad --wrt t\nt**2\n", "t has no value here"),
    ],
)
def test_what_has_neither_value_nor_shape_is_asked_for(shell, cell, asked):
    with capture_output() as captured:
        result = shell.run_cell(cell)
    assert result.error_in_exec is not None
    assert asked in captured.stdout + captured.stderr
    assert "grad_f" not in shell.user_ns


def test_nothing_of_the_options_is_evaluated(shell):
    with capture_output():
        result = shell.run_cell("%%grad --at \"x=exec('leak = 1')\" --sens \"exec('leak = 1')\"\n" + CELL)
    assert result.error_in_exec is not None
    assert "leak" not in shell.user_ns


def test_declared_shapes_need_no_values(run, shell):
    cell = 'def loss(w: sg.Array["d"], X: sg.Array["n d"]):\n    return np.sum((X @ w) ** 2)\n'
    run("import symgrad as sg")
    shown = run(f"%%grad\n{cell}")
    assert "no value for w, X was found, so ones stand in" in shown.outputs[1].data["text/plain"]
    assert "grad_loss(w, X) → ∂f/∂w: (d,)" in shown.outputs[1].data["text/plain"]
    shell.user_ns["X"] = np.ones((7, 2))
    assert "loss(w: (2,), X: (7, 2)) → ()" in run(f"%%grad\n{cell}").outputs[1].data["text/plain"]


def test_what_is_too_large_to_run_still_has_a_formula(run, shell):
    shell.user_ns["x"] = np.ones(10**6)
    shown = run("%%grad --hessian\ndef f(x):\n    return np.sum(x[1:] * x[:-1] ** 2)\n")
    assert "∂²f/∂x²[i, j] = " in shown.outputs[0].data["text/plain"]
    assert "would take 7.28 TiB" in shown.outputs[1].data["text/plain"]
    assert "sparse=True" in shown.outputs[1].data["text/plain"]


def test_prints_of_the_function_come_once(run):
    shown = run("%%grad --at x=2\ndef f(x):\n    print('traced')\n    return x**2\n")
    assert shown.stdout.count("traced") == 1


def test_help_of_the_line_magic_is_printed(run):
    printed = run("%grad -h").stdout
    assert "%grad [" in printed
    assert "%%grad [" not in printed


def test_help_is_printed(run):
    printed = run("%%grad -h\npass").stdout
    assert "--wrt" in printed
    assert "%%grad [" in printed


def test_loading_twice_and_unloading_leaves_nothing(shell):
    shell.run_line_magic("unload_ext", "symgrad")
    before = _state(shell)
    shell.run_line_magic("load_ext", "symgrad")
    loaded = _state(shell)
    for command in ("load_ext", "reload_ext", "reload_ext"):
        with capture_output():
            shell.run_line_magic(command, "symgrad")
    assert _state(shell) == loaded != before
    shell.run_line_magic("unload_ext", "symgrad")
    symgrad.unload_ipython_extension(shell)
    assert _state(shell) == before
    shell.run_line_magic("load_ext", "symgrad")


def _state(shell):
    manager = shell.magics_manager
    magics = {kind: sorted(names) for kind, names in manager.magics.items()}
    hooks = {name: list(chain) for name, chain in shell.events.callbacks.items()}
    completers = sorted(shell.strdispatchers["complete_command"].strs)
    return magics, sorted(manager.registry), [type(c).__name__ for c in shell.configurables], hooks, completers


def test_a_missing_part_is_said_with_its_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "symgrad_notebook", None)
    with pytest.raises(ImportError, match=r"needs symgrad_notebook: pip install 'symgrad\[notebook\]'"):
        symgrad.load_ipython_extension(None)


def test_the_magic_is_two_plain_functions():
    gradient = symgrad_notebook.derivative_of(lambda x, y: x * y, "y")
    with capture_output() as captured:
        symgrad_notebook.show(gradient, 2.0, 3.0, name="g")
    assert captured.outputs[0].data["text/plain"] == "f = x*y\n∂f/∂y = x"


def test_a_direction_is_given_by_its_name(run):
    shown = run('%%grad --directional --at "x=[1, 2], v=[0, 1]"\ndef f(x):\n    return np.sum(x**3)\n').outputs
    text = "\n".join(output.data.get("text/plain", "") for output in shown)
    assert "∂f/∂v = 3xᵀ diag(v) x" in text
    assert "f(x: (2,)) → ()" in text
    assert "directional_f(x, v) → ∂f/∂v: ()" in text
