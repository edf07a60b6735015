"""Operations, backends, formats and flags that are registered from outside work end to end, in one call each."""

from __future__ import annotations

import json
import math
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import sympy
from IPython.core.completer import provisionalcompleter
from scipy import special
from symgrad_notebook.panel.export import ExportControls

import symgrad as sg
from symgrad import extend
from symgrad.command_line import main
from symgrad.errors import ArgumentError, ArgumentTypeError, BackendError, ShapeError, UnsupportedOperation
from symgrad.exporters import FORMATS
from symgrad.kernels.backend import BACKENDS
from symgrad.testing import Call, CheckFailed, check_backends, check_grads

X = np.array([0.5, 1.25, -2.0])
#: formats whose text is run elsewhere, or that hold the formulas
CODE = ["c", "fortran", "jax", "json", "julia", "numba", "numexpr", "onnx", "python", "torch"]
TEXTS = sorted(set(FORMATS) - {"onnx", "sympy"})


def _softsign():
    return extend.elementwise("softsign", lambda x: x / (1 + sympy.Abs(x)))


def _bump():
    """Of two arguments, with a value and derivatives of its own."""
    return extend.elementwise(
        "bump",
        lambda x, y: sympy.exp(-(x**2)) * y,
        value=lambda x, y: np.exp(-np.square(x)) * y,
        derivatives=[lambda x, y: -2 * x * np.exp(-np.square(x)) * y, lambda x, y: np.exp(-np.square(x)) + 0 * y],
    )


def _clipped():
    return extend.elementwise("clipped", lambda x: sympy.Piecewise((x**3, x < 1), (3 * x - 2, True)))


def _dawson():
    """Without a formula."""
    made = extend.elementwise("dawson", value=lambda x: special.dawsn(x), derivatives=[lambda x: 1 - 2 * x * made(x)])
    return made


def _upsampled():
    return extend.structural("upsampled", lambda s, i, j: (i // 2, j), lambda s: (2 * s[0], s[1]))


def _shifted():
    return extend.structural("shifted", lambda s, i: i - 1)


class TestElementwise:
    @pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3), (30_000,)])
    @pytest.mark.parametrize("make", [_softsign, _bump, _clipped])
    def test_value_modes_second_order_and_backends(self, make, shape, check_rule):
        operation = make()
        rng = np.random.default_rng(0)
        arity = 2 if make is _bump else 1
        args = [rng.uniform(0.2, 0.9, shape) for _ in range(arity)]
        check_rule(operation, args, order=2 if np.prod(shape) < 100 else 1)

    def test_it_broadcasts_strided_and_mixed_operands(self):
        bump = _bump()
        x, y = np.arange(12.0).reshape(3, 4)[:, ::2] / 10, np.float32([0.5, 1.5])
        for backend in BACKENDS:
            value, (by_x, by_y) = sg.value_and_grad(lambda x, y: np.sum(bump(x, y)), (0, 1), backend=backend)(x, y)
            np.testing.assert_allclose(value, np.sum(np.exp(-(x**2)) * y), rtol=1e-6)
            np.testing.assert_allclose(by_x, -2 * x * np.exp(-(x**2)) * y, rtol=1e-6)
            assert (by_x.dtype, by_y.dtype, by_y.shape) == (np.float64, np.float32, (2,))

    def test_the_jacobian_knows_its_zeros(self):
        softsign = _softsign()
        made = sg.jacobian(lambda x: softsign(x), sparse=True)
        assert made(X).nnz == 3
        np.testing.assert_allclose(made(X).toarray(), np.diag(1 / (1 + np.abs(X)) ** 2))

    def test_vmap_and_named_dims(self):
        softsign = _softsign()
        gradient = sg.grad(lambda x: np.sum(softsign(x) * x))
        np.testing.assert_allclose(sg.vmap(gradient)(np.stack([X, -X])), [gradient(X), gradient(-X)])
        named = sg.grad(sg.named(lambda x: np.sum(softsign(x) * x), x="n"))
        np.testing.assert_allclose(named(X), gradient(X))

    @pytest.mark.parametrize("format", TEXTS)
    def test_every_format_has_it(self, format):
        softsign = _softsign()
        text = str(sg.grad(lambda x: np.sum(softsign(x) * x)).export(format, X))
        text = text.replace('"sign", "softsign"', "")  # JSON says what the function was written with
        assert ("softsign" in text) == FORMATS[format].names_operations

    def test_what_is_exported_computes_it(self, tmp_path):
        bump, clipped = _bump(), _clipped()
        gradient = sg.grad(lambda x: np.sum(bump(x, x) + clipped(x)))
        made = tmp_path / "made.py"
        gradient.export("python", X, path=made)
        ran = subprocess.run([sys.executable, made], capture_output=True, text=True, check=True)
        assert "pass" in ran.stdout + ran.stderr
        gradient.export("json", X, path=tmp_path / "made.json")
        nodes = json.loads((tmp_path / "made.json").read_text())["nodes"]
        assert "exp" in json.dumps(nodes)
        assert "bump" not in json.dumps(nodes)
        np.testing.assert_allclose(sg.load(tmp_path / "made.json")(X), gradient(X), rtol=1e-12)

    @pytest.mark.needs("cc")
    def test_exported_c_computes_it(self, tmp_path):
        softsign = _softsign()

        def f(x):
            return np.sum(softsign(x) * x)

        sg.grad(f).export("c", X, path=tmp_path / "grad_f.c")
        build = re.search(r"build and check: (cc [^&]*)&&", (tmp_path / "grad_f.c").read_text())
        assert build
        subprocess.run(build[1].split(), cwd=tmp_path, check=True)
        assert "pass" in subprocess.run([tmp_path / "grad_f_check"], capture_output=True, text=True, check=True).stdout

    def test_its_formula_is_what_latex_shows(self):
        softsign = _softsign()
        assert r"\left|x\right|" in sg.symbolic(lambda x: softsign(x)).export("latex", X)
        assert "softsign(x)" in str(sg.trace(lambda x: softsign(x), X))

    @pytest.mark.parametrize("format", CODE)
    def test_without_a_formula_exports_refuse_it_by_its_name(self, format):
        dawson = _dawson()
        with pytest.raises(UnsupportedOperation, match="dawson"):
            sg.grad(lambda x: np.sum(dawson(x))).export(format, X)

    def test_without_a_formula_it_runs_on_every_backend(self, check_rule):
        check_rule(lambda x: _dawson()(x), [X], order=1)

    def test_a_wrong_derivative_is_found(self):
        wrong = extend.elementwise("wrong", lambda x: x**2, derivatives=[lambda x: 3 * x])
        with pytest.raises(CheckFailed):
            check_grads(lambda x: wrong(x), [X])

    def test_what_its_derivative_reads_is_watched(self):
        scale = [2.0]
        scaled = extend.elementwise("scaled", value=lambda x: scale[0] * x, derivatives=[lambda x: scale[0] + 0 * x])
        gradient = sg.grad(lambda x: scaled(x))
        assert gradient(1.0) == 2
        scale[0] = 3.0
        assert gradient(1.0) == 3

    def test_registering_again_replaces_it(self):
        def make(factor):
            return extend.elementwise("scaled", lambda x: factor * x)

        first, second = make(2), make(3)
        assert sg.grad(lambda x: first(x))(1.0) == 2
        assert sg.grad(lambda x: second(x))(1.0) == 3

    @pytest.mark.parametrize(
        ("wrong", "said"),
        [
            (lambda: extend.elementwise("sin", lambda x: x), "an operation sin of its own"),
            (lambda: extend.elementwise("a b", lambda x: x), "'a b' is no name"),
            (lambda: extend.elementwise("né", lambda x: x), "is no name"),
            (lambda: extend.elementwise("f"), "needs a formula, or a value and derivatives"),
            (lambda: extend.elementwise("f", value=np.cbrt), "needs a formula, or a value and derivatives"),
            (lambda: extend.elementwise("f", lambda a, b, c, d, e: a), "takes 5 arguments"),
            (lambda: extend.elementwise("f", lambda x: x, derivatives=[]), "takes 1 arguments; it has 0 derivatives"),
            (lambda: extend.elementwise("f", lambda x: x**2, np.sin), r"the value at \(-2.25\) is .*, and by the"),
            (lambda: extend.elementwise("f", lambda x: x, np.sum, derivatives=[None]), r"has shape \(\) for"),
        ],
    )
    def test_wrong_calls(self, wrong, said):
        with pytest.raises(ArgumentError, match=said):
            wrong()

    @pytest.mark.parametrize(
        "wrong",
        [
            lambda: extend.elementwise("f", "x**2"),
            lambda: extend.elementwise("f", lambda x: x, derivatives=[2.0]),
            lambda: extend.structural("f", 5),
            lambda: extend.backend("f", 3),
            lambda: extend.export_format("f", "text", suffix=".f", about=""),
        ],
    )
    def test_what_is_no_function_is_refused(self, wrong):
        with pytest.raises(ArgumentTypeError, match="a function is expected"):
            wrong()
        assert "f" not in (FORMATS.keys() | BACKENDS.keys())

    def test_a_formula_of_other_functions(self):
        with pytest.raises(ArgumentError, match="f: the formula computes with sympy's functions"):
            extend.elementwise("f", lambda x: math.sin(x))

    def test_a_formula_that_is_not_read(self):
        with pytest.raises(UnsupportedOperation, match="hankel1"):
            extend.elementwise("f", lambda x: sympy.hankel1(0, x))

    def test_a_wrong_number_of_arguments_names_the_line(self):
        bump = _bump()
        with pytest.raises(ArgumentTypeError, match=r"bump takes 2 arguments; it got 1.*\n.*test_extension_points"):
            sg.grad(lambda x: bump(x))(1.0)


class TestStructural:
    @pytest.mark.parametrize("shape", [(0, 2), (1, 1), (3, 2), (300, 100)])
    def test_value_modes_second_order_and_backends(self, shape, check_rule):
        upsampled = _upsampled()
        x = np.random.default_rng(0).uniform(size=shape)
        np.testing.assert_array_equal(upsampled(x), np.repeat(x, 2, axis=0))
        check_rule(upsampled, [x], order=2 if x.size < 100 else 1)

    @pytest.mark.parametrize("shape", [(0,), (1,), (4,), (30_000,)])
    def test_what_comes_from_outside_is_zero(self, shape, check_rule):
        shifted = _shifted()
        x = np.random.default_rng(0).uniform(size=shape)
        np.testing.assert_array_equal(shifted(x), np.concatenate([[0.0], x])[: x.size])
        check_rule(shifted, [x], order=2 if x.size < 100 else 1)

    def test_the_jacobian_is_the_map(self):
        shifted = _shifted()
        made = sg.jacobian(lambda x: shifted(np.sin(x)), sparse=True)
        assert made(X).nnz == 2
        np.testing.assert_allclose(made(X).toarray(), np.diag(np.cos(X[:-1]), -1))
        hessian = sg.hessian(lambda x: np.sum(shifted(x) ** 2 * x), sparse=True)
        assert hessian(X).nnz == 6

    @pytest.mark.parametrize("format", sorted(FORMATS))
    def test_every_format_has_it(self, format):
        shifted = _shifted()
        assert sg.grad(lambda x: np.sum(shifted(x) ** 2 * x)).export(format, X)

    def test_what_is_exported_computes_it(self, tmp_path):
        shifted = _shifted()
        gradient = sg.grad(lambda x: np.sum(shifted(x) ** 2 * x))
        gradient.export("json", X, path=tmp_path / "made.json")
        np.testing.assert_allclose(sg.load(tmp_path / "made.json")(X), gradient(X), rtol=1e-12)

    def test_vmap(self):
        shifted = _shifted()
        np.testing.assert_array_equal(sg.vmap(shifted)(np.stack([X, 2 * X])), [shifted(X), shifted(2 * X)])

    def test_what_its_map_reads_is_watched(self):
        by = [1]
        moved = extend.structural("moved", lambda s, i: i - by[0])
        traced = sg.symbolic(lambda x: moved(x))
        np.testing.assert_array_equal(traced(X), [0, *X[:-1]])
        by[0] = 2
        np.testing.assert_array_equal(moved(X), [0, 0, X[0]])
        np.testing.assert_array_equal(traced(X), [0, 0, X[0]])

    def test_wrong_maps(self):
        with pytest.raises(ShapeError, match=r"few: .* has 2 axes; the source 1 indices"):
            extend.structural("few", lambda s, i, j: i)(np.ones((2, 2)))
        with pytest.raises(ArgumentTypeError, match="halves: the source gives indices"):
            extend.structural("halves", lambda s, i: i / 2)(X)
        with pytest.raises(ShapeError, match="arrays whose sizes are numbers"):
            sg.grad(sg.named(lambda x: np.sum(_shifted()(x)), x="n"))(X)
        with pytest.raises(ShapeError, match=r"named: .* is no shape"):
            extend.structural("named", lambda s, i: i, lambda s: "ab")(X)
        with pytest.raises(ArgumentError, match="'1' is no name"):
            extend.structural("1", lambda s, i: i)


def _interpreted(program):
    def run(*arrays):
        known = dict(zip(program.inputs, arrays, strict=True))
        for node in program.nodes:
            if node not in known:
                known[node] = node.primitive.evaluate(node.params, *[known[o] for o in node.operands])
        ran.append(program)
        return [known[node] for node in program.outputs]

    ran.append(None)
    return run


ran: list = []


class TestBackend:
    @pytest.fixture(autouse=True)
    def _registered(self):
        ran.clear()
        extend.backend("interpreted", _interpreted, about="one node after the other")

    def test_every_place_that_names_a_backend_knows_it(self):
        def f(x, w):
            return np.sum(np.tanh(x @ w) ** 2)

        args = [np.random.default_rng(k).normal(size=s) for k, s in enumerate([(4, 3), (3, 2)])]
        gradient = sg.grad(f, (0, 1), backend="interpreted")
        for got, wanted in zip(gradient(*args), sg.grad(f, (0, 1), backend="numpy")(*args), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-12)
        assert len(ran) == 2
        kernel = gradient.kernel(*args)
        assert kernel.backend == "interpreted"
        assert "one node after the other" in str(kernel.explain())
        check_backends(Call(f, args), backends=["interpreted"])

    def test_named_dims_give_it_programs_of_numbers(self):
        gradient = sg.grad(sg.named(lambda x: np.sum(x**3), x="n"), backend="interpreted")
        for n in (2, 5):
            np.testing.assert_array_equal(gradient(np.arange(float(n))), 3 * np.arange(float(n)) ** 2)
        assert [p.inputs[0].shape for p in ran if p] == [(2,), (5,)]

    def test_sparse_jacobians_and_vmap(self):
        made = sg.jacobian(lambda x: np.sin(x), sparse=True, backend="interpreted")(X)
        np.testing.assert_allclose(made.toarray(), np.diag(np.cos(X)))
        np.testing.assert_allclose(sg.vmap(sg.grad(np.sin, backend="interpreted"))(X), np.cos(X))

    def test_names(self):
        with pytest.raises(ArgumentError, match="a backend numpy of its own"):
            extend.backend("numpy", _interpreted)
        with pytest.raises(BackendError, match="'native', 'interpreted'"):
            sg.grad(np.sin, backend="gpu")


def _operations(subject):
    return "\n".join([subject.title, *(n.primitive.name for n in subject.program.bindings)]) + "\n"


class TestFormat:
    @pytest.fixture(autouse=True)
    def _registered(self):
        extend.export_format("operations", _operations, suffix=".ops", about="the names of its operations")

    def test_a_derivative_exports_it(self, tmp_path):
        made = sg.grad(lambda x: np.sum(np.sin(x) ** 2)).export("operations", X, path=tmp_path / "made.ops")
        assert made.splitlines()[1:3] == ["sin", "cos"]
        assert (tmp_path / "made.ops").read_text() == made

    def test_what_is_loaded_exports_it(self, tmp_path):
        sg.grad(np.sin).export("json", 1.0, path=tmp_path / "made.json")
        assert "cos" in sg.load(tmp_path / "made.json").export("operations")

    def test_the_command_line_knows_it(self, tmp_path, capsys):
        pathlib.Path(tmp_path / "functions.py").write_text("import numpy as np\ndef f(x):\n    return np.sin(x)\n")
        with pytest.raises(SystemExit):
            main(["export", "--help"])
        assert "operations" in capsys.readouterr().out

    def test_the_magic_its_completion_and_the_panel_know_it(self, shell, tmp_path):
        path = tmp_path / "made.ops"
        shell.run_cell_magic("grad", f"--quiet --at x=1 --export operations:{path}", "np.sin(x)")
        assert "cos" in path.read_text()
        line = "%%grad --export op"
        with provisionalcompleter():
            assert "operations" in [c.text for c in shell.Completer.completions(line, len(line))]
        assert "operations" in ExportControls(lambda: (sg.grad(np.sin), (1.0,), {})).format.options

    def test_names(self):
        with pytest.raises(ArgumentError, match="a format json of its own"):
            extend.export_format("json", _operations, suffix=".json", about="")


class TestFlag:
    """Of twice the function; ``tests/extension/test_registered_flags.py`` has flags of every kind."""

    @pytest.fixture(autouse=True)
    def _registered(self):
        extend.flag(
            "doubled",
            "of twice the function",
            derive=lambda derived, _: sg.grad(lambda *args: 2.0 * derived.fn(*args)),
            gloss="of twice the function",
        )

    def test_the_magic_and_its_completion_know_it(self, shell):
        shell.user_ns["np"] = np
        shell.run_cell_magic("grad", "--quiet --doubled --at x=1", "def f(x):\n    return x**3")
        assert shell.user_ns["grad_f"](2.0) == 24.0
        line = "%%grad --dou"
        with provisionalcompleter():
            assert [c.text for c in shell.Completer.completions(line, len(line))] == ["--doubled"]

    def test_the_command_line_knows_it(self, tmp_path, capsys):
        path = tmp_path / "cubed_model.py"
        path.write_text("def f(x):\n    return x**3\n")
        assert main(["derive", f"{path}:f", "--doubled", "--at", "x=3"]) == 0
        assert "= 6*x0" in capsys.readouterr().out.replace("**2", "")

    def test_the_panel_has_a_box_for_it(self):
        def f(x):
            return x**3

        shown = sg.grad(f).panel(2.0)
        shown.controls.others["doubled"].value = True
        assert shown.outcome.result == 24.0

    def test_names(self):
        with pytest.raises(ArgumentError, match="hessian"):
            extend.flag("hessian", "another one", show=lambda *_: None)
