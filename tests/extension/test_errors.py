"""How a %%grad cell says no: one short message, the user's own line marked, and the cell fails."""

from __future__ import annotations

import nbformat
import pytest
from IPython.utils.capture import capture_output
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from symgrad_notebook.errors import GradCellError

CELL = "def f(x, y):\n    return np.sum(np.sin(x) * y)\n"
NEEDS = "from symgrad import nn\nclass Net(nn.Cell):\n    def __init__(self, n):\n        super().__init__()\n"


@pytest.fixture
def refused(shell):
    """Run a cell that must fail with a GradCellError; gives what was printed."""

    def run_cell(text: str) -> str:
        with capture_output() as captured:
            result = shell.run_cell(text)
        assert isinstance(result.error_in_exec, GradCellError)
        printed = captured.stdout + captured.stderr
        assert "Traceback" not in printed
        assert "/symgrad" not in printed
        assert not [name for name in shell.user_ns if name.startswith("grad_")]
        return printed

    return run_cell


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%%grad --wrt w\n" + CELL, "wrt names 'w'; there is x, y to choose"),
        ("%%grad --wrt x,,y\n" + CELL, "wrt is 'x,,y'"),
        ("%%grad --wrt x,x\n" + CELL, "twice"),
        ("%%grad --wrt x --position 0\n" + CELL, "not both"),
        ("%%grad --position 2\n" + CELL, "count the 2 arguments from 0"),
        ("%%grad\na = 1\n", "defines no function"),
        ("%%grad\n# nothing\n", "defines no function"),
        ("%%grad\ndef f(*xs):\n    return xs[0]\n", "no named argument"),
        ("%%grad\n" + NEEDS, "the Cell Net takes arguments"),
        ("%%grad --at \"x=__import__('os')\"\n" + CELL, "neither a literal nor a name"),
        ("%%grad --at x={[]:1}\n" + CELL, "neither a literal nor a name"),
        ('%%grad --at "x=nothing"\n' + CELL, "no variable 'nothing'"),
        ('%%grad --at "x=1.0; y=2.0"\n' + CELL, "write it as 'x=[1.0, 2.0], y=name'"),
        ("%%grad --at z=1\n" + CELL, "--at gives z; the function takes x, y"),
        ("%%grad --at x=1,y=2 --sens 1+\n" + CELL, "--sens is '1+'"),
        ("%%grad --sens [1,2] --at x=1\ndef f(x):\n    return x\n", "sens has shape (2,)"),
        ("%%grad --nme g\n" + CELL, "unrecognized arguments: --nme g"),
        ("%%grad --mode up\n" + CELL, "choose from"),
        ("%%grad --at 'x=1\n" + CELL, "No closing quotation"),
        ("%%grad --at x=1,y=2 --name 1x\n" + CELL, "not a Python name"),
        ("%%grad --at x=1,y=2 --name class\n" + CELL, "not a Python name"),
        ("%%grad --at x=1\ndef f(x):\n    x * x\n", "returned None"),
    ],
)
def test_bad_options_and_cells(refused, cell, message):
    assert message in refused(cell)


def test_the_users_line_is_marked_by_its_number_in_the_cell(refused):
    printed = refused("%%grad --at x=1\ndef f(x):\n    y = 2 * x.tobytes()\n    return y\n")
    place, line, mark = printed.splitlines()[-3:]
    assert place.startswith("  Cell In[")
    assert place.endswith("line 3:")
    assert line[4:] == "y = 2 * x.tobytes()"
    assert [k for k, c in enumerate(mark) if c == "^"] == list(range(line.index("x.tobytes"), line.index("()")))


def test_an_error_of_the_function_itself_is_marked_too(refused):
    printed = refused("%%grad --at x=1\ndef f(x):\n    é = '…'; return missing * x\n")
    assert printed.startswith("NameError: name 'missing' is not defined")
    line, mark = printed.splitlines()[-2:]
    assert mark.index("^") == line.index("missing")


def test_a_line_in_an_earlier_cell_is_found(shell, refused):
    shell.run_cell("def helper(x):\n    return x.tobytes()\n")
    assert "return x.tobytes()" in refused("%%grad --at x=1\ndef f(x):\n    return helper(x)\n")


@pytest.mark.parametrize("body", ["def f(x:\n    return x\n", "await f\n", "x = = 1\n"])
def test_a_cell_that_does_not_parse(refused, body):
    printed = refused("%%grad\n" + body)
    assert printed.startswith("SyntaxError: ")
    assert "line 2:" in printed
    assert body.splitlines()[0] in printed


def test_the_users_own_error_is_shown_as_python_shows_it(shell):
    with capture_output() as captured:
        result = shell.run_cell("%%grad\nprint(1)\nraise KeyError('mine')\n")
    assert isinstance(result.error_in_exec, KeyError)
    assert "'mine'" in captured.stdout
    assert "symgrad_notebook" not in captured.stdout


def test_a_refused_cell_fails_the_notebook(tmp_path, monkeypatch):
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    cells = ["%load_ext symgrad", "%%grad --at x=1\ndef f(x):\n    return x.tobytes()\n"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    client = NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    with pytest.raises(CellExecutionError, match=r"return x\.tobytes\(\)"):
        client.execute()
    (output,) = notebook.cells[1].outputs
    assert output.output_type == "error"
    assert len(output.traceback) <= 5


def test_outside_of_the_magics_an_error_names_the_cell_too(shell):
    with capture_output():
        result = shell.run_cell("import symgrad as sg\nsg.grad(lambda x: x.tobytes())(1.0)")
    assert "\n  at Cell In[" in str(result.error_in_exec)
    assert ", line 2\n    sg.grad(lambda x: x.tobytes())(1.0)" in str(result.error_in_exec)


def test_an_error_that_numpy_wraps_keeps_its_line(refused):
    cell = "def f(x):\n    y = OUTSIDE\n    y[0] = x[1]\n    return np.sum(y)\nOUTSIDE = np.zeros(2)\n"
    printed = refused(f"%%grad --at 'x=[1, 2]'\n{cell}")
    assert "TracingError" in printed
    assert "line 4" in printed
    assert "y[0] = x[1]" in printed
