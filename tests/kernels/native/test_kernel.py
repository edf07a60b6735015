"""Which kernel serves, with costs and a clock of their own: what calls really take has the last word."""

from types import SimpleNamespace

import numpy as np
import pytest

import symgrad
from symgrad.errors import BackendError
from symgrad.kernels.base import Kernel
from symgrad.kernels.native import compiler, kernel, trial
from symgrad.kernels.native.kernel import TieredKernel

MS = 1e6


class Machine:
    """A machine on which calls take what it says; ``built`` counts the builds, ``served`` says what ran last."""

    def __init__(self, monkeypatch, numpy, native, saving, kept=False):
        self.now, self.built, self.served, self.calls = 0.0, 0, "", 0
        self.costs = {"numpy": numpy, "native": native}
        self.problem: BackendError | None = None
        machine = self

        class Code:
            def __init__(self, program):
                self.program = program

            def build(self):
                machine.built += 1
                if machine.problem:
                    raise machine.problem
                return machine.function("native")

            def kept(self):
                return machine.function("native") if kept else None

        class Native(Kernel):
            built = None

            def __init__(self, code, function):
                super().__init__(code.program, "native", "", function)

        monkeypatch.setattr(kernel, "NativeCode", Code)
        monkeypatch.setattr(kernel, "NativeKernel", Native)
        monkeypatch.setattr(kernel, "predicted_saving", lambda program: saving)
        monkeypatch.setattr(kernel, "calibrate", lambda build: None)
        monkeypatch.setattr(kernel.BUILDS, "add", lambda job: job())
        monkeypatch.setattr(kernel, "_EARLIEST", 0.0)
        monkeypatch.setattr(trial, "_SPAN", 0.0)
        for module in (kernel, trial):
            monkeypatch.setattr(module, "clock", lambda: self.now)
        program = symgrad.trace(lambda x: np.sin(x) * x, np.ones(3))
        self.tiered = TieredKernel(program, lambda: Kernel(program, "numpy", "", self.function("numpy")))

    def function(self, name):
        def run(x):
            self.served = name
            self.now += self.costs[name]
            return (x,)

        return run

    def call(self, times):
        """What served the last of so many calls."""
        for _ in range(times):
            assert self.tiered.call(5.0) == (5.0,)
        return self.served


def test_what_pays_is_built_and_serves(monkeypatch):
    machine = Machine(monkeypatch, numpy=3 * MS, native=1 * MS, saving=2 * MS)
    assert machine.call(1) == "numpy"
    assert machine.call(100) == "native"
    assert machine.built == 1
    assert machine.tiered.backend == "native"
    assert machine.now < 150 * MS


def test_the_first_call_waits_for_the_compiler_where_that_saves_seconds(monkeypatch):
    machine = Machine(monkeypatch, numpy=5000 * MS, native=100 * MS, saving=4000 * MS)
    assert machine.call(1) == "native"
    assert machine.call(50) == "native"
    assert machine.built == 1
    assert machine.now == 51 * 100 * MS  # nor is NumPy's tried, which would take longer than all of them


def test_what_was_thought_to_save_seconds_and_takes_long_is_tried(monkeypatch):
    machine = Machine(monkeypatch, numpy=100 * MS, native=3000 * MS, saving=4000 * MS)
    assert machine.call(20) == "numpy"
    assert machine.built == 1
    assert machine.now < 20 * 100 * MS + 3 * 3000 * MS


def test_a_compiled_kernel_that_is_slower_is_left(monkeypatch):
    machine = Machine(monkeypatch, numpy=1 * MS, native=3 * MS, saving=2 * MS)
    assert machine.call(20) == "numpy"
    assert machine.tiered.backend == "numpy"
    assert not machine.tiered.ready()
    assert "compiled C was slower here" in str(machine.tiered.explain())
    assert machine.built == 1


def test_what_held_up_the_plain_kernel_is_not_held_against_it_for_ever(monkeypatch):
    machine = Machine(monkeypatch, numpy=50 * MS, native=2 * MS, saving=2 * MS)
    machine.call(10)
    assert machine.tiered.backend == "native"
    machine.costs["numpy"] = 1 * MS
    assert machine.call(1000) == "numpy"


def test_what_is_faster_for_long_is_compared_no_more(monkeypatch):
    machine = Machine(monkeypatch, numpy=3 * MS, native=1 * MS, saving=2 * MS)
    machine.call(5000)
    before = machine.now
    machine.call(5000)
    assert machine.now - before == 5000 * MS


def test_what_was_left_is_tried_again_ever_more_rarely(monkeypatch):
    machine = Machine(monkeypatch, numpy=100 * MS, native=300 * MS, saving=2 * MS)
    machine.call(1000)
    assert machine.built == 1
    assert machine.now < 1030 * 100 * MS
    machine.costs["native"] = 50 * MS
    machine.call(5000)
    assert machine.served == machine.tiered.backend == "native"


@pytest.mark.parametrize("saving", [-500.0, 0.0, 1.0])
def test_what_was_not_expected_to_pay_is_tried_when_calls_take_long(monkeypatch, saving):
    machine = Machine(monkeypatch, numpy=10 * MS, native=1 * MS, saving=saving)
    assert machine.call(10) == "numpy"
    assert machine.built == 0
    assert machine.call(1000) == "native"
    assert machine.built == 1


def test_what_is_refused_when_more_is_known_is_tried_too(monkeypatch):
    machine = Machine(monkeypatch, numpy=10 * MS, native=1 * MS, saving=2 * MS)
    monkeypatch.setattr(kernel, "predicted_saving", lambda program: -1.0)
    assert machine.call(10) == "numpy"
    assert machine.built == 0
    assert "not expected to be faster" in str(machine.tiered.explain())
    assert machine.call(1000) == "native"


def test_where_c_has_nothing_to_compute_nothing_is_built(monkeypatch):
    machine = Machine(monkeypatch, numpy=1000 * MS, native=1 * MS, saving=None)
    assert machine.call(5000) == "numpy"
    assert machine.built == 0


@pytest.mark.parametrize(("native", "serves"), [(0.1 * MS, "native"), (0.4 * MS, "numpy")])
def test_a_kernel_that_was_kept_serves_at_once_and_is_compared_later(monkeypatch, native, serves):
    machine = Machine(monkeypatch, numpy=0.2 * MS, native=native, saving=9 * MS, kept=True)
    assert machine.call(1) == "native"
    assert "plain" not in vars(machine.tiered)  # nothing is planned for who calls but a few times
    assert machine.call(100) == serves
    assert machine.tiered.backend == serves
    assert machine.built == 0


def test_what_cannot_be_built_is_not_tried_again(monkeypatch):
    machine = Machine(monkeypatch, numpy=10 * MS, native=1 * MS, saving=2 * MS)
    machine.problem = BackendError("too many functions")
    assert machine.call(5000) == "numpy"
    assert machine.built == 1
    assert "too many functions" in str(machine.tiered.explain())


def test_a_child_process_builds_what_its_parent_has_not(monkeypatch):
    machine = Machine(monkeypatch, numpy=10 * MS, native=1 * MS, saving=2 * MS)
    jobs = []
    monkeypatch.setattr(kernel, "BUILDS", builds := SimpleNamespace(add=jobs.append, life="parent"))
    assert machine.call(100) == "numpy"
    assert len(jobs) == 1
    builds.life = "child"
    assert machine.call(100) == "numpy"
    assert len(jobs) == 2
    jobs[1]()
    assert machine.call(100) == "native"


def test_a_compiler_that_was_stopped_is_asked_again_later(monkeypatch):
    machine = Machine(monkeypatch, numpy=10 * MS, native=1 * MS, saving=2 * MS)
    machine.problem = compiler.Stopped("killed")
    assert machine.call(10) == "numpy"
    assert machine.built == 1
    assert "killed" in str(machine.tiered.explain())
    machine.problem = None
    assert machine.call(1000) == "native"
    assert machine.built == 2
