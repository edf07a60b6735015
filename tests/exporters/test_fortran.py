"""Fortran exports compile without a warning, check themselves, and give what the kernel gives."""

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
import scipy.special
from cases import CASES, GOLDEN
from compiled_fortran import FLAGS, Compiled, run
from exportables import exportable, kernel_values, same
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import UnsupportedOperation
from symgrad.exporters.fortran import source, spelling
from symgrad.exporters.loops.language import OPERATIONS
from symgrad.program.dims import named_dim

pytestmark = pytest.mark.needs("gfortran")


def together(name, case):
    """A case whose names are its own, so that all can stand in one program; its check is a subroutine there."""
    text = source(replace(case.subject(document=False), name=name, stem=name))
    assert isinstance(text, str)
    return re.sub(r"^(end )?program ", lambda m: f"{m[1] or ''}subroutine ", text, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fortran")
    calls = "".join(f"  call {name}_check()\n" for name in CASES)
    modules = "\n".join(together(name, case) for name, case in CASES.items())
    text = f"{modules}\nprogram every\n  implicit none\n{calls}end program every\n"
    (folder / "all.f90").write_text(text, encoding="ascii")
    return folder


SANITISED = ["-std=f2008", "-O0", "-g", "-fcheck=all,no-array-temps", "-fsanitize=address"]


@pytest.mark.parametrize("flags", [[*FLAGS, "-O2"], SANITISED], ids=["optimised", "sanitised"])
def test_every_case_compiles_and_passes_its_check(folder, flags):
    run(["gfortran", *flags, "all.f90", "-o", "every"], folder)
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
    """Fortran has no half floats and no unsigned integers; two cases of a function are enough for a slow compiler."""
    unknown = {"float16", "uint8", "uint32"} & call.dtypes
    return bool(unknown) or (call.kind == "function" and call.nth > 1)


def test_every_operation_and_its_derivative(tmp_path):
    kinds = ("elementwise", "function", "odd", "limits")
    exports = [*exportables.programs_of(kinds, left_out), *exportables.bench()]
    compiled = Compiled(exports, tmp_path, ["-O0"])
    for e in exports:
        status, got = compiled(e.subject.name, e.inputs)
        assert status == "", e.subject.name
        e.agrees(got)


#: function, and the points where its helper could lose digits
ACCURATE = {
    np.expm1: [1e-300, -1e-17, 1e-9, -1e-5, 0.3, -0.9, 5.0, 700.0, -40.0],
    np.log1p: [1e-300, -1e-17, 1e-9, -1e-5, 0.3, -0.9, 5.0, 1e300, -1 + 1e-12],
    np.cbrt: [5e-324, 1e-300, -27.0, 2.0, -1e300, 1.7e308],
    np.log2: [5e-324, 1 - 1e-15, 1 + 1e-15, 8.0, 1e300, 0.7, 0.71],
    scipy.special.expit: [-700.0, -40.0, -1e-9, 0.3, 36.0],
    scipy.special.logit: [1e-300, 0.3, 0.5 + 1e-12, 0.65, 1 - 1e-15],
    scipy.special.ndtr: [-37.0, -5.0, 1e-9, 3.0],
    scipy.special.log_ndtr: [-1e5, -30.0, -1.0, 0.0, 5.0, 30.0],
    scipy.special.erfcx: [-20.0, -1.0, 0.0, 0.4, 3.0, 1e5],
    scipy.special.digamma: [1e-5, 0.5, 2.0, 9.9, 1e5, -0.5, -7.3],
    scipy.special.gammaln: [1e-5, 0.5, 3.5, 100.0, 1e5, -0.5, -7.3],
}


def test_helpers_are_accurate(tmp_path):
    def every(xs):
        return [function(x) for function, x in zip(ACCURATE, xs, strict=True)]

    trigamma = sg.grad(lambda x: np.sum(scipy.special.digamma(x)))
    points = [np.array(v) for v in ACCURATE.values()]
    exports = [
        exportable("every", sg.symbolic(every), (points,)),
        exportable("trigamma", trigamma, (np.array([1e-3, 0.5, 2.0, 9.9, 50.0, 1e5, -0.5, -7.3]),)),
    ]
    compiled = Compiled(exports, tmp_path)
    for e in exports:
        for g, w in zip(compiled(e.subject.name, e.inputs)[1], e.wanted, strict=True):
            np.testing.assert_allclose(g, w, rtol=1e-13)


def test_every_operation_is_spelled_for_floats_or_integers():
    spelled = {name for table in spelling._TABLES.values() for name in table}
    assert spelled == set(OPERATIONS)


@settings(max_examples=3, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])
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


HOSTILE = [*array_programs.HOSTILE, "a_b", "A_B", "DO", "end", "MERGE", "equal", "info", "I", "real64", "status_size"]


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
        signature, _ = compiled.signatures[e.subject.name]
        names = [n.lower() for n in (signature.name, *signature.inputs, *signature.outputs)]
        assert len(set(names)) == len(names)
        assert all(re.fullmatch(r"[a-z][a-z0-9_]{0,62}", n) for n in names)
        status, got = compiled(e.subject.name, e.inputs)
        assert status == ""
        for g, w in zip(got, e.wanted, strict=True):
            same(g, w, e.subject.name)


def test_names_of_functions_and_paths(tmp_path):
    def Schrödinger_λ(if_, IF_, ψ):
        return if_ * IF_**2 + ψ

    sg.grad(Schrödinger_λ, (0, 1)).export("fortran", 1.0, 2.0, 3.0, path=tmp_path / "odd name.f90")
    files = ["odd name.f90", "odd name_check.f90"]
    assert sorted(os.listdir(tmp_path)) == files
    run(["gfortran", *FLAGS, *files, "-o", "check"], tmp_path)
    assert ": pass (largest difference 0.0E+00, allowed 1e-09)" in run(["./check"], tmp_path)


def test_a_wrong_result_fails(tmp_path):
    text = CASES["product_chain"].export("fortran")
    assert text.count("y*z") >= 1
    (tmp_path / "wrong.f90").write_text(text.replace("y*z", "y*y", 1))
    run(["gfortran", *FLAGS, "wrong.f90", "-o", "wrong"], tmp_path)
    made = subprocess.run(["./wrong"], cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 1
    assert re.match(r"grad_product_chain: FAIL \(largest difference [\d.E+-]+, allowed 1e-09\)", made.stdout)


def test_large_and_odd_arguments_are_drawn_or_written(tmp_path):
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(40, 60))  # written out, in pieces

    def loss(x, mask, k):
        return np.sum(np.where(mask, np.sin(x) * weights, x)) + np.sum(x[k])

    x = rng.normal(size=(40, 60)).astype(np.float32)
    sg.value_and_grad(loss).export("fortran", x, x > 0, rng.integers(0, 40, (3, 2)), path=tmp_path / "large.f90")
    odd = sg.value_and_grad(lambda x: np.max(x * np.array([np.inf, -0.0, 5e-324, 1e308])))
    odd.export("fortran", np.array([1.0, np.nan, -1.0, 1e-300]), path=tmp_path / "odd.f90")
    for name in ("large", "odd"):
        run(["gfortran", *FLAGS, f"{name}.f90", f"{name}_check.f90", "-o", name], tmp_path)
        assert ": pass (" in run([f"./{name}"], tmp_path)


def test_without_a_check_it_says_why(tmp_path):
    derived = sg.grad(lambda x: x[0] if x[0] > 5 else x[1])
    derived(np.array([6.0, 1.0]))
    (tmp_path / "unchecked.f90").write_text(derived.export("fortran"))
    run(["gfortran", *FLAGS, "unchecked.f90", "-o", "unchecked"], tmp_path)
    assert ": no check (" in run(["./unchecked"], tmp_path)


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
    golden.check("fortran", name, CASES[name].export("fortran"), ".f90")


def test_lines_are_short_and_plain():
    for case in CASES.values():
        for line in case.export("fortran").splitlines():
            assert len(line) <= 132
            assert line.isascii()


def test_divided_dims():
    n = named_dim("n")
    assert spelling.dim(n * (n - 1) / 2) == "(n*(n - 1))/(2)"
