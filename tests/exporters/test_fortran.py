"""Fortran exports compile without a warning, check themselves, and call the C that gives what the kernel gives."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import replace

import array_programs
import exportables
import golden
import numpy as np
import pytest
from cases import CASES, GOLDEN
from compiled_fortran import FLAGS, Compiled, run
from exportables import exportable, kernel_values, same
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import UnsupportedOperation
from symgrad.exporters.fortran import source

pytestmark = pytest.mark.needs("gfortran", "cc")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The cases under names of their own, so that all can stand in one program; their checks are subroutines there."""
    folder = tmp_path_factory.mktemp("fortran")
    text = ""
    for name, case in CASES.items():
        module, function, check = source(replace(case.subject(), name=name, stem=name)).values()
        (folder / f"{name}.c").write_text(function, encoding="utf-8")
        text += module + re.sub(r"^(end )?program ", lambda m: f"{m[1] or ''}subroutine ", check, flags=re.MULTILINE)
    calls = "".join(f"  call {name}_check()\n" for name in CASES)
    text += f"program every\n  implicit none\n{calls}end program every\n"
    (folder / "all.f90").write_text(text, encoding="ascii")
    return folder


SANITISED = ["-O0", "-g", "-fsanitize=address"]


@pytest.mark.parametrize("flags", [["-O2"], SANITISED], ids=["optimised", "sanitised"])
def test_every_case_compiles_and_passes_its_check(folder, flags):
    files = [f"{name}.c" for name in CASES]
    run(["cc", "-std=c99", *flags, "-c", *files], folder)
    checked = ["-fcheck=all,no-array-temps"] if flags == SANITISED else []
    objects = [f"{name}.o" for name in CASES]
    run(["gfortran", *FLAGS, *flags, *checked, "all.f90", *objects, "-lm", "-o", "every"], folder)
    said = run(["./every"], folder, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    passed = re.findall(r"^(\w+): pass \(largest difference [\dE.+-]+, allowed 1e-0[49]\)$", said, re.MULTILINE)
    assert passed == list(CASES)


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    exports = [exportable(name, case.derived, case.args) for name, case in CASES.items()]
    return Compiled(exports, tmp_path_factory.mktemp("cases")), {e.subject.name: e for e in exports}


@pytest.mark.parametrize("name", CASES)
def test_cases_at_further_arguments(cases, name):
    compiled, exports = cases
    for args in (CASES[name].args, *CASES[name].others):
        inputs = CASES[name].inputs(args)
        status, got = compiled(name, inputs)
        assert status == ""
        for g, w in zip(got, kernel_values(exports[name].subject, inputs), strict=True):
            same(g, w, name)


def left_out(call):
    """No half floats, complex numbers and unsigned integers; two cases of a function are enough for a slow compiler."""
    unknown = {"float16", "complex128", "uint8", "uint32"} & call.dtypes
    return call.is_composed or call.is_decomposed or bool(unknown) or (call.kind == "function" and call.nth > 1)


def test_every_operation_and_its_derivative(tmp_path):
    kinds = ("elementwise", "function", "odd", "limits")
    exports = [*exportables.programs_of(kinds, left_out), *exportables.bench()]
    compiled = Compiled(exports, tmp_path, ["-O0"])
    for e in exports:
        status, got = compiled(e.subject.name, e.inputs)
        assert status == "", e.subject.name
        e.agrees(got)


@settings(max_examples=3, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(array_programs.programs(), min_size=10, max_size=10))
def test_random_programs(tmp_path_factory, programs):
    exports = [exportable(f"random_{k}", *array_programs.random_gradient(p)) for k, p in enumerate(programs)]
    compiled = Compiled(exports, tmp_path_factory.mktemp("random"), ["-O0"])
    for e in exports:
        status, got = compiled(e.subject.name, e.inputs)
        assert status == ""
        for g, w in zip(got, e.wanted, strict=True):
            same(g, w, programs)


def _reshaped(x, k):
    tiled = np.sum(np.tile(x, (1, 2)) ** 3)
    return np.sum(np.cumsum(x.reshape(-1)) ** 2) + np.sum(np.concatenate([x, x]) ** 2) + k * np.sum(x.T @ x) + tiled


def _windowed(x):
    return np.sum(x[2:] * x[:-2])


def test_one_subroutine_serves_every_size(tmp_path):
    exports = [
        exportable("reshaped", sg.value_and_grad(_reshaped), (np.ones((2, 3)), 0.5), ("n m", "")),
        exportable("windowed", sg.grad(_windowed), (np.ones(5),), ("n",)),
    ]
    compiled = Compiled(exports, tmp_path)
    rng = np.random.default_rng(2)
    for shape in ((2, 3), (1, 1), (4, 1), (0, 3), (3, 0), (0, 0), (7, 5)):
        inputs = [rng.normal(size=shape), np.array(0.3)]
        status, got = compiled("reshaped", inputs)
        assert status == ""
        for g, w in zip(got, kernel_values(exports[0].subject, inputs), strict=True):
            same(g, w, str(shape))
    for n in (2, 3, 6):
        status, got = compiled("windowed", [rng.normal(size=n)])
        assert status == ""
    assert compiled("windowed", [np.ones(1)])[0] == "size"


def _indexed(x, k):
    return np.sum(x[k] ** 2)


def test_what_goes_wrong_is_a_status(tmp_path):
    chol = sg.grad(lambda a: np.sum(np.linalg.cholesky(a)))
    exports = [
        exportable("solved", sg.symbolic(np.linalg.solve), (np.eye(2), np.ones(2))),
        exportable("factor", chol, (np.eye(3),)),
        exportable("looked_up", sg.grad(_indexed), (np.ones(4), np.array([0, 1]))),
        exportable("whole_power", sg.symbolic(lambda a, b: a**b), (np.array([2, 3]), np.array([1, 2]))),
        exportable("branches", CASES["branches"].derived, CASES["branches"].args),
    ]
    compiled = Compiled(exports, tmp_path)
    assert compiled("solved", [np.ones((2, 2)), np.ones(2)])[0] == "singular"
    assert compiled("branches", [np.array([-0.9, 0.1, 0.2])])[0] == "branch"
    assert compiled("factor", [-np.eye(3)])[0] == "indefinite"
    assert compiled("looked_up", [np.ones(4), np.array([0, 4])])[0] == "index"
    assert compiled("looked_up", [np.ones(4), np.array([-9, 0])])[0] == "index"
    status, got = compiled("looked_up", [np.arange(4.0), np.array([-1, 3])])
    assert status == ""
    same(got[0], np.array([0, 0, 0, 12.0]))
    assert compiled("whole_power", [np.array([2, 3]), np.array([1, -2])])[0] == "exponent"


HOSTILE = [*array_programs.HOSTILE, "a_b", "A_B", "DO", "end", "MERGE", "value", "import", "I", "c_double", "status"]


def test_hostile_names(tmp_path):
    exports = []
    for k, name in enumerate(HOSTILE):
        derived, args = array_programs.hostile(name)
        e = exportable(f"hostile_{k}", derived, args)
        exports.append(e)
    nested = {name: np.full(2, 1.0 + k) for k, name in enumerate(HOSTILE)}
    product = lambda d: sum(np.sum(v**2) for v in d.values())  # noqa: E731
    exports.append(exportable("nested", sg.grad(product), (nested,)))
    compiled = Compiled(exports, tmp_path, ["-O0"])
    for e in exports:
        parameters = re.search(r"\n    function (\w+)\(([^)]*)\)", compiled.modules[e.subject.name])
        assert parameters is not None
        names = [n.lower() for n in (parameters[1], *re.findall(r"\w+", parameters[2]))]
        assert len(set(names)) == len(names)
        assert all(re.fullmatch(r"[a-z][a-z0-9_]{0,62}", n) for n in names)
        status, got = compiled(e.subject.name, e.inputs)
        assert status == ""
        for g, w in zip(got, e.wanted, strict=True):
            same(g, w, e.subject.name)


def built(files, folder):
    """The check of an export, compiled."""
    module, function, check = files
    run(["cc", "-std=c99", "-c", function, "-o", "function.o"], folder)
    run(["gfortran", *FLAGS, module, check, "function.o", "-lm", "-o", "check"], folder)
    return ["./check"]


def test_names_of_functions_and_paths(tmp_path):
    def Schrödinger_λ(if_, IF_, ψ):
        return if_ * IF_**2 + ψ

    made = sg.grad(Schrödinger_λ, (0, 1)).export("fortran", 1.0, 2.0, 3.0, path=tmp_path / "odd name.f90")
    assert list(made) == ["odd name.f90", "odd name.c", "odd name_check.f90"]
    assert sorted(os.listdir(tmp_path)) == sorted(made)
    assert ": pass (largest difference 0.0E+00, allowed 1e-09)" in run(built(made, tmp_path), tmp_path)


def test_the_header_says_how_it_is_built(tmp_path):
    made = CASES["ridge"].export("fortran", path=tmp_path / "ridge-grad.f90")
    said = re.search(r"build: (.*)\n! check: (.*)\n! *(.*)", made["ridge-grad.f90"])
    assert said is not None
    assert "pass" in run(["sh", "-c", f"{said[1]} && {said[2]} {said[3]}"], tmp_path)


def test_axes_are_those_of_c_in_reverse(tmp_path):
    made = sg.symbolic(lambda x: 2 * x[:, 0]).export("fortran", np.arange(6.0).reshape(2, 3), path=tmp_path / "f.f90")
    (name,) = re.findall(r"function (\w+)\(x", made["f.f90"])
    program = f"use {name}_module\nuse iso_c_binding\nreal(c_double) :: x(3, 2), y(2)\nx(1, :) = [5, 7]\n"
    program += f"x(2:, :) = 1\nif ({name}(x, y) == {name}_ok) print '(2f4.0)', y\nend\n"
    (tmp_path / "use.f90").write_text(program)
    assert run(built(["f.f90", "f.c", "use.f90"], tmp_path), tmp_path).split() == ["10.", "14."]


def test_a_wrong_result_fails(tmp_path):
    made = CASES["product_chain"].export("fortran", path=tmp_path / "wrong.f90")
    assert made["wrong.c"].count("y * z") >= 1
    (tmp_path / "wrong.c").write_text(made["wrong.c"].replace("y * z", "y * y", 1))
    said = subprocess.run(built(made, tmp_path), cwd=tmp_path, capture_output=True, text=True)
    assert said.returncode == 1
    assert re.match(r"grad_product_chain: FAIL \(largest difference [\d.E+-]+, allowed 1e-09\)", said.stdout)


def test_large_and_odd_arguments_are_drawn_or_written(tmp_path):
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(40, 60))  # written out, in pieces

    def loss(x, mask, k):
        return np.sum(np.where(mask, np.sin(x) * weights, x)) + np.sum(x[k])

    x = rng.normal(size=(40, 60)).astype(np.float32)
    large = sg.value_and_grad(loss)
    made = large.export("fortran", x, x > 0, rng.integers(0, 40, (3, 2)), path=tmp_path / "large.f90")
    assert ": pass (" in run(built(made, tmp_path), tmp_path)
    odd = sg.value_and_grad(lambda x: np.max(x * np.array([np.inf, -0.0, 5e-324, 1e308])))
    made = odd.export("fortran", np.array([1.0, np.nan, -1.0, 1e-300]), path=tmp_path / "odd.f90")
    assert ": pass (" in run(built(made, tmp_path), tmp_path)


def test_numbers_and_truth_values_of_every_size(tmp_path):
    kinds = [np.int8, np.int16, np.int32, np.int64]
    ends = [np.array([np.iinfo(k).min, -1, np.iinfo(k).max], k) for k in kinds]
    given = [*ends, np.array([True, False]), np.float32(1e-40), np.float64(-np.inf), np.bool_(True), np.int8(-128)]
    made = sg.symbolic(lambda *args: [a * a.dtype.type(1) for a in args]).export(
        "fortran", *given, path=tmp_path / "ends.f90"
    )
    assert ": pass (" in run(built(made, tmp_path), tmp_path)


def test_without_a_check_it_says_why(tmp_path):
    derived = sg.grad(lambda x: x[0] if x[0] > 5 else x[1])
    derived(np.array([6.0, 1.0]))
    made = derived.export("fortran", path=tmp_path / "unchecked.f90")
    assert ": no check (" in run(built(made, tmp_path), tmp_path)


def test_a_long_program(tmp_path):
    e = exportables.long_program(10_000)
    compiled = Compiled([e], tmp_path, ["-O0"])
    same(compiled("long", e.inputs)[1][0], e.wanted[0])


@pytest.mark.parametrize(
    ("function", "args", "said"),
    [
        (lambda x: x * 2, (np.ones(3, np.uint8),), "Fortran has no uint8"),
        (lambda x: x * 2, (np.ones((1,) * 13 + (2, 2, 2)),), "more than the 15 of Fortran"),
        (lambda x: x * 2, (np.ones(3, np.float16),), "cast to float32 or float64"),
    ],
)
def test_what_fortran_has_not_is_refused(function, args, said):
    with pytest.raises(UnsupportedOperation, match=said):
        sg.symbolic(function).export("fortran", *args)


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_files(name):
    golden.check("fortran", name, str(CASES[name].export("fortran")))


def test_lines_are_short_and_plain():
    for case in CASES.values():
        for name, text in case.export("fortran").items():
            for line in text.splitlines():
                assert len(line) <= 132 or name.endswith(".c")
                assert line.isascii()
