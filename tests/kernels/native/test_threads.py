"""Long kernels are cut into pieces, between which an interrupt ends them."""

import signal
import threading

import numpy as np
import pytest

import symgrad
from symgrad.kernels.kernel import lower
from symgrad.kernels.native import threads, writer
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
