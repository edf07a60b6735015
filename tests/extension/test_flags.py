"""Every flag of %%grad and %grad gives what the plain function gives."""

from __future__ import annotations

import numpy as np
import pytest
from IPython.utils.capture import capture_output

import symgrad as sg
from symgrad import Parameter, nn
from symgrad.exporters import FORMATS

CELL = "def f(x, y):\n    return np.sin(x) * y + x[0]\n"
AT = '--at "x=[1, 2], y=[3, 4]"'
X, Y = np.array([1.0, 2.0]), np.array([3.0, 4.0])


def f(x, y):
    return np.sin(x) * y + x[0]


def aux(x, y):
    return np.sum(x * y), x + y


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.z = Parameter(np.array([2.0]), name="z")
        self.b = Parameter(np.array([1.0]), name="b")
        self.frozen = Parameter(np.array([1.0]), name="frozen", requires_grad=False)

    def construct(self, x):
        return x * self.z + self.b * self.frozen


def same(left, right):
    if isinstance(left, tuple):
        assert isinstance(right, tuple)
        assert len(left) == len(right)
        for a, b in zip(left, right, strict=True):
            same(a, b)
    else:
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize(
    ("flags", "name", "derived"),
    [
        ("", "grad_f", sg.grad(f)),
        ("--get-all", "grad_f", sg.grad(f, (0, 1))),
        ("--position 1,0", "grad_f", sg.grad(f, (1, 0))),
        ("--wrt y --mode forward", "grad_f", sg.grad(f, 1)),
        ("--order 2", "grad_f", sg.grad(sg.grad(f))),
        ("--order 3 --name third", "third", sg.grad(sg.grad(sg.grad(f)))),
        ("--jacobian", "jacobian_f", sg.jacobian(f)),
        ("--jacobian --wrt x,y --mode reverse", "jacobian_f", sg.jacobian(f, (0, 1))),
        ("--hessian", "hessian_f", sg.hessian(f)),
        ("--hessian --get-all", "hessian_f", sg.hessian(f, (0, 1))),
        ("--backend numpy -q", "grad_f", sg.grad(f)),
    ],
)
def test_flags_mirror_the_functions(run, shell, flags, name, derived):
    run(f"%%grad {flags} {AT}\n{CELL}")
    same(shell.user_ns[name](X, Y), derived(X, Y))


def loss(x, y):
    return np.sum(np.sin(x) * y**2)


@pytest.mark.parametrize(
    ("flags", "name", "derived", "label"),
    [
        ("--order 2", "hessian_loss", sg.hessian(loss), "∂²f/∂x²"),
        ("--order 2 --mode forward --wrt y", "hessian_loss", sg.hessian(loss, 1), "∂²f/∂y²"),
        ("--order 2 --get-all", "hessian_loss", sg.hessian(loss, (0, 1)), "∂²f/∂x∂y"),
        ("--order 3 --name third", "third", sg.jacobian(sg.hessian(loss)), "∂³f/∂x³"),
    ],
)
def test_higher_orders_of_one_number_by_several_sum_nothing(run, shell, flags, name, derived, label):
    shown = run(f"%%grad {flags} {AT}\ndef loss(x, y):\n    return np.sum(np.sin(x) * y**2)\n")
    same(shell.user_ns[name](X, Y), derived(X, Y))
    assert label in "".join(o.data["text/plain"] for o in shown.outputs)


def test_sparse(run, shell):
    run(f"%%grad --jacobian --sparse {AT}\n{CELL}")
    made = shell.user_ns["jacobian_f"](X, Y)
    assert made.format == "csr"
    np.testing.assert_array_equal(made.toarray(), sg.jacobian(f)(X, Y))


@pytest.mark.parametrize("order", [2, 3])
def test_higher_orders_leave_aux_alone(run, shell, order):
    run(f"%%grad --order {order} --has-aux --at 'a=2, b=3'\ndef f(a, b):\n    return a**3 * b**3, a**5\n")
    derivative, _ = shell.user_ns["grad_f"](2.0, 3.0)
    assert derivative == {2: 324.0, 3: 162.0}[order]


def test_aux(run, shell):
    shown = run(f"%%grad --has-aux {AT}\ndef aux(x, y):\n    return np.sum(x * y), x + y\n")
    same(shell.user_ns["grad_aux"](X, Y), sg.grad(aux, has_aux=True)(X, Y))
    assert "(∂f/∂x: (2,), ((2,),))" in shown.outputs[1].data["text/plain"]
    assert "aux = x + y" in shown.outputs[0].data["text/plain"]
    assert "of the first output alone" in shown.outputs[1].data["text/plain"]


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("--weights z", lambda n: sg.grad(n, None, [n.z])),
        ("--weights all", lambda n: sg.grad(n, None, n.trainable_params())),
        ("--by-list", lambda n: sg.grad(n, None, n.trainable_params())),
        ("--by-list --get-all", lambda n: sg.GradOperation(get_all=True, get_by_list=True)(n, n.trainable_params())),
        ("--wrt x --weights b,z", lambda n: sg.grad(n, 0, [n.b, n.z])),
        ("--wrt x,z", lambda n: sg.grad(n, 0, [n.z])),
    ],
)
def test_parameters(run, shell, flags, expected):
    net = shell.user_ns["net"] = Net()
    run(f'%grad {flags} --name g net "[1, 2]"')
    same(shell.user_ns["g"](X), expected(net)(X))


def test_integers_that_index_are_served_by_a_form_without_entries(run, shell):
    shell.user_ns |= {"labels": np.array([0, 1, 1]), "W": np.ones((3, 2))}
    run("def pick(W, labels):\n    return np.sum(W[np.arange(3), labels] ** 2)")
    shown = run("%grad pick W labels")
    assert "text/latex" in shown.outputs[0].data
    np.testing.assert_array_equal(
        shell.user_ns["grad_pick"](np.ones((3, 2)), np.array([0, 1, 1])), [[2, 0], [0, 2], [0, 2]]
    )


def test_several_exports(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(f"%%grad --export python:a.py --export latex:a.tex {AT}\n{CELL}")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.py", "a.tex"]


def test_the_line_magic_takes_variables_and_literals(run, shell):
    shell.user_ns |= {"f": f, "a": X}
    shown = run('%grad --wrt y f a "[3.0, 4.0]"')
    assert "f(x: (2,), y: (2,)) → (2,)" in shown.outputs[1].data["text/plain"]
    same(shell.user_ns["grad_f"](X, Y), sg.grad(f, 1)(X, Y))


def test_the_line_magic_takes_functions_of_modules(run, shell):
    shown = run("%grad np.sin 1.0")
    assert "∂f/∂x = cos(x)" in shown.outputs[0].data["text/plain"]
    assert shell.user_ns["grad_sin"](0.0) == 1.0


def test_a_gradient_of_a_sum_of_gradients_is_called_so(run):
    shown = run("%%grad --order 2 --wrt x,y --at 'x=[1, 2], y=[2, 3]'\ndef f(x, y):\n    return x**2 * y**3\n")
    assert "∂Σ∇f/∂x = " in shown.outputs[0].data["text/plain"]
    assert r"\frac{\partial \Sigma\nabla f}{\partial y}" in shown.outputs[0].data["text/latex"]
    shown = run("%%grad --order 2 --at x=1\ndef f(x):\n    return x**3\n")
    assert "∂²f/∂x² = 6*x" in shown.outputs[0].data["text/plain"]


def test_whole_numbers_stay_whole_where_nothing_is_derived(run, shell):
    shell.user_ns["power"] = lambda x, n: x**n
    run("%grad power 3 2")
    assert shell.user_ns["grad_power"](3.0, 2) == 6.0


def test_export_shows_or_writes(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = run(f"%%grad --export python {AT}\n{CELL}")
    assert "def grad_f(x: np.ndarray, y: np.ndarray) -> np.ndarray:" in shown.outputs[-1].data["text/plain"]
    shown = run(f"%%grad --export latex:made.tex {AT}\n{CELL}")
    assert shown.outputs[-1].data["text/plain"] == "written to made.tex"
    assert (tmp_path / "made.tex").read_text().startswith("% the gradient of f")


def test_every_format_is_shown_or_wants_a_file(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flags = " ".join(f"--export {name}:{name}{made.suffix}" for name, made in FORMATS.items())
    run(f"%%grad {flags} {AT}\n{CELL}")
    assert {f"{name}{made.suffix}" for name, made in FORMATS.items()} <= {p.name for p in tmp_path.iterdir()}
    shown = run(f"%%grad --export c --export sympy {AT}\n{CELL}")
    assert "int grad_f(const double *x" in shown.outputs[-2].data["text/plain"]
    assert "cos(x1)" in shown.outputs[-1].data["text/plain"]


def test_steps_show_the_derivation(run, shell):
    shown = run(f"%%grad --steps {AT}\n{CELL}")
    markdown = next(o.data["text/markdown"] for o in shown.outputs if "text/markdown" in o.data)
    assert "The chain rule, from the output back" in markdown
    same(shell.user_ns["grad_f"](X, Y), sg.grad(f)(X, Y))


def test_check_tells_whether_the_function_keeps_the_contract(run):
    shown = run(f"%%grad --check {AT}\n{CELL}")
    assert shown.outputs[-1].data["text/plain"].startswith("f keeps the contract: 6 calls compared")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%grad", "name a function and its arguments"),
        ("%grad nothing 1.0", "'nothing' is no function of the notebook"),
        ("%grad f 1.0", "the function takes x, y; give a value or a variable for each"),
        ("%grad f 1.0 nope", "there is no variable 'nope' in the notebook"),
        ("%grad f 1.0 exec('x')", "is neither a literal nor a name"),
        ("%grad --export nope f 1.0 2.0", "format 'nope' is unknown; choose one of c, dot"),
        ("%grad --export onnx f 1.0 2.0", "onnx is no text to show; name a file for it"),
        ("%grad --order two f 1.0 2.0", "invalid int value"),
        ("%grad --export python: f 1.0 2.0", "--export python: names no file"),
        ("%grad --export python:/no/such/folder/f.py f 1.0 2.0", "the file cannot be written"),
        ("%grad --hessian --holomorphic f 1.0 2.0", "holomorphic is for gradients"),
        ("%grad --hessian --panel f 1.0 2.0", "the panel has the flags of gradients"),
    ],
)
def test_errors_of_the_line_magic_are_short(shell, line, message):
    shell.user_ns["f"] = lambda x, y: x * y
    with capture_output() as captured:
        result = shell.run_cell(line)
    assert result.error_in_exec is not None
    assert message in captured.stdout
    assert "Traceback" not in captured.stdout
    assert "grad_f" not in shell.user_ns


def test_complex_examples_and_the_complex_derivative(run, shell):
    shell.user_ns["z"] = 1 + 2j
    run("%%grad --holomorphic\ndef f(z):\n    return z**3\n")
    assert shell.user_ns["grad_f"](1 + 2j) == pytest.approx(3 * (1 + 2j) ** 2)
    run("%%grad --at 'z=[1+2j, 0.5j]'\ndef energy(z):\n    return np.sum(np.abs(z**2 - 1) ** 2)\n")
    z = np.array([1 + 2j, 0.5j])
    np.testing.assert_allclose(shell.user_ns["grad_energy"](z), 4 * (z**2 - 1) * np.conj(z))
