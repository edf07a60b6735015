"""The exported C is built by a real compiler with all warnings, runs, and gives what the kernel gives."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace

import exportables
import golden
import loop_programs
import numpy as np
import pytest
from cases import CASES, GOLDEN
from compiled_c import FLAGS, Compiled, run
from exportables import Exportable, exportable, kernel_values, same
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import CASES as LOOPS
from looping import LOOPING

import symgrad as sg
from symgrad import Parameter, nn
from symgrad.errors import ArgumentError, UnsupportedOperation
from symgrad.exporters.c import source
from symgrad.exporters.c.names import RESERVED
from symgrad.exporters.sources import Sources
from symgrad.transforms.loops import fori_loop

pytestmark = pytest.mark.needs("cc")
rng = np.random.default_rng(4)


def agree(compiled, exports, **options):
    for e in exports:
        status, got = compiled(e.subject.name, e.inputs)
        assert status == "ok", e.subject.name
        e.agrees(got, **options)


def _of_nothing(a):
    each = (a * 2, np.sort(a), np.concatenate([a, a]), a.reshape(0, 1), np.cumsum(a))
    return a.sum(), a.prod(), np.mean(a), *each


def test_arrays_of_no_elements_leave_nothing_unused(tmp_path):
    exports = [
        exportable("values", sg.symbolic(_of_nothing), (np.zeros(0),)),
        exportable("slopes", sg.grad(lambda a: sum(np.sum(v) for v in _of_nothing(a)[3:])), (np.zeros(0),)),
    ]
    agree(Compiled(exports, tmp_path), exports)


def left_out(call):
    """No half floats, no complex numbers; gammaln is infinite at the smallest number, of which the logarithm is not."""
    return (
        call.is_composed
        or call.is_decomposed
        or bool({"float16", "complex128"} & call.dtypes)
        or (call.kind == "extreme" and call.operation == "gammaln")
    )


def test_every_operation_and_its_derivative(tmp_path):
    kinds = ("elementwise", "single", "function", "odd", "extreme", "limits")
    exports = [*exportables.programs_of(kinds, left_out), *exportables.bench()]
    agree(Compiled(exports, tmp_path, ["-O0"]), exports, scaled=False)


VECTORS = ["-O3", "-fopenmp-simd"]
SANITIZED = ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


@pytest.mark.parametrize("flags", [["-O2"], VECTORS, SANITIZED])
def test_every_case_checks_itself(tmp_path, flags):
    files, calls = ["all.c"], []
    for k, (name, case) in enumerate(CASES.items()):
        text = case.export("c")
        (macro,) = re.findall(r"#ifdef (\w+)", text)
        (tmp_path / f"{name}.c").write_text(text)
        (tmp_path / f"run_{k}.c").write_text(f'#define {macro}\n#define main main_{k}\n#include "{name}.c"\n')
        files.append(f"run_{k}.c")
        calls.append(k)
    declared = "".join(f"int main_{k}(void);\n" for k in calls)
    total = " + ".join(f"main_{k}()" for k in calls)
    (tmp_path / "all.c").write_text(f"{declared}int main(void)\n{{\n    return {total};\n}}\n")
    run(["cc", *FLAGS, *flags, *files, "-lm", "-o", "all"], tmp_path)
    said = run(["./all"], tmp_path).splitlines()
    assert len(said) == len(CASES)
    assert all(re.fullmatch(r"\w+: pass \(largest difference \S+, allowed \S+\)", line) for line in said), said


def test_every_case_at_other_arguments_and_sizes(tmp_path):
    exports, others = [], []
    for name, case in CASES.items():
        subject = replace(case.subject(), name=name, stem=name, checked=lambda: "it is compared here")
        exports.append(Exportable(subject, case.inputs(), case.expected()))
        others += [(name, case.inputs(args), case.expected(args)) for args in case.others]
    compiled = Compiled(exports, tmp_path, ["-O0"])
    agree(compiled, exports)
    for name, inputs, wanted in others:
        status, got = compiled(name, inputs)
        assert status == "ok", name
        for mine, want in zip(got, wanted, strict=True):
            same(mine, want, name)
    assert compiled("branches", [np.array([3.0, 1.0, 2.0])])[0] == "branch"


@settings(max_examples=1)
@given(st.lists(st.integers(0, 1 << 32), min_size=12, max_size=12, unique=True))
def test_random_programs(tmp_path_factory, seeds):
    exports = loop_programs.random_programs(seeds)
    agree(Compiled(exports, tmp_path_factory.mktemp("random"), ["-O0"]), exports)


def _named():
    """Functions of named dims, with the shapes that they are exported for."""
    return {
        "sums": (sg.value_and_grad(lambda w, X: np.sum(np.tanh(X @ w) ** 2) + np.sum(X, 0) @ w), ("d", "n d")),
        "turned": (sg.symbolic(lambda w, X: [X.T @ X, X[::-1], np.cumsum(X, 0), X.reshape(-1), w * X]), ("d", "n d")),
        "hessian": (sg.hessian(lambda w, X: np.sum(np.log1p(np.exp(X @ w)))), ("d", "n d")),
        "joined": (sg.symbolic(lambda w, X: [np.concatenate([w, w]), np.outer(w, w), np.diag(w)]), ("d", "n d")),
        "counted": (sg.symbolic(lambda w, X: [np.mean(w), np.sum(X) * X.shape[0], np.argsort(X, 0)]), ("d", "n d")),
    }


def test_named_dims_of_any_size(tmp_path):
    sizes = [(3, 4), (1, 1), (5, 1), (1, 6), (0, 3), (3, 0), (0, 0)]
    exports = [exportable(n, f, (np.ones(3), np.ones((4, 3))), shapes) for n, (f, shapes) in _named().items()]
    compiled = Compiled(exports, tmp_path, ["-O1"])
    for d, n in sizes:
        inputs = [rng.normal(size=d), rng.normal(size=(n, d))]
        for e in exports:
            with np.errstate(all="ignore"):
                wanted = kernel_values(e.subject, inputs)
            status, got = compiled(e.subject.name, inputs)
            assert status == "ok", (e.subject.name, d, n)
            for k, (mine, want) in enumerate(zip(got, wanted, strict=True)):
                same(mine, want, f"{e.subject.name}[{k}] {d} {n}")


def test_statuses(tmp_path):
    x, m = np.array([1.0, 2.0, 3.0]), np.eye(3)
    exports = {
        "index": exportable("index", sg.symbolic(lambda a, i: a[i]), (x, np.array([0, -3]))),
        "scattered": exportable("scattered", sg.grad(lambda a, i: np.sum(a[i] ** 2)), (x, np.array([0, 1]))),
        "singular": exportable("singular", sg.symbolic(np.linalg.solve), (m, x)),
        "inverse": exportable("inverse", sg.symbolic(np.linalg.inv), (m,)),
        "indefinite": exportable("indefinite", sg.symbolic(np.linalg.cholesky), (m,)),
        "exponent": exportable("exponent", sg.symbolic(lambda i, j: i**j), (np.array([2, 3]), np.array([2, 0]))),
        "size": exportable("size", sg.symbolic(lambda a: np.max(a) + a[0]), (x,), ("n",)),
        "memory": exportable("memory", sg.symbolic(lambda a: np.sum(np.sort(a)[:1])), (x,), ("n",)),
        "branch": exportable("branch", sg.grad(lambda a: a * a if a > 0 else a), (2.0,)),
    }
    compiled = Compiled(list(exports.values()), tmp_path)
    agree(compiled, exports.values())
    for name, inputs, expected in [
        ("index", [x, np.array([0, 3])], "index"),
        ("scattered", [x, np.array([5, 0])], "index"),
        ("singular", [np.ones((3, 3)), x], "singular"),
        ("inverse", [np.zeros((3, 3))], "singular"),
        ("indefinite", [-m], "indefinite"),
        ("exponent", [np.array([2, 3]), np.array([2, -1])], "exponent"),
        ("size", [np.ones(0)], "size"),
        ("branch", [-1.0], "branch"),
    ]:
        assert compiled(name, inputs)[0] == expected, name
    huge = np.lib.stride_tricks.as_strided(x, (1 << 58,), (0,))
    assert compiled.status("memory", [huge]) == "memory"


def test_files_that_belong_together(tmp_path):
    made = CASES["ridge"].export("c", path=tmp_path / "ridge-grad.c")
    assert isinstance(made, Sources)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ridge-grad.c", "ridge-grad.h", "ridge-grad_check.c"]
    (build,) = re.findall(r"build and check: (.*)", made["ridge-grad.c"])
    assert "pass" in run(["sh", "-c", build.replace("-std=c99", " ".join(FLAGS))], tmp_path)
    with pytest.raises(ArgumentError, match="cannot be included"):
        CASES["ridge"].export("c", path=tmp_path / 'a"b.c')


@pytest.mark.needs("c++")
def test_cpp_includes_the_header(tmp_path):
    CASES["ridge"].export("c", path=tmp_path / "ridge-grad.c")
    (tmp_path / "use.cpp").write_text('#include "ridge-grad.h"\nint (*const f)(std::size_t) = nullptr;\n')
    run(["c++", "-Wall", "-Werror", "-include", "cstddef", "-fsyntax-only", "use.cpp"], tmp_path)


def test_a_wrong_result_fails(tmp_path):
    text = CASES["logistic"].export("c")
    head, tail = text.split("wanted_0[1] = {")
    (tmp_path / "wrong.c").write_text(head + "wanted_0[1] = {\n    1e3 + " + tail.lstrip())
    (macro,) = re.findall(r"#ifdef (\w+)", text)
    run(["cc", *FLAGS, f"-D{macro}", "wrong.c", "-lm", "-o", "wrong"], tmp_path)
    made = subprocess.run(["./wrong"], cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 1
    assert "FAIL (largest difference" in made.stdout


HOSTILE = ["λ", "int", "v0", "exp", "a.b", "a_b", "*/ int x", '"""', "x\ny", "\\input{/etc/passwd}", "</script>"]
HOSTILE += ["'); drop", "i", "maximum_f64", "main", "N", "n", "status", "x" * 300, "", "1x", "template", "%s", "??/"]


def test_hostile_names_are_names(tmp_path):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            for k, name in enumerate(HOSTILE):
                setattr(self, f"p{k}", Parameter(np.ones(2), name=name or "empty"))

        def construct(self, x):
            return sum((getattr(self, f"p{k}") * x for k in range(len(HOSTILE))), 0.0 * x)

    Net.__name__ = "*/ int main"
    net = Net()
    derived = sg.value_and_grad(net, None, net.trainable_params())
    text = derived.export("c", np.ones(2))
    (macro,) = re.findall(r"#ifdef (\w+)", text)
    (tmp_path / "net.c").write_text(text)
    run(["cc", *FLAGS, f"-D{macro}", "net.c", "-lm", "-o", "net"], tmp_path)
    assert "pass" in run(["./net"], tmp_path)
    assert {"int", "exp", "restrict", "maximum_f64", "i", "printf"} <= RESERVED


def test_what_c_cannot_hold_is_refused():
    with pytest.raises(UnsupportedOperation, match="float16"):
        sg.symbolic(lambda x: x * x).export("c", np.ones(2, np.float16))
    large = rng.normal(size=20_000)
    with pytest.raises(ArgumentError, match="make it an argument"):
        sg.grad(lambda x: np.sum(x * large)).export("c", np.ones(20_000))


def test_long_programs(tmp_path):
    turns = np.random.default_rng(0).random(800) < 0.5  # a loop that is none

    def steps(x):
        for turn in turns:
            x = (np.sin if turn else np.cos)(x) * 1.01 + 0.1
        return np.sum(x)

    e = exportable("long", sg.grad(steps), (np.ones(3),))
    assert len(e.subject.program.bindings) > 3500
    agree(Compiled([e], tmp_path, ["-O0"]), [e])


def test_loops_are_loops(tmp_path):
    exports = [
        exportable(f"{name}_{which}", LOOPING[name].derivatives()[which], LOOPING[name].arguments)
        for name, which in LOOPS
    ]
    agree(Compiled(exports, tmp_path), exports)
    for e in exports:
        text = "".join(source(e.subject).values())
        assert "for (size_t t" in text or e.subject.name.startswith(("never", "once", "places"))


def test_what_a_loop_carries_may_change_places(tmp_path):
    def turned(a, b, n):
        return fori_loop(0, 5, lambda i, c: (c[1], c[2] * 2, c[0] + i), (a, b, n))

    def solved(A, x):
        return fori_loop(0, 3, lambda i, c: np.linalg.solve(A, c) + i, x)

    args = (np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([0.5, 0.25]))
    A, x = np.array([[2.0, 1.0], [0.5, 3.0]]), np.array([1.0, 2.0])
    exports = [exportable("turned", sg.symbolic(turned), args), exportable("solved", sg.grad(solved), (A, x))]
    compiled = Compiled(exports, tmp_path)
    agree(compiled, exports)
    assert compiled("solved", [np.zeros((2, 2)), x])[0] == "singular"


def test_a_loop_over_a_named_size(tmp_path):
    def decay(x):
        return fori_loop(0, 3, lambda i, c: np.tanh(c) + 0.5 * c[::-1], x)

    e = exportable("decay", sg.jacobian(decay), (np.linspace(-1, 1, 5),), ("n",))
    agree(Compiled([e], tmp_path), [e])


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name):
    golden.check("c", name, CASES[name].export("c"), ".c")


def test_without_a_check_it_says_so(tmp_path):
    subject = replace(CASES["sens"].subject(document=False), checked=lambda: "none is known")
    text = str(source(subject))
    (macro,) = re.findall(r"#ifdef (\w+)", text)
    (tmp_path / "none.c").write_text(text)
    run(["cc", *FLAGS, f"-D{macro}", "none.c", "-lm", "-o", "none"], tmp_path)
    assert "no check (none is known)" in run(["./none"], tmp_path)
