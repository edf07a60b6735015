"""%symgrad: options are shown, set, refused and put back; configuration files set them too."""

from __future__ import annotations

import pytest
from IPython.utils.capture import capture_output
from symgrad_notebook.magic import SymgradMagics
from traitlets.config import Config

import symgrad
from symgrad.errors import ArgumentError


@pytest.fixture
def magics():
    return SymgradMagics(shell=None)


def test_every_option_is_shown_with_its_value(run):
    printed = run("%symgrad").stdout
    for name in ("mode", "backend", "budget", "fold", "annotate", "quiet", "progress"):
        assert f"\n{name} " in f"\n{printed}"


def test_options_are_set_and_used(run, shell):
    run("%symgrad backend=numpy mode=forward")
    run("%%grad --at x=2\ndef f(x):\n    return x**3\n")
    assert (shell.user_ns["grad_f"].backend, shell.user_ns["grad_f"].mode) == ("numpy", "forward")
    run("%%grad --at x=2 --mode reverse --backend numexpr\ndef f(x):\n    return x**3\n")
    assert (shell.user_ns["grad_f"].backend, shell.user_ns["grad_f"].mode) == ("numexpr", "reverse")
    run("%symgrad --reset")
    run("%%grad --at x=2\ndef f(x):\n    return x**3\n")
    assert (shell.user_ns["grad_f"].backend, shell.user_ns["grad_f"].mode) == ("auto", "auto")


def test_quiet_binds_and_shows_nothing(run, shell):
    run("%symgrad quiet=True")
    shown = run("%%grad --at x=2\ndef f(x):\n    return x**3\n")
    assert shown.outputs == []
    assert shown.stdout == ""
    assert shell.user_ns["grad_f"](2.0) == 12.0


def test_fold_and_budget_give_the_let_bound_form(run):
    cell = "%%grad --at x=2\ndef f(x):\n    return np.sin(x)**3 * x\n"
    assert "v_{0}" not in run(cell).outputs[0].data["text/latex"]
    run("%symgrad fold=5")
    assert "v_{0}" in run(cell).outputs[0].data["text/latex"]
    run("%symgrad fold=5000 budget=1")
    assert "v_{0}" in run(cell).outputs[0].data["text/latex"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mode=sideways", "mode cannot be 'sideways'; it is any of"),
        ("fold=-1", "fold cannot be '-1'"),
        ("colour=blue", "'colour=blue' sets no option; write name=value with one of"),
        ("mode", "'mode' sets no option"),
        ("shell=1", "'shell=1' sets no option"),
        ("quiet=__import__('os')", "quiet cannot be"),
    ],
)
def test_what_is_no_option_is_refused(magics, text, message):
    before = {name: getattr(magics, name) for name in magics.option_names()}
    with pytest.raises(ArgumentError) as refused:
        magics.set_option(text)
    assert str(refused.value).startswith(message)
    assert {name: getattr(magics, name) for name in magics.option_names()} == before


def test_configuration_sets_options():
    made = SymgradMagics(shell=None, config=Config({"SymgradMagics": {"backend": "numpy", "fold": 100}}))
    assert (made.backend, made.fold) == ("numpy", 100)
    made.reset_options()
    assert made.backend == "auto"


def test_the_whole_traceback_of_the_latest_error(shell, run):
    from IPython.utils.capture import capture_output

    assert "no error of %%grad" in run("%symgrad --traceback").stdout
    with capture_output():
        shell.run_cell("%%grad --at x=2\ndef f(x):\n    return x.tobytes()\n")
    printed = run("%symgrad --traceback").stdout
    assert "Traceback (most recent call last)" in printed
    assert "return x.tobytes()" in printed
    assert "MissingAttribute" in printed


@pytest.mark.parametrize(("written", "is_on"), [("on", True), ("off", False), ("True", True), ("false", False)])
def test_a_switch_is_written_as_people_write_it(shell, written, is_on):
    shell.run_line_magic("symgrad", f"debug={written}")
    assert symgrad.get_context("debug") is is_on
    shell.run_line_magic("symgrad", "--reset")


def test_a_switch_alone_says_where_it_belongs(shell):
    with capture_output() as captured:
        shell.run_cell("%symgrad debug off")
    assert "as in debug=off" in captured.stdout


def test_debug_is_a_switch(shell):
    shell.run_line_magic("symgrad", "debug")
    assert symgrad.get_context("debug")
    shell.run_line_magic("symgrad", "--reset")
    assert not symgrad.get_context("debug")
    shell.run_line_magic("symgrad", "debug=True")
    shell.extension_manager.unload_extension("symgrad")
    assert not symgrad.get_context("debug")
    shell.extension_manager.load_extension("symgrad")
