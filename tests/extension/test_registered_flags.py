"""A flag that is registered is everywhere: in the magics, their completion, the panel and on the command line."""

from __future__ import annotations

import numpy as np
import pytest
from IPython.core.completer import provisionalcompleter
from symgrad_notebook.options import flag_names, parser
from symgrad_notebook.panel import panel

import symgrad as sg
from symgrad import extend
from symgrad.command_line import main
from symgrad.flags import FLAGS, Flag, register, unregister

MODEL = "def f(x, y):\n    return x**2 * y\n"


def times(derived, value):
    return sg.grad(lambda *args: float(value) * derived.fn(*args))


@pytest.fixture
def flags():
    """A switch, one with choices and one that shows something; and those that the panel has no control for."""
    made = [
        Flag("doubled", "of twice the function", derive=lambda d, _: times(d, 2), gloss="of twice the function"),
        Flag("factor", "of so many times", type=int, choices=(3, 5), derive=times, gloss="of so many times"),
        Flag("shout", "a word", short="-w", show=lambda d, args, kwargs, _: f"AT {args[0]}", gloss="a word"),
        Flag("words", "words", type=str, many=True, show=lambda d, args, kwargs, word: word, gloss="words"),
        Flag("free", "free", type=str, show=lambda d, args, kwargs, word: word, gloss="free"),
    ]
    yield [register(flag) for flag in made]
    for flag in made:
        unregister(flag.name)


def test_in_a_cell(flags, run, shell):
    shown = run("%%grad --doubled -w --at 'x=3, y=2'\ndef f(x, y):\n    return x**2 * y")
    assert shell.user_ns["grad_f"](3.0, 2.0) == 24.0
    assert "AT 3.0" in shown.outputs[-1].data["text/plain"]
    assert "of twice the function" in run("%grad -h").stdout
    shown = run("%%grad -q --words one --words two --at 'x=3, y=2'\ndef f(x, y):\n    return x**2 * y")
    assert [o.data["text/plain"] for o in shown.outputs] == ["'one'", "'two'"]


def test_registering_again_replaces_it(flags, run, shell):
    extend.flag("doubled", "the third of it", derive=lambda d, _: times(d, 1 / 3))
    run("%%grad --doubled --at 'x=3, y=2'\ndef f(x, y):\n    return x**2 * y")
    np.testing.assert_allclose(shell.user_ns["grad_f"](3.0, 2.0), 4.0)


def test_in_completion(flags, shell):
    assert {"--doubled", "--factor", "-w"} <= set(flag_names())
    with provisionalcompleter():
        line = "%%grad --factor "
        assert {"3", "5"} <= {c.text for c in shell.Completer.completions(line, len(line))}


def test_on_the_command_line(flags, tmp_path, capsys):
    path = tmp_path / "doubled_model.py"
    path.write_text(MODEL)
    assert main(["derive", f"{path}:f", "--factor", "3", "--at", "x=3", "--at", "y=2", "--shout"]) == 0
    said = capsys.readouterr().out
    assert "∂f/∂x0 = 12*x0" in said
    assert "AT 3" in said


def test_in_the_panel(flags, monkeypatch):
    monkeypatch.setattr("symgrad_notebook.panel._namespace", lambda: None)

    def f(x, y):
        return x**2 * y

    shown = panel(sg.grad(f), (3.0, 2.0), {})
    assert list(shown.controls.others) == ["doubled", "factor", "shout"]
    shown.controls.others["doubled"].value = True
    assert shown.outcome.result == 24.0
    scope = {"sg": sg, "f": f, "x": 3.0, "y": 2.0}
    *lines, last = shown.code.code.splitlines()
    exec("\n".join(lines), scope)
    assert eval(last, scope) == 24.0
    shown.controls.others["doubled"].value = False
    shown.controls.others["factor"].value = 5
    shown.controls.others["shout"].value = True
    assert shown.outcome.result == 60.0
    assert "<pre>AT 3.0</pre>" in shown.result.value
    assert "AT 3.0" in repr(shown.static())
    assert shown.flags.others == (("factor", 5), ("shout", True))


def test_every_flag_is_typed_in_the_help_of_the_magics():
    said = parser("%%grad").format_help()
    for flag in FLAGS.values():
        assert (flag.typed[-1] in said) is flag.in_magic
