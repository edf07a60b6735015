"""CompiledFunction: traced once a signature, anew when what it read has changed, never stale."""

from __future__ import annotations

import threading
from collections import namedtuple

import numpy as np
import pytest

import symgrad
from symgrad.errors import ArgumentTypeError, DtypeError

SCALE = 2.0


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
    assert len(f.traces) == 9


def test_python_floats_are_values_not_signatures():
    f = Counting()
    gradient = symgrad.grad(f)
    x = np.ones(3)
    for scale in (0.5, 1.5, 2.5):
        gradient(x, scale)
    assert len(f.traces) == 1


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
    traces = []

    def f(x):
        traces.append(1)
        return x**2 if x > 0 else -3.0 * x

    gradient = symgrad.symbolic(symgrad.grad(f))
    assert [float(symgrad.grad(f)(v)) for v in (2.0, -1.0)] == [4.0, -3.0]
    assert gradient(2.0) == 4.0
    seen = symgrad.grad(lambda x: f(x))
    assert [float(seen(v)) for v in (2.0, -1.0, 3.0, -5.0)] == [4.0, -3.0, 6.0, -3.0]


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


@pytest.mark.parametrize("bad", [np.ones(2, complex), np.array(["a"]), np.array([object()])])
def test_arrays_that_have_no_real_numbers_are_refused(bad):
    with pytest.raises(DtypeError):
        symgrad.grad(lambda x, y: np.sum(x))(np.ones(2), bad)


def test_what_can_be_neither_traced_nor_remembered_is_refused():
    with pytest.raises(ArgumentTypeError, match="set"):
        symgrad.grad(lambda x, y: x)(1.0, {1, 2})


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
