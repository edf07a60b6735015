"""Rounds of calls and the memory of this process."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import timing

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")


def test_rounds(monkeypatch):
    clock = [0.0]
    seen = []
    monkeypatch.setattr(timing.time, "perf_counter", lambda: clock[0])

    def takes(name, seconds):
        def call():
            seen.append(name)
            clock[0] += seconds

        return call

    calls = {"fast": takes("fast", 0.001), "slow": takes("slow", 0.02)}
    times = timing.interleaved(calls, rounds=5, limit=0.03, burst=0.0035)
    assert [len(t) for t in times.values()] == [5, 2]
    assert times["fast"] == pytest.approx([0.001] * 5)
    assert times["slow"] == pytest.approx([0.02] * 2)
    assert seen[:10] == [*["fast"] * 4, "slow"] * 2


def test_seconds(monkeypatch):
    clock = [1.0]
    monkeypatch.setattr(timing.time, "perf_counter", lambda: clock[0])

    def call():
        clock[0] += 0.5

    assert timing.seconds(call) == 0.5


@on_linux
def test_a_peak_is_seen_though_it_has_passed():
    before = timing.resident()
    peak = timing.peak_during(lambda: np.ones(4_000_000).sum())
    assert peak - before > 30e6
    assert timing.peak_during(lambda: None) < peak - 15e6
