"""sympy: objects that differentiate and substitute, and scripts that make them without symgrad and check themselves."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import replace

import array_programs
import exportables
import golden
import numpy as np
import pytest
import scipy.linalg
import sympy
from cases import CASES, GOLDEN
from every_operation import calls
from exportables import together

import symgrad as sg
from symgrad.errors import ArgumentError, ClosedFormTooLarge, UnsupportedOperation
from symgrad.exporters import sympy_objects
from symgrad.tracing.tree import flatten

REFUSED = (ArgumentError, ClosedFormTooLarge, UnsupportedOperation)
RUN = """
import contextlib, io, json, sys
sys.modules["symgrad"] = None
said = {}
for name, source in json.load(sys.stdin).items():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        scope = {"__name__": "made"}
        exec(compile(source, name, "exec"), scope)
        status = scope["_check"]()
    said[name] = [status, out.getvalue().splitlines()[-1]]
print(json.dumps(said))
"""


def scope_of(source):
    """What a script defines."""
    made = {"__name__": "made"}
    exec(compile(source, "<script>", "exec"), made)
    return made


def evaluated(source, name, inputs):
    """The arrays that the function of a script gives."""
    return [np.asarray(v) for v in flatten(scope_of(source)[name](*inputs))[0] if not isinstance(v, str)]


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name):
    golden.check("sympy", name, CASES[name].export("sympy", document=True))


def test_every_case_checks_itself_without_symgrad():
    sources = {}
    for form, least in (("auto", len(CASES)), ("index", 12), ("entries", 10)):
        made = {}
        for name, case in CASES.items():
            try:
                made[f"{name}, {form}"] = case.export("sympy", document=True, form=form)
            except REFUSED:
                assert form != "auto"
        assert len(made) >= least
        sources |= {name: source for name, source in made.items() if source not in sources.values()}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN],
        input=json.dumps(sources),
        capture_output=True,
        text=True,
        check=True,
    )
    said = json.loads(done.stdout)
    assert {name: line for name, (status, line) in said.items() if status or ": pass (" not in line} == {}


def test_a_script_prints_itself_and_says_how_it_went(tmp_path):
    path = tmp_path / "formulas.py"
    CASES["product_chain"].export("sympy", path=path)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[:3] == ["2*x*y*z", "x**2*z", "x**2*y"]
    assert done.stdout.splitlines()[3].startswith("grad_product_chain: pass (largest difference ")
    path.write_text(path.read_text().replace("2*x*y*z", "3*x*y*z"))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert (done.returncode, "FAIL" in done.stdout) == (1, True)


def test_objects_are_live():
    found = CASES["product_chain"].export("sympy")
    x, y, z = (found.inputs[n] for n in "xyz")
    assert found.kind == "entries"
    assert found.outputs == [2 * x * y * z, x**2 * z, x**2 * y]
    assert found.result == tuple(found.outputs)
    assert found.outputs[0].diff(x) == 2 * y * z
    assert found.header[0].startswith("the gradient of product_chain")


def test_arrays_are_arrays_of_the_symbols_of_entries():
    found = sg.grad(lambda x: np.sum(x**3)).export("sympy", np.ones(2))
    assert isinstance(found.inputs["x"], sympy.NDimArray)
    assert found.outputs[0] == sympy.Array([3 * e**2 for e in found.inputs["x"]])


def test_the_index_form_has_its_indices():
    found = CASES["ridge"].export("sympy")
    assert found.kind == "index"
    assert set(found.inputs) == {"w", "X", "y", "lam"}
    (i,) = found.indices[1]
    assert i in found.outputs[1].free_symbols
    assert isinstance(found.inputs["X"], sympy.IndexedBase)


def test_conditions_are_statements():
    found = CASES["branches"].export("sympy")
    assert len(found.conditions) == 3
    assert all(isinstance(c, sympy.logic.boolalg.Boolean) for c in found.conditions)
    x1, x2, x3 = found.inputs["x"]
    assert [bool(c.subs({x1: 0.9, x2: -0.3, x3: 0.6})) for c in found.conditions] == [True] * 3
    scope = scope_of(CASES["branches"].export("sympy", document=True))
    with pytest.raises(ValueError, match="another branch"):
        scope["grad_branches"](np.array([5.0, 5.0, 5.0]))


def test_long_ones_are_let_bound():
    found = CASES["blackscholes"].export("sympy")
    assert found.kind == "let-bound"
    assert [str(b) for b, _ in found.bindings[:2]] == ["v_0[i]", "v_1[i]"]


def test_matrix_forms_are_live_and_no_script():
    found = CASES["logistic"].export("sympy", form="matrix")
    assert str(found.outputs[1]) == "−Xᵀ(y ⊙ σ(−y ⊙ Xw))"
    with pytest.raises(UnsupportedOperation, match='form="index"'):
        CASES["logistic"].export("sympy", form="matrix", document=True)


def test_named_dims_serve_every_size():
    case = CASES["ridge"]
    source = case.export("sympy", document=True)
    for args in case.others:
        for got, want in zip(evaluated(source, "grad_ridge", case.inputs(args)), case.expected(args), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", array_programs.BENCH)
def test_benchmarks(name):
    e = exportables.bench()[array_programs.BENCH.index(name)]
    source = sympy_objects.objects(e.subject)
    if "too large for sums" in source:
        return  # what takes minutes is not computed
    for got, want in zip(evaluated(source, e.subject.name, e.inputs), e.wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-8)


def left_out(call):
    """A formula is that of one shape; of two elements, of which sympy computes the entries fast."""
    return call.operation == "zeta" or any(np.shape(a) != (2,) for a in call.leaves)


@pytest.mark.parametrize("form", ["index", "entries"])
def test_every_operation(form):
    for call in calls(["elementwise"], left_out):
        e = together(f"of_{call.operation}", (call,))
        source = sympy_objects.objects(replace(e.subject, form=form))
        for got, want in zip(evaluated(source, e.subject.name, e.inputs), e.wanted, strict=True):
            np.testing.assert_allclose(
                np.asarray(got, float), np.asarray(want, float), rtol=1e-9, atol=1e-12, err_msg=str(call)
            )


@pytest.mark.parametrize("name", array_programs.HOSTILE)
def test_hostile_names_are_names(name):
    derived, args = array_programs.hostile(name)
    with redirect_stdout(io.StringIO()) as said:
        scope = scope_of(derived.export("sympy", *args, document=True))
        assert scope["_check"]() == 0
    assert ": pass (" in said.getvalue()


def test_large_arrays_are_not_checked():
    made = sg.grad(lambda x: np.sum(np.sin(x)), 0).export("sympy", np.ones(200_000), document=True)
    with redirect_stdout(io.StringIO()) as said:
        assert scope_of(made)["_check"]() == 0
    assert "no check (the arrays are too large" in said.getvalue()


MATRIX = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, 0.2], [0.1, 0.2, 3.0]])
DECOMPOSED = {
    "eigh": lambda a: np.linalg.eigh(a)[0][0] * np.sum(np.linalg.eigh(a)[1][:, 0] ** 4),
    "eigvals": lambda a: np.sum(np.abs(np.linalg.eigvals(a + np.triu(a)))),
    "qr": lambda a: np.sum(np.linalg.qr(a)[0] ** 3) + np.sum(np.linalg.qr(a)[1] ** 3),
    "svd": lambda a: np.sum(np.linalg.svd(a[:2], full_matrices=False)[2] ** 3) + np.linalg.svd(a)[1][0],
    "pinv": lambda a: np.sum(np.linalg.pinv(a[:, :2]) ** 3),
}


@pytest.mark.parametrize("name", DECOMPOSED)
def test_scripts_have_the_numbers_of_decompositions(name):
    derived = sg.grad(DECOMPOSED[name])
    source = derived.export("sympy", MATRIX, document=True)
    (own,) = re.findall(r"^def (grad_\w*)\(", source, re.MULTILINE)
    found = evaluated(source, own, [MATRIX])
    np.testing.assert_allclose(found[0], derived(MATRIX), rtol=1e-9, atol=1e-12)


def test_what_has_no_numbers_is_not_checked():
    source = sg.grad(lambda a: np.sum(scipy.linalg.expm(a))).export("sympy", MATRIX, document=True)
    assert "no check (sympy has no numbers of expm)" in source
