"""The speed comparison without peers: values by finite differences, the report on made-up numbers, the README."""

from __future__ import annotations

import functools
import pathlib
import sys
from types import SimpleNamespace

import choice
import fresh
import growth
import numpy as np
import peers
import pytest
import report
import run
from report import Measured, Row
from structure import flat
from workloads import WORKLOADS

import symgrad
from symgrad.finite_differences import differences
from symgrad.kernels import blas
from symgrad.kernels.kernel import BACKENDS

ROOT = pathlib.Path(__file__).parents[2]
on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")


@functools.cache
def _case(name):
    """The workload at its small sizes, its value and its derivative by differences in longdouble."""
    work = WORKLOADS[name]
    args = work.args(**work.small)
    point = [args[k] for k in work.wrt]

    def plain(*moved):
        given = dict(zip(work.wrt, moved, strict=True))
        return (work.fn(np, *[given.get(k, a) for k, a in enumerate(args)]),)

    blocks = []
    for k, x in enumerate(point):
        units = np.eye(x.size).reshape(-1, *x.shape)
        slopes = [
            differences(plain, point, [[u if i == k else np.zeros(y.shape) for i, y in enumerate(point)]])
            for u in units
        ]
        assert all(exact for _, _, exact in slopes)
        columns = [np.asarray(values[0], float) for values, _, _ in slopes]
        blocks.append(np.stack(columns, -1).reshape(*columns[0].shape, *x.shape))
    return work, args, blocks if work.verb == "jacobian" else [np.asarray(plain(*point)[0]), *blocks]


def _compare(result, want):
    got = flat(result)
    assert [np.shape(g) for g in got] == [np.shape(w) for w in want]
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=0, atol=1e-9 * max(1.0, float(np.max(np.abs(w)))))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", WORKLOADS)
def test_symgrad(name, backend):
    work, args, want = _case(name)
    try:
        build = peers.symgrad_on(backend)(work, args)
        result = build()()
    except peers.NotThere as why:
        pytest.skip(str(why))
    _compare(result, want)


@pytest.mark.parametrize("name", [n for n, w in WORKLOADS.items() if w.by_hand])
def test_by_hand(name):
    work, args, want = _case(name)
    before = [a.copy() for a in args]
    _compare(peers.hand(work, args)()(), want)
    assert all(map(np.array_equal, args, before))


def test_no_formula_by_hand():
    with pytest.raises(peers.NotThere):
        peers.hand(WORKLOADS["gmm"], ())


def test_a_backend_that_is_not_there():
    work, args, _ = _case("wave")
    with pytest.raises(peers.NotThere, match="abacus"):
        peers.symgrad_on("abacus")(work, args)()


def test_sympy():
    work, args, want = _case("arm_jac")
    for modules in ("math", "numpy"):
        _compare(peers.sympy_with(modules)(work, args)()(), want)
    with pytest.raises(peers.NotThere):
        peers.sympy_with("math")(WORKLOADS["wave"], ())


def test_function_alone():
    work, args, want = _case("gmm")
    assert peers.function_alone(work, args, "numpy")() == pytest.approx(float(want[0]))


def test_a_call_waits_for_a_kernel_that_is_being_compiled():
    limits = []

    class Compiling:
        compile_seconds = 1.5

        def ready(self, timeout):
            limits.append(timeout)
            return False

    made = SimpleNamespace(kernel=lambda x: Compiling())
    peers.Call(made, (1.0,)).wait(3.0)
    assert limits == [3.0]
    assert peers.Call(made, (1.0,)).compile_seconds() == 1.5
    plain = peers.Call(SimpleNamespace(kernel=lambda x: object()), (1.0,))
    plain.wait()
    assert plain.compile_seconds() is None


def test_values_that_differ_are_found():
    a = [np.array([1.0, 2.0]), np.array(3.0)]
    assert run.apart(a, a, 1e-9) == ""
    assert "array 1" in run.apart([a[0], a[1] + 1e-6], a, 1e-9)
    assert "array 0" in run.apart([a[0] * np.nan, a[1]], a, 1e-9)
    assert "shapes" in run.apart([a[0][:1], a[1]], a, 1e-9)


def test_a_system_whose_values_differ_is_not_timed(monkeypatch):
    work, args, _ = _case("rosenbrock")
    wrong = lambda work, args: lambda: lambda: (0.0, np.zeros(args[0].shape))  # noqa: E731
    broken = lambda work, args: lambda: lambda: 1 / 0  # noqa: E731
    monkeypatch.setattr(peers, "SYSTEMS", {"hand": peers.hand, "wrong": wrong, "broken": broken})
    calls, absent = run.calls_of(work, args, ["hand", "wrong", "broken"])
    assert list(calls) == ["hand"]
    assert "DIFFER" in absent["wrong"]
    assert "ZeroDivisionError" in absent["broken"]


@on_linux
def test_fresh_process():
    known = fresh.in_fresh_process("arm_jac", "symgrad_numpy")
    assert known.keys() >= {"first", "peak", "held", "compile_seconds"}
    assert 0 < known["first"] < 60
    assert known["peak"] > 0
    assert "no formula" in fresh.in_fresh_process("gmm", "hand")["absent"]


def test_growth_of_the_program():
    x = np.array([0.3, 0.7])
    assert len(symgrad.trace(lambda x: growth.straight_line(np, x, 60), x).bindings) == pytest.approx(90, abs=31)
    assert len(symgrad.trace(lambda x: growth.mixed_line(np, x, 60), x).bindings) == pytest.approx(60, abs=15)
    for line in (growth.straight_line, growth.mixed_line):
        assert growth.by_operations(10, ["symgrad_numpy", "hand"], line).keys() == {"symgrad_numpy"}
    assert growth.patient({"a": 10.0, "b": 1e3 * growth.PATIENCE}) == ["a"]


def test_a_backend_is_timed_when_blas_has_all_its_threads(monkeypatch):
    clock, until, made = [0.0], [3.0], []
    monkeypatch.setattr(choice.time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(blas, "has_fewer_threads", lambda: clock[0] < until[0])

    def call():
        made.append(clock[0])
        clock[0] += 0.5

    assert choice.settle(call)
    assert made == [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]
    assert choice.settle(call)
    assert len(made) == 6
    until[0] = 1e9
    assert not choice.settle(call)
    assert clock[0] == 3.0 + choice.SETTLE


def test_the_choice_of_auto(monkeypatch, capsys):
    assert choice.over_best({"auto": 2.0, "numpy": 1.0, "native": 4.0, "runs": "numpy"}) == 2.0
    assert choice.over_best({"absent": "it died"}) is None
    good = {"auto": 1.05, "numpy": 1.0, "runs": "native"}
    made = {"wave": [good, good, good, good], "gmm": [good, good | {"auto": 1.2}, good, {"absent": "it died"}]}
    monkeypatch.setattr(choice, "by_situation", lambda name: dict(zip(choice.SITUATIONS, made[name], strict=True)))
    assert choice.show(["wave"])
    assert not choice.show(["wave", "gmm"])
    assert (
        capsys.readouterr().out.splitlines()[-1] == "| gmm | 1.05 (native) | 1.20 (native) | 1.05 (native) | it died |"
    )


# the report, on made-up numbers

ROWS = {
    "wave": Row(
        {
            "symgrad": Measured(
                steady=0.02, first=0.15, again=0.0123, peak=48 * 2**20, held=2**19, compile_seconds=1.25
            ),
            "jax": Measured(steady=0.025, first=0.3, peak=104 * 2**20, held=104 * 2**20),
            "autograd": Measured(steady=0.1, first=0.1, peak=100 * 2**20, held=0),
            "hand": Measured(steady=0.04),
            "torch": Measured(absent="not installed"),
        },
        {"symgrad": 1.62},
    ),
    "arm_jac": Row({"symgrad": Measured(steady=12.34e-6), "casadi": Measured(steady=4.94e-6)}),
    "alone": Row({"symgrad": Measured(steady=1.5)}),
}


def test_ratios():
    assert report.best_peer(ROWS["wave"]) == "jax"
    assert report.ratios(ROWS["wave"]) == pytest.approx({"best": 0.8, "autograd": 0.2, "hand": 0.5})
    assert report.ratios(ROWS["wave"], "jax") == pytest.approx({"best": 1.0, "autograd": 0.25, "hand": 0.625})
    assert report.ratios(ROWS["alone"]) == {}
    assert report.best_peer(ROWS["alone"]) is None


def test_numbers():
    assert [report.duration(t) for t in (1.5, 0.99996, 0.0999, 12.34e-6, 4e-9, None)] == [
        "1.50 s",
        "1.00 s",
        "99.9 ms",
        "12.3 µs",
        "4.00 ns",
        "–",
    ]
    assert [report.digits(r) for r in (0.00417, 0.0994, 0.8, 3.145, 10.04, 99.94, 99.96)] == [
        *("0.0042", "0.099", "0.80", "3.15", "10.0", "99.9", "100"),
    ]
    assert [report.memory(m) for m in (48 * 2**20, 2**19, None)] == ["48.0 MiB", "0.50 MiB", "–"]


def test_tables():
    tables = report.summary(ROWS).split("\n\n")
    steady, first = ([[c.strip() for c in ls.strip("|").split("|")] for ls in t.splitlines()] for t in tables)
    assert steady[2] == ["wave", "20.0 ms", "jax 25.0 ms", "1.25", "5.00", "2.00", "1.62"]
    assert steady[3][:4] == ["arm_jac", "12.3 µs", "casadi 4.94 µs", "0.40"]
    assert steady[4] == ["alone", "1.50 s", *["–"] * 5]
    assert first[2] == ["wave", "150 ms", "12.3 ms", "300 ms", "48.0 MiB", "104 MiB"]
    assert {len(c) for c in steady} == {7}
    held = report.everything(ROWS, "held").splitlines()
    assert held[0] == "| workload | symgrad | jax | autograd |"
    assert held[3] == "| arm_jac | – | – | – |"


def test_section():
    made = report.section(ROWS, "python tests/bench/run.py --write", 9)
    assert made.startswith(report.BEGIN)
    assert made.endswith(report.END)
    for expected in (report.summary(ROWS), "python tests/bench/run.py --write", "9 interleaved", "numpy ", "cores"):
        assert expected in made
    text = f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n"
    assert report.replaced(text, made) == f"before\n{made}\nafter\n"
    assert report.replaced(report.replaced(text, made), made) == report.replaced(text, made)
    for broken in ("nothing", f"{report.END}{report.BEGIN}", text + text):
        with pytest.raises(ValueError, match="performance:begin"):
            report.replaced(broken, made)


def test_picture(tmp_path):
    pytest.importorskip("matplotlib")
    first, again = tmp_path / "first.svg", tmp_path / "again.svg"
    report.plot(ROWS, first)
    report.plot(ROWS, again)
    assert first.read_bytes() == again.read_bytes()
    assert "<svg" in first.read_text()


def test_readme():
    text = (ROOT / "README.md").read_text()
    assert report.replaced(text, report.BEGIN + report.END) != text
    shown = text[text.index(report.BEGIN) : text.index(report.END)]
    assert "docs/performance.svg" in shown
    assert (ROOT / "docs" / "performance.svg").exists()
    for name in WORKLOADS:
        assert f"| {name} |" in shown
