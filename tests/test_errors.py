"""Errors: short whatever the user's names are, with nothing in them that a terminal obeys."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from IPython.utils.capture import capture_output

import symgrad as sg
from symgrad import errors
from symgrad.errors import SymgradError

X = np.ones(2)
#: names that no source file has, but code that is made by programs may
NAMES = ["n" * 100_000, "a\0b", "a\n\x1b[31m\rb", "a\ud800b", ""]


def function(name, body="return np.sum(np.sin(x) * x)"):
    """A function whose name, and that of its file, is ``name``."""
    space = {"np": np}
    exec(f"def f(x):\n    {body}", space)
    made = space["f"]
    made.__code__ = made.__code__.replace(co_filename=name, co_name=name)
    made.__name__ = made.__qualname__ = name
    return made


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_function_of_any_name_is_differentiated_and_shown(name):
    made = sg.hessian(function(name))
    np.testing.assert_array_equal(made(X), sg.hessian(function("f"))(X))
    assert len(repr(made)) < 500
    for show in (made.latex, made.program, made.provenance):
        show(X)


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
@pytest.mark.parametrize(
    "refused",
    [
        lambda name: sg.grad(function(name))(np.ones(2, int)),
        lambda name: sg.grad(function(name, "return np.sum(x) + complex(x[0])"))(X),
        lambda name: sg.grad(function(name)).entry((5,), X),
        lambda name: sg.grad(lambda x, **more: x)(1.0, **{name: {1, 2}}),
        lambda name: sg.grad(lambda x, **more: x)(1.0, **{name: np.ones(2, np.clongdouble)}),
        lambda name: sg.grad(lambda x: x, backend=f"no {name}"),
        lambda name: sg.Array[f"n- {name}"],
        lambda name: sg.stopping(function("f"), [name]),
        lambda name: sg.get_grad((("a", X),), name),
        lambda name: sg.load(f"no {name}"),
    ],
)
def test_errors_are_short_and_fit_to_print(refused, name):
    with pytest.raises(SymgradError) as caught:
        refused(name)
    said = str(caught.value)
    assert 0 < len(said) < 2000
    assert all(c.isprintable() or c == "\n" for c in said)
    said.encode()


def test_what_is_short_is_said_as_it_is():
    said = "one\n  two\tthree é ∂ " + "word " * 1000
    assert str(errors.ArgumentError(said)) == said
    assert len(str(errors.ArgumentError(said * 100))) == errors.MAX_MESSAGE


def test_all_errors_are_pickled():
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, SymgradError):
            made = kind(3, 2) if kind is errors.AxisError else kind("said")
            other = pickle.loads(pickle.dumps(made))
            assert (type(other), str(other)) == (kind, str(made))


def test_errors_are_copied_as_tools_copy_them():
    """By the class's own __new__, without its __init__, as tblib does for Dask."""
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, SymgradError) and kind is not errors.AxisError:
            assert type(kind.__new__(kind, "said")) is kind


@pytest.mark.usefixtures("brief")
def test_a_notebook_shows_the_message_and_the_users_lines(shell):
    shell.run_cell("import numpy as np\nimport symgrad as sg\ndef f(x):\n    é = 1; return x.tobytes()\n")
    with capture_output() as captured:
        shell.run_cell("a = 1\nsg.grad(f)(np.ones(2))\n")
    first, *lines = captured.stdout.rstrip().splitlines()
    assert first.startswith("UnsupportedOperation: ndarray.tobytes has no derivative rule in symgrad.")
    assert [line.rpartition(",")[2] if line.endswith(":") else line for line in lines] == [
        " line 2:",
        "    sg.grad(f)(np.ones(2))",
        "    ^^^^^^^^^^^^^^^^^^^^^^",
        " line 4:",
        "    é = 1; return x.tobytes()",
        "                  ^^^^^^^^^",
    ]


@pytest.mark.usefixtures("brief")
def test_a_notebook_names_a_line_that_does_not_run_again(shell):
    shell.run_cell("import symgrad as sg\ndef f(x):\n    return np.log(x - 1)\n")
    shell.run_cell("g = sg.grad(f)")
    with capture_output() as captured:
        shell.run_cell("with sg.debug():\n    g(1.0)")
    assert "NonFiniteError: " in captured.stdout
    assert "    return np.log(x - 1)" in captured.stdout
