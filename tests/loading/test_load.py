"""symgrad.load: what was loaded runs, refuses what it is not for, shows itself and is differentiated."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys

import numpy as np
import pytest
from looping import CASES as LOOPS
from looping import LOOPING

import symgrad as sg
from symgrad import nn
from symgrad.codec import operations
from symgrad.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    LoadError,
    MissingPart,
    ShapeError,
    TracingError,
    UnsupportedOperation,
)
from symgrad.loading.document import read_document
from symgrad.loading.function import LoadedFunction
from symgrad.tracing.tree import flatten
from symgrad.transforms.loops import scan

X, W = np.arange(6.0).reshape(3, 2) / 5, np.array([0.3, -0.7])


def loss(w, X):
    return np.sum(np.tanh(X @ w) ** 2)


def named(w: sg.Array[d], X: sg.Array["n d"]):  # noqa: F722, F821
    return np.sum(np.tanh(X[1:] @ w) ** 2)


def branching(x):
    return x**2 if x > 0 else -3 * x


def loaded(derived, *args, **kwargs):
    """What a derivative is after it was exported and loaded."""
    return LoadedFunction(read_document(derived.export("json", *args, **kwargs).encode()))


def test_a_file_is_loaded(tmp_path):
    gradient = sg.value_and_grad(loss)
    gradient.export("json", W, X, path=tmp_path / "g.json")
    g = sg.load(tmp_path / "g.json")
    assert repr(g) == "<grad_loss(w: float64[2], X: float64[3, 2]), loaded>"
    value, by_w = g(W, X)
    assert (value, by_w.tobytes()) == (gradient(W, X)[0], gradient(W, X)[1].tobytes())
    assert g(X=X, w=W)[0] == g(W, X=X)[0] == value
    assert str(g.program()) == str(gradient.program(W, X))
    assert g.latex() == gradient.latex(W, X)
    assert str(inspect.signature(g)) == "(w, X)"
    assert "gradient of loss" in g.__doc__
    assert "def kernel" in g.kernel().source
    assert repr(g.closed_form(form="matrix")) == repr(gradient.closed_form(W, X, form="matrix"))
    assert repr(g.entry((0,), output=1)) == repr(gradient.entry((0,), W, X, output=1))


def test_what_is_not_there_and_what_is_no_document(tmp_path):
    with pytest.raises(FileNotFoundError) as missing:
        sg.load(tmp_path / "no.json")
    assert isinstance(missing.value, LoadError)
    assert "no.json" in str(missing.value)
    for unreadable in (tmp_path, "no\0name", "n" * 100_000):
        with pytest.raises(OSError, match="cannot be read") as refused:
            sg.load(unreadable)
        assert isinstance(refused.value, LoadError)
    (tmp_path / "it.json").write_bytes(b"\x89PNG")
    with pytest.raises(LoadError, match="not UTF-8"):
        sg.load(tmp_path / "it.json")
    with pytest.raises(ValueError, match="not UTF-8"):
        sg.load(str(tmp_path / "it.json"))


@pytest.mark.parametrize("backend", ["numpy", "numexpr", "native", "auto"])
def test_backends(backend, tmp_path):
    sg.grad(loss).export("json", W, X, path=tmp_path / "g.json")
    assert np.allclose(sg.load(tmp_path / "g.json", backend=backend)(W, X), sg.grad(loss)(W, X), rtol=1e-12)


def test_the_check_is_run_and_can_fail():
    text = sg.grad(loss).export("json", W, X)
    result = LoadedFunction(read_document(text.encode())).check()
    assert result
    assert repr(result) == "grad_loss: pass (largest difference 0.0e+00, allowed 1e-09)"
    document = json.loads(text)
    document["check"]["wanted"][0]["values"][0] += 1e-6
    result = LoadedFunction(read_document(json.dumps(document).encode())).check()
    assert not result
    assert repr(result) == "grad_loss: FAIL (largest difference 9.3e-07, allowed 1e-09)"
    document["check"] = {"none": "for once"}
    with pytest.raises(ArgumentError, match="grad_loss carries no check: for once"):
        LoadedFunction(read_document(json.dumps(document).encode())).check()


def test_drawn_inputs_and_steps_of_large_results():
    g = loaded(sg.grad(lambda x: np.sum(np.sin(x) * x)), np.linspace(0, 1, 5000))
    assert g.check()
    assert '"low"' in g.export("json")


# the door


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "message"),
    [
        ((), {}, ArgumentTypeError, "takes 2 arguments, (w: float64[2], X: float64[3, 2]); 0 arguments are given"),
        ((W,), {}, ArgumentTypeError, "1 arguments are given"),
        ((W, X, X), {}, ArgumentTypeError, "3 arguments are given"),
        ((W,), {"w": W}, ArgumentTypeError, "'w' is given twice"),
        ((W,), {"y": W}, ArgumentTypeError, "'y' is no argument"),
        ((W, X[:2]), {}, ShapeError, "X has the shape [2,2] and should have [3,2]"),
        ((W[:, None], X), {}, ShapeError, "w has the shape [2,1] and should have [2]"),
        ((W.astype(np.float32), X), {}, DtypeError, "w is of float32 and was exported for float64"),
        ((np.array([1, 2]), X), {}, DtypeError, "w is of int64 and was exported for float64"),
        (("d", "n d"), {}, ArgumentTypeError, "w is a str; pass an array of float64"),
        ((object(), X), {}, ArgumentTypeError, "w is a object"),
        (([[1, 2], [3]], X), {}, ValueError, ""),
    ],
)
def test_arguments_that_it_is_not_for(args, kwargs, error, message):
    g = loaded(sg.grad(loss), W, X)
    with pytest.raises(error) as found:
        g(*args, **kwargs)
    assert message in str(found.value)


def test_lists_and_numbers_are_taken_for_arrays():
    g = loaded(sg.grad(loss), W, X)
    assert np.array_equal(g(W.tolist(), X.tolist()), g(W, X))
    assert loaded(sg.grad(branching), 2.0)(3) == 6.0
    assert isinstance(loaded(sg.grad(loss), sg.Tensor(W), X)(sg.Tensor(W), X), sg.Tensor)


def test_a_python_float_stays_weak():
    def scaled(a, x):
        return np.sum(a * x)

    x = np.ones(3, np.float32)
    g = loaded(sg.grad(scaled, 1), 2.0, x)
    for a in (2.0, 2, np.float64(2), np.array(2.0)):
        assert g(a, x).dtype == np.float32
    strong = loaded(sg.grad(scaled, 1), np.float64(2.0), x)
    assert strong(2.0, x).tobytes() == sg.grad(scaled, 1)(np.float64(2.0), x).tobytes()
    assert sg.grad(strong, 1)(2.0, x).dtype == sg.grad(sg.grad(scaled, 1), 1)(np.float64(2.0), x).dtype


def test_results_keep_their_nesting():
    def nested(x):
        return {"a": np.sin(x), 2: [x * 2, None]}, "text", 1.5, (np.sum(x),)

    f = loaded(sg.symbolic(nested), W)
    got, want = f(W), nested(W)
    assert str(got) == str(sg.symbolic(nested)(W))
    assert list(got[0]) == list(want[0])
    assert got[1:3] == ("text", 1.5)
    assert loaded(f).export("json") == f.export("json")


def test_named_tuples_come_back_as_such():
    named = np.linalg.eigh(np.eye(2)).__class__

    f = loaded(sg.symbolic(lambda x: named(x * 2, x + 1)), 1.5)
    got = f(1.5)
    assert type(got).__name__ == named.__name__
    assert (got.eigenvalues, got[1]) == (3.0, 2.5)
    assert repr(got) == f"{named.__name__}(eigenvalues=np.float64(3.0), eigenvectors=np.float64(2.5))"
    assert isinstance(got, tuple)


def test_nested_arguments_are_taken_apart():
    def f(p, x):
        return np.sum(p["W"] @ x + p["b"][0])

    g = loaded(sg.grad(f), {"W": np.ones((2, 3)), "b": (np.ones(2),)}, np.ones(3))
    assert repr(g) == "<grad_f(p_W: float64[2, 3], p_b_0: float64[2], x: float64[3]), loaded>"
    assert set(g(np.ones((2, 3)), p_b_0=np.ones(2), x=np.ones(3))) == {"W", "b"}


def test_labels_that_are_no_identifiers():
    net = nn.Dense(2, 1)
    g = loaded(sg.value_and_grad(net, None, net.trainable_params()), np.ones((1, 2), np.float32))
    weights = [np.asarray(p) for p in net.trainable_params()]
    by_place = g(np.ones((1, 2), np.float32), *weights)
    labels = g._document.read.program.names
    by_name = g(np.ones((1, 2), np.float32), **dict(zip(labels[1:], weights)))
    assert np.array_equal(by_place[0], by_name[0])
    assert g.check()


# named sizes


def test_named_sizes_serve_every_size():
    gradient = sg.grad(named)
    g = loaded(gradient)
    assert repr(g) == "<grad_named(w: float64[d], X: float64[n, d]), loaded>"
    assert g.check()
    rng = np.random.default_rng(0)
    for n, d in ((1, 1), (2, 3), (40, 2)):
        w, X = rng.normal(size=d), rng.normal(size=(n, d))
        assert g(w, X).tobytes() == gradient(w, X).tobytes()
        assert np.allclose(sg.jacobian(g)(w, X), sg.jacobian(gradient)(w, X), rtol=0, atol=0)
    with pytest.raises(ShapeError, match=r"X has the shape \[3,2\] and should have \[n,d\], where d = 4, n = 3"):
        g(np.ones(4), np.ones((3, 2)))
    with pytest.raises(ShapeError, match="holds for sizes with n ≥ 1"):
        g(np.ones(4), np.ones((0, 4)))
    assert len(g._compiled._entries) == 1


def test_facts_on_sizes_are_asked_of_every_call():
    def windows(x: sg.Array[n]):  # noqa: F821
        return np.sum(x[:5] * x[2:7])

    g = loaded(sg.grad(windows))
    assert str(g.program()).endswith("where n ≥ 5 and n ≥ 7")
    assert g(np.ones(8)).shape == (8,)
    with pytest.raises(ShapeError, match="grad_windows holds for sizes with n ≥ 7, and n = 6"):
        g(np.ones(6))
    with pytest.raises(ShapeError, match="n ≥ 7"):
        sg.grad(lambda x: np.sum(g(x[2:])))(np.ones(8))
    inside = sg.grad(lambda x: np.sum(g(x[2:]))).program("m")
    assert "m ≥ 9" in str(inside)


def test_sizes_that_only_a_call_can_tell_are_asked_of_every_call():
    document = json.loads(sg.symbolic(lambda x: x[:2]).export("json", "n"))
    assert document["sizes"]
    document["sizes"] = []
    f = LoadedFunction(read_document(json.dumps(document).encode()))
    assert f(np.ones(3)).shape == (2,)
    with pytest.raises(ShapeError, match="holds for sizes with n ≥ 2"):
        f(np.ones(1))
    with pytest.raises(ShapeError, match="n ≥ 2"):
        sg.grad(lambda x: np.sum(f(x)))(np.ones(1))


def test_inside_another_function_sizes_are_those_of_the_call():
    g = loaded(sg.grad(named))
    outer = sg.grad(lambda w, X: np.sum(g(w[1:], X[:, 1:])))
    w, X = np.linspace(-1, 1, 4), np.arange(12.0).reshape(3, 4) / 9
    want = sg.grad(lambda w, X: np.sum(sg.grad(named)(w[1:], X[:, 1:])))
    assert np.array_equal(outer(w, X), want(w, X))
    mine, theirs = outer.program("k", "m k"), want.program("k", "m k")
    assert mine.operation_counts() == theirs.operation_counts()


# branches


def test_a_branch_that_was_not_exported_is_refused():
    g = loaded(sg.grad(branching), 2.0)
    assert g(3.0) == 6.0
    assert g.check()
    with pytest.raises(ArgumentError, match="take another branch of branching than those"):
        g(-3.0)
    assert g(4.0) == 8.0
    assert sg.grad(g)(4.0) == 2.0
    with pytest.raises(ArgumentError, match="another branch"):
        sg.grad(g)(-4.0)
    with pytest.raises(ArgumentError, match="another branch"):
        sg.grad(lambda x: g(x) * g(-x))(1.0)
    assert "multiply" in str(g.program())
    assert "def" in g.export("python")
    with pytest.raises(TracingError, match="needed here"):
        sg.vmap(g)(np.array([1.0, 2.0]))


# differentiated further


@pytest.mark.parametrize("derive", [sg.grad, sg.jacobian, sg.hessian, sg.jacfwd, sg.jacrev])
def test_a_loaded_function_is_differentiated_as_it_was(derive):
    f = loaded(sg.symbolic(loss), W, X)
    mine, theirs = derive(f, (0, 1))(W, X), derive(loss, (0, 1))(W, X)
    assert str(mine) == str(theirs)


def test_a_loaded_gradient_is_differentiated():
    g = loaded(sg.grad(loss), W, X)
    assert np.array_equal(sg.jacobian(g)(W, X), sg.jacobian(sg.grad(loss))(W, X))
    assert np.allclose(sg.jacobian(g)(W, X), sg.hessian(loss)(W, X))
    out, pushed = sg.jvp(g, (W, X), (W, 0 * X))
    assert np.array_equal(pushed, sg.jvp(sg.grad(loss), (W, X), (W, 0 * X))[1])
    assert np.array_equal(out, g(W, X))
    twice = loaded(sg.jacobian(g), W, X)
    assert np.array_equal(twice(W, X), sg.jacobian(g)(W, X))
    assert twice.check()
    many = sg.vmap(g, in_axes=(0, None))(np.stack([W, 2 * W]), X)
    assert np.allclose(many[1], g(2 * W, X), rtol=1e-14)


def test_stop_gradient_stays():
    f = loaded(sg.symbolic(lambda x: np.sum(x * sg.stop_gradient(x))), W)
    assert np.array_equal(sg.grad(f)(W), W)


class Ruled(nn.Cell):
    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        return (3.0 * x * dout,)


@pytest.mark.parametrize(
    "derive",
    [
        lambda f: sg.grad(f)(W),
        lambda f: sg.jacobian(f)(W),
        lambda f: sg.jacfwd(f)(W),
        lambda f: sg.hessian(f)(W),
        lambda f: sg.jvp(f, (W,), (W,)),
        lambda f: sg.vjp(f, W)[1](W),
        lambda f: sg.grad(lambda x: np.sum(sg.vmap(f)(x)))(X),
    ],
)
def test_a_rule_of_the_users_is_not_guessed(derive):
    f = loaded(sg.symbolic(Ruled()), W)
    assert np.array_equal(f(W), W * W)
    assert np.array_equal(sg.vmap(f)(X), X * X)
    assert f.export("json") == loaded(f).export("json")
    with pytest.raises(
        UnsupportedOperation, match=r"the derivative of Ruled.bprop is a rule that its function declared"
    ):
        derive(f)


def test_a_gradient_by_a_rule_is_exported_with_it():
    g = loaded(sg.grad(Ruled()), W)
    assert np.array_equal(g(W), 3 * W)
    assert np.array_equal(sg.grad(g)(W), sg.grad(sg.grad(Ruled()))(W))


# exported further


@pytest.mark.parametrize("format", ["python", "text", "latex", "markdown", "dot"])
def test_other_formats(format):
    gradient = sg.grad(loss)
    g = loaded(gradient, W, X)
    assert g.export(format).splitlines()[1:4] == gradient.export(format, W, X).splitlines()[1:4]


def test_an_export_with_arguments_carries_a_check_of_them(tmp_path):
    g = loaded(sg.grad(loss), W, X)
    text = g.export("json", 2 * W, X=X, path=tmp_path / "again.json")
    assert json.loads(text)["check"]["given"][0]["values"] == (2 * W).tolist()
    again = sg.load(tmp_path / "again.json")
    assert again.check()
    assert again.export("json") == text
    with pytest.raises(ArgumentError, match="format 'bat' is unknown"):
        g.export("bat")
    with pytest.raises(ArgumentError, match="has the shapes that it was exported with"):
        g.program("d", "n d")


# scipy


def test_functions_of_scipy_are_loaded_in_a_fresh_process(tmp_path):
    special = pytest.importorskip("scipy.special")
    sg.grad(lambda x: np.sum(special.erf(x) * special.gammaln(x))).export("json", W + 2, path=tmp_path / "g.json")
    code = (
        "import sys, symgrad, numpy as np\n"
        "assert 'scipy' not in sys.modules\n"
        f"g = symgrad.load({str(tmp_path / 'g.json')!r})\n"
        "assert g.check(), g.check()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_scipy_the_part_is_named(tmp_path, monkeypatch):
    text = sg.grad(lambda x: np.sum(np.sin(x))).export("json", W).replace('"op": "cos"', '"op": "erf"')
    monkeypatch.setitem(sys.modules, "symgrad.primitives.special", None)
    monkeypatch.delattr("symgrad.primitives.special", raising=False)
    with pytest.raises(MissingPart, match=r"nodes\[0\].op: erf needs scipy: pip install 'symgrad\[sparse\]'"):
        read_document(text.encode())
    assert "erf" in operations.SPECIAL


@pytest.mark.parametrize(("name", "which"), LOOPS)
def test_loops_are_loaded_as_loops(name, which):
    case = LOOPING[name]
    derived = case.derivatives()[which]
    again = loaded(derived, *case.arguments)
    arrays = derived._served(case.arguments, {})[1]
    got, wanted = again(*arrays), derived(*case.arguments)
    for mine, theirs in zip(flatten(got)[0], flatten(wanted)[0], strict=True):
        np.testing.assert_array_equal(mine, theirs, strict=True)
    assert again.program().operation_counts() == derived.program().operation_counts()
    assert again.check()


def test_a_loaded_loop_is_differentiated():
    case = LOOPING["recurrent"]
    again = loaded(sg.symbolic(case.function), *case.arguments)
    for verb in (sg.grad, sg.hessian):
        got, wanted = verb(again)(*case.arguments), verb(case.function)(*case.arguments)
        np.testing.assert_array_equal(got, wanted)
    assert str(sg.grad(again).program(*case.arguments)).count("= scan") == 2


def test_a_lost_rule_in_a_step_is_lost_where_it_is_differentiated():
    class Tripled(nn.Cell):
        def construct(self, x):
            return x * x

        def bprop(self, x, out, dout):
            return (3 * dout,)

    cell = Tripled()
    again = loaded(sg.symbolic(lambda x: cell(x) + 1), np.ones(2))

    def steps(x):
        return scan(lambda c, _: (again(c) * 0.5, None), x, None, 3)[0]

    np.testing.assert_array_equal(sg.symbolic(steps)(np.ones(2)), steps(np.ones(2)))
    with pytest.raises(UnsupportedOperation, match="is a rule that its function declared"):
        sg.grad(lambda x: np.sum(steps(x)))(np.ones(2))


def test_a_loop_with_named_sizes_is_loaded_for_all_of_them():
    def powers(x):
        return scan(lambda c, _: (c * x, np.sum(c)), 0 * x + 1, None, 3)[1]

    again = LoadedFunction(read_document(sg.jacobian(powers).export("json", "n").encode()))
    for n in (1, 4):
        x = np.linspace(0.5, 1.5, n)
        np.testing.assert_allclose(again(x), sg.jacobian(powers)(x), rtol=1e-13)
    shorter = sg.grad(lambda y: np.sum(again(y[1:])))
    y = np.linspace(0.5, 1.5, 4)
    np.testing.assert_allclose(shorter(y), sg.grad(lambda y: np.sum(sg.jacobian(powers)(y[1:])))(y), rtol=1e-13)
    assert "float64[m - 1]" in str(sg.grad(lambda y: np.sum(again(y[1:]))).program("m"))
