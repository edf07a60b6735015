"""ONNX models pass the official checker, infer the shapes they declare, and give what the kernel gives."""

from __future__ import annotations

import json
import sys

import golden
import numpy as np
import onnx
import pytest
import scipy.special
import structure
import workloads
from cases import CASES, GOLDEN
from looping import CASES as LOOPS
from looping import LOOPING
from onnx_models import Exported, exported, infers_what_it_declares, run, same

import symgrad as sg
from symgrad.errors import ArgumentError, MissingPart, UnsupportedOperation
from symgrad.exporters import onnx_model
from symgrad.tracing.tree import flatten
from symgrad.transforms.loops import fori_loop
from symgrad.transforms.subjects import subject_of

rng = np.random.default_rng(3)


@pytest.mark.parametrize("name", CASES)
def test_every_case_is_a_model_that_agrees_with_the_kernel(name):
    case = CASES[name]
    model = case.export("onnx")
    infers_what_it_declares(model)
    for args in (case.args, *case.others):
        for got, want in zip(run(model, case.inputs(args)), case.expected(args), strict=True):
            same(got, want, 1e-9, 1e-4)


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_models(name):
    made = onnx.load_from_string(CASES[name].export("onnx"))
    assert {entry.key for entry in made.metadata_props} == {"symgrad_header", "symgrad_check"}
    golden.check("onnx", name, summary(made))


def summary(made):
    """A model as text that no version of onnx changes."""
    rows = [*made.doc_string.splitlines(), ""]
    for kind, values in (("input", made.graph.input), ("output", made.graph.output)):
        for v in values:
            dims = ", ".join(d.dim_param or str(d.dim_value) for d in v.type.tensor_type.shape.dim)
            rows.append(
                f"{kind} {v.name}: {onnx.helper.tensor_dtype_to_np_dtype(v.type.tensor_type.elem_type)}[{dims}]"
            )
    for c in made.graph.initializer:
        rows.append(f"{c.name} = {onnx.numpy_helper.to_array(c).tolist()}")
    for n in made.graph.node:
        words = [f"{a.name}={onnx.helper.get_attribute_value(a)}" for a in sorted(n.attribute, key=lambda a: a.name)]
        rows.append(f"{', '.join(n.output)} = {n.op_type}({', '.join([*n.input, *words])})")
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("name", [*workloads.WORKLOADS, *structure.WORKLOADS])
def test_bench_workloads(name):
    work = (workloads.WORKLOADS | structure.WORKLOADS)[name]
    args = work.args(**work.small)
    verb = getattr(sg, work.verb)

    def function(*given):
        return work.fn(np, *given)

    derived = verb(function, work.wrt)
    Exported(derived, args).compare(*flatten(args)[0], bound=1e-9)


# what a model says of itself


def snippet():
    """The code of the module's documentation, as a reader would copy it."""
    text = onnx_model.__doc__
    code = text[text.index("    import json") :]
    scope: dict = {}
    exec("\n".join(line[4:] for line in code.splitlines()), scope)
    return scope["check"]


def test_the_documented_check_reads_what_the_model_carries(tmp_path, capsys):
    for name, case in CASES.items():
        path = tmp_path / f"{name}.onnx"
        assert case.derived.export("onnx", *case.args, path=path) == path.read_bytes()
        assert snippet()(str(path))
    said = capsys.readouterr().out.splitlines()
    assert len(said) == len(CASES)
    assert all(": pass (largest difference" in line for line in said)
    made = onnx.load(tmp_path / "logistic.onnx")
    (entry,) = [e for e in made.metadata_props if e.key == "symgrad_check"]
    block = json.loads(entry.value)
    block["outputs"]["f"]["values"] = ["1.25"]
    entry.value = json.dumps(block)
    onnx.save(made, tmp_path / "other.onnx")
    assert not snippet()(str(tmp_path / "other.onnx"))
    assert "FAIL" in capsys.readouterr().out


def test_large_inputs_are_drawn_by_the_documented_check(tmp_path, capsys):
    x, k = rng.normal(size=2000), np.arange(1500) % 7
    path = tmp_path / "large.onnx"
    sg.grad(lambda x, k, b: np.sum(np.where(b, x, x**2) * 2) + np.sum(x[k])).export("onnx", x, k, x > 0, path=path)
    assert snippet()(str(path)), capsys.readouterr().out


def test_numbers_in_the_check_block_read_back_as_they_are():
    values = np.array([np.nan, np.inf, -np.inf, 0.1, 1e-300])
    derived = sg.symbolic(lambda x, n, b: (x * 2, n, b))
    made = subject_of(derived, (values, np.array(2**62 + 1), np.array(True)), {}, None, "auto", True)
    facts = {e.key: e.value for e in onnx.load_from_string(onnx_model.model(made)).metadata_props}
    block = json.loads(facts["symgrad_check"])
    np.testing.assert_array_equal([float(v) for v in block["inputs"]["x"]["values"]], values)
    assert block["inputs"]["n"]["values"] == [str(2**62 + 1)]
    assert block["inputs"]["b"]["values"] == ["1"]


def test_the_header_stands_in_the_model():
    made = onnx.load_from_string(CASES["logistic"].export("onnx"))
    assert "derived by symgrad" in made.doc_string
    assert "the gradient of logistic" in made.doc_string
    assert [(o.domain, o.version) for o in made.opset_import] == [("", 18)]
    assert {n.domain for n in made.graph.node} == {""}
    unchecked = onnx.load_from_string(exported(np.sin, 1.0).model)
    assert [e.key for e in unchecked.metadata_props] == ["symgrad_header"]


# what is refused, and names


def test_other_branches_are_no_numbers():
    case = CASES["branches"]
    results = run(case.export("onnx"), [-case.args[0]])
    assert all(np.isnan(r).all() for r in results)


def test_other_branches_of_whole_numbers_and_truth_values():
    def counted(x):
        return (np.argmax(x), x) if np.sum(x) > 0 else (np.argmin(x), x)

    made = exported(counted, np.array([1.0, 2.0]))
    place, floats = run(made.model, [np.array([-1.0, -2.0])])
    assert place == np.iinfo(np.int64).min
    assert np.isnan(floats).all()
    with pytest.raises(UnsupportedOperation, match="onnx: the function branches on values"):
        exported(lambda x: x > 1 if np.sum(x) > 0 else x < 1, np.ones(2))


def test_what_a_model_cannot_hold_is_refused_by_name():
    with pytest.raises(UnsupportedOperation, match="onnx: arrays of float16 are not written; cast to float64"):
        exported(lambda x: x * x, np.ones(2, np.float16))
    with pytest.raises(
        UnsupportedOperation, match=r"onnx: solve is written out .* up to 32 rows, and here there are 40"
    ):
        exported(np.linalg.solve, np.eye(40), np.ones(40))
    with pytest.raises(UnsupportedOperation, match=r"onnx: inverse is written out .*, and here there are n"):
        exported(np.linalg.inv, "n n")
    with pytest.raises(UnsupportedOperation, match="onnx: gammaln has no operator"):
        exported(scipy.special.gammaln, np.ones(2))
    with pytest.raises(UnsupportedOperation, match="onnx: a product of whole numbers"):
        exported(lambda x, k: np.prod(k) * x, np.ones(2), np.array([1, 2]))
    with pytest.raises(UnsupportedOperation, match="onnx: a power of whole numbers"):
        exported(lambda x, k: k**k * x, np.ones(2), np.array([1, 2]))
    with pytest.raises(ArgumentError, match="onnx: the result holds no array"):
        exported(lambda x: x.shape, np.ones(2))


def test_without_the_package_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingPart, match=r"pip install 'symgrad\[onnx\]'"):
        sg.grad(np.sin).export("onnx", 1.0)


@pytest.mark.parametrize(("name", "which"), LOOPS)
def test_loops_are_loops(name, which):
    case = LOOPING[name]
    derived = case.derivatives()[which]
    made = Exported(derived, case.arguments)
    entry, arrays = derived._served(case.arguments, {})
    made.compare(*arrays)
    operators = [n.op_type for n in onnx.load_from_string(made.model).graph.node]
    assert ("Scan" in operators) == any(
        n.primitive.name == "scan" and n.params[0].length > 1 for n in entry.readable.nodes
    )


def test_what_must_hold_within_a_loop():
    def solved(A, x):
        return fori_loop(0, 3, lambda i, c: np.linalg.solve(A, c) + i, x)

    A, x = np.array([[2.0, 1.0], [0.5, 3.0]]), np.array([1.0, 2.0])
    made = Exported(sg.symbolic(solved), (A, x))
    made.compare(A, x)
    assert np.isnan(run(made.model, [np.zeros((2, 2)), x])[0]).all()


def test_a_loop_over_a_named_size():
    def decay(x):
        return fori_loop(0, 3, lambda i, c: np.tanh(c) + 0.5 * c[::-1], x)

    made = Exported(sg.jacobian(decay), ("n",))
    for n in (1, 5):
        made.compare(np.linspace(-1, 1, n))
