"""Julia exports are free of syntax errors and, in an interpreter of what they use of Julia, give what kernels give."""

from __future__ import annotations

import os
import re
from dataclasses import replace

import array_programs
import exportables
import golden
import numpy as np
import pytest
import scipy.special
from cases import CASES, GOLDEN
from exportables import exportable, kernel_values, same
from hypothesis import HealthCheck, given, settings

import symgrad as sg
from symgrad.emit.loops.language import OPERATIONS
from symgrad.errors import UnsupportedOperation
from symgrad.exporters.julia import source
from symgrad.exporters.julia.printing import Body

if not os.environ.get("CI"):
    pytest.importorskip("tree_sitter_julia", reason="the grammar of Julia is not installed")
from julia_base import JuliaError
from julia_interpreter import Module, parsed


class Exported:
    """A derivative as a Julia module."""

    def __init__(self, exported) -> None:
        self.subject = exported.subject
        self.text = source(exported.subject)
        self.module = Module.of(self.text)
        (self.name,) = self.module.exported

    def __call__(self, inputs):
        got = self.module.call(self.name, *[np.asarray(a)[()] for a in inputs])
        return got if isinstance(got, tuple) else (got,)


def compare(exported, what="") -> Exported:
    """The module gives what the kernel gives."""
    made = Exported(exported)
    exported.agrees(made(exported.inputs), what)
    return made


@pytest.mark.parametrize("name", CASES)
def test_every_case_passes_its_check(name, capsys):
    module = Module.of(CASES[name].export("julia"))
    assert module.call("self_check") == 0
    assert re.fullmatch(r"\w+: pass \(largest difference [\de.+-]+, allowed 1e-0[49]\)\n", capsys.readouterr().out)


@pytest.mark.parametrize("name", CASES)
def test_cases_at_further_arguments(name):
    case = CASES[name]
    made = compare(exportable(name, case.derived, case.args))
    for args in case.others:
        inputs = case.inputs(args)
        for g, w in zip(made(inputs), kernel_values(made.subject, inputs), strict=True):
            same(g, w, name)


def left_out(call):
    """No half floats, no complex numbers; there is time for two cases of a function, and a few of odd values."""
    return (
        call.is_composed
        or call.is_decomposed
        or bool({"float16", "complex128"} & call.dtypes)
        or (call.kind == "function" and call.nth > 1)
    )


@pytest.mark.parametrize("kind", ["elementwise", "function", "odd", "limits"])
def test_every_operation_and_its_derivative(kind):
    for e in exportables.programs_of([kind], left_out):
        compare(e)


def test_benchmarks():
    for e in exportables.bench():
        compare(e)


def test_every_operation_is_spelled():
    for table in Body.tables.values():
        assert set(table) == set(OPERATIONS)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(array_programs.programs())
def test_random_programs(program):
    compare(exportable("random", *array_programs.random_gradient(program)), program)


def _reshaped(x, k):
    return np.sum(np.cumsum(x.reshape(-1)) ** 2) + np.sum(np.concatenate([x, x]) ** 2) + k * np.sum(x.T @ x)


def _windowed(x):
    return np.sum(x[2:] * x[:-2])


def test_one_function_serves_every_size():
    made = compare(exportable("reshaped", sg.value_and_grad(_reshaped), (np.ones((2, 3)), 0.5), ("n m", "")))
    rng = np.random.default_rng(2)
    for shape in ((2, 3), (1, 1), (4, 1), (0, 3), (3, 0), (0, 0), (7, 5)):
        inputs = [rng.normal(size=shape), np.array(0.3)]
        for g, w in zip(made(inputs), kernel_values(made.subject, inputs), strict=True):
            same(g, w, str(shape))
    windowed = Exported(exportable("windowed", sg.grad(_windowed), (np.ones(5),), ("n",)))
    with pytest.raises(JuliaError, match="DimensionMismatch: the sizes do not fit this code"):
        windowed([np.ones(1)])


def _indexed(x, k):
    return np.sum(x[k] ** 2)


WHOLE = np.array([1, 2])


@pytest.mark.parametrize(
    ("derived", "args", "wrong", "said"),
    [
        (sg.symbolic(np.linalg.solve), (np.eye(2), np.ones(2)), (np.ones((2, 2)), np.ones(2)), "SingularException"),
        (sg.grad(lambda a: np.sum(np.linalg.cholesky(a))), (np.eye(3),), (-np.eye(3),), "PosDefException"),
        (sg.grad(_indexed), (np.ones(4), np.array([0, 1])), (np.ones(4), np.array([0, 4])), "index is out of bounds"),
        (sg.symbolic(lambda a, b: a**b), (WHOLE, WHOLE), (WHOLE, -WHOLE), "negative power"),
        (sg.grad(lambda x: x if x > 0 else -x), (1.0,), (-1.0,), "another branch"),
        (sg.grad(np.sum), (np.ones(3),), (np.ones(4),), r"DimensionMismatch: a must have the size \(3,\)"),
        (sg.grad(np.sum), (np.ones(3),), (np.ones(3, np.float32),), "MethodError"),
    ],
    ids=["singular", "indefinite", "index", "exponent", "branch", "shape", "type"],
)
def test_what_goes_wrong_is_thrown(derived, args, wrong, said):
    made = compare(exportable("made", derived, args))
    with pytest.raises(JuliaError, match=said):
        made(wrong)


HOSTILE = [*array_programs.HOSTILE, "end", "begin", "a_b", "$(run(`ls`))", "difference", "Float64", "∂x", "self_check"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(name):
    derived, args = array_programs.hostile(name)
    compare(exportable("hostile", derived, args), name)


def test_hostile_names_together():
    nested = {name: np.full(2, 1.0 + k) for k, name in enumerate(HOSTILE)}
    made = compare(exportable("nested", sg.grad(lambda d: sum(np.sum(v**2) for v in d.values())), (nested,)))
    parameters = re.search(r"function nested\((.*)\)", made.text)
    assert parameters is not None
    names = re.findall(r"(\w+)::", parameters[1])
    assert len(set(names)) == len(HOSTILE)
    assert "$" not in made.text


def test_odd_names_of_functions():
    def ϕ_of(x):
        return x**2

    text = sg.grad(ϕ_of).export("julia", 1.5)
    assert "module GradΦOf\n" in text
    assert "function grad_φ_of(x::Real)\n" in text
    assert Module.of(text).call("self_check") == 0


def test_large_and_odd_arguments_are_drawn_or_written():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(30, 40))

    def loss(x, mask, k):
        return np.sum(np.where(mask, np.sin(x) * weights, x)) + np.sum(x[k])

    x = rng.normal(size=(30, 40)).astype(np.float32)
    large = sg.value_and_grad(loss).export("julia", x, x > 0, rng.integers(0, 30, (3, 2)))
    odd = sg.value_and_grad(lambda x: np.max(x * np.array([np.inf, -0.0, 5e-324, 1e308])))
    for text in (large, odd.export("julia", np.array([1.0, np.nan, -1.0, 1e-300]))):
        assert Module.of(text).call("self_check") == 0


def test_a_wrong_result_fails(capsys):
    text = CASES["product_chain"].export("julia")
    assert Module.of(text.replace("return df_dx", "return df_dy")).call("self_check") == 1
    said = capsys.readouterr().out
    assert re.match(r"grad_product_chain: FAIL \(largest difference [\de.+-]+, allowed 1e-09\)", said)


def test_without_a_check_it_says_why(capsys):
    derived = sg.grad(lambda x: x[0] if x[0] > 5 else x[1])
    derived(np.array([6.0, 1.0]))
    assert Module.of(derived.export("julia")).call("self_check") == 0
    assert ": no check (" in capsys.readouterr().out


def test_a_long_program():
    made = compare(exportables.long_program(3_000))
    assert max(map(len, made.text.splitlines())) < 200


def test_packages_are_named():
    text = sg.value_and_grad(scipy.special.erf).export("julia", 0.5)
    assert "# needs the package SpecialFunctions" in text
    assert "using SpecialFunctions" not in CASES["ridge"].export("julia")
    assert "using LinearAlgebra: det\n" in sg.symbolic(np.linalg.det).export("julia", np.eye(2))


def test_half_floats_are_refused():
    with pytest.raises(UnsupportedOperation, match="cast to float32 or float64"):
        sg.symbolic(lambda x: x * 2).export("julia", np.ones(3, np.float16))


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_files(name):
    golden.check("julia", name, CASES[name].export("julia"), ".jl")


def test_the_whole_file_is_free_of_errors():
    for case in CASES.values():
        tree = parsed(source(replace(case.subject(), document=True)))
        assert [t.type for t in tree.parts] == ["module_definition", "if_statement"]
