"""Times of calls side by side, and the memory that this process needs."""

from __future__ import annotations

import pathlib
import time
from collections.abc import Callable

import numpy as np


def interleaved(calls: dict[str, Callable], rounds: int, limit: float, burst: float = 0.02) -> dict[str, list[float]]:
    """The times of each call, a round at a time; a call that has used up ``limit`` seconds is left out.

    A short call is repeated for ``burst`` seconds and its median taken: the threads of the system before it
    spin on for some milliseconds.
    """
    times: dict[str, list[float]] = {label: [] for label in calls}
    spent = dict.fromkeys(calls, 0.0)
    for _ in range(rounds):
        for label, call in calls.items():
            if spent[label] >= limit:
                continue
            repeated: list[float] = []
            total = 0.0
            while not repeated or total < burst:
                start = time.perf_counter()
                call()
                repeated.append(time.perf_counter() - start)
                total += repeated[-1]
            times[label].append(float(np.median(repeated)))
            spent[label] += total
    return times


def seconds(call: Callable) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def resident() -> int:
    """The bytes of this process in memory."""
    return _status("VmRSS")


def peak_during(call: Callable) -> int:
    """The most bytes that this process has in memory while ``call`` runs."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    call()
    return _status("VmHWM")


def _status(field: str) -> int:
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {field}")
