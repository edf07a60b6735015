"""``python -m symgrad``: each command on a file, and what it says of mistakes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from symgrad.command_line import main
from symgrad.exporters import FORMATS

MODEL = '''
import numpy as np
import symgrad as sg
from symgrad import nn
from neighbour import SCALE

def loss(w, X, power=2):
    """A sum of squares."""
    return SCALE * np.sum((X @ w) ** power)

def declared(w: sg.Array["d"], X: sg.Array["n d"]):
    return np.sum(np.tanh(X @ w))

def jumps(x):
    return np.sum(np.floor(x) * x)

def tree(params, x, *, scale=1.0, power=2):
    return scale * np.sum(np.tanh(x @ params["w"] + params["b"]) ** power)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2)

    def construct(self, x):
        return np.tanh(self.fc(x))

slope = sg.grad(loss)
number = 3
net = Net()
batch = np.ones((4, 3), np.float32)
params = {"w": np.full((3, 2), 0.1), "b": np.zeros(2)}
example = (params, np.ones((4, 3)))
by_name = {"params": params, "x": np.ones((4, 3)), "scale": 2.0, "power": 3}
short = (params,)

def made():
    return by_name
'''


@pytest.fixture
def model(tmp_path, monkeypatch):
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "neighbour.py").write_text("SCALE = 1.0\n")
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("model", "neighbour"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield str(tmp_path / "model.py")
    for name in ("model", "neighbour"):
        sys.modules.pop(name, None)


AT = ["--at", "w=[1, 2]", "--at", "X=[[1, 0], [0, 1], [1, 1]]"]


def test_derive_prints_program_and_formula(model, capsys):
    assert main(["derive", f"{model}:loss", "--wrt", "w", "--shape", "w=d", "--shape", "X=n d"]) == 0
    said = capsys.readouterr().out
    assert "program(w: float64[d], X: float64[n,d])" in said
    assert "∂f/∂w = 2XᵀXw" in said


def test_a_declared_function_needs_no_arguments(model, capsys):
    assert main(["derive", f"{model}:declared"]) == 0
    assert "X: float64[n,d]" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["value_and_grad", "jacobian", "hessian"])
def test_other_derivatives(model, capsys, kind):
    assert main(["derive", f"{model}:loss", "--kind", kind, *AT, "--form", "entries"]) == 0
    assert "X1" in capsys.readouterr().out


def test_flags_are_those_of_the_magic(model, capsys):
    at = [*AT, "--get-all", "--order", "2", "--mode", "forward", "--backend", "numpy"]
    assert main(["explain", f"{model}:declared", *at]) == 0
    assert "forward mode" in capsys.readouterr().out
    assert main(["derive", f"{model}:loss", *AT, "--wrt", "w,1", "--order", "2", "--steps"]) == 0
    said = capsys.readouterr().out
    assert "∂²f/∂w∂X = 2(Xᵀ ⊗ wᵀ + wᵀXᵀ ⊗ I)" in said
    assert "The chain rule" in said
    assert main(["derive", f"{model}:loss", *AT, "--sens", "2.0", "--form", "index"]) == 0
    assert "sens" in capsys.readouterr().out
    shapes = ["--shape", "w=d", "--shape", "X=n d"]
    assert main(["derive", f"{model}:loss", *shapes, "--sens", ""]) == 0
    assert "sens: float64" in capsys.readouterr().out


@pytest.mark.parametrize("format", FORMATS)
def test_export_writes_a_file(model, tmp_path, capsys, format):
    path = tmp_path / f"made{FORMATS[format].suffix}"
    assert main(["export", f"{model}:loss", "--wrt", "w", *AT, "--format", format, "-o", str(path)]) == 0
    assert capsys.readouterr().out == f"written to {path}\n"
    assert path.stat().st_size > 0


def test_an_exported_module_runs_and_passes(model, tmp_path):
    path = tmp_path / "made.py"
    assert main(["export", f"{model}:loss", *AT, "--format", "python", "-o", str(path)]) == 0
    ran = subprocess.run([sys.executable, "-I", str(path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "grad_loss: pass" in ran.stdout


def test_export_shows_the_text(model, capsys):
    assert main(["export", f"{model}:slope", *AT, "--format", "text"]) == 0
    assert "program(w: float64[2]" in capsys.readouterr().out


def test_explain_prints_steps_and_kernel(model, capsys):
    assert main(["explain", f"{model}:loss", *AT]) == 0
    said = capsys.readouterr().out
    assert "The chain rule" in said
    assert "a call of NumPy" in said


def test_check_compares_with_finite_differences(model, capsys):
    assert main(["check", f"{model}:loss", *AT]) == 0
    assert "pass" in capsys.readouterr().out
    assert main(["check", f"{model}:jumps", "--at", "x=[1.0, 2.5]"]) == 1
    assert "finite differences" in capsys.readouterr().err


def test_check_runs_the_check_of_a_file(model, tmp_path, capsys):
    path = tmp_path / "made.json"
    assert main(["export", f"{model}:loss", *AT, "--format", "json", "-o", str(path)]) == 0
    assert main(["check", str(path)]) == 0
    assert "pass" in capsys.readouterr().out


def test_values_from_a_file(model, tmp_path, capsys):
    np.save(tmp_path / "X.npy", np.ones((4, 2)))
    at = ["--at", "w=[1, 2]", "--at", f"X=@{tmp_path / 'X.npy'}"]
    assert main(["derive", f"{model}:loss", *at]) == 0
    assert "X: float64[4,2]" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["example", "by_name", "made", "MODEL:example"])
def test_arguments_are_objects_of_the_file(model, capsys, name):
    assert main(["derive", f"{model}:tree", "--args", name.replace("MODEL", model)]) == 0
    said = capsys.readouterr().out
    assert "params_w: float64[3,2], params_b: float64[2], x: float64[4,3]" in said
    assert ("scale: float64" in said) is (name in ("by_name", "made"))


def test_every_command_takes_nested_arguments_and_cells(model, tmp_path, capsys):
    for function, args in (("tree", "example"), ("net", "batch")):
        assert main(["explain", f"{model}:{function}", "--args", args]) == 0
        assert "The chain rule" in capsys.readouterr().out
        assert main(["check", f"{model}:{function}", "--args", args]) == 0
        assert "pass" in capsys.readouterr().out
        path = tmp_path / f"made_{function}.py"
        assert main(["export", f"{model}:{function}", "--args", args, "--format", "python", "-o", str(path)]) == 0
        assert capsys.readouterr().out == f"written to {path}\n"
        assert f"\ndef grad_{'tree(params: dict' if function == 'tree' else 'Net(x: np.ndarray'}" in path.read_text()


def test_a_cell_is_derived_by_its_weights(model, capsys):
    for weights, shapes in (("all", "float32[2, 3], float32[2]"), ("fc.bias", "float32[2]")):
        assert main(["export", f"{model}:net", "--weights", weights, "--args", "batch", "--format", "python"]) == 0
        assert f"# outputs: {shapes}\n" in capsys.readouterr().out
    assert (
        main(["export", f"{model}:net", "--weights", "all", "--wrt", "x", "--args", "batch", "--format", "text"]) == 0
    )
    assert "# outputs: float32[4, 3], float32[2, 3], float32[2]\n" in capsys.readouterr().out


def test_nested_values_are_written_out(model, tmp_path, capsys):
    np.savez(tmp_path / "p.npz", w=np.ones((3, 2)), b=np.zeros(2))
    given = ['{"w": [[1, 2], [3, 4], [5, 6]], "b": [0, 1]}', f"@{tmp_path / 'p.npz'}", f"@{model}:params"]
    for params in given:
        assert main(["derive", f"{model}:tree", "--at", f"params={params}", "--at", "x=[[1, 2, 3]]"]) == 0
        assert "params_w: float64[3,2], params_b: float64[2], x: int64[1,3]" in capsys.readouterr().out
    shape = ["--shape", 'params={"w": "d k", "b": "k"}', "--shape", "x=n d"]
    assert main(["derive", f"{model}:tree", *shape]) == 0
    assert "params_w: float64[d,k], params_b: float64[k], x: float64[n,d]" in capsys.readouterr().out


def test_arguments_after_one_that_is_left_out_are_passed_by_name(model, capsys):
    at = [*AT, "--at", "power=3"]
    assert main(["derive", f"{model}:loss", *at]) == 0
    assert "= 3Xᵀ (Xw)^⊙2" in capsys.readouterr().out
    at = ["--at", f"params=@{model}:params", "--at", "x=[[1, 2, 3]]", "--at", "power=3"]
    assert main(["derive", f"{model}:tree", *at]) == 0
    assert "scale" not in capsys.readouterr().out


def test_a_pickle_is_not_read(model, tmp_path, capsys):
    np.save(tmp_path / "X.npy", np.array([{}], dtype=object), allow_pickle=True)
    assert main(["derive", f"{model}:loss", "--at", "w=[1]", "--at", f"X=@{tmp_path / 'X.npy'}"]) == 2
    assert "allow_pickle=False" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["derive", "MODEL"], "names no object"),
        (["derive", "MODEL:nothing"], "has no nothing; it has loss, declared, jumps"),
        (["derive", "MODEL:number"], "is a int, not a function"),
        (["derive", "MODEL:loss"], "the argument w has no value; add --at w="),
        (["derive", "MODEL:loss", "--wrt", "q", *AT], "wrt names 'q'; there is w, X, power to choose"),
        (["derive", "MODEL:loss", "--at", "w=__import__('os')"], "is no JSON"),
        (["derive", "MODEL:loss", "--at", 'w=["a"]'], "is no array of numbers"),
        (["derive", "MODEL:loss", "--at", "w=[[1, 2], [3]]"], "the rows differ in length"),
        (["export", "MODEL:loss", *AT, "--format", "c", "-o", "/"], "Is a directory"),
        (["derive", "MODEL:loss", "--at", "q=1"], "--at q=1: write NAME="),
        (["derive", "MODEL:loss", "--at", "w=1", "--shape", "X=n"], "do not go together"),
        (["derive", "MODEL:slope", "--wrt", "w", *AT], "is a derivative already"),
        (["check", "MODEL:loss", "--shape", "w=d", "--shape", "X=n d"], "a check needs numbers"),
        (["export", "MODEL:loss", *AT, "--format", "onnx"], "onnx is no text to show; name a file for it"),
        (
            ["derive", "MODEL:tree", "--args", "nothing"],
            "has no nothing; it has loss, declared, jumps, tree, slope, net",
        ),
        (["derive", "MODEL:tree", "--args", "short"], "--args short has no value for x: give params, x"),
        (
            ["derive", "MODEL:tree", "--args", "params"],
            "--args params has 'w': the function takes params, x, scale, power",
        ),
        (["derive", "MODEL:tree", "--args", "example", "--at", "x=1"], "leave out --at and --shape"),
        (["derive", "MODEL:tree", "--at", 'params={"w": [[1, 2], [3]]}'], "the rows differ in length"),
        (["derive", "MODEL:tree", "--shape", 'params={"w": 3}', "--shape", "x=n"], "write a text for each array"),
        (["derive", "MODEL:tree", "--shape", "params={w}", "--shape", "x=n"], "is no JSON"),
        (
            ["derive", "MODEL:tree", "--weights", "all", "--args", "example"],
            "there are no weights here: they are the trainable parameters of a Cell, or of Cells that the function",
        ),
        (
            ["derive", "MODEL:net", "--weights", "q", "--args", "batch"],
            "weights names 'q'; there is fc.weight, fc.bias",
        ),
        (
            ["derive", "MODEL:net", "--weights", "all", "--kind", "hessian", "--args", "batch"],
            "hessian is taken by arguments",
        ),
        (["derive", "MODEL:Net", "--args", "batch"], "is a class; name a function, or an object of the class"),
        (
            ["check", "MODEL:tree", "--shape", 'params={"w": "d k", "b": "k"}', "--shape", "x=n d"],
            "a check needs numbers",
        ),
        (["derive", "no_such_module_here:f"], "there is no module no_such_module_here"),
        (["derive", "/nowhere/model.py:f"], "No such file"),
        (["export", "MODEL:loss", *AT, "--format", "c", "-o", "/nowhere/made.c"], "No such file"),
    ],
)
def test_mistakes_are_said_in_one_message(model, capsys, arguments, message):
    assert main([a.replace("MODEL", model) for a in arguments]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("symgrad: ")
    assert message in said.err
    assert said.out == ""


def test_help_lists_the_commands(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    said = capsys.readouterr().out
    for command in ("derive", "export", "explain", "check"):
        assert f"\n    {command}" in said
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert "holds the example arguments" in " ".join(capsys.readouterr().out.split())


def test_a_reader_may_stop(model):
    command = [sys.executable, "-m", "symgrad", "derive", f"{model}:loss", *AT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == ""
        assert running.wait() == 1


def test_it_runs_as_a_module():
    ran = subprocess.run([sys.executable, "-m", "symgrad", "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("symgrad ")
