"""Costs that are measured on a machine that does something else: those of a quiet one, or the common ones."""

import json
import random
import threading

import pytest

from symgrad import disk_cache
from symgrad.kernels.native import calibration
from symgrad.kernels.native.calibration import COMMON, MEASURED, Costs, calibrate, costs
from symgrad.kernels.native.kernel import NativeKernel

needs_compiler = pytest.mark.needs("native")


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch, tmp_path):
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", str(tmp_path / "cache"))
    calibration._known.cache_clear()
    yield
    monkeypatch.undo()
    calibration._known.cache_clear()


class Machine:
    """A clock that calls move on by what they cost; ``stalls`` is what a look at it may take besides."""

    def __init__(self, monkeypatch, stalls=lambda: 0.0):
        self.now = 0.0
        self._stalls = stalls
        monkeypatch.setattr(calibration, "clock", self.clock)

    def clock(self):
        self.now += self._stalls()
        return self.now

    def measured(self, true):
        def call(name, count):
            def run():
                self.now += 700.0 + count * true[name]

            return run

        return calibration._measured({(n, c): call(n, c) for n in MEASURED for c in (64, 480)})


def test_the_price_of_a_call_does_not_count(monkeypatch):
    assert Machine(monkeypatch).measured(COMMON.numpy) == pytest.approx(dict(COMMON.numpy))


def test_waits_do_not_count(monkeypatch):
    """Every other look at the clock comes five milliseconds late, as beside who holds the interpreter's lock."""
    chance = random.Random(1)
    machine = Machine(monkeypatch, lambda: 5e6 if chance.random() < 0.5 else 0.0)
    assert machine.measured(COMMON.native) == pytest.approx(dict(COMMON.native))


def test_what_no_machine_takes_is_not_believed(monkeypatch):
    slow = {n: 1270.0 if n == "exp" else c for n, c in COMMON.native.items()}
    quick = {n: 3 * c for n, c in COMMON.numpy.items()}
    found = calibration._believed(Costs(quick, slow))
    assert found is not None
    assert (found.numpy["exp"], found.native["exp"]) == (COMMON.numpy["exp"], COMMON.native["exp"])
    assert (found.numpy["sin"], found.native["sin"]) == (quick["sin"], COMMON.native["sin"])
    for cost in (1270.0, 0.0, -1.0, float("nan"), float("inf")):
        assert calibration._believed(Costs(dict.fromkeys(MEASURED, cost), COMMON.native)) is None


@pytest.mark.parametrize("cost", [1270.0, 1e-9, float("nan")])
def test_a_file_that_cannot_be_is_no_file(cost):
    content = {"numpy": dict.fromkeys(MEASURED, cost), "native": dict(COMMON.native)}
    disk_cache.store("calibration", calibration._key(), json.dumps(content).encode())
    assert costs() is COMMON


@needs_compiler
def test_a_clock_that_always_stalls_gives_the_common_costs(monkeypatch):
    chance = random.Random(2)
    Machine(monkeypatch, lambda: chance.uniform(1e6, 5e6))
    calibrate(NativeKernel.built)
    for found, common in ((costs().numpy, COMMON.numpy), (costs().native, COMMON.native)):
        assert all(common[n] / 12 <= found[n] <= common[n] * 12 for n in MEASURED)


@needs_compiler
def test_who_holds_the_lock_meanwhile_does_not_count(monkeypatch):
    kept = []
    monkeypatch.setattr(calibration, "_believed", lambda found: kept.append(found))
    calibrate(NativeKernel.built)
    over = threading.Event()

    def spin():
        while not over.is_set():
            sum(range(500))

    busy = threading.Thread(target=spin)
    busy.start()
    calibration._known.cache_clear()
    try:
        calibrate(NativeKernel.built)
    finally:
        over.set()
        busy.join()
    quiet, beside = kept
    for name in ("exp", "tanh", "log1p", "cosh"):  # a wait for the lock would be 10,000 ns an element
        assert beside.numpy[name] < 20 * max(quiet.numpy[name], 1.0)
        assert beside.native[name] < 20 * max(quiet.native[name], 1.0)


@needs_compiler
def test_what_was_measured_is_found_again():
    calibrate(NativeKernel.built)
    first = costs()
    calibration._known.cache_clear()
    assert costs() == first
