"""Long kernels are cut into pieces, between which an interrupt ends them."""

import signal
import threading

import numpy as np
import pytest

import symgrad
from symgrad.kernels.kernel import lower
from symgrad.kernels.native import threads, trial, writer
from symgrad.kernels.native.kernel import NativeKernel
from symgrad.kernels.native.writer import Functions, NativeWriter

needs_compiler = pytest.mark.needs("native")


def runs_of(function, *arrays):
    """The runs of a function's compiled kernel, as it is planned."""
    planned = NativeWriter(lower(symgrad.trace(function, *arrays), "numpy").program, Functions())
    planned.write()
    return planned.runs


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sin(x) * x,
        lambda x: np.sum(np.exp(x)),
        lambda x: np.sum(np.exp(x), axis=0),
        lambda x: np.cumsum(x, axis=0),
        lambda x: np.cumsum(x, axis=1),
        lambda x: np.sum(np.cumsum(np.tanh(x), axis=1) * x[:, ::-1], axis=1),
    ],
)
def test_no_call_into_c_is_long(function, monkeypatch):
    monkeypatch.setattr(writer, "_MAX_WORK", 1e5)
    runs = runs_of(function, np.ones((400, 3000)))
    assert runs
    assert all(run.work / run.chunks < 2e5 for run in runs)


def test_many_short_steps_are_several_calls(monkeypatch):
    def steps(x):
        for _ in range(20):
            x = np.sin(np.cumsum(x))
        return x

    assert len(runs_of(steps, np.ones(1000))) == 1
    monkeypatch.setattr(writer, "_MAX_WORK", 3e4)
    runs = runs_of(steps, np.ones(1000))
    assert len(runs) > 5
    assert all(run.work <= 3e4 for run in runs)


def test_copies_of_a_result_take_bounded_memory(monkeypatch):
    monkeypatch.setattr(writer, "_MAX_WORK", 1e3)
    monkeypatch.setattr(writer, "_MAX_COPIES", 1 << 14)
    (run, _) = runs_of(lambda x: np.sum(np.exp(x), axis=0), np.ones((4000, 100)))
    assert run.chunks <= max(threads.THREADS, 20)


@pytest.fixture
def _interrupts():
    """Ctrl-C raises KeyboardInterrupt, also where those who run the tests have other plans for it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@needs_compiler
@pytest.mark.usefixtures("_interrupts")
@pytest.mark.parametrize("count", [1, 2])
def test_an_interrupt_ends_a_kernel_after_the_chunk_that_runs(count, monkeypatch):
    monkeypatch.setattr(writer, "_MAX_WORK", 1e4)
    monkeypatch.setattr(writer, "_CERTAIN", 0.0)
    monkeypatch.setattr(threads, "THREADS", count)
    x = np.linspace(0.0, 1.0, 300_000)
    (kernel,) = NativeKernel.built(lower(symgrad.trace(lambda x: np.sum(np.exp(x) * x), x), "numpy").program)
    assert kernel is not None
    begun, deal = [], threads.deal
    main, third = threading.main_thread(), threading.Event()

    def interrupted(call, outer, chunks, *arrays):
        assert chunks > 100

        def run_part(*part):
            begun.append(threading.current_thread())
            if threading.current_thread() is not main:  # leaves some chunks to this one
                third.wait()
            elif begun.count(main) == 3:
                third.set()
                signal.raise_signal(signal.SIGINT)
            return call(*part)

        deal(run_part, outer, chunks, *arrays)

    kernel._function.__globals__["deal"] = interrupted
    with pytest.raises(KeyboardInterrupt):
        kernel(x)
    assert begun.count(main) == 3
    kernel._function.__globals__["deal"] = deal
    np.testing.assert_allclose(kernel(x)[0], np.sum(np.exp(x) * x), rtol=1e-12)


class Steps:
    """A kernel of two steps with a clock of its own: a step takes ``alone`` on this thread, ``woken`` on all."""

    def __init__(self, monkeypatch, alone, woken):
        self.costs, self.now, self.threads = {1: alone, 0: woken}, 0.0, []
        monkeypatch.setattr(trial, "clock", lambda: self.now)
        monkeypatch.setattr(trial, "_SPAN", 0.0)
        monkeypatch.setattr(threads, "deal", self._deal)
        deals = threads.DealIfFaster()

        def kernel(x):
            for step in ("first", "second"):
                deals(step, 100, 2, x)
            return (x,)

        self.kernel = deals.tried(kernel)

    def _deal(self, call, outer, chunks, *arrays, threads=0):
        assert (outer, chunks, arrays) == (100, 2, ("x",))
        self.threads.append(threads)
        self.now += self.costs[threads]

    def call(self, times):
        """On how many threads the last of so many calls ran; 0 for all."""
        for _ in range(times):
            assert self.kernel("x") == ("x",)
        assert self.threads[-1] == self.threads[-2]
        return self.threads[-1]


@pytest.mark.parametrize(("alone", "woken", "serves"), [(100, 400, 1), (400, 200, 0)])
def test_threads_are_woken_where_that_is_faster(monkeypatch, alone, woken, serves):
    steps = Steps(monkeypatch, alone, woken)
    assert steps.call(200) == serves
    assert steps.threads.count(1 - serves) < 40


def test_what_was_slower_is_tried_again_ever_more_rarely(monkeypatch):
    steps = Steps(monkeypatch, 100, 400)
    steps.call(50_000)
    assert 10 < steps.threads.count(0) < 200
    steps.costs[0] = 60
    assert steps.call(50_000) == 0


@needs_compiler
def test_the_chunks_are_the_same_on_one_thread(monkeypatch):
    monkeypatch.setattr(threads, "THREADS", 2)
    x = np.random.default_rng(3).normal(size=200_003)
    program = lower(symgrad.trace(lambda x: np.sum(np.exp(x) * x), x), "numpy").program
    (kernel,) = NativeKernel.built(program)
    assert kernel is not None
    assert "deal_if_faster(" in kernel.source
    deal, found = threads.deal, {}
    for count in (0, 1):
        run = lambda *step, threads, count=count: deal(*step, threads=count)  # noqa: E731
        monkeypatch.setattr(threads, "deal", run)
        found[count] = [kernel(x)[0] for _ in range(3)]
    assert len({*found[0], *found[1]}) == 1
