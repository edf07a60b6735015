"""CompiledFunction: traced once a signature, anew when what it read has changed, never stale."""

from __future__ import annotations

import gc
import threading
import weakref
from collections import namedtuple

import numpy as np
import pytest

import symgrad
from symgrad import compiled
from symgrad.errors import ArgumentError, ArgumentTypeError, DtypeError, TracedAgain, TracingError
from symgrad.tracing.tree import flatten

SCALE = 2.0
X = np.array([0.5, 1.5, 2.0])


class Counting:
    """A function that counts how often it is traced."""

    def __init__(self):
        self.traces = []

    def _guarded(self):
        return {}

    def __call__(self, x, *rest):
        self.traces.append(x.shape)
        return np.sum(np.sin(x)) + sum(np.sum(r) for r in rest if not isinstance(r, (str, bool, type(None))))


def test_the_second_call_derives_nothing():
    f = Counting()
    gradient = symgrad.grad(f)
    for _ in range(3):
        gradient(np.ones(3))
    assert f.traces == [(3,)]


def test_shapes_dtypes_and_static_values_have_traces_of_their_own():
    f = Counting()
    gradient = symgrad.grad(f)
    x = np.ones(3)
    for args in ((x,), (np.ones(4),), (x.astype(np.float32),), (x, 2), (x, 3), (x, "a"), (x, True), (x, 1), (x, None)):
        gradient(*args)
        gradient(*args)
    assert len(f.traces) == 9  # each int has its own: what counts its runs has effects


def test_python_floats_are_values_not_signatures():
    f = Counting()
    gradient = symgrad.grad(f)
    x = np.ones(3)
    for scale in (0.5, 1.5, 2.5):
        gradient(x, scale)
    assert len(f.traces) == 1


@pytest.mark.parametrize("args", [lambda k: (np.ones(k),), lambda k: (X, f"mode {k}"), lambda k: (X[:1] * 0, k)])
def test_the_oldest_signatures_are_forgotten_with_one_warning(args, monkeypatch):
    monkeypatch.setattr(compiled, "_MAX_SIGNATURES", 4)
    f = Counting()
    run = symgrad.symbolic(lambda x, s=0: f(x) if isinstance(s, str) else f(x) * float(s))
    for k in range(1, 5):
        run(*args(k))
    with pytest.warns(TracedAgain, match=r"sg\.Array") as warned:
        [run(*args(k)) for k in range(5, 20)]
    assert len(warned) == 1
    assert len(run._compiled._entries) == 4
    before = len(f.traces)
    run(*args(19))
    assert len(f.traces) == before
    run(*args(2))
    assert len(f.traces) == before + 1


def test_a_step_counter_leaves_nothing_behind():
    gradient = symgrad.grad(lambda x, t: np.sum(x**2) / (1 - 0.9**t))
    for t in range(1, 1000):
        gradient(X, t)
    assert sum(map(len, gradient._compiled._entries.values())) == 2


def test_a_trace_holds_no_array_that_it_was_made_with():
    gradient = symgrad.grad(lambda x, t: np.sum(x**2) * t)
    gradient(X, 1)
    x = np.ones(3)
    alive = weakref.ref(x)
    gradient(x, 2)
    del x
    gc.collect()
    assert alive() is None


def test_numbers_made_of_an_int_that_are_guarded_do_not_add_up():
    run = symgrad.symbolic(lambda x, t: x * float(t / 2))
    with pytest.warns(TracedAgain, match=r"math\.sqrt"):
        results = [run(X, t) for t in range(1, 40)]
    np.testing.assert_array_equal(results, [X * (t / 2) for t in range(1, 40)])
    assert sum(map(len, run._compiled._entries.values())) <= 17


@pytest.mark.parametrize("ask", [symgrad.grad, lambda f: lambda x: symgrad.vjp(f, x)[1](1.0), lambda f: lambda x: f(x)])
def test_functions_that_are_made_anew_are_warned_of_once(ask, monkeypatch):
    monkeypatch.setattr(compiled, "_MANY_FUNCTIONS", 20)
    monkeypatch.setattr(compiled, "_first_traces", weakref.WeakKeyDictionary())
    with pytest.warns(TracedAgain, match="outside of the loop") as warned:
        [ask(symgrad.symbolic(lambda x, k=k: np.sum(x * k)))(X) for k in range(25)]
    assert len(warned) == 1


def test_functions_that_are_made_anew_are_not_kept():
    alive = []
    for k in range(50):

        def f(x, k=k):
            return np.sum(x * k)

        symgrad.vjp(f, X)[1](1.0)
        alive.append(weakref.ref(f))
    del f
    gc.collect()
    assert sum(ref() is not None for ref in alive) < 40


def test_pynative_mode_traces_at_each_call():
    f = Counting()
    gradient = symgrad.grad(f)
    symgrad.context.set_context(mode=symgrad.context.PYNATIVE_MODE)
    try:
        gradient(np.ones(3))
        gradient(np.ones(3))
    finally:
        symgrad.context.set_context(mode=symgrad.context.GRAPH_MODE)
    assert len(f.traces) == 2


def test_a_changed_global_is_seen(monkeypatch):
    gradient = symgrad.grad(lambda x: x * SCALE)
    assert gradient(1.0) == 2.0
    monkeypatch.setitem(globals(), "SCALE", 7.0)
    assert gradient(1.0) == 7.0


def test_a_captured_array_changed_in_place_is_seen():
    weights = np.ones(3)
    gradient = symgrad.grad(lambda x: np.sum(x * weights.mean()))
    np.testing.assert_array_equal(gradient(np.ones(2)), [1.0, 1.0])
    weights[:] = 4.0
    np.testing.assert_array_equal(gradient(np.ones(2)), [4.0, 4.0])


def test_a_branch_that_goes_the_other_way_is_traced_and_both_are_kept():
    def f(x):
        return x**2 if x > 0 else -3.0 * x

    assert symgrad.symbolic(symgrad.grad(f))(2.0) == 4.0
    seen = symgrad.grad(f)
    assert [float(seen(v)) for v in (2.0, -1.0, 3.0, -5.0)] == [4.0, -3.0, 6.0, -3.0]
    ((*kept,),) = seen._compiled._entries.values()
    assert len(kept) == 2


def test_a_function_that_changes_what_it_reads_is_told_of_at_its_second_trace():
    counts = {"calls": 0}
    values = []

    def counting(x):
        counts["calls"] += 1
        return np.sum(x**2)

    def recording(x):
        values.append(np.sum(x**2))
        return values[-1]

    for function in (counting, recording):
        gradient = symgrad.grad(function)
        gradient(np.ones(2))
        with pytest.warns(symgrad.errors.TracedAgain, match=r"changes what it reads \(a counter, a list"):
            np.testing.assert_array_equal(gradient(np.full(2, 2.0)), [4.0, 4.0])
        gradient(np.ones(2))  # told once
    assert counts["calls"] == len(values) == 3


def test_random_numbers_are_drawn_at_every_call():
    generator = np.random.default_rng(0)
    gradient = symgrad.grad(lambda x: x * generator.normal())
    assert gradient(1.0) != gradient(1.0)


def test_a_failed_trace_leaves_nothing_behind():
    calls = []

    def f(x):
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("first time")
        return np.sum(x**2)

    gradient = symgrad.grad(f)
    with pytest.raises(RuntimeError, match="first time"):
        gradient(np.ones(2))
    assert symgrad.tracing.trace.current() is None
    np.testing.assert_array_equal(gradient(np.ones(2)), [2.0, 2.0])


def test_arguments_nest_and_results_keep_their_structure():
    Pair = namedtuple("Pair", "first second")

    def f(p):
        return np.sum(p["w"] * p["xs"][0]) + np.sum(p["xs"][1].second)

    value = {"w": np.array([1.0, 2.0]), "xs": [np.array([3.0, 4.0]), Pair(np.ones(1), np.ones(2))]}
    gradient = symgrad.grad(f)(value)
    np.testing.assert_array_equal(gradient["w"], [3.0, 4.0])
    np.testing.assert_array_equal(gradient["xs"][0], [1.0, 2.0])
    assert isinstance(gradient["xs"][1], Pair)
    np.testing.assert_array_equal(gradient["xs"][1].second, [1.0, 1.0])


def test_keyword_arguments_are_traced():
    gradient = symgrad.grad(lambda x, *, scale: np.sum(x * scale))
    np.testing.assert_array_equal(gradient(np.ones(2), scale=np.array([3.0, 4.0])), [3.0, 4.0])


@pytest.mark.parametrize("bad", [np.ones(2, np.clongdouble), np.array([object()])])
def test_arrays_of_other_than_numbers_are_refused(bad):
    with pytest.raises(DtypeError):
        symgrad.grad(lambda x, y: np.sum(x))(np.ones(2), bad)


def test_what_can_be_neither_traced_nor_remembered_is_refused():
    with pytest.raises(ArgumentTypeError, match="set"):
        symgrad.grad(lambda x, y: x)(1.0, {1, 2})


def test_a_derivative_that_has_run_still_refuses_at_the_door():
    gradient = symgrad.grad(lambda x, y=1.0: np.sum(x * y))
    gradient(np.ones(3))
    with pytest.raises(DtypeError, match="int64"):
        gradient(np.ones(3, int))
    with pytest.raises(ArgumentError, match="no arguments are given"):
        gradient()
    with pytest.raises(ArgumentTypeError, match="MaskedArray"):
        gradient(np.ma.ones(3))

    def keeper():  # what it holds nobody sees
        held = yield
        yield
        yield held

    kept = keeper()
    next(kept)
    symgrad.grad(lambda x: kept.send(x) or np.sum(x))(np.ones(3))
    with pytest.raises(TracingError, match="trace had ended"):
        gradient(next(kept))


def test_a_derivative_that_has_run_is_traced_inside_another():
    inner = symgrad.grad(lambda x: np.sum(x**3))
    inner(X)
    outer = symgrad.grad(lambda x: np.sum(inner(x) * inner(X)))
    np.testing.assert_allclose(outer(X), 6 * X * 3 * X**2)
    assert {"constant"} <= {n.primitive.name for n in outer.program().nodes}


def test_a_derivative_that_has_run_is_traced_at_each_call_in_pynative_mode():
    f = Counting()
    gradient = symgrad.grad(f)
    gradient(X)
    symgrad.context.set_context(mode=symgrad.context.PYNATIVE_MODE)
    try:
        gradient(X)
        gradient(X)
    finally:
        symgrad.context.set_context(mode=symgrad.context.GRAPH_MODE)
    gradient(X)
    assert len(f.traces) == 3


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x,
        lambda x: (x,),
        lambda x: (x, 2 * x),
        lambda x: [x, 2 * x],
        lambda x: (x, (2 * x, 3 * x)),
        lambda x: (x, [2 * x, 3 * x]),
        lambda x: (x, (2 * x, (3 * x,))),
        lambda x: (x, ()),
        lambda x: (x, 4, "text"),
        lambda x: {"a": x, "b": (x,)},
    ],
)
def test_results_have_the_structure_of_the_function_at_every_call(fn):
    run = symgrad.symbolic(fn)
    for x in (X, X + 1, X + 2):
        (got, shape), (want, wanted) = flatten(run(x)), flatten(fn(x))
        assert shape == wanted
        for a, b in zip(got, want, strict=True):
            assert type(a) is type(b)
            np.testing.assert_array_equal(a, b)


def test_arrays_and_floats_and_what_is_like_them_have_traces_of_their_own():
    f = Counting()
    gradient = symgrad.grad(f)
    for _ in range(2):
        for y in (2.0, np.float64(2.0), np.array(2.0), np.ones(1), np.ones((1, 1)), np.ones(1, ">f8"), True):
            gradient(X, y)
    assert len(f.traces) == 7  # isinstance tells np.float64 from an array of no dims


def test_a_tensor_gives_a_tensor_and_an_array_an_array():
    gradient = symgrad.value_and_grad(lambda x: np.sum(x**2))
    for _ in range(2):
        assert [type(v) for v in gradient(symgrad.Tensor(X))] == [symgrad.Tensor] * 2
        assert not any(isinstance(v, symgrad.Tensor) for v in gradient(X))


@pytest.mark.parametrize("state", ["raise", "warn", "ignore"])
def test_kernels_are_silent_and_leave_numpy_as_it_was(state):
    gradient = symgrad.grad(lambda x: np.sum(np.log(x) + 1.0 / x))
    with np.errstate(all=state):
        before = np.geterr()
        for _ in range(3):
            assert not np.isfinite(gradient(np.array([0.0, -1.0, 1.0]))[0])
        assert np.geterr() == before
    if state == "raise":
        with np.errstate(all=state), pytest.raises(FloatingPointError):
            np.log(np.zeros(1))


def test_threads_share_one_kernel():
    gradient = symgrad.grad(lambda x: np.sum(np.log(x) * x))
    gradient(np.ones(4))
    failed = []

    def work(k):
        x = np.full(4, float(k))
        for _ in range(300):
            if not np.allclose(gradient(x), np.log(k) + 1):
                failed.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 7)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed


def test_threads_trace_for_themselves():
    gradient = symgrad.grad(lambda x: np.sum(np.exp(x) * np.sin(x)))
    results = {}

    def work(n):
        x = np.linspace(0, 1, n)
        step = np.imag(np.exp(x + 1e-20j) * np.sin(x + 1e-20j)) / 1e-20
        results[n] = np.allclose(gradient(x), step)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 9)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(results.values())
    assert len(results) == 8


def test_traces_and_kernels_are_logged_for_who_asks(caplog):
    def told(x):
        return np.sum(np.sin(x) * x)

    with caplog.at_level("DEBUG", "symgrad"):
        symgrad.grad(told)(np.ones(3))
    said = [record.getMessage() for record in caplog.records if record.name == "symgrad"]
    assert any(text.startswith("traced and derived told in ") for text in said)
    assert any(" operations run on " in text for text in said)
